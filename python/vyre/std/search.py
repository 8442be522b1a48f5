"""Search of many byte strings at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from vyre._base.calls import explain_calls
from vyre._base.refused import must_be, must_have
from vyre._base.text import type_of
from vyre._core import Array
from vyre.errors import BindingError
from vyre.std._calls.declared import At, Unpack, argument, call, name_of
from vyre.std._calls.host import Place, bytes_of, check_order, count_of, place_of, waited
from vyre.std._calls.offsets import MOST
from vyre.std._calls.routes import ROUTES
from vyre.std._calls.text import padded
from vyre.std._searching.automaton import Automaton, Trie
from vyre.std._searching.chain_kernels import spread
from vyre.std._searching.filter_kernels import LANES, MOST_UNITS, UNIT, filtered_matches, filtering
from vyre.std._searching.find_kernels import counted, written

__all__ = ["Matches", "Patterns", "ResidentMatches", "find"]

_LONGEST = 65536
# The longest patterns that are looked for behind a filter: their length bounds the steps of a place of the text.
_MOST_FILTERED = 256
# Workgroups that are enough for a device, above which each takes more of the text.
_ENOUGH = 1024
# Vectors of 16 bytes in a piece of the text, at least.
_PIECE = 32
# Turns of loops that an invocation makes at most, which every driver allows.
_MOST_TURNS = 60_000
_RECORD = np.dtype([("start", np.uint32), ("end", np.uint32), ("pattern", np.uint32)])


class Matches(np.recarray):
    """Matches in a numpy record array with fields `start`, `end` and `pattern`, sorted by them.

    Attributes:
        count: how many matches there are in the data.
        overflow: whether those are more than the call's limit, so that the last ones are missing.
    """

    count: int
    overflow: bool

    def __array_finalize__(self, obj: Any) -> None:
        super().__array_finalize__(obj)
        self.__dict__.setdefault("count", getattr(obj, "count", 0))
        self.__dict__.setdefault("overflow", getattr(obj, "overflow", False))

    def __reduce__(self) -> Any:
        made: Any = super().__reduce__()
        make, arguments, state = made
        return make, arguments, (state, self.count, self.overflow)

    def __setstate__(self, state: Any) -> None:
        held, self.count, self.overflow = state
        super().__setstate__(held)


class ResidentMatches(NamedTuple):
    """Matches in resident arrays, as ``find`` gives them for resident data.

    Attributes:
        matches: (limit, 3) uint32: begin, end and number of the pattern; zeros behind the last match.
        count: how many matches there are in the data, one uint32; 2^32 - 1 stands for as many or more.
    """

    matches: Array
    count: Array  # type: ignore[assignment]  # a tuple has a method of this name


def matches_of(words: np.ndarray, count: int, record: np.dtype) -> Matches:
    """Words of records as a record array."""
    made = words.view(record).view(Matches)
    made.count, made.overflow = count, count > made.size
    return made


def most_of(count: Array, limit: int | None, place: Place, where: str) -> int:
    """How many results to make room for.

    Resident results have the length of the limit. On the host, where the call waits, the limit may be far above what
    there is: the room is a power of two then, so that calls that differ in their matches share their plans.
    """
    if limit is not None:
        return min(limit, 1 << int(count.numpy()[0]).bit_length()) if place.on_host else limit
    total = int(waited(count, where)[0])
    if total == MOST:
        raise must_have(f"the result of {where}", f"less than {MOST} matches, as with limit=1000", "more")
    return total


def _piece_of(lead: int, most: int) -> int:
    """Vectors of a piece of the text, for patterns that reach `lead` vectors, of which `most` begin at one place.

    A piece is longer than what is read behind it, and its matches are counted in 32 bits.
    """
    return max(min(max(_PIECE, 4 * lead), (2**32 - 2) // (16 * max(most, 1))), 1)


class Patterns:
    """Byte strings to search for, with the automaton that finds them.

    Building it takes a while for many patterns; it is kept, on the host and on each device that it was used on.

    Args:
        patterns: byte strings of 1 to 65,536 bytes. The number of one is its index here; equal ones are all found.

    Raises: ArgumentError for an empty pattern, one that is too long, or patterns that need more than 2^28 words.
        BindingError for what is no byte string.

    >>> import vyre.std
    >>> names = vyre.std.Patterns([b"he", b"she", b"hers"])
    >>> names.find(b"ushers", backend="cpu").tolist()
    [(1, 4, 1), (2, 4, 0), (2, 6, 2)]
    >>> len(names)
    3
    """

    def __init__(self, patterns: Iterable[Any]) -> None:
        if isinstance(patterns, (bytes, bytearray, memoryview, str, Array)) or not np.iterable(patterns):
            raise must_be(
                "argument `patterns` of vyre.std.Patterns",
                "a list of bytes",
                type_of(patterns),
                BindingError,
            )
        made: list[bytes] = []
        for k, each in enumerate(patterns):
            where = f"element {k} of argument `patterns` of vyre.std.Patterns"
            if isinstance(each, Array):
                raise must_be(where, "bytes of the host", "a vyre.Array", BindingError)
            word = bytes_of(each, where).tobytes()
            if not 1 <= len(word) <= _LONGEST:
                raise must_have(where, f"1 to {_LONGEST} bytes", len(word))
            made.append(word)
        self._count = len(made)
        self._longest = max(map(len, made), default=0)
        self._patterns = made
        self._automaton = Automaton(made)
        self._trie: Trie | None = None  # made where it is used
        self._tables: dict[Any, tuple[Array, ...]] = {}

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        return f"<vyre.std.Patterns of {self._count} patterns>"

    def __reduce__(self) -> Any:
        return Patterns, (self._patterns,)

    def _on(self, made: Automaton | Trie, where: tuple[str, int], links: bool = False) -> tuple[Array, ...]:
        """The tables on a device: classes, rows, chains, and the filter if there is one; or the links of the chains."""
        key = links, type(made), *where
        known = self._tables.get(key)
        if known is None:
            tables = [made.classes, made.table, made.chains, *([made.filter] if isinstance(made, Trie) else [])]
            if links:
                tables = [self._automaton.links.reshape(-1, 4)]
            known = self._tables[key] = tuple(map(Place(*where, True).array, tables))
        return known

    def _chosen(self, backend: str) -> Automaton | Trie:
        """What is faster on a backend, and has no place of the text that takes an invocation too many turns."""
        if not ROUTES[backend].filters or self._longest > _MOST_FILTERED:
            return self._automaton
        if self._trie is None:
            self._trie = Trie(self._patterns)
        return self._trie if self._units_of(self._trie) else self._automaton

    def _units_of(self, trie: Trie) -> int:
        """Units of the text that an invocation may take: at each place it counts, and then it writes.

        Each is a walk along the longest pattern, and writing takes one turn more for each pattern that begins there.
        Each of these three loops also takes a turn to find its end, and so does the one that finds the next place.
        """
        return _MOST_TURNS // (UNIT * (2 * self._longest + trie.most + 4))

    @call
    def find(self, data: Any, limit: int | None = None, **at: Unpack[At]) -> Any:
        """Find them; see ``vyre.std.find``."""
        return find(self, data, limit, backend=at["backend"], device=at["device"])

    def _find(self, data: Any, limit: int | None, at: At) -> Any:
        text = bytes_of(data, argument(at, "data"))
        if limit is not None:
            limit = count_of(limit, argument(at, "limit"), 0, 2**30)
        place, where = place_of(at, text), name_of(at)
        n, vectors = text.shape[0], padded(text, place, where)
        made = self._chosen(vectors.backend)
        classes, table, chains, *filters = self._on(made, (vectors.backend, vectors.device))
        if isinstance(made, Trie):
            units = min(max(n // (UNIT * LANES * _ENOUGH), 1), MOST_UNITS, self._units_of(made))
            sizes = n, made.stride
            looked = made.mask, made.second
            begins, offsets, total = filtering(made.mask == 2**32 - 1)(
                vectors, *filters, classes, table, *sizes, *looked, units
            )
            most = most_of(total, limit, place, where)
            found = filtered_matches(vectors, classes, table, chains, begins, offsets, *sizes, units, most)
        else:
            lead = -(-(self._longest - 1) // 16)
            piece = _piece_of(lead, made.most)
            walk = n, piece, lead, made.stride
            counts, offsets, total = counted(vectors, classes, table, *walk)
            most = most_of(total, limit, place, where)
            # A walk along a chain takes a turn to find its end.
            if piece * (1 + 16 * (made.most + 1)) + lead + 1 <= _MOST_TURNS:
                found = written(vectors, classes, table, chains, counts, offsets, *walk, most)
            else:
                (links,) = self._on(made, (vectors.backend, vectors.device), links=True)
                found = spread(vectors, classes, table, links, counts, offsets, total, *walk, most)
        if not place.on_host:
            return ResidentMatches(found.reshape(most, 3), total)
        count = int(total.numpy()[0])
        return matches_of(found.numpy()[: 3 * min(most, count)], count, _RECORD)


@call
def find(
    patterns: Patterns | Iterable[Any],
    data: Any,
    limit: int | None = None,
    **at: Unpack[At],
) -> Any:
    """Find all places of many byte strings in a text, overlapping ones too, with the automaton of Aho and Corasick.

    Args:
        patterns: byte strings of 1 to 65,536 bytes, or Patterns, which keeps what is built for them.
        data: bytes, or an array of uint8, of fewer than 2^32 bytes.
        limit: the most matches to give; None gives all of them.

    Gives: Matches, a numpy record array (start, end, pattern) of uint32, sorted in this order; data[start:end] is the
        pattern. With a limit `.overflow` says whether there are more, and `.count` how many there are. Of resident data
        ResidentMatches; without a limit the call then waits for their number.

    Source: A. Aho, M. Corasick, "Efficient string matching: an aid to bibliographic search", 1975.

    >>> import vyre.std
    >>> found = vyre.std.find([b"he", b"she", b"hers"], b"ushers", backend="cpu")
    >>> found.tolist()
    [(1, 4, 1), (2, 4, 0), (2, 6, 2)]
    >>> first = vyre.std.find([b"a"], b"banana", limit=2, backend="cpu")
    >>> first.start.tolist(), first.overflow, first.count
    ([1, 3], True, 3)
    """
    is_text = isinstance(patterns, (bytes, bytearray, memoryview, np.ndarray, Array))
    is_swapped = is_text and isinstance(data, (Patterns, list, tuple, set, frozenset))
    check_order(is_swapped, at, "patterns", "data")
    made = patterns if isinstance(patterns, Patterns) else Patterns(patterns)
    return made._find(data, limit, at)


explain_calls(globals(), "vyre.std")
