"""The syntax of regular expressions over bytes: that of Python's `re`, less what ``vyre.std.regex`` leaves out."""

from __future__ import annotations

import re
from typing import NoReturn

from vyre._base.refused import must_have
from vyre.errors import ArgumentError
from vyre.std._searching.regex_positions import Positions, positions_of

__all__ = ["parse"]

_MOST_BYTES = 10_000
_MOST_POSITIONS = 4096
_MOST_REPEATS = 1000
_DIGITS, _SPACES = b"0123456789", b" \t\n\r\f\v"
_WORDS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_ALL = (1 << 256) - 1
_SPECIAL = {ord(k): v for k, v in {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}.items()}
# Groups that begin with "(?" and are left out, by the characters that follow; the longest first.
_GROUPS = {
    b"<=": "a lookbehind",
    b"<!": "a lookbehind",
    b"=": "a lookahead",
    b"!": "a lookahead",
    b"P<": "a named group",
    b"P=": "a backreference",
    b">": "an atomic group",
    b"(": "a conditional group",
    b"#": "a comment",
}
_FIXES = {
    "an anchor": "leave it out, and select among the matches by their places",
    "a word boundary": "leave it out, and select among the matches by their places",
    "a backreference": "write what it stands for",
    "a lookahead": "match more, and look at the rest on the host",
    "a lookbehind": "match more, and look at the rest on the host",
    "a lazy quantifier": 'leave the second character out; kind="earliest" ends matches early',
    "a possessive quantifier": "leave the second character out",
    "a named group": "write (...)",
    "an atomic group": "write (...)",
    "a conditional group": "write the alternatives as (a|b)",
    "a comment": "leave it out",
    "a flag": "write the classes of bytes that it stands for, as [aA]",
    "an octal escape": "write \\x and two hexadecimal digits",
}


def _set(members: bytes) -> int:
    mask = 0
    for each in members:
        mask |= 1 << each
    return mask


_CLASSES = {ord("d"): _set(_DIGITS), ord("s"): _set(_SPACES), ord("w"): _set(_WORDS)}
_CLASSES |= {each - 32: _ALL ^ mask for each, mask in _CLASSES.items()}


_OCTAL = tuple(bytes([each]) for each in b"01234567")
_COUNTS = re.compile(rb"\{(?:(\d+)|(\d*),(\d*))\}")


PATTERN = "the pattern of vyre.std.regex"


class _Parser:
    """Reads a pattern into postfix form: sets of bytes as ints, and operators: "." "|" "*" "+" "?" "" (nothing)."""

    def __init__(self, pattern: bytes) -> None:
        self.pattern, self.at = pattern, 0
        self.quantified = -1  # where the last quantifier ends
        # For each open group: where it begins, its alternatives, and the items of the one that is read.
        self.groups: list[tuple[int, list[list[int | str]], list[list[int | str]]]] = [(0, [], [])]

    def wrong(self, problem: str, at: int, fix: str) -> NoReturn:
        raise ArgumentError(f"{PATTERN} {problem} at position {at}. Fix: {fix}.")

    def refuse(self, name: str, at: int) -> NoReturn:
        self.wrong(f"has {name}, which vyre leaves out,", at, _FIXES[name])

    def run(self) -> list[int | str]:
        pattern = self.pattern
        while self.at < len(pattern):
            at, c = self.at, pattern[self.at : self.at + 1]
            self.at += 1
            items = self.groups[-1][2]
            if c == b"(":
                self._open(at)
            elif c == b")":
                if len(self.groups) == 1:
                    self.wrong("has a `)` without a `(`", at, "write \\) for the character itself")
                made = self._closed()
                self.groups[-1][2].append(made)
            elif c == b"|":
                begin, alternatives, items = self.groups.pop()
                self.groups.append((begin, [*alternatives, _joined(items)], []))
            elif c == b"[":
                items.append([self._class(at)])
            elif c == b".":
                items.append([_ALL ^ 1 << 10])
            elif c in (b"^", b"$"):
                self.refuse("an anchor", at)
            elif c == b"\\":
                items.append([self._escape(at, False)])
            elif c in (b"*", b"+", b"?") or (c == b"{" and self._counts(at)):
                self._quantify(at)
            else:
                items.append([1 << c[0]])
        if len(self.groups) > 1:
            self.wrong("has a `(` without a `)`", self.groups[-1][0], "write \\( for the character itself")
        return self._closed()

    def _closed(self) -> list[int | str]:
        _, alternatives, items = self.groups.pop()
        made = _joined(items)
        for each in alternatives:
            made = [*each, *made, "|"]
        return made

    def _open(self, at: int) -> None:
        rest = self.pattern[self.at : self.at + 3]
        if rest[:1] == b"?":
            if rest[1:2] != b":":
                for text, name in _GROUPS.items():
                    if rest[1:].startswith(text):
                        self.refuse(name, at)
                self.refuse("a flag", at)
            self.at += 2
        self.groups.append((at, [], []))

    def _counts(self, at: int) -> re.Match[bytes] | None:
        """A quantifier {m} or {m,n}, where m or n may be missing; another brace is a character."""
        return _COUNTS.match(self.pattern, at)

    def _quantify(self, at: int) -> None:
        items = self.groups[-1][2]
        found = self._counts(at)
        if found is not None:
            self.at = found.end()
            low, high = found[1] or found[2] or b"0", found[1] or found[3] or b""
        else:
            low, high = {42: (b"0", b""), 43: (b"1", b""), 63: (b"0", b"1")}[self.pattern[at]]
        if not items:
            self.wrong("has a quantifier with nothing before it", at, "write \\ before it for the character itself")
        if at == self.quantified:
            self.wrong("has a quantifier behind another one", at, "write (?:...) around what is repeated")
        self.quantified = self.at
        after = self.pattern[self.at : self.at + 1]
        if after == b"?":
            self.refuse("a lazy quantifier", at)
        if after == b"+":
            self.refuse("a possessive quantifier", at)
        for each in (low, high):
            if len(each) > 9 or int(each or 0) > _MOST_REPEATS:
                self.wrong(f"repeats more than {_MOST_REPEATS} times", at, f"write {_MOST_REPEATS} or less")
        least, most = int(low), int(high) if high else None
        if most is not None and least > most:
            self.wrong("has a quantifier whose least is above its most", at, "write the smaller number first")
        items[-1] = self._repeated(items[-1], least, most)

    def _repeated(self, item: list[int | str], least: int, most: int | None) -> list[int | str]:
        if len(item) * max(least, most or 1) > 4 * _MOST_POSITIONS:
            self._too_long()
        if most is None:
            return _joined([item] * (least - 1) + [[*item, "+"]]) if least else [*item, "*"]
        optional: list[int | str] = []
        for _ in range(most - least):  # a(a(a)?)?
            optional = [*(_joined([item, optional]) if optional else item), "?"]
        return _joined([item] * least + ([optional] if optional else []))

    def _too_long(self) -> NoReturn:
        raise must_have(PATTERN, f"at most {_MOST_POSITIONS} positions with its repetitions written out", "more")

    def _escape(self, at: int, in_class: bool) -> int:
        """The bytes that stand behind a backslash."""
        c = self.pattern[self.at : self.at + 1]
        self.at += 1
        if not c:
            self.wrong("ends with a backslash", at, "write \\\\ for the character itself")
        code = c[0]
        if code in _CLASSES:
            return _CLASSES[code]
        if code in _SPECIAL:
            return 1 << _SPECIAL[code]
        if c == b"b" and in_class:
            return 1 << 8
        if c == b"x":
            digits = self.pattern[self.at : self.at + 2]
            if not re.fullmatch(rb"[0-9a-fA-F]{2}", digits):
                self.wrong("has an incomplete \\x", at, "write two hexadecimal digits, as in \\x0a")
            self.at += 2
            return 1 << int(digits, 16)
        if c == b"0" and self.pattern[self.at : self.at + 1] not in _OCTAL:
            return 1
        if c.isdigit():
            self.refuse("an octal escape" if c == b"0" or in_class else "a backreference", at)
        if c in (b"b", b"B"):
            self.refuse("a word boundary", at)
        if c in (b"A", b"Z", b"z"):
            self.refuse("an anchor", at)
        if c.isalpha():
            self.wrong(f"has an unknown escape \\{c.decode()}", at, f"write {c.decode()} for the character itself")
        return 1 << code

    def _class(self, begin: int) -> int:
        """The bytes of a class, as Python's `re` reads it."""
        pattern, mask = self.pattern, 0
        negated = pattern[self.at : self.at + 1] == b"^"
        self.at += negated
        first = self.at
        while True:
            at, c = self.at, pattern[self.at : self.at + 1]
            if not c:
                self.wrong("has a `[` without a `]`", begin, "write \\[ for the character itself")
            if c == b"]" and at > first:
                self.at += 1
                return _ALL ^ mask if negated else mask
            low = self._member()
            if pattern[self.at : self.at + 1] == b"-" and pattern[self.at + 1 : self.at + 2] not in (b"]", b""):
                self.at += 1
                high = self._member()
                a, b = low.bit_length() - 1, high.bit_length() - 1
                if low != 1 << a or high != 1 << b or a > b:
                    self.wrong("has a wrong range", at, "write the smaller byte first, and no class in a range")
                low = (1 << b + 1) - (1 << a)
            mask |= low

    def _member(self) -> int:
        at, c = self.at, self.pattern[self.at]
        self.at += 1
        return self._escape(at, True) if c == 92 else 1 << c


def _joined(items: list[list[int | str]]) -> list[int | str]:
    """Items one behind the other."""
    made: list[int | str] = []
    for each in items:
        made += [*each, "."] if made else each
    return made or [""]


def parse(pattern: bytes) -> Positions:
    """The positions of a pattern; an ArgumentError says what is no pattern or is left out."""
    if len(pattern) > _MOST_BYTES:
        raise must_have(PATTERN, f"at most {_MOST_BYTES} bytes", len(pattern))
    parser = _Parser(pattern)
    postfix = parser.run()
    if sum(not isinstance(each, str) for each in postfix) > _MOST_POSITIONS:
        parser._too_long()
    return positions_of(postfix)
