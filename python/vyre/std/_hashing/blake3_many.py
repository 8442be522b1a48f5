"""BLAKE3 of many messages: an invocation has each message, or a workgroup."""

from __future__ import annotations

from functools import cache
from typing import Any

import vyre
from vyre import In, InOut, Out, u32
from vyre.std._calls.padded import padded_words
from vyre.std._hashing.blake3 import (
    CHUNK,
    PARENT,
    RECORD,
    chunk_flags,
    compress,
    join_pair,
    output_of,
    root_words,
    write_output,
)
from vyre.std._hashing.blake3_long import join

__all__ = ["WINDOW", "make_procedures"]

LEVELS = 23  # of the tree of a message of 2^32 bytes, and one
LANES = 64  # invocations of a workgroup that shares a message
BLOCK = 16  # words of output that one compression of the root gives
WINDOW = 2**27  # bytes of a message that a workgroup takes in one dispatch


def last_block(words: Any, starts: Any, lengths: Any, begin: Any, i: Any, aligned: bool) -> list[Any]:
    """The record of the root of a message of one chunk: what comes before its last block, the block, and its flags."""
    start, length = starts[i], lengths[i]
    flags = begin[8]
    h = [begin[k] for k in range(8)]
    blocks = max((length + 63) >> 6, 1)
    at, shift = start >> 2, start % 4 * 8
    for block in range(blocks - 1):
        m = padded_words(words, at + block * 16, shift, u32(64), 16, aligned)
        compress(h, m, u32(0), u32(64), chunk_flags(block, blocks, flags))
    left = length - (blocks - 1) * 64
    m = padded_words(words, at + (blocks - 1) * 16, shift, left, 16, aligned)
    return [*h, *m, left, chunk_flags(blocks - 1, blocks, flags)]


@cache
def make_single(aligned: bool) -> Any:
    """Make the kernel that leaves each message, of one chunk, to one invocation."""

    @vyre.kernel(workgroup_size=LANES)
    def single(words: In[u32], starts: In[u32], lengths: In[u32], begin: In[u32], records: Out[u32]) -> None:
        i = vyre.gid(0)
        if i < len(starts):
            for k, word in enumerate(last_block(words, starts, lengths, begin, i, aligned)):
                records[i * RECORD + k] = word

    return single


@cache
def make_short(aligned: bool) -> Any:
    """Make the kernel for messages of one chunk whose output is one block: the root needs no record."""

    @vyre.kernel(workgroup_size=LANES)
    def short(words: In[u32], starts: In[u32], lengths: In[u32], begin: In[u32], size: u32, output: Out[u32]) -> None:
        i = vyre.gid(0)
        if i < len(starts):
            record = last_block(words, starts, lengths, begin, i, aligned)
            for k, word in enumerate(root_words(record, u32(0))):
                if k < size:
                    output[i * size + k] = word

    return short


@cache
def make_each(aligned: bool) -> Any:
    """Make the kernel that leaves each message to one invocation."""

    @vyre.kernel(workgroup_size=LANES)
    def each(words: In[u32], starts: In[u32], lengths: In[u32], begin: In[u32], records: Out[u32]) -> None:
        i = vyre.gid(0)
        if i < len(starts):
            start, length = starts[i], lengths[i]
            key, flags = [begin[k] for k in range(8)], begin[8]
            # Chaining values that wait for their right neighbours, the latest one last.
            waiting = vyre.local(u32, 8 * LEVELS)
            depth = u32(0)
            h = [key[k] for k in range(8)]
            total = max((length + 63) >> 6, 1)
            for block in range(total - 1):
                m = padded_words(words, (start >> 2) + block * 16, start % 4 * 8, u32(64), 16, aligned)
                chunk, within = block >> 4, block & 15
                compress(h, m, chunk, u32(64), chunk_flags(within, u32(16), flags))
                if within == 15:
                    subtrees = chunk + 1
                    while subtrees & 1 == 0:
                        depth -= 1
                        join_pair(h, [waiting[depth * 8 + k] for k in range(8)], key, flags)
                        subtrees = subtrees >> 1
                    for k in vyre.unroll(range(8)):
                        waiting[depth * 8 + k] = h[k]
                        h[k] = key[k]
                    depth += 1
            # The last block, and the nodes above it on the right side of the tree: the last of these is the root.
            last = total - 1
            left = length - last * 64
            m = padded_words(words, (start >> 2) + last * 16, start % 4 * 8, left, 16, aligned)
            counter, mode = last >> 4, chunk_flags(last & 15, (last & 15) + 1, flags)
            while depth > 0:
                compress(h, m, counter, left, mode)
                depth -= 1
                for k in vyre.unroll(range(8)):
                    m[k + 8] = h[k]
                    m[k] = waiting[depth * 8 + k]
                    h[k] = key[k]
                counter, left, mode = u32(0), u32(64), flags | PARENT
            at = i * RECORD
            for k, word in enumerate([*h, *m, left, mode]):
                records[at + k] = word

    return each


@cache
def make_group(aligned: bool) -> Any:
    """Make the kernel that leaves each message to a workgroup, which takes a chunk an invocation in each turn."""

    @vyre.kernel(workgroup_size=LANES)
    def group(
        words: In[u32],
        starts: In[u32],
        lengths: In[u32],
        begin: In[u32],
        first: u32,
        state: InOut[u32],
        records: InOut[u32],
    ) -> None:
        """Bring each message forward from chunk ``first`` on, and write the records of the roots of those that end.

        Args:
            state: the chaining values that wait for their right neighbours, of messages that do not end.
        """
        row, waiting = vyre.shared(u32, 8 * LANES), vyre.shared(u32, 8 * LEVELS)
        t, i = vyre.lid(0), vyre.wid(0)
        start, length = starts[i], lengths[i]
        key, flags = [begin[k] for k in range(8)], begin[8]
        chunks = max((length + (CHUNK - 1)) >> 10, 1)
        end = max(min(chunks, first + WINDOW // CHUNK), first)
        for k in vyre.unroll(range((8 * LEVELS + LANES - 1) // LANES)):
            if first > 0 and k * LANES + t < 8 * LEVELS:
                waiting[k * LANES + t] = state[i * (8 * LEVELS) + k * LANES + t]
        vyre.barrier()
        for turn in range((end - first + (LANES - 1)) // LANES):
            before = first + turn * LANES
            chunk, ahead = before + t, chunks - before
            at = start + chunk * CHUNK
            if t < ahead:
                h = [key[k] for k in range(8)]
                size = min(length - chunk * CHUNK, CHUNK)
                blocks = max((size + 63) >> 6, 1)
                for block in range(blocks - 1):
                    m = padded_words(words, (at >> 2) + block * 16, at % 4 * 8, u32(64), 16, aligned)
                    compress(h, m, chunk, u32(64), chunk_flags(block, blocks, flags))
                left = size - (blocks - 1) * 64
                m = padded_words(words, (at >> 2) + (blocks - 1) * 16, at % 4 * 8, left, 16, aligned)
                mode = chunk_flags(blocks - 1, blocks, flags)
                if chunks == 1:
                    for k, word in enumerate([*h, *m, left, mode]):
                        records[i * RECORD + k] = word
                compress(h, m, chunk, left, mode)
                for k in vyre.unroll(range(8)):
                    row[k * LANES + t] = h[k]
            vyre.barrier()
            join(row, LANES, key, flags, min(ahead, LANES), u32(2 if chunks <= LANES else 1))
            if t == 0 and chunks > 1:
                # Turns are subtrees of one size: the bits of their number say which chaining values wait.
                done = before // LANES
                depth, subtrees = vyre.popcount(done), done + 1
                right = [row[k * LANES] for k in range(8)]
                last = ahead <= LANES
                while depth > 1 if last else subtrees & 1 == 0:
                    depth -= 1
                    join_pair(right, [waiting[depth * 8 + k] for k in range(8)], key, flags)
                    subtrees = subtrees >> 1
                if last:
                    for k in vyre.unroll(range(8)):
                        records[i * RECORD + k] = key[k]
                        records[i * RECORD + 8 + k] = row[k * LANES] if depth == 0 else waiting[k]
                        records[i * RECORD + 16 + k] = row[k * LANES + 1] if depth == 0 else right[k]
                    records[i * RECORD + 24] = u32(64)
                    records[i * RECORD + 25] = flags | PARENT
                else:
                    for k in vyre.unroll(range(8)):
                        waiting[depth * 8 + k] = right[k]
            vyre.barrier()
        for k in vyre.unroll(range((8 * LEVELS + LANES - 1) // LANES)):
            if end < chunks and k * LANES + t < 8 * LEVELS:
                state[i * (8 * LEVELS) + k * LANES + t] = waiting[k * LANES + t]

    return group


@cache
def make_procedures(aligned: bool) -> tuple[Any, Any, Any]:
    """Make the procedures for many messages: those of one chunk, an invocation each, and a workgroup each."""
    single, short, each, group = make_single(aligned), make_short(aligned), make_each(aligned), make_group(aligned)

    @vyre.procedure(name="std.blake3.single")
    def of_one_chunk(words: In[u32], starts: In[u32], lengths: In[u32], begin: In[u32], size: u32) -> Any:
        output = vyre.scratch(u32, starts.length * size, name="output")
        with vyre.when(size <= BLOCK):
            short(words, starts, lengths, begin, size, output, grid=starts.length)
        with vyre.otherwise():
            records = vyre.scratch(u32, starts.length * RECORD, name="records")
            single(words, starts, lengths, begin, records, grid=starts.length)
            write_output(records, output, starts.length, size)
        return output

    @vyre.procedure(name="std.blake3.each")
    def by_invocations(words: In[u32], starts: In[u32], lengths: In[u32], begin: In[u32], size: u32) -> Any:
        records = vyre.scratch(u32, starts.length * RECORD, name="records")
        each(words, starts, lengths, begin, records, grid=starts.length)
        return output_of(records, starts.length, size)

    @vyre.procedure(name="std.blake3.group")
    def by_workgroups(
        words: In[u32], starts: In[u32], lengths: In[u32], begin: In[u32], windows: u32, size: u32
    ) -> Any:
        records = vyre.scratch(u32, starts.length * RECORD, zeros=True, name="records")
        state_size = vyre.size_select(windows > 1, starts.length * (8 * LEVELS), 0)
        state = vyre.scratch(u32, state_size, zeros=True, name="state")
        for k in vyre.times(windows):
            first = k * (WINDOW // CHUNK)
            group(words, starts, lengths, begin, first, state, records, workgroups=starts.length)
        return output_of(records, starts.length, size)

    return of_one_chunk, by_invocations, by_workgroups
