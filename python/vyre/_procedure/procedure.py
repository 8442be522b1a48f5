"""``@vyre.procedure``: a function of Python whose calls of kernels become one Procedure."""

from __future__ import annotations

import functools
import inspect
import threading
from collections import OrderedDict, deque
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn, overload

from vyre import _core
from vyre._arrays.graph import is_recording
from vyre._base.absent import refuse_of_procedure
from vyre._base.by_value import ByValue
from vyre._base.calls import explain_calls, misfit
from vyre._base.captured import Captures, Uncompared, read_by
from vyre._base.constants import key_of
from vyre._base.held import is_of_std
from vyre._base.refused import IN_CHECK, must_be, no_place, wrong_call
from vyre._base.taken import note_taken, taking
from vyre._base.text import shown, type_of
from vyre._core import DataType, Procedure
from vyre._kernel.mistakes import Mistake
from vyre._kernel.parameters import parameters_of
from vyre._kernel.recording import RECORDING, is_tracing
from vyre._procedure.arrays import ProcedureArray
from vyre._procedure.invocations import invoke
from vyre._procedure.on_disk import keep, key_on_disk, loaded
from vyre._procedure.recorded import Recorded, note
from vyre._procedure.recorder import ACTIVE, Recorder, active, place_text
from vyre._procedure.running import launch_of, run
from vyre._procedure.sizes import Size
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from vyre._arrays.checked import ProcedureCheckResult

__all__ = ["ProcedureFunction", "procedure"]

_MOST_MADE = 64
_MOST_RECORDINGS = 64  # in each other; the core allows fewer, and Python's stack not many more
_OPTIONS = ("out", "backend", "device", "timeout")


class ProcedureFunction(ByValue):
    """A function under ``@vyre.procedure``. Calling it runs it; see ``vyre.procedure``.

    Attributes:
        procedure: the Procedure that it records, for functions without ``const`` parameters.
        text: that procedure's text.
    """

    _operation = ""  # the id and version under which it is registered, if a call names it so

    def __init__(self, function: Callable[..., Any], name: str | None = None, is_vouched: bool = False) -> None:
        if type(function) is not FunctionType:
            raise must_be("what @vyre.procedure decorates", "a function", type_of(function))
        is_async = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
        if is_async or inspect.isgeneratorfunction(function):
            word = "async" if is_async else "yield"
            raise ArgumentError(
                f"procedure `{function.__name__}` is written with `{word}`, and its steps are recorded "
                "in one call. Fix: leave it out, and return the arrays, all at the end."
            )
        functools.update_wrapper(self, function, updated=())  # its attributes may have names of ours
        self.name: str = function.__name__ if name is None else name
        self._function = function
        try:
            self._parameters = parameters_of(function, returns=True)
        except Mistake as mistake:
            raise ArgumentError(f"procedure `{self.name}`: {mistake.problem}. Fix: {mistake.fix}.") from None
        for each in self._parameters:
            if each.kind == "Out":
                raise ArgumentError(
                    f"parameter `{each.name}` of procedure `{self.name}` is an Out, and a procedure returns what "
                    "it makes. "
                    f"Fix: write {each.name} = vyre.scratch(type, n) in its body, and return {each.name}."
                )
        self.is_vouched = is_vouched  # see vouched.py
        self._made: OrderedDict[Any, Recorded] = OrderedDict()
        self._copies: deque[Any] = deque(maxlen=_MOST_MADE)  # what the last recordings copied, see Recorder
        self._launch: Any = None  # see launch_of, and what it captured, once a call was right
        self._lock = threading.Lock()

    @property
    def procedure(self) -> Procedure:
        return self.specialize()

    @property
    def text(self) -> str:
        return self.procedure.to_text()

    def specialize(self, **constants: Any) -> Procedure:
        """The Procedure for some values of its ``const`` parameters."""
        return self._recorded(constants).core

    def _recorded(self, constants: dict[str, Any], *, is_exact: bool = False) -> Recorded:
        """``is_exact`` keeps kernels from all beyond their grids, for tools that report also what has no effect."""
        wanted = [each for each in self._parameters if each.kind == "const"]
        for each in wanted:
            if each.name not in constants:
                if not each.has_default:
                    call = f"specialize({', '.join(f'{e.name}=...' for e in wanted)})"
                    raise wrong_call(f"procedure `{self.name}`", f"misses const parameter `{each.name}`", call)
                constants[each.name] = each.default
        key: list[Any] = [is_exact]
        for each in wanted:
            key.append(key_of(constants[each.name], f"const parameter `{each.name}` of procedure `{self.name}`"))
        known = self._made.get(tuple(key))
        if known is None or not known.captured.is_same():
            # Tools that report what has no effect name lines of the library as well, which the disk does not have.
            known = (None if is_exact else self._of_library(constants)) or self._record(constants, is_exact)
            if not is_exact:
                known.exact = functools.partial(self._recorded, dict(constants), is_exact=True)
            with self._lock:
                self._made[tuple(key)] = known
                while len(self._made) > _MOST_MADE:
                    self._made.popitem(last=False)
        return known

    def _of_library(self, constants: dict[str, Any]) -> Recorded | None:
        """The recording of a procedure of the library, from the disk or put there."""
        if not is_of_std(self._function.__code__.co_filename):
            return None
        key = key_on_disk(self._function, self.name, constants)
        if key is None:
            return None
        core = loaded(key)
        if core is None:
            made = self._record(constants)
            if not made.captured.all:
                keep(key, made.core)
            return made
        return note(Recorded(core, None, again=lambda: self._record(constants)))

    def _refuse_deep(self, recorder: Recorder) -> None:
        """Refuse a recording within one of the same procedure, or within too many."""
        levels, outermost, outer = 0, recorder, recorder.outer
        while outer is not None:
            if outer.function is self:
                raise ArgumentError(
                    f"procedure `{self.name}` calls itself, while it is recorded. Fix: write a Python function of the "
                    "number of levels, which makes a procedure that calls the one of a level less."
                )
            levels, outermost, outer = levels + 1, outer, outer.outer
        if levels > _MOST_RECORDINGS:
            raise ArgumentError(
                f"procedure `{outermost.name}` nests invocations more than {_MOST_RECORDINGS} deep, and at most 32 are "
                "allowed. Fix: invoke fewer levels."
            )

    def _record(self, constants: dict[str, Any], is_exact: bool = False) -> Recorded:
        from vyre._procedure.dispatches import record_kernel  # which imports all that traces kernels

        recorder = Recorder(self.name, self, ACTIVE.recorder, is_exact)
        recorder.known = tuple(self._copies)
        self._refuse_deep(recorder)
        arguments: dict[str, Any] = {}
        for each in self._parameters:
            if each.kind == "const":
                arguments[each.name] = constants[each.name]
            elif each.is_array:
                assert each.element is not None
                role = "input" if each.kind == "In" else "in_out"
                arguments[each.name] = recorder.declare(each.name, role, each.element, each.axes)
            else:
                assert each.element is not None
                number = recorder.made.number(recorder.made.declare(each.name, each.element))
                recorder.numbers.append(each.name)
                if each.element is DataType.I32:
                    recorder.signed.add(number)
                arguments[each.name] = Size(recorder, number)
        before = ACTIVE.recorder, RECORDING.call
        ACTIVE.recorder, RECORDING.call = recorder, functools.partial(record_kernel, recorder)
        try:
            with taking() as taken:
                returned = self._function(**arguments)
        finally:
            ACTIVE.recorder, RECORDING.call = before
        recorder.refuse_lost_steps()
        if isinstance(returned, list):
            raise ArgumentError(
                f"procedure `{self.name}` returns a list, and its results are one array or a tuple. "
                "Fix: write return tuple(arrays)."
            )
        results = returned if isinstance(returned, tuple) else () if returned is None else (returned,)
        kept: list[int] = []
        for each in results:
            if not isinstance(each, ProcedureArray) or each._recorder is not recorder:
                raise ArgumentError(
                    f"procedure `{self.name}` returns {shown(each)}, and it can return arrays of its own. "
                    "Fix: return what vyre.scratch or a kernel's call has made."
                )
            decl = each._decl
            if each._slice is not None or each._element is not decl.element or len(each._shape) != decl.axes:
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
                recorder.made.role(decl.index, "output")
            recorder.made.result(decl.index)
            kept.append(decl.index)
        if len({*kept}) != len(kept):
            raise ArgumentError(f"procedure `{self.name}` returns an array twice. Fix: return it once.")
        roles = {each.role for each in recorder.arrays}
        if "scratch" in roles and not kept and "in_out" not in roles:
            raise ArgumentError(
                f"procedure `{self.name}` returns nothing and changes no array of its caller, so that its steps have "
                "no effect. Fix: return what they make, or annotate a parameter with vyre.InOut and write that."
            )
        if recorder.copied:
            self._copies.append(recorder.copied)
        try:
            captured = Captures([*read_by([self._function, *constants.values()]), *taken])
        except Uncompared as error:
            raise ArgumentError(f"{error.problem}{place_text(error.line)}. Fix: {error.fix}.") from None
        made = recorder.finish()
        if self.is_vouched:
            _core._vouch(made)
        return note(Recorded(made, recorder.trail, captured))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._launch is not None and not kwargs and ACTIVE.recorder is None and not is_recording():
            launch, captured = self._launch
            bindings = captured.bindings
            if bindings is not None or captured.is_same():
                result = launch(bindings, *args)
                if result is not NotImplemented:
                    return result
        if is_tracing():
            raise Mistake(
                "K004",
                f"procedure `{self.name}` is called in a kernel, and works on whole arrays",
                "call it beside this kernel, in a function under @vyre.procedure or where the kernel is called",
            )
        options = {name: kwargs.pop(name) for name in _OPTIONS if name in kwargs}
        given = self._given(args, kwargs)
        constants = {each.name: given[each.name] for each in self._parameters if each.kind == "const"}
        recorder = active()
        made = self._recorded(constants, is_exact=recorder is not None and recorder.is_exact)
        note_taken(made.captured.all)
        if recorder is not None:
            return invoke(self, recorder, made, given, options)
        result = self._run(made, given, options)
        if not options and (self._launch is None or self._launch[1] is not made.captured):
            launch = launch_of(self, made, args)
            self._launch = None if launch is None else (launch, made.captured)
        return result

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

        Outputs and scratch arrays begin as zeros that no step has written, unless they say ``zeros=True``: what reads
        or returns such an element is told with its step, its kernel and the lines of both. The arrays of the caller
        stay as they are.

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
                raise no_place(f"argument `{name}` of procedure `{self.name}`", IN_CHECK)
        return check_call(
            f"procedure `{self.name}`",
            lambda: call_of(self, self._given(args, kwargs), is_exact=True),
            schedule=schedule,
            checks=checks,
            max_reports=max_reports,
            timeout=timeout,
        )

    def _given(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        names = [each.name for each in self._parameters]
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        if len(args) <= len(names) and len(given) == len(args) + len(kwargs) and given.keys() <= set(names):
            given = {each.name: given.get(each.name, each.default) for each in self._parameters}
            if not any(value is inspect.Parameter.empty for value in given.values()):
                return given
        options = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in _OPTIONS]
        by_place = inspect.Parameter.POSITIONAL_OR_KEYWORD
        wanted = [inspect.Parameter(each.name, by_place, default=each.default) for each in self._parameters]
        raise misfit(f"procedure `{self.name}`", [*wanted, *options], args, kwargs, self._call_text())

    def _run(self, made: Recorded, given: dict[str, Any], options: dict[str, Any]) -> Any:
        return run(self, made, given, options)

    def __getitem__(self, grid: Any) -> NoReturn:
        # `kernel[blocks, threads](a)` is how CUDA's Python packages launch.
        who = f"procedure `{self.name}`"
        raise wrong_call(who, "is not indexed with blocks and threads", self._call_text())

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> NoReturn:
            refuse_of_procedure(self, name)

    def _call_text(self) -> str:
        return f"{self.__name__}({', '.join(each.name for each in self._parameters)})"

    def _repr_html_(self) -> str:
        from vyre._html.programs import procedure_function

        return procedure_function(self)

    def __repr__(self) -> str:
        return f"<vyre.procedure {self.name}({', '.join(each.name for each in self._parameters)})>"

    def _made_of(self) -> tuple[Any, ...]:
        return self._function, self.name, self.is_vouched


@overload
def procedure(function: Callable[..., Any], /) -> ProcedureFunction: ...
@overload
def procedure(*, name: str | None = None) -> Callable[[Callable[..., Any]], ProcedureFunction]: ...
def procedure(function: Any = None, /, *, name: str | None = None) -> Any:
    """Record a function once: its calls of kernels and of other procedures become the steps of one Procedure.

    The body computes with sizes (``x.length``) and makes arrays with ``vyre.scratch``; ``vyre.when``, ``vyre.times``
    and ``vyre.swap`` decide by sizes. Arrays begin as zeros. What the function returns are the outputs.

    A call takes numpy arrays and gives numpy arrays, or vyre.Arrays and gives those, without waiting. ``out=`` names
    arrays to write instead; ``backend= device=`` are as for vyre.run. ``timeout=`` is seconds, as there: for all steps
    together, once they may begin, and before that for a driver's compiler and each program. Taking memory and copying
    between numpy's arrays and the device cannot be interrupted and do not count. A call with resident arrays does not
    wait and takes no timeout: ``result.wait(timeout)`` has one.

    ``pickle`` takes the function by value with the kernels that it calls, as it takes a kernel.

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
