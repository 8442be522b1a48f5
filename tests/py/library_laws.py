"""The laws of the library's families, each as a function that raises AssertionError where its law is false.

A law gets the library's functions as attributes of `s`, whose results a test may make wrong, and random numbers. It
compares results with each other and with its inputs by numpy alone, so that no result can hide another's fault.
"""

from __future__ import annotations

import itertools
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

LAWS: dict[str, Callable[[Any, np.random.Generator], None]] = {}
OPERATORS = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
IDENTITIES = {"add": 0, "mul": 1, "min": 2**32 - 1, "max": 0, "and": 2**32 - 1, "or": 0, "xor": 0}
UNREACHED = 2**32 - 1


def law(function: Callable[[Any, np.random.Generator], None]) -> Callable[[Any, np.random.Generator], None]:
    LAWS[function.__name__] = function
    return function


def same(left: Any, right: Any) -> None:
    np.testing.assert_array_equal(left, right)


def words(rng: np.random.Generator, size: int, below: int = 2**32) -> np.ndarray:
    return rng.integers(below, size=size, dtype=np.uint32)


def octets(rng: np.random.Generator, size: int) -> bytes:
    return rng.bytes(size)


def combined(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


# Reductions and scans.


@law
def a_reduction_is_that_of_its_parts_reductions(s, rng):
    x = words(rng, 2100) | np.uint32(1)
    for op, combine in OPERATORS.items():
        first, second = s.reduce(x[:777], op), s.reduce(x[777:], op)
        same(first, combine.reduce(x[:777], dtype=x.dtype))  # which a bitwise or of both would not show
        same(second, combine.reduce(x[777:], dtype=x.dtype))
        same(s.reduce(x, op), combine(first, second))


@law
def a_reduction_knows_no_order(s, rng):
    x = words(rng, 1500)
    for op in OPERATORS:
        same(s.reduce(x, op), s.reduce(rng.permutation(x), op))


@law
def an_identity_changes_no_reduction_and_is_that_of_nothing(s, rng):
    x = words(rng, 600) | np.uint32(1)
    for op, identity in IDENTITIES.items():
        same(s.reduce(np.append(x, np.uint32(identity)), op), s.reduce(x, op))
        if op not in ("min", "max"):
            same(s.reduce(x[:0], op), identity)


@law
def sum_min_and_max_are_reductions(s, rng):
    x = words(rng, 3000)
    for name, op in (("sum", "add"), ("min", "min"), ("max", "max")):
        same(getattr(s, name)(x), s.reduce(x, op))


@law
def the_minimum_is_the_complement_of_the_complements_maximum(s, rng):
    x = words(rng, 900)
    same(s.min(x), ~s.max(~x))


@law
def any_and_all_are_each_others_complements(s, rng):
    for x in (words(rng, 500, 2), np.zeros(500, np.uint32), np.ones(500, np.uint32)):
        assert bool(s.any(x)) != bool(s.all(x == 0))


@law
def argmin_and_argmax_are_the_first_extremes(s, rng):
    x = words(rng, 700, 50)
    for name, at in (("min", s.argmin(x)), ("max", s.argmax(x))):
        extreme = getattr(np, name)(x)
        assert x[int(at)] == extreme
        assert extreme not in x[: int(at)]


@law
def a_scan_begins_with_the_first_goes_on_with_each_and_ends_with_the_reduction(s, rng):
    x = words(rng, 2500) | np.uint32(1)
    for op, combine in OPERATORS.items():
        y = s.scan(x, op)
        assert y[0] == x[0]
        same(combine(y[:-1], x[1:]), y[1:])
        assert y[-1] == s.reduce(x, op)


@law
def a_scan_goes_on_where_its_first_part_ended(s, rng):
    x = words(rng, 2600) | np.uint32(1)
    for op, combine in OPERATORS.items():
        first, second = s.scan(x[:1111], op), s.scan(x[1111:], op)
        same(first, combine.accumulate(x[:1111], dtype=x.dtype))
        same(second, combine.accumulate(x[1111:], dtype=x.dtype))
        same(s.scan(x, op), np.append(first, combine(first[-1], second)))


@law
def an_exclusive_scan_is_the_inclusive_one_a_place_later(s, rng):
    x = words(rng, 2300)
    for op, identity in IDENTITIES.items():
        same(s.scan(x, op, inclusive=False), np.append(np.uint32(identity), s.scan(x, op)[:-1]))


@law
def the_differences_of_sums_are_the_elements(s, rng):
    x = words(rng, 5000)
    sums = s.cumsum(x)
    same(np.diff(sums, prepend=np.uint32(0)), x)


def segments(rng, size, count):
    cuts = np.sort(rng.integers(size + 1, size=count - 1))
    return np.concatenate([[0], cuts, [size]]).astype(np.uint32)


@law
def one_segment_is_a_scan_and_a_reduction(s, rng):
    x, one = words(rng, 2400) | np.uint32(1), np.array([0, 2400], np.uint32)
    for op in OPERATORS:
        same(s.segmented_scan(x, one, op), s.scan(x, op))
        same(s.segmented_reduce(x, one, op), [s.reduce(x, op)])


@law
def segments_end_with_their_reductions(s, rng):
    x = words(rng, 2400) | np.uint32(1)
    offsets = np.unique(segments(rng, len(x), 40))  # none is empty
    begins = np.zeros(len(x), bool)
    begins[offsets[:-1]] = True
    for op, combine in OPERATORS.items():
        y = s.segmented_scan(x, offsets, op)
        same(y[begins], x[begins])
        same(combine(y[:-1], x[1:])[~begins[1:]], y[1:][~begins[1:]])
        same(y[offsets[1:] - 1], s.segmented_reduce(x, offsets, op))


@law
def segments_are_scans_of_their_own(s, rng):
    x, offsets = words(rng, 2000), np.array([0, 7, 7, 1033, 2000], np.uint32)
    parts = [s.cumsum(x[a:b]) for a, b in itertools.pairwise(offsets)]
    same(s.segmented_scan(x, offsets, "add"), np.concatenate(parts))


# Order, selection and sets.


@law
def sorting_orders_permutes_and_is_idempotent(s, rng):
    for size in (400, 3000, 9000):
        x = words(rng, size, 1 << 14)
        y = s.sort(x)
        assert (y[1:] >= y[:-1]).all()
        same(np.bincount(y, minlength=1 << 14), np.bincount(x, minlength=1 << 14))
        same(s.sort(y), y)


@law
def descending_is_ascending_of_the_complement(s, rng):
    x = words(rng, 5000)
    same(s.sort(x, descending=True), ~s.sort(~x))


@law
def sorting_knows_no_order(s, rng):
    x = words(rng, 6000)
    same(s.sort(x), s.sort(rng.permutation(x)))


@law
def positions_sort_and_are_stable(s, rng):
    x = words(rng, 5000, 300)
    order = s.argsort(x)
    same(np.sort(order), np.arange(len(x)))
    same(x[order], s.sort(x))
    equal = x[order][1:] == x[order][:-1]
    assert (order[1:][equal] > order[:-1][equal]).all()


@law
def pairs_are_sorted_by_positions(s, rng):
    keys, values = words(rng, 5000, 200), words(rng, 5000)
    sorted_keys, sorted_values = s.sort_pairs(keys, values)
    order = s.argsort(keys)
    same(sorted_keys, keys[order])
    same(sorted_values, values[order])


@law
def the_largest_are_the_first_of_those_sorted_down(s, rng):
    x = words(rng, 4000, 900)
    values, positions = s.topk(x, 37)
    down, order = s.sort(x, descending=True), s.argsort(x, descending=True)
    same(x[order], down)
    same(np.sort(order), np.arange(len(x)))
    same(values, down[:37])
    same(positions, order[:37])


@law
def a_place_in_a_sorted_array_is_how_many_come_before(s, rng):
    a, v = np.sort(words(rng, 700, 500)), words(rng, 300, 520)
    same(s.searchsorted(a, v), (a[None, :] < v[:, None]).sum(axis=1))
    same(s.searchsorted(a, v, "right"), (a[None, :] <= v[:, None]).sum(axis=1))


@law
def places_on_both_sides_count_equal_elements(s, rng):
    a = np.sort(words(rng, 2000, 100))
    v = np.arange(100, dtype=np.uint32)
    same(s.searchsorted(a, v, "right") - s.searchsorted(a, v), s.bincount(a, minlength=100))


@law
def what_is_selected_and_the_rest_are_the_partition(s, rng):
    x, mask = words(rng, 5000), rng.integers(2, size=5000) == 0
    y, count = s.partition(x, mask)
    selected, rest = s.compact(x, mask), s.compact(x, ~mask)
    assert int(count) == len(selected) == mask.sum()
    same(y, np.concatenate([selected, rest]))


@law
def what_is_selected_is_what_lies_at_the_positions(s, rng):
    x, mask = words(rng, 5000), rng.integers(3, size=5000) == 0
    positions = s.nonzero(mask)
    assert (np.diff(positions.astype(np.int64)) > 0).all()
    assert len(positions) == mask.sum()
    same(s.compact(x, mask), s.gather(x, positions.astype(np.uint32)))


@law
def selecting_again_is_selecting_both(s, rng):
    x, mask = words(rng, 3000), rng.integers(2, size=3000) == 0
    twice = s.compact(s.compact(x, mask), (x % 3 == 0)[mask])
    same(twice, s.compact(x, mask & (x % 3 == 0)))


@law
def distinct_elements_rebuild_the_array(s, rng):
    x = words(rng, 3000, 700)
    y, index, inverse, counts = s.unique(x, True, True, True)
    assert (y[1:] > y[:-1]).all()
    same(y[inverse], x)
    same(x[index], y)
    assert counts.sum() == len(x)
    same(np.bincount(inverse, minlength=len(y)), counts)
    same(s.unique(y), y)


@law
def sets_keep_the_laws_of_sets(s, rng):
    a, b, c = (np.sort(words(rng, 700, 1000)) for _ in range(3))
    both, either, rest = s.intersect1d(a, b), s.union1d(a, b), s.setdiff1d(a, b)
    same(both, s.intersect1d(b, a))
    same(either, s.union1d(b, a))
    same(s.union1d(rest, b), either)
    same(s.union1d(rest, both), s.unique(a))
    same(s.setdiff1d(a, rest), both)
    assert len(s.intersect1d(rest, b)) == 0
    others = s.union1d(b, c)
    same(others, s.union1d(c, b))
    in_c, not_in_c = s.intersect1d(a, c), s.setdiff1d(a, c)
    same(s.union1d(in_c, not_in_c), s.unique(a))
    same(s.intersect1d(a, others), s.union1d(both, in_c))
    same(s.setdiff1d(a, others), s.intersect1d(rest, not_in_c))


# Counting and places.


@law
def counts_sum_to_the_number_of_elements(s, rng):
    x = words(rng, 5000, 300)
    assert s.bincount(x, minlength=300).sum() == len(x)
    lo, hi = 1000, 1000 + 64 * 5
    y = words(rng, 5000, 2000)
    assert s.histogram(y, 64, lo, hi).sum() == ((y >= lo) & (y < hi)).sum()


@law
def counts_of_two_arrays_add(s, rng):
    x, y = words(rng, 3000, 300), words(rng, 2000, 300)
    both = s.bincount(np.concatenate([x, y]), minlength=300)
    same(both, s.bincount(x, minlength=300) + s.bincount(y, minlength=300))


@law
def neighbouring_bins_add_up_to_wider_ones(s, rng):
    x = words(rng, 6000, 4096)
    same(s.histogram(x, 64, 0, 4096), s.histogram(x, 128, 0, 4096).reshape(-1, 2).sum(axis=1))


@law
def unit_bins_count_numbers(s, rng):
    x = words(rng, 4000, 256)
    same(s.histogram(x, 256, 0, 256), s.bincount(x, minlength=256))


@law
def what_a_permutation_scatters_it_gathers(s, rng):
    x, order = words(rng, 3000), rng.permutation(3000).astype(np.uint32)
    there = s.scatter(np.zeros(3000, np.uint32), order, x)
    same(there[order], x)
    same(s.gather(there, order), x)


@law
def adding_ones_counts(s, rng):
    x = words(rng, 4000, 500)
    zeros = np.zeros(500, np.uint32)
    same(s.scatter_add(zeros, x, np.ones(4000, np.uint32)), s.bincount(x, minlength=500))


# Matrices.


def matrix(rng, rows, columns):
    return words(rng, rows * columns).reshape(rows, columns)


@law
def transposing_twice_changes_nothing(s, rng):
    x = matrix(rng, 45, 70)
    once = s.transpose(x)
    assert once.shape == (70, 45)
    same(once[:, 0], x[0])
    same(once.T, x)
    same(s.transpose(once), x)


@law
def a_product_is_linear(s, rng):
    a, b, c = matrix(rng, 40, 33), matrix(rng, 33, 50), matrix(rng, 33, 50)
    same(s.matmul(a, b + c), s.matmul(a, b) + s.matmul(a, c))
    same(s.matmul(a * np.uint32(7), b), s.matmul(a, b) * np.uint32(7))


@law
def a_product_is_associative(s, rng):
    a, b, c = matrix(rng, 30, 20), matrix(rng, 20, 40), matrix(rng, 40, 10)
    same(s.matmul(s.matmul(a, b), c), s.matmul(a, s.matmul(b, c)))


@law
def the_identity_multiplies_as_one(s, rng):
    a = matrix(rng, 37, 37)
    one = np.eye(37, dtype=np.uint32)
    same(s.matmul(a, one), a)
    same(s.matmul(one, a), a)


@law
def a_transposed_product_is_that_of_the_transposed_factors(s, rng):
    a, b = matrix(rng, 20, 30), matrix(rng, 30, 25)
    same(s.transpose(s.matmul(a, b)), s.matmul(s.transpose(b), s.transpose(a)))


# Hashes, checksums and codes of authentication.

DIGESTS = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_224", "sha3_256", "sha3_384", "sha3_512"]
DIGESTS += ["blake2s", "blake2b", "blake3"]
CHECKSUMS = ["crc32", "crc32c", "adler32", "fnv1a32", "fnv1a64", "murmur3_32", "xxhash32", "xxhash64"]


def a_digest_knows_no_neighbours(name):
    def check(s, rng):
        messages = [octets(rng, size) for size in (0, 1, 63, 64, 137, 1100)]
        function = getattr(s, name)
        rows = function(messages)
        for message, row in zip(messages, rows, strict=True):
            assert function(message) == (row.tobytes() if name in DIGESTS else int(row))

    LAWS[f"a_digest_knows_no_neighbours_{name}"] = check


for _name in (*DIGESTS, *CHECKSUMS):
    a_digest_knows_no_neighbours(_name)


@law
def a_checksum_goes_on_from_that_of_the_first_part(s, rng):
    a, b = octets(rng, 1000), octets(rng, 777)
    for name in ("crc32", "crc32c", "adler32"):
        checksum = getattr(s, name)
        assert checksum(a + b) == checksum(b, checksum(a))


@law
def crc_of_an_exclusive_or_is_that_of_the_crcs(s, rng):
    a, b, c = (octets(rng, 500) for _ in range(3))
    for name in ("crc32", "crc32c"):
        crc = getattr(s, name)
        assert crc(combined(combined(a, b), c)) == crc(a) ^ crc(b) ^ crc(c)


@law
def the_crc_of_a_message_and_its_crc_is_the_residue(s, rng):
    for name, residue in (("crc32", 0x2144DF1C), ("crc32c", 0x48674BC7)):
        crc = getattr(s, name)
        message = octets(rng, 300)
        assert crc(message + struct.pack("<I", crc(message))) == residue


@law
def fnv_and_a_byte_is_a_step(s, rng):
    message = octets(rng, 200)
    for name, prime, bits in (("fnv1a32", 0x01000193, 32), ("fnv1a64", 0x100000001B3, 64)):
        fnv = getattr(s, name)
        assert fnv(message + b"x") == (fnv(message) ^ ord("x")) * prime % 2**bits


@law
def a_longer_blake3_begins_with_the_shorter(s, rng):
    message = octets(rng, 3000)
    longest = s.blake3(message, length=200)
    for length in (1, 32, 131):
        assert s.blake3(message, length=length) == longest[:length]


BLAKE3 = struct.unpack("<8I", bytes.fromhex("67e6096a85ae67bb72f36e3c3af54fa57f520e518c68059babd9831f19cde05b"))
ORDER = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)


def compressed(chaining, block, counter, size, flags):
    """The first eight words of BLAKE3's compression function, from its paper."""

    def mix(a, b, c, d, x, y):
        for word, first, second in ((x, 16, 12), (y, 8, 7)):
            v[a] = v[a] + v[b] + word & 0xFFFFFFFF
            v[d] ^= v[a]
            v[d] = (v[d] >> first | v[d] << 32 - first) & 0xFFFFFFFF
            v[c] = v[c] + v[d] & 0xFFFFFFFF
            v[b] ^= v[c]
            v[b] = (v[b] >> second | v[b] << 32 - second) & 0xFFFFFFFF

    v = [*chaining, *BLAKE3[:4], counter & 0xFFFFFFFF, counter >> 32, size, flags]
    m = struct.unpack("<16I", block.ljust(64, b"\0"))
    for _ in range(7):
        for k in range(4):
            mix(k, 4 + k, 8 + k, 12 + k, m[2 * k], m[2 * k + 1])
        for k in range(4):
            mix(k, 4 + (k + 1) % 4, 8 + (k + 2) % 4, 12 + (k + 3) % 4, m[8 + 2 * k], m[9 + 2 * k])
        m = [m[k] for k in ORDER]
    return [v[k] ^ v[8 + k] for k in range(8)]


def chaining_value(chunk, number):
    value, blocks = BLAKE3, [chunk[k : k + 64] for k in range(0, len(chunk), 64)] or [b""]
    for k, block in enumerate(blocks):
        flags = (1 if k == 0 else 0) | (2 if k == len(blocks) - 1 else 0)
        value = compressed(value, block, number, len(block), flags)
    return value


@law
def blake3_is_the_tree_of_its_chunks(s, rng):
    message = octets(rng, 3 * 1024 + 100)
    a, b, c, d = (chaining_value(message[1024 * k : 1024 * (k + 1)], k) for k in range(4))

    def parent(left, right, flags=4):
        return compressed(BLAKE3, struct.pack("<16I", *left, *right), 0, 64, flags)

    root = parent(parent(a, b), parent(c, d), 4 | 8)
    assert s.blake3(message) == struct.pack("<8I", *root)


@law
def hmac_is_two_hashes(s, rng):
    key, message = octets(rng, 20), octets(rng, 150)
    for name, block in (("sha256", 64), ("sha512", 128), ("md5", 64), ("sha1", 64)):
        digest, padded = getattr(s, name), key.ljust(block, b"\0")
        inner = digest(bytes(k ^ 0x36 for k in padded) + message)
        assert s.hmac(key, message, name) == digest(bytes(k ^ 0x5C for k in padded) + inner)


@law
def one_iteration_of_pbkdf2_is_an_hmac_and_two_are_their_exclusive_or(s, rng):
    password, salt = octets(rng, 11), octets(rng, 16)
    first = s.hmac(password, salt + b"\0\0\0\1", "sha256")
    assert s.pbkdf2_hmac("sha256", password, salt, 1) == first
    assert s.pbkdf2_hmac("sha256", password, salt, 2) == combined(first, s.hmac(password, first, "sha256"))


@law
def siphash_of_a_list_is_that_of_each(s, rng):
    key, messages = octets(rng, 16), [octets(rng, size) for size in (0, 7, 8, 100)]
    same(s.siphash24(messages, key), [s.siphash24(message, key) for message in messages])


# Ciphers and random numbers.


@law
def chacha20_twice_changes_nothing(s, rng):
    key, nonce, data = octets(rng, 32), octets(rng, 12), octets(rng, 999)
    hidden = s.chacha20(key, nonce, data)
    assert len(hidden) == len(data)
    assert hidden != data
    assert s.chacha20(key, nonce, hidden) == data


@law
def chacha20_goes_on_at_the_next_counter(s, rng):
    key, nonce, data = octets(rng, 32), octets(rng, 12), octets(rng, 640)
    whole = s.chacha20(key, nonce, data)
    assert whole == s.chacha20(key, nonce, data[:192]) + s.chacha20(key, nonce, data[192:], counter=3)


@law
def aes_ctr_twice_changes_nothing(s, rng):
    for size in (16, 32):
        key, counter, data = octets(rng, size), octets(rng, 16), octets(rng, 999)
        hidden = s.aes_ctr(key, counter, data)
        assert hidden != data
        assert s.aes_ctr(key, counter, hidden) == data


@law
def aes_ctr_goes_on_at_the_next_counter(s, rng):
    key, data = octets(rng, 16), octets(rng, 320)
    first = 2**128 - 2  # wraps around
    whole = s.aes_ctr(key, first.to_bytes(16, "big"), data)
    rest = s.aes_ctr(key, ((first + 5) % 2**128).to_bytes(16, "big"), data[80:])
    assert whole == s.aes_ctr(key, first.to_bytes(16, "big"), data[:80]) + rest


@law
def a_key_stream_does_not_depend_on_the_data(s, rng):
    key, a, b = octets(rng, 32), octets(rng, 200), octets(rng, 200)
    for cipher in (lambda data: s.chacha20(key, bytes(12), data), lambda data: s.aes_ctr(key, bytes(16), data)):
        assert combined(cipher(a), cipher(b)) == combined(a, b)


@law
def random_numbers_depend_on_their_own_counter_alone(s, rng):
    for name, lanes in (("philox4x32_10", 4), ("threefry2x32_20", 2)):
        counters, key = words(rng, 100 * lanes).reshape(100, lanes), words(rng, 2)
        draw = getattr(s, name)
        made = draw(counters, key)
        assert len(np.unique(made, axis=0)) == 100
        same(made[::-1], draw(np.ascontiguousarray(counters[::-1]), key))


@law
def fewer_random_numbers_are_the_first_of_more(s, rng):
    seed = int(rng.integers(2**32))
    same(s.random_u32(2500, seed), s.random_u32(3001, seed)[:2500])


# Codecs and texts.


@law
def decoding_undoes_encoding(s, rng):
    for size in (0, 1, 2, 3, 4, 5, 300):
        data = octets(rng, size)
        for name in ("hex", "base32", "base64", "percent"):
            assert getattr(s, f"{name}_decode")(getattr(s, f"{name}_encode")(data)) == data
        assert s.base64_decode(s.base64_encode(data, url_safe=True), url_safe=True) == data


@law
def whole_groups_are_encoded_one_after_the_other(s, rng):
    a, b = octets(rng, 60), octets(rng, 77)
    for name in ("hex", "base32", "base64", "percent"):
        encode = getattr(s, f"{name}_encode")
        assert encode(a + b) == encode(a) + encode(b)


@law
def characters_of_two_texts_add(s, rng):
    a = "".join(chr(k) for k in rng.integers(1, 0xD7FF, size=300)).encode()
    b = "".join(chr(k) for k in rng.integers(0x10000, 0x110000, size=100)).encode()
    assert s.utf8_count(a + b) == s.utf8_count(a) + s.utf8_count(b) == 400
    assert bool(s.utf8_validate(a + b)) is True
    assert bool(s.utf8_validate(a + b[:-1])) is False


@law
def a_block_of_literals_is_itself(s, rng):
    data = octets(rng, 200)
    assert s.lz4_decompress(b"\xf0" + bytes([200 - 15]) + data, 200) == data


@law
def a_repetition_of_lz4_repeats(s, rng):
    data = octets(rng, 5)
    block = b"\x5f" + data + b"\x05\x00" + bytes([81 - 15 - 4 + 0]) + b"\x50" + data
    assert s.lz4_decompress(block, 5 + 81 + 5) == (data * 20)[:86] + data


@law
def blanks_move_the_structure_of_json(s, rng):
    text = b'{"a": [1, {"b,c": "x]y"}], "d\\"e": {}}'
    blanks = b" " * int(rng.integers(1, 100))
    same(s.json_structure(blanks + text), np.asarray(s.json_structure(text)) + len(blanks))
    assert all(chr(text[k]) in "{}[]:," for k in s.json_structure(text))


# Search.


@law
def matches_are_there_and_move_with_the_text(s, rng):
    text = bytes(rng.choice(list(b"abc"), size=2000).astype(np.uint8))
    patterns = [b"ab", b"abca", b"cc"]
    found = s.find(patterns, text)
    for start, end, which in found.tolist():
        assert text[start:end] == patterns[which]
    moved = s.find(patterns, b"xyz" + text)
    same(moved["start"], found["start"] + 3)
    same(moved["end"], found["end"] + 3)
    same(moved["pattern"], found["pattern"])


@law
def several_patterns_are_found_as_each_alone(s, rng):
    text = bytes(rng.choice(list(b"ab"), size=1500).astype(np.uint8))
    patterns = [b"aab", b"ba", b"b"]
    together = s.find(patterns, text)
    for k, pattern in enumerate(patterns):
        same(together[together["pattern"] == k]["start"], s.find([pattern], text)["start"])
        at = -1
        starts = []
        while (at := text.find(pattern, at + 1)) >= 0:
            starts.append(at)
        same(together[together["pattern"] == k]["start"], starts)


@law
def an_alternative_of_words_matches_where_they_are_found(s, rng):
    text = bytes(rng.choice(list(b"abc"), size=800).astype(np.uint8))
    found, matched = s.find([b"ca", b"bb"], text), s.regex(b"ca|bb", text)
    last, wanted = 0, []
    for start, end, _ in found.tolist():
        if start >= last:  # matches of an expression do not overlap
            wanted.append((start, end))
            last = end
    assert matched.tolist() == wanted


@law
def edit_distance_is_a_metric(s, rng):
    a, b, c = (bytes(rng.choice(list(b"acgt"), size=size).astype(np.uint8)) for size in (60, 75, 50))
    assert s.edit_distance(a, a) == 0
    ab, bc, ac = s.edit_distance(a, b), s.edit_distance(b, c), s.edit_distance(a, c)
    assert (ab, bc, ac) == (s.edit_distance(b, a), s.edit_distance(c, b), s.edit_distance(c, a))
    assert 0 < ab <= ac + bc
    assert s.edit_distance(a, a + c) == len(c)


@law
def local_alignment_is_symmetric_and_whole_with_itself(s, rng):
    a, b = (bytes(rng.choice(list(b"acgt"), size=size).astype(np.uint8)) for size in (70, 64))
    assert s.smith_waterman(a, b) == s.smith_waterman(b, a)
    assert s.smith_waterman(a, a) == 2 * len(a)
    assert s.smith_waterman(a, b + a) == 2 * len(a)


# Graphs.


def graph(rng, vertices, edges):
    pairs = rng.integers(vertices, size=(edges, 2))
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    offsets = np.searchsorted(pairs[:, 0], np.arange(vertices + 1)).astype(np.uint32)
    return offsets, pairs[:, 1].astype(np.uint32), pairs


@law
def an_edge_leads_one_level_on_at_most(s, rng):
    offsets, targets, pairs = graph(rng, 300, 400)
    levels = s.bfs(offsets, targets, 5).astype(np.int64)
    assert levels[5] == 0
    assert (levels == 0).sum() == 1
    there = levels[pairs[:, 0]] != UNREACHED
    assert (levels[pairs[there, 1]] <= levels[pairs[there, 0]] + 1).all()
    for vertex in np.flatnonzero((levels > 0) & (levels != UNREACHED)):
        assert levels[vertex] - 1 in levels[pairs[pairs[:, 1] == vertex, 0]]
    same(s.reachable(offsets, targets, 5), levels != UNREACHED)


@law
def an_edge_joins_one_component_named_after_its_least_vertex(s, rng):
    offsets, targets, pairs = graph(rng, 300, 200)
    labels = s.components(offsets, targets)
    same(labels[pairs[:, 0]], labels[pairs[:, 1]])
    same(labels[labels], labels)
    assert (labels <= np.arange(300)).all()
    turned = pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))]
    both = np.concatenate([pairs, turned[:, ::-1]])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    all_offsets = np.searchsorted(both[:, 0], np.arange(301)).astype(np.uint32)
    for label in np.unique(labels)[:5].tolist():
        same(s.reachable(all_offsets, both[:, 1].astype(np.uint32), label), labels == label)


@law
def a_round_of_pagerank_is_its_formula(s, rng):
    offsets, targets, pairs = graph(rng, 100, 300)
    damping = 0.85
    rank = s.pagerank(offsets, targets, rounds=4, damping=damping).astype(object)
    edges, d, n = np.diff(offsets).astype(object), int(damping * 2**32), 100
    shares = np.array([r // e if e else 0 for r, e in zip(rank, edges, strict=True)], object)
    lost = sum(r for r, e in zip(rank, edges, strict=True) if not e)
    sums = np.zeros(n, object)
    np.add.at(sums, pairs[:, 1], shares[pairs[:, 0]])
    wanted = [(2**32 - d) // n + d * (total + lost // n) // 2**32 for total in sums]
    same(s.pagerank(offsets, targets, rounds=5, damping=damping), np.array(wanted, np.uint32))
