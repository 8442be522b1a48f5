"""Digests of many files: small ones together in one call, large ones in pieces."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

import vyre
from vyre import std
from vyre._trees.walk import File, Trouble, open_file, why
from vyre.std._calls.running import Running, padding
from vyre.std._calls.running_streams import RunningStream
from vyre.std._hashing.blake3 import CHUNK, IV
from vyre.std._hashing.blake3_long import piece_node, root_of_pieces
from vyre.std.blake2 import make_stream
from vyre.std.hashes import ALGORITHMS
from vyre.std.quick_hashes import XXHASH32, XXHASH64

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["CHECKSUMS", "DIGESTS", "NAMES", "Limits", "digests_of"]

CHECKSUMS = ("crc32", "crc32c", "adler32")
# Streams, with the parameters that stand for no key and no seed.
_STREAMS = {
    "blake2b": (make_stream(True, False), [64, 0, *[0] * 32]),
    "blake2s": (make_stream(False, False), [32, 0, *[0] * 16]),
    "xxhash32": (XXHASH32, [0, 0]),
    "xxhash64": (XXHASH64, [0, 0]),
}
DIGESTS = {name: algorithm.digest for name, algorithm in ALGORITHMS.items()} | {
    "blake2b": 64,
    "blake2s": 32,
    "blake3": 32,
    **dict.fromkeys(CHECKSUMS, 4),
    "xxhash32": 4,
    "xxhash64": 8,
}
"""The bytes of a digest, by the name of the algorithm."""
NAMES = tuple(DIGESTS)


class Limits(NamedTuple):
    """How much may be in memory at the same time.

    Attributes:
        batch: bytes of small files in one call, or of the pieces of several large files.
        piece: bytes up to which a file is small, and of a piece of a large one: 1,024 times a power of two.
        files: small files in one call.
        together: large files that are hashed at the same time by a function that takes its blocks one after another.
    """

    batch: int = 1 << 26
    piece: int = 1 << 24
    files: int = 1 << 16
    together: int = 64


class _Job:
    def __init__(self, name: str, place: dict[str, Any], limits: Limits, progress: Callable[[int], object]) -> None:
        self.name, self.place, self.limits, self.progress = name, place, limits, progress
        self.digests: dict[str, bytes] = {}
        self.troubles: list[Trouble] = []

    @contextlib.contextmanager
    def trouble(self, file: File) -> Iterator[None]:
        """Note that a file could not be read, and go on."""
        try:
            yield
        except (OSError, ValueError) as error:
            if isinstance(error, vyre.VyreError):
                raise
            self.troubles.append(Trouble(file.path, why(error)))

    def call(self, data: Any, **more: Any) -> Any:
        return getattr(std, self.name)(data, **more, **self.place)

    def small(self, files: Iterable[File]) -> list[File]:
        """Hash files in batches, and give those that are not small after all."""
        large: list[File] = []
        batch: list[tuple[File, bytes]] = []
        size = 0
        for file in files:
            data = None
            with self.trouble(file), open_file(file) as stream:
                data = stream.read(self.limits.piece + 1)
            if data is None:
                continue
            if len(data) > self.limits.piece:
                large.append(file)
                continue
            if batch and (size + len(data) > self.limits.batch or len(batch) == self.limits.files):
                self.one_call(batch)
                batch, size = [], 0
            batch.append((file, data))
            size += len(data) + 16
        self.one_call(batch)
        return large

    def one_call(self, batch: list[tuple[File, bytes]]) -> None:
        if not batch:
            return
        found = self.call([data for _, data in batch])
        rows = found if found.ndim == 2 else found.astype(f">u{found.itemsize}").view(np.uint8).reshape(len(batch), -1)
        for (file, data), row in zip(batch, rows, strict=True):
            self.digests[file.path] = row.tobytes()
            self.progress(len(data))

    def pieces(self, stream: IO[bytes]) -> Iterator[bytes]:
        """Whole pieces and the rest. What is appended to the file after that belongs to no piece."""
        while data := stream.read(self.limits.piece):
            self.progress(len(data))
            yield data
            if len(data) < self.limits.piece:
                return

    def checksum(self, file: File) -> None:
        value = 1 if self.name == "adler32" else 0
        with self.trouble(file), open_file(file) as stream:
            for data in self.pieces(stream):
                value = self.call(data, value=value)
            self.digests[file.path] = value.to_bytes(4, "big")

    def tree(self, file: File) -> None:
        """BLAKE3: the chaining values of pieces, then the tree above them."""
        begin = vyre.array(np.array([*IV, 0], np.uint32), **self.place)
        nodes: list[vyre.Array] = []
        first = b""
        with self.trouble(file), open_file(file) as stream:
            for k, data in enumerate(self.pieces(stream)):
                if k == 0:
                    first = data
                    continue
                if k == 1:
                    nodes.append(self.node(first, 0, begin))
                    first = b""
                nodes.append(self.node(data, k, begin))
            if not nodes:
                self.digests[file.path] = self.call(first)
                return
            words = vyre.array(np.concatenate([node.numpy() for node in nodes]), **self.place)
            self.digests[file.path] = root_of_pieces(words, begin, 8).numpy().astype("<u4").tobytes()

    def node(self, data: bytes, k: int, begin: vyre.Array) -> vyre.Array:
        packed = std.Messages.pack([data], **self.place)
        quads = packed.words.reshape(-1, 4)
        node: vyre.Array = piece_node(quads, packed.words, begin, len(data), k * (self.limits.piece // CHUNK))
        node.numpy()  # pieces that wait for the device would be in memory together
        return node

    def blocks(self, files: list[File]) -> None:
        """Hash large files together: each is a chain of blocks, so that several of them keep a device busy."""
        for at in range(0, len(files), self.limits.together):
            with contextlib.ExitStack() as stack:
                streams = []
                for file in files[at : at + self.limits.together]:
                    with self.trouble(file):
                        streams.append((file, stack.enter_context(open_file(file))))
                if streams:
                    (self.chains if self.name in ALGORITHMS else self.streams)(streams)

    def streams(self, streams: list[tuple[File, IO[bytes]]]) -> None:
        """As ``chains``, for functions that know their last block: each piece waits until the next one is read."""
        stream, parameters = _STREAMS[self.name]
        running = RunningStream(stream, parameters, len(streams), **self.place)
        block = 4 * stream.words
        step = max(min(self.limits.batch // len(streams), running.most) // block, 1) * block
        waiting: list[bytes | None] = [None] * len(streams)
        ended, lost = [False] * len(streams), [False] * len(streams)
        begun = False
        while not all(ended):
            parts, ends = [b""] * len(streams), [False] * len(streams)
            for k, (file, opened) in enumerate(streams):
                if ended[k]:
                    continue
                lost[k] = True
                with self.trouble(file):
                    # A read of less than a piece has reached the end; bytes that are appended later do not count.
                    before = waiting[k]
                    following = b"" if before is not None and len(before) < step else opened.read(step)
                    if following:
                        self.progress(len(following))
                    parts[k] = before or b""
                    waiting[k] = following
                    ends[k] = begun and not following
                    lost[k] = False
                ended[k] = ends[k] or lost[k]
            if begun:
                running.take(parts, ends)
            begun = True
        for (file, _), words, gone in zip(streams, running.results(), lost, strict=True):
            if not gone:
                digest = words.astype("<u4").tobytes()
                self.digests[file.path] = digest[::-1] if self.name.startswith("xxhash") else digest

    def chains(self, streams: list[tuple[File, IO[bytes]]]) -> None:
        algorithm = ALGORITHMS[self.name]
        step = max(self.limits.batch // len(streams) // algorithm.block, 1) * algorithm.block
        running = Running(algorithm, len(streams), **self.place)
        sizes, ended, lost = [0] * len(streams), [False] * len(streams), [False] * len(streams)
        while not all(ended):
            parts = [b""] * len(streams)
            for k, (file, stream) in enumerate(streams):
                if ended[k]:
                    continue
                lost[k] = True
                with self.trouble(file):
                    data = stream.read(step)
                    sizes[k] += len(data)
                    self.progress(len(data))
                    ended[k] = len(data) < step
                    parts[k] = data + padding(algorithm, sizes[k]) if ended[k] else data
                    lost[k] = False
                ended[k] |= lost[k]
            running.take(parts)
        for (file, _), digest, gone in zip(streams, running.digests(), lost, strict=True):
            if not gone:
                self.digests[file.path] = digest


def digests_of(
    files: Iterable[File],
    name: str,
    place: dict[str, Any],
    limits: Limits = Limits(),  # noqa: B008
    progress: Callable[[int], object] = lambda size: None,
) -> tuple[dict[str, bytes], list[Trouble]]:
    """The digests of files by their paths, checksums as big-endian bytes, and the files that could not be read.

    Args:
        name: one of NAMES.
        place: ``backend`` and ``device`` as vyre.std takes them.
        progress: called with the bytes that are done since the last call.
    """
    job = _Job(name, place, limits, progress)
    # A call takes as long as its longest message, so that messages of like lengths come together.
    by_size = sorted(files, key=lambda file: file.size)
    whole = [file for file in by_size if not file.is_stream]
    large = [file for file in whole if file.size > limits.piece]
    large += job.small(file for file in whole if file.size <= limits.piece)
    # A stream cannot be opened again, and its writer may wait until another has been read.
    for together in (large, *([file] for file in by_size if file.is_stream)):
        if name in ALGORITHMS or name in _STREAMS:
            job.blocks(together)
        else:
            for file in together:
                (job.checksum if name in CHECKSUMS else job.tree)(file)
    return job.digests, job.troubles
