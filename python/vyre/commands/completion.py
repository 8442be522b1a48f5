"""``vyre completion SHELL``: what makes a shell complete vyre's commands and options."""

from __future__ import annotations

import argparse

import vyre
from vyre._base.refused import not_installed

_EPILOG = """\
bash:  vyre completion bash > ~/.local/share/bash-completion/completions/vyre
zsh:   vyre completion zsh > DIRECTORY/_vyre, where DIRECTORY is one of $fpath
fish:  vyre completion fish > ~/.config/fish/completions/vyre.fish"""

_SHELLS = ("bash", "zsh", "fish")
_FILES = {"PATH", "FILE", "PROGRAM", "INPUTS", "TARGET"}
"""The names that commands give to arguments that are files."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "completion",
        help="a script that lets bash, zsh or fish complete commands and options",
        description="Print the script that lets a shell complete vyre's commands and options. It is made by shtab: "
        "pip install 'vyre[completion]'.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", choices=_SHELLS, metavar="SHELL", help="bash, zsh or fish")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    try:
        import shtab
    except ImportError:
        raise vyre.ArgumentError(not_installed("vyre completion", "shtab", "completion")) from None
    parser: argparse.ArgumentParser = chosen.whole
    for each in _parsers(parser):
        for action in each._actions:
            if action.metavar in _FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(parser, shell=chosen.shell))
    return 0


def _parsers(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    found = [parser]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found += list(action.choices.values())
    return found
