"""``@vyre.kernel``: a function of Python that runs on arrays, once an invocation of a grid.

The source is checked when the function is decorated, rewritten at the first call, and traced once for each set of
values of the constants; the last 64 programs are kept as long as what they captured stays the same. The base class, in
C++, answers calls that it has seen before. ``_call`` takes all others: it runs the plan (plans.py) of the last call
like it, or makes one. Calls that are too unusual for a plan are made in full (call.py).
Methods import what rewrites, traces and calls: most kernels of the library are only defined (_procedure/on_disk.py).
"""

from __future__ import annotations

import functools
import time
from collections import OrderedDict, deque
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn, overload

from vyre import _core
from vyre._base import log
from vyre._base.absent import refuse_of_kernel
from vyre._base.by_value import ByValue
from vyre._base.calls import explain_calls
from vyre._base.constants import key_of
from vyre._base.held import is_of_std
from vyre._base.refused import must_be, wrong_call
from vyre._base.text import shown, type_of
from vyre._kernel.arguments import call_text
from vyre._kernel.mistakes import Mistake, Spot, kernel_error
from vyre._kernel.parameters import parameters_of, workgroup_counts
from vyre._kernel.recording import OPEN, RECORDING, is_tracing
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    import inspect
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from vyre._arrays.checked import CheckResult
    from vyre._core import Program
    from vyre._devices import Device
    from vyre._diagnostics import Diagnostics
    from vyre._kernel.cost import Cost
    from vyre._kernel.explain import Explanation
    from vyre._kernel.lines import Marks
    from vyre._kernel.parameters import Parameter
    from vyre._kernel.plans import Plan
    from vyre._kernel.recorder import Recorder
    from vyre._kernel.rewriting.rewrite import Definition, Rewritten
    from vyre._kernel.trace import Traced

__all__ = ["Kernel", "kernel"]

_MOST_PROGRAMS = 64
_MOST_PLANS = 64


class Kernel(_core._KernelCalls, ByValue):
    """A kernel, as ``@vyre.kernel`` makes one. Calling it runs it; see ``vyre.kernel``.

    Attributes:
        program: the Program that it is compiled to, for kernels without ``const`` parameters.
        text: that program's text.
    """

    def __init__(self, function: Callable[..., Any], workgroup_size: int | Sequence[int] | None = None) -> None:
        size = None if workgroup_size is None else workgroup_counts(workgroup_size, "vyre.kernel")
        if type(function) is not FunctionType:
            raise must_be("what @vyre.kernel decorates", "a function", type_of(function))
        functools.update_wrapper(self, function, updated=())  # its attributes may have names of ours
        self._function, self._workgroup_size = function, size
        try:
            # The library's are read when they are traced, which most processes do not need.
            assigned = {} if self._is_of_std else self._definition.assigned
            self._parameters = parameters_of(function)
            _refuse_assigned(self._parameters, assigned)
        except Mistake as mistake:
            raise kernel_error(function.__name__, mistake, _definition(function)) from None
        self._constants = tuple(each for each in self._parameters if each.kind == "const")
        self._arrays = tuple(each for each in self._parameters if each.is_array)
        self._programs: OrderedDict[Any, Traced] = OrderedDict()
        self._plans: dict[Any, Plan | None] = {}  # the plans of earlier calls, by the signature of their arguments
        self._copies: deque[dict[int, Any]] = deque(maxlen=_MOST_PROGRAMS)  # the tables of the last traces, see Traced

    @functools.cached_property
    def _definition(self) -> Definition:
        from vyre._kernel.rewriting.rewrite import Definition

        return Definition(self._function, is_kernel=True)

    @property
    def _is_of_std(self) -> bool:
        return is_of_std(self._function.__code__.co_filename)

    @property
    def _rewritten(self) -> Rewritten:
        try:
            return self._definition.rewritten()
        except Mistake as mistake:
            raise kernel_error(self.__name__, mistake, _definition(self._function)) from None

    @property
    def program(self) -> Program:
        return self._traced_alone("program").program

    def _traced_alone(self, asked: str) -> Traced:
        """The trace of a kernel without constants."""
        if self._constants:
            raise ArgumentError(
                f"kernel `{self.__name__}` has a program for each value of `{self._constants[0].name}`. "
                f"Fix: write .specialize({', '.join(f'{each.name}=...' for each in self._constants)}).{asked}."
            )
        return self._traced({})

    @property
    def text(self) -> str:
        return self.program.to_text()

    def specialize(self, **constants: Any) -> Specialized:
        """Make a kernel in which the ``const`` parameters have these values.

        It takes the other parameters, and can do what any kernel can.

        Raises: CallError for a missing or unknown name, KernelError.

        >>> import numpy as np
        >>> import vyre
        >>> @vyre.kernel
        ... def scaled(x: vyre.In[vyre.u32], k: vyre.const, y: vyre.Out[vyre.u32]):
        ...     i = vyre.gid(0)
        ...     y[i] = x[i] * k
        >>> tripled = scaled.specialize(k=3)
        >>> tripled(np.array([1, 2], np.uint32), backend="reference")
        array([3, 6], dtype=uint32)
        >>> tripled.program.workgroup_size
        (256, 1, 1)
        """
        call_text = f"specialize({', '.join(f'{each.name}=...' for each in self._constants)})"
        return Specialized(self, self._chosen(constants, call_text))

    def _chosen(self, constants: dict[str, Any], call_text: str) -> dict[str, Any]:
        """The values of all constants; ``call_text`` is how messages write what the caller writes.

        Raises: CallError for a missing or unknown name.
        """
        for name in constants:
            if all(each.name != name for each in self._constants):
                raise wrong_call(f"kernel `{self.__name__}`", f"has no const parameter `{name[:80]}`", call_text)
        made = {}
        for each in self._constants:
            if each.name not in constants and not each.has_default:
                raise wrong_call(f"kernel `{self.__name__}`", f"misses const parameter `{each.name}`", call_text)
            made[each.name] = constants.get(each.name, each.default)
        return made

    def cost(self, *args: Any, **kwargs: Any) -> Cost:
        """Count what a call would do, from the shapes of its arrays, without running it. The result prints as a table.

        It counts the operations by kind, the bytes that are loaded and stored by array, the atomics, and the turns of
        loops, of all invocations of the grid. These are the operations of the program as it is written, before it is
        optimised. A count is exact where shapes and numbers determine it. Where memory decides a branch, the costlier
        side counts. A loop without a proven bound is listed with its line and the counts of one turn.

        Args:
            args, kwargs: as for a call, where a shape may stand for an array: ``cost(a=(1024,), n=5)`` or ``cost(1024,
                5)``. A number that is left out may be any. ``grid=`` and ``workgroups=`` are as for a call.

        Raises: what the call raises for its arguments; ArgumentError for a value that is no shape.

        >>> import vyre
        >>> @vyre.kernel
        ... def scaled(a: vyre.In[vyre.u32], k: vyre.u32, out: vyre.Out[vyre.u32]):
        ...     i = vyre.gid(0)
        ...     if i < len(out):
        ...         out[i] = a[i] * k
        >>> print(scaled.cost(a=1000))
        scaled: 1,024 invocations
                        kind  count
          operations          2,024
                        lt    1,024
                        mul   1,000
          bytes loaded  a     4,000
          bytes stored  out   4,000
        """
        from vyre._kernel.cost import cost_of  # most programs do not ask for it

        return cost_of(self, args, kwargs)

    def explain(
        self,
        *,
        backend: str | None = None,
        device: int | Device | None = None,
        optimize: bool | Collection[str] | None = None,
        timeout: float | None = None,
    ) -> Explanation:
        """Show what the kernel became on a device: helpers and operations that were inlined, bounds checks that are
        kept and dropped with their lines, the instructions, memory and limits, what the driver tells (registers and the
        like, by CUDA also the occupancy; by Vulkan where it has VK_KHR_pipeline_executable_properties), and the notes.
        It prints, and notebooks draw it.

        Args:
            backend, device: where it is compiled, as for vyre.run.
            optimize: as for vyre.run.
            timeout: seconds that the compiler may take.

        Raises: what a call raises before it runs; ArgumentError for a kernel with ``const`` parameters:
            ``k.specialize(...).explain()``.

        >>> import vyre
        >>> @vyre.kernel(workgroup_size=64)
        ... def scaled(a: vyre.In[vyre.u32], k: vyre.u32, out: vyre.Out[vyre.u32]):
        ...     i = vyre.gid(0)
        ...     if i < len(out):
        ...         out[i] = a[i] * k
        >>> explanation = scaled.explain(backend="cpu")
        >>> explanation.instructions["loads"], explanation.workgroup_size
        (2, (64, 1, 1))
        """
        from vyre._kernel.explain import explained  # most programs do not ask for it

        return explained(self.__name__, self._traced_alone("explain()"), backend, device, optimize, timeout)

    def notes(self, *args: Any, **kwargs: Any) -> Diagnostics:
        """Notes about what is probably a mistake in the kernel, or in a call of it, with lines of its source.

        Without arguments, the notes are about the kernel alone. With the arguments of a call (``grid=`` and
        ``workgroups=`` as well), N004 reports elements that the grid does not reach, for counts by value alone; nothing
        runs.

        >>> import vyre
        >>> @vyre.kernel
        ... def count(x: vyre.In[vyre.u32], total: vyre.InOut[vyre.u32]):
        ...     i = vyre.gid(0)
        ...     if i < len(x):
        ...         total[0] += x[i]
        >>> [(note.rule, note.message.partition(". Fix:")[0]) for note in count.notes()]
        [('N005', 'vyre IR note: plain read-modify-write of `total`')]
        >>> count.notes()[0].hint
        'write total.atomic_add(index, value) instead of this statement.'
        """
        from vyre._kernel.launch import Launch, given_and_options, traced_for
        from vyre._kernel.notes import notes_of

        if not args and not kwargs:
            return notes_of(self.program)
        given, options = given_and_options(self, args, kwargs)
        traced = traced_for(self, given)
        return notes_of(traced.program, Launch(self, traced, given, options))

    def check(
        self,
        *args: Any,
        schedule: str | None = None,
        checks: str | Iterable[str] = "all",
        max_reports: int = 100,
        timeout: float | None = None,
        **kwargs: Any,
    ) -> CheckResult:
        """Run a call once on the reference, and report its mistakes: checked execution, as ``vyre.check``.

        The arrays of the caller stay as they are, and the outputs are in the result. An Out that is left out, or given
        as an array, begins as zeros that nothing wrote: an element that is read before is reported.

        Args:
            args, kwargs: as for a call; ``grid=`` and ``workgroups=`` as well, ``backend=``, ``device=``, ``optimize=``
                and ``at_most=`` have no place.
            schedule, checks, max_reports, timeout: as for vyre.check.

        Returns: a CheckResult: ``.ok``, ``.reports``, ``.outputs``.

        Raises: what the call raises for its arguments, and what vyre.check raises.

        >>> import numpy as np
        >>> import vyre
        >>> @vyre.kernel
        ... def total(x: vyre.In[vyre.u32], sum: vyre.InOut[vyre.u32]):
        ...     i = vyre.gid(0)
        ...     if i < len(x):
        ...         sum[0] += x[i]
        >>> result = total.check(np.arange(4, dtype=np.uint32), np.zeros(1, np.uint32), grid=4)
        >>> [report.check for report in result.reports]
        ['race']
        """
        from vyre._kernel.call import checked_call

        return checked_call(
            self,
            args,
            dict(kwargs),
            {"schedule": schedule, "checks": checks, "max_reports": max_reports, "timeout": timeout},
        )

    def _traced(self, constants: dict[str, Any]) -> Traced:
        key = tuple([self._key_of(name, value) for name, value in constants.items()])
        known = self._programs.get(key)
        if known is not None and known.captured.is_same():
            self._programs.move_to_end(key)
            return known
        began = time.perf_counter()
        made = self._programs[key] = self._traced_anew(self._rewritten, constants)
        log.debug("kernel `%s` was traced in %.1f ms", self.__name__, (time.perf_counter() - began) * 1e3)
        self._programs.move_to_end(key)
        if len(self._programs) > _MOST_PROGRAMS:
            self._programs.popitem(last=False)
        return made

    def _traced_anew(
        self, rewritten: Rewritten, constants: Mapping[str, Any], recorder: Recorder | Marks | None = None
    ) -> Traced:
        from vyre._kernel.tails import tails_of
        from vyre._kernel.trace import trace

        known = {number: table for tables in list(self._copies) for number, table in tables.items()}
        made = trace(rewritten, self._parameters, constants, self._workgroup_size, known, recorder)
        if made.copied:
            self._copies.append(made.copied)
        if recorder is not None:  # what is recorded is no effect of the kernel
            made.tails = tails_of(self._traced(dict(constants)))
        return made

    def _key_of(self, name: str, value: Any) -> Any:
        return key_of(value, f"const parameter `{name}` of kernel `{self.__name__}`")

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        """Carry out a call that the core leaves to Python: it has no plan yet, or this thread records or traces."""
        if RECORDING.call is not None and not is_tracing():
            return RECORDING.call(self, args, dict(kwargs))
        seen = OPEN.seen
        if seen is not None and not is_tracing():
            return seen._call(self, args, dict(kwargs))
        from vyre._kernel.call import call
        from vyre._kernel.plans import Plan, signature

        key = None if is_tracing() else signature(self, args, kwargs)
        if key is None:
            return call(self, args, kwargs)
        known = self._plans.get(key)
        plan = known if known is not None and known.is_current() else Plan(self, args, kwargs)
        result = plan.run(args, kwargs)
        # A kernel that is called in ever new ways keeps no plan of a call that comes once.
        is_kept = known is not None or len(self._plans) < _MOST_PLANS or key in self._plans
        if plan is not known:
            self._plans[key] = plan if is_kept else None
            for old in list(self._plans)[:-_MOST_PLANS]:  # another thread may drop it too
                self._plans.pop(old, None)
        if is_kept:
            plan.remember_call(args, kwargs)
        return result

    @property
    def _called(self) -> str:
        """How a call of the kernel is written, without its arguments."""
        return self.__name__

    def _repr_html_(self) -> str:
        from vyre._html.programs import kernel

        return kernel(self)

    def __getitem__(self, grid: Any) -> NoReturn:
        # `kernel[blocks, threads](a)` is how CUDA's Python packages launch.
        raise wrong_call(f"kernel `{self.__name__}`", "is not indexed with blocks and threads", call_text(self))

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> NoReturn:
            refuse_of_kernel(self, name)

    def __repr__(self) -> str:
        return f"<vyre.Kernel {self.__name__}({', '.join(each.name for each in self._parameters)})>"

    def _made_of(self) -> tuple[Any, ...]:
        return self._function, self._workgroup_size


class Specialized(Kernel):
    """A kernel for some values of its ``const`` parameters: the kernel that has the others alone.

    Attributes:
        program: the Program.
        text: its text.
    """

    def __init__(self, kernel: Kernel, constants: dict[str, Any]) -> None:
        functools.update_wrapper(self, kernel._function, updated=())
        self._kernel, self._chosen_constants = kernel, constants
        self._function, self._workgroup_size = kernel._function, kernel._workgroup_size
        self._definition = kernel._definition
        self._parameters = [each for each in kernel._parameters if each.kind != "const"]
        from inspect import signature as signature_of

        full = signature_of(kernel._function)
        left = [full.parameters[each.name] for each in self._parameters]
        self.__signature__: inspect.Signature = full.replace(parameters=left)
        self._constants, self._arrays = (), kernel._arrays
        self._plans = {}
        self._traced({})  # so that a wrong constant shows here

    def _traced(self, constants: dict[str, Any]) -> Traced:
        return self._kernel._traced({**self._chosen_constants, **constants})

    def _traced_anew(
        self, rewritten: Rewritten, constants: Mapping[str, Any], recorder: Recorder | Marks | None = None
    ) -> Traced:
        return self._kernel._traced_anew(rewritten, {**self._chosen_constants, **constants}, recorder)

    @property
    def _called(self) -> str:
        chosen = ", ".join(f"{name}={shown(value)}" for name, value in self._chosen_constants.items())
        return f"{self.__name__}.specialize({chosen})"

    def _repr_html_(self) -> str:
        from vyre._html.programs import specialized

        return specialized(self)

    def __repr__(self) -> str:
        chosen = ", ".join(f"{name}={shown(value)}" for name, value in self._chosen_constants.items())
        return f"{super().__repr__()[:-1]} of {chosen}>" if chosen else super().__repr__()

    def _made_of(self) -> tuple[Any, ...]:
        return self._kernel, self._chosen_constants


def _refuse_assigned(parameters: Sequence[Parameter], assigned: dict[str, Spot]) -> None:
    """Python would give the name of an Out array to another value, and the array would stay zeros."""
    for each in parameters:
        if each.kind in ("Out", "InOut") and each.name in assigned:
            index = ", ".join("zyx"[3 - each.axes :]) if each.axes > 1 else "i"
            raise Mistake(
                "K008",
                f"`{each.name}` is assigned as a whole, which stores nothing into the array",
                f"assign an element, as in {each.name}[{index}]",
                assigned[each.name],
            )


def _definition(function: FunctionType) -> Any:
    return Spot(function.__code__.co_filename, function.__code__.co_firstlineno, 0, 0)


@overload
def kernel(function: Callable[..., Any], /) -> Kernel: ...
@overload
def kernel(*, workgroup_size: int | Sequence[int] | None = None) -> Callable[[Callable[..., Any]], Kernel]: ...
def kernel(function: Any = None, /, *, workgroup_size: int | Sequence[int] | None = None) -> Any:
    """Compile a function: each invocation of a grid runs its body. The call takes arrays and gives back what it made.

    The body is Python on values that are unknown until it runs: ``if``, ``for ... in range``, ``while``, conditional
    expressions and ``and or not`` become control flow of the device, and loops over Python sequences are unrolled.
    Operators go by types, and an integer gets the type of the other operand. Plain functions that it calls are inlined.

    Args:
        workgroup_size: invocations of a workgroup along x, y, z; needed where the kernel has barriers, shared arrays or
            local and workgroup ids. None takes 256, (16, 16) or (8, 8, 4), by the axes that the body asks ``gid``
            about, at most as many as the output has; a call may run the same invocations in workgroups of another
            shape.

    Parameters of the function are ``In``, ``Out`` and ``InOut`` arrays (``In[vyre.u32]``, ``In[vyre.u32, 2]`` for two
    axes), scalars (``n: vyre.u32``) and constants (``k: vyre.const``).

    A call takes numpy arrays and gives numpy arrays, or vyre.Arrays and gives those, without waiting. An Out that is
    left out has the shape of the first array with as many axes. ``grid=`` counts invocations, x first; without it,
    the grid is the shape of the first Out or InOut, last axis first, and must reach the end of an array whose length
    an ``if`` compares ``vyre.gid`` with. It is exact: invocations that the size of a workgroup adds do nothing. A
    kernel with a barrier takes whole workgroups, unless it compares ``vyre.gid`` with a length before it stores.
    ``workgroups=`` counts workgroups. With resident arrays either may be a vyre.Array of three u32, which the device
    reads when the call begins, and ``at_most=`` is the largest grid. ``out= backend= device= optimize= timeout=`` are
    as for vyre.run.

    ``pickle`` and cloudpickle take a kernel by value, also one of a notebook, a script or another function: the text of
    its file, its options, and the values and helpers that it reads; helpers and classes of modules go by name, so that
    the other process has to import these. ArgumentError names what cannot be pickled.

    Raises: KernelError with the line and the columns: at decoration for what a kernel cannot have, at the first call or
        ``.program`` for the rest. BindingError, ArgumentError and the others of vyre.run for calls.

    >>> import numpy as np
    >>> import vyre
    >>> @vyre.kernel
    ... def saxpy(a: vyre.In[vyre.u32], x: vyre.In[vyre.u32], k: vyre.u32, y: vyre.Out[vyre.u32]):
    ...     i = vyre.gid(0)
    ...     if i < len(y):
    ...         y[i] = a[i] * k + x[i]
    >>> saxpy(np.array([1, 2], np.uint32), np.array([10, 20], np.uint32), 3, backend="reference")
    array([13, 26], dtype=uint32)
    """

    def decorate(given: Any) -> Kernel:
        return Kernel(given, workgroup_size)

    return decorate if function is None else decorate(function)


explain_calls(globals(), "vyre")
