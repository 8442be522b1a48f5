"""Kernels as a user writes them: ciphers, hashes, simulations. test_kernels.py has the independent answers."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

import vyre
from vyre import In, InOut, Out, i32, u32, u64

SIGMA = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
]


def _primes(count: int) -> list[int]:
    found: list[int] = []
    candidate = 2
    while len(found) < count:
        if all(candidate % p for p in found):
            found.append(candidate)
        candidate += 1
    return found


def _root_bits(value: int, root: int, bits: int) -> int:
    """The first bits of the fraction of a square or cube root."""
    scaled = value << (root * bits)
    low, high = 0, 1 << (bits + 8)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**root <= scaled else (low, middle - 1)
    return low & ((1 << bits) - 1)


EXPAND = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574]
H256 = [_root_bits(p, 2, 32) for p in _primes(8)]
K256 = np.array([_root_bits(p, 3, 32) for p in _primes(64)], np.uint32)
H512 = [_root_bits(p, 2, 64) for p in _primes(8)]
K512 = np.array([_root_bits(p, 3, 64) for p in _primes(80)], np.uint64)
assert hashlib.sha256().digest()  # the peers of these kernels


# ChaCha20: RFC 8439. 12 lines.
def quarter(s: list[u32], a: int, b: int, c: int, d: int) -> None:
    for x, y, z, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        s[x] += s[y]
        s[z] = (s[z] ^ s[x]).rotl(n)


@vyre.kernel
def chacha20(key: In[u32], nonce: In[u32], counter: u32, out: Out[u32, 2]) -> None:
    start = [*EXPAND, *[key[k] for k in range(8)], counter + vyre.gid(0), *[nonce[k] for k in range(3)]]
    s = [u32(v) for v in start]
    for k in 10 * [0, 1, 2, 3, 4, 5, 6, 7]:
        quarter(s, k % 4, 4 + (k + k // 4) % 4, 8 + (k + 2 * (k // 4)) % 4, 12 + (k + 3 * (k // 4)) % 4)
    for k in vyre.unroll(range(16)):
        out[vyre.gid(0), k] = s[k] + start[k]


# SHA-256 of many messages, padded to blocks of big-endian words: messages x blocks x 16. 20 lines.
@vyre.kernel
def sha256(message: In[u32, 3], digest: Out[u32, 2]) -> None:
    m = vyre.gid(0)
    h = list(H256)
    for block in range(message.shape[1]):
        w = [message[m, block, t] for t in range(16)]
        a = list(h)
        for t in vyre.unroll(range(64)):
            if t >= 16:
                x, y = w[t - 15], w[t - 2]
                w.append(w[t - 16] + (x.rotr(7) ^ x.rotr(18) ^ x >> 3) + w[t - 7] + (y.rotr(17) ^ y.rotr(19) ^ y >> 10))
            e = u32(a[4])
            one = a[7] + (e.rotr(6) ^ e.rotr(11) ^ e.rotr(25)) + (e & a[5] ^ ~e & a[6]) + int(K256[t]) + w[t]
            b = u32(a[0])
            two = (b.rotr(2) ^ b.rotr(13) ^ b.rotr(22)) + (b & a[1] ^ b & a[2] ^ a[1] & a[2])
            a = [one + two, a[0], a[1], a[2], a[3] + one, a[4], a[5], a[6]]
        for k in vyre.unroll(range(8)):
            h[k] = h[k] + a[k]
    for k in vyre.unroll(range(8)):
        digest[m, k] = h[k]


# SHA-512, in the same manner. 20 lines.
@vyre.kernel
def sha512(message: In[u64, 3], digest: Out[u64, 2]) -> None:
    m = vyre.gid(0)
    h = [u64(v) for v in H512]
    for block in range(message.shape[1]):
        w = [message[m, block, t] for t in range(16)]
        a = list(h)
        for t in vyre.unroll(range(80)):
            if t >= 16:
                x, y = w[t - 15], w[t - 2]
                w.append(w[t - 16] + (x.rotr(1) ^ x.rotr(8) ^ x >> 7) + w[t - 7] + (y.rotr(19) ^ y.rotr(61) ^ y >> 6))
            b, e = a[0], a[4]
            one = a[7] + (e.rotr(14) ^ e.rotr(18) ^ e.rotr(41)) + (e & a[5] ^ ~e & a[6]) + int(K512[t]) + w[t]
            two = (b.rotr(28) ^ b.rotr(34) ^ b.rotr(39)) + (b & a[1] ^ b & a[2] ^ a[1] & a[2])
            a = [one + two, a[0], a[1], a[2], a[3] + one, a[4], a[5], a[6]]
        for k in vyre.unroll(range(8)):
            h[k] += a[k]
    for k in vyre.unroll(range(8)):
        digest[m, k] = h[k]


# BLAKE2s of many messages of one length, in blocks of 16 words: RFC 7693. 20 lines.
def mix(v: list[int], a: int, b: int, c: int, d: int, x: u32, y: u32) -> None:
    for word, first, second in ((x, 16, 12), (y, 8, 7)):
        v[a] += v[b] + word
        v[d] = vyre.rotr(v[d] ^ v[a], first)
        v[c] += v[d]
        v[b] = vyre.rotr(v[b] ^ v[c], second)


@vyre.kernel
def blake2s(message: In[u32, 3], length: u32, digest: Out[u32, 2]) -> None:
    m, blocks = vyre.gid(0), message.shape[1]
    h = [0x6B08E647, *H256[1:]]
    for block in range(blocks):
        w = [message[m, block, k] for k in range(16)]
        last = 0xFFFFFFFF if block + 1 == blocks else 0
        v = [*h, *H256[:4], H256[4] ^ min(length, (block + 1) * 64), H256[5], H256[6] ^ last, H256[7]]
        for s, k, q in [(s, k, k // 4) for s in SIGMA for k in range(8)]:
            mix(v, k % 4, 4 + (k + q) % 4, 8 + (k + 2 * q) % 4, 12 + (k + 3 * q) % 4, w[s[2 * k]], w[s[2 * k + 1]])
        for k in vyre.unroll(range(8)):
            h[k] ^= v[k] ^ v[k + 8]
    for k in vyre.unroll(range(8)):
        digest[m, k] = h[k]


# The product of two matrices in tiles of 16 x 16. 18 lines.
@vyre.kernel(workgroup_size=(16, 16))
def matmul(a: In[u32, 2], b: In[u32, 2], c: Out[u32, 2]) -> None:
    x, y = vyre.gid(0), vyre.gid(1)
    i, j = vyre.lid(0), vyre.lid(1)
    left, right = vyre.shared(u32, (16, 16)), vyre.shared(u32, (16, 16))
    total = 0
    for tile in range((a.shape[1] + 15) // 16):
        left[j, i] = a[y, tile * 16 + i]
        right[j, i] = b[tile * 16 + j, x]
        vyre.barrier()
        for k in vyre.unroll(range(16)):
            total += left[j, k] * right[k, i]
        vyre.barrier()
    c[y, x] = total


# Conway's Game of Life. 10 lines.
@vyre.kernel
def life(now: In[u32, 2], after: Out[u32, 2]) -> None:
    x, y = vyre.gid(0), vyre.gid(1)
    around = 0
    for dy in (0, 1, 2):
        for dx in (0, 1, 2):
            if (dx, dy) != (1, 1):
                around += now[y + dy - 1, x + dx - 1]
    after[y, x] = around == 3 or (around == 2 and now[y, x] == 1)


# The Mandelbrot set in fixed point with 12 bits of fraction, and a picture of it. 12 lines.
@vyre.kernel
def mandelbrot(turns: u32, image: Out[u32, 2]) -> None:
    x, y = vyre.gid(0), vyre.gid(1)
    cx, cy = i32(x) * 24 - 8192, i32(y) * 24 - 4800
    a, b, n = i32(0), i32(0), 0
    while n < turns and a * a + b * b < 4 << 24:
        a, b = ((a * a - b * b) >> 12) + cx, ((a * b) >> 11) + cy
        n += 1
    image[y, x] = n


def picture(path: str | Path, turns: int, width: int, height: int) -> None:
    image = mandelbrot(turns, image=np.zeros((height, width), np.uint32), grid=(width, height))
    Path(path).write_bytes(b"P5 %d %d 255\n" % (width, height) + (image * 255 // turns).astype(np.uint8).tobytes())


# The greatest common divisor.
@vyre.kernel
def gcd(a: In[u32], b: In[u32], out: Out[u32]) -> None:
    i = vyre.gid(0)
    x, y = a[i], b[i]
    while y != 0:
        x, y = y, x % y
    out[i] = x


# How often each byte occurs: a histogram of the workgroup, then of all. 8 lines.
@vyre.kernel(workgroup_size=256)
def histogram(words: In[u32], counts: Out[u32]) -> None:
    mine, i, k = vyre.shared(u32, 256), vyre.gid(0), vyre.lid(0)
    if i < len(words):
        for shift in (0, 8, 16, 24):
            mine.atomic_add(words[i] >> shift & 255, 1)
    vyre.barrier()
    counts.atomic_add(k, mine[k])


# The solutions of the n queens problem with the first queen in column gid, depth-first with a stack of the invocation.
@vyre.kernel
def queens(n: u32, counts: Out[u32]) -> None:
    first = vyre.gid(0)
    if first < n:
        columns, left, right, free = [vyre.local(u32, 16) for _ in range(4)]
        everywhere, row, found = (1 << n) - 1, 1, 0
        columns[1], left[1], right[1] = 1 << first, 2 << first, (1 << first) >> 1
        free[1] = everywhere & ~(columns[1] | left[1] | right[1])
        while row > 0:
            if row == n or free[row] == 0:
                found += 1 if row == n else 0
                row -= 1
            else:
                queen = free[row] & (0 - free[row])
                free[row] ^= queen
                columns[row + 1] = columns[row] | queen
                left[row + 1], right[row + 1] = (left[row] | queen) << 1, (right[row] | queen) >> 1
                row += 1
                free[row] = everywhere & ~(columns[row] | left[row] | right[row])
        counts[first] = found


# Any: to numpy's types, an array at an index that is a value is another array.
DIGITS: Any = np.full(256, 255, np.uint8)
DIGITS[np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=", np.uint8)] = np.arange(65)


@vyre.kernel
def base64_decode(text: vyre.In[vyre.u8], data: vyre.Out[vyre.u8], wrong: vyre.InOut[vyre.u32]) -> None:
    i = vyre.gid(0)
    if i * 4 < len(text):
        word = vyre.u32(0)
        for k in vyre.unroll(range(4)):
            digit = DIGITS[text[i * 4 + k]]
            padding = digit == 64 and k >= 2 and i * 4 + 4 == len(text) and text[i * 4 + 3] == ord("=")
            if digit > 63 and not padding:
                wrong.atomic_min(0, i * 4 + k)
            word = word << 6 | digit & 63
        for k in vyre.unroll(range(3)):
            data[i * 3 + k] = word >> (16 - 8 * k)
            if i * 3 + k >= len(data) and word >> (16 - 8 * k) & 255 != 0:
                wrong.atomic_min(0, i * 4 + k)


@vyre.kernel
def utf8_validate(text: vyre.In[vyre.u8], wrong: vyre.InOut[vyre.u32]) -> None:
    i = vyre.gid(0)
    if i < len(text):
        c, after, before = text[i], text[i + 1], [text[i - k] for k in range(1, 4)]
        tail = [each >> 6 == 2 for each in before]
        needs = (c >= 0xC0) + (c >= 0xE0) + (c >= 0xF0)
        least = 0xA0 if c == 0xE0 else 0x90 if c == 0xF0 else 0x80
        most = 0x9F if c == 0xED else 0x8F if c == 0xF4 else 0xBF
        begins = c < 0x80 or (0xC2 <= c <= 0xF4 and least <= after <= most)
        goes_on = before[0] >= 0xC0 or (tail[0] and (before[1] >= 0xE0 or (tail[1] and before[2] >= 0xF0)))
        whole = all(needs < k or text[i + k] >> 6 == 2 for k in (2, 3))
        if not (goes_on if c >> 6 == 2 else begins and whole):
            wrong.atomic_min(0, i)


UNREACHED = 2**32 - 1


# One level of a breadth-first search over CSR: finds the vertices that edges of `frontier` reach first.
@vyre.kernel(workgroup_size=64)
def bfs_level(
    *, offsets: In[u32], targets: In[u32], frontier: In[u32], size: In[u32], level: u32, levels: InOut[u32],
    found: InOut[u32], count: InOut[u32],
) -> None:  # fmt: skip
    i = vyre.gid(0)
    if i < size[0]:
        for edge in range(offsets[frontier[i]], offsets[frontier[i] + 1]):
            vertex = targets[edge]
            if levels.atomic_compare_exchange(vertex, UNREACHED, level) == UNREACHED:
                found[count.atomic_add(0, 1)] = vertex
