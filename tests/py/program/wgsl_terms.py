"""Runs the WGSL of a straight-line program on bit-vector terms: what it stores, as formulas over what it loads.

Every line of the text is `let v<k> = expression`, a store, or a branch around stores, and its expressions are Python's
but for types and suffixes; so Python evaluates them over a class whose operators make terms. The meaning of each
operator is WGSL's, written here anew: shift amounts are below 32 and divisors are not zero, or the solver is told so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from bitwuzla import Kind

import smt
from smt import Term


@dataclass(frozen=True, eq=False)
class Word:
    """A u32, an i32 or a truth of WGSL."""

    term: Term
    signed: bool = False

    def _made(self, kind: Kind, other: Word) -> Word:
        return Word(smt.term(kind, self.term, other.term), self.signed)

    def _truth(self, kind: Kind, other: Word) -> Word:
        return Word(smt.term(kind, self.term, other.term))

    def __add__(self, other: Word) -> Word:
        return self._made(Kind.BV_ADD, other)

    def __sub__(self, other: Word) -> Word:
        return self._made(Kind.BV_SUB, other)

    def __mul__(self, other: Word) -> Word:
        return self._made(Kind.BV_MUL, other)

    def __truediv__(self, other: Word) -> Word:
        return self._made(Kind.BV_SDIV if self.signed else Kind.BV_UDIV, other)

    def __mod__(self, other: Word) -> Word:
        assert not self.signed, "drivers do not agree on the remainder of negative numbers"
        return self._made(Kind.BV_UREM, other)

    def __and__(self, other: Word) -> Word:
        return self._made(Kind.BV_AND, other)

    def __or__(self, other: Word) -> Word:
        return self._made(Kind.BV_OR, other)

    def __xor__(self, other: Word) -> Word:
        return self._made(Kind.BV_XOR, other)

    def __lshift__(self, other: Word) -> Word:
        return self._made(Kind.BV_SHL, other)

    def __rshift__(self, other: Word) -> Word:
        return self._made(Kind.BV_ASHR if self.signed else Kind.BV_SHR, other)

    def __invert__(self) -> Word:
        return Word(smt.term(Kind.BV_NOT, self.term), self.signed)

    def __lt__(self, other: Word) -> Word:
        return self._truth(Kind.BV_SLT if self.signed else Kind.BV_ULT, other)

    def __le__(self, other: Word) -> Word:
        return self._truth(Kind.BV_SLE if self.signed else Kind.BV_ULE, other)

    def __eq__(self, other: Word) -> Word:  # type: ignore[override]
        return self._truth(Kind.EQUAL, other)

    def __ne__(self, other: Word) -> Word:  # type: ignore[override]
        return self._truth(Kind.DISTINCT, other)


def _least(a: Word, b: Word) -> Word:
    return Word(smt.choose((b < a).term, b.term, a.term), a.signed)


def _greatest(a: Word, b: Word) -> Word:
    return Word(smt.choose((a < b).term, b.term, a.term), a.signed)


FUNCTIONS: dict[str, Any] = {
    "word": lambda value: Word(smt.word(value)),
    "u32": lambda truth: Word(smt.flag(truth.term)),
    "bitcast_u32": lambda value: Word(value.term),
    "bitcast_i32": lambda value: Word(value.term, signed=True),
    "select": lambda no, yes, condition: Word(smt.choose(condition.term, yes.term, no.term), yes.signed),
    "min": _least,
    "max": _greatest,
    "countOneBits": lambda a: Word(smt.UNARY["Popcount"](a.term)),
    "countLeadingZeros": lambda a: Word(smt.UNARY["Clz"](a.term)),
    "countTrailingZeros": lambda a: Word(smt.UNARY["Ctz"](a.term)),
    "reverseBits": lambda a: Word(smt.UNARY["ReverseBits"](a.term)),
}
# In the order of evaluation: a type in angle brackets, a number, a word of the parameters.
SPELLINGS = ((r"bitcast<(\w+)>", r"bitcast_\1"), (r"\b(0x[0-9a-f]+|\d+)u\b", r"word(\1)"))


@dataclass
class Machine:
    """One invocation. Buffer k has `lengths[k]` elements of u32; a load of element j gives `elements[k, j]`."""

    lengths: list[int]
    elements: dict[tuple[int, int], Term]
    names: dict[str, Any] = field(default_factory=lambda: dict(FUNCTIONS))
    stores: dict[tuple[int, int], Term] = field(default_factory=dict)
    guards: list[Term] = field(default_factory=list)

    def run(self, text: str) -> dict[tuple[int, int], Term]:
        """What is stored, by buffer and index. Every store must happen whatever the inputs are."""
        lines = iter(text[text.index("\nfn main(") :].splitlines())
        if "fn mul_high" in text:
            self.names["mul_high"] = self.function(text[text.index("fn mul_high") :])
        for line in (line.strip() for line in lines):
            if match := re.fullmatch(r"let (v\d+) = (.*);", line):
                self.names[match[1]] = self.value(match[2])
            elif match := re.fullmatch(r"b(\d+)\[(v\d+)\] = (v\d+);", line):
                assert smt.check(smt.term(Kind.NOT, smt.both(*self.guards))).holds, f"may be left out: {line}"
                self.stores[int(match[1]), self.index(match[2])] = self.names[match[3]].term
            elif match := re.fullmatch(r"if \((.*)\) \{", line):
                self.guards.append(self.value(match[1]).term)
            elif line == "}" and self.guards:
                self.guards.pop()
            else:
                assert not line or line[0] in "f@)}", line
        return self.stores

    def value(self, text: str) -> Any:
        if match := re.fullmatch(r"params\[(\d+)\]\.(\w)", text):
            return Word(smt.word(self.lengths[4 * int(match[1]) + "xyzw".index(match[2]) - 4]))
        if match := re.fullmatch(r"b(\d+)\[(v\d+)\]", text):
            return Word(self.elements[int(match[1]), self.index(match[2])])
        for pattern, spelling in SPELLINGS:
            text = re.sub(pattern, spelling, text)
        return eval(text, {}, self.names)

    def index(self, name: str) -> int:
        return int(self.names[name].term.value(10))

    def function(self, text: str) -> Any:
        head, *lines = text[: text.index("}")].splitlines()
        parameters = re.findall(r"(\w+): u32", head)

        def called(*arguments: Word) -> Word:
            inner = Machine(self.lengths, {}, {**self.names, **dict(zip(parameters, arguments, strict=True))})
            for line in lines:
                if match := re.fullmatch(r"\s*let (\w+) = (.*);", line):
                    inner.names[match[1]] = inner.value(match[2])
                elif match := re.fullmatch(r"\s*return (.*);", line):
                    return inner.value(match[1])
            raise AssertionError(text)

        return called
