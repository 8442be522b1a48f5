"""How often things happen in a call of a kernel: counts that are exact or the most there can be, and their sums."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vyre._base.calls import explain_calls

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["CostLoop", "Count", "Totals", "sum_of"]


@dataclass(frozen=True)
class Count:
    """How often something happens in a call.

    Attributes:
        most: never more often than this.
        exact: whether it is this often, whatever the arrays hold.
    """

    most: int
    exact: bool

    def __str__(self) -> str:
        return f"{self.most:,}" if self.exact else f"at most {self.most:,}"


@dataclass(frozen=True)
class CostLoop:
    """A loop of a kernel that runs on the device.

    Attributes:
        file, line: where it stands; None where that is unknown.
        turns: all of its turns in the call; None where no bound is proven.
        within: the line of the loop without a proven bound around it, whose one turn has these turns; None without one.
        why: what the bound depends on, where none is proven.
        operations, loaded, stored, atomics: for a loop without a proven bound, what one turn of one invocation adds,
            less the loops without one in it.
    """

    file: str | None
    line: int | None
    turns: Count | None
    within: int | None
    why: str
    operations: dict[str, Count]
    loaded: dict[str, Count]
    stored: dict[str, Count]
    atomics: dict[str, Count]


_GROUPS = ("operations", "loaded", "stored", "atomics")


def sum_of(counts: Iterable[Count]) -> Count:
    each = list(counts)
    return Count(sum(count.most for count in each), all(count.exact for count in each))


@dataclass
class Totals:
    counts: dict[tuple[str, str], list[Any]] = field(default_factory=dict)  # [most, whether exact]

    def add(self, group: str, name: str, most: int, exact: bool) -> None:
        known = self.counts.setdefault((group, name), [0, True])
        known[0] += most
        known[1] = known[1] and exact

    def add_all(self, other: Totals) -> None:
        for (group, name), (most, exact) in other.counts.items():
            self.add(group, name, most, exact)

    def either(self, other: Totals, exact: bool) -> Totals:
        """Return the most that happens where one of the two happens, for each invocation."""
        made = Totals()
        for key in {**self.counts, **other.counts}:
            a, b = self.counts.get(key, [0, True]), other.counts.get(key, [0, True])
            made.counts[key] = [max(a[0], b[0]), exact and a[1] and b[1] and a[0] == b[0]]
        return made

    def groups(self, bytes_of: Mapping[str, int]) -> list[dict[str, Count]]:
        found: dict[str, dict[str, Count]] = {group: {} for group in _GROUPS}
        for (group, name), (most, exact) in self.counts.items():
            size = bytes_of[name] if group in ("loaded", "stored") else 1
            if most and group in found:
                found[group][name] = Count(most * size, exact)
        return [dict(sorted(found[group].items(), key=lambda row: -row[1].most)) for group in _GROUPS]


explain_calls(globals(), "vyre")
