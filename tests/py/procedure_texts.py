"""The procedures that calls of the library run, and the text of one call of each kind, for review.

    python tests/py/procedure_texts.py      # writes those of golden/std that differ, and names them

A file holds the procedures that one call runs on the cpu backend. Unrolled kernels are long: of a
program with more lines than MOST_LINES a file has the first ones, and the SHA-256 of all.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import std
from vyre._procedure import ProcedureFunction
from vyre._procedure.core import core_procedure
from vyre._procedure.recorder import ACTIVE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDER = Path(__file__).parent / "golden" / "std"
MOST_LINES = 40
KEPT_LINES = 20

U32 = np.arange(40, dtype=np.uint32)
I32 = U32.astype(np.int32)
U64 = U32.astype(np.uint64)
MASK = U32.astype(np.uint8)
AT = np.array([0, 5, 40], np.uint32)
GRAPH = np.array([0, 1, 2, 2], np.uint32), np.array([1, 2], np.uint32)
KEY, LONG_KEY = b"k" * 16, b"k" * 32
LONG = b"abc" * 5000

# The first word of a name, up to a `-`, is the call's. Options that make other kernels have a name each.
CALLS: dict[str, Callable[[], Any]] = {
    "adler32": lambda: std.adler32(b"abc"),
    "adler32-many": lambda: std.adler32([b"abc", b"de"]),
    "aes_ctr": lambda: std.aes_ctr(KEY, KEY, b"abc"),
    "all": lambda: std.all(U32),
    "any": lambda: std.any(MASK != 0),
    "argmax": lambda: std.argmax(U32),
    "argmin": lambda: std.argmin(I32),
    "argsort": lambda: std.argsort(I32),
    "base32_decode": lambda: std.base32_decode(b"MFRGG==="),
    "base32_encode": lambda: std.base32_encode(b"abc"),
    "base64_decode": lambda: std.base64_decode(b"YWJj"),
    "base64_encode": lambda: std.base64_encode(b"abc"),
    "bfs": lambda: std.bfs(*GRAPH, 0),
    "bincount": lambda: std.bincount(U32),
    "blake2b": lambda: std.blake2b(b"abc"),
    "blake2s": lambda: std.blake2s(b"abc"),
    "blake3": lambda: std.blake3(b"abc"),
    "blake3-long": lambda: std.blake3(LONG),
    "chacha20": lambda: std.chacha20(LONG_KEY, KEY[:12], b"abc"),
    "compact": lambda: std.compact(U32, MASK),
    "components": lambda: std.components(*GRAPH),
    "crc32": lambda: std.crc32(b"abc"),
    "crc32-long": lambda: std.crc32(LONG * 20),
    "crc32c": lambda: std.crc32c(b"abc"),
    "cumsum": lambda: std.cumsum(U32),
    "cumsum-u64": lambda: std.cumsum(U64),
    "edit_distance": lambda: std.edit_distance(b"abc", b"abd"),
    "edit_distance-long": lambda: std.edit_distance(LONG, LONG[1:]),
    "find": lambda: std.find([b"ab", b"bc"], b"abcabc"),
    "find-many": lambda: std.find([b"ab"] * 2000, b"abcabc"),
    "fnv1a32": lambda: std.fnv1a32(b"abc"),
    "fnv1a64": lambda: std.fnv1a64(b"abc"),
    "gather": lambda: std.gather(U32, U32),
    "hex_decode": lambda: std.hex_decode(b"6162"),
    "hex_encode": lambda: std.hex_encode(b"abc"),
    "histogram": lambda: std.histogram(I32, 8, 0, 40),
    "hmac": lambda: std.hmac(b"k", b"abc"),
    "intersect1d": lambda: std.intersect1d(U32, U32),
    "json_structure": lambda: std.json_structure(b'{"a":1}'),
    "lz4_decompress": lambda: std.lz4_decompress(b"\x30abc", 3),
    "matmul": lambda: std.matmul(U32.reshape(5, 8), U32.reshape(8, 5)),
    "max": lambda: std.max(I32),
    "md5": lambda: std.md5(b"abc"),
    "min": lambda: std.min(U64),
    "murmur3_32": lambda: std.murmur3_32(b"abc"),
    "nonzero": lambda: std.nonzero(MASK),
    "pagerank": lambda: std.pagerank(*GRAPH),
    "partition": lambda: std.partition(U32, MASK),
    "pbkdf2_hmac": lambda: std.pbkdf2_hmac("sha256", b"p", b"s", 2),
    "percent_decode": lambda: std.percent_decode(b"a%20b"),
    "percent_encode": lambda: std.percent_encode(b"a b"),
    "philox4x32_10": lambda: std.philox4x32_10(U32.reshape(10, 4), U32[:2]),
    "random_u32": lambda: std.random_u32(10, 3),
    "random_u32-resident": lambda: std.random_u32(10, vyre.array(U32[:2], backend="cpu")),
    "reachable": lambda: std.reachable(*GRAPH, 0),
    "reduce": lambda: std.reduce(U32, "xor"),
    "regex": lambda: std.regex(b"ab+").find(b"abbb"),
    "regex-count": lambda: std.regex(b"ab+").count(b"abbb"),
    "scan": lambda: std.scan(I32, "max", inclusive=False),
    "scatter": lambda: std.scatter(U32.copy(), U32, U32),
    "scatter_add": lambda: std.scatter_add(U32.copy(), U32, U32),
    "searchsorted": lambda: std.searchsorted(U32, U32, "right"),
    "segmented_reduce": lambda: std.segmented_reduce(U32, AT, "add"),
    "segmented_scan": lambda: std.segmented_scan(U32, AT, "add"),
    "setdiff1d": lambda: std.setdiff1d(U32, U32),
    "sha1": lambda: std.sha1(b"abc"),
    "sha224": lambda: std.sha224(b"abc"),
    "sha256": lambda: std.sha256(b"abc"),
    "sha384": lambda: std.sha384(b"abc"),
    "sha3_224": lambda: std.sha3_224(b"abc"),
    "sha3_256": lambda: std.sha3_256(b"abc"),
    "sha3_384": lambda: std.sha3_384(b"abc"),
    "sha3_512": lambda: std.sha3_512(b"abc"),
    "sha512": lambda: std.sha512(b"abc"),
    "siphash24": lambda: std.siphash24(b"abc", KEY),
    "smith_waterman": lambda: std.smith_waterman(b"abc", b"abd"),
    "sort": lambda: std.sort(U32),
    "sort-u64": lambda: std.sort(U64, descending=True),
    "sort_pairs": lambda: std.sort_pairs(U32, U64),
    "sum": lambda: std.sum(U32),
    "sum-u64": lambda: std.sum(U32, np.uint64),
    "threefry2x32_20": lambda: std.threefry2x32_20(U32.reshape(20, 2), U32[:2]),
    "topk": lambda: std.topk(U32, 3),
    "transpose": lambda: std.transpose(U32.reshape(5, 8)),
    "union1d": lambda: std.union1d(U32, U32),
    "unique": lambda: std.unique(U32),
    "utf8_count": lambda: std.utf8_count(b"abc"),
    "utf8_validate": lambda: std.utf8_validate(b"abc"),
    "xxhash32": lambda: std.xxhash32(b"abc"),
    "xxhash64": lambda: std.xxhash64(b"abc"),
}

# One call of each kind of procedure: other types, options and hashes change what is computed, not how.
KINDS = """
sum argmax cumsum segmented_reduce argsort topk unique union1d compact histogram searchsorted gather
scatter scatter_add transpose matmul edit_distance-long smith_waterman base64_decode base64_encode
percent_decode utf8_count json_structure lz4_decompress sha256 sha3_256 blake2b blake3-long
crc32-long adler32 xxhash64 siphash24 aes_ctr chacha20 hmac pbkdf2_hmac philox4x32_10 random_u32
find regex-count bfs components pagerank
""".split()


@contextlib.contextmanager
def collected() -> Iterator[dict[str, vyre.Procedure]]:
    """The procedures that calls run, by name; those that others invoke are in their texts."""
    found: dict[str, vyre.Procedure] = {}
    call, recorded = ProcedureFunction.__call__, ProcedureFunction._recorded

    def _call(self: ProcedureFunction, *args: Any, **kwargs: Any) -> Any:
        self._launch = None  # the short way asks for no procedure
        return call(self, *args, **kwargs)

    def _recorded(self: ProcedureFunction, constants: dict[str, Any]) -> Any:
        made = recorded(self, constants)
        if ACTIVE.recorder is None:
            procedure = core_procedure(made)
            found[procedure.name] = procedure
        return made

    ProcedureFunction.__call__, ProcedureFunction._recorded = _call, _recorded  # type: ignore[method-assign]
    try:
        yield found
    finally:
        ProcedureFunction.__call__, ProcedureFunction._recorded = call, recorded  # type: ignore[method-assign]


def procedures_of(name: str) -> list[vyre.Procedure]:
    with collected() as found, vyre.default_device("cpu"):
        CALLS[name]()
    return list(found.values())


def kept(name: str) -> str:
    """What the file of a kind holds."""
    return "\n".join(map(shortened, procedures_of(name)))


def shortened(procedure: vyre.Procedure) -> str:
    """The text of a procedure without most of the lines of its long programs."""
    shown: list[str] = []
    lines = iter(procedure.to_text().splitlines())
    for line in lines:
        shown.append(line)
        if not line.lstrip().startswith("program ") or not line.endswith(" {"):
            continue
        indent = line[: len(line) - len(line.lstrip())]
        body = []
        while (inner := next(lines)) != f"{indent}}}":
            body.append(inner)
        if len(body) > MOST_LINES:
            digest = hashlib.sha256("\n".join(body).encode()).hexdigest()
            body[KEPT_LINES:] = [f"{indent}  # {len(body) - KEPT_LINES} more lines, SHA-256 of all {digest}"]
        shown += [*body, f"{indent}}}"]
    return "\n".join(shown) + "\n"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.glob("*.txt"):
        if file.stem not in KINDS:
            file.unlink()
            print(f"removed {file.name}")
    for name in KINDS:
        file, text = FOLDER / f"{name}.txt", kept(name)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            print(f"wrote {file.name}")


if __name__ == "__main__":
    main()
