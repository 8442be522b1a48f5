"""The state of a kernel while its rewritten function runs: its statements so far, its names, and what Python means.

The rewritten function (rewrite.py) runs once, on expressions in place of numbers, and calls the Tracer for everything
that Python would do on its own with numbers. An assignment makes a variable of the Program that is never assigned
again; where two paths meet, what they assigned to one Python variable is joined in a variable made for that (a slot,
see slots.py), and a loop carries its variables in slots in the same way. A Python variable therefore always holds one
value, and an expression keeps its meaning when it is stored in a list or passed to a function.
"""

from __future__ import annotations

import math
import operator
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._base.text import shown
from vyre._base.types import OF_DTYPE, TYPES
from vyre._core import DataType, Expr, Node
from vyre._kernel.arrays import KernelArray, zero_of
from vyre._kernel.control import If, Known, Loop, Never, Region
from vyre._kernel.functions import CHANGING, METHODS, OPERATORS, REPLACED, check_takes_values
from vyre._kernel.mistakes import Mistake
from vyre._kernel.parameters import ABSENT
from vyre._kernel.ranges import bounds_of, turns_of
from vyre._kernel.recording import TRACING
from vyre._kernel.slots import join, new_slot
from vyre._kernel.values import FOREVER, Undefined, float_mistake, giving, is_known_later, is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Tracer", "current", "element_of"]

_MOST_PRIVATE_BYTES = 16384  # of an invocation (V037)
# The attribute of a function that carries out statements which call it.
AS_STATEMENT = "_as_statement"
_ARM = "an arm of `if ... else`"


def current(function: str, fix: str = "call it in a function under @vyre.kernel") -> Tracer:
    """The tracer of the kernel that is being traced, or an error that names the function that needs one."""
    tracer = TRACING.tracer
    if tracer is None:
        from vyre.errors import ArgumentError

        raise ArgumentError(f"{function} was called outside of a kernel. Fix: {fix}.")
    return tracer


class Tracer(_core._Lets):
    def __init__(
        self,
        inliner: Callable[[Callable[..., Any]], Callable[..., Any] | None],
        copies: dict[int, tuple[np.ndarray, np.ndarray]] | None = None,
    ) -> None:
        """``copies`` are the tables of earlier traces of the kernel by their ids, each behind its array."""
        self.block: list[Node] = []
        self.dead: bool = False  # no path reaches the statement that comes next
        self.effects: int = 0  # stores, atomics and barriers so far
        self.loops: list[Loop] = []
        self.arrays: list[KernelArray] = []  # workgroup and private arrays and tables, as they are used
        self.regions: list[Region] = [Region()]  # the kernel, and the branches and bodies around, outermost first
        self.grid_axes: list[int] = []  # the axes that vyre.grid_size asks about
        self.id_axes: set[int] = set()  # the axes that vyre.gid asks about
        self.grid_word = 0  # the word of PARAMS at which their sizes begin
        self.around: list[Loop] = []  # the loops around, including those around the call of a helper
        self.is_builder = False  # whether the user's own lines run, which no rewriting has prepared
        self.recorder: Any = None  # a Recorder or Marks, if values or lines are recorded
        self.inlining = 0  # the call of a helper that is traced, counted from 1; 0 in the kernel itself
        self.view: Any = self  # what the rewritten functions call
        self.debugs: int | None = None  # the effects before the vyre.debug statement that is traced
        self.needs_size: str | None = None  # the first function called that depends on the workgroup's size
        self.slots: dict[str, str] = {}  # the Python variable of each slot
        # The variable of the assignment whose value is computed, if that may make an array.
        self.naming: str | None = None
        self.starts: list[tuple[str, int]] = []  # each variable that begins with a negative integer, and the integer
        self._inliner = inliner
        self.variables: dict[int, tuple[str, Expr]] = {}  # they need no variable of their own; kept alive for their ids
        self._tables: dict[int, tuple[Any, KernelArray]] = {}
        self._copies = {} if copies is None else copies
        self.copied: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # those that this trace reads

    def __enter__(self) -> Tracer:
        if TRACING.tracer is not None:
            raise Mistake(
                "K004", "a kernel is called while another one is traced", "write the shared part as a plain function"
            )
        TRACING.tracer = self
        return self

    def __exit__(self, *_: object) -> None:
        TRACING.tracer = None

    # Names and values.

    def var(self, name: str) -> Expr:
        leaf: Expr = Expr.var(name)
        self.variables[id(leaf)] = (name, leaf)
        return leaf

    def emit(self, node: Node) -> None:
        if not self.dead:
            self.block.append(node)

    def effect(self, node: Node) -> None:
        self.effects += 1
        self.emit(node)

    def _let(self, name: str, value: Any) -> Any:
        """Return what a variable holds after a value that is no expression is assigned; the core has the others."""
        kind = type(value)
        if kind is Undefined:
            raise value.mistake()
        if kind is KernelArray:
            value.call_it(name)
        elif isinstance(value, ABSENT):
            raise float_mistake(value)
        elif kind is tuple:
            return tuple([self.let(name, each) for each in value])
        elif kind is list or kind is dict:
            self.new(value)
        return value

    def let_effect(self, name: str, value: Expr) -> Expr:
        self.effects += 1
        made: Expr = self.let(name, value)
        return made

    def typed(self, name: str, value: Any, kind: Any) -> Any:
        """``x: vyre.u64 = value``."""
        if not isinstance(kind, DataType):
            named = kind.__name__ if isinstance(kind, type) else shown(kind)
            raise Mistake("K001", f"variable `{name}` has the annotation {named}", f"write `{name}: vyre.u32 = ...`")
        return self.let(name, kind(self.operand(value, name)) if is_number(value) else value)

    def use(self, value: Any) -> Any:
        """Read a variable that some path may not have assigned: that is a mistake."""
        if type(value) is Undefined:
            raise value.mistake()
        return value

    def operand(self, value: Any, where: str) -> Any:
        """A value that becomes an operand of the IR: an expression, an integer or a truth."""
        if type(value) is Expr or is_number(value):
            return value
        if type(value) is Undefined:
            raise value.mistake()
        if isinstance(value, ABSENT):
            raise float_mistake(value)
        if value is None:
            fix = "return a value from the helper, or leave the assignment out"
            if where == _ARM:
                fix = "give it an integer or an expression, as in `x if c else 0`"
            raise Mistake("K004", f"{where} is given None", fix)
        if isinstance(value, KernelArray):
            raise Mistake("K004", f"{where} is given the array `{value.name}`", f"index it, as in {value.name}[i]")
        if isinstance(value, (tuple, list)):
            raise Mistake(
                "K004",
                f"{where} is given {len(value)} values",
                "give it one of them, or make a vector: vyre.vec4u32(x, y, z, w)",
            )
        raise Mistake("K004", f"{where} is given {shown(value)}", "give it an expression or an integer")

    def uses(self, array: KernelArray) -> None:
        if array.kind in ("shared", "private", "table") and all(each is not array for each in self.arrays):
            self.arrays.append(array)

    # Arrays.

    def table(self, values: np.ndarray) -> KernelArray:
        known = self._tables.get(id(values))
        if known is None:
            element = element_of(values)
            array = KernelArray(
                self, None, "table", element, (values.size,) if values.ndim == 1 else values.shape, True
            )
            copied = self._copies.get(id(values)) or (values, values.copy())
            self.copied[id(values)] = copied
            known = self._tables[id(values)] = (copied[1], array)
        return known[1]

    def table_values(self) -> dict[str, tuple[np.ndarray, DataType]]:
        used = {id(array) for array in self.arrays}
        return {array.name: (values, array.element) for values, array in self._tables.values() if id(array) in used}

    def shared(self, element: Any, shape: Any) -> KernelArray:
        self.needs_size = self.needs_size or "vyre.shared"
        return self._own("shared", element, shape)

    def local(self, element: Any, shape: Any) -> KernelArray:
        values = None
        if isinstance(shape, (list, tuple)) and (
            isinstance(shape, list) or not all(isinstance(each, int) for each in shape)
        ):
            values = list(shape)
            shape = len(values)
        array = self._own("private", element, shape)
        if len(self.regions) > 1:  # a loop may have run this statement before
            self._fill_with_zeros(array)
        for k, value in enumerate(values or []):
            if not (is_number(value) and value == 0):
                array[k] = value
        return array

    def _fill_with_zeros(self, array: KernelArray) -> None:
        zero = zero_of(array.element)
        k = self.new_name("k")
        self.uses(array)
        self.effect(Node.loop(k, 0, array.size, [Node.store(array.name, Expr.var(k), zero)]))

    def _own(self, kind: str, element: Any, shape: Any) -> KernelArray:
        name = "vyre.shared" if kind == "shared" else "vyre.local"
        if not isinstance(element, DataType) or element is DataType.Bytes:
            raise Mistake(
                "K008", f"{name} takes the type of an element, got {shown(element)}", f"write {name}(vyre.u32, 64)"
            )
        extents = shape if isinstance(shape, tuple) else (shape,)
        for extent in extents:
            if type(extent) is Expr:
                raise Mistake(
                    "K008",
                    f"{name} takes a size that is known while tracing, got an expression",
                    "write an integer, or a vyre.const parameter",
                )
            if isinstance(extent, bool) or not isinstance(extent, (int, np.integer)) or extent < 1:
                raise Mistake(
                    "K008", f"{name} takes a size from 1 on, got {shown(shape)}", f"write {name}(vyre.u32, 64)"
                )
        if not extents:
            raise Mistake("K008", f"{name} takes a size, got ()", f"write {name}(vyre.u32, 64)")
        count = math.prod(int(extent) for extent in extents)
        most = 2**32 - 1 if kind == "shared" else _MOST_PRIVATE_BYTES // 4
        if count > most:
            raise Mistake(
                "K008", f"{name} takes at most {most} elements, got {count}", "make it smaller, or use an Out array"
            )
        made = KernelArray(self, None, kind, element, tuple(int(extent) for extent in extents), False)
        if self.naming is not None:
            made.call_it(self.naming)
            self.naming = None
        return made

    def named(self, name: str) -> str:
        """Note the variable of an assignment before its value is computed, which may make and write an array."""
        self.naming = name
        return name

    def get(self, array: Any, key: Any) -> Any:
        """``array[key]``."""
        kind = type(array)
        if kind is KernelArray:
            return array[key]
        if kind is Expr:
            raise Mistake(
                "K004",
                "a value is indexed, but values are no arrays",
                "index the array, or write .x .y .z .w for the lanes of a vector",
            )
        if kind is Undefined:
            raise array.mistake()
        if isinstance(array, np.ndarray) and is_known_later(key):
            return self.table(array)[key]
        if is_known_later(key):
            raise Mistake(
                "K004",
                f"a Python {kind.__name__} is indexed with a value that is unknown while the kernel is traced",
                "write np.array(values, np.uint32) outside of the kernel for a table of constants, "
                "vyre.local(vyre.u32, values) for an array of the invocation, or `for k in "
                "vyre.unroll(range(n))` for known indices",
            )
        try:
            found = array[key]
        except IndexError:
            if not isinstance(array, (list, tuple)) or not array:
                raise
            count = len(array)
            raise Mistake(
                "K005",
                f"a Python {kind.__name__} of {count} value{'' if count == 1 else 's'} has no index {shown(key)}",
                "write an index of 0" if count == 1 else f"write an index from 0 to {count - 1}",
            ) from None
        return self.new(found) if isinstance(key, slice) and kind is list else found

    def set(self, value: Any, array: Any, key: Any) -> None:
        """``array[key] = value``."""
        kind = type(array)
        if kind is KernelArray:
            array[key] = value
            return
        if isinstance(array, np.ndarray):
            element = TYPES[OF_DTYPE.get(array.dtype.name, DataType.U32)].spelled
            shape = array.size if array.ndim == 1 else array.shape
            raise Mistake(
                "K008",
                "a numpy array is written in a kernel",
                "pass it as a parameter that is annotated with InOut, or for an array that each invocation has of its "
                f"own, write vyre.local(vyre.{element}, {shape})",
            )
        if kind is Expr:
            raise Mistake(
                "K004",
                "an element of a value is assigned, but values are no arrays",
                "make a new value: v = vyre.vec2u32(x, y)",
            )
        if is_known_later(key):
            raise Mistake(
                "K004",
                f"a Python {kind.__name__} is written at an index that is unknown while the kernel is traced",
                f"make an array of the invocation in its place, vyre.local(vyre.u32, {len(array) or 'n'})",
            )
        value = self.let("item", value)
        self.touch(array)
        array[key] = value

    def close_region(self) -> dict[int, tuple[Any, Any, Any]]:
        return self.regions.pop().close(self.regions[-1])

    def new(self, container: Any) -> Any:
        """A list or dict that the kernel makes belongs to the branch or body that makes it, as do the lists in it."""
        made = self.regions[-1].made
        open_ = [container]
        while open_:
            each = open_.pop()
            if id(each) not in made:
                made[id(each)] = each
                values = each.values() if isinstance(each, dict) else each
                open_.extend(value for value in values if type(value) in (list, dict))
        return container

    def hashed(self, container: Any) -> Any:
        """A dict or a set that the kernel makes. Expressions cannot be keys, because Python compares keys."""
        if any(type(each) is Expr for each in container):
            kind = "key of a dict" if isinstance(container, dict) else "element of a set"
            raise Mistake(
                "K004",
                f"a value that is unknown while the kernel is traced is a{'n' if kind[0] == 'e' else ''} {kind}",
                "use a list or a tuple, and compare values in the kernel",
            )
        return self.new(container) if isinstance(container, dict) else container

    def in_place(self, name: str, old: Any, value: Any) -> Any:
        """``x += value``: a list of Python changes, and anything else makes a new value."""
        if type(old) in (list, dict, set):
            self.touch(old)
            return getattr(operator, f"i{OPERATORS[name].rstrip('_')}")(old, value)
        return getattr(operator, OPERATORS[name])(self.use(old), self.use(value))

    def keep(self, name: str, value: Any) -> Any:
        """Assign a value that may have a name already: a list or dict is shared, anything else gets a variable."""
        self.naming = None  # of what the value has not made
        return value if type(value) in (list, dict) else self.let(name, value)

    def touch(self, container: Any) -> None:
        """A list or dict is about to change: branches and bodies around it that did not make it keep what it held."""
        if not isinstance(container, (list, dict)):
            if len(self.regions) > 1 and not isinstance(container, (int, str)):
                raise Mistake(
                    "K004",
                    f"a Python {type(container).__name__} changes under a condition or in a loop that "
                    f"runs on the device",
                    "use a list of values, or vyre.local(vyre.u32, n)",
                )
            return
        for k in range(len(self.regions) - 1, -1, -1):
            if id(container) in self.regions[k].made:
                for region in self.regions[k + 1 :]:
                    region.add(container)
                return
        raise Mistake(
            "K004",
            f"a Python {type(container).__name__} that was made outside of the kernel is changed",
            "copy it into a new one first: `mine = list(values)`",
        )

    def augment(self, array: Any, key: Any, change: Callable[[Any], Any]) -> None:
        """``array[key] += value``: the key is evaluated once."""
        if type(array) is KernelArray:
            key = self.let("at", key)
        self.set(change(self.get(array, key)), array, key)

    # Calls.

    def slice_(self, *parts: Any) -> slice:
        return slice(*parts)

    def call(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """A call with values: functions of Python that have a meaning on expressions are replaced, others inlined."""
        try:
            replaced = REPLACED.get(function)
        except TypeError:  # the function is not hashable
            replaced = None
        if replaced is not None:
            return replaced(self, *args, **kwargs)
        inlined = self._inliner(function)
        if inlined is not None:
            return inlined(self, args, kwargs)
        for each in args:
            if type(each) is Undefined:
                raise each.mistake()
        if any(type(each) in (Expr, KernelArray) for each in args):
            array = next((each for each in args if type(each) is KernelArray), None)
            check_takes_values(function, any(type(each) is Expr for each in args), array)
        if type(function) is KernelArray:
            raise Mistake(
                "K008", f"array `{function.name}` is called like a function", f"index it, as in {function.name}[i]"
            )
        if type(function) is tuple:
            raise Mistake(
                "K005",
                "a Python tuple is called like a function",
                "write an index in brackets, as in array.shape[0]",
            )
        result = function(*args, **kwargs)
        return self.new(result) if type(result) in (list, dict) else result

    def statement(self, function: Any, later: Callable[[], Any]) -> None:
        """A statement that calls something whose name is `debug`."""
        run = vars(function).get(AS_STATEMENT) if type(function) is FunctionType else None
        if run is None:
            later()
        else:
            run(self, later)

    def method(self, owner: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        """``owner.name(...)``: on an expression, the function of that name that chooses by types."""
        if type(owner) is Expr:
            function = METHODS.get(name)
            if function is not None:
                return function(owner, *args, **kwargs)
            if name.startswith("atomic_"):
                raise Mistake(
                    "K008",
                    f"{name} is called on the value of an element",
                    f"write array.{name}(index, value), which names the element",
                )
            if name == "astype":
                raise Mistake("K004", "a value has no method `astype`", "write vyre.u32(x), or another type's name")
            meant = _core._did_you_mean(name, list(METHODS))
            raise Mistake(
                "K004",
                f"a value has no method `{name[:80]}`{meant}",
                "write it with operators, or with a function of vyre",
            )
        elif type(owner) is Undefined:
            raise owner.mistake()
        elif name in CHANGING and not isinstance(owner, (KernelArray, ModuleType, type)):
            self.touch(owner)
            if name == "append" and len(args) == 1:
                args = (self.let("item", args[0]),)
        return self.call(getattr(owner, name), *args, **kwargs)

    # Conditions.

    def not_(self, value: Any) -> Any:
        return self.negated(value) if type(value) is Expr else not self._truth(value)

    def negated(self, value: Expr) -> Expr:
        return _core._taking_bools(_core.logical_not(value))

    def and_(self, first: Any, *others: Callable[[], Any]) -> Any:
        return self.logical(first, others, is_and=True)

    def or_(self, first: Any, *others: Callable[[], Any]) -> Any:
        return self.logical(first, others, is_and=False)

    def and_value(self, first: Any, *others: Callable[[], Any]) -> Any:
        """``a and b`` where it is used as a value, not as a condition: it gives one of the two."""
        value = first
        for other in others:
            value = self.choose(value, other, giving(value))
        return value

    def or_value(self, first: Any, *others: Callable[[], Any]) -> Any:
        value = first
        for other in others:
            value = self.choose(value, giving(value), other)
        return value

    def is_(self, left: Any, right: Any) -> bool:
        for each, other in ((left, right), (right, left)):
            if type(each) is Expr and other is not None:
                fix = "leave `is True` out" if other is True else "write `not`" if other is False else "write `==`"
                raise Mistake("K004", "`is` compares a value that is unknown while the kernel is traced", fix)
        return left is right

    def known(self, condition: Any) -> Any:
        """The condition of a comprehension: it decides how long a list is."""
        if type(condition) is Expr:
            raise Mistake(
                "K004",
                "the condition of a comprehension is unknown while the kernel is traced",
                "keep every element, and choose its value: `[x if c else 0 for ...]`",
            )
        return self._truth(condition)

    def logical(self, first: Any, others: Sequence[Callable[[], Any]], is_and: bool) -> Any:
        value = first
        for other in others:
            if type(value) is not Expr:
                if bool(self._truth(value)) is not is_and:
                    return value
                value = other()
                continue
            nodes, right, has_effect = self._aside(other)
            right = self._truth(right)
            if type(right) is not Expr:
                right = int(bool(right))
            if has_effect:
                slot = new_slot(self, "both" if is_and else "either", 0 if is_and else 1)
                inside = [*nodes, Node.assign(slot, _core.ne(right, 0) if type(right) is Expr else right)]
                self.effect(Node.if_(value, inside) if is_and else Node.if_(value, [], inside))
                value = self.var(slot)
            else:
                for node in nodes:
                    self.emit(node)
                value = _core._taking_bools((_core.logical_and if is_and else _core.logical_or)(value, right))
        return value

    def _aside(self, thunk: Callable[[], Any]) -> tuple[list[Node], Any, bool]:
        """The statements that an expression makes, its value, and whether one of them does more than read."""
        outer, before = self.block, self.effects
        self.block = []
        self.regions.append(Region())
        try:
            value = thunk()
            made = self.block
        finally:
            self.block = outer
            changes = self.close_region()
        if changes:
            raise Mistake(
                "K004",
                "a Python list changes in a part of an expression that is evaluated under a condition",
                "write an `if` statement",
            )
        return made, value, self.effects != before

    def _truth(self, value: Any) -> Any:
        if type(value) is Undefined:
            raise value.mistake()
        if isinstance(value, ABSENT):
            raise float_mistake(value)
        return value

    def choose(self, condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        """``yes if condition else no``."""
        if type(condition) is not Expr:
            return yes() if self._truth(condition) else no()
        nodes, first, effect = self._aside(yes)
        others, second, other_effect = self._aside(no)
        if not (effect or other_effect):
            for node in [*nodes, *others]:
                self.emit(node)
            if isinstance(first, tuple) and isinstance(second, tuple) and len(first) == len(second):
                return tuple(self.chosen(condition, a, b) for a, b in zip(first, second, strict=True))
            return self.chosen(condition, first, second)
        before: list[Node] = []
        value = join(self, "chosen", None, [(nodes, first), (others, second)], before)
        for node in before:
            self.emit(node)
        self.effect(Node.if_(condition, nodes, others))
        return value

    def chosen(self, condition: Expr, yes: Any, no: Any, where: str = _ARM) -> Expr:
        """One of two values that are computed already."""
        chosen = _core.select(condition, self.operand(yes, where), self.operand(no, where))
        return _core._taking_bools(chosen)

    def contains(self, value: Any, values: Any) -> Any:
        """``value in values``."""
        sequence = isinstance(values, (tuple, list, range, set, frozenset, bytes, bytearray))
        if sequence and (type(value) is Expr or any(type(each) is Expr for each in values)):
            found: Any = 0
            for each in values:
                same = value == each
                if same is True:
                    return True
                if type(same) is Expr:
                    found = _core._taking_bools(_core.logical_or(found, same)) if type(found) is Expr else same
            return found if type(found) is Expr else False
        if type(values) is Expr or isinstance(values, KernelArray):
            raise Mistake(
                "K004",
                "`in` looks into an array, whose elements are unknown while the kernel is traced",
                "write a loop over its indices",
            )
        if type(value) is Expr and isinstance(values, str):
            raise Mistake(
                "K004",
                "`in` looks for a value in a str, whose characters are no integers",
                f"write bytes, {values.encode()[:20]!r}" if values.isascii() else "write bytes",
            )
        return value in values

    def assert_(self, value: Any, message: Any = None) -> None:
        if type(value) is Expr:
            raise Mistake(
                "K001",
                "assert is given a value that is unknown while the kernel is traced",
                "assert constants alone, and store what went wrong into an Out array",
            )
        if not self._truth(value):
            raise Mistake(
                "K005",
                f"an assertion failed{': ' + str(message) if message is not None else ''}",
                "pass other constants",
            )

    # Control flow.

    def group(self, name: str) -> str:
        """The group of a variable, whose integers all get one type. Each call of a helper has groups of its own."""
        return f"{name} {self.inlining}" if self.inlining else name

    def if_(self, condition: Any, names: tuple[str, ...], values: tuple[Any, ...]) -> If | Known:
        if type(condition) is Expr:
            return If(self, condition, names, values)
        return Known(bool(self._truth(condition)))

    if_left = if_  # for a condition on variables that say which paths have left a loop or a function

    def range_(
        self, function: Any, variable: str, names: tuple[str, ...], values: tuple[Any, ...], *bounds: Any
    ) -> Loop | Never:
        if function is not range:
            raise Mistake("K001", "`range` is another function here than Python's", "give that one another name")
        start, stop, step = bounds_of(bounds)
        for bound in (start, stop):
            self.operand(bound, "range")
            if isinstance(bound, (bool, np.bool_)):
                raise Mistake("K004", f"range is given {bound}", f"write {int(bound)}")
        if type(step) is Expr or isinstance(step, bool) or not is_number(step) or step == 0:
            raise Mistake(
                "K004",
                f"the step of range is {'an expression' if type(step) is Expr else shown(step)}",
                "write a positive or negative integer, or use while",
            )
        step = int(step)
        for what, bound in (("begins at", start), ("ends at", stop)):
            if is_number(bound) and int(bound) < (0 if what == "begins at" or step > 0 else -1):
                raise Mistake(
                    "K004",
                    f"range {what} {int(bound)}, but the variable of a loop is a u32",
                    "count from 0, and subtract where the value is used",
                )
        known = type(start) is not Expr and type(stop) is not Expr
        if known and len(range(int(start), int(stop), step)) == 0:
            return Never(values)
        return Loop(self, names, values, variable, turns_of(start, stop, step))

    def while_(self, names: tuple[str, ...], values: tuple[Any, ...]) -> Loop:
        return Loop(self, names, values, "turn", (0, FOREVER, None))

    def test(self, loop: Loop, condition: Any) -> None:
        """The condition of a `while`, at the beginning of each turn."""
        if type(condition) is Expr:
            self.effect(Node.if_(self.negated(condition), [Node.break_()]))
        elif self._truth(condition):
            loop.is_endless = True
        else:
            self.effect(Node.break_())
            self.dead = True

    def break_(self, values: tuple[Any, ...]) -> None:
        loop = self.loops[-1]
        loop.store(values, leaves=True)
        self.effect(Node.break_())
        self.dead = True

    def return_(self) -> None:
        self.effect(Node.return_())
        self.dead = True

    def items(self, values: Any) -> Any:
        """The items of a `for` over anything but range: a Python sequence, over which the loop is unrolled."""
        if type(values) is Expr:
            raise Mistake("K004", "`for` goes over a value", "write `for i in range(n):`")
        if type(values) is Undefined:
            raise values.mistake()
        return values


def element_of(values: np.ndarray) -> DataType:
    """The type of the elements of a table of constants."""
    element = OF_DTYPE.get(values.dtype.name)
    if element is not None and values.dtype.isnative:
        return element
    raise Mistake(
        "K008",
        f"a captured numpy array of {values.dtype} is read at an index that is unknown while the kernel is traced",
        "write values.astype(np.uint32)",
    )
