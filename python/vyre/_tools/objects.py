"""Objects of the user's code that a command names: ``module:name``, or ``file.py:name``."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

import vyre

__all__ = ["imported", "one_of"]

_files: dict[Path, Any] = {}
"""The modules that were made of files: the code of a file runs once."""


def imported(given: str, what: str) -> Any:
    """The object of a name such as module:name or file.py:name.

    Args:
        what: what is looked for, for messages: "procedure".

    Raises: ArgumentError.
    """
    home, _, path = given.rpartition(":")
    found = _home(home, f"{what} `{given}`")
    for part in path.split("."):
        if not hasattr(found, part):
            meant = vyre._core._did_you_mean(part, [name for name in dir(found) if not name.startswith("_")])
            raise vyre.ArgumentError(
                f"{what} `{given}` cannot be imported: `{home}` has no `{path}`. Fix: write {home}:NAME, with a name "
                f"that it has{meant}."
            )
        found = getattr(found, part)
    return found


def one_of(given: str, kinds: tuple[type, ...], nouns: tuple[str, ...]) -> Any:
    """The same for objects of some types; of a file without a name it is the only one.

    Args:
        nouns: what the types are called: ("kernel", "procedure").

    Raises: ArgumentError.
    """
    what = " or ".join(nouns)
    path, _, name = given.rpartition(":") if ":" in given else (given, "", "")
    if path.endswith(".py"):
        there = {key: each for key, each in vars(_home(path, f"`{path}`")).items() if isinstance(each, kinds)}
        if not name and len(there) == 1:
            (name,) = there
        if name not in there:
            problem = f"no {what} `{name[:80]}`" if name else f"{len(there)} {'s and '.join(nouns)}s"
            raise vyre.ArgumentError(
                f"`{path}` has {problem}. Fix: write {path}:NAME, with one of {', '.join(there) or 'its own'}."
            )
        return there[name]
    found = imported(given, what)
    if not isinstance(found, kinds):
        raise vyre.ArgumentError(f"`{given}` is no {' and no '.join(nouns)}. Fix: name one.")
    return found


def _home(name: str, what: str) -> Any:
    """The module of a name, which may lie in the current folder, or that a file of Python is."""
    if name.endswith(".py"):
        return _module_of(name)
    _look_in(Path.cwd())
    try:
        return importlib.import_module(name)
    except Exception as error:  # of the user's code, or because there is none
        raise vyre.ArgumentError(
            f"{what} cannot be imported: {_said(error)}. Fix: write FILE.py:NAME, or name a module that "
            f"`python -c 'import {name}'` imports."
        ) from error


def _module_of(path: str) -> Any:
    """The module that a file of Python is. It finds the modules beside it, after those that are installed.

    A file may have the name of a module that vyre itself uses, such as ``json.py``: what it holds has a name of its
    own in ``sys.modules``.
    """
    file = Path(path).resolve()
    if file in _files:
        return _files[file]
    if not file.is_file():
        raise vyre.ArgumentError(f"`{path}` is no file. Fix: name a file of Python that is here.")
    spec = importlib.util.spec_from_file_location(f"_vyre_file_{file.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    _look_in(file.parent)
    sys.modules[spec.name] = module  # where dataclasses and pickle look for what its classes are defined in
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # of the user's code
        del sys.modules[spec.name]
        raise vyre.ArgumentError(f"`{path}` cannot be imported: {_said(error)}. Fix: run `python {path}`.") from error
    _files[file] = module
    return module


def _look_in(folder: Path) -> None:
    """Let imports find the modules of a folder, after those that are installed: one may be named ``json.py``."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
