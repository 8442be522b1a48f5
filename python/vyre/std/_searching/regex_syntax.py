"""The syntax of regular expressions over bytes: that of Python's `re`, less what ``vyre.std.regex`` leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NoReturn

from vyre._base.refused import must_have
from vyre.errors import ArgumentError
from vyre.std._searching.regex_boundaries import LINE_FEED, WORDS
from vyre.std._searching.regex_positions import Expression, expression_of

__all__ = ["FLAGS", "PATTERN", "parse"]

_MOST_BYTES = 10_000
_MOST_POSITIONS = 4096
_MOST_REPEATS = 1000
_DIGITS, _SPACES = b"0123456789", b" \t\n\r\f\v"
_ALL = (1 << 256) - 1
_SPECIAL = {ord(k): v for k, v in {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}.items()}
# Groups that begin with "(?" and are left out, by the characters that follow; the longest first.
_GROUPS = {
    b"<=": "a lookbehind",
    b"<!": "a lookbehind",
    b"=": "a lookahead",
    b"!": "a lookahead",
    b"P<": "a named group",
    b"<": "a named group",
    b"P=": "a backreference",
    b">": "an atomic group",
    b"(": "a conditional group",
    b"#": "a comment",
}
_FIXES = {
    "a backreference": "write what it stands for",
    "a lookahead": "match more, and look at the rest on the host",
    "a lookbehind": "match more, and look at the rest on the host",
    "a lazy quantifier": 'leave its ? out; matches are the longest, or end first with kind="earliest"',
    "a possessive quantifier": "leave its + out",
    "a named group": "write (...)",
    "an atomic group": "write (...)",
    "a conditional group": "write the alternatives as (a|b)",
    "a comment": "leave it out",
    "a flag other than i, m and s": "leave it out, and write what it stands for",
    "an octal escape": "write \\x and two hexadecimal digits",
    "a POSIX class": "write its bytes, as in [a-z], or \\[ for the character itself",
}


def _set(members: Iterable[int]) -> int:
    mask = 0
    for each in members:
        mask |= 1 << each
    return mask


_CLASSES = {ord("d"): _set(_DIGITS), ord("s"): _set(_SPACES), ord("w"): _set(WORDS)}
_CLASSES |= {each - 32: _ALL ^ mask for each, mask in _CLASSES.items()}


_OCTAL = tuple(bytes([each]) for each in b"01234567")
_COUNTS = re.compile(rb"\{(?:(\d+)|(\d*),(\d*))\}")
# The names of assertions without and with the flag m.
_ASSERTED = {
    b"^": ("\\A", "(?m:^)"),
    b"$": ("(?-m:$)", "(?m:$)"),
    **{each.encode(): (each, each) for each in ("\\A", "\\z", "\\b", "\\B")},
}
_FLAGS = re.compile(rb"\?(?=[a-zA-Z-])([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_POSIX = re.compile(rb"\[[:.=][a-z^]+[:.=]\]")
FLAGS = "ims"
_LOWER, _UPPER = _set(range(97, 123)), _set(range(65, 91))


def _both_cases(mask: int) -> int:
    """The bytes, and the letters among them in the other case."""
    return mask | (mask & _UPPER) << 32 | (mask & _LOWER) >> 32


PATTERN = "the pattern of vyre.std.regex"


class _Parser:
    """Reads a pattern into postfix form: sets of bytes as ints, and operators: "." "|" "*" "+" "?" "" (nothing).

    Assertions stand there by their names in ``regex_boundaries.py``.
    """

    def __init__(self, pattern: bytes, flags: str) -> None:
        self.pattern, self.at = pattern, 0
        self.flags = frozenset(flags)
        self.begin = 0  # where the pattern begins, behind flags for all of it
        self.quantified = self.asserted = -1  # where the last quantifier and the last assertion end
        # For each open group: where it begins, its alternatives, the items of the one that is read, and the flags
        # that hold behind it.
        self.groups: list[tuple[int, list[list[int | str]], list[list[int | str]], frozenset[str]]] = []
        self.groups.append((0, [], [], self.flags))

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
                begin, alternatives, items, flags = self.groups.pop()
                self.groups.append((begin, [*alternatives, _joined(items)], [], flags))
            elif c == b"[":
                items.append([self._class(at)])
            elif c == b".":
                items.append([_ALL if "s" in self.flags else _ALL ^ 1 << LINE_FEED])
            elif (spelled := pattern[at : at + 2] if c == b"\\" else c) in _ASSERTED:
                items.append([_ASSERTED[spelled]["m" in self.flags]])
                self.at = self.asserted = at + len(spelled)
            elif c == b"\\":
                items.append([self._literal(self._escape(at, False))])
            elif c in (b"*", b"+", b"?") or (c == b"{" and self._counts(at)):
                self._quantify(at)
            else:
                items.append([self._literal(1 << c[0])])
        if len(self.groups) > 1:
            self.wrong("has a `(` without a `)`", self.groups[-1][0], "write \\( for the character itself")
        return self._closed()

    def _closed(self) -> list[int | str]:
        _, alternatives, items, self.flags = self.groups.pop()
        made = _joined(items)
        for each in alternatives:
            made = [*each, *made, "|"]
        return made

    def _open(self, at: int) -> None:
        flags = self.flags
        if self.pattern[self.at : self.at + 2] == b"?:":
            self.at += 2
        elif self.pattern[self.at : self.at + 1] == b"?":
            for text, name in _GROUPS.items():
                if self.pattern.startswith(text, self.at + 1):
                    self.refuse(name, at)
            if self._set_flags(at):
                return
        self.groups.append((at, [], [], flags))

    def _set_flags(self, at: int) -> bool:
        """Read the flags of a group, as in (?i-s:...), or of the pattern, as in (?i); says whether it is these."""
        found = _FLAGS.match(self.pattern, self.at)
        if found is None:
            self.wrong("has a group of an unknown kind", at, "write (?:...)")
        on, off = ("".join(dict.fromkeys((each or b"").decode())) for each in found.group(1, 2))
        if {*on, *off} - {*FLAGS}:
            self.refuse("a flag other than i, m and s", at)
        if {*on} & {*off}:
            self.wrong("turns a flag on and off in one place", at, "write it once")
        self.flags = self.flags.difference(off).union(on)
        self.at = found.end()
        if found[3] == b":":
            return False
        if off or at != self.begin:  # Python and others differ in what they are for
            fix = f"write (?{on}{'-' * bool(off)}{off}:...) around what they are for"
            first = "" if off else f", or (?{on}) first in the pattern"
            self.wrong("has flags in the middle, which could be for all of it or for the rest,", at, fix + first)
        self.begin = self.at
        return True

    def _literal(self, mask: int) -> int:
        return _both_cases(mask) if "i" in self.flags else mask

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
        if at == self.asserted:
            self.wrong("has a quantifier behind an assertion", at, "write (?:...) around the assertion")
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
        if c == b"Z" and not in_class:
            problem = "has \\Z, which also matches before a last line feed elsewhere than in Python,"
            self.wrong(problem, at, "write \\z for the end alone, or (?-m:$) for both")
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
                mask = self._literal(mask)
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
        if _POSIX.match(self.pattern, at):  # Python takes its characters one by one, and warns
            self.refuse("a POSIX class", at)
        self.at += 1
        return self._escape(at, True) if c == 92 else 1 << c


def _joined(items: list[list[int | str]]) -> list[int | str]:
    """Items one behind the other."""
    made: list[int | str] = []
    for each in items:
        made += [*each, "."] if made else each
    return made or [""]


def parse(pattern: bytes, flags: str = "") -> Expression:
    """The positions of a pattern; an ArgumentError says what is no pattern or is left out."""
    if len(pattern) > _MOST_BYTES:
        raise must_have(PATTERN, f"at most {_MOST_BYTES} bytes", len(pattern))
    parser = _Parser(pattern, flags)
    postfix = parser.run()
    if sum(not isinstance(each, str) for each in postfix) > _MOST_POSITIONS:
        parser._too_long()
    return expression_of(postfix)
