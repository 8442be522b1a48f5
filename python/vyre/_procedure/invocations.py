"""Calls of procedures in the body of another one: each becomes an invocation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre._base.types import TYPES, number_of_bits
from vyre._kernel.parameters import _type_for
from vyre._procedure.arguments import argument_of, outs_of
from vyre._procedure.arrays import ProcedureArray
from vyre._procedure.core import core_procedure
from vyre._procedure.making import refuse_read_only
from vyre._procedure.recorder import calling_line
from vyre._procedure.sizes import Size, substituted
from vyre._procedure.steps import ArrayDecl, Invoke
from vyre.errors import ArgumentError, BindingError

if TYPE_CHECKING:
    from vyre._procedure.procedure import ProcedureFunction
    from vyre._procedure.recorder import Recorder
    from vyre._procedure.steps import Recorded

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
            raise ArgumentError(
                f"argument `{name}` of procedure `{function.name}` is given in a procedure, which runs as a whole. "
                f"Fix: give `{name}` to the outer procedure's call."
            )
    core_procedure(made)  # it has sizes of its own alone
    arrays: dict[str, ProcedureArray] = {}
    numbers: dict[str, Size | int] = {}
    for each in function._parameters:
        where = f"argument `{each.name}` of procedure `{function.name}`"
        if each.is_array:
            array = arrays[each.name] = recorder.array(given[each.name], where)
            if array._element is not each.element or len(array._shape) != each.axes:
                raise BindingError(
                    f"{where} must be an array of {each.element} with {each.axes} axes, got {array!r}. "
                    "Fix: pass another array, or a .view of it."
                )
            _refuse_raveled(array, where)
            if each.kind == "InOut":
                refuse_read_only(array, f"{where} is written, and {{}}", "copy it into an array of vyre.scratch")
        elif each.kind == "scalar":
            value = given[each.name]
            if isinstance(value, Size):
                numbers[each.name] = value
            else:
                numbers[each.name] = argument_of(function, each, value)

    elements = dict(made.numbers)

    def leaf(size: Size) -> Size | int:
        if size.op == "length":
            extent: Size | int = arrays[size.args[0].name]._shape[size.args[1]]
            return extent
        if size.op != "number":
            return size
        name = size.args[0]
        given, element = numbers[name], elements[name]
        if not isinstance(given, Size) and number_of_bits(element, given) < 0:
            raise ArgumentError(
                f"argument `{name}` of procedure `{function.name}` is {number_of_bits(element, given)}, and the shape "
                f"of a result depends on it. Fix: pass an integer from 0 to {TYPES[element].greatest}."
            )
        return given

    out = outs_of(function, made, options.get("out"))
    results: dict[int, ProcedureArray] = {}
    for decl, wanted in zip(made.outputs, out, strict=True):
        shape = tuple(substituted(each, leaf) for each in decl.shape)
        if wanted is None:
            new = ArrayDecl(decl.name, "scratch", decl.element, decl.axes, shape, line=calling_line())
            recorder.declare(new)
            results[id(decl)] = ProcedureArray(recorder, new, decl.element, shape)
            continue
        array = recorder.array(wanted, f"argument `out` of procedure `{function.name}`")
        if (
            array._element is not decl.element
            or len(array._shape) != decl.axes
            or array._decl.role in ("input", "table")
        ):
            raise BindingError(
                f"argument `out` of procedure `{function.name}` must be a writable array of {decl.element} with "
                f"{decl.axes} "
                f"axes, got {array!r}. Fix: pass vyre.scratch({_type_for(decl.element)}, ...)."
            )
        _refuse_raveled(array, f"argument `out` of procedure `{function.name}`")
        results[id(decl)] = array
    for decl in made._of_role("in_out"):
        results[id(decl)] = arrays[decl.name]
    bound = [arrays[decl.name] for decl in made._of_role("input", "in_out")]
    bound += [results[id(decl)] for decl in made.outputs]
    recorder.add(
        Invoke(
            made,
            tuple(each._part() for each in bound),
            tuple(numbers[name] for name, _ in made.numbers),
            calling_line(),
        )
    )
    kept = tuple(results[id(decl)] for decl in made.results)
    return kept[0] if len(kept) == 1 else kept or None
