"""Search for regular expressions over bytes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from vyre._base.absent import refuse_of_regex
from vyre._base.calls import explain_calls
from vyre._base.refused import must_be
from vyre._base.text import shown, type_of
from vyre._core import Array
from vyre.errors import ArgumentError, BindingError
from vyre.std._calls.declared import At, Unpack, argument, call, name_of
from vyre.std._calls.host import Place, bytes_of, count_of, place_of
from vyre.std._calls.text import padded
from vyre.std._graphs.walks import PIECE
from vyre.std._searching.regex_kernels import counter, writer
from vyre.std._searching.regex_syntax import FLAGS, parse
from vyre.std._searching.regex_tables import Tables, earliest_tables, longest_tables
from vyre.std.search import ResidentMatches, matches_of, most_of

__all__ = ["Regex", "regex"]

_RECORD = np.dtype([("start", np.uint32), ("end", np.uint32)])
# Pieces that are enough for a device, above which they get longer; and the most words for the ends of pieces.
_ENOUGH = 1 << 12
_MOST_ENDS = 1 << 25
_KINDS = {"leftmost-longest": longest_tables, "earliest": earliest_tables}


class Regex:
    """A regular expression that ``regex`` has made.

    Attributes:
        pattern: the bytes of the pattern.
        flags: the letters of the flags that it was made with, beside those in it.
    """

    def __init__(self, pattern: Any, flags: Any = "") -> None:
        if not isinstance(pattern, (bytes, bytearray)):
            raise must_be(
                "argument `pattern` of vyre.std.regex",
                "bytes",
                type_of(pattern),
                BindingError,
            )
        if not isinstance(flags, str) or {*flags} - {*FLAGS}:
            wanted = "a string of the letters i, m and s"
            kind = ArgumentError if isinstance(flags, str) else BindingError
            raise must_be("argument `flags` of vyre.std.regex", wanted, shown(flags), kind)
        self.pattern: bytes = bytes(pattern)
        self.flags: str = flags
        self._expression = parse(self.pattern, flags)
        self._made: dict[str, Tables] = {"leftmost-longest": longest_tables(self._expression)}
        self._tables: dict[Any, tuple[Array, ...]] = {}

    def __repr__(self) -> str:
        given = f", {shown(self.flags)}" if self.flags else ""
        return f"vyre.std.regex({shown(self.pattern)}{given})"

    def __reduce__(self) -> Any:
        return Regex, (self.pattern, self.flags)

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> NoReturn:
            refuse_of_regex(self, name)

    def _on(self, kind: str, place: Place) -> tuple[Tables, tuple[Array, ...]]:
        """The tables for a kind of matches, and the first and the second on the device."""
        if kind not in self._made:
            self._made[kind] = _KINDS[kind](self._expression)
        made = self._made[kind]
        some = place.empty(0, np.uint32)
        key = kind, some.backend, some.device
        known = self._tables.get(key)
        if known is None:
            known = self._tables[key] = place.array(made.first), place.array(made.second)
        return made, known

    def _counted(self, data: Any, kind: Any, at: At) -> Any:
        if not isinstance(kind, str) or kind not in _KINDS:
            raise must_be(argument(at, "kind"), '"leftmost-longest" or "earliest"', shown(kind))
        text, where = bytes_of(data, argument(at, "data")), name_of(at)
        place = place_of(at, text)
        made, tables = self._on(kind, place)
        vectors = padded(text, place, where)
        count = vectors.shape[0]
        # Long pieces have less to do for what every state walks, and each has a word for each state.
        piece = max(PIECE, min(4 * PIECE, count // _ENOUGH), -(-count * max(made.states) // _MOST_ENDS))
        group = 1 << math.isqrt(-(-count // piece)).bit_length()
        numbers = text.shape[0], made.behind, *made.shifts, *made.states, piece, group
        found = counter(made.backward)(vectors, *tables, *numbers)
        return place, made, tables, (text.shape[0], made.shifts[1], piece), found

    @call
    def count(self, data: Any, kind: str = "leftmost-longest", **at: Unpack[At]) -> Any:
        """How many matches `find` gives; of resident data as an array of one uint32.

        >>> import vyre.std
        >>> vyre.std.regex(b"[a-z]+").count(b"two words", backend="cpu")
        2
        """
        place, _, _, _, (_, _, _, total) = self._counted(data, kind, at)
        return int(total.numpy()[0]) if place.on_host else total

    @call
    def find(
        self,
        data: Any,
        kind: str = "leftmost-longest",
        limit: int | None = None,
        **at: Unpack[At],
    ) -> Any:
        """All matches that do not overlap, from left to right; none of them is empty.

        From the end of one match, or from the begin of the data, the next one is

        - "leftmost-longest": among the matches that begin first, the longest;
        - "earliest": among the matches that end first, the longest, which is the one that begins first.

        Args:
            data: bytes, or an array of uint8, of fewer than 2^32 bytes.
            kind: one of these.
            limit: the most matches to give; None gives all of them.

        Gives: Matches, a numpy record array (start, end) of uint32; with a limit `.overflow` says whether there are
            more, and `.count` how many there are. Of resident data ResidentMatches; without a limit the call then waits
            for their number.

        >>> import vyre.std
        >>> pattern = vyre.std.regex(b"ab*|c")
        >>> pattern.find(b"abbcab", backend="cpu").tolist()
        [(0, 3), (3, 4), (4, 6)]
        >>> pattern.find(b"abbcab", "earliest", backend="cpu").tolist()
        [(0, 1), (3, 4), (4, 5)]
        """
        if limit is not None:
            limit = count_of(limit, argument(at, "limit"), 0, 2**30)
        place, made, tables, sizes, found = self._counted(data, kind, at)
        symbols, begins, offsets, total = found
        most = most_of(total, limit, place, name_of(at))
        words = writer(made.backward)(symbols, tables[1], begins, offsets, total, *sizes, most)
        if not place.on_host:
            return ResidentMatches(words.reshape(most, 2), total)
        count = int(total.numpy()[0])
        return matches_of(words.numpy()[: 2 * min(most, count)], count, _RECORD)


def regex(pattern: bytes, flags: str = "") -> Regex:
    """Build the automata of a regular expression over bytes, to search texts for it on a device.

    The syntax is that of Python's `re` with bytes:

    - characters, `.` for any byte but a line feed, classes `[a-z]` and `[^...]`, `\\d \\D \\s \\S \\w \\W` of ASCII;
    - `\\a \\f \\n \\r \\t \\v \\0 \\xhh`, and a backslash before any character that is no letter or digit;
    - groups `(...)` and `(?:...)`, which capture nothing, and alternatives `|`;
    - `* + ? {m} {m,} {,n} {m,n}` up to 1,000;
    - `^` and `\\A` at the begin of the text, `\\z` (of Python 3.14) at its end, `$` there and before a line feed that
      ends it, and `\\b \\B` where a word of ASCII begins or ends, or where none does. The text is all of the data of a
      call, also where that is a slice of a resident array;
    - the flags i (letters of ASCII in both cases), m (`^` and `$` also where a line begins, and before the line feed
      that ends it) and s (`.` for any byte), as an argument, at the begin of the pattern, as in `(?im)`, or for a
      part, as in `(?i:...)` and `(?s-i:...)`.

    Left out, and refused by name, are backreferences, lookaheads and lookbehinds, lazy and possessive quantifiers,
    named, atomic and conditional groups, other flags, comments and octal escapes; and what means one thing in Python
    and another elsewhere: `\\Z`, `[[:alpha:]]` and flags in the middle.

    Any text is searched in a time that is linear in its length. A pattern has at most 4,096 positions, and 2,048
    states in each automaton.

    Args:
        pattern: bytes.
        flags: some of the letters "ims".

    Gives: a Regex with ``find`` and ``count``; they say which matches are found.

    Raises: BindingError for what is no bytes, ArgumentError for other flags, and for what is no pattern, left out, or
        too large.

    Source: V. M. Glushkov, "The abstract theory of automata", 1961.

    >>> import vyre.std
    >>> vyre.std.regex(rb"\\d+").find(b"17 and 4", backend="cpu").tolist()
    [(0, 2), (7, 8)]
    >>> vyre.std.regex(rb"^key\\b", "im").find(b"Key: 1\\nkeys: 2", backend="cpu").tolist()
    [(0, 3)]
    """
    return Regex(pattern, flags)


explain_calls(globals(), "vyre.std")
