"""The progress bars of ``vyre fuzz``, which are drawn where tqdm is installed and the output is a terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import vyre
from vyre._base.refused import not_installed

if TYPE_CHECKING:
    import argparse

    from vyre.commands._fuzz_sweep import Sweep

__all__ = ["SweepBar", "TriesBar"]


def _tqdm(forced: bool) -> Any:
    """tqdm where it is installed; it stays silent where the output is no terminal."""
    try:
        from tqdm import tqdm
    except ImportError:
        if forced:
            raise vyre.ArgumentError(not_installed("--progress", "tqdm", "fuzz")) from None
        return None
    return tqdm


class SweepBar:
    """How far a sweep is: in programs when their number is known, else in seconds."""

    def __init__(self, run: Sweep, count: int | None, seconds: float | None) -> None:
        self._run, self._seconds = run, seconds if count is None else None
        self._start = time.monotonic()
        tqdm = _tqdm(run.chosen.progress)
        self._bar = None
        if tqdm is None:
            return
        common = {"desc": "fuzz", "disable": False if run.chosen.progress else None, "leave": False, "smoothing": 0.1}
        if self._seconds is None:
            assert count is not None
            self._bar = tqdm(total=run.done + count, initial=run.done, unit=" programs", **common)
        else:
            self._bar = tqdm(
                total=round(self._seconds),
                bar_format="{desc}: {percentage:3.0f}%|{bar}| {n:.0f} of {total} s{postfix}",
                **common,
            )

    def __enter__(self) -> SweepBar:
        return self

    def show(self) -> None:
        if self._bar is None:
            return
        run = self._run
        seconds = time.monotonic() - self._start
        shown = f"{run.verdicts['refused']:,} refused, {len(run.wrong):,} wrong"
        if self._seconds is None:
            now = run.done
        else:
            now = min(seconds, self._bar.total)
            shown = f"{run.done:,} programs, {(run.done - run.before) / seconds:,.0f}/s, {shown}"
        self._bar.set_postfix_str(shown, refresh=False)
        self._bar.update(now - self._bar.n)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


class TriesBar:
    """How many programs reducing one has run."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        tqdm = _tqdm(chosen.progress)
        self._bar = None
        if tqdm is not None:
            self._bar = tqdm(desc="reducing", unit=" tries", disable=False if chosen.progress else None, leave=False)

    def __enter__(self) -> TriesBar:
        return self

    def show(self) -> None:
        if self._bar is not None:
            self._bar.update()

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
