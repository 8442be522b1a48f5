"""Kernels as a user writes them: ciphers, hashes, simulations. test_kernels.py has the independent answers."""

import hashlib
from typing import Any

import numpy as np

import vyre
from vyre import In, InOut, Out, u32


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
