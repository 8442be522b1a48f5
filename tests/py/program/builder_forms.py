"""Kernels of kernels.py spelled out with vyre.Builder, statement by statement."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import vyre
from kernels import DIGITS, UNREACHED
from vyre import Builder, Expr, Program, logical_and, logical_not, logical_or, select, u8, u32

FOREVER = 2**32 - 1


@contextmanager
def carried(p: Builder, loop, values: list) -> Iterator[tuple[list, list, Expr]]:
    """Variables that a loop carries: `values` before it, and in each round what the round before left.

    Gives the values in the round, a list to put the next ones into, and the loop's variable. `values` becomes what the
    variables hold after the loop.
    """
    slots = [p.let("slot", value) for value in values]
    with loop as turn:
        now = [p.let("now", slot) for slot in slots]
        following = list(now)
        yield now, following, turn
        for slot, value in zip(slots, following, strict=True):
            p.assign(slot, value)
    values[:] = slots


def matmul() -> Program:
    p = Builder(workgroup_size=(16, 16))
    a, b, c = p.read("a", u32, axes=2), p.read("b", u32, axes=2), p.output("c", u32, axes=2)
    left, right = p.shared("left", u32, (16, 16)), p.shared("right", u32, (16, 16))
    x, y, i, j = vyre.gid(0), vyre.gid(1), vyre.lid(0), vyre.lid(1)
    total = [0]
    with carried(p, p.loop("tile", 0, (a.shape[1] + 15) // 16), total) as (_, following, tile):
        left[j, i] = a[y, tile * 16 + i]
        right[j, i] = b[tile * 16 + j, x]
        p.barrier()
        for k in range(16):
            following[0] = p.let("total", following[0] + left[j, k] * right[k, i])
        p.barrier()
    c[y, x] = total[0]
    return p.program()


def queens() -> Program:
    p = Builder(workgroup_size=256)
    counts, n, first = p.output("counts", u32), p.scalar(u32), vyre.gid(0)
    columns, left, right, free = (p.local(name, u32, 16) for name in ("columns", "left", "right", "free"))
    with p.if_(first < n):
        for array in (columns, left, right, free):
            with p.loop("k", 0, 16) as k:
                array[k] = 0
        everywhere = p.let("everywhere", (1 << n) - 1)
        columns[1], left[1], right[1] = 1 << first, 2 << first, (1 << first) >> 1
        free[1] = everywhere & ~(columns[1] | left[1] | right[1])
        state = [0, 1]
        with carried(p, p.loop("turn", 0, FOREVER), state) as ((found, row), following, _):
            with p.if_(logical_not(row > 0)):
                p.break_()
            next_found, next_row = p.let("found", found), p.let("row", row)
            is_done, rest = row == n, free[row]
            with p.if_(logical_or(is_done, rest == 0)):
                p.assign(next_found, found + select(is_done, 1, 0))
                p.assign(next_row, row - 1)
            with p.else_():
                queen = p.let("queen", free[row] & (0 - free[row]))
                free[row] = free[row] ^ queen
                columns[row + 1] = columns[row] | queen
                both = (left[row] | queen) << 1, (right[row] | queen) >> 1
                left[row + 1], right[row + 1] = both
                below = p.let("below", row + 1)
                free[below] = everywhere & ~(columns[below] | left[below] | right[below])
                p.assign(next_row, below)
            following[:] = next_found, next_row
        counts[first] = state[0]
    return p.program()


def bfs_level() -> Program:
    p = Builder(workgroup_size=64)
    offsets, targets, frontier, size = (p.read(name, u32) for name in ("offsets", "targets", "frontier", "size"))
    levels, found, count = (p.read_write(name, u32) for name in ("levels", "found", "count"))
    level, i = p.scalar(u32), vyre.gid(0)
    with p.if_(i < size[0]), p.loop("edge", offsets[frontier[i]], offsets[frontier[i] + 1]) as edge:
        vertex = p.let("vertex", targets[edge])
        with p.if_(levels.atomic_compare_exchange(vertex, UNREACHED, level) == UNREACHED):
            found[count.atomic_add(0, 1)] = vertex
    return p.program()


def base64_decode() -> Program:
    p = Builder(workgroup_size=256)
    text, data, wrong, i = p.read("text", u8), p.output("data", u8), p.read_write("wrong", u32), vyre.gid(0)
    digits = p.table("digits", DIGITS)
    with p.if_(i * 4 < text.shape[0]):
        word = u32(0)
        for k in range(4):
            digit = p.let("digit", digits[text[i * 4 + k]])
            padding = logical_and(digit == 64, int(k >= 2))
            padding = logical_and(logical_and(padding, i * 4 + 4 == text.shape[0]), text[i * 4 + 3] == ord("="))
            with p.if_(logical_and(digit > 63, logical_not(padding))):
                wrong.atomic_min(0, i * 4 + k)
            word = p.let("word", word << 6 | digit & 63)
        for k in range(3):
            data[i * 3 + k] = word >> (16 - 8 * k)
            with p.if_(logical_and(i * 3 + k >= data.shape[0], word >> (16 - 8 * k) & 255 != 0)):
                wrong.atomic_min(0, i * 4 + k)
    return p.program()


FORMS = (base64_decode, bfs_level, matmul, queens)
