"""Search of byte strings and regular expressions beside pyahocorasick and `re`, for race.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import std

if TYPE_CHECKING:
    from std_place import Place

_MOST_OF_PEER = 1 << 24  # bytes: more takes one thread many seconds
_SPACED = 256  # bytes for each match that there is room for
_LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz      eeatnos\n", np.uint8)
_WORDS = [b"error", b"warning", b"fatal", b"timeout", b"connection refused", b"panic"]
_EXPRESSIONS = [rb"[a-z]+", rb"(error|warning)[^\n]*timeout", rb"[a-z]{3,8}ing"]


def _words(rng: np.random.Generator, count: int) -> list[bytes]:
    return _WORDS + [_LETTERS[rng.integers(0, 26, rng.integers(6, 13))].tobytes() for _ in range(count - len(_WORDS))]


def _text(rng: np.random.Generator, size: int, words: list[bytes]) -> np.ndarray:
    """Words of an alphabet, and one of `words` every 4096 bytes or so."""
    piece = _LETTERS[rng.integers(0, len(_LETTERS), min(size, 1 << 26))]
    for at in rng.integers(0, max(len(piece) - 32, 1), len(piece) >> 12):
        word = words[int(rng.integers(len(words)))]
        piece[at : at + len(word)] = np.frombuffer(word, np.uint8)[: len(piece) - at]
    return np.tile(piece, -(-size // len(piece)))[:size]


def _ahocorasick(words: list[bytes], text: np.ndarray) -> Callable[[], Any] | None:
    try:
        import ahocorasick
    except ImportError:
        return None
    if text.size > _MOST_OF_PEER:
        return None
    automaton, data = ahocorasick.Automaton(), text.tobytes().decode()
    for number, each in enumerate(words):
        automaton.add_word(each.decode(), number)
    automaton.make_automaton()
    return lambda: list(automaton.iter(data))


def cases(size: int, place: Place) -> Iterator[tuple[str, Callable[[], Any], float, Callable[[], Any] | None]]:
    """Texts of ``4 * size`` bytes, whose bytes are counted."""
    rng = np.random.default_rng(1)
    for count in (66, 5000):
        words = _words(rng, count)
        host = _text(rng, 4 * size, words)
        text = place.array(host)
        patterns, peer = std.Patterns(words), _ahocorasick(words, host)
        ours = place.call(patterns.find, text, 4 * size // _SPACED)
        yield f"find of {count} words, bytes", ours, 4 * size, peer
    known = host.tobytes() if host.size <= _MOST_OF_PEER else None
    for source in _EXPRESSIONS:
        made, compiled = std.regex(source), re.compile(source)
        peer = partial(compiled.findall, known) if known else None
        yield f"regex {source.decode()}, bytes", place.call(made.count, text), 4 * size, peer
        yield f"regex {source.decode()} earliest, bytes", place.call(made.count, text, "earliest"), 4 * size, None
