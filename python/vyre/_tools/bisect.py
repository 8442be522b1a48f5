"""First divergence: where two backends that disagree began to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from vyre import _core
from vyre._arrays import inputs as _inputs
from vyre._base.calls import explain_calls
from vyre._base.refused import no_place
from vyre._kernel.kernel import Kernel
from vyre._procedure.flat import named_call
from vyre._procedure.procedure import ProcedureFunction
from vyre._tools.called import of_kernel
from vyre._tools.procedure_bisect import bisect_call
from vyre._tools.program_bisect import bisected, ways_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre._core import Procedure, Program
    from vyre._tools.divergence import Divergence
    from vyre._tools.procedure_bisect import ProcedureDivergence
    from vyre._tools.ways import Way

__all__ = ["bisect"]


@overload
def bisect(
    program: Program | Kernel,
    inputs: Mapping[str, Any],
    workgroups: int | Sequence[int] | None = None,
    *,
    backend: Way | None = None,
    against: Way = "reference",
    timeout: float | None = None,
) -> Divergence | None: ...
@overload
def bisect(
    program: ProcedureFunction | Procedure,
    inputs: Mapping[str, Any],
    workgroups: None = None,
    *,
    backend: Way | None = None,
    against: Way = "reference",
    timeout: float | None = None,
) -> ProcedureDivergence | None: ...
def bisect(
    program: Program | Kernel | ProcedureFunction | Procedure,
    inputs: Mapping[str, Any],
    workgroups: int | Sequence[int] | None = None,
    *,
    backend: Way | None = None,
    against: Way = "reference",
    timeout: float | None = None,
) -> Divergence | ProcedureDivergence | None:
    """Find the first value that two backends compute differently.

    Runs the program on both. When an output differs, runs a program that does the same and records what it computes
    and what its stores and atomics leave in memory, some tens of times on each, and narrows the difference down to one
    invocation and one expression. Where all of this agrees, it lets stores and atomics happen one after the other, and
    names the first one that makes the outputs differ.

    A kernel or a procedure takes its arguments by name as ``inputs``. What is found of a procedure is the first of its
    steps after which the arrays differ, and in the dispatch of this step the first value.

    Args:
        program, inputs, workgroups: as for ``vyre.check``.
        backend: the backend to look at, None for the best one here: a name, a Device, the keyword arguments of
            ``vyre.run`` as a dict (``{"backend": "vulkan", "optimize": False}``), or a function of (program, inputs,
            workgroups) that gives the ReadWrite buffers by name.
        against: what it is compared with, likewise.
        timeout: seconds that each dispatch may take; None waits for ever. Functions do not get it.

    Returns: a Divergence, or for a procedure a ProcedureDivergence; None when all outputs are equal.

    Raises: what ``vyre.run`` raises, and ArgumentError for a grid of more than 2^26 invocations.

    Source: semantics, "Evaluation".

    >>> import vyre
    >>> from vyre import BufferDecl, Expr, Node
    >>> program = vyre.parse('''vyre 1
    ... workgroup_size 4 1 1
    ... buffer out: read_write u32 binding 0 output
    ...
    ... let x = gid.x * 3
    ... out[gid.x] = popcount(x) + 1
    ... ''')
    >>> def wrong(program, inputs, workgroups):
    ...     broken = vyre.parse(program.to_text().replace("popcount", "clz"))
    ...     return vyre.run(broken, inputs, workgroups, backend="reference")
    >>> print(bisect(program, {"out": 4}, 1, backend=wrong))
    wrong and reference first differ in invocation (0, 0, 0) of workgroup (0, 0, 0), after 0 barriers:
      at          entry[1].value.left
      statement   out[gid.x] = popcount(x) + 1
      expression  popcount(x)
      wrong       32 (0x20)
      reference   0 (0x0)
      output      out[0]: wrong 33, reference 1
    >>> bisect(program, {"out": 4}, 1, backend="cpu") is None
    True
    """
    if isinstance(program, (ProcedureFunction, _core.Procedure)):
        if workgroups is not None:
            raise no_place("argument `workgroups` of vyre.bisect", "for a procedure")
        named = _inputs.named(inputs, "vyre.bisect")
        kept = _inputs.copied(named, "vyre.bisect")
        return bisect_call(
            lambda name, device: named_call(program, kept, "vyre.bisect", name, device), backend, against, timeout
        )
    if isinstance(program, Kernel):
        named = _inputs.named(inputs, "vyre.bisect")
        program, inputs, workgroups = of_kernel(program, named, workgroups, "vyre.bisect")
    groups = _core._grid(workgroups, "vyre.bisect")
    inputs = _inputs.named(inputs, "vyre.bisect")
    return bisected(program, inputs, groups, ways_of(backend, against, timeout), timeout)


explain_calls(globals())
