"""The SHA-256 compression function (FIPS 180-4), written statement by statement: each invocation takes one message.

The demonstration has the same function as a kernel (vyre/demo/sha256.py). The conformance case keeps this form: its
program must not change when the way kernels are compiled does, and the two check each other.
"""

from __future__ import annotations

from functools import cache

from vyre import BufferDecl, DataType, Expr, Node, Program
from vyre.demo.sha256 import BLOCK, ROUND_CONSTANTS


def _big_endian(word: Expr) -> Expr:
    """The four bytes of a little-endian word, first byte on top."""
    return (Expr.rotl(word, 8) & 0x00FF00FF) | (Expr.rotr(word, 8) & 0xFF00FF00)


@cache
def compression_program() -> Program:
    """The Program that brings the hash of each file forward by one part.

    Buffers:
        words: U32, the parts one after the other, each padded with zeros to whole words.
        parts: Vec4U32, one for each file: first word, blocks, bytes, unused. ``blocks * 64 == bytes``, except in the
            last part.
        bits: U64, one for each file: length of the whole file in bits.
        state: U32, eight words a file, read and written.

    Source: FIPS 180-4, sections 4.1.2, 5.1.1 and 6.2.2.

    >>> compression_program().workgroup_size
    (64, 1, 1)
    """
    i = Expr.var("i")
    part = Expr.var("part")
    first, blocks, length = Expr.lane(part, 0), Expr.lane(part, 1), Expr.lane(part, 2)
    body: list[Node] = []

    def let(name: str, value: Expr) -> Expr:
        body.append(Node.let(name, value))
        return Expr.var(name)

    # The block's sixteen words: the file's bytes, then 0x80, then zeros.
    block = Expr.var("block")
    words = []
    for k in range(16):
        position = block * BLOCK + 4 * k
        left = let(f"left{k}", length - position)  # wraps to a huge number past the end
        bytes_left = Expr.select(position < length, left, 0)
        kept = Expr.select(bytes_left >= 4, 0xFFFFFFFF, ~(Expr.u32(0xFFFFFFFF) >> (bytes_left * 8)))
        marker = Expr.select(left < 4, Expr.u32(0x80000000) >> (left * 8), 0)
        raw = Expr.load("words", first + block * 16 + k)
        words.append(let(f"w{k}", (_big_endian(raw) & kept) | marker))
    # The length in bits ends the last block of a file.
    ends = let("ends", Expr.logical_and(block + 1 == blocks, blocks * BLOCK >= length + 9))
    bits = Expr.load("bits", i)
    words[14] = let("high", Expr.select(ends, Expr.lane(bits, 1), words[14]))
    words[15] = let("low", Expr.select(ends, Expr.lane(bits, 0), words[15]))

    state = [Expr.var(f"h{k}") for k in range(8)]
    a, b, c, d, e, f, g, h = state
    for t in range(64):
        if t >= 16:
            before, after = words[t - 15], words[t - 2]
            s0 = Expr.rotr(before, 7) ^ Expr.rotr(before, 18) ^ (before >> 3)
            s1 = Expr.rotr(after, 17) ^ Expr.rotr(after, 19) ^ (after >> 10)
            words.append(let(f"w{t}", words[t - 16] + s0 + words[t - 7] + s1))
        sum1 = Expr.rotr(e, 6) ^ Expr.rotr(e, 11) ^ Expr.rotr(e, 25)
        choice = (e & f) ^ (~e & g)
        t1 = let(f"t{t}", h + sum1 + choice + ROUND_CONSTANTS[t] + words[t])
        sum0 = Expr.rotr(a, 2) ^ Expr.rotr(a, 13) ^ Expr.rotr(a, 22)
        majority = (a & b) ^ (a & c) ^ (b & c)
        a, b, c, d, e, f, g, h = let(f"a{t}", t1 + sum0 + majority), a, b, c, let(f"e{t}", d + t1), e, f, g
    body += [Node.assign(f"h{k}", state[k] + new) for k, new in enumerate((a, b, c, d, e, f, g, h))]

    return Program(
        buffers=[
            BufferDecl.read("words", 0, DataType.U32),
            BufferDecl.read("parts", 1, DataType.Vec4U32),
            BufferDecl.read("bits", 2, DataType.U64),
            BufferDecl.output("state", 3, DataType.U32),
        ],
        workgroup_size=(64, 1, 1),
        entry=[
            Node.let("i", Expr.gid_x()),
            Node.if_(
                i < Expr.buf_len("parts"),
                [
                    Node.let("part", Expr.load("parts", i)),
                    *(Node.let(f"h{k}", Expr.load("state", i * 8 + k)) for k in range(8)),
                    Node.loop("block", 0, blocks, body),
                    *(Node.store("state", i * 8 + k, state[k]) for k in range(8)),
                ],
            ),
        ],
    )
