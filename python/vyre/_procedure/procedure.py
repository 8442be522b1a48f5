"""``@vyre.procedure``: a function of Python whose calls of kernels become one Procedure."""

from __future__ import annotations

import functools
import inspect
import threading
from collections import OrderedDict
from types import FunctionType
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from vyre import _core
from vyre._array import _NUMPY
from vyre._calls import explain_calls
from vyre._core import Array, DataType, Procedure
from vyre._default import place
from vyre._kernel.call import _RANGES
from vyre._kernel.mistakes import Mistake
from vyre._kernel.parameters import Parameter, _type_for, parameters_of
from vyre._kernel.recording import RECORDING
from vyre._procedure.arrays import ProcedureArray
from vyre._procedure.core import core_procedure
from vyre._procedure.recorder import ACTIVE, Recorder, active, calling_line, record_kernel
from vyre._procedure.sizes import Size, substituted
from vyre._procedure.steps import ArrayDecl, Invoke, Recorded
from vyre._text import as_count, shown
from vyre.errors import ArgumentError, BindingError, CallError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from vyre._check import ProcedureCheckResult

__all__ = ["ProcedureFunction", "procedure"]

_MOST_MADE = 64
_OPTIONS = ("out", "backend", "device")


def _told_apart(value: Any) -> Any:
    """A key of a constant: 1, 1.0 and True are equal, and a body may tell them apart."""
    if type(value) is tuple:
        return tuple, *map(_told_apart, value)
    return type(value), repr(value) if type(value) is float else value


class ProcedureFunction:
    """A function under ``@vyre.procedure``. Calling it runs it; see ``vyre.procedure``.

    Attributes:
        procedure: the Procedure that it records, for functions without ``const`` parameters.
        text: that procedure's text.
    """

    def __init__(self, function: Callable[..., Any], name: str | None = None) -> None:
        if type(function) is not FunctionType:
            raise ArgumentError(
                f"@vyre.procedure decorates a function, got an object of type {type(function).__name__[:80]}. "
                "Fix: write it above a def with annotated parameters."
            )
        functools.update_wrapper(self, function)
        self.name = function.__name__ if name is None else name
        self._function = function
        try:
            self._parameters = parameters_of(function)
        except Mistake as mistake:
            raise ArgumentError(f"procedure `{self.name}`: {mistake.problem}. Fix: {mistake.fix}.") from None
        for each in self._parameters:
            if each.kind == "Out":
                raise ArgumentError(
                    f"parameter `{each.name}` of procedure `{self.name}` is an Out, and a procedure returns what "
                    "it makes. "
                    f"Fix: write {each.name} = vyre.scratch(type, n) in its body, and return {each.name}."
                )
        self._made: OrderedDict[Any, Recorded] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def procedure(self) -> Procedure:
        return self.specialize()

    @property
    def text(self) -> str:
        return self.procedure.to_text()

    def specialize(self, **constants: Any) -> Procedure:
        """The Procedure for some values of its ``const`` parameters."""
        return core_procedure(self._recorded(constants))

    def _recorded(self, constants: dict[str, Any]) -> Recorded:
        wanted = [each for each in self._parameters if each.kind == "const"]
        for each in wanted:
            if each.name not in constants:
                if not each.has_default:
                    raise CallError(
                        f"procedure `{self.name}` misses const parameter `{each.name}`. "
                        f"Fix: write specialize({', '.join(f'{e.name}=...' for e in wanted)})."
                    )
                constants[each.name] = each.default
        for each in wanted:
            try:
                hash(constants[each.name])
            except TypeError:
                raise ArgumentError(
                    f"const parameter `{each.name}` of procedure `{self.name}` has a value that cannot be told from "
                    f"others, got {shown(constants[each.name])}. Fix: pass an integer, a tuple of integers or another "
                    "value that does not change."
                ) from None
        key = tuple(_told_apart(constants[each.name]) for each in wanted)
        known = self._made.get(key)
        if known is None:
            known = self._record(constants)
            with self._lock:
                self._made[key] = known
                while len(self._made) > _MOST_MADE:
                    self._made.popitem(last=False)
        return known

    def _record(self, constants: dict[str, Any]) -> Recorded:
        outer = ACTIVE.recorder
        recorder = Recorder(self.name, self, outer)
        while outer is not None:
            if outer.function is self:
                raise ArgumentError(
                    f"procedure `{self.name}` calls itself, while it is recorded. Fix: write a Python function of the "
                    "number of levels, which makes a procedure that calls the one of a level less."
                )
            outer = outer.outer
        arguments: dict[str, Any] = {}
        numbers: list[tuple[str, DataType]] = []
        for each in self._parameters:
            if each.kind == "const":
                arguments[each.name] = constants[each.name]
            elif each.is_array:
                assert each.element is not None
                role = "input" if each.kind == "In" else "in_out"
                decl = recorder.declare(ArrayDecl(each.name, role, each.element, each.axes))
                shape = tuple(Size("length", decl, axis) for axis in range(each.axes))
                arguments[each.name] = ProcedureArray(recorder, decl, each.element, shape)
            else:
                assert each.element is not None
                numbers.append((each.name, each.element))
                arguments[each.name] = Size("number", each.name, recorder)
        before = ACTIVE.recorder, RECORDING.call
        ACTIVE.recorder, RECORDING.call = recorder, functools.partial(record_kernel, recorder)
        try:
            returned = self._function(**arguments)
        finally:
            ACTIVE.recorder, RECORDING.call = before
        if recorder.left or len(recorder.blocks) > 1:
            raise ArgumentError(
                f"procedure `{self.name}` leaves a loop over vyre.times by break or return, and each turn runs all "
                "steps. Fix: write `with vyre.when(condition):` in the loop, and return behind it."
            )
        results = returned if isinstance(returned, tuple) else () if returned is None else (returned,)
        outputs: list[ArrayDecl] = []
        kept: list[ArrayDecl] = []
        for each in results:
            if not isinstance(each, ProcedureArray) or each._recorder is not recorder:
                raise ArgumentError(
                    f"procedure `{self.name}` returns {shown(each)}, and it can return arrays of its own. "
                    "Fix: return what vyre.scratch or a kernel's call has made."
                )
            decl = each._decl
            if each._slice is not None or each._element is not decl.element:
                raise ArgumentError(
                    f"procedure `{self.name}` returns a part or a view of `{decl.name}`. Fix: return the whole array."
                )
            if decl.role == "input" or decl.role == "table":
                raise ArgumentError(
                    f"procedure `{self.name}` returns its {decl.role} `{decl.name}`. Fix: copy it into an array "
                    "of vyre.scratch."
                )
            if decl.role == "scratch":
                decl.role = "output"
                outputs.append(decl)
            kept.append(decl)
        if len({id(each) for each in kept}) != len(kept):
            raise ArgumentError(f"procedure `{self.name}` returns an array twice. Fix: return it once.")
        return Recorded(self.name, recorder.arrays, numbers, recorder.blocks[0], outputs, kept, recorder)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        options = {name: kwargs.pop(name) for name in _OPTIONS if name in kwargs}
        given = self._given(args, kwargs)
        constants = {each.name: given[each.name] for each in self._parameters if each.kind == "const"}
        made = self._recorded(constants)
        recorder = active()
        if recorder is not None:
            return self._invoked(recorder, made, given, options)
        return self._run(made, given, options)

    def check(
        self,
        *args: Any,
        schedule: str | None = None,
        checks: str | Iterable[str] = "all",
        max_reports: int = 100,
        timeout: float | None = None,
        **kwargs: Any,
    ) -> ProcedureCheckResult:
        """Run a call step by step on the reference, and report its mistakes: checked execution, as ``vyre.check``.

        Outputs and scratch arrays begin with any bytes, as in each run: what reads or returns an element that no step
        has written is told with its step, its kernel and the lines of both. The arrays of the caller stay as they are.

        Args:
            args, kwargs: as for a call; ``out=``, ``backend=`` and ``device=`` have no place.
            schedule, checks, max_reports, timeout: as for vyre.check; the timeout is that of all steps.

        Returns: a ProcedureCheckResult: ``.ok``, ``.reports``, ``.outputs``.

        Raises: what the call raises for its arguments, and what vyre.check raises.

        >>> import numpy as np
        >>> import vyre
        >>> @vyre.kernel
        ... def evens(x: vyre.In[vyre.u32], y: vyre.Out[vyre.u32]):
        ...     i = vyre.gid(0)
        ...     if i < len(y) and i % 2 == 0:
        ...         y[i] = x[i]
        >>> @vyre.procedure
        ... def forgetful(x: vyre.In[vyre.u32]):
        ...     y = vyre.scratch(vyre.u32, x.length)
        ...     evens(x, y)
        ...     return y
        >>> report = forgetful.check(np.arange(4, dtype=np.uint32)).reports[0]
        >>> report.check, report.array, report.index, report.count
        ('uninitialised-read', 'scratch', 1, 2)
        """
        from vyre._procedure.check import check_call  # it is made on top of this module
        from vyre._procedure.flat import call_of

        for name in _OPTIONS:
            if name in kwargs:
                raise ArgumentError(
                    f"argument `{name}` of procedure `{self.name}` has no place in a check, which runs on the "
                    f"reference and gives new arrays. Fix: leave `{name}` out."
                )
        return check_call(
            f"procedure `{self.name}`",
            lambda: call_of(self, self._given(args, kwargs)),
            schedule=schedule,
            checks=checks,
            max_reports=max_reports,
            timeout=timeout,
        )

    def _given(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        call_text = f"{self.__name__}({', '.join(each.name for each in self._parameters)})"
        if len(args) > len(self._parameters):
            raise CallError(
                f"procedure `{self.name}` takes {len(self._parameters)} arguments, got {len(args)}. Fix: write "
                f"{call_text}."
            )
        given = {each.name: value for each, value in zip(self._parameters, args, strict=False)}
        for name, value in kwargs.items():
            if all(each.name != name for each in self._parameters):
                meant = _core._did_you_mean(name, [*(each.name for each in self._parameters), *_OPTIONS])
                fix = f"write {meant.split('`')[1]}=" if meant else f"write {call_text}"
                raise CallError(f"procedure `{self.name}` has no parameter `{name[:80]}`{meant}. Fix: {fix}.")
            if name in given:
                raise CallError(f"procedure `{self.name}` got argument `{name}` twice. Fix: write {call_text}.")
            given[name] = value
        for each in self._parameters:
            if each.name not in given:
                if each.default is inspect.Parameter.empty:
                    raise CallError(f"procedure `{self.name}` misses argument `{each.name}`. Fix: write {call_text}.")
                given[each.name] = each.default
        return given

    def _invoked(self, recorder: Recorder, made: Recorded, given: dict[str, Any], options: dict[str, Any]) -> Any:
        for name in ("backend", "device"):
            if options.get(name) is not None:
                raise ArgumentError(
                    f"argument `{name}` of procedure `{self.name}` is given in a procedure, which runs as a whole. "
                    f"Fix: give `{name}` to the outer procedure's call."
                )
        core_procedure(made)  # it has sizes of its own alone
        arrays: dict[str, ProcedureArray] = {}
        numbers: dict[str, Any] = {}
        for each in self._parameters:
            where = f"argument `{each.name}` of procedure `{self.name}`"
            if each.is_array:
                array = arrays[each.name] = recorder.array(given[each.name], where)
                if array._element is not each.element or len(array._shape) != each.axes:
                    raise BindingError(
                        f"{where} must be an array of {each.element} with {each.axes} axes, got {array!r}. "
                        "Fix: pass another array, or a .view of it."
                    )
                if each.kind == "InOut" and array._decl.role in ("input", "table"):
                    raise BindingError(
                        f"{where} is written, and `{array._decl.name}` is an {array._decl.role} of the procedure. "
                        "Fix: annotate it with vyre.InOut, or copy it into an array of vyre.scratch."
                    )
            elif each.kind == "scalar":
                value = given[each.name]
                if isinstance(value, Size):
                    numbers[each.name] = value
                else:
                    numbers[each.name] = self._number(each, value)

        def leaf(size: Size) -> Size | int:
            if size.op == "length":
                return arrays[size.args[0].name]._shape[size.args[1]]
            return numbers[size.args[0]] if size.op == "number" else size

        out = self._outs(made, options.get("out"))
        results: dict[int, ProcedureArray] = {}
        for decl, wanted in zip(made.outputs, out, strict=True):
            shape = tuple(substituted(each, leaf) for each in decl.shape)
            if wanted is None:
                new = ArrayDecl(decl.name, "scratch", decl.element, decl.axes, shape, line=calling_line())
                recorder.declare(new)
                results[id(decl)] = ProcedureArray(recorder, new, decl.element, shape)
                continue
            array = recorder.array(wanted, f"argument `out` of procedure `{self.name}`")
            if (
                array._element is not decl.element
                or len(array._shape) != decl.axes
                or array._decl.role in ("input", "table")
            ):
                raise BindingError(
                    f"argument `out` of procedure `{self.name}` must be a writable array of {decl.element} with "
                    f"{decl.axes} "
                    f"axes, got {array!r}. Fix: pass vyre.scratch({_type_for(decl.element)}, ...)."
                )
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

    def _outs(self, made: Recorded, out: Any) -> Sequence[Any]:
        if out is None:
            return [None] * len(made.outputs)
        given = out if isinstance(out, tuple) else (out,)
        if len(given) != len(made.outputs):
            raise ArgumentError(
                f"argument `out` of procedure `{self.name}` must have {len(made.outputs)} arrays, got {len(given)}. "
                f"Fix: write out=({', '.join(each.name for each in made.outputs)})."
            )
        return given

    def _number(self, parameter: Parameter, value: Any) -> int:
        where = f"argument `{parameter.name}` of procedure `{self.name}`"
        if parameter.element is DataType.Bool:
            if not isinstance(value, (bool, np.bool_)):
                raise BindingError(
                    f"{where} must be True or False, got {shown(value)}. Fix: write {parameter.name} != 0."
                )
            return int(value)
        low, high = _RANGES[parameter.element]  # type: ignore[index]
        count = None if isinstance(value, np.ndarray) else as_count(value)
        if count is None or not low <= count <= high:
            raise BindingError(
                f"{where} must be an integer from {low} to {high}, got {shown(value)}. Fix: write an integer in "
                "that range."
            )
        return count & 0xFFFFFFFF if parameter.element is DataType.I32 else count

    def _run(self, made: Recorded, given: dict[str, Any], options: dict[str, Any]) -> Any:
        resident = next((v for v in given.values() if isinstance(v, Array)), None)
        if resident is not None:
            for name in ("backend", "device"):
                if options.get(name) is not None:
                    raise ArgumentError(
                        f"argument `{name}` of procedure `{self.name}` is for numpy arrays; resident ones run "
                        "where they are. "
                        f"Fix: leave `{name}` out."
                    )
        where = (
            (resident.backend, resident.device)
            if resident is not None
            else place(options.get("backend"), options.get("device"))
        )
        arrays: list[Array] = []
        back: list[tuple[np.ndarray, Array]] = []
        for decl in made._of_role("input", "in_out"):
            value = given[decl.name]
            array = self._array(decl, value, resident, where)
            if decl.role == "in_out" and isinstance(value, np.ndarray):
                back.append((value, array))
            arrays.append(array)
        numbers = [self._number(each, given[each.name]) for each in self._parameters if each.kind == "scalar"]
        out = self._outs(made, options.get("out"))
        for decl, wanted in zip(made.outputs, out, strict=True):
            self._check_out(decl, wanted)
        self._check_apart([(decl.name, given[decl.name]) for decl in made._of_role("in_out")], out)
        if not arrays:
            if any(isinstance(each, Array) for each in out):
                beside = next(each for each in out if isinstance(each, Array))
            else:
                beside = _core._empty([0], np.dtype(np.uint32), *where)
        else:
            beside = arrays[0]
        for each in [*arrays, *(o for o in out if isinstance(o, Array))]:
            if (each.backend, each.device) != (beside.backend, beside.device):
                raise BindingError(
                    f"procedure `{self.name}` got arrays of two devices. Fix: make all with the same `backend` "
                    "and `device`."
                )
        targets = [each if isinstance(each, Array) else None for each in out]
        if not made.is_checked:
            core_procedure(made).check()
            made.is_checked = True
        outputs = _core._run_procedure(core_procedure(made), arrays, numbers, targets, beside.backend, beside.device)
        on_host = resident is None and not any(isinstance(each, Array) for each in out)
        by_decl: dict[int, Any] = {}
        for decl, array, wanted in zip(made.outputs, outputs, out, strict=True):
            if isinstance(wanted, np.ndarray) and wanted.shape != array.shape:
                raise self._wrong_out(decl, tuple(array.shape), wanted)
        for decl, array, wanted in zip(made.outputs, outputs, out, strict=True):
            if isinstance(wanted, np.ndarray):
                np.copyto(wanted, array.numpy(), casting="no")
                by_decl[id(decl)] = wanted
            else:
                by_decl[id(decl)] = array.numpy() if on_host else array
        for host, array in back:
            np.copyto(host, array.numpy(), casting="safe")
        for decl in made._of_role("in_out"):
            by_decl[id(decl)] = given[decl.name]
        results = tuple(by_decl[id(decl)] for decl in made.results)
        return results[0] if len(results) == 1 else results or None

    def _check_out(self, decl: ArrayDecl, wanted: Any) -> None:
        """Refuse what results cannot be written to. The core checks resident arrays."""
        where = f"argument `out` of procedure `{self.name}`"
        dtype, _ = _NUMPY[decl.element]
        if wanted is None or isinstance(wanted, Array):
            return
        if not isinstance(wanted, np.ndarray) or isinstance(wanted, np.ma.MaskedArray):
            raise BindingError(
                f"{where} must be an array of {dtype}, got an object of type {type(wanted).__name__[:80]}. "
                "Fix: pass a numpy array or a vyre.Array."
            )
        if wanted.dtype.name != dtype or not wanted.dtype.isnative:
            raise BindingError(
                f"{where} must be an array of {dtype} for `{decl.name}`, got one of {wanted.dtype}. "
                f"Fix: make it with np.zeros(shape, np.{dtype})."
            )
        if not wanted.flags.writeable:
            raise BindingError(f"{where} is written, and the array is read-only. Fix: pass a .copy() of it.")

    def _wrong_out(self, decl: ArrayDecl, shape: tuple[int, ...], wanted: np.ndarray) -> ArgumentError:
        dtype, _ = _NUMPY[decl.element]
        return ArgumentError(
            f"argument `out` of procedure `{self.name}` must be an array of {dtype} with shape {shape} for "
            f"`{decl.name}`, got one of shape {wanted.shape}. Fix: make it with np.zeros({shape}, np.{dtype})."
        )

    def _check_apart(self, changed: list[tuple[str, Any]], out: Sequence[Any]) -> None:
        """Refuse numpy arrays that are written and overlap: one result would overwrite the other."""
        written = [pair for pair in [*changed, *(("out", each) for each in out)] if isinstance(pair[1], np.ndarray)]
        for k, (name, value) in enumerate(written):
            for other, beside in written[:k]:
                if np.shares_memory(value, beside):
                    raise BindingError(
                        f"arguments `{other}` and `{name}` of procedure `{self.name}` overlap in memory, and both are "
                        "written. Fix: give each its own array, for instance a copy."
                    )

    def _array(self, decl: ArrayDecl, value: Any, resident: Array | None, where: tuple[Any, Any]) -> Array:
        dtype, lanes = _NUMPY[decl.element]
        name = f"argument `{decl.name}` of procedure `{self.name}`"
        if isinstance(value, (bytes, bytearray, memoryview)) and dtype == "uint8" and decl.role == "input":
            value = np.frombuffer(value.tobytes() if isinstance(value, memoryview) else value, np.uint8)
        if not isinstance(value, (np.ndarray, Array)):
            raise BindingError(
                f"{name} must be an array of {dtype}, got an object of type {type(value).__name__[:80]}. "
                "Fix: pass a numpy array or a vyre.Array."
            )
        if value.dtype.name != dtype or not value.dtype.isnative:
            raise BindingError(
                f"{name} must be an array of {dtype}, got {value.dtype}. Fix: write .astype(np.{dtype})."
            )
        if value.ndim != decl.axes + len(lanes) or tuple(value.shape[value.ndim - len(lanes) :]) != lanes:
            axes = (
                f"{decl.axes} ax{'is' if decl.axes == 1 else 'es'}{f' and a last one of {lanes[0]}' if lanes else ''}"
            )
            raise BindingError(f"{name} must have {axes}, got shape {value.shape}. Fix: reshape it.")
        if isinstance(value, Array):
            return value
        if isinstance(value, np.ma.MaskedArray):
            raise BindingError(f"{name} is a masked array. Fix: write {decl.name}.filled(0).")
        if decl.role == "in_out" and not (value.flags.writeable and value.flags.c_contiguous):
            raise BindingError(
                f"{name} is written, and the array is read-only or not C-contiguous. Fix: write "
                f"{decl.name}={decl.name}.copy()."
            )
        host = np.ascontiguousarray(value).reshape(value.shape)
        if resident is not None:
            return _core._array(host, resident.backend, resident.device)
        return _core._array(host, *where)

    def __repr__(self) -> str:
        return f"<vyre.procedure {self.name}({', '.join(each.name for each in self._parameters)})>"

    def __reduce__(self) -> str:
        return self.__qualname__


@overload
def procedure(function: Callable[..., Any], /) -> ProcedureFunction: ...
@overload
def procedure(*, name: str | None = None) -> Callable[[Callable[..., Any]], ProcedureFunction]: ...
def procedure(function: Any = None, /, *, name: str | None = None) -> Any:
    """Record a function once: its calls of kernels and of other procedures become the steps of one Procedure.

    The body computes with sizes (``x.length``) and makes arrays with ``vyre.scratch``; ``vyre.when``, ``vyre.times``
    and ``vyre.swap`` decide by sizes. In a step an Out array is not zeroed. What the function returns are the outputs.

    A call takes numpy arrays and gives numpy arrays, or vyre.Arrays and gives those, without waiting. ``out=`` names
    arrays to write instead; ``backend= device=`` are as for vyre.run.

    Args:
        name: of the Procedure; None takes that of the function.

    Raises: ArgumentError for what cannot be recorded; for calls BindingError, CallError and what the kernels raise.

    >>> import numpy as np
    >>> import vyre
    >>> @vyre.kernel
    ... def doubled(x: vyre.In[vyre.u32], y: vyre.Out[vyre.u32]):
    ...     i = vyre.gid(0)
    ...     y[i] = x[i] * 2
    >>> @vyre.procedure
    ... def powers(x: vyre.In[vyre.u32], k: vyre.u32):
    ...     a, b = vyre.scratch(vyre.u32, x.length), vyre.scratch(vyre.u32, x.length)
    ...     doubled(x, a)
    ...     for _ in vyre.times(k):
    ...         doubled(a, b)
    ...         vyre.swap(a, b)
    ...     return a
    >>> powers(np.arange(4, dtype=np.uint32), 3, backend="cpu")
    array([ 0, 16, 32, 48], dtype=uint32)
    """

    def decorate(given: Any) -> ProcedureFunction:
        return ProcedureFunction(given, name)

    return decorate if function is None else decorate(function)


explain_calls(globals(), "vyre")
