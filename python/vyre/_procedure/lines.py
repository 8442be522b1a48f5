"""Which lines of the kernels of a procedure ran in a call: its steps run on the reference, with a mark in each line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._kernel.lines import marked
from vyre._kernel.tails import guarded
from vyre._procedure.check import Memory
from vyre._procedure.flat import call_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vyre._core import Program
    from vyre._kernel.kernel import Kernel
    from vyre._kernel.lines import Line, Marks
    from vyre._kernel.trace import Traced
    from vyre._procedure.procedure import ProcedureFunction
    from vyre._procedure.recorded import Trail

__all__ = ["lines_of_call"]

_NOTHING = "divergent-barrier"  # a check that costs nothing


def lines_of_call(
    function: ProcedureFunction,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    marked: Callable[[Kernel, dict[str, Any]], tuple[Traced, Marks]] = marked,
) -> set[Line]:
    """The lines of kernels that a call of a procedure runs, without those of the package; the arrays stay as they are.

    Args:
        kwargs: as for a call, without ``out=``, ``backend=`` and ``device=``.
        marked: gives a kernel with its marks for its constants.

    Raises: what the call raises for its arguments.
    """
    given = function._given(args, dict(kwargs))
    owner, call = f"procedure `{function.name}`", call_of(function, given, is_exact=True)
    constants = {each.name: given[each.name] for each in function._parameters if each.kind == "const"}
    kernels = _kernels(function._recorded(constants, is_exact=True).trail)
    memory, found = Memory(call), set()
    for step in call.steps:
        called = None if step.program is None else kernels.get(step.program)
        if called is None:
            memory.run(step, None, owner)
            continue
        kernel, constants, (axes, is_resident) = called
        made, marks = marked(kernel, constants)
        if axes:
            made = guarded(made, len(kernel._arrays), axes, is_resident=is_resident)
        arrays, written = memory.bound(step)
        words = np.zeros(max(len(marks.lines), 1), np.uint32)
        arrays, written = [*arrays, words.view(np.uint8)], [*written, None]
        _core._check_step(made.program, arrays, written, memory.groups(step), None, 0, None, _NOTHING, 1, owner)
        found |= marks.seen(words)
    return found


def _kernels(trail: Trail | None) -> dict[Program, tuple[Kernel, dict[str, Any], tuple[tuple[int, ...], bool]]]:
    """The kernels behind the programs of a procedure and of those that it calls; not those of the package."""
    found: dict[Program, tuple[Kernel, dict[str, Any], tuple[tuple[int, ...], bool]]] = {}
    open_ = [trail]
    for each in open_:
        if each is not None:
            open_ += [made.trail for made in each.invoked.values()]
            found.update(each.kernels)
    return {program: made for program, made in found.items() if not f"{made[0].__module__}.".startswith("vyre.")}
