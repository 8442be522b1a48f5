"""What a procedure consists of: arrays, numbers, and steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias

from vyre._base import source as _source
from vyre._base.calls import explain_calls
from vyre._base.captured import Captures

if TYPE_CHECKING:
    import numpy as np

    from vyre._core import DataType, Program
    from vyre._kernel.kernel import Kernel
    from vyre._procedure.sizes import Size

__all__ = [
    "ArrayDecl",
    "Clear",
    "Dispatch",
    "Invoke",
    "Part",
    "Recorded",
    "Repeat",
    "Swap",
    "When",
    "line_text",
    "numbered",
]

# The file and the line of the call that recorded a step.
Line: TypeAlias = "tuple[str, int] | None"


def line_text(line: Line) -> str:
    """`file.py:12`, or the line of a notebook's cell; empty where it is not known."""
    if line is None:
        return ""
    place: Any = SimpleNamespace(file=line[0], line=line[1], column=None)
    return _source.describe(place, columns=False)


@dataclass(eq=False)
class ArrayDecl:
    """An array of a procedure. The role is input, in_out, output, scratch or table."""

    name: str
    role: str
    element: DataType
    axes: int
    shape: tuple[Size | int, ...] = ()  # not of inputs
    zeros: bool = False
    contents: np.ndarray | None = None  # of a table
    line: Line = None  # where it was made


@dataclass(frozen=True, eq=False)
class Part:
    """An array, or a slice of it along its first axis, with elements of its own type or of another one."""

    array: ArrayDecl
    element: DataType | None = None
    slice: tuple[Size | int, Size | int] | None = None


@dataclass(frozen=True, eq=False)
class Dispatch:
    """A program, and for each buffer that it binds a part of an array, or words."""

    program: Program
    bound: tuple[Part | tuple[Size | int, ...], ...]
    grid: tuple[Size | int, ...] | Part  # workgroups, or an array that has the counts
    counts_invocations: bool = False
    at_most: tuple[Size | int, ...] | None = None  # workgroups
    name: str = ""
    line: Line = None
    kernel: tuple[Kernel, dict[str, Any]] | None = None  # the kernel that was called, and the values of its constants
    # Of each word: what messages call it, and the Fix for a size that does not fit.
    word_uses: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class Invoke:
    procedure: Recorded
    arrays: tuple[Part, ...]  # its inputs and in_outs, then its outputs
    numbers: tuple[Size | int, ...]
    line: Line = None


@dataclass(eq=False)
class Repeat:
    count: Size | int
    turn: Size
    steps: list[Any] = field(default_factory=list)
    line: Line = None


@dataclass(eq=False)
class When:
    condition: Size | int
    steps: list[Any] = field(default_factory=list)
    otherwise: list[Any] = field(default_factory=list)
    line: Line = None


@dataclass(frozen=True, eq=False)
class Swap:
    a: ArrayDecl
    b: ArrayDecl
    line: Line = None


@dataclass(frozen=True, eq=False)
class Clear:
    part: Part
    line: Line = None


@dataclass(frozen=True, eq=False)
class Require:
    condition: Size | int
    message: str
    line: Line = None


@dataclass(eq=False)
class Recorded:
    """What a procedure's function has recorded."""

    name: str
    arrays: list[ArrayDecl]
    numbers: list[tuple[str, DataType]]
    steps: list[Any]
    outputs: list[ArrayDecl]
    results: list[ArrayDecl]  # what a call returns: outputs and in_outs, in the order of the return statement
    owner: Any = None  # the Recorder, which its numbers name
    core: Any = None  # the Procedure, once it was asked for
    is_checked: bool = False  # whether the Procedure keeps its rules
    is_vouched: bool = False  # see vouched.py
    is_loaded: bool = False  # whether its steps and its own arrays are in `core` alone
    captured: Captures = field(default_factory=Captures)
    source: Recorded | None = None  # the recording that a loaded procedure comes from, where there is one

    def _of_role(self, *roles: str) -> list[ArrayDecl]:
        return [each for each in self.arrays if each.role in roles]


def numbered(steps: list[Any]) -> list[Any]:
    """The recorded steps by the numbers that they have in the core's Procedure; None where it has a step of its own,
    which opens or closes a block."""
    found: list[Any] = []
    for step in steps:  # recorded at most 32 deep
        found.append(step)
        if isinstance(step, Repeat):
            found += [*numbered(step.steps), None]
        elif isinstance(step, When):
            found += numbered(step.steps)
            if step.otherwise:
                found += [None, *numbered(step.otherwise)]
            found.append(None)
    return found


explain_calls(globals(), "vyre")
