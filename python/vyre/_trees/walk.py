"""The files of paths and directory trees, and how they are opened and named in lines."""

from __future__ import annotations

import errno
import os
import stat
from typing import IO, TYPE_CHECKING, NamedTuple

from vyre._base.files import STANDARD_INPUT, standard_input

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["File", "Trouble", "escaped", "files_of", "open_file", "why", "writable_line"]


class File(NamedTuple):
    """A file that was found.

    Attributes:
        path: as Python decodes names of the system.
        size: in bytes when it was found; it may have changed since.
        named: whether the user named it, so that a symbolic link is followed.
        is_stream: whether it is no regular file but the standard input, a pipe or a device, which
            can be read once.
    """

    path: str
    size: int
    named: bool = False
    is_stream: bool = False


class Trouble(NamedTuple):
    """A file or directory that could not be read, and why."""

    path: str
    why: str


def files_of(paths: Iterable[str], *, trees: bool = True) -> tuple[list[File], list[Trouble]]:
    """The files of paths and of the trees below directories, sorted by their bytes, each once.

    Symbolic links below a directory are left out, and so is what is neither a regular file nor a
    directory.

    Args:
        trees: whether paths may be directories.
    """
    found: dict[str, File] = {}
    troubles = []
    directories = []
    for path in paths:
        if path == STANDARD_INPUT:
            found[path] = File(path, 0, named=True, is_stream=True)
            continue
        try:
            status = os.stat(path)  # noqa: PTH116
        except (OSError, ValueError) as error:
            troubles.append(Trouble(path, why(error)))
            continue
        if stat.S_ISDIR(status.st_mode):
            if trees:
                directories.append(path)
            else:
                troubles.append(Trouble(path, os.strerror(errno.EISDIR)))
        else:
            is_stream = not stat.S_ISREG(status.st_mode)
            size = 0 if is_stream else status.st_size
            found[path] = File(path, size, named=True, is_stream=is_stream)
    while directories:
        directory = directories.pop()
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        directories.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        found.setdefault(entry.path, _file(entry))
        except OSError as error:
            troubles.append(Trouble(directory, why(error)))
    return sorted(found.values(), key=lambda file: os.fsencode(file.path)), troubles


def _file(entry: os.DirEntry[str]) -> File:
    try:
        return File(entry.path, entry.stat(follow_symlinks=False).st_size)
    except OSError:  # it has vanished; opening it says so
        return File(entry.path, 0)


def open_file(file: File) -> IO[bytes]:
    """Open a file.

    Raises: OSError, also for a regular file that has become something else: a pipe that the user
        did not name would be waited for without end.
    """
    if file.is_stream:
        is_input = file.path == STANDARD_INPUT
        return standard_input() if is_input else open(file.path, "rb")  # noqa: PTH123
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if file.named else os.O_NOFOLLOW)
    handle = os.open(file.path, flags)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(0, "Is no regular file")
    return os.fdopen(handle, "rb")


def why(error: OSError | ValueError) -> str:
    """Return the system's words for an error."""
    return getattr(error, "strerror", None) or str(error)


def escaped(path: str) -> str:
    """A path in one line, with its backslashes and ends of lines escaped.

    They are bytes of the path, as sha256sum has it: in some encodings a letter has the byte of a
    backslash too.
    """
    data = os.fsencode(path)
    return os.fsdecode(data.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r"))


def writable_line(before: str, path: str, after: str = "") -> str:
    """A line with a path, which begins with a backslash where the path is escaped, as in the lists of sha256sum."""
    kept = escaped(path)
    return f"{before}{path}{after}" if kept == path else f"\\{before}{kept}{after}"
