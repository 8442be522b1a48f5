"""Objects of the user's code that a command names: ``module:name``, or ``file.py:name``."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import re
import sys
import traceback
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

from vyre import _core
from vyre._base.source import PACKAGE
from vyre._base.text import first_line
from vyre.errors import ArgumentError, KernelError, VyreError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["imported", "names_python", "one_of"]

_IMPORTLIB = str(Path(importlib.__file__).parent)
_MOST_NAMES = 10
_NONE = object()

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
            meant = _core._did_you_mean(part, [name for name in dir(found) if not name.startswith("_")])
            raise ArgumentError(
                f"{what} `{given}` cannot be imported: `{home}` has no `{path}`. Fix: write {home}:NAME, with a name "
                f"that it has{meant}."
            )
        found = getattr(found, part)
    return found


def names_python(given: str) -> bool:
    """Whether a name is FILE.py:NAME, FILE.py or module:NAME, and not that of another file."""
    is_named = re.fullmatch(r".*\.py:[\w.]*|[\w.]+:[\w.]+", given, re.DOTALL)
    return given.endswith(".py") or (is_named is not None and not _is_file(given))


def one_of(given: str, kinds: Mapping[str, tuple[type, ...]]) -> Any:
    """The object at the top of a file or module of Python, of some types; without a name it is a file's only one.

    Args:
        kinds: the types, by what they are called: {"kernel": (Kernel,)}.

    Raises: ArgumentError; KernelError of a kernel that the file defines.
    """
    path, _, name = (given, "", "") if given.endswith(".py") else given.rpartition(":")
    what = " or ".join(", ".join(kinds).rsplit(", ", 1))
    types = tuple(each for row in kinds.values() for each in row)
    module = _home(path, f"`{path}`")
    there = _own(module, types)
    if not name and len(there) == 1:
        return next(iter(there.values()))
    found = getattr(module, name, _NONE) if name else _NONE
    if isinstance(found, types):
        return found
    if found is not _NONE:
        problem = f"`{given}` is of type {type(found).__name__[:80]}, and no {what}"
    elif there and not name:
        problem = f"`{path}` has {len(there)} {'s and '.join(what.rsplit(' or ', 1)).replace(', ', 's, ')}s"
    else:
        problem = f"`{path}` has no {what}" + (f" `{name[:80]}`" if name else "")
    named = [key for key, each in vars(module).items() if isinstance(each, types)]
    meant = _core._did_you_mean(name, named).split("`")[1:2] or list(there)[:_MOST_NAMES]
    decorators = " or ".join(f"@vyre.{each}" for each in kinds if each != "program")
    if isinstance(found, FunctionType):
        fix = f"write {decorators} above it"
    elif not there:
        fix = f"define one at the top of `{path}`, under {decorators}"
    elif len(meant) == 1:
        fix = f"write {path}:{meant[0]}"
    else:
        fix = f"write {path}:NAME, with one of {', '.join(meant)}{', ...' * (len(meant) < len(there))}"
    raise ArgumentError(f"{problem}. Fix: {fix}.")


def _own(module: Any, types: tuple[type, ...]) -> dict[str, Any]:
    """The objects of some types that a module defines, else all that it has, each by its first name."""
    first: dict[int, tuple[str, Any]] = {}
    for key, each in vars(module).items():
        if isinstance(each, types):
            first.setdefault(id(each), (key, each))
    there = dict(first.values())
    # Kernels and procedures say where they were defined, programs do not.
    homes = {key: getattr(each, "__dict__", {}).get("__module__", module.__name__) for key, each in there.items()}
    return {key: each for key, each in there.items() if homes[key] == module.__name__} or there


def _home(name: str, what: str) -> Any:
    """The module of a name, which may lie in the current folder, or that a file of Python is.

    What it prints goes to the error output, for the output is the command's.
    """
    fix = f"run `python {name}`"
    if name.endswith(".py") and not _is_file(name):
        raise ArgumentError(f"`{name}` is no file. Fix: name a file of Python that is here.")
    try:
        with contextlib.redirect_stdout(sys.stderr):
            if name.endswith(".py"):
                return _module_of(name)
            fix = f"write FILE.py:NAME, or name a module that `python -c 'import {name}'` imports"
            _look_in(Path.cwd())
            return importlib.import_module(name)
    except KernelError:
        raise
    except VyreError as error:  # it has its own Fix
        raise ArgumentError(f"{what} cannot be imported{_line_of(error)}: {error}") from error
    except SystemExit as error:
        raise ArgumentError(
            f"{what} ends the process{_line_of(error)}. Fix: put what only a script does under "
            '`if __name__ == "__main__":`.'
        ) from None
    except Exception as error:  # of the user's code, or because there is no such module
        kind, said = type(error).__name__, first_line(error)
        said = kind if said == kind else f"{kind}: {said}"
        raise ArgumentError(f"{what} cannot be imported{_line_of(error)}: {said}. Fix: {fix}.") from error


def _line_of(error: BaseException) -> str:
    """The user's last line that led to an error; that of a SyntaxError stands in its text."""
    own = [
        f"{Path(frame.filename).name}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((PACKAGE, "<frozen ", _IMPORTLIB))
    ]
    return f" (at {own[-1]})" if own else ""


def _module_of(path: str) -> Any:
    """The module that a file of Python is. It finds the modules beside it, after those that are installed.

    A file may have the name of a module that vyre itself uses, such as ``json.py``: what it holds has a name of its
    own in ``sys.modules``.
    """
    file = Path(path).resolve()
    if file in _files:
        return _files[file]
    spec = importlib.util.spec_from_file_location(f"_vyre_file_{file.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    _look_in(file.parent)
    sys.modules[spec.name] = module  # where dataclasses and pickle look for what its classes are defined in
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    _files[file] = module
    return module


def _is_file(path: str) -> bool:
    return os.path.isfile(path)  # noqa: PTH113  # False also for what cannot be the name of a file


def _look_in(folder: Path) -> None:
    """Let imports find the modules of a folder, after those that are installed: one may be named ``json.py``."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
