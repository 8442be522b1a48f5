"""Hashes many files together: cuts them into parts, packs the parts, dispatches, and asks hashlib too."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import vyre
from vyre.demo.sha256 import BLOCK, INITIAL_STATE, compress

if TYPE_CHECKING:
    from hashlib import _Hash

PACKED_BYTES = 64 << 20  # at most this much in one dispatch
PART_BLOCKS = 4096  # of one file in one dispatch, so that no driver is held for long
PART_BYTES = PART_BLOCKS * BLOCK


@dataclass
class File:
    """One file on its way through the device."""

    path: Path
    size: int
    done: int = 0  # bytes that the device has seen
    finished: bool = False
    state: np.ndarray = field(default_factory=INITIAL_STATE.copy)
    expected: _Hash = field(default_factory=hashlib.sha256)

    @property
    def digest(self) -> str:
        """The device's digest in hexadecimal."""
        return self.state.astype(">u4").tobytes().hex()

    @property
    def matches(self) -> bool:
        """Whether the device and hashlib agree."""
        return self.finished and self.digest == self.expected.hexdigest()

    def next_part(self) -> tuple[int, int]:
        """Bytes and blocks of the next part; the last part has the padding too."""
        left = self.size - self.done
        blocks = (left + 8) // BLOCK + 1
        if blocks <= PART_BLOCKS:
            return left, blocks
        taken = min(PART_BYTES, left // BLOCK * BLOCK)
        return taken, taken // BLOCK

    def read(self, count: int) -> bytes:
        """The next `count` bytes. A file that shrinks meanwhile is an OSError, like one that cannot be read."""
        with self.path.open("rb") as stream:
            stream.seek(self.done)
            data = stream.read(count)
        if len(data) != count:
            raise OSError(f"{self.path} became shorter while it was read")
        return data


def find_files(root: Path) -> Iterator[Path]:
    """Regular files below `root`, in a fixed order; no links, no site-packages."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != "site-packages")
        for name in sorted(names):
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                yield path


def hash_files(
    files: Iterable[File], backend: str, device: vyre.Device | None = None
) -> Iterator[tuple[int, list[tuple[File, OSError]]]]:
    """Hash every file. After each dispatch, give the bytes that it took and the files that could not be read.

    Files of like length go together, so that the invocations of a workgroup finish together.
    """
    waiting = sorted(files, key=lambda file: file.size)
    while waiting:
        batch: list[tuple[File, bytes, int]] = []
        failed: list[tuple[File, OSError]] = []
        packed = 0
        while waiting:
            file = waiting[-1]
            count, blocks = file.next_part()
            if packed + count > PACKED_BYTES:
                break
            waiting.pop()
            try:
                data = file.read(count)
            except OSError as error:
                failed.append((file, error))
                continue
            file.expected.update(data)
            batch.append((file, data, blocks))
            packed += count
        if batch:
            _dispatch(batch, backend, device)
        taken = 0
        for file, data, blocks in batch:
            taken += len(data)
            file.done += len(data)
            file.finished = blocks * BLOCK >= len(data) + 9
        # The rest of the long files goes first again.
        waiting += [file for file, _, _ in reversed(batch) if not file.finished]
        yield taken, failed


def _dispatch(batch: list[tuple[File, bytes, int]], backend: str, device: vyre.Device | None) -> None:
    parts, first = [], 0
    for _, data, blocks in batch:
        parts.append((first, blocks, len(data)))
        first += len(data)
    states = compress(
        np.frombuffer(b"".join(data for _, data, _ in batch), np.uint8),
        np.array(parts, np.uint32),
        np.array([file.size * 8 for file, _, _ in batch], np.uint64),
        np.stack([file.state for file, _, _ in batch]),
        grid=len(batch),
        backend=backend,
        device=device,
    )
    for (file, _, _), state in zip(batch, states, strict=True):
        file.state = state
