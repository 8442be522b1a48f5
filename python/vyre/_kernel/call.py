"""Calls a kernel: matches arguments with parameters, makes the Out arrays that are left out, and chooses the grid."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from vyre import _core, _values
from vyre._array import _NUMPY
from vyre._core import Array, DataType
from vyre._cuda import Taken, give_all_back, speaks_cuda, take
from vyre._default import place
from vyre._dlpack import from_dlpack, speaks_dlpack
from vyre._dtype_names import dtype_name
from vyre._graph import is_recording
from vyre._kernel.data_grid import DataGrid, data_grid
from vyre._kernel.grid_sizes import asked_sizes, grid_words
from vyre._kernel.mistakes import Mistake
from vyre._kernel.smaller import in_halves
from vyre._kernel.tails import with_tail
from vyre._kernel.trace import PARAMS, RECORDS, Traced
from vyre._kernel.tracer import _ACTIVE
from vyre._kernel.whole_outs import whole_outs
from vyre._kernel.wider import widened
from vyre._text import as_count, shown
from vyre.errors import ArgumentError, BindingError, CallError, CapabilityError, DispatchTimeoutError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from vyre._check import CheckResult
    from vyre._core import Program
    from vyre._kernel.kernel import Kernel
    from vyre._kernel.parameters import Parameter

__all__ = [
    "call",
    "checked_call",
    "host_call",
    "noted_call",
    "overlap",
    "run_on_host",
    "run_resident",
    "text_without_outs",
]

_OPTIONS = ("grid", "workgroups", "at_most", "backend", "device", "optimize", "timeout")
_MOST_AXES = 3
_RANGES = {DataType.U32: (0, 2**32 - 1), DataType.I32: (-(2**31), 2**31 - 1), DataType.U64: (0, 2**64 - 1)}


def call(
    kernel: Kernel,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    traced_for: Callable[[dict[str, Any]], Traced] | None = None,
) -> Any:
    """Run a kernel. ``traced_for`` traces it for values of its constants, in place of the kernel's own trace."""
    if _ACTIVE.tracer is not None:
        raise Mistake(
            "K004",
            f"kernel `{kernel.__name__}` is called in a kernel",
            "write the shared part as a plain function, which is inlined where it is called",
        )
    options = {name: kwargs.pop(name) for name in _OPTIONS if name in kwargs}
    given = _given(kernel, args, kwargs)
    constants = {each.name: given[each.name] for each in kernel._constants}
    traced = (traced_for or kernel._traced)(constants)
    theirs = _taken_on_cuda(kernel, given)
    resident = next((given[each.name] for each in kernel._arrays if isinstance(given.get(each.name), Array)), None)
    before = given.copy()
    shapes = _shapes(kernel, given)
    # Arrays of other libraries, by the id of the array that shares their memory: the call returns what it was given.
    foreign = {id(given[name]): value for name, value in before.items() if speaks_dlpack(value)}
    foreign.update({id(taken.array): value for value, taken in theirs})
    if isinstance(options.get("grid"), np.ndarray) and options["grid"].ndim == 1:
        options["grid"] = tuple(options["grid"])
    grid, was_given = options.get("grid"), options.get("workgroups") is not None
    workgroups = _workgroups(kernel, traced, shapes, options)
    if not was_given:
        traced, workgroups = widened(traced, workgroups)
    words = _words(kernel, given, shapes) + grid_words(kernel, traced, shapes, grid, workgroups, was_given)
    for each in kernel._arrays:
        if each.kind != "In" and isinstance(given.get(each.name), np.ndarray):
            _check_writable(kernel, each, given[each.name], foreign.get(id(given[each.name])))
    _check_apart(kernel, given)
    if resident is None:
        if isinstance(workgroups, DataGrid):
            argument = "grid" if workgroups.counts_invocations else "workgroups"
            raise ArgumentError(
                f"argument `{argument}` of kernel `{kernel.__name__}` is a vyre.Array, and the call has numpy arrays "
                f"alone. Fix: write {argument}=counts.numpy() without at_most=, for an array `counts`, or pass "
                f"resident arrays."
            )
        try:
            result = run_on_host(kernel, traced, given, shapes, words, workgroups, options)
        except DispatchTimeoutError as error:
            raise (error if was_given else with_tail(kernel, traced, shapes, grid, workgroups, error)) from None
    else:
        try:
            result = run_resident(kernel, traced, given, shapes, words, workgroups, options, resident)
        except BaseException:
            give_all_back(theirs, failed=True)
            raise
        give_all_back(theirs)
    return _given_back(result, foreign) if foreign else result


def _taken_on_cuda(kernel: Kernel, given: dict[str, Any]) -> list[tuple[Any, Taken]]:
    """Put the memory of other libraries' arrays on CUDA devices in their place, and give both."""
    theirs = []
    for each in kernel._arrays:
        value = given.get(each.name)
        if value is None or isinstance(value, (np.ndarray, Array)) or not speaks_cuda(value):
            continue
        where = f"argument `{each.name}` of kernel `{kernel.__name__}`"
        taken = take(value, where, BindingError, written=each.kind != "In")
        given[each.name] = taken.array
        theirs.append((value, taken))
    return theirs


def _given_back(result: Any, foreign: dict[int, Any]) -> Any:
    """What a call gives, with the arrays of other libraries in place of the views of them."""
    if isinstance(result, tuple):
        return tuple(foreign.get(id(each), each) for each in result)
    return foreign.get(id(result), result)


def checked_call(kernel: Kernel, args: Sequence[Any], kwargs: dict[str, Any], how: dict[str, Any]) -> CheckResult:
    """Checked execution of a call on the reference; ``how`` are arguments of vyre.check."""
    from vyre._check import _checked  # it knows kernels

    for name in ("backend", "device", "optimize", "at_most"):
        if kwargs.get(name) is not None:
            raise ArgumentError(
                f"argument `{name}` of kernel `{kernel.__name__}` has no place in a check, which runs on the "
                f"reference. Fix: leave `{name}` out."
            )
        kwargs.pop(name, None)
    program, inputs, workgroups = host_call(kernel, args, kwargs)
    return _checked(f"kernel `{kernel.__name__}`", program, inputs, workgroups, **how)


def host_call(kernel: Kernel, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Program, dict[str, Any], Any]:
    """A call as arguments of vyre.run: the program, its buffers by name on the host, and the workgroups."""
    options = {name: kwargs.pop(name) for name in _OPTIONS if name in kwargs}
    given = _given(kernel, args, kwargs)
    for name, value in given.items():
        if isinstance(value, Array):
            given[name] = value.numpy()
    for name in ("grid", "workgroups"):
        if isinstance(options.get(name), Array):
            options[name] = tuple(int(each) for each in options[name].numpy())
    traced = kernel._traced({each.name: given[each.name] for each in kernel._constants})
    shapes = _shapes(kernel, given)
    if isinstance(options.get("grid"), np.ndarray) and options["grid"].ndim == 1:
        options["grid"] = tuple(options["grid"])
    grid, was_given = options.get("grid"), options.get("workgroups") is not None
    workgroups = _workgroups(kernel, traced, shapes, options)
    words = _words(kernel, given, shapes) + grid_words(kernel, traced, shapes, grid, workgroups, was_given)
    return traced.program, _host_inputs(kernel, traced, given, shapes, words), workgroups


def noted_call(
    kernel: Kernel, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[Traced, dict[str, tuple[int, ...]], Any, tuple[int, ...] | None]:
    """What notes need of a call: its program, the axes of its arrays, its workgroups, and the invocations asked for."""
    options = {name: kwargs.pop(name) for name in _OPTIONS if name in kwargs}
    given = _given(kernel, args, kwargs)
    traced = kernel._traced({each.name: given[each.name] for each in kernel._constants})
    shapes = _shapes(kernel, given)
    grid, was_given = options.get("grid"), options.get("workgroups") is not None
    workgroups = _workgroups(kernel, traced, shapes, options)
    asked = None
    if not was_given and not isinstance(grid, Array):
        asked = tuple(asked_sizes(kernel, traced, shapes, grid, workgroups, was_given))
    return traced, shapes, workgroups, asked


def _given(kernel: Kernel, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Each parameter's argument; an Out may be missing."""
    parameters = kernel._parameters
    if len(args) > len(parameters):
        raise CallError(
            f"kernel `{kernel.__name__}` takes {len(parameters)} arguments, got {len(args)}. Fix: "
            f"write {_call_text(kernel)}."
        )
    given = {each.name: value for each, value in zip(parameters, args)}  # noqa: B905  fewer arguments than parameters
    for name, value in kwargs.items():
        if name == "out" and all(each.name != "out" for each in parameters):
            outs = [each for each in parameters if each.kind == "Out"]
            if len(outs) != 1:
                raise CallError(
                    f"kernel `{kernel.__name__}` has {len(outs)} Out parameters, so `out=` names none of them. "
                    f"Fix: write {' or '.join(f'{each.name}=' for each in outs) or 'the call without it'}."
                )
            name = outs[0].name
        elif all(each.name != name for each in parameters):
            meant = _core._did_you_mean(name, [each.name for each in parameters] + [*_OPTIONS])
            fix = f"write {meant.split('`')[1]}=" if meant else f"write {_call_text(kernel)}"
            has = f"was specialised for a `{name}`, and has no other one" if kernel._has_fixed(name) else None
            raise CallError(
                f"kernel `{kernel.__name__}` {has or f'has no parameter `{name[:80]}`{meant}'}. Fix: {fix}."
            )
        if name in given:
            raise CallError(f"kernel `{kernel.__name__}` got argument `{name}` twice. Fix: write {_call_text(kernel)}.")
        given[name] = value
    for each in parameters:
        if each.name not in given:
            if each.kind in ("scalar", "const") and each.has_default:
                given[each.name] = each.default
            elif each.kind != "Out":
                text = text_without_outs(kernel) if any(p.kind == "Out" for p in parameters) else _call_text(kernel)
                raise CallError(f"kernel `{kernel.__name__}` misses argument `{each.name}`. Fix: write {text}.")
    return {name: value for name, value in given.items() if value is not None or _kind(parameters, name) != "Out"}


def _kind(parameters: Sequence[Parameter], name: str) -> str:
    return next(each.kind for each in parameters if each.name == name)


def text_without_outs(kernel: Kernel) -> str:
    """The text of a call without the Out arrays: the arguments after the first of them are given by name."""
    parts: list[str] = []
    by_name = False
    for each in kernel._parameters:
        by_name = by_name or each.kind == "Out"
        if each.kind != "Out":
            parts.append(f"{each.name}={each.name}" if by_name else each.name)
    return f"{kernel._called}({', '.join(parts)})"


def _call_text(kernel: Kernel) -> str:
    return f"{kernel._called}({', '.join(each.name for each in kernel._parameters)})"


def _shapes(kernel: Kernel, given: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """The axes of each array, without the one of a vector's lanes."""
    shapes: dict[str, tuple[int, ...]] = {}
    for each in kernel._arrays:
        if each.name in given:
            shapes[each.name] = _shape_of(kernel, each, given)
    for each in kernel._arrays:
        if each.name in shapes:
            continue
        like = next(
            (shapes[other.name] for other in kernel._arrays if other.axes == each.axes and other.name in shapes), None
        )
        if like is None:
            dtype, lanes = _NUMPY[each.element]  # type: ignore[index]
            extents = ", ".join(["n", "h, w", "d, h, w"][each.axes - 1 : each.axes] + [str(lane) for lane in lanes])
            raise BindingError(
                f"argument `{each.name}` of kernel `{kernel.__name__}` is left out, and no array with {each.axes} "
                f"ax{'is' if each.axes == 1 else 'es'} says its shape. "
                f"Fix: write {each.name}=np.zeros({extents if ',' not in extents else f'({extents})'}, np.{dtype})."
            )
        shapes[each.name] = like
    return shapes


def _shape_of(kernel: Kernel, parameter: Parameter, given: dict[str, Any]) -> tuple[int, ...]:
    value = given[parameter.name]
    where = f"argument `{parameter.name}` of kernel `{kernel.__name__}`"
    assert parameter.element is not None
    dtype, lanes = _NUMPY[parameter.element]
    if isinstance(value, (bytes, bytearray)) and dtype == "uint8":
        value = given[parameter.name] = np.frombuffer(value, np.uint8)
    elif speaks_dlpack(value):
        value = given[parameter.name] = from_dlpack(value, where, BindingError)
    if not isinstance(value, (np.ndarray, Array)):
        _refuse_value(where, value, parameter, dtype)
    if _core._is_masked(value):
        raise BindingError(
            f"{where} is a masked array. Fix: write {parameter.name}.filled(0) to give the masked elements a value."
        )
    if dtype_name(value.dtype) != dtype or not value.dtype.isnative:
        if not (parameter.element is DataType.Bool and dtype_name(value.dtype) == "uint32"):
            fix = (
                _values.conversion(value, dtype, parameter.name)
                if isinstance(value, np.ndarray)
                else f"pass a vyre.Array of {dtype}"
            )
            raise BindingError(f"{where} must be an array of {dtype}, got one of {value.dtype}. Fix: {fix}.")
    if value.ndim != parameter.axes + len(lanes) or value.shape[parameter.axes :] != lanes:
        wanted = f"{parameter.axes} ax{'is' if parameter.axes == 1 else 'es'}" + (
            f" and shape (..., {lanes[0]})" if lanes else ""
        )
        fix = f"annotate it with vyre.{parameter.kind}[vyre.{parameter.element.name.lower()}, {value.ndim}]"
        if lanes:
            fix = f"write {parameter.name}.reshape(-1, {lanes[0]})"
        elif parameter.axes == 1 or not 1 <= value.ndim <= _MOST_AXES:
            fix = f"write {parameter.name}.reshape({', '.join(['-1'] + ['1'] * (parameter.axes - 1))})" + (
                f", or {fix}" if 1 < value.ndim <= _MOST_AXES else ""
            )
        raise BindingError(f"{where} must have {wanted}, got shape {value.shape}. Fix: {fix}.")
    return tuple(value.shape[: parameter.axes])


def _refuse_value(where: str, value: Any, parameter: Parameter, dtype: str) -> NoReturn:
    if isinstance(value, (int, np.generic)):
        raise BindingError(
            f"{where} must be an array of {dtype}, got {shown(value)}. "
            f"Fix: write np.array([{shown(value)}], np.{dtype}), or np.zeros({shown(value)}, "
            f"np.{dtype}) for so many zeros."
        )
    if parameter.kind == "Out" and isinstance(value, tuple) and all(as_count(each) is not None for each in value):
        raise BindingError(
            f"{where} must be an array of {dtype}, got the tuple {shown(value)}. "
            f"Fix: write np.zeros({shown(value)}, np.{dtype}) for zeros of that shape."
        )
    if isinstance(value, (list, tuple)):
        raise BindingError(
            f"{where} must be an array of {dtype}, got a {type(value).__name__}. Fix: {_values.sequence(value, dtype)}."
        )
    if isinstance(value, str) and dtype == "uint8":
        raise BindingError(f"{where} must be an array of uint8, got a str. Fix: write {parameter.name}.encode().")
    raise BindingError(
        f"{where} must be an array of {dtype}, got an object of type {type(value).__name__[:80]}. "
        f"Fix: pass a numpy array or a vyre.Array."
    )


def _workgroups(kernel: Kernel, traced: Traced, shapes: dict[str, tuple[int, ...]], options: dict[str, Any]) -> Any:
    grid, workgroups = options.pop("grid", None), options.pop("workgroups", None)
    at_most = options.pop("at_most", None)
    if workgroups is not None and grid is not None:
        raise ArgumentError(f"kernel `{kernel.__name__}` is given both grid= and workgroups=. Fix: give one of them.")
    if isinstance(workgroups, Array):
        return data_grid(
            kernel.__name__,
            "workgroups",
            workgroups,
            at_most,
            lambda argument, most: _core._grid(most, f"kernel `{kernel.__name__}`", argument),
        )
    if isinstance(grid, Array):
        return data_grid(
            kernel.__name__, "grid", grid, at_most, lambda argument, most: _covering(kernel, traced, argument, most)
        )
    if at_most is not None:
        raise ArgumentError(
            f"argument `at_most` of kernel `{kernel.__name__}` is for a grid= or workgroups= that is a vyre.Array. "
            "Fix: leave `at_most` out."
        )
    if workgroups is not None:
        return workgroups
    if grid is None:
        made = next((each for kind in ("Out", "InOut") for each in kernel._arrays if each.kind == kind), None)
        if made is None:
            raise ArgumentError(
                f"kernel `{kernel.__name__}` has no Out or InOut array to take a grid from. Fix: "
                f"write grid=n, the number of invocations."
            )
        grid = tuple(reversed(shapes[made.name]))
    return _covering(kernel, traced, "grid", grid)


def _covering(kernel: Kernel, traced: Traced, argument: str, grid: Any) -> tuple[int, ...]:
    """The workgroups that cover the invocations of `grid`."""
    counts = grid if isinstance(grid, (tuple, list)) else (grid,)
    whole = [as_count(each) for each in counts]
    if not 1 <= len(counts) <= 3 or any(each is None or not 0 <= each <= 2**32 for each in whole):
        raise ArgumentError(
            f"argument `{argument}` of kernel `{kernel.__name__}` must be one to three counts of "
            f"invocations, got {shown(grid)}. "
            f"Fix: write {argument}=n, or {argument}=(width, height), with integers."
        )
    size = traced.program.workgroup_size
    return tuple(-(-extent // size[axis]) for axis, extent in enumerate(whole + [1] * (3 - len(whole))))  # type: ignore[operator]


def _words(kernel: Kernel, given: dict[str, Any], shapes: dict[str, tuple[int, ...]]) -> list[int]:
    words: list[int] = []
    for each in kernel._arrays:
        if each.axes <= 1:
            continue
        for axis, length in enumerate(shapes[each.name]):
            if length >= 2**32:  # of an array without elements
                raise BindingError(
                    f"argument `{each.name}` of kernel `{kernel.__name__}` has a length of {length} along axis {axis}, "
                    f"and a length is a u32. Fix: pass an array that is at most {2**32 - 1} long along that axis."
                )
            words.append(length)
    for each in kernel._parameters:
        if each.kind != "scalar":
            continue
        value = given[each.name]
        where = f"argument `{each.name}` of kernel `{kernel.__name__}`"
        if each.element is DataType.Bool:
            if not isinstance(value, (bool, np.bool_)):
                raise BindingError(f"{where} must be True or False, got {shown(value)}. Fix: write {each.name} != 0.")
            words.append(int(value))
            continue
        count = None if isinstance(value, np.ndarray) else as_count(value)
        low, high = _RANGES[each.element]  # type: ignore[index]
        if count is None or not low <= count <= high:
            assert each.element is not None
            fix = (
                "write int(x)" if isinstance(value, (bool, np.bool_, np.ndarray)) else "write an integer in that range"
            )
            if count is not None and -(2**31) <= count < 0:
                fix = f"write {count} & 0x{high:X} for the same bits, or annotate it with vyre.i32"
            if isinstance(value, (float, np.floating)):
                fix = "write an integer: programs have no floats, and x * p // q is x times the fraction p / q"
            raise BindingError(
                f"{where} must be an integer from {low} to {high} ({each.element.name.lower()}), got "
                f"{shown(value)}. Fix: {fix}."
            )
        words.append(count & 0xFFFFFFFF)
        if each.element is DataType.U64:
            words.append(count >> 32)
    return words


def run_on_host(
    kernel: Kernel,
    traced: Traced,
    given: dict[str, Any],
    shapes: dict[str, tuple[int, ...]],
    words: list[int],
    workgroups: Any,
    options: dict[str, Any],
) -> Any:
    if is_recording():
        raise ArgumentError(
            f"kernel `{kernel.__name__}` is called without a resident array, and a graph records calls on resident "
            "arrays. Fix: make them with vyre.array(x) or vyre.empty(n), or call it after the with-block."
        )
    inputs = _host_inputs(kernel, traced, given, shapes, words)
    label = f"kernel `{kernel.__name__}`"
    rest = (
        *place(options.get("backend"), options.get("device")),
        options.get("timeout"),
        None,
        options.get("optimize"),
        label,
    )
    try:
        outputs = _core._run(traced.program, inputs, workgroups, *rest)
    except CapabilityError as error:
        program, counts = in_halves(traced, workgroups, error, label)
        outputs = _core._run(program, inputs, counts, *rest)
    if traced.seen is not None:
        traced.seen(outputs[RECORDS])
    results = []
    for each in kernel._arrays:
        if each.kind == "In":
            continue
        value = given.get(each.name)
        if value is None:
            results.append(outputs[each.name])
        else:
            np.copyto(value, outputs[each.name], casting="safe")  # a Bool array is given as bool or uint32
            results.append(value)
    return _bare(results)


def _host_inputs(
    kernel: Kernel, traced: Traced, given: dict[str, Any], shapes: dict[str, tuple[int, ...]], words: list[int]
) -> dict[str, Any]:
    """What a program is called with: its buffers by name."""
    inputs = {each.name: shapes[each.name] if each.kind == "Out" else given[each.name] for each in kernel._arrays}
    if words:
        inputs[PARAMS] = np.array(words, np.uint32)
    inputs.update(traced.tables)
    return inputs


def _bare(results: list[Any]) -> Any:
    """The result of a call: one array by itself, several as a tuple, and None if there is none."""
    return results[0] if len(results) == 1 else tuple(results) or None


def _check_writable(kernel: Kernel, parameter: Parameter, value: np.ndarray, foreign: Any) -> None:
    name = parameter.name
    where = f"argument `{name}` of kernel `{kernel.__name__}`"
    if not value.flags.writeable and foreign is not None:
        raise BindingError(
            f"{where} is written, and DLPack gives the {type(foreign).__name__[:80]} read-only. "
            f"Fix: write {name}=np.array({name}), which copies it, and take the result of the call."
        )
    if not value.flags.writeable:
        raise BindingError(f"{where} is written, and the array is read-only. Fix: write {name}={name}.copy().")
    if not value.flags.c_contiguous:
        raise BindingError(
            f"{where} is written, and the array is not C-contiguous. "
            f"Fix: write {name}_ = np.ascontiguousarray({name}), call with {name}_, then {name}[...] = {name}_."
        )


def overlap(written: Sequence[np.ndarray]) -> tuple[int, int] | None:
    """The first two of C-contiguous arrays that share memory."""
    for k, array in enumerate(written):
        for before in range(k):
            if np.may_share_memory(written[before], array):  # this is exact for C-contiguous arrays
                return before, k
    return None


def _check_apart(kernel: Kernel, given: dict[str, Any]) -> None:
    """Refuse numpy arrays that are written and overlap: one result would overwrite the other."""
    names = [each.name for each in kernel._arrays if each.kind != "In" and isinstance(given.get(each.name), np.ndarray)]
    found = overlap([given[name] for name in names])
    if found is not None:
        raise BindingError(
            f"arguments `{names[found[0]]}` and `{names[found[1]]}` of kernel `{kernel.__name__}` overlap in memory, "
            "and both are written. Fix: give each its own array, for instance a copy."
        )


def run_resident(
    kernel: Kernel,
    traced: Traced,
    given: dict[str, Any],
    shapes: dict[str, tuple[int, ...]],
    words: list[int],
    workgroups: Any,
    options: dict[str, Any],
    resident: Array,
    whole: Collection[str] | None = None,
) -> Any:
    """``whole`` has the Out parameters that need not begin as zeros, where that is known."""
    for name in ("backend", "device", "timeout"):
        if options.get(name) is not None:
            raise ArgumentError(
                f"argument `{name}` of kernel `{kernel.__name__}` is for numpy arrays; resident ones run where they are"
                f"{', and a wait takes a timeout' if name == 'timeout' else ''}. Fix: leave `{name}` out"
                f"{': result.wait(timeout) has one' if name == 'timeout' else ''}."
            )
    where = {"backend": resident.backend, "device": resident.device}
    arrays: list[Any] = []
    back: list[tuple[np.ndarray, Array]] = []
    results: list[Any] = []
    zeroed: list[Array] = []
    for each in kernel._arrays:
        value = given.get(each.name)
        assert each.element is not None
        if value is None:
            dtype, lanes = _NUMPY[each.element]
            array = _core._empty([*shapes[each.name], *lanes], np.dtype(dtype), resident.backend, resident.device)
            value = array
        elif isinstance(value, Array):
            array = value
            if each.kind == "Out":
                if whole is None:
                    whole = whole_outs(kernel, traced, shapes, workgroups)
                if each.name not in whole:
                    zeroed.append(array)
        elif each.kind == "Out":
            array = _core._empty(list(value.shape), value.dtype, resident.backend, resident.device)
            back.append((value, array))
        else:
            array = _core._array(np.ascontiguousarray(value), resident.backend, resident.device)
            if each.kind == "InOut":
                back.append((value, array))
        arrays.append(array)
        if each.kind != "In":
            results.append(value)
    if words:
        arrays.append(
            words[0] if len(words) == 1 else _kept(traced, ("words", *words), np.array(words, np.uint32), where)
        )
    for name, table in traced.tables.items():
        arrays.append(_kept(traced, ("table", name), table, where))
    optimize = options.get("optimize")
    # The Out arrays are filled when the call has been planned, so that a call that is refused leaves them as they were.
    if isinstance(workgroups, DataGrid):
        if zeroed:
            workgroups.plan(traced.program, arrays, optimize)
        _fill_with_zeros(zeroed)
        workgroups.run(traced.program, arrays, optimize)
    else:
        try:
            if zeroed:
                _core._plan_call(traced.program, False, *arrays, workgroups=workgroups, optimize=optimize)
            _fill_with_zeros(zeroed)
            traced.program(*arrays, workgroups=workgroups, optimize=optimize)
        except CapabilityError as error:
            program, counts = in_halves(traced, workgroups, error, f"kernel `{kernel.__name__}`")
            _fill_with_zeros(zeroed)
            program(*arrays, workgroups=counts, optimize=optimize)
    if traced.seen is not None:
        traced.seen(_kept(traced, ("table", RECORDS), traced.tables[RECORDS], where))
    for host, array in back:
        np.copyto(host, array.numpy())
    return _bare(results)


def _fill_with_zeros(arrays: Sequence[Array]) -> None:
    for array in arrays:
        array.fill(array.dtype.type(0))


_MOST_KEPT = 64


def _kept(traced: Traced, key: tuple[Any, ...], values: np.ndarray, where: dict[str, Any]) -> Array:
    """An array of words on the device, made once for as long as the kernel's program is kept."""
    key = (*key, where["backend"], where["device"])
    known = traced.kept.get(key)
    if known is None:
        known = traced.kept[key] = _core._array(values, where["backend"], where["device"])
        for old in list(itertools.islice(traced.kept, max(0, len(traced.kept) - _MOST_KEPT))):
            del traced.kept[old]
    return known
