"""The memory of ``vyre hash`` and ``vyre scan`` does not grow with what they read, by the count of the system."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

MIB = 1 << 20
SECRET = b"AKIA-secret-word"
COMMANDS = {
    "blake3": ("hash", "--alg", "blake3"),
    "sha256": ("hash", "--alg", "sha256"),
    "crc32": ("hash", "--alg", "crc32"),
    "xxhash64": ("hash", "--alg", "xxhash64"),
    "scan": ("scan", "--patterns", "patterns"),
}


def tree_of(root: Path, size: int) -> None:
    """Half of the bytes in two files with holes, which take no place on the disk, half in files of 1 MiB."""
    root.mkdir()
    for k in range(2):
        with (root / f"large {k}").open("wb") as stream:
            stream.truncate(size // 4)
            stream.seek(size // 8)
            stream.write(SECRET)
    for k in range(size // 2 // MIB):
        with (root / f"small {k}").open("wb") as stream:
            stream.truncate(MIB)


def peak(arguments: tuple[str, ...], root: Path) -> int:
    """The most bytes that the process of a command had in memory."""
    line = [sys.executable, "-m", "vyre", *arguments, str(root), "--backend", "cpu", "--quiet"]
    out = (os.POSIX_SPAWN_OPEN, 1, str(root.parent / "out"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    process = os.posix_spawn(sys.executable, line, os.environ, file_actions=[out])
    _, status, used = os.wait4(process, 0)
    assert os.waitstatus_to_exitcode(status) == (1 if arguments[0] == "scan" else 0)
    return used.ru_maxrss << 10


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_tree_three_times_as_large_takes_no_more_memory(name, tmp_path):
    (tmp_path / "patterns").write_bytes(SECRET + b"\n")
    arguments = tuple(str(tmp_path / each) if each == "patterns" else each for each in COMMANDS[name])
    small, large = 256 * MIB, 768 * MIB
    for root, size in (("small", small), ("large", large)):
        tree_of(tmp_path / root, size)
    before, after = (peak(arguments, tmp_path / root) for root in ("small", "large"))
    lines = len((tmp_path / "out").read_bytes().splitlines())
    assert lines == (2 if name == "scan" else 2 + large // 2 // MIB)
    assert after - before < 64 * MIB  # the tree has 512 MiB more
    assert after < 640 * MIB
