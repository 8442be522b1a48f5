"""L4: sequences of programs with their wiring, against hashlib, zlib and numpy.

The standard library registers no program-level operation yet: what reads and writes buffers is a Program, dispatched,
not called. So the level is about what such operations are made of: several dispatches whose
buffers are wired to one another, each with its own grid.
"""

from __future__ import annotations

import hashlib
import zlib
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from vyre import BufferDecl, Expr, Node, Program, pack_bytes
from vyre.conformance.case import Case, Step
from vyre.conformance.families.sha256 import compression_program
from vyre.conformance.values import MASK, U32, groups, u32, words
from vyre.demo.sha256 import BLOCK, INITIAL_STATE

if TYPE_CHECKING:
    from collections.abc import Iterator

# Around the edges of a word, of a block, and of the block that the padding begins.
LENGTHS = [0, 1, 2, 3, 4, 5, 54, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 129, 500, 1000]
_SIZE = 64


def _messages(name: str) -> list[bytes]:
    return [hashlib.shake_128(f"{name} {n}".encode()).digest(n) for n in LENGTHS]


def _gid(size: int = _SIZE) -> tuple[int, int, int]:
    return (size, 1, 1)


def sha256() -> Case:
    """Messages in parts of at most three blocks: each dispatch goes on where the one before it stopped."""
    messages = _messages("sha256")
    part_bytes = 3 * BLOCK
    inputs: dict[str, np.ndarray] = {
        "state": np.tile(INITIAL_STATE, len(messages)),
        "bits": np.array([8 * len(message) for message in messages], np.uint64),
    }
    steps: list[Step] = []
    part = 0
    while True:
        rows, packed, first = [], [], 0
        for message in messages:
            whole = (len(message) + 8) // BLOCK + 1  # blocks, padding included
            blocks = min(3, max(0, whole - 3 * part))
            data = message[part * part_bytes :][: blocks * BLOCK]
            rows.append([first, blocks, len(data), 0])
            packed.append(pack_bytes(data))
            first += len(packed[-1])
        if not any(blocks for _, blocks, _, _ in rows):
            break
        inputs[f"words{part}"] = np.concatenate(packed)
        inputs[f"parts{part}"] = np.array(rows, np.uint32)
        wiring = {"words": f"words{part}", "parts": f"parts{part}"}
        steps.append(Step(compression_program(), (groups(len(messages)), 1, 1), wiring))
        part += 1
    digests = [np.frombuffer(hashlib.sha256(message).digest(), ">u4") for message in messages]
    return Case(
        "L4/sha256",
        "SHA-256 of messages of many lengths, three blocks a dispatch, is hashlib's.",
        tuple(steps),
        inputs,
        {"state": np.concatenate(digests).astype(np.uint32)},
    )


def crc32() -> Case:
    """One dispatch makes the table of the 256 bytes, the next one uses it."""
    i, c = Expr.var("i"), Expr.var("c")
    table = Program(
        [BufferDecl.read_write("table", 0, U32)],
        _gid(),
        [
            Node.let("c", Expr.gid_x()),
            Node.loop("k", 0, 8, [Node.assign("c", Expr.select(c & 1, (c >> 1) ^ 0xEDB88320, c >> 1))]),
            Node.store("table", Expr.gid_x(), c),
        ],
    )
    word = Expr.load("words", Expr.var("first") + (Expr.var("k") >> 2))
    byte = word >> ((Expr.var("k") & 3) * 8) & 0xFF
    sums = Program(
        [
            BufferDecl.read("table", 0, U32),
            BufferDecl.read("words", 1, U32),
            BufferDecl.read("firsts", 2, U32),
            BufferDecl.read("lengths", 3, U32),
            BufferDecl.read_write("sums", 4, U32),
        ],
        _gid(),
        [
            Node.let("i", Expr.gid_x()),
            Node.let("c", 0xFFFFFFFF),
            Node.let("first", Expr.load("firsts", i)),
            Node.loop(
                "k", 0, Expr.load("lengths", i), [Node.assign("c", Expr.load("table", (c ^ byte) & 0xFF) ^ (c >> 8))]
            ),
            Node.store("sums", i, ~c),
        ],
    )
    messages = _messages("crc32")
    packed = [pack_bytes(message) for message in messages]
    firsts = np.cumsum([0] + [len(part) for part in packed[:-1]])
    bytes_ = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        bytes_ = np.where(bytes_ & 1, bytes_ >> 1 ^ np.uint32(0xEDB88320), bytes_ >> 1)
    return Case(
        "L4/crc32",
        "CRC-32 with a table made by the dispatch before is zlib's.",
        (Step(table, (4, 1, 1)), Step(sums, (1, 1, 1))),
        {
            "table": u32([0] * 256),
            "words": np.concatenate(packed),
            "firsts": u32(firsts),
            "lengths": u32(LENGTHS),
            "sums": u32([0] * len(messages)),
        },
        {"table": bytes_.astype(np.uint32), "sums": u32([zlib.crc32(message) for message in messages])},
    )


@cache
def _scan_blocks() -> Program:
    """Inclusive sums within each workgroup, in 6 rounds over two halves of workgroup memory; its total to `sums`."""
    lid, here, there = Expr.local_x(), Expr.var("here"), Expr.var("there")
    # Below the first element nothing is read: what lies there is the half that the others write, and Select is eager.
    at = Expr.select(lid >= Expr.var("reach"), there + lid - Expr.var("reach"), Expr.u32(MASK))
    before = Expr.load("line", at)
    return Program(
        [
            BufferDecl.read_write("data", 0, U32),
            BufferDecl.read_write("sums", 1, U32),
            BufferDecl.workgroup("line", 2 * _SIZE, U32),
        ],
        _gid(),
        [
            Node.store("line", lid, Expr.load("data", Expr.gid_x())),
            Node.let("here", _SIZE),
            Node.let("there", 0),
            Node.let("reach", 1),
            Node.barrier(),
            Node.loop(
                "round",
                0,
                6,
                [
                    Node.store("line", here + lid, Expr.load("line", there + lid) + before),
                    Node.barrier(),
                    Node.assign("here", _SIZE - here),
                    Node.assign("there", _SIZE - there),
                    Node.assign("reach", Expr.var("reach") * 2),
                ],
            ),
            Node.store("data", Expr.gid_x(), Expr.load("line", there + lid)),
            Node.if_(lid == _SIZE - 1, [Node.store("sums", Expr.workgroup_x(), Expr.load("line", there + lid))]),
        ],
    )


@cache
def _add_sums() -> Program:
    """Adds to each workgroup's elements the total of the workgroups before it."""
    i, group = Expr.gid_x(), Expr.workgroup_x()
    before = Expr.select(group > 0, Expr.load("sums", group - 1), Expr.u32(0))
    return Program(
        [BufferDecl.read_write("data", 0, U32), BufferDecl.read("sums", 1, U32)],
        _gid(),
        [Node.store("data", i, Expr.load("data", i) + before)],
    )


def _scan_steps(array: str, count: int, level: int = 0) -> list[Step]:
    """The steps of an inclusive prefix sum of `array`, and the arrays `<array>.<level>` that they need."""
    blocks = groups(count)
    sums = f"{array}.{level}"
    steps = [
        Step(_scan_blocks(), (blocks, 1, 1), {"data": array if level == 0 else f"{array}.{level - 1}", "sums": sums})
    ]
    if blocks > 1:
        steps += _scan_steps(array, blocks, level + 1)
        below = array if level == 0 else f"{array}.{level - 1}"
        steps.append(Step(_add_sums(), (blocks, 1, 1), {"data": below, "sums": sums}))
    return steps


def _scan_arrays(values: np.ndarray, array: str) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The arrays that the scan needs, before and after, in numpy's own sums modulo 2^32."""
    inputs, wanted = {array: values}, {array: np.cumsum(values, dtype=np.uint32)}
    level, below = 0, values
    while True:
        blocks = groups(len(below))
        padded = np.zeros(blocks * _SIZE, np.uint32)
        padded[: len(below)] = below
        totals = padded.reshape(blocks, _SIZE).sum(axis=1, dtype=np.uint32)
        inputs[f"{array}.{level}"] = np.zeros(blocks, np.uint32)
        wanted[f"{array}.{level}"] = np.cumsum(totals, dtype=np.uint32) if blocks > 1 else totals
        if blocks == 1:
            return inputs, wanted
        level, below = level + 1, totals


def prefix_sum() -> Case:
    """Sums of blocks, sums of the sums, and both together: three levels for 5,000 elements."""
    values = words("prefix sum", 5000)
    inputs, wanted = _scan_arrays(values, "data")
    return Case(
        "L4/prefix_sum",
        "A prefix sum over several levels of workgroups is numpy's cumsum modulo 2^32.",
        tuple(_scan_steps("data", len(values))),
        inputs,
        wanted,
    )


def reduction() -> Case:
    """Each dispatch leaves one element for each workgroup, until one is left."""
    lid = Expr.local_x()
    half = Expr.var("half")
    program = Program(
        [
            BufferDecl.read("data", 0, U32),
            BufferDecl.read_write("sums", 1, U32),
            BufferDecl.workgroup("part", _SIZE, U32),
        ],
        _gid(),
        [
            Node.store("part", lid, Expr.load("data", Expr.gid_x())),
            Node.barrier(),
            Node.let("half", _SIZE // 2),
            Node.loop(
                "round",
                0,
                6,
                [
                    Node.if_(
                        lid < half, [Node.store("part", lid, Expr.load("part", lid) + Expr.load("part", lid + half))]
                    ),
                    Node.barrier(),
                    Node.assign("half", half >> 1),
                ],
            ),
            Node.if_(lid == 0, [Node.store("sums", Expr.workgroup_x(), Expr.load("part", 0))]),
        ],
    )
    values = words("reduction", 10_000)
    inputs = {"data0": values}
    wanted: dict[str, np.ndarray] = {}
    steps: list[Step] = []
    while len(values) > 1:
        blocks, level = groups(len(values)), len(steps)
        steps.append(Step(program, (blocks, 1, 1), {"data": f"data{level}", "sums": f"data{level + 1}"}))
        padded = np.zeros(blocks * _SIZE, np.uint32)
        padded[: len(values)] = values
        values = padded.reshape(blocks, _SIZE).sum(axis=1, dtype=np.uint32)
        inputs[f"data{level + 1}"], wanted[f"data{level + 1}"] = np.zeros(blocks, np.uint32), values
    return Case(
        "L4/reduction",
        "A sum by halves, dispatch after dispatch, is numpy's sum modulo 2^32.",
        tuple(steps),
        inputs,
        wanted,
    )


def histogram() -> Case:
    """Counts the bytes of words in workgroup-wide strides, then turns counts into the place where each byte begins."""
    i, k = Expr.var("i"), Expr.var("k")
    byte = Expr.load("data", i) >> (k * 8) & 0xFF
    count = Program(
        [BufferDecl.read("data", 0, U32), BufferDecl.read_write("bins", 1, U32)],
        _gid(),
        [
            Node.let("i", Expr.gid_x()),
            Node.if_(
                i < Expr.buf_len("data"),
                [Node.loop("k", 0, 4, [Node.let("old", Expr.atomic_add("bins", byte, 1))])],
            ),
        ],
    )
    values = words("histogram", 3000)
    bins = np.bincount(values.view(np.uint8), minlength=256).astype(np.uint32)
    inputs, wanted = _scan_arrays(bins, "bins")
    inputs["bins"] = np.zeros(256, np.uint32)
    return Case(
        "L4/histogram",
        "Atomic counts of bytes, summed up by the dispatches after, are numpy's bincount and its cumsum.",
        (Step(count, (groups(len(values)), 1, 1)), *_scan_steps("bins", 256)),
        {"data": values, **inputs},
        wanted,
    )


def bitonic_sort() -> Case:
    """Each step of the network is a dispatch; a uniform buffer says which step."""
    i, other = Expr.var("i"), Expr.var("other")
    a, b = Expr.var("a"), Expr.var("b")
    program = Program(
        [BufferDecl.uniform("stage", 0, U32), BufferDecl.read_write("data", 1, U32)],
        _gid(),
        [
            Node.let("i", Expr.gid_x()),
            Node.let("other", i ^ Expr.load("stage", 1)),
            Node.if_(
                other > i,
                [
                    Node.let("a", Expr.load("data", i)),
                    Node.let("b", Expr.load("data", other)),
                    Node.let("ascending", (i & Expr.load("stage", 0)) == 0),
                    Node.if_(
                        Expr.eq(a > b, Expr.var("ascending")),
                        [Node.store("data", i, b), Node.store("data", other, a)],
                    ),
                ],
            ),
        ],
    )
    # Few bits, so that many are equal.
    values = words("bitonic sort", 512) >> np.uint32(20)
    inputs = {"data": values}
    steps: list[Step] = []
    width = 2
    while width <= len(values):
        distance = width // 2
        while distance:
            name = f"stage{len(steps)}"
            inputs[name] = u32([width, distance])
            steps.append(Step(program, (len(values) // _SIZE, 1, 1), {"stage": name}))
            distance //= 2
        width *= 2
    return Case(
        "L4/bitonic_sort",
        "A bitonic network, a dispatch a step, is numpy's sort.",
        tuple(steps),
        inputs,
        {"data": np.sort(values)},
    )


def radix_sort() -> Case:
    """Each of the last eight bits has one stable pass: flags, their prefix sum, a scatter."""
    i = Expr.gid_x()
    shift = Expr.load("bit", 0)
    count = 256
    flags = Program(
        [BufferDecl.uniform("bit", 0, U32), BufferDecl.read("data", 1, U32), BufferDecl.read_write("zeros", 2, U32)],
        _gid(),
        [Node.store("zeros", i, (Expr.load("data", i) >> shift & 1) ^ 1)],
    )
    value, zeros = Expr.var("value"), Expr.var("zeros_here")
    scatter = Program(
        [
            BufferDecl.uniform("bit", 0, U32),
            BufferDecl.read("data", 1, U32),
            BufferDecl.read("zeros", 2, U32),
            BufferDecl.read_write("sorted", 3, U32),
        ],
        _gid(),
        [
            Node.let("value", Expr.load("data", i)),
            Node.let("zeros_here", Expr.load("zeros", i)),  # zeros up to and with this one
            Node.let("all", Expr.load("zeros", Expr.buf_len("zeros") - 1)),
            Node.store("sorted", Expr.select(value >> shift & 1, Expr.var("all") + i - zeros, zeros - 1), value),
        ],
    )
    values = words("radix sort", count)
    inputs = {"front": values, "back": np.zeros(count, np.uint32)}
    wanted: dict[str, np.ndarray] = {}
    steps: list[Step] = []
    now = values
    for bit in range(8):
        source, goal = ("front", "back") if bit % 2 == 0 else ("back", "front")
        inputs[f"bit{bit}"] = u32([bit])
        ones = now >> np.uint32(bit) & np.uint32(1)
        before, after = _scan_arrays(ones ^ np.uint32(1), f"zeros{bit}")
        inputs |= before | {f"zeros{bit}": np.zeros(count, np.uint32)}
        wanted |= after
        steps.append(Step(flags, (4, 1, 1), {"bit": f"bit{bit}", "data": source, "zeros": f"zeros{bit}"}))
        steps += _scan_steps(f"zeros{bit}", count)
        steps.append(
            Step(
                scatter,
                (4, 1, 1),
                {"bit": f"bit{bit}", "data": source, "zeros": f"zeros{bit}", "sorted": goal},
            )
        )
        now = now[np.argsort(ones, kind="stable")]
        wanted[goal] = now
    return Case(
        "L4/radix_sort",
        "Eight passes of flags, prefix sums and scatters are numpy's stable sort by the low byte.",
        tuple(steps),
        inputs,
        wanted | {"front": values[np.argsort(values & np.uint32(255), kind="stable")]},
    )


def matrix_product() -> Case:
    """Tiles of 8 x 8 in workgroup memory, of matrices whose sides are no multiples of 8; the product again squared."""
    tile = 8
    n = 29
    row, column, across, down = Expr.gid_y(), Expr.gid_x(), Expr.local_x(), Expr.local_y()
    k, t = Expr.var("k"), Expr.var("t")
    at = down * tile + across

    def guarded(matrix: str, y: Expr, x: Expr) -> Expr:
        inside = Expr.logical_and(y < n, x < n)
        return Expr.select(inside, Expr.load(matrix, y * n + x), Expr.u32(0))

    program = Program(
        [
            BufferDecl.read("a", 0, U32),
            BufferDecl.read("b", 1, U32),
            BufferDecl.read_write("c", 2, U32),
            BufferDecl.workgroup("left", tile * tile, U32),
            BufferDecl.workgroup("right", tile * tile, U32),
        ],
        (tile, tile, 1),
        [
            Node.let("sum", 0),
            Node.loop(
                "t",
                0,
                groups(n, tile),
                [
                    Node.store("left", at, guarded("a", row, t * tile + across)),
                    Node.store("right", at, guarded("b", t * tile + down, column)),
                    Node.barrier(),
                    Node.loop(
                        "k",
                        0,
                        tile,
                        [
                            Node.assign(
                                "sum",
                                Expr.var("sum")
                                + Expr.load("left", down * tile + k) * Expr.load("right", k * tile + across),
                            )
                        ],
                    ),
                    Node.barrier(),
                ],
            ),
            Node.if_(Expr.logical_and(row < n, column < n), [Node.store("c", row * n + column, Expr.var("sum"))]),
        ],
    )
    a, b = (words(f"matrix {name}", n * n).reshape(n, n) for name in "ab")
    grid = (groups(n, tile), groups(n, tile), 1)
    return Case(
        "L4/matrix_product",
        "A product of matrices modulo 2^32, and its square, are numpy's.",
        (Step(program, grid), Step(program, grid, {"a": "c", "b": "c", "c": "d"})),
        {"a": a, "b": b, "c": np.zeros_like(a), "d": np.zeros_like(a)},
        {"c": a @ b, "d": (a @ b) @ (a @ b)},
    )


def cases() -> Iterator[Case]:
    """Every sequence of programs."""
    for make in (
        sha256,
        crc32,
        prefix_sum,
        reduction,
        histogram,
        bitonic_sort,
        radix_sort,
        matrix_product,
    ):
        yield make()
