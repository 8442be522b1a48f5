"""The notes about a kernel, in words of kernels; ``Program.notes`` finds them."""

from __future__ import annotations

import ast
import math
import re
from typing import TYPE_CHECKING, Any

from vyre import _core
from vyre._diagnostics import Diagnostics
from vyre._kernel.launch import DataGrid
from vyre._kernel.user_terms import source_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vyre._core import Diagnostic, Program
    from vyre._kernel.launch import Launch

__all__ = ["in_words_of_kernels", "notes_of"]


def notes_of(program: Program, launch: Launch | None = None) -> Diagnostics:
    """The notes about a kernel's program, or about a call."""
    about: dict[str, Any] = {}
    if launch is not None:
        about["lengths"] = {name: math.prod(shape) for name, shape in launch.shapes.items()}
        # The counts in an array are those that it holds when the call runs.
        about["workgroups"] = None if isinstance(launch.workgroups, DataGrid) else launch.workgroups
    return in_words_of_kernels(program.notes(**about))


def in_words_of_kernels(notes: Iterable[Diagnostic]) -> Diagnostics:
    """The notes about a kernel's program, in words of kernels."""
    return Diagnostics([_in_words_of_kernels(each) for each in notes])


def _in_words_of_kernels(note: Diagnostic) -> Diagnostic:
    message, hint = note.message, note.hint
    if note.rule == "N003":
        hint = "write vyre.i32(x) for the value x that is compared, which reads its bits as a signed number."
    elif note.rule == "N005":
        buffer = note.message.split("`")[1]
        atomic = re.search(r"Expr\.(atomic_\w+)\(", hint)
        hint = f"write {buffer}.{atomic[1]}(index, value) instead of this statement." if atomic else ""
    elif note.rule == "N007":
        message, hint = _with_users_name(note)
    return _core._diagnostic_from_state(note.rule, message.encode(), note.place, hint.encode())


def _with_users_name(note: Diagnostic) -> tuple[str, str]:
    """The sentence and the hint about a bound that wraps around, with its minuend as the call of `range` has it."""
    of_program, by = re.findall(r"`(.+) - (\d+)`", note.message)[0]
    bounds = source_of(note.place)
    differences = [] if bounds is None else [each for each in ast.walk(bounds) if isinstance(each, ast.BinOp)]
    written = [ast.unparse(each.left) for each in differences if ast.unparse(each).endswith(f" - {by}")]
    name = (written or [of_program.replace("buf_len(", "len(")])[0]

    def named(text: str) -> str:
        for before, after in (("`", " - "), ("where ", " is"), ("max(", ", "), ("place of ", "."), (" for ", ".")):
            text = text.replace(before + of_program + after, before + name + after)
        return text

    return named(note.message), named(note.hint).replace("Expr.max", "vyre.max")
