"""The standard library: whole-array operations on numpy arrays, bytes and resident arrays.

Each gives the same bytes on every backend and device. With numpy arrays or bytes a call gives such and waits; with
resident arrays (``vyre.array``) it gives resident ones and does not wait. ``backend=`` and ``device=`` are as for
vyre.run. A family is imported when one of its names is first asked for.

>>> from vyre import std
>>> std.sha256(b"abc", backend="cpu").hex()[:16]
'ba7816bf8f01cfea'
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vyre.std._calls.batches import DecodeError
    from vyre.std._calls.messages import Messages
    from vyre.std.adler import adler32
    from vyre.std.aes import aes_ctr
    from vyre.std.alignment import edit_distance, smith_waterman
    from vyre.std.blake2 import blake2b, blake2s
    from vyre.std.blake_tree import blake3
    from vyre.std.chacha import chacha20
    from vyre.std.codecs import base32_decode, base32_encode, base64_decode, base64_encode, hex_decode, hex_encode
    from vyre.std.compaction import compact, nonzero, partition
    from vyre.std.counter_random import philox4x32_10, random_u32, threefry2x32_20
    from vyre.std.crc import crc32, crc32c
    from vyre.std.expressions import Regex, regex
    from vyre.std.graphs import bfs, components, pagerank, reachable
    from vyre.std.hashes import md5, sha1, sha3_224, sha3_256, sha3_384, sha3_512, sha224, sha256, sha384, sha512
    from vyre.std.histograms import bincount, histogram
    from vyre.std.indexing import gather, scatter, scatter_add
    from vyre.std.json_text import json_structure
    from vyre.std.keyed import hmac, pbkdf2_hmac
    from vyre.std.lz4 import lz4_decompress
    from vyre.std.matrices import matmul, transpose
    from vyre.std.percent import percent_decode, percent_encode
    from vyre.std.quick_hashes import fnv1a32, fnv1a64, murmur3_32, siphash24, xxhash32, xxhash64
    from vyre.std.reducing import all, any, argmax, argmin, max, min, reduce, sum
    from vyre.std.scanning import cumsum, scan
    from vyre.std.search import Matches, Patterns, ResidentMatches, find
    from vyre.std.segments import segmented_reduce, segmented_scan
    from vyre.std.selection import topk
    from vyre.std.sets import intersect1d, searchsorted, setdiff1d, union1d, unique
    from vyre.std.sorting import argsort, sort, sort_pairs
    from vyre.std.utf8 import utf8_count, utf8_validate

# The names of each family, which its file has in __all__.
_FAMILIES = {
    "_calls.batches": ["DecodeError"],
    "_calls.messages": ["Messages"],
    "adler": ["adler32"],
    "aes": ["aes_ctr"],
    "alignment": ["edit_distance", "smith_waterman"],
    "blake2": ["blake2b", "blake2s"],
    "blake_tree": ["blake3"],
    "chacha": ["chacha20"],
    "codecs": ["base32_decode", "base32_encode", "base64_decode", "base64_encode", "hex_decode", "hex_encode"],
    "compaction": ["compact", "nonzero", "partition"],
    "counter_random": ["philox4x32_10", "random_u32", "threefry2x32_20"],
    "crc": ["crc32", "crc32c"],
    "expressions": ["Regex", "regex"],
    "graphs": ["bfs", "components", "pagerank", "reachable"],
    "hashes": ["md5", "sha1", "sha224", "sha256", "sha384", "sha3_224", "sha3_256", "sha3_384", "sha3_512", "sha512"],
    "histograms": ["bincount", "histogram"],
    "indexing": ["gather", "scatter", "scatter_add"],
    "json_text": ["json_structure"],
    "keyed": ["hmac", "pbkdf2_hmac"],
    "lz4": ["lz4_decompress"],
    "matrices": ["matmul", "transpose"],
    "percent": ["percent_decode", "percent_encode"],
    "quick_hashes": ["fnv1a32", "fnv1a64", "murmur3_32", "siphash24", "xxhash32", "xxhash64"],
    "reducing": ["all", "any", "argmax", "argmin", "max", "min", "reduce", "sum"],
    "scanning": ["cumsum", "scan"],
    "search": ["Matches", "Patterns", "ResidentMatches", "find"],
    "segments": ["segmented_reduce", "segmented_scan"],
    "selection": ["topk"],
    "sets": ["intersect1d", "searchsorted", "setdiff1d", "union1d", "unique"],
    "sorting": ["argsort", "sort", "sort_pairs"],
    "utf8": ["utf8_count", "utf8_validate"],
}
# The calls that are steps in the body of a procedure.
_STEPS = frozenset(
    [
        *(
            "all",
            "any",
            "argmax",
            "argmin",
            "argsort",
            "compact",
            "cumsum",
            "gather",
            "histogram",
            "intersect1d",
            "matmul",
        ),
        *(
            "max",
            "min",
            "nonzero",
            "partition",
            "philox4x32_10",
            "random_u32",
            "reduce",
            "scan",
            "scatter",
            "scatter_add",
        ),
        *("searchsorted", "segmented_reduce", "segmented_scan", "setdiff1d", "sort", "sort_pairs", "sum"),
        *("threefry2x32_20", "topk", "transpose", "union1d", "unique"),
    ]
)
_HOMES = {name: family for family, names in _FAMILIES.items() for name in names}


if not TYPE_CHECKING:  # type checkers would take every name for one that this knows

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(importlib.import_module(f"vyre.std.{_HOMES[name]}"), name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


__all__ = [
    "DecodeError",
    "Matches",
    "Messages",
    "Patterns",
    "Regex",
    "ResidentMatches",
    "adler32",
    "aes_ctr",
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "base32_decode",
    "base32_encode",
    "base64_decode",
    "base64_encode",
    "bfs",
    "bincount",
    "blake2b",
    "blake2s",
    "blake3",
    "chacha20",
    "compact",
    "components",
    "crc32",
    "crc32c",
    "cumsum",
    "edit_distance",
    "find",
    "fnv1a32",
    "fnv1a64",
    "gather",
    "hex_decode",
    "hex_encode",
    "histogram",
    "hmac",
    "intersect1d",
    "json_structure",
    "lz4_decompress",
    "matmul",
    "max",
    "md5",
    "min",
    "murmur3_32",
    "nonzero",
    "pagerank",
    "partition",
    "pbkdf2_hmac",
    "percent_decode",
    "percent_encode",
    "philox4x32_10",
    "random_u32",
    "reachable",
    "reduce",
    "regex",
    "scan",
    "scatter",
    "scatter_add",
    "searchsorted",
    "segmented_reduce",
    "segmented_scan",
    "setdiff1d",
    "sha1",
    "sha3_224",
    "sha3_256",
    "sha3_384",
    "sha3_512",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "siphash24",
    "smith_waterman",
    "sort",
    "sort_pairs",
    "sum",
    "threefry2x32_20",
    "topk",
    "transpose",
    "union1d",
    "unique",
    "utf8_count",
    "utf8_validate",
    "xxhash32",
    "xxhash64",
]
