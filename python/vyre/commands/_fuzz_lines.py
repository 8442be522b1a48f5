"""The lines that ``vyre fuzz`` prints: a word that says what a line is about, and the rest in a column of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

__all__ = ["say", "shortened", "what_runs"]


def what_runs(chosen: argparse.Namespace) -> str:
    return "procedures" if chosen.procedures else "programs"


def say(what: str, text: str) -> None:
    print(f"{what:<12}{text}", flush=True)


def shortened(text: str) -> str:
    return text if len(text) <= 160 else text[:157] + "..."
