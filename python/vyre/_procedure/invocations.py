"""Calls of procedures in the body of another one: each becomes an invocation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre._base.refused import IN_PROCEDURE, must_be, no_place
from vyre._base.types import TYPES, number_of_bits
from vyre._procedure.arguments import argument_of, outs_of
from vyre._procedure.making import refuse_read_only
from vyre._procedure.recorder import calling_line
from vyre._procedure.sizes import Size, limit, substituted
from vyre.errors import BindingError

if TYPE_CHECKING:
    from vyre._procedure.arrays import ProcedureArray
    from vyre._procedure.procedure import ProcedureFunction
    from vyre._procedure.recorded import Recorded
    from vyre._procedure.recorder import Recorder

__all__ = ["invoke"]


def _refuse_raveled(array: ProcedureArray, where: str) -> None:
    if len(array._shape) != array._decl.axes:
        raise BindingError(
            f"{where} is `{array._decl.name}` of {array._decl.axes} axes, seen on one axis, and a procedure takes "
            "arrays with their own axes. Fix: copy it into an array of one axis with a kernel, which takes .ravel()."
        )


def invoke(
    function: ProcedureFunction, recorder: Recorder, made: Recorded, given: dict[str, Any], options: dict[str, Any]
) -> Any:
    """Record a call of a procedure as an invocation; its results are new arrays, or those of `out=`."""
    for name in ("backend", "device", "timeout"):
        if options.get(name) is not None:
            raise no_place(f"argument `{name}` of procedure `{function.name}`", IN_PROCEDURE)
    arrays: dict[str, ProcedureArray] = {}
    numbers: dict[str, Size | int] = {}
    for each in function._parameters:
        where = f"argument `{each.name}` of procedure `{function.name}`"
        if each.is_array:
            array = arrays[each.name] = recorder.array(given[each.name], where)
            if array._element is not each.element or len(array._shape) != each.axes:
                raise must_be(where, f"an array of {each.element} with {each.axes} axes", f"{array!r}", BindingError)
            _refuse_raveled(array, where)
            if each.kind == "InOut":
                refuse_read_only(array, f"{where} is written, and {{}}", "copy it into an array of vyre.scratch")
        elif each.kind == "scalar":
            value = given[each.name]
            if isinstance(value, Size):
                numbers[each.name] = value
            else:
                numbers[each.name] = argument_of(function, each, value)

    shapes, terms = made.shapes
    names = {index: decl.name for decl, (index, _) in zip(made.arrays, shapes, strict=True)}

    def leaf(op: str, operands: tuple[Any, ...]) -> Size | int:
        if op == "length":
            extent: Size | int = arrays[names[operands[0]]]._shape[operands[1]]
            return extent
        if op == "limit":
            return limit(*operands)
        name, element = made.numbers[operands[0]]
        given = numbers[name]
        if not isinstance(given, Size) and number_of_bits(element, given) < 0:
            where = f"argument `{name}` of procedure `{function.name}`, on which the shape of a result depends,"
            wanted = f"an integer from 0 to {TYPES[element].greatest}"
            raise must_be(where, wanted, number_of_bits(element, given))
        return given

    sizes = substituted(terms, leaf)
    out = outs_of(function, made, options.get("out"))
    results = {decl.name: arrays[decl.name] for decl in made._of_role("input", "in_out")}
    for decl, (_, shape), wanted in zip(made.outputs, shapes[len(results) :], out, strict=True):
        if wanted is None:
            extents = tuple(sizes[each] for each in shape)
            results[decl.name] = recorder.declare(decl.name, "scratch", decl.element, extents, line=calling_line())
            continue
        array = recorder.array(wanted, f"argument `out` of procedure `{function.name}`")
        if (
            array._element is not decl.element
            or len(array._shape) != decl.axes
            or array._decl.role in ("input", "table")
        ):
            raise must_be(
                f"argument `out` of procedure `{function.name}`",
                f"a writable array of {decl.element} with {decl.axes} axes",
                f"{array!r}",
                BindingError,
            )
        _refuse_raveled(array, f"argument `out` of procedure `{function.name}`")
        results[decl.name] = array
    recorder.step(
        calling_line(),
        recorder.made.invoke,
        made.core,
        [each._part() for each in results.values()],
        [recorder.used(numbers[name]) for name, _ in made.numbers],
    )
    recorder.trail.invoked[len(recorder.trail.steps) - 1] = made
    kept = tuple(results[decl.name] for decl in made.results)
    return kept[0] if len(kept) == 1 else kept or None
