"""Programs lower to the words and the text that they lowered to before.

A change that is meant to alter them writes the record anew with VYRE_UPDATE_GOLDEN=1, and its commit says why.
"""

from __future__ import annotations

import os
from itertools import chain, islice
from pathlib import Path

import unchanged
import vyre
from vyre import fuzz
from vyre.conformance import cases

RECORD = Path(__file__).parents[1] / "golden" / "unchanged.json"


def some_programs():
    """Every twentieth case of the corpus, and forty small generated programs."""
    corpus = (step.program for case in cases()[::20] for step in case.steps[:1])
    generated = (fuzz.generate(seed).program for seed in range(1000))
    small = (program for program in generated if len(program.to_bytes()) < 1500)
    return chain(corpus, islice(small, 40))


def test_recorded_programs_lower_to_the_same():
    if os.environ.get("VYRE_UPDATE_GOLDEN") == "1":
        unchanged.write(RECORD, unchanged.rows(some_programs()))
    recorded = unchanged.read(RECORD)
    assert len(recorded) > 80
    changed = [f"{keys} of\n{program.to_text()}" for _, program, keys in unchanged.differences(recorded)]
    assert not changed, f"{len(changed)} of {len(recorded)} programs lower to something else; the first: {changed[0]}"


def test_a_program_that_lowers_to_something_else_is_noticed():
    program = vyre.Program(
        [vyre.BufferDecl.output("out", 0, vyre.u32)], (1, 1, 1), [vyre.Node.store("out", 0, vyre.Expr.gid_x() + 1)]
    )
    (row,) = unchanged.rows(iter([program]))
    assert list(unchanged.differences([row])) == []
    row["lowered"]["wgsl True"] = "0" * 16
    assert [(number, keys) for number, _, keys in unchanged.differences([row])] == [(0, ["wgsl True"])]
