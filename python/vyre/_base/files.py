"""Files that are written whole or not at all, and what is said where a file cannot be read or written."""

from __future__ import annotations

import errno
import io
import os
import secrets
import select
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from vyre._base.refused import must_be
from vyre._base.text import shown
from vyre.errors import ArgumentError, file_error

if TYPE_CHECKING:
    from typing import IO, Any

__all__ = [
    "NO_ROOM",
    "STANDARD_INPUT",
    "as_path",
    "check_writable",
    "read_at_most",
    "standard_input",
    "unreadable",
    "unwritable",
    "write_atomically",
]

STANDARD_INPUT = "-"
"""The name of the standard input on the command line."""
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_LONGEST = 1000  # letters of a path in a message


def as_path(path: object, function: str, example: str = "race.json") -> Path:
    """The argument of a function as a path.

    Raises: ArgumentError for what can be none.
    """
    try:
        if isinstance(path, (str, os.PathLike)) and os.fsencode(path) and b"\0" not in os.fsencode(path):
            return Path(os.fsdecode(path))
    except (TypeError, UnicodeEncodeError):  # a path of another type than it says, or with lone surrogates
        pass
    raise must_be(f"argument `path` of {function}", "a path", shown(path))


def unwritable(path: str | os.PathLike[str], error: OSError | ValueError) -> ArgumentError:
    """The error for a file that cannot be written; ValueError is Python's for a name with NUL.

    >>> raise unwritable("/full/cert.json", OSError(errno.ENOSPC, "No space left on device"))
    Traceback (most recent call last):
    vyre.errors.FileError: `/full/cert.json` cannot be written: No space left on device. Fix: free space there, ...
    """
    fix = "free space there, or name a file on another disk"
    if getattr(error, "errno", None) not in NO_ROOM:
        fix = "name a file in a folder that you may write to"
    return _error(path, error, f"`{_name(path)}` cannot be written: {_why(error)}. Fix: {fix}.")


def unreadable(path: str | os.PathLike[str], error: OSError | ValueError, *, fix: str) -> ArgumentError:
    """The error for a file that cannot be read; ``fix`` says which file to name instead.

    >>> isinstance(unreadable("a", OSError(errno.ENOENT, "No such file"), fix="name another"), FileNotFoundError)
    True
    """
    return _error(path, error, f"`{_name(path)}` cannot be read: {_why(error)}. Fix: {fix}.")


class _Waited(io.FileIO):
    """A file that is waited for where another process has made it one that does not wait.

    Python's buffered files take "nothing there yet" for the end.
    """

    def readinto(self, buffer: Any) -> int:
        while (count := super().readinto(buffer)) is None:
            select.select([self], [], [])
        return count


def standard_input() -> IO[bytes]:
    """The standard input, to be read from where it is.

    Raises: OSError where it is closed.
    """
    # Another file may have the number of one that was closed before the start.
    if sys.__stdin__ is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    return io.BufferedReader(_Waited(0, closefd=False))


def takes_standard_input(path: str | os.PathLike[str]) -> bool:
    """Whether reading this path takes what the standard input holds: ``-``, or a name of its pipe as /dev/stdin."""
    if path == STANDARD_INPUT:
        return True
    try:
        given, named = os.fstat(0), Path(path).stat()
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(given.st_mode) and os.path.samestat(given, named)


def read_at_most(path: str | os.PathLike[str], most: int, *, fix: str) -> bytes:
    """The content of a file that a command was given, or of the standard input.

    Args:
        most: bytes that a file may have. A device such as /dev/zero never ends.
        fix: which file to name instead.

    Raises: FileError when it cannot be read, ArgumentError when it is longer.
    """
    try:
        with standard_input() if path == STANDARD_INPUT else Path(path).open("rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError) as error:
        raise unreadable(path, error, fix=fix) from None
    if len(data) > most:
        raise ArgumentError(f"`{_name(path)}` is longer than {most:,} bytes. Fix: {fix}.")
    return data


def _error(path: str | os.PathLike[str], error: OSError | ValueError, message: str) -> ArgumentError:
    if isinstance(error, OSError):
        return file_error(message, error.errno, error.strerror, os.fspath(path))
    return ArgumentError(message)


def _name(path: str | os.PathLike[str]) -> str:
    name = os.fsdecode(path).replace("\0", "\\x00")
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST // 2]}...{name[-_LONGEST // 2 :]}"


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def write_atomically(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file by renaming a finished one: a reader sees the old file or the new one, never a part.

    A link is followed, and a file that is replaced keeps its permissions. A pipe or a terminal is written to as it is.

    Raises: FileError, or ArgumentError for a name with NUL.
    """
    try:
        _write(path, content.encode() if isinstance(content, str) else content)
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from None


def _write(path: str | os.PathLike[str], data: bytes) -> None:
    there = _status(path)
    if there is not None and not stat.S_ISREG(there.st_mode):
        with Path(path).open("wb") as stream:
            stream.write(data)
        return
    goal = os.path.realpath(path)
    # The name cannot be foreseen and must be new, so that nothing else is written to; a long goal does not lengthen it.
    draft = os.path.join(os.path.dirname(goal), f".vyre-{secrets.token_hex(8)}")  # noqa: PTH118, PTH120
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            if there is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(there.st_mode))
            file.write(data)
            file.flush()
            # A machine that stops after the rename must not have an empty file there.
            os.fsync(file.fileno())
        os.replace(draft, goal)  # noqa: PTH105
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def check_writable(path: str | os.PathLike[str]) -> None:
    """Find what can be told about ``write_atomically`` without writing.

    Raises: as that does.
    """
    problem = 0
    try:
        there = _status(path)
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from None
    if there is not None and stat.S_ISDIR(there.st_mode):
        problem = errno.EISDIR
    else:
        # A file is replaced as a whole, so it is the folder that must be writable; a pipe or a terminal is written to.
        replaced = there is None or stat.S_ISREG(there.st_mode)
        place = Path(os.path.realpath(path)).parent if replaced else Path(path)
        if not place.exists():
            problem = errno.ENOENT
        elif replaced and not place.is_dir():
            problem = errno.ENOTDIR
        elif not os.access(place, os.W_OK):
            problem = errno.EACCES
    if problem:
        raise unwritable(path, OSError(problem, os.strerror(problem)))


def _status(path: str | os.PathLike[str]) -> Any:
    """The status of the file at a path, links followed; None if there is none."""
    try:
        return os.stat(path)  # noqa: PTH116
    except FileNotFoundError:
        return None
