"""Calls a kernel: makes the Out arrays that are left out, chooses the grid, and runs the Program.

arguments.py has matched the arguments before anything runs. A call whose arrays are all of numpy goes to ``vyre.run``'s
core function (``run_on_host``). One with a resident array uploads what is on the host, runs where the resident array
is, and copies what it wrote back (``run_resident``).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._arrays.cuda import Taken, give_all_back, speaks_cuda, take
from vyre._arrays.dlpack import speaks_dlpack
from vyre._arrays.graph import is_recording
from vyre._base.taken import note_taken
from vyre._base.text import as_count, shown
from vyre._base.types import NUMPY
from vyre._core import Array
from vyre._default import place
from vyre._kernel.arguments import OPTIONS, check_apart, check_writable, matched, parameter_words, shapes_of
from vyre._kernel.data_grid import DataGrid, data_grid
from vyre._kernel.grid_sizes import asked_sizes, grid_words
from vyre._kernel.mistakes import Mistake
from vyre._kernel.smaller import in_halves
from vyre._kernel.tails import with_tail
from vyre._kernel.trace import PARAMS, RECORDS, Traced
from vyre._kernel.tracer import _ACTIVE
from vyre._kernel.whole_outs import whole_outs
from vyre._kernel.wider import widened
from vyre.errors import ArgumentError, BindingError, CapabilityError, DispatchTimeoutError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from vyre._arrays.checked import CheckResult
    from vyre._core import Program
    from vyre._kernel.kernel import Kernel

__all__ = [
    "call",
    "checked_call",
    "host_call",
    "noted_call",
    "run_on_host",
    "run_resident",
]


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
    options = {name: kwargs.pop(name) for name in OPTIONS if name in kwargs}
    given = matched(kernel, args, kwargs)
    constants = {each.name: given[each.name] for each in kernel._constants}
    traced = (traced_for or kernel._traced)(constants)
    theirs = _taken_on_cuda(kernel, given)
    resident = next((given[each.name] for each in kernel._arrays if isinstance(given.get(each.name), Array)), None)
    before = given.copy()
    shapes = shapes_of(kernel, given)
    # Arrays of other libraries, by the id of the array that shares their memory: the call returns what it was given.
    foreign = {id(given[name]): value for name, value in before.items() if speaks_dlpack(value)}
    foreign.update({id(taken.array): value for value, taken in theirs})
    if isinstance(options.get("grid"), np.ndarray) and options["grid"].ndim == 1:
        options["grid"] = tuple(options["grid"])
    grid, was_given = options.get("grid"), options.get("workgroups") is not None
    workgroups = _workgroups(kernel, traced, shapes, options)
    if not was_given:
        traced, workgroups = widened(traced, workgroups)
    words = parameter_words(kernel, given, shapes) + grid_words(kernel, traced, shapes, grid, workgroups, was_given)
    for each in kernel._arrays:
        if each.kind != "In" and isinstance(given.get(each.name), np.ndarray):
            check_writable(kernel, each, given[each.name], foreign.get(id(given[each.name])))
    check_apart(kernel, given)
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
    """Return the result of a call, with the arrays of other libraries in place of the views of them."""
    if isinstance(result, tuple):
        return tuple(foreign.get(id(each), each) for each in result)
    return foreign.get(id(result), result)


def checked_call(kernel: Kernel, args: Sequence[Any], kwargs: dict[str, Any], how: dict[str, Any]) -> CheckResult:
    """Checked execution of a call on the reference; ``how`` are arguments of vyre.check."""
    from vyre._arrays.checked import checked

    for name in ("backend", "device", "optimize", "at_most"):
        if kwargs.get(name) is not None:
            raise ArgumentError(
                f"argument `{name}` of kernel `{kernel.__name__}` has no place in a check, which runs on the "
                f"reference. Fix: leave `{name}` out."
            )
        kwargs.pop(name, None)
    program, inputs, workgroups = host_call(kernel, args, kwargs)
    return checked(f"kernel `{kernel.__name__}`", program, inputs, workgroups, **how)


def host_call(kernel: Kernel, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Program, dict[str, Any], Any]:
    """A call as arguments of vyre.run: the program, its buffers by name on the host, and the workgroups."""
    options = {name: kwargs.pop(name) for name in OPTIONS if name in kwargs}
    given = matched(kernel, args, kwargs)
    for name, value in given.items():
        if isinstance(value, Array):
            given[name] = value.numpy()
    for name in ("grid", "workgroups"):
        if isinstance(options.get(name), Array):
            options[name] = tuple(int(each) for each in options[name].numpy())
    traced = kernel._traced({each.name: given[each.name] for each in kernel._constants})
    shapes = shapes_of(kernel, given)
    if isinstance(options.get("grid"), np.ndarray) and options["grid"].ndim == 1:
        options["grid"] = tuple(options["grid"])
    grid, was_given = options.get("grid"), options.get("workgroups") is not None
    workgroups = _workgroups(kernel, traced, shapes, options)
    words = parameter_words(kernel, given, shapes) + grid_words(kernel, traced, shapes, grid, workgroups, was_given)
    return traced.program, _host_inputs(kernel, traced, given, shapes, words), workgroups


def noted_call(
    kernel: Kernel, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[Traced, dict[str, tuple[int, ...]], Any, tuple[int, ...] | None]:
    """Return what notes need: the program, the axes of the arrays, the workgroups, and the invocations asked for."""
    options = {name: kwargs.pop(name) for name in OPTIONS if name in kwargs}
    given = matched(kernel, args, kwargs)
    traced = kernel._traced({each.name: given[each.name] for each in kernel._constants})
    shapes = shapes_of(kernel, given)
    grid, was_given = options.get("grid"), options.get("workgroups") is not None
    workgroups = _workgroups(kernel, traced, shapes, options)
    asked = None
    if not was_given and not isinstance(grid, Array):
        asked = tuple(asked_sizes(kernel, traced, shapes, grid, workgroups, was_given))
    return traced, shapes, workgroups, asked


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
    """Return the arrays that a program is called with, by the names of its buffers."""
    inputs = {each.name: shapes[each.name] if each.kind == "Out" else given[each.name] for each in kernel._arrays}
    if words:
        inputs[PARAMS] = np.array(words, np.uint32)
    inputs.update(traced.tables)
    return inputs


def _bare(results: list[Any]) -> Any:
    """The result of a call: one array by itself, several as a tuple, and None if there is none."""
    return results[0] if len(results) == 1 else tuple(results) or None


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
    note_taken(traced.captured.all)
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
            dtype, lanes = NUMPY[each.element]
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
