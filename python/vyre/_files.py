"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file by renaming a finished one; what is no file (a pipe, a terminal) is written to as it is."""
    named = Path(path)
    if named.exists() and not named.is_file():
        with named.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        return
    goal = named.resolve()
    handle, name = tempfile.mkstemp(dir=goal.parent, prefix=f".{goal.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        # mkstemp makes files for their owner alone; what is written is to be read by others.
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(goal)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
