"""What calls of the library compute where no package has it, by definitions, numpy and scipy."""

from __future__ import annotations

import itertools
import re

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, shortest_path

NUMPY = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
UNREACHED = 2**32 - 1


def drawn(rng, dtype, n, most=None):
    """Random numbers of a type, or from 0 to `most`."""
    info = np.iinfo(dtype)
    least, most = (info.min, info.max) if most is None else (0, most)
    return rng.integers(least, most, n, dtype=dtype, endpoint=True)


def operated(op, x):
    return NUMPY[op].reduce(x, dtype=x.dtype)


def accumulated(op, x, inclusive=True):
    y = NUMPY[op].accumulate(x, dtype=x.dtype)
    return y if inclusive else np.concatenate([[identity(op, x.dtype)], y[:-1]])


def identity(op, dtype):
    info = np.iinfo(dtype)
    known = {"mul": 1, "min": info.max, "max": info.min, "and": ~np.zeros(1, dtype)[0]}
    return dtype.type(known.get(op, 0))


def segments(x, cuts):
    return [x[a:b] for a, b in itertools.pairwise(cuts.tolist())]


def segments_operated(x, cuts, op):
    empty = identity(op, x.dtype)
    parts = segments(x, cuts)
    return np.array([operated(op, part) if len(part) else empty for part in parts], x.dtype)


def segments_accumulated(x, cuts, op):
    return np.concatenate([x[:0], *(accumulated(op, part) for part in segments(x, cuts))])


def order_of(x, descending=False):
    """numpy's stable order; the largest first by the order of the complements."""
    return np.argsort(~x if descending else x, kind="stable")


def partitioned(x, mask):
    return np.concatenate([x[mask], x[~mask]]), np.count_nonzero(mask)


def scattered(out, index, values):
    out[index] = values  # numpy, too, keeps the last of equal indices
    return out


def scatter_added(out, index, values):
    np.add.at(out, index, values)
    return out


def rows(digests):
    digests = list(digests)
    return np.frombuffer(b"".join(digests), np.uint8).reshape(len(digests), -1)


def fnv(data, value, prime, bits):
    """FNV-1a by its definition."""
    for byte in data:
        value = (value ^ byte) * prime % 2**bits
    return value


def crc32c(data, crc=0):
    """The definition: one bit after the other."""
    crc ^= 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def sip(data, key):
    """SipHash-2-4 by its definition, with Python's integers."""
    mask = 2**64 - 1
    k = [int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")]
    names = [b"somepseu", b"dorandom", b"lygenera", b"tedbytes"]
    v = [k[i % 2] ^ int.from_bytes(name, "big") for i, name in enumerate(names)]

    def turn(x, n):
        return (x << n | x >> (64 - n)) & mask

    def rounds(n):
        for _ in range(n):
            for a, b, r in ((0, 1, 13), (2, 3, 16)):
                v[a] = v[a] + v[b] & mask
                v[b] = turn(v[b], r) ^ v[a]
            v[0] = turn(v[0], 32)
            for a, b, r in ((2, 1, 17), (0, 3, 21)):
                v[a] = v[a] + v[b] & mask
                v[b] = turn(v[b], r) ^ v[a]
            v[2] = turn(v[2], 32)

    padded = data + bytes(-(len(data) + 1) % 8) + bytes([len(data) % 256])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 255
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def philox(counters, key):
    """Philox 4x32-10 by its definition; rows of 4 words."""
    c, low = counters.T.astype(np.uint64), np.uint64(2**32 - 1)
    k = key.astype(np.uint64)
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [b >> 32 ^ c[1] ^ k[0], b & low, a >> 32 ^ c[3] ^ k[1], a & low]
        k = k + np.array([0x9E3779B9, 0xBB67AE85], np.uint64) & low
    return np.array(c).T.astype(np.uint32)


def random_words(n, seed):
    """Philox of the index, whose key is the seed."""
    counters = np.zeros((-(-n // 4), 4), np.uint32)
    counters[:, 0] = np.arange(len(counters))
    return philox(counters, np.array([seed & 0xFFFFFFFF, seed >> 32], np.uint32)).reshape(-1)[:n]


def threefry(counters, key):
    """Threefry 2x32-20 by its definition; rows of 2 words."""
    k = [*key, key[0] ^ key[1] ^ np.uint32(0x1BD11BDA)]
    x, y = (counters[:, lane] + key[lane] for lane in range(2))
    for turn in range(20):
        by = np.uint32((13, 15, 26, 6, 17, 29, 16, 24)[turn % 8])
        x = x + y
        y = (y << by | y >> 32 - by) ^ x
        if turn % 4 == 3:
            at = turn // 4 + 1
            x, y = x + k[at % 3], y + k[(at + 1) % 3] + np.uint32(at)
    return np.stack([x, y], 1)


def edit_distance(a, b):
    """Wagner and Fischer's table, a row of numpy at a time."""
    b = np.frombuffer(bytes(b), np.uint8)
    row = along = np.arange(len(b) + 1)
    for x in bytes(a):
        moved = np.minimum(row[1:] + 1, row[:-1] + (b != x))
        row = np.minimum.accumulate(np.concatenate([[row[0] + 1], moved]) - along) + along
    return int(row[-1])


def score(a, b, match=2, mismatch=-1, gap=-1):
    """Smith and Waterman's table, a row of numpy at a time."""
    b = np.frombuffer(bytes(b), np.uint8)
    along, row, best = np.arange(len(b) + 1) * gap, np.zeros(len(b) + 1, np.int64), 0
    for x in bytes(a):
        across = row[:-1] + np.where(b == x, match, mismatch)
        moved = np.maximum(np.maximum(row[1:] + gap, across), 0)
        row = np.maximum.accumulate(np.concatenate([[0], moved]) - along) + along
        best = max(best, int(row.max()))
    return best


def all_matches(patterns, data):
    """By bytes.find alone."""
    found = []
    for number, each in enumerate(patterns):
        at = data.find(each)
        while at >= 0:
            found.append((at, at + len(each), number))
            at = data.find(each, at + 1)
    return sorted(found)


def structure(text):
    """The positions in JSON that a pattern finds outside of strings."""
    blank = re.sub(rb'"(?:[^"\\]|\\.)*"', lambda match: b" " * len(match[0]), text)
    return [match.start() for match in re.finditer(rb"[{}\[\]:,]", blank)]


def adjacency(offsets, targets):
    n = len(offsets) - 1
    at = targets.astype(np.int64), offsets.astype(np.int64)
    return csr_matrix((np.ones(len(targets)), *at), shape=(n, n))


def levels(offsets, targets, source=0):
    found = shortest_path(adjacency(offsets, targets), unweighted=True, indices=source)
    return np.where(np.isinf(found), UNREACHED, found).astype(np.uint32)


def components(offsets, targets):
    n = len(offsets) - 1
    _, labels = connected_components(adjacency(offsets, targets), directed=False)
    least = np.full(n, n)
    np.minimum.at(least, labels, np.arange(n))
    return least[labels]


def ranks(offsets, targets, rounds, damping=0.85):
    """PageRank by its definition, in numpy's integers of 64 bits, which hold every product."""
    degrees, n = np.diff(offsets).astype(np.int64), np.uint64(len(offsets) - 1)
    damped = np.uint64(int(damping * 2**32))
    base = min((2**32 - int(damped)) // int(n), 2**32 - 1)
    found = np.full(int(n), (2**32 - 1) // int(n), np.uint64)
    for _ in range(rounds):
        sums = np.zeros(int(n), np.uint64)
        shares = found // np.maximum(degrees, 1).astype(np.uint64)
        np.add.at(sums, targets, np.repeat(shares, degrees))
        sums += found[degrees == 0].sum() // n
        found = np.uint64(base) + (damped * sums >> np.uint64(32))
    return found.astype(np.uint32)


def assert_same(found, wanted):
    """Hold numbers, bytes, arrays, records, and lists and tuples of them to what the model gives."""
    if isinstance(found, np.ndarray):
        found = found.tolist() if found.dtype.names else found
        assert np.shape(found) == np.shape(wanted)
        np.testing.assert_array_equal(found, wanted)
    elif isinstance(found, (list, tuple)):
        assert len(found) == len(wanted)
        for each, other in zip(found, wanted, strict=True):
            assert_same(each, other)
    else:
        assert found == wanted


def strings_of(messages):
    """The byte strings of packed ones, by numpy alone."""
    data = messages.words.numpy().astype("<u4").tobytes()
    places = zip(messages.starts.numpy().tolist(), messages.lengths.numpy().tolist(), strict=True)
    return [data[start : start + length] for start, length in places]
