"""Cases: a program with what one run of it needs. The work is done in C++; what is here gives it Python's types."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import _core
from vyre.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Callable

# Generated programs call operations of their own, which whoever runs one must know.
_core._fuzz_register()

PLANTS: dict[str, str] = {name: meaning for name, _, meaning in _core._fuzz_plants}
"""The defects that can be planted: name -> meaning."""

REWRITES: dict[str, tuple[str, str]] = {name: (meaning, when) for name, meaning, when in _core._fuzz_rewrites}
"""The rewrites that keep the bytes: name -> meaning, and what must hold where they are done."""

_DTYPES = {"U32": np.uint32, "I32": np.int32, "U64": np.uint64, "Bool": np.uint32, "Bytes": np.uint8}


@dataclass(frozen=True)
class Planted:
    """A defect that was planted on purpose.

    Attributes:
        name: one of PLANTS.
        defect: what a checker has to call it: "race", "out-of-bounds", "uninitialised", "divergent-barrier" or
            "order-dependence".
        statements: the paths of the statements that take part, like ``entry[2].then[0]``.
        buffer: the memory it happens on; empty for a barrier.
    """

    name: str
    defect: str
    statements: tuple[str, ...]
    buffer: str


@dataclass(frozen=True)
class Case:
    """A program with the arrays and the grid of one run.

    Attributes:
        program: a Program.
        arrays: (buffer, bytes, zeros) of each buffer that is not Workgroup, in order; ``zeros`` says that the host
            gives a number of zero elements instead.
        grid: workgroups along x, y, z.
        seed: what it was generated from, if it was.
        planted: the defect, if one was asked for.
    """

    program: vyre.Program
    arrays: tuple[tuple[str, bytes, bool], ...]
    grid: tuple[int, int, int]
    seed: int | None = None
    planted: Planted | None = None

    def inputs(self, *, arrays: bool = False) -> dict[str, np.ndarray | int]:
        """What ``vyre.run`` takes: name -> array, or a number of zero elements.

        Args:
            arrays: arrays of zeros in place of these numbers.
        """
        elements = {decl.name: decl.element for decl in self.program.buffers}
        result: dict[str, np.ndarray | int] = {}
        for name, content, zeros in self.arrays:
            element = elements[name].name
            if zeros and not arrays:
                result[name] = len(content) // (elements[name].min_bytes() or 1)
            elif element.startswith("Vec"):
                result[name] = np.frombuffer(content, np.uint32).reshape(-1, int(element[3])).copy()
            else:
                result[name] = np.frombuffer(content, _DTYPES[element]).copy()
        return result

    def statements(self) -> int:
        """How many statements the program has, those inside others counted."""
        return _core._fuzz_size(self.program)

    def run(self, **how: Any) -> dict[str, np.ndarray]:
        """``vyre.run`` with these arrays; ``how`` are its keyword arguments."""
        return vyre.run(self.program, self.inputs(), self.grid, **how)

    def to_json(self) -> str:
        """The case as text that ``from_json`` reads back."""
        arrays = [
            {"buffer": name, **({"zero_bytes": len(content)} if zeros else {"hex": content.hex()})}
            for name, content, zeros in self.arrays
        ]
        whole = {
            "seed": self.seed,
            "grid": list(self.grid),
            "arrays": arrays,
            "program": self.program.to_text().split("\n"),
        }
        return json.dumps(whole, indent=1, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Case:
        """Read what ``to_json`` wrote. Raises ParseError."""
        try:
            whole = json.loads(text)
            arrays = tuple(
                (
                    row["buffer"],
                    bytes(row["zero_bytes"]) if "zero_bytes" in row else bytes.fromhex(row["hex"]),
                    "zero_bytes" in row,
                )
                for row in whole["arrays"]
            )
            x, y, z = (int(count) for count in whole["grid"])
            return cls(vyre.parse("\n".join(whole["program"])), arrays, (x, y, z), whole.get("seed"))
        except (ValueError, KeyError, TypeError) as error:
            raise ParseError(
                f"not a case of vyre.fuzz: {type(error).__name__}: {error}. Fix: give a file that `vyre fuzz` wrote."
            ) from error

    def __str__(self) -> str:
        lines = [self.program.to_text().rstrip("\n"), "", f"grid {' '.join(map(str, self.grid))}"]
        for name, content, zeros in self.arrays:
            lines.append(f"array {name}: {f'{len(content)} zero bytes' if zeros else _words(content)}")
        if self.planted is not None:
            lines.append(f"planted {self.planted.name} at {', '.join(self.planted.statements)}")
        return "\n".join(lines)

    def _tuple(self) -> tuple[Any, ...]:
        return (self.program, self.arrays, self.grid)


@dataclass(frozen=True)
class Settings:
    """How the programs of a sweep are made.

    Attributes:
        statements, work, clean, independent: as ``generate`` takes them.
        rewrites: as many rewrites that keep the bytes are done to each program before it is run; 0 leaves it as it is.
        checked: whether checked execution runs the program, instead of ways; it must find what was planted, where it
            was planted, and nothing else.
        plant: a defect, one of PLANTS, for a checked run.
    """

    statements: int = 200
    work: int = 60_000
    clean: bool = False
    rewrites: int = 0
    checked: bool = False
    plant: str | None = None
    independent: bool = False

    def case(self, seed: int) -> tuple[Case, Case | None]:
        """The case of a seed, and what is run in its place if that is another one."""
        case = generate(
            seed,
            statements=self.statements,
            work=self.work,
            clean=self.clean,
            plant=self.plant,
            independent=self.independent,
        )
        return case, rewrite(case, self.rewrites, seed) if self.rewrites else None


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
    (program, arrays, grid), planted = _core._fuzz_generate(seed, statements, work, clean, independent, plant)
    if planted is not None:
        planted = Planted(*planted)
    return Case(program, arrays, grid, seed, planted)


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
    return None if made is None else Case(*made, case.seed)


def reduce(case: Case, still_fails: Callable[[Case], bool], *, tries: int = 5000) -> Case:
    """A small case that still fails.

    Args:
        still_fails: asked about smaller cases, all valid; it must not change its mind.
        tries: how often it is asked at most.

    >>> smallest = reduce(generate(3), lambda case: "loop " in case.program.to_text())
    >>> smallest.statements()
    1
    """
    made, _ = _core._fuzz_reduce(case._tuple(), lambda candidate: bool(still_fails(Case(*candidate, case.seed))), tries)
    return Case(*made, case.seed)


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
