"""The procedures of the library as text: each comes back exactly, and one of each kind is what was reviewed."""

from __future__ import annotations

import math

import pytest

import vyre
from library_calls import ROWS, SMALL
from procedure_texts import FOLDER, KINDS, assert_comes_back, kept, procedures_of
from vyre import std


@pytest.mark.parametrize("name", KINDS)
def test_the_procedures_of_a_call_are_those_that_were_reviewed(name):
    assert kept(name) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8"), (
        "Fix: run `python tests/py/procedure_texts.py`, and review what it changes."
    )


def programs_in(procedure: vyre.Procedure) -> list[vyre.Program]:
    return [*procedure.programs, *(each for inner in procedure.procedures for each in programs_in(inner))]


@pytest.mark.parametrize("name", ROWS)
def test_the_procedures_of_a_call_come_back_exactly_and_fit_the_least_devices(name):
    for procedure in procedures_of(ROWS[name].call, std, SMALL):
        assert vyre.validate(procedure) == []
        assert_comes_back(procedure)
        for program in programs_in(procedure):
            accesses = [each.access for each in program.buffers]
            inside = (vyre.BufferAccess.Workgroup, vyre.BufferAccess.Private)
            assert sum(each not in inside for each in accesses) <= 8
            assert math.prod(program.workgroup_size) <= 256
            assert {note.rule for note in program.notes()} <= {"N005"}


def test_every_kind_has_a_file():
    assert {file.stem for file in FOLDER.iterdir()} == set(KINDS)
