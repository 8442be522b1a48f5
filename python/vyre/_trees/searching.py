"""Byte strings in many files: small files together in one call, large ones in pieces that overlap."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vyre import std
from vyre._trees.walk import File, Trouble, open_file, why
from vyre.errors import ArgumentError, VyreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Found", "Limits", "Spelled", "patterns_of", "search"]

_LONGEST = 65536
_ESCAPE = re.compile(rb"\\x([0-9A-Fa-f]{2})?")
_NEWLINE = 10


class Spelled(NamedTuple):
    """A pattern, and how it was written."""

    pattern: bytes
    text: str


class Found(NamedTuple):
    """A match: its file, its place, counted from 1 in lines and bytes, its first byte, and the pattern's number."""

    path: str
    line: int
    column: int
    offset: int
    pattern: int


class Limits(NamedTuple):
    """How much may be in memory at the same time.

    Attributes:
        batch: bytes of small files in one call.
        piece: bytes up to which a file is small, and of a piece of a large one without what it repeats.
        matches: that a call gives; more are fetched by further calls. It must exceed the number of patterns.
    """

    batch: int = 1 << 24
    piece: int = 1 << 23
    matches: int = 1 << 20


def patterns_of(data: bytes, path: str) -> list[Spelled]:
    r"""The patterns of a file, one on each line. ``\xNN`` is a byte; empty lines and repeated patterns are left out.

    Raises: ArgumentError.

    >>> [each.pattern for each in patterns_of(b"key=\n\\x00\\xff\n\nkey=", "words")]
    [b'key=', b'\x00\xff']
    """
    found: dict[bytes, Spelled] = {}
    for number, whole in enumerate(io.BytesIO(data), 1):
        line = whole.removesuffix(b"\n").removesuffix(b"\r")
        if not line:
            continue
        if any(each[1] is None for each in _ESCAPE.finditer(line)):
            raise ArgumentError(
                f"line {number} of `{path}` has `\\x` without two hexadecimal digits. "
                "Fix: write a byte as \\x00 to \\xff, and a backslash before an x as \\x5c."
            )
        pattern = _ESCAPE.sub(lambda each: bytes([int(each[1], 16)]), line)
        if len(pattern) > _LONGEST:
            raise ArgumentError(
                f"line {number} of `{path}` has a pattern of {len(pattern):,} bytes, and the longest are "
                f"{_LONGEST:,}. Fix: leave it out, or keep its beginning."
            )
        found.setdefault(pattern, Spelled(pattern, os.fsdecode(line)))
    if not found:
        raise ArgumentError(f"`{path}` has no patterns. Fix: write one on each line.")
    return list(found.values())


class _Search:
    def __init__(
        self, patterns: list[bytes], place: dict[str, Any], limits: Limits, progress: Callable[[int], object]
    ) -> None:
        self.patterns, self.place, self.progress = std.Patterns(patterns), place, progress
        self.longest = max(map(len, patterns))
        # More patterns cannot begin at one place than there are, so that every call brings something new.
        self.limits = limits._replace(matches=max(limits.matches, len(patterns) + 1))

    def matches(self, data: bytes) -> Iterator[np.ndarray]:
        """All matches in some bytes, in order: (start, end, pattern) as int64, in several arrays."""
        at = 0
        while at < len(data):
            found = self.patterns.find(data[at:] if at else data, limit=self.limits.matches, **self.place)
            rows = np.stack([found.start, found.end, found.pattern], axis=1).astype(np.int64)
            rows[:, :2] += at
            if not found.overflow:
                yield rows
                return
            # The matches at the last begin may not be all of them: the next call goes on from there.
            at = int(rows[-1, 0])
            yield rows[rows[:, 0] < at]

    def batch(self, files: list[tuple[File, bytes]]) -> Iterator[Found]:
        """Matches in whole files that lie one after another."""
        data = b"".join(content for _, content in files)
        lengths = np.array([len(content) for _, content in files], np.int64)
        ends = np.cumsum(lengths)
        newlines = np.flatnonzero(np.frombuffer(data, np.uint8) == _NEWLINE)
        begins = np.concatenate([[0], newlines + 1])
        for rows in self.matches(data):
            file = np.searchsorted(ends, rows[:, 0], side="right")
            inside = rows[:, 1] <= ends[file]  # of one file alone
            rows, file = rows[inside], file[inside]
            first = ends[file] - lengths[file]
            before = np.searchsorted(newlines, rows[:, 0])
            columns = (
                before - np.searchsorted(newlines, first) + 1,
                rows[:, 0] - np.maximum(begins[before], first) + 1,
                rows[:, 0] - first,
                rows[:, 2],
            )
            for k, *place in zip(file.tolist(), *(each.tolist() for each in columns), strict=True):
                yield Found(files[k][0].path, *place)
        self.progress(len(data))

    def pieces(self, file: File, stream: IO[bytes], first: bytes) -> Iterator[Found]:
        """Matches in a large file.

        A piece begins with the last bytes of the one before, one fewer than the longest pattern has: a match belongs to
        the piece in which it begins and ends.
        """
        kept, base = b"", 0  # where `kept` is in the file
        lines, line_begin = 0, 0  # before it: ends of lines, and the begin of the line there
        piece = first
        while piece:
            data = kept + piece
            following = stream.read(self.limits.piece)
            edge = max(len(data) - (self.longest - 1), 0) if following else len(data)
            newlines = np.flatnonzero(np.frombuffer(data, np.uint8) == _NEWLINE)
            begins = np.concatenate([[line_begin - base], newlines + 1])
            for rows in self.matches(data):
                rows = rows[rows[:, 0] < edge]
                before = np.searchsorted(newlines, rows[:, 0])
                columns = (lines + before + 1, rows[:, 0] - begins[before] + 1, rows[:, 0] + base, rows[:, 2])
                for place in zip(*(each.tolist() for each in columns), strict=True):
                    yield Found(file.path, *place)
            passed = int(np.searchsorted(newlines, edge))
            lines, line_begin = lines + passed, base + int(begins[passed])
            kept, base = data[edge:], base + edge
            self.progress(len(piece))
            piece = following


def search(
    files: Iterable[File],
    patterns: list[bytes],
    place: dict[str, Any],
    limits: Limits = Limits(),  # noqa: B008
    progress: Callable[[int], object] = lambda size: None,
    troubles: Callable[[Trouble], object] = lambda trouble: None,
) -> Iterator[Found]:
    """All places of byte strings in files, overlapping ones too: in the order of the files, then of begins and ends.

    Args:
        patterns: byte strings without repetition.
        place: ``backend`` and ``device`` as vyre.std takes them.
        progress: called with the bytes that are done since the last call.
        troubles: called for a file that cannot be read to its end.
    """
    job = _Search(patterns, place, limits, progress)
    batch: list[tuple[File, bytes]] = []
    size = 0
    for file in files:
        try:
            with open_file(file) as stream:
                data = stream.read(limits.piece + 1)
                large = len(data) > limits.piece
                if batch and (large or size + len(data) > limits.batch):
                    yield from job.batch(batch)
                    batch, size = [], 0
                if large:
                    yield from job.pieces(file, stream, data)
                else:
                    batch.append((file, data))
                    size += len(data)
        except OSError as error:
            if isinstance(error, VyreError):  # of a device
                raise
            troubles(Trouble(file.path, why(error)))
    yield from job.batch(batch)
