"""Runs the code of a Markdown page: its blocks in order, in one namespace and one folder.

- ``python``: a session is a doctest; any other block runs as a cell of a notebook does. A ``text`` block right after it
  is what it prints.
- ``console``: the lines that begin with ``$`` are commands for a shell, the others are what they print.
- ``<!-- needs: torch -->`` above a ``python`` block: it runs where that module is installed.

``python page_code.py PAGE...`` runs pages in the current folder, with the vyre that is installed.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import linecache
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import vyre

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
FENCE = re.compile(
    r"^(?:<!-- needs: (?P<needs>[\w.]+) -->\n)?```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """Code between fences, the language it is in, and the module that it cannot do without."""

    language: str
    text: str
    needs: str
    follows: bool  # nothing but an empty line stands between the block before and this one


def blocks(text: str) -> list[Block]:
    found: list[Block] = []
    end = -1
    for each in FENCE.finditer(text):
        follows = end >= 0 and not text[end : each.start()].strip()
        found.append(Block(each["language"], each["text"], each["needs"] or "", follows))
        end = each.end()
    return found


def without_columns(text: str) -> str:
    """What Python 3.10 prints, which knows the lines of a program and not the columns."""
    return re.sub(r"^ *\^+\n", "", re.sub(r"(\bat \w+ \([^()\n]*:[\d.]+):\d+\)", r"\1)", text), flags=re.MULTILINE)


def compare(name: str, wanted: str, got: str) -> None:
    if sys.version_info < (3, 11):
        wanted = without_columns(wanted)
    example = doctest.Example("", wanted)
    checker = doctest.OutputChecker()
    if not checker.check_output(wanted, got, OPTIONS):
        raise AssertionError(f"{name}: {checker.output_difference(example, got, OPTIONS)}")


def run_session(name: str, block: str, names: dict[str, object]) -> None:
    session = doctest.DocTestParser().get_doctest(block, names, name, None, None)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(session, out=report.append, clear_globs=False)
    assert not report, "".join(report)
    names.update(session.globs)


def run_script(name: str, block: str, names: dict[str, object]) -> str:
    """What it prints."""
    # A kernel's source is read where Python's tools find the source of a notebook's cell.
    linecache.cache[name] = (len(block), None, block.splitlines(keepends=True), name)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, name, "exec"), names)
    return printed.getvalue()


def run_commands(name: str, block: str, folder: Path) -> None:
    """The commands of a shell, where `vyre` is the command of the package that is tested."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    for name, options in (("vyre", "-m vyre "), ("python", "")):
        (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {options}"$@"\n')
        (tools / name).chmod(0o755)
    environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}", PYTHONPATH=str(Path(vyre.__file__).parents[1]))
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, wanted = part.partition("\n")
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        compare(f"{name}: {command}", wanted, done.stdout)


def run_page(page: str, text: str, folder: Path, printed_is_shown: bool = False) -> int:
    """How many blocks ran; with `printed_is_shown` a `text` block has to follow each block that prints."""
    names: dict[str, object] = {}
    found, ran = blocks(text), 0
    for number, block in enumerate(found):
        name = f"<{page}, block {number}>"
        if block.needs and not importlib.util.find_spec(block.needs):
            continue
        if block.language == "console":
            run_commands(name, block.text, folder)
        elif block.language != "python":
            continue
        elif block.text.startswith(">>>"):
            run_session(name, block.text, names)
        else:
            printed = run_script(name, block.text, names)
            after = found[number + 1] if number + 1 < len(found) else None
            if after and after.follows and after.language == "text":
                compare(name, after.text, printed)
            elif printed_is_shown:
                assert not printed, f"{name} prints what the page does not show:\n{printed}"
        ran += 1
    return ran


if __name__ == "__main__":
    for given in map(Path, sys.argv[1:]):
        # README leaves out what some of its blocks print.
        is_shown = given.name != "README.md"
        print(given, run_page(given.name, given.read_text(encoding="utf-8"), Path.cwd(), is_shown))
