"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file by renaming a finished one: a reader sees the old file or the new one, never a part.

    A link is followed, and a file that is replaced keeps its permissions. A pipe or a terminal is written to as it is.
    """
    named = Path(path)
    if named.exists() and not named.is_file():
        with named.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        return
    goal = named.resolve()
    # The name cannot be foreseen and must be new, so that nothing else is written to.
    draft = goal.with_name(f".{goal.name[:100]}.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            if goal.exists():
                os.fchmod(file.fileno(), stat.S_IMODE(goal.stat().st_mode))
            file.write(text)
        draft.replace(goal)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
