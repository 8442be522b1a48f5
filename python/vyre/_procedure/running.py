"""A call of a procedure on arrays: what may be given and written, the run, and the way back to the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._arrays.dlpack import numpy_of
from vyre._arrays.dtype_names import dtype_name
from vyre._arrays.given import check_array, check_writable
from vyre._arrays.graph import is_recording
from vyre._base.refused import BESIDE_RESIDENT, must_be, no_place, not_resident, other_device
from vyre._base.text import type_of
from vyre._base.types import NUMPY
from vyre._core import Array
from vyre._default import check_backend, check_place, place
from vyre._kernel.arguments import check_apart
from vyre._procedure.arguments import argument_of, outs_of
from vyre.errors import ArgumentError, BindingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre._procedure.procedure import ProcedureFunction
    from vyre._procedure.recorded import ArrayDecl, Recorded

__all__ = ["array_of", "launch_of", "run"]


def run(function: ProcedureFunction, made: Recorded, given: dict[str, Any], options: dict[str, Any]) -> Any:
    """Run a procedure for the arguments of a call."""
    resident = next((v for v in given.values() if isinstance(v, Array)), None)
    label = f"procedure `{function.name}`"
    where, on_host = _where(function, resident, options)
    passed = given  # what comes back, in place of the views of other libraries' arrays
    inputs = made._of_role("input", "in_out")
    given = {**given, **{decl.name: host_of(function, decl, given[decl.name]) for decl in inputs}}
    arrays = [array_of(function, decl, given[decl.name], resident, where) for decl in inputs]
    numbers = [argument_of(function, each, given[each.name]) for each in function._parameters if each.kind == "scalar"]
    passed_out = outs_of(function, made, options.get("out"))
    out = [numpy_of(each, f"argument `out` of procedure `{function.name}`", BindingError) for each in passed_out]
    if is_recording():
        _check_recorded(function, made, given, out)
    beside = _common_device(function, [*arrays, *(each for each in out if isinstance(each, Array))], where)
    _check_outs(function, made, arrays, numbers, out, beside)
    written = [(d.name, given[d.name]) for d in inputs if d.role == "in_out"] + [("out", each) for each in out]
    check_apart(label, [pair for pair in written if isinstance(pair[1], np.ndarray)])
    targets = [each if isinstance(each, Array) else None for each in out]
    if not made.is_checked:
        made.core.check()
        made.is_checked = True
    timeout = options.get("timeout")
    if timeout is not None and any(isinstance(each, Array) for each in out):
        raise no_place(f"argument `timeout` of {label}", BESIDE_RESIDENT)
    outputs = _core._run_procedure(
        made.core,
        arrays,
        numbers,
        targets,
        beside.backend,
        beside.device,
        timeout,
        label,
        on_host,
        function._operation,
    )
    back = [
        (given[decl.name], array)
        for decl, array in zip(inputs, arrays, strict=True)
        if decl.role == "in_out" and isinstance(given[decl.name], np.ndarray)
    ]
    return _give_back(made, passed, back, outputs, out, passed_out, on_host)


def _where(
    function: ProcedureFunction, resident: Array | None, options: dict[str, Any]
) -> tuple[tuple[Any, Any], bool]:
    """The backend and the device of a call, and whether all its arrays are the host's."""
    if resident is not None:
        for name in ("backend", "device", "timeout"):
            if options.get(name) is not None:
                raise no_place(f"argument `{name}` of procedure `{function.name}`", BESIDE_RESIDENT)
        return (resident.backend, resident.device), False
    out = options.get("out")
    resident_out = next((each for each in (out if isinstance(out, tuple) else (out,)) if isinstance(each, Array)), None)
    if resident_out is not None and options.get("backend") is None and options.get("device") is None:
        return (resident_out.backend, resident_out.device), False
    where = _place(function, options)
    if resident_out is None:
        _core._check_place_is_free(where[0], where[1], f"procedure `{function.name}`")
    return where, resident_out is None


def _common_device(function: ProcedureFunction, arrays: list[Array], where: tuple[Any, Any]) -> Array:
    """An array on the device of the call."""
    if not arrays:
        return _core._empty([0], np.dtype(np.uint32), *where)
    first = arrays[0]
    for each in arrays:
        if (each.backend, each.device) != (first.backend, first.device):
            raise other_device(f"procedure `{function.name}`", first, each)
    return first


def launch_of(function: ProcedureFunction, made: Recorded, args: tuple[Any, ...]) -> Any:
    """The procedure as one function of the core, for calls with resident arrays of any lengths, once a call was right.

    It takes what has to be unchanged (``Captures.bindings``) before the arguments, and gives
    NotImplemented for anything else. None for a procedure that needs more than that.
    """
    parameters: list[tuple[Any, int | None]] = []
    for each in function._parameters:
        if not each.is_array and each.kind != "scalar":
            return None
        parameters.append((each.element, each.axes if each.is_array else None))
    if len(args) != len(parameters) or not any(isinstance(each, Array) for each in args):
        return None
    return _core._procedure_launch(made.core, parameters, _core._procedure_results(made.core), function._operation)


def _place(function: ProcedureFunction, options: dict[str, Any]) -> tuple[Any, Any]:
    """The backend and the device that a call with numpy arrays names, or the default ones."""
    backend = options.get("backend")
    if backend is not None:
        check_backend(backend, f"argument `backend` of procedure `{function.name}`")
    device = options.get("device")
    if device is not None:
        check_place(backend, device, f"procedure `{function.name}`")
    return place(backend, device)


def _check_recorded(function: ProcedureFunction, made: Recorded, given: dict[str, Any], out: Sequence[Any]) -> None:
    """Refuse arrays of the host that a graph cannot write when it is replayed."""
    if not any(isinstance(each, Array) for each in (*given.values(), *out)):
        raise not_resident(f"each argument of procedure `{function.name}`")
    written = [(decl.name, given[decl.name]) for decl in made._of_role("in_out")]
    for name, value in [*written, *(("out", each) for each in out)]:
        if isinstance(value, np.ndarray):
            raise not_resident(f"argument `{name}` of procedure `{function.name}`")


def _extents(
    made: Recorded, arrays: Sequence[Array], numbers: Sequence[int], beside: Array
) -> list[tuple[int, ...]] | None:
    """The shape of each result; None where a size is none, as the core tells then."""
    inputs = made._of_role("input", "in_out")
    given = [array.shape[: decl.axes] for decl, array in zip(inputs, arrays, strict=True)]
    try:
        shapes = _core._output_shapes(made.core, given, numbers, beside.backend, beside.device)
    except ArgumentError:
        return None
    return [(*shape, *NUMPY[decl.element][1]) for decl, shape in zip(made.outputs, shapes, strict=True)]


def _give_back(
    made: Recorded,
    passed: dict[str, Any],
    back: list[tuple[np.ndarray, Array]],
    outputs: Sequence[Array],
    out: Sequence[Any],
    passed_out: Sequence[Any],
    on_host: bool,
) -> Any:
    """Write the caller's numpy arrays, and return the results of the call."""
    # All are read before the first array of the caller changes.
    changed = [(host, array.numpy()) for host, array in back]
    found = {decl.name: passed[decl.name] for decl in made._of_role("in_out")}
    for decl, array, wanted, theirs in zip(made.outputs, outputs, out, passed_out, strict=True):
        if isinstance(wanted, np.ndarray):
            np.copyto(wanted, array.numpy(), casting="no")
            found[decl.name] = theirs
        else:
            found[decl.name] = array.numpy() if on_host else array
    for host, values in changed:
        np.copyto(host, values, casting="safe")
    results = tuple(found[decl.name] for decl in made.results)
    return results[0] if len(results) == 1 else results or None


def _check_outs(
    function: ProcedureFunction,
    made: Recorded,
    arrays: Sequence[Array],
    numbers: Sequence[int],
    out: Sequence[Any],
    beside: Array,
) -> None:
    """Refuse each `out` that its result cannot be written to."""
    if all(each is None or isinstance(each, Array) for each in out):
        return
    extents = _extents(made, arrays, numbers, beside)
    for k, (decl, wanted) in enumerate(zip(made.outputs, out, strict=True)):
        _check_out(function, decl, wanted, None if extents is None else extents[k])


def _check_out(function: ProcedureFunction, decl: ArrayDecl, wanted: Any, shape: tuple[int, ...] | None) -> None:
    """Refuse what results cannot be written to. The core checks resident arrays."""
    where = f"argument `out` of procedure `{function.name}`"
    dtype, _ = NUMPY[decl.element]
    if wanted is None or isinstance(wanted, Array):
        return
    wanted_array = f"an array of {dtype}{'' if shape is None else f' with shape {shape}'} for `{decl.name}`"
    if not isinstance(wanted, np.ndarray) or _core._is_masked(wanted):
        raise must_be(where, wanted_array, type_of(wanted), BindingError)
    got = f"one of {wanted.dtype} with shape {wanted.shape}"
    if dtype_name(wanted.dtype) != dtype or not wanted.dtype.isnative:
        raise must_be(where, wanted_array, got, BindingError)
    if shape not in (None, wanted.shape):
        raise must_be(where, wanted_array, got)
    if not wanted.flags.writeable:
        check_writable(where, wanted)


def host_of(function: ProcedureFunction, decl: ArrayDecl, value: Any) -> Any:
    """An argument, with the memory of another library's array as a numpy array.

    Raises: BindingError for memory that the host does not read.
    """
    return numpy_of(value, f"argument `{decl.name}` of procedure `{function.name}`", BindingError)


def array_of(
    function: ProcedureFunction, decl: ArrayDecl, value: Any, resident: Array | None, where: tuple[Any, Any]
) -> Array:
    """An argument as an array of the device; those of numpy are copied to it."""
    dtype, lanes = NUMPY[decl.element]
    name = f"argument `{decl.name}` of procedure `{function.name}`"
    if isinstance(value, (bytes, bytearray, memoryview)) and dtype == "uint8" and decl.role == "input":
        value = np.frombuffer(value.tobytes() if isinstance(value, memoryview) else value, np.uint8)
    value = host_of(function, decl, value)
    check_array(name, value, [dtype], decl.axes, lanes)
    if isinstance(value, Array):
        return value
    if decl.role == "in_out":
        check_writable(name, value)
    host = np.ascontiguousarray(value).reshape(value.shape)
    if resident is not None:
        return _core._array(host, resident.backend, resident.device)
    return _core._array(host, *where)
