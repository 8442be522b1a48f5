"""A time-out that the tail of a grid may have caused: invocations that rounding up to whole workgroups adds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from vyre._kernel.parts import parts_of
from vyre._kernel.values import FOREVER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre._core import Program
    from vyre._kernel.launch import Launch
    from vyre._kernel.parts import Parts
    from vyre.errors import DispatchTimeoutError

__all__ = ["with_tail"]

_COMPARISONS = ("Lt", "Le", "Gt", "Ge")


def with_tail(launch: Launch, error: DispatchTimeoutError) -> DispatchTimeoutError:
    """The error, which names the tail where it runs a `while` that its zeros may keep from ending."""
    program = launch.traced.program
    if launch.grid is None or f"..{FOREVER} {{" not in program.to_text() or _are_guarded(program):
        return error
    asked = [*launch.asked(), 1, 1][:3]
    run = [count * extent for count, extent in zip(launch.workgroups, program.workgroup_size, strict=True)]
    beyond = math.prod(run) - math.prod(asked)
    axis = next((k for k in range(3) if run[k] > asked[k]), None)
    if axis is None:
        return error
    problem, _, fix = str(error).partition(". Fix: ")
    return type(error)(
        f"{problem}; {beyond} of the {math.prod(run)} invocations are beyond the grid, which is rounded up to whole "
        f"workgroups, and a `while` of {launch.label} may never end on the zeros that they load. "
        f"Fix: leave them out in the kernel with `if vyre.gid({axis}) < vyre.grid_size({axis}):`, or {fix}"
    )


def _are_guarded(program: Program) -> bool:
    """Whether each `while` stands under a comparison of a grid index, which leaves out invocations beyond a grid."""
    found = parts_of(program)
    values: dict[str, int] = {}  # what each variable begins as
    open_ = [(found.body, False)]
    while open_:
        statements, is_guarded = open_.pop()
        for each in statements:
            if each.kind == "Let":
                values[each.name] = each.exprs[0]
            if each.kind == "Loop" and not is_guarded:
                last = found.exprs[each.exprs[1]]
                if last.value == FOREVER and not last.operands:
                    return False
            compares = each.kind == "If" and _compares_index(found, each.exprs[0], values)
            open_.extend((block, is_guarded or compares) for block in (each.body, each.otherwise))
            # The rest of the block runs where the branch was not taken.
            if compares and each.body and each.body[-1].kind == "Return":
                is_guarded = True
    return True


def _compares_index(found: Parts, condition: int, values: Mapping[str, int]) -> bool:
    """Whether a comparison in the condition has an index in the grid, or a variable that holds one, as an operand."""
    open_, seen = [condition], set()
    while open_:
        number = open_.pop()
        if number in seen:
            continue
        seen.add(number)
        each = found.exprs[number]
        if each.name in _COMPARISONS and each.kind == "Binary":
            if any(_is_index(found, operand, values) for operand in each.operands):
                return True
        elif each.kind == "Var" and each.name in values:
            open_.append(values[each.name])
        open_.extend(each.operands)
    return False


def _is_index(found: Parts, number: int, values: Mapping[str, int]) -> bool:
    seen = set()
    while found.exprs[number].kind == "Var" and number not in seen:
        seen.add(number)
        number = values.get(found.exprs[number].name, number)
    return found.exprs[number].kind == "GridId" and found.exprs[number].name == "gid"
