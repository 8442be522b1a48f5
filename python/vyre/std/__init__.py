"""The standard library: whole-array operations on numpy arrays, bytes and resident arrays.

Each gives the same bytes on every backend and device. With numpy arrays or bytes a call gives such and waits; with
resident arrays (``vyre.array``) it gives resident ones and does not wait. ``backend=`` and ``device=`` are as for
vyre.run.
"""

from vyre.std._batches import DecodeError
from vyre.std._messages import Messages
from vyre.std.alignment import edit_distance, smith_waterman
from vyre.std.matrices import matmul, transpose
from vyre.std.reduce import all, any, argmax, argmin, max, min, reduce, sum
from vyre.std.scan import cumsum, scan
from vyre.std.selection import topk
from vyre.std.sort import argsort, sort, sort_pairs

__all__ = ["Messages", "all", "any", "argmax", "argmin", "cumsum", "max", "min", "reduce", "scan", "sum"]
from vyre.std.codecs import base32_decode, base32_encode, base64_decode, base64_encode, hex_decode, hex_encode
from vyre.std.hashes import md5, sha1, sha3_224, sha3_256, sha3_384, sha3_512, sha224, sha256, sha384, sha512
from vyre.std.json_structure import json_structure
from vyre.std.keyed import hmac, pbkdf2_hmac
from vyre.std.lz4 import lz4_decompress
from vyre.std.percent import percent_decode, percent_encode
from vyre.std.utf8 import utf8_count, utf8_validate

__all__ = [
    "DecodeError",
    "Messages",
    "base32_decode",
    "base32_encode",
    "base64_decode",
    "base64_encode",
    "hex_decode",
    "hex_encode",
    "hmac",
    "json_structure",
    "lz4_decompress",
    "md5",
    "pbkdf2_hmac",
    "percent_decode",
    "percent_encode",
    "sha1",
    "sha3_224",
    "sha3_256",
    "sha3_384",
    "sha3_512",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
from vyre.std.adler import adler32
from vyre.std.aes import aes_ctr
from vyre.std.blake2 import blake2b, blake2s
from vyre.std.blake_tree import blake3
from vyre.std.chacha import chacha20
from vyre.std.counter_random import philox4x32_10, random_u32, threefry2x32_20
from vyre.std.crc import crc32, crc32c
from vyre.std.quick_hashes import fnv1a32, fnv1a64, murmur3_32, siphash24, xxhash32, xxhash64

__all__ = [
    "Messages",
    "adler32",
    "aes_ctr",
    "blake2b",
    "blake2s",
    "blake3",
    "chacha20",
    "crc32",
    "crc32c",
__all__ = [
    "Messages",
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "cumsum",
    "edit_distance",
    "matmul",
    "max",
    "min",
    "reduce",
    "scan",
    "smith_waterman",
    "sort",
    "sort_pairs",
    "sum",
    "topk",
    "transpose",
from vyre.std.expressions import Regex, regex
from vyre.std.graphs import bfs, components, pagerank, reachable
from vyre.std.search import Matches, Patterns, ResidentMatches, find

__all__ = [
    "Matches",
    "Messages",
    "Patterns",
    "Regex",
    "ResidentMatches",
    "bfs",
    "components",
    "find",
    "pagerank",
    "reachable",
    "regex",
    "utf8_count",
    "utf8_validate",
    "fnv1a32",
    "fnv1a64",
    "murmur3_32",
    "philox4x32_10",
    "random_u32",
    "siphash24",
    "threefry2x32_20",
    "xxhash32",
    "xxhash64",
]
