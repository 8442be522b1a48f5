"""The standard library: whole-array operations on numpy arrays, bytes and resident arrays.

Each gives the same bytes on every backend and device. With numpy arrays or bytes a call gives such and waits; with
resident arrays (``vyre.array``) it gives resident ones and does not wait. ``backend=`` and ``device=`` are as for
vyre.run. A family is imported when one of its names is first asked for.

>>> from vyre import std
>>> std.sha256(b"abc", backend="cpu").hex()[:16]
'ba7816bf8f01cfea'
"""

import importlib
import sys
from typing import TYPE_CHECKING

# Type checkers read no `__all__` that is computed: what a star or an alias brings is public.
# ruff: noqa: F403
if TYPE_CHECKING:
    from vyre.std._calls.batches import DecodeError as DecodeError
    from vyre.std._calls.messages import Messages as Messages
    from vyre.std.adler import *
    from vyre.std.aes import *
    from vyre.std.alignment import *
    from vyre.std.blake2 import *
    from vyre.std.blake_tree import *
    from vyre.std.chacha import *
    from vyre.std.choosing import *
    from vyre.std.codecs import *
    from vyre.std.compaction import *
    from vyre.std.counter_random import *
    from vyre.std.crc import *
    from vyre.std.expressions import *
    from vyre.std.graphs import *
    from vyre.std.hashes import *
    from vyre.std.histograms import *
    from vyre.std.indexing import *
    from vyre.std.json_text import *
    from vyre.std.keyed import *
    from vyre.std.lz4 import *
    from vyre.std.matrices import *
    from vyre.std.moving import *
    from vyre.std.percent import *
    from vyre.std.quick_hashes import *
    from vyre.std.reducing import *
    from vyre.std.scanning import *
    from vyre.std.search import *
    from vyre.std.segments import *
    from vyre.std.selection import *
    from vyre.std.sets import *
    from vyre.std.sorting import *
    from vyre.std.utf8 import *

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
    "choosing": ["clip", "where"],
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
    "moving": ["concatenate", "diff", "flip", "repeat", "roll"],
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
_HOMES = {name: family for family, names in _FAMILIES.items() for name in names}


if not TYPE_CHECKING:  # type checkers would take every name for one that this knows
    __all__ = sorted(_HOMES)

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            from vyre._base.absent import refuse_of_std

            refuse_of_std(sys.modules[__name__], name)
        value = globals()[name] = getattr(importlib.import_module(f"vyre.std.{_HOMES[name]}"), name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
