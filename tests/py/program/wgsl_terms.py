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


def _operator(kind: Kind, of_signed: Kind | None = None, *, truth: bool = False) -> Any:
    """A method for an operator, by the kinds of term that it has on a u32 and on an i32."""

    def made(self: Word, other: Word) -> Word:
        chosen = of_signed if self.signed and of_signed is not None else kind
        return Word(smt.term(chosen, self.term, other.term), self.signed and not truth)

    return made


@dataclass(frozen=True, eq=False)
class Word:
    """A u32, an i32 or a truth of WGSL."""

    term: Term
    signed: bool = False

    __add__, __sub__, __mul__ = map(_operator, (Kind.BV_ADD, Kind.BV_SUB, Kind.BV_MUL))
    __and__, __or__, __xor__ = map(_operator, (Kind.BV_AND, Kind.BV_OR, Kind.BV_XOR))
    __lshift__, __rshift__ = _operator(Kind.BV_SHL), _operator(Kind.BV_SHR, Kind.BV_ASHR)
    __truediv__ = _operator(Kind.BV_UDIV, Kind.BV_SDIV)
    __lt__ = _operator(Kind.BV_ULT, Kind.BV_SLT, truth=True)
    __le__ = _operator(Kind.BV_ULE, Kind.BV_SLE, truth=True)
    __eq__, __ne__ = _operator(Kind.EQUAL, truth=True), _operator(Kind.DISTINCT, truth=True)

    def __mod__(self, other: Word) -> Word:
        assert not self.signed, "drivers do not agree on the remainder of negative numbers"
        return Word(smt.term(Kind.BV_UREM, self.term, other.term))

    def __invert__(self) -> Word:
        return Word(smt.term(Kind.BV_NOT, self.term), self.signed)


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
