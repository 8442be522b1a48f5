"""Cases: a program with what one run of it needs. The work is done in C++; this module gives it Python's types.

A Case has the arrays of its first call and of later ones as bytes, and is written and read as JSON, which is how cases
pass between processes and machines.
``generate``, ``rewrite`` and ``reduce`` convert arguments, call the core, and make a Case of the result.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import vyre
from vyre import _core
from vyre._base.text import first_line, shown
from vyre._base.types import TYPES
from vyre.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Callable

# Generated programs call operations of their own, which must be registered before one runs.
_core._fuzz_register()

PLANTS: dict[str, str] = {name: meaning for name, _, meaning in _core._fuzz_plants}
"""The defects that can be planted, and some patterns that are none: name -> meaning."""

REWRITES: dict[str, tuple[str, str]] = {name: (meaning, when) for name, meaning, when in _core._fuzz_rewrites}
"""The rewrites that keep the bytes: name -> meaning, and what must hold where they are done."""

# The arrays of one call: (buffer, bytes, zeros) of each.
_Arrays: TypeAlias = "tuple[tuple[str, bytes, bool], ...]"

_MOST_BYTES = 1 << 30  # of all arrays of a case: a short file may ask for many zeros


@dataclass(frozen=True)
class Planted:
    """A defect that was planted on purpose.

    Attributes:
        name: one of PLANTS.
        defect: what a checker has to call it: "race", "out-of-bounds", "uninitialised", "divergent-barrier" or
            "order-dependence"; "nothing" where it must find nothing.
        statements: the paths of the statements that take part, like ``entry[2].then[0]``.
        buffer: the memory it happens on; empty for a barrier.
    """

    name: str
    defect: str
    statements: tuple[str, ...]
    buffer: str


@dataclass(frozen=True)
class Case:
    """A program with the grid and the arrays of one call or several.

    Attributes:
        program: a Program.
        arrays: (buffer, bytes, zeros) of each buffer that is neither Workgroup nor Private, in order; ``zeros`` says
            that the host gives a number of zero elements instead.
        grid: workgroups along x, y, z.
        seed: what it was generated from, if it was.
        planted: the defect, if one was asked for.
        later: the arrays of further calls, one after the other, with the same names and sizes: nothing that a backend
            keeps of a call may show in the next one.
    """

    program: vyre.Program
    arrays: _Arrays
    grid: tuple[int, int, int]
    seed: int | None = None
    planted: Planted | None = None
    later: tuple[_Arrays, ...] = ()

    @property
    def calls(self) -> tuple[_Arrays, ...]:
        """The arrays of every call, in order."""
        return (self.arrays, *self.later)

    def inputs(self, *, call: int = 0, arrays: bool = False) -> dict[str, np.ndarray | int]:
        """The inputs of ``vyre.run``: name -> array, or a number of zero elements.

        Args:
            call: which of the calls, from 0.
            arrays: arrays of zeros in place of these numbers.
        """
        elements = {decl.name: decl.element for decl in self.program.buffers}
        result: dict[str, np.ndarray | int] = {}
        for name, content, zeros in self.calls[call]:
            info = TYPES[elements[name]]
            if zeros and not arrays:
                result[name] = len(content) // (info.bytes or 1)
                continue
            result[name] = np.frombuffer(content, info.bound).reshape(-1, *info.axes).copy()
        return result

    def hash(self) -> int:
        """A hash of the program, the same on every machine."""
        return _core._fuzz_hash(self.program)

    def statements(self) -> int:
        """How many statements the program has, those inside others counted."""
        return _core._fuzz_size(self.program)

    def run(self, *, call: int = 0, **how: Any) -> dict[str, np.ndarray]:
        """``vyre.run`` with the arrays of a call; ``how`` are its keyword arguments."""
        return vyre.run(self.program, self.inputs(call=call), self.grid, **how)

    def to_json(self) -> str:
        """The case as text that ``from_json`` reads back."""
        arrays, *later = (
            [
                {"buffer": name, **({"zero_bytes": len(content)} if zeros else {"hex": content.hex()})}
                for name, content, zeros in call
            ]
            for call in self.calls
        )
        whole = {
            "seed": self.seed,
            "grid": list(self.grid),
            "arrays": arrays,
            **({"later": later} if later else {}),
            "program": self.program.to_text().split("\n"),
        }
        return json.dumps(whole, indent=1, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Case:
        """Read what ``to_json`` wrote. Raises ParseError."""
        try:
            whole = json.loads(text)
            calls = (whole["arrays"], *whole.get("later", ()))
            total = sum(_count(row["zero_bytes"]) for call in calls for row in call if "zero_bytes" in row)
            if total > _MOST_BYTES:
                raise ValueError(f"it asks for {total} zero bytes, at most {_MOST_BYTES} are made for a file")
            arrays, *later = (
                tuple(
                    (
                        row["buffer"],
                        bytes(row["zero_bytes"]) if "zero_bytes" in row else bytes.fromhex(row["hex"]),
                        "zero_bytes" in row,
                    )
                    for row in call
                )
                for call in calls
            )
            sizes = [(name, len(content)) for name, content, _ in arrays]
            for number, call in enumerate(later, 2):
                if [(name, len(content)) for name, content, _ in call] != sizes:
                    raise ValueError(f"call {number} binds other buffers or sizes than call 1")
            x, y, z = (_count(count, 1 << 32) for count in whole["grid"])
            program = vyre.parse("\n".join(whole["program"]))
            known = {decl.name for decl in program.buffers}
            for name, _ in sizes:
                if name not in known:
                    raise ValueError(f"the program has no buffer {shown(name)}")
            return cls(program, arrays, (x, y, z), whole.get("seed"), later=tuple(later))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ParseError(
                f"not a case of vyre.fuzz: {type(error).__name__}: {_short(error)}. "
                "Fix: give a file that `vyre fuzz` wrote."
            ) from None

    def __str__(self) -> str:
        lines = [self.program.to_text().rstrip("\n"), "", f"grid {' '.join(map(str, self.grid))}"]
        lines += map(_line, self.arrays)
        for number, (before, call) in enumerate(itertools.pairwise(self.calls), 2):
            changed = [_line(now) for was, now in zip(before, call, strict=True) if now != was]
            with_what = "other arrays:" if changed else "the arrays of the call before"
            lines += ["", f"call {number} with {with_what}", *changed]
        if self.planted is not None:
            lines.append(f"planted {self.planted.name} at {', '.join(self.planted.statements)}")
        return "\n".join(lines)

    def _tuple(self) -> tuple[Any, ...]:
        return (self.program, self.arrays, self.grid, self.later)


def _case(made: tuple[Any, ...], seed: int | None, planted: Planted | None = None) -> Case:
    program, arrays, grid, later = made
    return Case(program, arrays, grid, seed, planted, later)


def generate(
    seed: int,
    *,
    statements: int = 200,
    work: int = 60_000,
    clean: bool = False,
    plant: str | None = None,
    independent: bool = False,
) -> Case:
    """A random case, the same for the same arguments on every machine.

    Args:
        seed: from 0 to 2**64 - 1.
        statements: about the largest number of them.
        work: about how many instructions the reference may execute.
        clean: every access is in bounds and every element read was written before.
        plant: a defect, one of PLANTS, planted into a clean case.
        independent: invocations share nothing and mostly go the same way: without barriers, workgroup memory and
            atomics, and with several workgroups along x.

    Raises: ArgumentError.

    >>> generate(3, plant="same-value").planted.defect
    'race'
    """
    made, planted = _core._fuzz_generate(seed, statements, work, clean, independent, plant)
    return _case(made, seed, None if planted is None else Planted(*planted))


def rewrite(case: Case, how: str | int, seed: int = 0) -> Case | None:
    """A case that looks different and must give the same bytes.

    Args:
        how: one of REWRITES, or a number of rewrites of any kind.
        seed: decides the places.

    Returns: None where the program has no place for the rewrite.

    >>> rewrite(generate(3), "inline").program == generate(3).program
    False
    """
    made = _core._fuzz_rewrite(case._tuple(), how, seed)
    return None if made is None else _case(made, case.seed)


def reduce(case: Case, still_fails: Callable[[Case], bool], *, tries: int = 5000) -> Case:
    """A small case that still fails.

    Args:
        still_fails: asked about smaller cases, all valid; it must not change its mind.
        tries: how often it is asked at most.

    >>> smallest = reduce(generate(3), lambda case: "loop " in case.program.to_text())
    >>> smallest.statements()
    1
    """
    made, _ = _core._fuzz_reduce(case._tuple(), lambda candidate: bool(still_fails(_case(candidate, case.seed))), tries)
    return _case(made, case.seed)


def _count(value: object, end: int = 1 << 64) -> int:
    if type(value) is not int or not 0 <= value < end:
        raise ValueError(f"{shown(value)} is no count from 0 to {end - 1}")
    return value


def _short(error: Exception) -> str:
    text = first_line(error)
    return text if len(text) <= 160 else f"{text[:157]}..."


def _line(array: tuple[str, bytes, bool]) -> str:
    name, content, zeros = array
    return f"array {name}: {f'{len(content)} zero bytes' if zeros else _words(content)}"


def _words(content: bytes) -> str:
    """The u32 words of an array, a run of equal ones as one; Bytes may end within a word."""
    words = [int.from_bytes(content[at : at + 4], "little") for at in range(0, len(content), 4)]
    shown = []
    for value, run in itertools.groupby(words):
        times = len(list(run))
        shown.append(f"{value:#x}" + (f" x {times}" if times > 1 else ""))
        if len(shown) == 64:
            shown.append("...")
            break
    return f"{' '.join(shown)} ({len(content)} bytes)" if shown else "empty"
