"""Which programs or procedures a sweep generates; settings make the case of a seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vyre.fuzz.case import generate, rewrite
from vyre.fuzz.procedures.generate import generate as generate_procedure

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """How the programs of a sweep are made.

    Attributes:
        statements, work, clean, independent: as ``generate`` takes them.
        rewrites: as many rewrites that keep the bytes are done to each program before it is run; 0 leaves it as it is.
        checked: whether checked execution runs the program, instead of ways; it must find what was planted, where it
            was planted, and nothing else.
        plant: a defect, one of PLANTS, for a checked run.
        procedures: procedures instead of programs; no other setting is about them.
    """

    statements: int = 200
    work: int = 60_000
    clean: bool = False
    rewrites: int = 0
    checked: bool = False
    plant: str | None = None
    independent: bool = False
    procedures: bool = False

    def case(self, seed: int) -> tuple[Any, Any]:
        """The case of a seed, and what is run in its place if that is another one."""
        if self.procedures:
            return generate_procedure(seed), None
        case = generate(
            seed,
            statements=self.statements,
            work=self.work,
            clean=self.clean,
            plant=self.plant,
            independent=self.independent,
        )
        return case, rewrite(case, self.rewrites, seed) if self.rewrites else None
