"""Kernels of kernels.py spelled out with vyre.Builder, statement by statement."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import vyre
from kernels import DIGITS, H256, SIGMA, UNREACHED
from vyre import Builder, Expr, Program, i32, logical_and, logical_not, logical_or, select, u8, u32

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


def blake2s() -> Program:
    p = Builder(workgroup_size=256)
    message, digest = p.read("message", u32, axes=3), p.output("digest", u32, axes=2)
    length = p.scalar(u32)
    m, blocks = p.let("m", vyre.gid(0)), p.let("blocks", message.shape[1])
    h = [0x6B08E647, *H256[1:]]
    with carried(p, p.loop("block", 0, blocks), h) as (now, following, block):
        w = [message[m, block, k] for k in range(16)]
        last = p.let("last", select(block + 1 == blocks, 0xFFFFFFFF, 0))
        v = [*now, *H256[:4], H256[4] ^ vyre.min(length, (block + 1) * 64), H256[5], H256[6] ^ last, H256[7]]
        for s in SIGMA:
            for k in range(8):
                q = k // 4
                a, b, c, d = k % 4, 4 + (k + q) % 4, 8 + (k + 2 * q) % 4, 12 + (k + 3 * q) % 4
                for word, first, second in ((w[s[2 * k]], 16, 12), (w[s[2 * k + 1]], 8, 7)):
                    v[a] = p.let("v", v[a] + (v[b] + word))
                    v[d] = p.let("v", vyre.rotr(v[d] ^ v[a], first))
                    v[c] = p.let("v", v[c] + v[d])
                    v[b] = p.let("v", vyre.rotr(v[b] ^ v[c], second))
        for k in range(8):
            following[k] = p.let("h", now[k] ^ (v[k] ^ v[k + 8]))
    for k in range(8):
        digest[m, k] = h[k]
    return p.program()


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


def life() -> Program:
    p = Builder(workgroup_size=(16, 16))
    now, after = p.read("now", u32, axes=2), p.output("after", u32, axes=2)
    x, y = p.let("x", vyre.gid(0)), p.let("y", vyre.gid(1))
    around = 0
    for dy in (0, 1, 2):
        for dx in (0, 1, 2):
            if (dx, dy) != (1, 1):
                around = p.let("around", around + now[y + dy - 1, x + dx - 1])
    after[y, x] = logical_or(around == 3, logical_and(around == 2, now[y, x] == 1))
    return p.program()


def mandelbrot() -> Program:
    p = Builder(workgroup_size=(16, 16))
    image = p.output("image", u32, axes=2)
    turns = p.scalar(u32)
    x, y = vyre.gid(0), vyre.gid(1)
    cx, cy = p.let("cx", i32(x) * 24 - 8192), p.let("cy", i32(y) * 24 - 4800)
    state = [i32(0), i32(0), 0]
    with carried(p, p.loop("turn", 0, FOREVER), state) as ((a, b, n), following, _):
        with p.if_(logical_not(logical_and(n < turns, a * a + b * b < 4 << 24))):
            p.break_()
        following[0] = p.let("a", ((a * a - b * b) >> 12) + cx)
        following[1] = p.let("b", ((a * b) >> 11) + cy)
        following[2] = p.let("n", n + 1)
    image[y, x] = state[2]
    return p.program()


def histogram() -> Program:
    p = Builder(workgroup_size=256)
    words, counts, mine = p.read("words", u32), p.output("counts", u32), p.shared("mine", u32, 256)
    i, k = vyre.gid(0), vyre.lid(0)
    with p.if_(i < words.shape[0]):
        for shift in (0, 8, 16, 24):
            mine.atomic_add(words[i] >> shift & 255, 1)
    p.barrier()
    counts.atomic_add(k, mine[k])
    return p.program()


def queens() -> Program:
    p = Builder(workgroup_size=256)
    counts, n, first = p.output("counts", u32), p.scalar(u32), vyre.gid(0)
    columns, left, right, free = (p.local(name, u32, 16) for name in ("columns", "left", "right", "free"))
    with p.if_(first < n):
        for array in (columns, left, right, free):
            with p.loop("k", 0, 16) as k:
                array[k] = array[FOREVER]
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


def utf8_validate() -> Program:
    p = Builder(workgroup_size=256)
    text, wrong, i = p.read("text", u8), p.read_write("wrong", u32), vyre.gid(0)
    with p.if_(i < text.shape[0]):
        c, after, before = text[i], text[i + 1], [text[i - k] for k in range(1, 4)]
        tail = [each >> 6 == 2 for each in before]
        needs = (c >= 0xC0) + (c >= 0xE0) + (c >= 0xF0)
        least = select(c == 0xE0, 0xA0, select(c == 0xF0, 0x90, 0x80))
        most = select(c == 0xED, 0x9F, select(c == 0xF4, 0x8F, 0xBF))
        in_range = logical_and(least <= after, after <= most)
        begins = logical_or(c < 0x80, logical_and(logical_and(c >= 0xC2, c <= 0xF4), in_range))
        third = select(tail[1], before[2] >= 0xF0, tail[1])
        second = select(before[1] >= 0xE0, before[1] >= 0xE0, third)
        goes_on = select(before[0] >= 0xC0, before[0] >= 0xC0, select(tail[0], second, tail[0]))
        whole = [logical_or(needs < k, text[i + k] >> 6 == 2) for k in (2, 3)]
        right = select(c >> 6 == 2, goes_on, select(begins, logical_and(*whole), begins))
        with p.if_(logical_not(right)):
            wrong.atomic_min(0, i)
    return p.program()


FORMS = (base64_decode, bfs_level, blake2s, histogram, life, mandelbrot, matmul, queens, utf8_validate)
