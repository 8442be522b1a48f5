"""Runs a straight-line program's text on bit-vector terms: what every store writes, as a formula over what it reads.

A second, independent reader of the text form, for Let, Assign and Store without loops, branches, calls and atomics.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import smt
from smt import LANES, Value
from vyre import _core

TOKEN = re.compile(r"%\d+|vec[24]<u32>|[A-Za-z_]\w*|\d+(?:i32|u64)?|-\d+i32|<<|>>|==|!=|<=|>=|[-+*/%&|^<>()\[\],.=]")
TYPES = {text: name for name, text, *_ in _core._tables["types"]}
INFIX = {infix: name for name, _, infix, *_ in _core._tables["binary"] if infix}
BINARY = {text: name for name, text, *_ in _core._tables["binary"]}
UNARY = {text: name for name, text, *_ in _core._tables["unary"]}
RESULT = {row[0]: row[5] for row in _core._tables["binary"]} | {row[0]: row[3] for row in _core._tables["unary"]}

Tree = tuple


class Reader:
    """One value of the text form as a tree."""

    def __init__(self, text: str):
        self.tokens = TOKEN.findall(text)
        assert "".join(self.tokens) == text.replace(" ", ""), text
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected: str | None = None) -> str:
        token = self.peek()
        assert expected in (None, token), f"{expected} wanted in {self.tokens}"
        self.at += 1
        return token

    def value(self) -> Tree:
        left = self.operand()
        if self.peek() not in INFIX:
            return left
        return ("binary", INFIX[self.take()], left, self.operand())

    def operands(self) -> list[Tree]:
        found = [self.value()]
        while self.peek() == ",":
            self.take()
            found.append(self.value())
        self.take(")")
        return found

    def operand(self) -> Tree:
        token = self.take()
        if token == "(":
            inner = self.value()
            self.take(")")
            return inner
        if token[0] == "%":
            return ("number", token)
        if token in ("true", "false"):
            return ("literal", "Bool", int(token == "true"))
        if match := re.fullmatch(r"(-?\d+)(i32|u64)?", token):
            return ("literal", {"i32": "I32", "u64": "U64"}.get(match[2], "U32"), int(match[1]))
        after = self.peek()
        if after == "[":
            self.take()
            index = self.value()
            self.take("]")
            return ("load", token, index)
        if after == ".":
            self.take()
            return ("grid", f"{token}.{self.take()}")
        if after != "(":
            return ("variable", token)
        self.take()
        if token == "len":
            name = self.take()
            self.take(")")
            return ("length", name)
        if token in ("cast", "pack"):
            target = TYPES[self.take()]
            self.take(",")
            return (token, target, *self.operands())
        if token == "lane":
            whole = self.value()
            self.take(",")
            lane = int(self.take())
            self.take(")")
            return (token, lane, whole)
        operands = self.operands()
        if token == "select":
            return (token, *operands)
        if token in BINARY:
            return ("binary", BINARY[token], *operands)
        return ("unary", UNARY[token], *operands)


@dataclass
class Machine:
    """The state of one invocation; what programs read is free, and the same for all machines that share `inputs`."""

    inputs: dict[str, tuple[str, Value]]
    buffers: dict[str, tuple[str, int]] = field(default_factory=dict)  # type, count
    variables: dict[str, tuple[str, Value]] = field(default_factory=dict)
    numbered: dict[str, Tree] = field(default_factory=dict)
    stores: dict[tuple[str, int], tuple[str, Value]] = field(default_factory=dict)

    def run(self, text: str) -> None:
        for line in (line.strip() for line in text.splitlines()[2:]):
            if match := re.fullmatch(r"buffer (\w+): \w+ (\S+) binding \d+ count (\d+)(?: output)?", line):
                self.buffers[match[1]] = (TYPES[match[2]], int(match[3]))
            elif match := re.fullmatch(r"(%\d+) = (.*)", line):
                self.numbered[match[1]] = Reader(match[2]).value()
            elif match := re.fullmatch(r"(?:let )?(\w+) = (.*)", line):
                self.variables[match[1]] = self.evaluate(Reader(match[2]).value())
            elif match := re.fullmatch(r"(\w+)\[(%?\d+)\] = (.*)", line):
                index = self.numbered[match[2]][2] if match[2][0] == "%" else int(match[2])
                if index < self.buffers[match[1]][1]:
                    self.stores[match[1], index] = self.evaluate(Reader(match[3]).value())
            else:
                assert line in ("", "block {", "}"), line

    def free(self, name: str, type_: str) -> tuple[str, Value]:
        if name not in self.inputs:
            self.inputs[name] = (type_, tuple(smt.free(f"{name}.{k}") for k in range(LANES[type_])))
        return self.inputs[name]

    def given(self) -> smt.Term:
        """The condition that holds for every input: a Bool is 0 or 1."""
        return smt.both(*(smt.at_most_one(v[0]) for type_, v in self.inputs.values() if type_ == "Bool"))

    def evaluate(self, root: Tree) -> tuple[str, Value]:
        known: dict[str, tuple[str, Value]] = {}  # a numbered expression is evaluated once a statement

        def of(tree: Tree) -> tuple[str, Value]:
            kind = tree[0]
            if kind == "number":
                if tree[1] not in known:
                    known[tree[1]] = of(self.numbered[tree[1]])
                return known[tree[1]]
            if kind == "literal":
                low = smt.word(tree[2])
                return tree[1], (low, smt.word(tree[2] >> 32)) if tree[1] == "U64" else (low,)
            if kind == "variable":
                return self.variables[tree[1]]
            if kind == "grid":
                return self.free(tree[1], "U32")
            if kind == "length":
                return "U32", (smt.word(self.buffers[tree[1]][1]),)
            if kind == "load":
                return self.load(tree[1], of(tree[2])[1][0])
            if kind == "cast":
                source, value = of(tree[2])
                return tree[1], smt.cast(source, tree[1], value)
            if kind == "pack":
                return tree[1], tuple(of(lane)[1][0] for lane in tree[2:])
            if kind == "lane":
                return "U32", (of(tree[2])[1][tree[1]],)
            if kind == "select":
                condition, yes, no = (of(operand) for operand in tree[1:])
                return yes[0], smt.select(condition[1], yes[1], no[1])
            meaning = smt.BINARY if kind == "binary" else smt.UNARY
            return RESULT[tree[1]], (meaning[tree[1]](*(of(operand)[1][0] for operand in tree[2:])),)

        return of(root)

    def load(self, buffer: str, index: smt.Term) -> tuple[str, Value]:
        type_, count = self.buffers[buffer]
        value: Value = (smt.ZERO,) * LANES[type_]
        for k in range(count):
            here = smt.equal(index, smt.word(k))
            element = self.free(f"{buffer}[{k}]", type_)[1]
            value = tuple(smt.choose(here, a, b) for a, b in zip(element, value, strict=True))
        return type_, value
