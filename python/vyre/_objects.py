"""Objects of the user's code that a command names: ``module:name``, or ``file.py:name``."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

import vyre

__all__ = ["imported", "module_of"]


def imported(name: str, what: str) -> Any:
    """The object of a name such as module:name.

    Raises: ArgumentError.
    """
    module, _, path = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise vyre.ArgumentError(
            f"{what} `{name}` cannot be imported: {error}. Fix: name one as `module:name`, in a module that "
            "`python -c 'import ...'` finds."
        ) from error
    return found


def module_of(path: str) -> Any:
    """The module that a file of Python is. It finds the modules beside it, after those that are installed.

    A file may have the name of a module that vyre itself uses, such as ``json.py``: what it holds has a name of its
    own in ``sys.modules``, and its folder comes last in ``sys.path``.

    Raises: ArgumentError.
    """
    file = Path(path)
    spec = importlib.util.spec_from_file_location(f"_vyre_file_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.append(str(file.resolve().parent))
    sys.modules[spec.name] = module  # where dataclasses and pickle look for what its classes are defined in
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # of the user's code
        del sys.modules[spec.name]
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise vyre.ArgumentError(f"`{path}` cannot be imported: {said}. Fix: run `python {path}`.") from error
    return module
