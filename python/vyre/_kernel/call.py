"""Calls a kernel: makes the Out arrays that are left out, and runs the Program.

arguments.py has matched the arguments before anything runs, and launch.py has chosen the grid. A call
whose arrays are all of numpy goes to ``vyre.run``'s core function (``run_on_host``). One with a resident
array uploads what is on the host, runs where the resident array is, and copies what it wrote back
(``run_resident``).
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._arrays.cuda import Taken, give_all_back, speaks_cuda, take
from vyre._arrays.dlpack import speaks_dlpack
from vyre._arrays.given import check_writable
from vyre._arrays.graph import is_recording
from vyre._base.refused import BESIDE_RESIDENT, IN_CHECK, must_be, no_place, not_resident
from vyre._base.taken import note_taken
from vyre._base.types import NUMPY
from vyre._core import Array
from vyre._default import place
from vyre._kernel.arguments import check_apart
from vyre._kernel.launch import DataGrid, Launch, given_and_options, traced_for
from vyre._kernel.mistakes import Mistake
from vyre._kernel.recording import is_tracing
from vyre._kernel.smaller import in_halves
from vyre._kernel.trace import RECORDS, Traced
from vyre._kernel.wider import widened
from vyre.errors import BindingError, CapabilityError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vyre._arrays.checked import CheckResult
    from vyre._kernel.kernel import Kernel

__all__ = ["call", "checked_call", "host_call", "kept", "launch_of", "run"]


def call(
    kernel: Kernel,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    trace: Callable[[dict[str, Any]], Traced] | None = None,
) -> Any:
    """Run a kernel. ``trace`` traces it for values of its constants, in place of the kernel's own trace."""
    if is_tracing():
        raise Mistake(
            "K004",
            f"kernel `{kernel.__name__}` is called in a kernel",
            "write the shared part as a plain function, which is inlined where it is called",
        )
    given, options = given_and_options(kernel, args, kwargs)
    traced = trace({each.name: given[each.name] for each in kernel._constants}) if trace else traced_for(kernel, given)
    theirs = _taken_on_cuda(kernel, given)
    before = given.copy()
    try:
        launch = launch_of(kernel, traced, given, options)
        # Arrays of other libraries, by the id of the array that shares their memory: the call returns them.
        foreign = {id(given[name]): value for name, value in before.items() if speaks_dlpack(value)}
        foreign.update({id(taken.array): value for value, taken in theirs})
        result = run(launch, given, options, foreign)
    except BaseException:
        give_all_back(theirs, failed=True)
        raise
    give_all_back(theirs)
    return _given_back(result, foreign) if foreign else result


def launch_of(kernel: Kernel, traced: Traced, given: dict[str, Any], options: Mapping[str, Any]) -> Launch:
    """The launch of a call that runs, in wide workgroups where these are faster; what records keeps to the grid."""
    launch = Launch(kernel, traced, given, options, is_exact=traced.seen is not None)
    if launch.grid is not None and not isinstance(launch.workgroups, DataGrid):
        launch.traced, launch.workgroups = widened(launch.traced, launch.workgroups)
    return launch


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
            raise no_place(f"argument `{name}` of kernel `{kernel.__name__}`", IN_CHECK)
        kwargs.pop(name, None)
    traced, inputs, workgroups = host_call(kernel, args, kwargs, is_exact=True)
    for decl in traced.program.buffers:
        if type(inputs.get(decl.name)) is tuple:  # the shape of an Out, which is promised to begin as zeros
            dtype, lanes = NUMPY[decl.element]
            inputs[decl.name] = np.zeros((*inputs[decl.name], *lanes), dtype)
    return checked(f"kernel `{kernel.__name__}`", traced.program, inputs, workgroups, **how)


def host_call(
    kernel: Kernel, args: Sequence[Any], kwargs: Mapping[str, Any], *, is_exact: bool = False
) -> tuple[Traced, dict[str, Any], Any]:
    """A call as arguments of vyre.run: its trace, its buffers by name on the host, and the workgroups."""
    given, options = given_and_options(kernel, args, kwargs)
    given = {name: value.numpy() if isinstance(value, Array) else value for name, value in given.items()}
    for name in ("grid", "workgroups"):
        if isinstance(options.get(name), Array):
            options[name] = tuple(int(each) for each in options[name].numpy())
    launch = Launch(kernel, traced_for(kernel, given), given, options, is_exact=is_exact)
    return launch.traced, launch.inputs(given, launch.words(given)), launch.workgroups


def run(launch: Launch, given: Mapping[str, Any], options: Mapping[str, Any], foreign: Mapping[int, Any]) -> Any:
    """Run a call, and return its results. ``foreign`` has arrays of other libraries; see ``call``."""
    words = launch.words(given)
    written = [(name, given[name]) for name in launch.results if isinstance(given.get(name), np.ndarray)]
    for name, value in written:
        if not value.flags.carray:
            check_writable(f"argument `{name}` of {launch.label}", value)
    if len(written) > 1:
        check_apart(launch.label, written)
    if launch.resident is not None:
        return run_resident(launch, given, words, options, given[launch.resident])
    return run_on_host(launch, given, words, options)


def run_on_host(launch: Launch, given: Mapping[str, Any], words: list[int], options: Mapping[str, Any]) -> Any:
    traced, workgroups, label = launch.traced, launch.workgroups, launch.label
    if isinstance(workgroups, DataGrid):
        argument = "grid" if workgroups.counts_invocations else "workgroups"
        raise must_be(f"argument `{argument}` of {label}", "counts by value beside numpy arrays", "a vyre.Array")
    if is_recording():
        raise not_resident(f"each argument of {label}")
    where, timeout = place(options.get("backend"), options.get("device")), options.get("timeout")
    inputs, rest = launch.inputs(given, words), (*where, timeout, None, options.get("optimize"), label)
    try:
        outputs = _core._run(traced.program, inputs, workgroups, *rest)
    except CapabilityError as error:
        program, counts = in_halves(traced, workgroups, error, label)
        outputs = _core._run(program, inputs, counts, *rest)
    if traced.seen is not None:
        traced.seen(outputs[RECORDS])
    results = []
    for name in launch.results:
        result = outputs[name]
        if name in given:
            np.copyto(given[name], result, casting="safe")  # a Bool array is given as bool or uint32
            result = given[name]
        results.append(result)
    return _bare(results)


def _bare(results: list[Any]) -> Any:
    """The result of a call: one array by itself, several as a tuple, and None if there is none."""
    return results[0] if len(results) == 1 else tuple(results) or None


def run_resident(
    launch: Launch, given: Mapping[str, Any], words: list[int], options: Mapping[str, Any], resident: Array
) -> Any:
    traced, workgroups = launch.traced, launch.workgroups
    note_taken(traced.captured.all)
    for name in ("backend", "device", "timeout"):
        if options.get(name) is not None:
            raise no_place(f"argument `{name}` of {launch.label}", BESIDE_RESIDENT)
    where = (resident.backend, resident.device)
    arrays: list[Any] = []
    back: list[tuple[np.ndarray, Array]] = []
    results: list[Any] = []
    zeroed: list[Array] = []
    for each in launch.kernel._arrays:
        value = given.get(each.name)
        assert each.element is not None
        if value is None:
            dtype, lanes = NUMPY[each.element]
            value = array = _core._empty([*launch.shapes[each.name], *lanes], np.dtype(dtype), *where)
        elif isinstance(value, Array):
            array = value
            if each.kind == "Out" and each.name not in launch.whole:
                zeroed.append(array)
        elif each.kind == "Out":
            array = _core._empty(list(value.shape), value.dtype, *where)
            back.append((value, array))
        else:
            array = _core._array(np.ascontiguousarray(value), *where)
            if each.kind == "InOut":
                back.append((value, array))
        arrays.append(array)
        if each.kind != "In":
            results.append(value)
    if words:
        arrays.append(
            words[0] if len(words) == 1 else kept(traced, ("words", *words), np.array(words, np.uint32), where)
        )
    if launch.most is not None:
        arrays.append(launch.grid)
    for name, table in traced.tables.items():
        arrays.append(kept(traced, ("table", name), table, where))
    how = {"workgroups": workgroups, "optimize": options.get("optimize")}
    submit: Callable[..., Any] = traced.program
    by_invocations = False
    if isinstance(workgroups, DataGrid):
        how["workgroups"], how["at_most"], by_invocations = workgroups
        if by_invocations:
            submit = functools.partial(_core._call_for_invocations, traced.program)
    # The Out arrays are filled when the call has been planned, so that a call that is refused leaves them as they were.
    try:
        if zeroed:
            _core._plan_call(traced.program, by_invocations, *arrays, **how)
        _fill_with_zeros(zeroed)
        submit(*arrays, **how)
    except CapabilityError as error:
        if isinstance(workgroups, DataGrid):
            raise
        program, how["workgroups"] = in_halves(traced, workgroups, error, launch.label)
        _fill_with_zeros(zeroed)
        program(*arrays, **how)
    if traced.seen is not None:
        traced.seen(kept(traced, ("table", RECORDS), traced.tables[RECORDS], where))
    for host, array in back:
        np.copyto(host, array.numpy())
    return _bare(results)


def _fill_with_zeros(arrays: Sequence[Array]) -> None:
    for array in arrays:
        array.fill(array.dtype.type(0))


_MOST_KEPT = 64


def kept(traced: Traced, key: tuple[Any, ...], values: np.ndarray, where: tuple[str, int]) -> Array:
    """An array of words on the device, made once for as long as the kernel's program is kept."""
    key = (*key, *where)
    known = traced.kept.get(key)
    if known is None:
        known = traced.kept[key] = _core._array(values, *where)
        for old in list(traced.kept)[:-_MOST_KEPT]:
            traced.kept.pop(old, None)
    return known
