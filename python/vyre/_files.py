"""Files that are written whole or not at all, and what is said where a file cannot be read or written."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from pathlib import Path

from vyre.errors import ArgumentError

__all__ = ["NO_ROOM", "read_at_most", "unwritable", "write_atomically"]

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def unwritable(path: str | os.PathLike[str], error: OSError) -> ArgumentError:
    """The error for a file that a command was told to write.

    >>> raise unwritable("/full/cert.json", OSError(errno.ENOSPC, "No space left on device"))
    Traceback (most recent call last):
    vyre.errors.ArgumentError: `/full/cert.json` cannot be written: No space left on device. Fix: free space there, ...
    """
    fix = "free space there, or name a file on another disk"
    if error.errno not in NO_ROOM:
        fix = "name a file in a folder that you may write to"
    return ArgumentError(f"`{os.fspath(path)}` cannot be written: {_why(error)}. Fix: {fix}.")


def read_at_most(path: str | os.PathLike[str], most: int, *, fix: str) -> bytes:
    """The content of a file that a command was given.

    Args:
        most: bytes that a file may have. A device such as /dev/zero never ends.
        fix: which file to name instead.

    Raises: ArgumentError when it cannot be read or is longer.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError) as error:  # ValueError: a name with NUL
        raise ArgumentError(f"`{os.fspath(path)}` cannot be read: {_why(error)}. Fix: {fix}.") from None
    if len(data) > most:
        raise ArgumentError(f"`{os.fspath(path)}` is longer than {most:,} bytes. Fix: {fix}.")
    return data


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


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
