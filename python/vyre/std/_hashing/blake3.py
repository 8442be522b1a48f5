"""BLAKE3's compression, on the device and on the host, and the records of roots.

The root of a tree is compressed again with a counter for as many bytes of output as are wanted. It is carried as a
record of 26 words: the chaining value before its block, the block, the block's length, and its flags.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import vyre
from vyre import In, InOut, u32
from vyre.std._calls.host_words import HostWord

IV = [0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19]
ORDER = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8]  # of the block's words in the next round
CORNERS = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)]
DIAGONALS = [(0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]

# Flags of a compression.
CHUNK_START, CHUNK_END, PARENT, ROOT, KEYED, CONTEXT, MATERIAL = 1, 2, 4, 8, 16, 32, 64

CHUNK = 1024  # bytes
RECORD = 26  # words


def quarter(v: list[Any], a: int, b: int, c: int, d: int, x: Any, y: Any, one: Any = 1) -> None:
    """Mix four words of the state with two of the block.

    `one` is a number that is 1, which the compiler does not know (see routes.py).
    """
    v[a] = v[a] * one + v[b] + x
    v[d] = (v[d] ^ v[a]).rotr(16)
    v[c] = v[c] * one + v[d]
    v[b] = (v[b] ^ v[c]).rotr(12)
    v[a] = v[a] * one + v[b] + y
    v[d] = (v[d] ^ v[a]).rotr(8)
    v[c] = v[c] * one + v[d]
    v[b] = (v[b] ^ v[c]).rotr(7)


def mixed(h: list[u32], m: list[u32], counter: u32, high: u32, length: u32, flags: u32, one: Any = 1) -> list[u32]:
    """Give the sixteen words of the state after seven rounds."""
    v = [*h, *(u32(each) for each in IV[:4]), counter, high, length, flags]
    for _ in vyre.unroll(range(7)):
        for k in vyre.unroll(range(4)):
            quarter(v, *CORNERS[k], m[2 * k], m[2 * k + 1], one)
        for k in vyre.unroll(range(4)):
            quarter(v, *DIAGONALS[k], m[2 * k + 8], m[2 * k + 9], one)
        m = [m[k] for k in ORDER]
    return v


def compress(h: list[u32], m: list[u32], counter: Any, length: Any, flags: u32, one: Any = 1) -> None:
    """Replace the chaining value by the one after a block."""
    v = mixed(h, m, counter, u32(0), length, flags, one)
    for k in vyre.unroll(range(8)):
        h[k] = v[k] ^ v[k + 8]


def join_pair(right: list[Any], left: list[Any], key: list[u32], flags: u32, one: Any = 1) -> None:
    """Replace a chaining value by the one above it and its left neighbour."""
    pair = [*left, *right]
    for k in vyre.unroll(range(8)):
        right[k] = key[k]
    compress(right, pair, u32(0), u32(64), flags | PARENT, one)


def chunk_flags(block: Any, blocks: Any, flags: u32) -> u32:
    return flags | (CHUNK_START if block == 0 else 0) | (CHUNK_END if block + 1 == blocks else 0)


def root_words(record: list[u32], block: u32) -> list[u32]:
    """Make sixteen words of output from the record of the root."""
    v = mixed(record[:8], record[8:24], block, u32(0), record[24], record[25] | ROOT)
    return [v[k] ^ v[k + 8] for k in range(8)] + [v[k + 8] ^ record[k] for k in range(8)]


@vyre.kernel(workgroup_size=64)
def root_output(records: In[u32], blocks: u32, size: u32, output: InOut[u32]) -> None:
    """Make ``size`` words of output of each message, a block in each invocation."""
    i = vyre.gid(0)
    message, block = i // blocks, i % blocks
    if message * RECORD < len(records):
        record = [records[message * RECORD + k] for k in range(RECORD)]
        for k, word in enumerate(root_words(record, block)):
            if block * 16 + k < size:
                output[message * size + block * 16 + k] = word


def write_output(records: Any, output: Any, count: Any, size: Any) -> None:
    """Record the writing of ``size`` words of output for each of ``count`` records; called in a procedure."""
    blocks = vyre.ceil_div(size, 16)
    root_output(records, blocks, size, output, grid=count * blocks)


def output_of(records: Any, count: Any, size: Any) -> Any:
    """Record the output of ``count`` records, ``size`` words of each; called in a procedure."""
    output = vyre.scratch(u32, count * size, zeros=True, name="output")
    write_output(records, output, count, size)
    return output


def host_compress(h: list[int], m: list[int], counter: int, length: int, flags: int) -> list[int]:
    """Give the chaining value after a block, on the host."""
    v = [HostWord(each) for each in [*h, *IV[:4], counter, 0, length, flags]]
    for _ in range(7):
        for k, corners in enumerate(CORNERS + DIAGONALS):
            quarter(v, *corners, m[2 * k], m[2 * k + 1])
        m = [m[k] for k in ORDER]
    return [v[k] ^ v[k + 8] for k in range(8)]


@lru_cache(maxsize=64)
def context_key(context: bytes) -> tuple[int, ...]:
    """Hash a context string on the host: it is short, and a call that a graph records cannot wait for a device."""
    nodes = []
    for start in range(0, max(len(context), 1), CHUNK):
        chunk, h = context[start : start + CHUNK], IV
        blocks = range(0, max(len(chunk), 1), 64)
        for at in blocks:
            m = np.frombuffer(chunk[at : at + 64].ljust(64, b"\0"), "<u4").tolist()
            flags = CONTEXT | (CHUNK_START if at == 0 else 0) | (CHUNK_END if at == blocks[-1] else 0)
            flags |= ROOT if at == blocks[-1] and len(context) <= CHUNK else 0
            h = host_compress(h, m, start // CHUNK, len(chunk[at : at + 64]), flags)
        nodes.append(h)
    while len(nodes) > 1:
        flags = CONTEXT | PARENT | (ROOT if len(nodes) == 2 else 0)
        pairs = zip(nodes[::2], nodes[1::2], strict=False)
        joined = [host_compress(IV, [*left, *right], 0, 64, flags) for left, right in pairs]
        nodes = joined + nodes[len(joined) * 2 :]
    return tuple(nodes[0])
