"""BLAKE3 of one long message: an invocation hashes each chunk, then chaining values are joined to one.

While there are many, an invocation joins each four of them, so that none of a workgroup is idle. A workgroup then
joins each 512, with half as many invocations at each level of the tree.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import vyre
from vyre import In, Out, u32
from vyre.std._calls.padded import padded_words
from vyre.std._hashing.blake3 import CHUNK, PARENT, RECORD, chunk_flags, compress, join_pair, output_of

__all__ = ["join", "make_long", "piece_node", "root_of_pieces"]

LANES = 64  # invocations of a workgroup that hashes chunks
PAIRS = 256  # invocations of a workgroup that joins chaining values, two at first
NODES = 2 * PAIRS
MANY = 1 << 16  # chaining values that keep all invocations of a large GPU busy, four an invocation


def join(row: Any, width: int, begin: list[u32], flags: u32, count: Any, keep: Any) -> None:
    """Join chaining values in workgroup memory, word k of value j at ``row[k * width + j]``, until ``keep`` are left.

    At least half as many invocations as ``width`` call it.
    """
    t = vyre.lid(0)
    while count > keep:
        left = min(2 * t, width - 2)
        h = [row[k * width + left] for k in range(8)]
        if 2 * t + 1 < count:
            m = [*h, *(row[k * width + left + 1] for k in range(8))]
            for k in vyre.unroll(range(8)):
                h[k] = begin[k]
            compress(h, m, u32(0), u32(64), flags | PARENT)
        vyre.barrier()
        if 2 * t < count:
            for k in vyre.unroll(range(8)):
                row[k * width + t] = h[k]
        vyre.barrier()
        count = (count + 1) >> 1


def node_at(nodes: Any, number: Any) -> list[Any]:
    """The words of a chaining value, which is two vectors."""
    low, high = nodes[2 * number], nodes[2 * number + 1]
    return [low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w]


def one_of(flags: u32) -> u32:
    """The number 1, which a device's compiler does not know: that flags have seven bits is known here alone."""
    return (flags >> 16) + 1


@cache
def wide_kernels(products: bool) -> SimpleNamespace:
    """The kernels with most of the work, `long_chunks` and `join_fours`, with `products` (see routes.py) or not."""

    @vyre.kernel(workgroup_size=LANES)
    def long_chunks(
        quads: In[vyre.vec4u32], words: In[u32], begin: In[u32], size: u32, chunks: u32, before: u32, nodes: Out[u32]
    ) -> None:
        """Make the chaining value of each chunk of a message of several, or of a piece after ``before`` chunks."""
        i = vyre.gid(0)
        if i < chunks:
            h = [begin[k] for k in range(8)]
            flags = begin[8]
            one = one_of(flags) if products else 1
            length = min(size - i * CHUNK, CHUNK)
            blocks = (length + 63) >> 6
            for block in range(length >> 6):
                held = [quads[i * (CHUNK // 16) + block * 4 + k] for k in range(4)]
                m = [word for quad in held for word in (quad.x, quad.y, quad.z, quad.w)]
                compress(h, m, before + i, u32(64), chunk_flags(block, blocks, flags), one)
            # The end of the message has no part in the loop, which takes longer with it.
            if length % 64 != 0:
                left = length % 64
                rest = padded_words(words, i * (CHUNK // 4) + (blocks - 1) * 16, u32(0), left, 16, True)
                compress(h, rest, before + i, left, chunk_flags(blocks - 1, blocks, flags), one)
            for k in vyre.unroll(range(8)):
                nodes[i * 8 + k] = h[k]

    @vyre.kernel(workgroup_size=LANES)
    def join_fours(nodes: In[vyre.vec4u32], begin: In[u32], count: u32, joined: Out[vyre.vec4u32]) -> None:
        """Join each four chaining values to one; the last ones may be fewer."""
        i = vyre.gid(0)
        first = 4 * i
        if first < count:
            key, flags = [begin[k] for k in range(8)], begin[8]
            one = one_of(flags) if products else 1
            h = node_at(nodes, first)
            if first + 1 < count:
                second = node_at(nodes, first + 1)
                join_pair(second, h, key, flags, one)
                for k in vyre.unroll(range(8)):
                    h[k] = second[k]
            if first + 2 < count:
                last = node_at(nodes, first + 2)
                if first + 3 < count:
                    fourth = node_at(nodes, first + 3)
                    join_pair(fourth, last, key, flags, one)
                    for k in vyre.unroll(range(8)):
                        last[k] = fourth[k]
                join_pair(last, h, key, flags, one)
                for k in vyre.unroll(range(8)):
                    h[k] = last[k]
            joined[2 * i] = vyre.vec4u32(*h[:4])
            joined[2 * i + 1] = vyre.vec4u32(*h[4:])

    return SimpleNamespace(long_chunks=long_chunks, join_fours=join_fours)


@vyre.kernel(workgroup_size=PAIRS)
def join_nodes(nodes: In[u32], begin: In[u32], count: u32, joined: Out[u32]) -> None:
    """Join each 512 chaining values to one."""
    row = vyre.shared(u32, 8 * NODES)
    t, group = vyre.lid(0), vyre.wid(0)
    h = [begin[k] for k in range(8)]
    for k in vyre.unroll(range(16)):
        at = k * PAIRS + t
        row[(at & 7) * NODES + (at >> 3)] = nodes[group * (8 * NODES) + at]
    vyre.barrier()
    join(row, NODES, h, begin[8], min(count - group * NODES, NODES), 1)
    if t < 8:
        joined[group * 8 + t] = row[t * NODES]


@vyre.kernel(workgroup_size=PAIRS)
def join_last(nodes: In[u32], begin: In[u32], count: u32, record: Out[u32]) -> None:
    """Make the record of the root above 2 to 512 chaining values; one workgroup."""
    row = vyre.shared(u32, 8 * NODES)
    t = vyre.lid(0)
    h = [begin[k] for k in range(8)]
    for k in vyre.unroll(range(16)):
        at = k * PAIRS + t
        row[(at & 7) * NODES + (at >> 3)] = nodes[at]
    vyre.barrier()
    join(row, NODES, h, begin[8], count, 2)
    if t < 8:
        record[t] = begin[t]
    elif t < 24:
        record[t] = row[(t & 7) * NODES + (t >> 4)]
    elif t == 24:
        record[t] = u32(64)
    elif t == 25:
        record[t] = begin[8] | PARENT


def join_all(nodes: Any, begin: Any, record: Any, count: Any, levels: int) -> None:
    """Record the joining of at most 512^levels chaining values; called in a procedure."""
    if levels == 1:
        join_last(nodes, begin, count, record, workgroups=1)
        return
    with vyre.when(count > NODES):
        fewer = vyre.ceil_div(count, NODES)
        joined = vyre.scratch(u32, fewer * 8, name="joined")
        join_nodes(nodes, begin, count, joined, workgroups=fewer)
        join_all(joined, begin, record, fewer, levels - 1)
    with vyre.otherwise():
        join_last(nodes, begin, count, record, workgroups=1)


@cache
def make_long(many: int = MANY, products: bool = False) -> Any:
    """Make the procedure for one message of at least two chunks, an invocation each.

    Args:
        products: whether some sums are products (see routes.py). The digest does not depend on it.
        many: with more chunks, each four chaining values are joined first, twice; at least 16, so that two are left
            for the root. The digest does not depend on it.
    """
    assert many >= 16
    wide = wide_kernels(products)

    @vyre.procedure(name="std.blake3.long")
    def by_all(quads: In[vyre.vec4u32], words: In[u32], begin: In[u32], bytes_: u32, size: u32) -> Any:
        """Hash one message of at least two chunks by as many invocations as it has chunks."""
        chunks = vyre.ceil_div(bytes_, CHUNK)
        nodes = vyre.scratch(u32, chunks * 8, name="nodes")
        record = vyre.scratch(u32, RECORD, name="record")
        wide.long_chunks(quads, words, begin, bytes_, chunks, 0, nodes, grid=chunks)
        with vyre.when(chunks > many):
            quarter, sixteenth = vyre.ceil_div(chunks, 4), vyre.ceil_div(chunks, 16)
            fewer = vyre.scratch(u32, quarter * 8, name="fewer")
            fewest = vyre.scratch(u32, sixteenth * 8, name="fewest")
            wide.join_fours(nodes.view(vyre.vec4u32), begin, chunks, fewer.view(vyre.vec4u32), grid=quarter)
            wide.join_fours(fewer.view(vyre.vec4u32), begin, quarter, fewest.view(vyre.vec4u32), grid=sixteenth)
            join_all(fewest, begin, record, sixteenth, 2)
        with vyre.otherwise():
            join_all(nodes, begin, record, chunks, 2)
        return output_of(record, 1, size)

    return by_all


@vyre.procedure(name="std.blake3.piece")
def piece_node(
    quads: In[vyre.vec4u32], words: In[u32], begin: In[u32], bytes_: u32, before: u32
) -> vyre.ProcedureArray:
    """Make the chaining value of a piece of a message that has others.

    Every piece but the last one has the same power of two of chunks, at most 512 * 512.
    """
    chunks = vyre.ceil_div(bytes_, CHUNK)
    nodes = vyre.scratch(u32, chunks * 8, name="nodes")
    wide_kernels(False).long_chunks(quads, words, begin, bytes_, chunks, before, nodes, grid=chunks)
    fewer = vyre.ceil_div(chunks, NODES)
    joined = vyre.scratch(u32, fewer * 8, name="joined")
    join_nodes(nodes, begin, chunks, joined, workgroups=fewer)
    node = vyre.scratch(u32, 8, name="node")
    join_nodes(joined, begin, fewer, node, workgroups=1)
    return node


@vyre.procedure(name="std.blake3.root")
def root_of_pieces(nodes: In[u32], begin: In[u32], size: u32) -> Any:
    """Make ``size`` words of output from the chaining values of at least two pieces."""
    record = vyre.scratch(u32, RECORD, name="record")
    join_all(nodes, begin, record, nodes.length // 8, 2)
    return output_of(record, 1, size)
