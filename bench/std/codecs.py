"""Codecs of vyre.std beside Python's own modules, for race.py: bytes of the side that is not encoded."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote_to_bytes

import lz4.block
import numpy as np

import vyre
from vyre import std

if TYPE_CHECKING:
    from std_place import Place

_MOST_OF_PEER = 1 << 26  # bytes: more takes one thread of Python many seconds
_BLOCK = 1 << 16  # bytes of a block of LZ4
_TEXT = "The quick brown fox jumps over the lazy dog. Grüße aus 世界! 🎈 ".encode()
_RECORD = {"id": 12345, "name": 'a "quoted" \\ name', "tags": ["red", "green", "blue"], "nested": {"x": 1.5, "y": [1]}}


def _repeated(piece: bytes, size: int) -> bytes:
    """Return about ``size`` bytes of whole pieces. Their number is a multiple of 16, so that words are whole."""
    return piece * (max(size // len(piece) // 16, 1) * 16)


def cases(size: int, place: Place) -> Iterator[tuple[str, Callable[[], Any], float, Callable[[], Any] | None]]:
    """Codecs on ``4 * size`` bytes."""
    total = 4 * size
    peers = total <= _MOST_OF_PEER
    data = np.random.default_rng(1).integers(0, 256, total, np.uint8)
    raw, given = data.tobytes() if peers else b"", place.array(data)
    for name, to_text, to_bytes in (
        ("hex", bytes.hex, bytes.fromhex),
        ("base32", base64.b32encode, base64.b32decode),
        ("base64", base64.b64encode, base64.b64decode),
    ):
        encode, decode = getattr(std, f"{name}_encode"), getattr(std, f"{name}_decode")
        text, written = place.array(_octets(place.call(encode, given)())), to_text(raw)
        yield f"{name}_encode", place.call(encode, given), total, _call(to_text, raw) if peers else None
        yield f"{name}_decode", place.call(decode, text), total, _call(to_bytes, written) if peers else None

    plain = _repeated(_TEXT, total)
    text = place.array(np.frombuffer(plain, np.uint8))
    ascii_ = place.array(np.frombuffer(_repeated(b"plain text of letters, digits 0 to 9. ", total), np.uint8))
    check = _call(plain.decode) if peers else None
    yield "utf8_validate", place.call(std.utf8_validate, text), len(plain), check
    yield "utf8_validate of ASCII", place.call(std.utf8_validate, ascii_), len(ascii_), None
    yield "utf8_count", place.call(std.utf8_count, text), len(plain), check
    coded = _octets(std.percent_encode(plain, **place.where))
    coded = coded[: len(coded) // 4 * 4]
    to_text, to_bytes = (_call(quote, plain), _call(unquote_to_bytes, quote(plain))) if peers else (None, None)
    yield "percent_encode", place.call(std.percent_encode, text), len(plain), to_text
    yield "percent_decode", place.call(std.percent_decode, place.array(coded)), len(coded), to_bytes

    document = b"[" + b",".join([json.dumps(_RECORD).encode()] * (total // 120 // 4 * 4 + 1)) + b"]"
    document = document.ljust((len(document) + 15) // 16 * 16)
    structure = place.array(np.frombuffer(document, np.uint8))
    load = _call(json.loads, document) if peers else None
    yield "json_structure", place.call(std.json_structure, structure), len(document), load

    blocks = [lz4.block.compress(plain[:_BLOCK], store_size=False)] * max(total // _BLOCK, 1)
    yield (
        "lz4_decompress of 64 KiB blocks",
        place.call(std.lz4_decompress, place.packed(blocks), _BLOCK),
        len(blocks) * _BLOCK,
        (lambda: [lz4.block.decompress(each, uncompressed_size=_BLOCK) for each in blocks]) if peers else None,
    )


def _octets(result: Any) -> np.ndarray:
    return result.numpy() if isinstance(result, vyre.Array) else np.frombuffer(result, np.uint8)


def _call(function: Callable[..., Any], *args: Any) -> Callable[[], Any]:
    return lambda: function(*args)
