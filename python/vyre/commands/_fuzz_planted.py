"""``vyre fuzz --planted``: whether checked execution finds each kind of defect, and nothing in programs without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre._base.refused import must_be_one_of, no_place
from vyre.commands._fuzz_lines import say

if TYPE_CHECKING:
    import argparse

    from vyre.fuzz import Row, Settings

__all__ = ["run_planted"]


def run_planted(chosen: argparse.Namespace) -> int:
    """Programs with each defect, and two kinds without one, through checked execution."""
    from vyre import fuzz

    for name in (
        *("backend", "device", "against", "seconds", "log", "resume"),
        *("rewrites", "clean", "independent", "combinations", "json"),
    ):
        if getattr(chosen, name) not in (None, False, 0):
            raise no_place(f"--{name}", "with --planted")
    kinds: dict[str, Settings] = {
        name: fuzz.Settings(statements=chosen.statements, checked=True, plant=name) for name in fuzz.PLANTS
    }
    # Clean programs must be found clean. Race-free ones may leave their buffers and read elements before a write.
    kinds["clean"] = fuzz.Settings(statements=chosen.statements, checked=True, clean=True)
    kinds["race-free"] = fuzz.Settings(statements=chosen.statements, checked=True)
    if chosen.planted != "all":
        if chosen.planted not in kinds:
            raise must_be_one_of("--planted", ["all", *kinds], chosen.planted)
        kinds = {chosen.planted: kinds[chosen.planted]}
    count = 1000 if chosen.count is None else chosen.count
    first = chosen.seed or 0
    print(f"{'planted':<24}{'programs':>9}{'right':>9}{'wrong':>9}")
    wrong: list[tuple[str, Row]] = []
    for name, settings in kinds.items():
        rows = [row for some in fuzz.sweep([], settings, first, count, jobs=chosen.jobs) for row in some]
        bad = [row for row in rows if row.wrong]
        print(f"{name:<24}{len(rows):>9,}{len(rows) - len(bad):>9,}{len(bad):>9,}", flush=True)
        wrong += [(name, row) for row in bad[:1]]
    for name, row in wrong:
        print()
        say(row.verdict, f"seed {row.seed} of {name}: {row.message}")
        print(f"\n{kinds[name].case(row.seed)[0]}\n")
        say("repeat", f"vyre fuzz --planted {name} --seed {row.seed} --count 1")
    return 1 if wrong else 0
