"""A conformance case: programs, inputs, and the bytes that must come out, as data.

The expected bytes come from a table of the documents or from another library (Python's integers, numpy, hashlib,
zlib), never from a backend of vyre: a case can find the reference wrong like any other backend.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from vyre import BufferAccess

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre import Program

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Level:
    """One level of conformance. A float level says nothing about an integer level, nor the other way round."""

    name: str
    title: str
    claimed: bool = True


LEVELS = {
    level.name: level
    for level in (
        Level("L1", "parity: every operator, cast and rule gives the documents' bytes"),
        Level("L2", "laws: every registered operation does what its examples, laws and models say"),
        Level("L3", "composition: calls, the optimiser and workgroup sizes change no byte"),
        Level("L4", "programs: sequences of dispatches give what hashlib, zlib and numpy give"),
        Level("L1f", "parity of floats", claimed=False),
        Level("L2f", "laws of floats", claimed=False),
        Level("L3f", "composition of floats", claimed=False),
        Level("L4f", "programs with floats", claimed=False),
    )
}


@dataclass(frozen=True)
class Step:
    """One dispatch of a case.

    Attributes:
        program: what is dispatched.
        grid: workgroups along x, y, z.
        wiring: buffer of the program -> array of the case; a buffer that is not named here is wired to the array of
            its own name. What the program writes replaces the array for the steps that follow.
    """

    program: Program
    grid: tuple[int, int, int] = (1, 1, 1)
    wiring: Mapping[str, str] = field(default_factory=dict)

    def bound(self) -> list[tuple[str, str, bool]]:
        """(buffer, array, whether it is written) of every buffer that the host binds."""
        return [
            (buffer.name, self.wiring.get(buffer.name, buffer.name), buffer.access == BufferAccess.ReadWrite)
            for buffer in self.program.buffers
            if buffer.access not in (BufferAccess.Workgroup, BufferAccess.Private)
        ]


@dataclass(frozen=True)
class Judgement:
    """The judgement on one output of a case that allows several.

    Attributes:
        decided: the part that must be the same everywhere; compared, hashed.
        observed: which of the allowed outcomes occurred, and how often; shown, never compared, never hashed.
    """

    decided: Arrays
    observed: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class Case:
    """One statement about a backend, checked by running it.

    Attributes:
        id: a path such as "L1/operators/shl"; the level stands in front.
        what: what must be true, in one sentence.
        steps: the dispatches, one after the other.
        inputs: array name -> array as it is before the first step.
        wanted: array name -> array as it must be after the last step. An array that a step can write and that is not
            named here must come back as it was.
        optimize: what vyre.run is told; the case runs once for each, and each must give the same.
        judge: None where every byte is decided; else what is decided of the written arrays, compared with `wanted`.
        checks: not empty where the documents allow several outcomes: what is checked of them. Such a case is "allowed",
            not "passed", and has no hash of an output.
        refusable: whether the documents allow a typed refusal (CapabilityError, DeviceError) instead of bytes; only
            with `checks`.
        twin: a program that must lower to the same optimised SPIR-V words as the first step's.
        skip: why nothing can run it yet; "" for nearly all.
    """

    id: str
    what: str
    steps: tuple[Step, ...]
    inputs: Mapping[str, np.ndarray]
    wanted: Mapping[str, np.ndarray]
    optimize: tuple[bool | None, ...] = (None,)
    judge: Callable[[Arrays], Judgement] | None = None
    checks: str = ""
    refusable: bool = False
    twin: Program | None = None
    skip: str = ""

    def __repr__(self) -> str:
        return f"<vyre.conformance.Case {self.id}>"

    @property
    def level(self) -> str:
        """The name of its level: "L1" to "L4"."""
        return self.id.split("/", 1)[0]

    @cached_property
    def written(self) -> list[str]:
        """The arrays that a step can write, sorted by name."""
        return sorted({array for step in self.steps for _, array, written in step.bound() if written})

    @cached_property
    def expected(self) -> Arrays:
        """All that is compared with the output: every written array, or the part that `judge` must decide."""
        if self.judge is not None:
            return dict(self.wanted)
        return {name: np.asarray(self.wanted.get(name, self.inputs[name])) for name in self.written}

    @cached_property
    def program_hash(self) -> str:
        """SHA-256 of the program's bytes; of several steps, of their hashes one after the other; then of the twin."""
        programs = [step.program for step in self.steps] + ([self.twin] if self.twin is not None else [])
        hashes = [hashlib.sha256(program.to_bytes()).hexdigest() for program in programs]
        return hashes[0] if len(hashes) == 1 else hashlib.sha256("\n".join(hashes).encode()).hexdigest()

    @cached_property
    def inputs_hash(self) -> str:
        """SHA-256 of the inputs and of how they are bound: grids, wiring, the optimiser's switch."""
        bound = [[list(step.grid), sorted(step.wiring.items())] for step in self.steps]
        head = json.dumps([bound, self.optimize], separators=(",", ":"))
        return hash_arrays(self.inputs, head)

    @cached_property
    def expected_hash(self) -> str:
        """SHA-256 of the expected output; "" where several outputs are allowed."""
        return "" if self.checks else hash_arrays(self.expected)


def hash_arrays(arrays: Mapping[str, np.ndarray], head: str = "") -> str:
    """SHA-256 of the names, types, shapes and little-endian bytes of arrays, in the order of their names.

    >>> hash_arrays({"out": np.zeros(2, np.uint32)})[:16]
    '40ec5df90902c17c'
    """
    digest = hashlib.sha256(head.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        line = f"\n{json.dumps(name)} {array.dtype.name} {list(array.shape)}\n"
        digest.update(line.encode())
        digest.update(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
    return digest.hexdigest()


def case(
    id: str,
    what: str,
    program: Program,
    inputs: Mapping[str, np.ndarray],
    wanted: Mapping[str, np.ndarray],
    grid: int | tuple[int, int, int] = 1,
    **more: object,
) -> Case:
    """A case of one dispatch."""
    workgroups = (grid, 1, 1) if isinstance(grid, int) else grid
    return Case(id, what, (Step(program, workgroups),), dict(inputs), dict(wanted), **more)  # type: ignore[arg-type]
