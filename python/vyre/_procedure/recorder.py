"""The recording of a procedure's body: scratch arrays, branches, repetitions, and calls of kernels and procedures."""

from __future__ import annotations

import contextlib
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre._array import _NUMPY
from vyre._calls import explain_calls
from vyre._core import DataType
from vyre._kernel import call as kernel_call
from vyre._kernel.parameters import _type_for
from vyre._kernel.tracer import is_tracing
from vyre._procedure.arrays import ProcedureArray
from vyre._procedure.leaving import refuse_left_blocks
from vyre._procedure.sizes import SIZES, Size, as_size, ceil_div
from vyre._procedure.steps import ArrayDecl, Clear, Dispatch, Part, Repeat, Swap, When
from vyre._text import as_count, shown
from vyre.errors import ArgumentError, BindingError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from vyre._kernel.kernel import Kernel

__all__ = [
    "ACTIVE",
    "Recorder",
    "calling_line",
    "clear",
    "otherwise",
    "record_kernel",
    "scratch",
    "swap",
    "times",
    "when",
]


# The private modules of the package: no procedure is written in one.
_OURS = str(Path(__file__).parents[1] / "_")


def calling_line() -> tuple[str, int] | None:
    """The file and the line that call into the recording, which a report of a step names."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith((_OURS, contextlib.__file__)):
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


class _Active(threading.local):
    recorder: Recorder | None = None


ACTIVE = _Active()
_MOST_ELEMENTS = 2**32 - 1
_DTYPES = {name: element for element, (name, lanes) in _NUMPY.items() if not lanes and element is not DataType.Bytes}
_MOST_STEPS = 100_000
_MOST_NESTED = 32


class Recorder:
    """Collects the arrays and steps of one procedure."""

    def __init__(self, name: str, function: Any, outer: Recorder | None) -> None:
        self.name, self.function, self.outer = name, function, outer
        self.arrays: list[ArrayDecl] = []
        self.blocks: list[list[Any]] = [[]]
        self.count = 0
        self.turns = 0
        self.answered: When | None = None  # the last condition whose other block began
        self.left = False  # whether a loop over vyre.times was left by break or return

    def add(self, step: Any) -> None:
        self.count += 1
        if self.count > _MOST_STEPS:
            raise ArgumentError(
                f"procedure `{self.name}` has more than {_MOST_STEPS} steps. Fix: repeat with vyre.times(count)."
            )
        self.blocks[-1].append(step)

    def declare(self, decl: ArrayDecl) -> ArrayDecl:
        taken = {each.name for each in self.arrays}
        if decl.name in taken:
            k = 1
            while f"{decl.name}{k}" in taken:
                k += 1
            decl.name = f"{decl.name}{k}"
        self.arrays.append(decl)
        return decl

    def table(self, values: np.ndarray, name: str) -> ProcedureArray:
        """An array with contents, once however often it is used."""
        if isinstance(values, np.ma.MaskedArray):
            raise BindingError(
                "a table of a procedure is a masked array. Fix: write .filled(0) to give the masked elements a value."
            )
        if values.size > _MOST_ELEMENTS:  # before it is copied: a view that repeats elements may have any size
            raise BindingError(
                f"a table of a procedure has {values.size} elements, and an array has at most {_MOST_ELEMENTS}. "
                "Fix: process the data in parts."
            )
        values = np.ascontiguousarray(values)
        for each in self.arrays:
            known = each.contents
            if known is not None and known.dtype == values.dtype and np.array_equal(known, values):
                return ProcedureArray(self, each, each.element, each.shape)
        element = _DTYPES.get(values.dtype.name)
        if element is None or not values.dtype.isnative:
            fix = "uint32" if element is None else values.dtype.name
            raise BindingError(
                f"a table of a procedure must have elements of {', '.join(_DTYPES)}, got {values.dtype}. "
                f"Fix: write table.astype(np.{fix})."
            )
        kept = values.copy()
        kept.flags.writeable = False
        decl = ArrayDecl(name, "table", element, kept.ndim, kept.shape, contents=kept)
        self.declare(decl)
        return ProcedureArray(self, decl, element, kept.shape)

    @contextmanager
    def nested(self, steps: list[Any]) -> Iterator[None]:
        if len(self.blocks) > _MOST_NESTED:
            raise ArgumentError(
                f"procedure `{self.name}` nests vyre.when and vyre.times deeper than {_MOST_NESTED}. "
                "Fix: move the inner part into a procedure of its own."
            )
        self.blocks.append(steps)
        try:
            yield
        finally:
            self.blocks.pop()

    def array(self, value: Any, where: str) -> ProcedureArray:
        """An argument that must be an array of this procedure, or a table."""
        if isinstance(value, np.ndarray):
            return self.table(value, "table")
        if not isinstance(value, ProcedureArray):
            raise BindingError(
                f"{where} must be an array of the procedure, got an object of type {type(value).__name__[:80]}. "
                "Fix: pass a parameter, what vyre.scratch has made, or a numpy array, which becomes a table."
            )
        if value._recorder is not self:
            raise BindingError(
                f"{where} is an array of procedure `{value._recorder.name}`, and procedure `{self.name}` is recorded. "
                "Fix: pass it as an argument."
            )
        return value


def _recorder(function: str) -> Recorder:
    recorder = ACTIVE.recorder
    if recorder is None:
        raise ArgumentError(
            f"{function} is for the body of a procedure. Fix: call it in a function under @vyre.procedure."
        )
    return recorder


def scratch(dtype: DataType, *shape: Size | int, zeros: bool = False, name: str = "scratch") -> Any:
    """Make an array of the procedure that is recorded. What the procedure returns becomes its output.

    Args:
        dtype: the type of its elements.
        shape: elements along each of one to three axes, integers or sizes.
        zeros: whether each run begins with zeros in it. Otherwise the procedure has to write what it reads or returns.
        name: what the procedure's text calls it.

    Raises: ArgumentError.

    >>> import numpy as np
    >>> import vyre
    >>> @vyre.kernel
    ... def doubled(x: vyre.In[vyre.u32], y: vyre.Out[vyre.u32]):
    ...     i = vyre.gid(0)
    ...     y[i] = x[i] * 2
    >>> @vyre.procedure
    ... def four_times(x: vyre.In[vyre.u32]):
    ...     twice, result = vyre.scratch(vyre.u32, x.length), vyre.scratch(vyre.u32, x.length)
    ...     doubled(x, twice)
    ...     doubled(twice, result)
    ...     return result
    >>> four_times(np.arange(4, dtype=np.uint32), backend="cpu")
    array([ 0,  4,  8, 12], dtype=uint32)
    """
    recorder = _recorder("vyre.scratch")
    if len(shape) == 1 and isinstance(shape[0], tuple):
        shape = shape[0]
    if not isinstance(dtype, DataType) or dtype not in _NUMPY or dtype is DataType.Bytes:
        raise ArgumentError(
            f"argument `dtype` of vyre.scratch must be a type, got {shown(dtype)}. Fix: write "
            "vyre.scratch(vyre.u32, n)."
        )
    if not 1 <= len(shape) <= 3:
        raise ArgumentError(
            f"vyre.scratch takes one to three axes, got {len(shape)}. Fix: write vyre.scratch({_type_for(dtype)}, n)."
        )
    extents = tuple(as_size(each, "argument `shape` of vyre.scratch") for each in shape)
    made = ArrayDecl(name, "scratch", dtype, len(extents), extents, zeros=bool(zeros), line=calling_line())
    decl = recorder.declare(made)
    return ProcedureArray(recorder, decl, dtype, extents)


def when(condition: Size | bool | int) -> AbstractContextManager[None]:
    """Run the steps of the with-block only where a condition on sizes holds.

    The condition is decided when the procedure is planned for the arrays of a call. ``vyre.otherwise`` may follow.

    >>> import vyre
    >>> @vyre.procedure
    ... def cleared(x: vyre.InOut[vyre.u32]):
    ...     with vyre.when(x.length > 100):
    ...         vyre.clear(x)
    """
    refuse_left_blocks("when(...)")
    return _when(condition)


@contextmanager
def _when(condition: Any) -> Iterator[None]:
    recorder = _recorder("vyre.when")
    step = When(
        as_size(int(condition) if isinstance(condition, bool) else condition, "argument `condition` of vyre.when")
    )
    recorder.add(step)
    with recorder.nested(step.steps):
        yield


def otherwise() -> AbstractContextManager[None]:
    """Run the steps of the with-block where the condition of the ``vyre.when`` before it does not hold.

    >>> import vyre
    >>> @vyre.procedure
    ... def cleared(x: vyre.InOut[vyre.u32], y: vyre.InOut[vyre.u32]):
    ...     with vyre.when(x.length > 100):
    ...         vyre.clear(x)
    ...     with vyre.otherwise():
    ...         vyre.clear(y)
    """
    refuse_left_blocks("otherwise()")
    return _otherwise()


@contextmanager
def _otherwise() -> Iterator[None]:
    recorder = _recorder("vyre.otherwise")
    steps = recorder.blocks[-1]
    if not steps or not isinstance(steps[-1], When) or steps[-1] is recorder.answered:
        raise ArgumentError(
            "vyre.otherwise does not follow a vyre.when. Fix: write it directly behind that with-block."
        )
    recorder.answered = steps[-1]
    with recorder.nested(steps[-1].otherwise):
        yield


def times(count: Size | int) -> Iterator[Any]:
    """Repeat the steps of a loop's body: ``for i in vyre.times(count):`` runs once here, and ``i`` is a Size.

    >>> import vyre
    >>> @vyre.kernel
    ... def add(x: vyre.InOut[vyre.u32], k: vyre.u32):
    ...     i = vyre.gid(0)
    ...     x[i] += k
    >>> @vyre.procedure
    ... def sums(x: vyre.InOut[vyre.u32], n: vyre.u32):
    ...     for i in vyre.times(n):
    ...         add(x, i)
    >>> x = vyre.zeros(2, backend="cpu")
    >>> sums(x, 5)
    >>> x.numpy()
    array([10, 10], dtype=uint32)
    """
    recorder = _recorder("vyre.times")
    recorder.turns += 1
    step = Repeat(as_size(count, "argument `count` of vyre.times"), Size("turn", f"turn{recorder.turns}"))
    recorder.add(step)
    with recorder.nested(step.steps):
        try:
            yield step.turn
        except GeneratorExit:
            recorder.left = True
            raise


def swap(a: Any, b: Any) -> None:
    """Exchange two arrays of the procedure for the steps that follow, in a repetition for its next turns as well.

    Both are whole arrays of one type and shape that ``vyre.scratch`` has made.

    >>> import vyre
    >>> @vyre.kernel
    ... def step(x: vyre.In[vyre.u32], y: vyre.Out[vyre.u32]):
    ...     i = vyre.gid(0)
    ...     y[i] = x[i] + x[i + 1]
    >>> @vyre.procedure
    ... def rows(x: vyre.In[vyre.u32], n: vyre.u32):
    ...     a, b = vyre.scratch(vyre.u32, x.length), vyre.scratch(vyre.u32, x.length)
    ...     step(x, a)
    ...     for _ in vyre.times(n):
    ...         step(a, b)
    ...         vyre.swap(a, b)
    ...     return a
    """
    recorder = _recorder("vyre.swap")
    arrays = [recorder.array(each, f"argument `{name}` of vyre.swap") for name, each in (("a", a), ("b", b))]
    for each in arrays:
        if (
            each._slice is not None
            or each._element is not each._decl.element
            or each._decl.role not in ("scratch", "output")
        ):
            raise ArgumentError(
                "vyre.swap exchanges whole arrays that vyre.scratch has made. Fix: copy into one first."
            )
    if arrays[0]._element is not arrays[1]._element:
        raise ArgumentError("vyre.swap exchanges arrays of one type. Fix: make both with the same type and shape.")
    recorder.add(Swap(arrays[0]._decl, arrays[1]._decl))


def clear(array: Any) -> None:
    """Fill an array of the procedure with zeros at this place.

    >>> import vyre
    >>> @vyre.procedure
    ... def cleared(x: vyre.InOut[vyre.u32]):
    ...     vyre.clear(x)
    >>> x = vyre.arange(3, backend="cpu")
    >>> cleared(x)
    >>> x.numpy()
    array([0, 0, 0], dtype=uint32)
    """
    recorder = _recorder("vyre.clear")
    cleared = recorder.array(array, "argument `array` of vyre.clear")
    recorder.add(Clear(_written(cleared, "vyre.clear"), calling_line()))


def _written(array: ProcedureArray, where: str) -> Part:
    if array._decl.role in ("input", "table"):
        raise BindingError(
            f"{where} writes `{array._decl.name}`, which is an {array._decl.role} of the procedure. "
            f"Fix: annotate it with vyre.InOut, or write into an array of vyre.scratch."
        )
    return array._part()


def record_kernel(recorder: Recorder, kernel: Kernel, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Record a call of a kernel as a dispatch."""
    options = {name: kwargs.pop(name) for name in kernel_call._OPTIONS if name in kwargs}
    for name in ("backend", "device", "optimize", "timeout"):
        if options.get(name) is not None:
            raise ArgumentError(
                f"argument `{name}` of kernel `{kernel.__name__}` is given in a procedure, which runs as a whole. "
                f"Fix: give `{name}` to the procedure's call."
            )
    given = kernel_call._given(kernel, args, kwargs)
    traced = kernel._traced({each.name: given[each.name] for each in kernel._constants})
    arrays = _arrays(recorder, kernel, given)
    grid, counts, most, asked = _grid(recorder, kernel, traced.program.workgroup_size, arrays, options)
    words: list[Any] = []
    for each in kernel._arrays:
        if each.axes > 1:
            words.extend(arrays[each.name]._shape)
    words += _numbers(kernel, given)
    for axis in traced.grid_axes:
        if asked is None:
            raise ArgumentError(
                f"kernel `{kernel.__name__}` calls vyre.grid_size, and its grid comes from an array. "
                "Fix: give the kernel the size as a u32 parameter or an In array."
            )
        words.append(asked[axis] if axis < len(asked) else 1)
    bound: list[Any] = []
    for each in kernel._arrays:
        array = arrays[each.name]
        bound.append(array._part() if each.kind == "In" else _written(array, f"kernel `{kernel.__name__}`"))
    if words:
        bound.append(tuple(words))
    for name, values in traced.tables.items():
        bound.append(recorder.table(values, name.strip("_") or "table")._part())
    if counts is not None:
        recorder.add(
            Dispatch(
                traced.program,
                tuple(bound),
                counts._part(),
                options.get("grid") is not None,
                most,
                kernel.__name__,
                calling_line(),
            )
        )
    else:
        recorder.add(Dispatch(traced.program, tuple(bound), grid, name=kernel.__name__, line=calling_line()))
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
            raise BindingError(
                f"{where} must have elements of {each.element}, got {array!r}. "
                f"Fix: write .view({_type_for(each.element)}) for the same bytes, or convert in a kernel."
            )
        if len(array._shape) != each.axes:
            raise BindingError(
                f"{where} must have {each.axes} axes, got {array!r}. Fix: annotate the parameter with the axes of "
                "the array."
            )
    for each in kernel._arrays:
        if each.name in arrays:
            continue
        like = next((arrays[o.name] for o in kernel._arrays if o.axes == each.axes and o.name in arrays), None)
        if like is None:
            raise BindingError(
                f"argument `{each.name}` of kernel `{kernel.__name__}` is left out, and no array with {each.axes} "
                f"axes says its shape. Fix: pass vyre.scratch({_type_for(each.element)}, ...)."
            )
        assert each.element is not None
        arrays[each.name] = scratch(each.element, *like._shape, name=each.name)
    return arrays


def _numbers(kernel: Kernel, given: dict[str, Any]) -> list[Any]:
    words: list[Any] = []
    for each in kernel._parameters:
        if each.kind != "scalar":
            continue
        value = given[each.name]
        if isinstance(value, Size):
            words.append(value % 2**32)
            if each.element is DataType.U64:
                words.append(value // 2**32)
            continue
        if each.element is DataType.Bool and isinstance(value, (bool, np.bool_)):
            words.append(int(value))
            continue
        low, high = kernel_call._RANGES.get(each.element, (0, 1))  # type: ignore[arg-type]
        count = as_count(value)
        if count is None or not low <= count <= high:
            raise BindingError(
                f"argument `{each.name}` of kernel `{kernel.__name__}` must be a size or an integer from {low} to "
                f"{high}, got "
                f"{shown(value)}. Fix: pass a vyre.Size such as x.length, or an integer in that range."
            )
        words.append(count & 0xFFFFFFFF)
        if each.element is DataType.U64:
            words.append(count >> 32)
    return words


def _counts(value: Any, kernel: Kernel, argument: str) -> tuple[Any, ...]:
    counts = value if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(counts) <= 3 or not all(isinstance(each, SIZES) for each in counts):
        raise ArgumentError(
            f"argument `{argument}` of kernel `{kernel.__name__}` must be one to three sizes, got {shown(value)}. "
            f"Fix: write {argument}=x.length."
        )
    where = f"argument `{argument}` of kernel `{kernel.__name__}`"
    return tuple(as_size(each, where) for each in counts) + (1,) * (3 - len(counts))


def _grid(
    recorder: Recorder, kernel: Kernel, size: Sequence[int], arrays: dict[str, ProcedureArray], options: dict[str, Any]
) -> tuple[tuple[Any, ...], ProcedureArray | None, tuple[Any, ...] | None, tuple[Any, ...] | None]:
    """The workgroups; or the array that has the counts, and the most workgroups; and the invocations asked for."""
    grid, workgroups, most = options.get("grid"), options.get("workgroups"), options.get("at_most")
    if grid is not None and workgroups is not None:
        raise ArgumentError(f"kernel `{kernel.__name__}` is given both grid= and workgroups=. Fix: give one of them.")
    argument = "grid" if workgroups is None else "workgroups"
    given = grid if workgroups is None else workgroups

    def covering(counts: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(ceil_div(count, extent) for count, extent in zip(counts, size, strict=True))

    if isinstance(given, ProcedureArray):
        counts = recorder.array(given, f"argument `{argument}` of kernel `{kernel.__name__}`")
        if most is None:
            raise ArgumentError(
                f"kernel `{kernel.__name__}` is given {argument}= as an array and no at_most=, the largest counts. "
                "Fix: write at_most=x.length."
            )
        largest = _counts(most, kernel, "at_most")
        return (), counts, covering(largest) if argument == "grid" else largest, None
    if most is not None:
        raise ArgumentError(
            f"argument `at_most` of kernel `{kernel.__name__}` is for counts in an array. Fix: leave `at_most` out."
        )
    if workgroups is not None:
        groups = _counts(workgroups, kernel, "workgroups")
        return groups, None, None, tuple(count * extent for count, extent in zip(groups, size, strict=True))
    if grid is None:
        made = next((each for kind in ("Out", "InOut") for each in kernel._arrays if each.kind == kind), None)
        if made is None:
            raise ArgumentError(
                f"kernel `{kernel.__name__}` has no Out or InOut array to take a grid from. Fix: write grid=x.length."
            )
        grid = tuple(reversed(arrays[made.name]._shape))
    asked = _counts(grid, kernel, "grid")
    return covering(asked), None, None, asked


def active() -> Recorder | None:
    """The recording of this thread, unless it traces a kernel."""
    recorder = ACTIVE.recorder
    return None if recorder is None or is_tracing() else recorder


explain_calls(globals(), "vyre")
