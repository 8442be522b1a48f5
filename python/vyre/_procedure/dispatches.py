"""Calls of kernels in the body of a procedure: each becomes a dispatch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre._arrays.given import bits_given
from vyre._base.refused import IN_PROCEDURE, must_be, must_have, no_place
from vyre._base.taken import note_taken
from vyre._base.text import as_count, shown
from vyre._base.types import word_of
from vyre._core import DataType
from vyre._kernel.arguments import without_shape
from vyre._kernel.exact import axes_beyond, axes_of_resident
from vyre._kernel.launch import default_grid, given_and_options, unknown_size, without_at_most
from vyre._kernel.tails import guarded
from vyre._kernel.words import MOST
from vyre._procedure.arrays import ProcedureArray
from vyre._procedure.making import scratch, written
from vyre._procedure.recorder import calling_line
from vyre._procedure.sizes import SIZES, Size, as_size, ceil_div, known_difference, size_min
from vyre.errors import ArgumentError, BindingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre._kernel.kernel import Kernel
    from vyre._kernel.words import Word
    from vyre._procedure.recorder import Recorder

__all__ = ["record_kernel"]


def record_kernel(recorder: Recorder, kernel: Kernel, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Record a call of a kernel as a dispatch."""
    given, options = given_and_options(kernel, args, kwargs)
    for name in ("backend", "device", "optimize", "timeout"):
        if options.get(name) is not None:
            raise no_place(f"argument `{name}` of kernel `{kernel.__name__}`", IN_PROCEDURE)
    constants = {each.name: given[each.name] for each in kernel._constants}
    traced = kernel._traced(constants)
    note_taken(traced.captured.all)
    arrays = _arrays(recorder, kernel, given)
    size = traced.program.workgroup_size
    grid, counts, asked = _grid(recorder, kernel, size, arrays, options)
    is_resident = counts is not None and options.get("grid") is not None
    axes: tuple[int, ...] = ()
    if is_resident and not kernel._is_of_std:
        axes = axes_of_resident(kernel, traced)
    if asked is not None and options.get("workgroups") is None and not kernel._is_of_std:
        shapes = {name: array._shape for name, array in arrays.items()}

        def refuse(error: ArgumentError, axis: int) -> None:
            is_whole = as_size(asked[axis], "grid") % size[axis] == 0
            recorder.step(calling_line(), recorder.made.require, recorder.used(is_whole), str(error))

        is_given = options.get("grid") is not None
        axes = axes_beyond(
            kernel,
            traced,
            shapes,
            asked,
            known_difference,
            is_given=is_given,
            is_exact=recorder.is_exact,
            refuse=refuse,
        )
    if axes:
        traced = guarded(traced, len(kernel._arrays), axes, is_resident=is_resident)

    def word_of_call(word: Word) -> Any:
        parameter, part = word
        if parameter is not None and parameter.is_array:
            return arrays[parameter.name]._shape[part]
        if parameter is not None:
            return _word(recorder, kernel, word, given[parameter.name])
        if part >= MOST:
            return size_min(_counts(options["at_most"], kernel, "at_most")[part - MOST], 2**32 - 1)
        if asked is None:
            raise unknown_size(kernel)
        return asked[part] if part < len(asked) else 1

    words = [word_of_call(word) for word in traced.layout]
    bound: list[Any] = []  # for each buffer that the program binds, a part of an array, or words
    for each in kernel._arrays:
        array = arrays[each.name]
        if each.kind == "In":
            bound.append(array._part())
            continue
        is_read = any(array._decl is arrays[other.name]._decl for other in kernel._arrays if other is not each)
        bound.append(written(array, f"kernel `{kernel.__name__}`", is_read))
    if words:
        bound.append([recorder.used(each) for each in words])
    if counts is not None and is_resident and axes:
        bound.append(counts._part())
    for name, values in traced.tables.items():
        bound.append(recorder.table(values, name.strip("_") or "table")._part())
    recorder.step(
        calling_line(),
        recorder.made.dispatch,
        kernel.__name__,
        traced.program,
        bound,
        [recorder.used(each) for each in grid],
        None if counts is None else counts._part(),
        is_resident,
        recorder.word_uses(tuple(map(_use_of, traced.layout))),
    )
    recorder.trail.kernels[traced.program] = kernel, constants, (axes, is_resident)
    results = [arrays[each.name] for each in kernel._arrays if each.kind != "In"]
    return results[0] if len(results) == 1 else tuple(results) or None


def _arrays(recorder: Recorder, kernel: Kernel, given: dict[str, Any]) -> dict[str, ProcedureArray]:
    arrays: dict[str, ProcedureArray] = {}
    for each in kernel._arrays:
        if each.name not in given:
            continue
        where = f"argument `{each.name}` of kernel `{kernel.__name__}`"
        array = arrays[each.name] = recorder.array(given[each.name], where)
        if array._element is not each.element:
            raise must_have(where, f"elements of {each.element}", f"{array!r}", BindingError)
        if len(array._shape) != each.axes:
            raise must_have(where, f"{each.axes} axes", f"{array!r}", BindingError)
    for each in kernel._arrays:
        if each.name in arrays:
            continue
        like = next((arrays[o.name] for o in kernel._arrays if o.axes == each.axes and o.name in arrays), None)
        if like is None:
            raise without_shape(kernel, each)
        assert each.element is not None
        arrays[each.name] = scratch(each.element, *like._shape, name=each.name)
    return arrays


def _word(recorder: Recorder, kernel: Kernel, word: Word, value: Any) -> Any:
    """A word of a number or of a size. The core refuses a size that does not fit into its word."""
    parameter, part = word
    if isinstance(value, Size):
        return _word_of_size(recorder, kernel, word, value)
    assert parameter is not None
    assert parameter.element is not None
    if parameter.element is DataType.Bool and as_count(value) in (0, 1):
        value = bool(value)
    where = f"argument `{parameter.name}` of kernel `{kernel.__name__}`"
    return word_of(bits_given(where, parameter.element, value, "a size or "), part)


def _word_of_size(recorder: Recorder, kernel: Kernel, word: Word, size: Size) -> Size:
    parameter, part = word
    assert parameter is not None
    if parameter.element is DataType.U64:
        return size // 2**32 if part else size % 2**32
    is_signed = size._home is recorder and size._id in recorder.signed
    if parameter.element is DataType.U32 and is_signed:
        return size % 2**32  # computing with it makes the core refuse a negative one
    if parameter.element is DataType.I32 and not is_signed:
        recorder.step(
            calling_line(),
            recorder.made.require,
            recorder.used(size < 2**31),
            f"parameter `{parameter.name}` of kernel `{kernel.__name__}` in procedure `{recorder.name}` is given a "
            f"size above {2**31 - 1}, and it is an i32. Fix: annotate it with vyre.u32 or vyre.u64 and write "
            f"i32({parameter.name}) in the kernel where an i32 is wanted, or pass the size % 2**31 for its low "
            "31 bits.",
        )
    return size


def _use_of(word: Word) -> tuple[str, str]:
    """What messages call a word, and the Fix for a size that does not fit."""
    parameter, part = word
    if parameter is None:
        return f"the size of the grid along axis {part % MOST}", f"make the grid at most {2**32 - 1} along that axis"
    name = parameter.name
    if parameter.is_array:
        return f"the length of axis {part} of `{name}`", "pass an array that is shorter along that axis"
    if parameter.element is DataType.Bool:
        return f"parameter `{name}`", "pass the size != 0"
    return f"parameter `{name}`", (
        f"annotate it with vyre.u64 and write u32({name}) in the kernel where a u32 is wanted, or pass the "
        "size % 2**32 for its low 32 bits"
    )


def _counts(value: Any, kernel: Kernel, argument: str) -> tuple[Any, ...]:
    counts = value if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(counts) <= 3 or not all(isinstance(each, SIZES) for each in counts):
        raise must_be(f"argument `{argument}` of kernel `{kernel.__name__}`", "one to three sizes", shown(value))
    where = f"argument `{argument}` of kernel `{kernel.__name__}`"
    return tuple(as_size(each, where) for each in counts) + (1,) * (3 - len(counts))


def _grid(
    recorder: Recorder, kernel: Kernel, size: Sequence[int], arrays: dict[str, ProcedureArray], options: dict[str, Any]
) -> tuple[tuple[Any, ...], ProcedureArray | None, tuple[Any, ...] | None]:
    """The workgroups, or the most of them and the array that has the counts; and the invocations asked for."""
    grid, workgroups, most = options.get("grid"), options.get("workgroups"), options.get("at_most")
    if grid is not None and workgroups is not None:
        raise no_place(f"argument `workgroups` of kernel `{kernel.__name__}`", "beside grid=")
    argument = "grid" if workgroups is None else "workgroups"
    given = grid if workgroups is None else workgroups

    def covering(counts: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(ceil_div(count, extent) for count, extent in zip(counts, size, strict=True))

    if isinstance(given, ProcedureArray):
        counts = recorder.array(given, f"argument `{argument}` of kernel `{kernel.__name__}`")
        if most is None:
            raise without_at_most(f"kernel `{kernel.__name__}`")
        largest = _counts(most, kernel, "at_most")
        return covering(largest) if argument == "grid" else largest, counts, None
    if most is not None:
        raise no_place(f"argument `at_most` of kernel `{kernel.__name__}`", "without counts in an array")
    if workgroups is not None:
        groups = _counts(workgroups, kernel, "workgroups")
        return groups, None, tuple(count * extent for count, extent in zip(groups, size, strict=True))
    if grid is None:
        grid = default_grid(kernel, {name: array._shape for name, array in arrays.items()})
    asked = _counts(grid, kernel, "grid")
    return covering(asked), None, asked
