"""Every binary operator meets every two of the edge values, loaded and as literals."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

import vyre
from vyre.conformance import Case, cases

# Written here again: what the cases use is what this test is about.
EDGES = [0, 1, 7, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF9, 0xFFFFFFFF]
GRID = set(itertools.product(EDGES, EDGES))
NAMES = [row[1] for row in vyre._core._tables["binary"]]
# The document's table, for what the grid is most about. Python's integers are the model.
BY_HAND = {
    ("rem", 7, 0): 0,
    ("div", 7, 0): 0,
    ("shl", 1, 32): 1,
    ("shl", 1, 33): 2,
    ("shr", 0x80000000, 0xFFFFFFFF): 1,
    ("rotl", 0x80000000, 33): 1,
    ("mulhi", 0xFFFFFFFF, 0xFFFFFFFF): 0xFFFFFFFE,
    ("sdiv", 0x80000000, 0xFFFFFFFF): 0x80000000,
    ("smod", 0x80000000, 0xFFFFFFFF): 0,
    ("smod", 7, 0): 0,
    ("smod", 0xFFFFFFF9, 2): 0xFFFFFFFF,
    ("sdiv", 0xFFFFFFF9, 2): 0xFFFFFFFD,
    ("sshr", 0x80000000, 31): 0xFFFFFFFF,
    ("sshr", 0x80000000, 32): 0x80000000,
}


def one(id: str) -> Case:
    (found,) = [made for made in cases(["L1"]) if made.id == id]
    return found


def bits(array: np.ndarray) -> list[int]:
    return [int(value) & 0xFFFFFFFF for value in array]


def triples(made: Case, output: str) -> dict[tuple[int, int], int]:
    columns = (bits(made.inputs["in0"]), bits(made.inputs["in1"]), bits(made.wanted[output]))
    return {(a, b): c for a, b, c in zip(*columns, strict=True)}


@pytest.mark.parametrize("name", NAMES)
def test_every_binary_operator_meets_every_pair_of_edges_loaded_and_as_literals(name):
    loaded, literal = one(f"L1/operators/{name}"), one(f"L1/operators/{name}/literals")
    assert set(triples(loaded, "out0")) >= GRID
    values = triples(loaded, "out0")
    for output in ("left", "right", "both"):
        found = triples(literal, output)
        assert set(found) >= GRID
        assert all(values[pair] == value for pair, value in found.items())
    for (operator, a, b), value in BY_HAND.items():
        if operator == name:
            assert values[a, b] == value


def test_the_literals_stand_in_the_program():
    text = one("L1/operators/rem/literals").steps[0].program.to_text()
    written = {(int(a), int(b)) for a, b in re.findall(r"\b(\d+) % (\d+)\b", text)}
    assert written >= GRID
    for edge in EDGES:
        assert re.search(rf"(?<![\w%]){edge} % [%y]", text), f"{edge} % y"
        assert re.search(rf"% {edge}\b", text), f"x % {edge}"


@pytest.mark.parametrize("name", ["plus", "percent", "floordiv", "less", "shift_left", "shift_right"])
def test_what_python_writes_for_i32_meets_every_pair_of_edges(name):
    assert set(triples(one(f"L1/operators/python/{name}"), "out0")) >= GRID


@pytest.mark.parametrize("name", ["div", "mod", "shl", "shr", "rotl", "rotr", "mul"])
def test_every_operation_of_two_u64_meets_every_pair_of_edges(name):
    (made,) = [made for made in cases(["L2"]) if made.id == f"L2/primitive.u64.{name}@1/model"]
    wide = [0, 1, 7, 63, 64, 2**32 - 1, 2**32, 2**63, 2**64 - 7, 2**64 - 1]
    right = wide if made.inputs["in1"].dtype == np.uint64 else EDGES
    pairs = set(zip(made.inputs["in0"].tolist(), made.inputs["in1"].tolist(), strict=True))
    assert pairs >= set(itertools.product(wide, right))
