"""The procedures of the library as text: each comes back exactly, and one of each kind is what was reviewed."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

import vyre
from procedure_texts import CALLS, FOLDER, KINDS, U32, collected, kept, procedures_of
from vyre import std


@pytest.mark.parametrize("name", KINDS)
def test_the_procedures_of_a_call_are_those_that_were_reviewed(name):
    assert kept(name) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8"), (
        "Fix: run `python tests/py/procedure_texts.py`, and review what it changes."
    )


def programs_in(procedure: vyre.Procedure) -> list[vyre.Program]:
    return [*procedure.programs, *(each for inner in procedure.procedures for each in programs_in(inner))]


@pytest.mark.parametrize("name", CALLS)
def test_the_procedures_of_a_call_come_back_exactly_and_fit_the_least_devices(name):
    for procedure in procedures_of(name):
        assert vyre.validate(procedure) == []
        assert_comes_back(procedure)
        for program in programs_in(procedure):
            accesses = [each.access for each in program.buffers]
            inside = (vyre.BufferAccess.Workgroup, vyre.BufferAccess.Private)
            assert sum(each not in inside for each in accesses) <= 8
            assert math.prod(program.workgroup_size) <= 256


def test_every_call_of_the_library_is_here_and_every_kind_has_a_file():
    calls = {name for name in std.__all__ if inspect.isfunction(getattr(std, name))}
    assert {name.partition("-")[0] for name in CALLS} == calls
    assert {file.stem for file in FOLDER.iterdir()} == set(KINDS)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "int32", "uint32", "uint64"])
def test_procedures_for_other_types_come_back_exactly(dtype):
    x = U32.astype(dtype)
    accepted = 0
    for call in (std.sort, std.argsort, std.unique, std.sum, std.max, std.argmin, std.cumsum, lambda x: std.topk(x, 3)):
        with collected() as found, vyre.default_device("cpu"):
            try:
                call(x)
            except vyre.VyreError:  # not for this type
                continue
        accepted += 1
        assert found
        for procedure in found.values():
            assert_comes_back(procedure)
    assert accepted > (5 if np.dtype(dtype).itemsize >= 4 else 0)


def assert_comes_back(procedure: vyre.Procedure) -> None:
    text = procedure.to_text()
    read = vyre.Procedure.parse(text)
    assert (read, hash(read)) == (procedure, hash(procedure))
    assert (read.to_bytes(), read.to_text()) == (procedure.to_bytes(), text)
