"""Traces a kernel's function into a Program: makes values for its parameters, inlines helpers, and declares buffers.

``trace`` runs the rewritten function with a Tracer and expressions for its arguments, declares a buffer for each array
that it used, and validates the Program. Whatever goes wrong becomes a KernelError at a place in the user's source:
mistakes of the kernel, rules that the Program breaks, in the words of kernels, and Python's own exceptions. The values
that the function captured are kept, because the Program holds only as long as they stay the same.
"""

from __future__ import annotations

import builtins
import functools
import re
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._base.calls import LISTED
from vyre._base.captured import Captured, Captures, Uncompared, all_code, captured_of, read_by
from vyre._base.held import is_compared, is_library
from vyre._base.interrupts import is_of_signal_handler
from vyre._base.program_names import of_function
from vyre._base.taken import taking
from vyre._base.types import TYPES
from vyre._core import BufferAccess, BufferDecl, DataType, Expr, Program
from vyre._kernel.arrays import KernelArray
from vyre._kernel.assignments import at_assignments, at_spot, note_lets
from vyre._kernel.inside import gid, lid, wid
from vyre._kernel.mistakes import Mistake, Spot, kernel_error, spot_of
from vyre._kernel.rewriting.rewrite import Definition, Rewritten
from vyre._kernel.tracer import Tracer
from vyre._kernel.user_terms import in_user_terms
from vyre._kernel.usual_size import usual_size
from vyre._kernel.words import PARAMS, Word, layout
from vyre.errors import ArgumentError, KernelError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vyre._kernel.assignments import Spots
    from vyre._kernel.lines import Marks
    from vyre._kernel.parameters import Parameter
    from vyre._kernel.recorder import Recorder
    from vyre._kernel.tails import Tails

__all__ = ["RECORDS", "Traced", "trace"]

# The buffer of what a Recorder records.
RECORDS = "__vyre_records"
_MOST_INLINED = 200
_BY_WORKGROUPS = (BufferAccess.Workgroup, BufferAccess.Private)  # they have no binding


class Traced:
    """A kernel's Program, and what its calls need beside that."""

    def __init__(
        self,
        function: FunctionType,
        program: Program,
        tables: dict[str, np.ndarray],  # in the order of their bindings
        layout: list[Word],  # of PARAMS
        captured: Captures,
        inlined: dict[FunctionType, int],  # each helper, and how often
        copied: dict[int, tuple[np.ndarray, np.ndarray]],  # the captured tables by their ids, each with its copy
        is_size_chosen: bool,  # the kernel names no workgroup size, and its bytes do not depend on one
    ) -> None:
        self.function, self.program, self.tables, self.layout = function, program, tables, layout
        self.captured, self.inlined, self.copied, self.is_size_chosen = captured, inlined, copied, is_size_chosen
        self.seen: Callable[[Any], None] | None = None  # takes the words of RECORDS after a run
        self.kept: dict[Any, Any] = {}  # words and tables on devices, the oldest first
        self.halves: Program | None = None  # the program with smaller workgroups, once a device has needed it
        # The same in wide workgroups, once a call has them; the trace itself where none may.
        self.wider: Traced | None = None
        self.tails: Tails | None = None  # what it does beyond a grid, once a call has asked
        self.guarded: dict[Any, Traced] = {}  # the same, but without effect beyond a grid; see tails.py

    def with_program(self, program: Program, layout: list[Word] | None = None) -> Traced:
        """The same of a program that does the same in another way."""
        of_kernel = layout or self.layout, self.captured, self.inlined, self.copied, self.is_size_chosen
        made = Traced(self.function, of_function(program, self.function), self.tables, *of_kernel)
        made.seen, made.kept = self.seen, self.kept
        return made


def trace(
    rewritten: Rewritten,
    parameters: Sequence[Parameter],
    constants: Mapping[str, Any],
    workgroup_size: tuple[int, ...] | None,
    copies: dict[int, tuple[np.ndarray, np.ndarray]] | None = None,
    recorder: Recorder | Marks | None = None,
) -> Traced:
    """Run the rewritten function on expressions, and check the Program that it makes."""
    function = rewritten.original
    marks = recorder is not None and recorder.marks_lines
    inliner = _Inliner(rewritten, _marked_helper if marks else _rewritten_helper)
    tracer = Tracer(inliner.find, copies)
    program = None
    try:
        with tracer, taking() as taken:
            arguments, words = _arguments(tracer, parameters, constants)
            tracer.grid_word = len(words)
            if recorder is not None:
                recorder.begin(tracer, inliner.is_traced)
            rewritten.bound(tracer.view)(**arguments)
        words += [Word(None, axis) for axis in tracer.grid_axes]
        size, buffers = _layout(tracer, parameters, len(words), workgroup_size)
        if recorder is not None:
            buffers += recorder.buffers(sum(each.access not in _BY_WORKGROUPS for each in buffers))
        program = Program(buffers, size, tracer.block)
        program.check()
        of_function(program, function)
    except Mistake as mistake:
        raise kernel_error(
            function.__name__, mistake, spot_of(mistake.__traceback__, inliner.is_traced) or rewritten.spot
        ) from None
    except KernelError:
        raise
    except ValidationError as error:
        told: Sequence[Any] = error.diagnostics
        spots = functools.cache(lambda: _spots(rewritten, parameters, constants, copies))
        if program is not None:
            told = at_assignments(told, program, tracer.slots, spots)
        raise KernelError(_in_words_of_kernels(told, tracer, spots)) from None
    except RecursionError:
        raise kernel_error(
            function.__name__,
            Mistake(
                "K007",
                "the kernel is nested deeper than Python's stack",
                "use loops that run on the device: `for i in range(n)`",
            ),
            rewritten.spot,
        ) from None
    except Exception as error:
        spot = spot_of(error.__traceback__, inliner.is_traced)
        if spot is None or is_of_signal_handler(error):
            raise
        raised = _of_python(error, function)
        raise kernel_error(function.__name__, raised, spot) from raised.__cause__
    tables = {name: values for name, (values, _) in tracer.table_values().items()}
    return Traced(
        function,
        program,
        tables,
        words,
        inliner.captured(taken),
        inliner.inlined,
        tracer.copied,
        is_size_chosen=workgroup_size is None,
    )


def _spots(
    rewritten: Rewritten,
    parameters: Sequence[Parameter],
    constants: Mapping[str, Any],
    copies: dict[int, tuple[np.ndarray, np.ndarray]] | None,
) -> Spots:
    inliner = _Inliner(rewritten, _rewritten_helper)
    tracer = Tracer(inliner.find, copies)
    spots = note_lets(tracer, inliner.is_traced)
    with tracer:
        arguments, words = _arguments(tracer, parameters, constants)
        tracer.grid_word = len(words)
        rewritten.bound(tracer)(**arguments)
    return spots


# Patterns of V010's hints for programs, each with the Fix for a kernel. `{}` is the line of the statement.
_BARRIERS = {
    r"takes the Return \((.*?)\)": (
        "only a part of a workgroup takes the `return` ({}). Write `done = 0` at the start and `done = 1` in its "
        "place, and put each store and atomic that may run after it into `if done == 0:`, the barrier into none."
    ),
    r"takes the Break \((.*?)\)": (
        "only a part of a workgroup takes the `break` ({}). Write `left = 0` before its loop and `left = 1` in its "
        "place, and put each store, atomic and assignment of the loop that may run after it, in later turns too, into "
        "`if left == 0:`, the barrier into none."
    ),
    r"enters the If \((.*?)\)": (
        "only a part of a workgroup enters the `if` ({}), because its condition differs. End it before the barrier, "
        "and write the same `if` again for what follows."
    ),
    r"the bounds of the Loop \((.*?)\)": (
        "the bounds of the loop ({}) differ within a workgroup. Write bounds that are the same for all, and put what "
        "stands beside the barrier into an `if`."
    ),
    "": (
        "only a part of a workgroup goes on in the loop around it. Write a loop that has the same number of turns "
        "for all, and put what stands beside the barrier into an `if`."
    ),
}


def _barrier_hint(hint: str) -> str:
    for pattern, text in _BARRIERS.items():
        if found := re.search(pattern, hint):
            return text.format(*found.groups())
    return ""


_TOO_SMALL = r"(.*)literal (-\d+) does not fit (`u\d+` \(0 to \d+\))"


def _in_words_of_kernels(diagnostics: Sequence[Any], tracer: Tracer, spots: Callable[[], Spots]) -> list[Any]:
    """The first diagnostic of each place, with the user's names, and hints that say what to write in a kernel.

    ``spots`` tells where variables are assigned.
    """
    slots, starts = tracer.slots, tracer.starts
    seen = set()
    made = []
    for each in in_user_terms(diagnostics):
        at = (each.place.file, each.place.line, each.place.column, each.place.end_column)
        if at in seen and each.place.line is not None:
            continue
        seen.add(at)
        cast = re.search(r"Expr\.cast\(DataType\.(\w+)", each.hint)
        hint = f"wrap the value in vyre.{TYPES[DataType[cast[1]]].spelled}(...)." if cast else ""
        if each.rule == "V010":
            hint = _barrier_hint(each.hint)
        # The operations that there are, how one that is a procedure is called, and what is computed in place of a cast.
        if each.rule in ("V016", "V020") or each.hint.startswith("write vyre."):
            hint = each.hint
        message = re.sub(r"variable `(\w+)`", lambda found: f"variable `{slots.get(found[1], found[1])}`", each.message)
        small = re.match(_TOO_SMALL, message)
        begins = re.search(r"Fix: begin variable `(\w+)`", message)
        if small is not None and begins is not None:
            hint = f"write {begins[1]} = vyre.i32(...) where it begins."
            spot = spots().get((begins[1], int(small[2])))
            each = each if spot is None else at_spot(each, spot)
        # A literal that is the whole value of a statement is one with which a variable begins.
        if small is not None and each.place.path.endswith("].value"):
            before, literal, kind = small.groups()
            names = list(dict.fromkeys(name for name, value in starts if value == int(literal)))
            if names:
                variables = " or ".join(f"`{name}`" for name in names)
                fix = f"begin it with its type, {names[0]} = vyre.i32({literal})"
                message = f"{before}variable {variables} begins as {literal} and is a {kind}. Fix: {fix}."
                spot = spots().get((names[0], int(literal)))
                each = each if spot is None else at_spot(each, spot)
        made.append(_core._diagnostic_from_state(each.rule, message.encode(), each.place, hint.encode()))
    return made


_AXES = ("x", "y", "z")
_INDICES = ("i", "j", "k", *_AXES, "idx", "index", "tid")
_FOREIGN = ("blockDim", "blockIdx", "cuda", "get_global_id", "get_local_id", "gridDim", "threadIdx")


def _fix_for_name(name: str) -> str:
    """Return the Fix for a name that is not defined."""
    if name in LISTED["vyre"]:
        return f"write vyre.{name}"
    if name in _FOREIGN:
        return "write vyre.gid(0) for the index in the grid, vyre.lid(0) in the workgroup, vyre.wid(0) of the workgroup"
    if name in _INDICES:
        return f"assign it before; `{name} = vyre.gid(0)` is the index of the invocation"
    return "assign it before, or import it at the top of the file"


def _of_python(error: Exception, function: FunctionType) -> Mistake:
    """An error that Python or vyre raised while the kernel ran."""
    if isinstance(error, ArgumentError):
        problem, _, fix = str(error).partition(". Fix: ")
        if problem.endswith("does not take bool()"):
            return Mistake(
                "K004",
                "Python needs the truth of a value that is unknown while the kernel is traced",
                "write an `if` statement or `x if c else y` in the kernel, and compare values one by one",
            )
        if problem.endswith("does not take iteration"):
            return Mistake(
                "K004",
                "a value is unpacked or iterated over, but values are no sequences",
                "write each value by itself, as in `x, y = vyre.gid(0), vyre.gid(1)`",
            )
        if "KernelArray" in problem:
            return Mistake("K004", "an array stands where a value is wanted", "index it, as in a[i]")
        if problem.endswith("an object of type tuple"):
            fix = "write one of its values, as in array.shape[0]"
        elif "Expr" in fix or "Node" in fix:
            fix = "write an expression of integers"
        return Mistake("K005", problem, fix.removesuffix(".") or "write another value")
    text = str(error).strip().rstrip(".")
    if isinstance(error, TypeError) and text == "'vyre._core.Expr' object is not callable":
        return Mistake(
            "K005",
            "a value is called like a function",
            "leave the call out, or give the variable another name if it hides a function: `min = a[i]` hides min",
        )
    if isinstance(error, NameError):
        known = [*function.__code__.co_varnames, *function.__code__.co_freevars, *function.__globals__]
        name = getattr(error, "name", "") or ""
        if isinstance(error, UnboundLocalError):
            name = text.partition("'")[2].partition("'")[0]
        if isinstance(error, UnboundLocalError) and (name in function.__globals__ or hasattr(builtins, name)):
            return Mistake(
                "K005",
                f"`{name}` is a variable of this kernel, which has no value yet, and hides what else has that name",
                "give the variable another name",
            )
        meant = _core._did_you_mean(name, [each for each in known if "vyre$" not in each])
        return Mistake("K005", text[:1].lower() + text[1:] + meant, _fix_for_name(name))
    # Objects are compared with `is`, because arrays and expressions overload `==`.
    if isinstance(error, AttributeError) and error.name in _AXES:
        for each in (gid, lid, wid):
            if error.obj is each:
                called = f"vyre.{each.__name__}"
                return Mistake("K005", f"{called} is a function", f"write {called}({_AXES.index(error.name)})")
    if isinstance(error, AttributeError) and isinstance(error.obj, (ModuleType, Expr)):
        text += _core._did_you_mean(error.name, [name for name in dir(error.obj) if not name.startswith("_")])
    said = f"Python raised {type(error).__name__}" + (f": {text}" if text else "")
    made = Mistake("K005", said, "correct the expression that is marked")
    made.__cause__ = error  # its traceback leads into the functions that the kernel calls
    return made


def _arguments(
    tracer: Tracer, parameters: Sequence[Parameter], constants: Mapping[str, Any]
) -> tuple[dict[str, Any], list[Word]]:
    """Return the value that stands for each parameter, and the words of PARAMS."""
    words = layout(parameters)
    arguments: dict[str, Any] = {}
    for each in parameters:
        if not each.is_array:
            continue
        name = tracer.new_name(each.name)
        shape: tuple[Any, ...]
        if each.axes == 1:
            shape = (Expr.buf_len(name),)
        else:
            shape = tuple(Expr.load(PARAMS, words.index(Word(each, axis))) for axis in range(each.axes))
        assert each.element is not None
        arguments[each.name] = KernelArray(tracer, name, each.kind, each.element, shape, each.kind == "In")
    for each in parameters:
        if each.kind == "const":
            arguments[each.name] = constants[each.name]
        elif each.kind == "scalar":
            assert each.element is not None
            arguments[each.name] = scalar_at(words.index(Word(each, 0)), each.element)
    return arguments, words


def scalar_at(word: int, element: DataType) -> Expr:
    """The value of the words of PARAMS from this one on."""
    loads = [Expr.load(PARAMS, word + k) for k in range(TYPES[element].lanes)]
    if len(loads) > 1:
        return Expr.pack(element, loads)
    return loads[0] if element is DataType.U32 else Expr.cast(element, loads[0])


def _layout(
    tracer: Tracer, parameters: Sequence[Parameter], words: int, workgroup_size: tuple[int, ...] | None
) -> tuple[tuple[int, ...], list[BufferDecl]]:
    arrays = [each for each in parameters if each.is_array]
    outs = [each for each in arrays if each.kind == "Out"]
    buffers = []
    for binding, each in enumerate(arrays):
        assert each.element is not None
        make = BufferDecl.output if outs == [each] else BufferDecl.read_write
        make = BufferDecl.read if each.kind == "In" else make
        buffers.append(make(each.name, binding, each.element))
    binding = len(arrays)
    if words:
        buffers.append(BufferDecl.uniform(PARAMS, binding, DataType.U32, count=words))
        binding += 1
    for name, (values, element) in tracer.table_values().items():
        buffers.append(BufferDecl.read(name, binding, element, count=values.size))
        binding += 1
    buffers += [array.declaration() for array in tracer.arrays if array.kind != "table"]
    if workgroup_size is None:
        if tracer.needs_size is not None:
            raise Mistake(
                "K002",
                f"the kernel calls {tracer.needs_size}, whose meaning depends on the size of a "
                f"workgroup, and names none",
                "write @vyre.kernel(workgroup_size=64)",
            )
        workgroup_size = usual_size(parameters, tracer.id_axes)
    return workgroup_size, buffers


class _Inliner:
    """Plain functions of the user become part of the kernel where they are called."""

    def __init__(self, kernel: Rewritten, helper: Callable[[FunctionType, CodeType], Rewritten]) -> None:
        self._helper = helper
        self._code: set[CodeType] = {*all_code(kernel.code)}
        self._used: dict[FunctionType, Rewritten] = {kernel.original: kernel}
        self._stack: list[FunctionType] = [kernel.original]
        self._native: dict[int, Any] = {}  # called as they are, by their ids
        self.inlined: dict[FunctionType, int] = {}

    def is_traced(self, code: object) -> bool:
        return code in self._code

    def captured(self, taken: Sequence[Any]) -> Captures:
        """What the trace depends on; ``taken`` has what it took beside the names that the functions read."""
        kernel = self._stack[0]
        read: list[Captured | None] = []
        try:
            for function, rewritten in self._used.items():
                if is_compared(function):
                    if function is not kernel:  # the kernel itself was read when it was decorated
                        read.append(captured_of(function, (), False))
                    for names in sorted(rewritten.captured, key=len):
                        read.append(captured_of(function, names, rewritten.captured[names][0]))
            found = read_by(self._native.values(), kernel.__module__, filter(None, read))
        except Uncompared as error:
            read_at = self._used[error.function].captured if error.function in self._used else {}
            _, spot = read_at.get(error.names, (False, Spot(*error.line, 0, 0)))
            raise kernel_error(kernel.__name__, Mistake("K010", error.problem, error.fix), spot) from None
        return Captures([*taken, *found])

    def find(self, function: Any) -> Callable[..., Any] | None:
        if type(function) is MethodType and type(function.__func__) is FunctionType:
            method, owner = self.find(function.__func__), function.__self__
            return None if method is None else lambda tracer, args, kwargs: method(tracer, (owner, *args), kwargs)
        if type(function) is functools.partial:
            inner = self.find(function.func)
            given, named = function.args, function.keywords
            return (
                None
                if inner is None
                else lambda tracer, args, kwargs: inner(tracer, (*given, *args), {**named, **kwargs})
            )
        if type(function) is not FunctionType or function.__name__ == "<lambda>":
            self._native[id(function)] = function
            return None
        if is_library(function.__code__.co_filename):
            return None
        if function in self._stack:
            if function is self._stack[0]:
                raise Mistake(
                    "K007", f"kernel `{function.__name__}` calls itself", "write a loop; a kernel has no stack of calls"
                )
            raise Mistake(
                "K007",
                f"helper `{function.__name__}` calls itself",
                "write a loop; helpers are inlined and have no stack of calls",
            )
        return lambda tracer, args, kwargs: self._inline(function, tracer, args, kwargs)

    def _inline(self, function: FunctionType, tracer: Tracer, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        rewritten = self._used.get(function)
        if rewritten is None:
            rewritten = self._used[function] = self._helper(function, function.__code__)
            self._code.update(all_code(rewritten.code))
        if len(self._stack) > _MOST_INLINED:
            raise Mistake("K007", f"more than {_MOST_INLINED} helpers call each other", "write a loop")
        self.inlined[function] = self.inlined.get(function, 0) + 1
        # An argument is assigned at the line of the call, and not at that of the helper's `def`.
        code = function.__code__
        named = list(zip(code.co_varnames[: code.co_argcount], args, strict=False))
        args = [*(tracer.keep(*each) for each in named), *args[len(named) :]]
        kwargs = {name: tracer.keep(name, each) for name, each in kwargs.items()}
        self._stack.append(function)
        loops, tracer.loops = tracer.loops, []
        caller, tracer.inlining = tracer.inlining, sum(self.inlined.values())
        try:
            return tracer.use(rewritten.bound(tracer.view)(*args, **kwargs))
        finally:
            self._stack.pop()
            tracer.loops, tracer.inlining = loops, caller


@functools.lru_cache(maxsize=512)
def _rewritten_helper(function: FunctionType, code: CodeType) -> Rewritten:
    """The helper, by its code too: what reloads modules gives functions other code."""
    return Definition(function, is_kernel=False).rewritten()


def _marked_helper(function: FunctionType, code: CodeType) -> Rewritten:
    return Definition(function, is_kernel=False).marked()
