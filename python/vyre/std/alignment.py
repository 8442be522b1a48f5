"""Distances and scores of pairs of byte strings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import vyre
from vyre import Array
from vyre._base.refused import must_be, must_have
from vyre.std._calls.declared import At, Unpack, argument, call, name_of
from vyre.std._calls.host import Place, bytes_of, count_of, one_place, place_of
from vyre.std._searching import edit_distance as _edit_distance
from vyre.std._searching import smith_waterman as _smith_waterman
from vyre.std.sorting import where_of

__all__ = ["edit_distance", "smith_waterman"]

_MOST_BYTES = 2**32 - 1  # offsets are u32
_MOST_WORDS = 1 << 26  # of the arrays that a batch of pairs needs
_MOST_SCORE = 2**31 - 1
_FEW = 64  # pairs below which several invocations share a short one


class _Form(NamedTuple):
    """A procedure for pairs of up to some size.

    Attributes:
        rows, columns: of the largest pair; None for any.
        procedure: makes it.
        fewest: pairs for which it is worth while; fewer take the next form.
        tiles: rows and columns of a tile, or columns alone; the procedure takes how many tiles the longest pair has.
    """

    rows: int | None
    columns: int | None
    procedure: Callable[[], Any]
    fewest: int
    tiles: tuple[int, ...]

    def takes(self, m: np.ndarray, n: np.ndarray) -> np.ndarray:
        return (m <= (2**32 if self.rows is None else self.rows)) & (n <= (self.columns or 2**32))


def _tiles(module: Any, procedure: Callable[[int], Any], size: int, rows: int, any_rows: bool) -> _Form:
    return _Form(None if any_rows else size * rows, None, lambda: procedure(size), 1, (size * rows, module.COLUMNS))


_EDITS = [
    _Form(32, _edit_distance.COLUMNS, lambda: _edit_distance.distances_of_short(1), 1, ()),
    _Form(128, _edit_distance.COLUMNS, lambda: _edit_distance.distances_of_short(4), _FEW, ()),
    _tiles(_edit_distance, _edit_distance.edit_distances, 32, _edit_distance.WORD, any_rows=False),
    _tiles(_edit_distance, _edit_distance.edit_distances, 256, _edit_distance.WORD, any_rows=True),
]
_ALIGNMENTS = [
    _Form(_smith_waterman.SHORT_ROWS, _smith_waterman.SHORT_COLUMNS, _smith_waterman.best_of_short, _FEW, (1,)),
    _tiles(_smith_waterman, _smith_waterman.best_alignments, 32, _smith_waterman.ROWS, any_rows=False),
    _tiles(_smith_waterman, _smith_waterman.best_alignments, 256, _smith_waterman.ROWS, any_rows=True),
]


@call
def edit_distance(a: Any, b: Any, **at: Unpack[At]) -> int | np.ndarray | Array:
    """The least number of insertions, deletions and replacements of bytes that make one string the other (Levenshtein).

    Args:
        a, b: two bytes-likes (bytes, or arrays of uint8), two lists of as many, which are compared pairwise, or two
            resident arrays of uint8.

    Gives: an int; for lists an array of uint32; for resident arrays a resident one of one element, without waiting.

    Source: G. Myers, "A fast bit-vector algorithm for approximate string matching based on dynamic programming",
        Journal of the ACM 46 (1999).

    >>> edit_distance(b"kitten", b"sitting", backend="cpu")
    3
    >>> edit_distance([b"flaw", b""], [b"lawn", b"four"], backend="cpu")
    array([2, 4], dtype=uint32)
    """
    return _of_pairs(a, b, _EDITS, (), at, lambda m, n: n)


@call
def smith_waterman(
    a: Any, b: Any, match: int = 2, mismatch: int = -1, gap: int = -1, **at: Unpack[At]
) -> int | np.ndarray | Array:
    """The score of the best local alignment of two byte strings, by the algorithm of Smith and Waterman.

    Args:
        a, b: two bytes-likes (bytes, or arrays of uint8), two lists of as many, which are aligned pairwise, or two
            resident arrays of uint8.
        match: what a pair of equal bytes adds, from 0 on. With it the score has to stay below 2^31.
        mismatch, gap: what a pair of other bytes adds, and a byte beside a gap; 0 or less.

    Gives: an int; for lists an array of uint32; for resident arrays a resident one of one element, without waiting. The
        empty alignment has the score 0.

    Source: T. Smith and M. Waterman, "Identification of common molecular subsequences", Journal of Molecular Biology
        147 (1981), with linear gaps.

    >>> smith_waterman(b"GGTTGACTA", b"TGTTACGG", match=3, mismatch=-3, gap=-2, backend="cpu")
    13
    """
    costs = [count_of(match, argument(at, "match"), 0, _MOST_SCORE)]
    for name, value in (("mismatch", mismatch), ("gap", gap)):
        costs.append(count_of(value, argument(at, name), -_MOST_SCORE - 1, 0))
    return _of_pairs(a, b, _ALIGNMENTS, tuple(costs), at, lambda m, n: 0)


def _of_pairs(
    a: Any,
    b: Any,
    forms: list[_Form],
    numbers: tuple[int, ...],
    at: At,
    of_empty: Callable[[Any, Any], Any],
) -> Any:
    """The results of pairs, each by the form for its size; `of_empty` gives those of pairs with an empty string."""
    function = name_of(at)
    for name, value, other in (("a", a, "b"), ("b", b, "a")):
        if isinstance(value, (list, tuple)) and not isinstance({"a": a, "b": b}[other], (list, tuple)):
            raise must_be(
                f"argument `{name}` of {function}",
                f"a list where `{other}` is one and no list where it is none",
                "a list",
            )
    if not isinstance(a, (list, tuple)):
        a, b = bytes_of(a, argument(at, "a")), bytes_of(b, argument(at, "b"))
        where = one_place(at, a, b)
        results = _run(function, [a], [b], forms, numbers, where, of_empty)
        return int(results[0]) if where.on_host else results
    if len(a) != len(b):
        raise must_have(argument(at, "b"), f"one for each of the {len(a)} strings of `a`", len(b))
    left, right = _strings(a, argument(at, "a")), _strings(b, argument(at, "b"))
    return _run(function, left, right, forms, numbers, place_of(at), of_empty)


def _strings(values: Any, argument: str) -> list[np.ndarray]:
    strings = []
    for index, each in enumerate(values):
        where = f"element {index} of {argument}"
        if isinstance(each, vyre.Array):
            raise must_be(where, "bytes of the host", "a vyre.Array")
        strings.append(bytes_of(each, where))
    return strings


def _run(
    function: str,
    a: list[Any],
    b: list[Any],
    forms: list[_Form],
    numbers: tuple[int, ...],
    where: Place,
    of_empty: Callable[[Any, Any], Any],
) -> Any:
    pairs = [(x, y) if len(x) <= len(y) else (y, x) for x, y in zip(a, b, strict=True)]
    m, n = (np.array([len(pair[side]) for pair in pairs], np.int64) for side in (0, 1))
    if len(n) and int(n.max()) > _MOST_BYTES:
        raise must_have(f"each string of {function}", f"at most {_MOST_BYTES} bytes", n.max())
    if numbers and len(m) and numbers[0] * int(m.max()) > _MOST_SCORE:
        raise must_be(
            f"argument `match` of {function}", f"at most {_MOST_SCORE // int(m.max())} for {m.max()} bytes", numbers[0]
        )
    results = np.zeros(len(pairs), np.uint32)
    left = m > 0
    results[~left] = of_empty(m[~left], n[~left])
    if not where.on_host and not left[0]:
        return where.array(results)
    for form in forms:
        of_form = left & form.takes(m, n)
        if np.count_nonzero(of_form) < form.fewest:
            continue
        left &= ~of_form
        for batch, counts in _batches(form, np.flatnonzero(of_form), m, n):
            arrays = [each for side in (0, 1) for each in _packed([pairs[k][side] for k in batch], where)]
            found = form.procedure()(*arrays, *numbers, *counts, **where_of(where))
            if not where.on_host:
                return found
            results[batch] = found
    return results


def _batches(form: _Form, of_form: np.ndarray, m: np.ndarray, n: np.ndarray) -> Iterator[tuple[np.ndarray, list[int]]]:
    """Pairs that are computed together, the longest first, with the tiles down and across that they need."""
    order = of_form[np.argsort(-m[of_form], kind="stable")]
    begin = 0
    while begin < len(order):
        rest = order[begin:]
        # Every pair has the state of the largest one.
        down, across = int(m[rest[0]]), np.maximum.accumulate(n[rest])
        largest = (down + max(form.tiles[:-1], default=0)) + (across + max(form.tiles, default=0))
        words = np.cumsum(m[rest] + n[rest]) // 4 + np.arange(1, len(rest) + 1) * largest
        batch = rest[: max(int(np.searchsorted(words, _MOST_WORDS, "right")), 1)]
        begin += len(batch)
        sizes = (m, n)[2 - len(form.tiles) :]
        yield batch, [-(-int(side[batch].max()) // extent) for side, extent in zip(sizes, form.tiles, strict=True)]


def _packed(strings: list[Any], where: Place) -> tuple[Any, Any]:
    """Strings one after the other, and the offsets of their begins and of their end."""
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in strings])]).astype(np.uint32)
    if where.on_host:
        return np.concatenate(strings), offsets
    return strings[0], where.array(offsets)
