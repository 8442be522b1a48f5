"""The state of a kernel while its rewritten function runs: its statements so far, its names, and how paths meet.

The rewritten function (rewrite.py) runs once, on expressions in place of numbers, and calls the Tracer for everything
that Python would do on its own with numbers. An assignment makes a variable of the Program that is never assigned
again; where two paths meet, what they assigned to one Python variable is joined in a variable made for that (a slot),
and a loop carries its variables in slots in the same way. Python's own variables therefore always hold values, and an
expression may be kept in a list or passed on without another meaning.
"""

from __future__ import annotations

import builtins
import math
import operator
import threading
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._core import DataType, Expr, Node
from vyre._kernel.arrays import KernelArray
from vyre._kernel.mistakes import Mistake
from vyre._text import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Tracer", "Undefined", "current"]

_FOREVER = 0xFFFFFFFF  # turns of a `while`
_MOST_PRIVATE_BYTES = 16384  # of an invocation (V037)
_ACTIVE = threading.local()


def current(function: str) -> Tracer:
    """The tracer of the kernel that is being traced, or an error that names the function that needs one."""
    tracer = getattr(_ACTIVE, "tracer", None)
    if tracer is None:
        from vyre.errors import ArgumentError

        raise ArgumentError(
            f"{function} was called outside of a kernel. Fix: call it in a function under @vyre.kernel."
        )
    return tracer


def is_tracing() -> bool:
    return getattr(_ACTIVE, "tracer", None) is not None


class Undefined:
    """What a variable holds on a path that has not assigned it."""

    __slots__ = ("fix", "name", "why")

    def __init__(self, name: str, why: str, fix: str = "") -> None:
        self.name, self.why = name, why
        self.fix = fix or f"assign `{name}` on every path that comes here, or before it"

    def mistake(self) -> Mistake:
        return Mistake("K003", f"variable `{self.name}` {self.why}", self.fix)


def is_number(value: object) -> bool:
    return isinstance(value, (int, np.integer, np.bool_))


class Tracer:
    def __init__(
        self,
        inliner: Callable[[Callable[..., Any]], Callable[..., Any] | None],
        copies: dict[int, tuple[np.ndarray, np.ndarray]] | None = None,
    ) -> None:
        """``copies`` are the tables of earlier traces of the kernel, each with the array that it is a copy of."""
        self.block: list[Node] = []
        self.dead = False  # no path reaches the statement that comes next
        self.effects = 0  # stores, atomics and barriers so far
        self.loops: list[_Loop] = []
        self.arrays: list[KernelArray] = []  # workgroup and private arrays and tables, as they are used
        self.regions: list[_Region] = [_Region()]  # the kernel, and the branches and bodies around, outermost first
        self.needs_size: str | None = None  # what depends on the workgroup's size
        self.slots: dict[str, str] = {}  # the Python variable of each slot
        self.booleans: dict[int, Expr] = {}  # kept alive for their ids
        self.boolean_slots: set[str] = set()
        self._inliner = inliner
        self._names: dict[str, int] = {}  # how often each was asked for
        self.variables: dict[int, tuple[str, Expr]] = {}  # they need no variable of their own; kept alive for their ids
        self._tables: dict[int, tuple[Any, KernelArray]] = {}
        self._copies = {} if copies is None else copies

    def __enter__(self) -> Tracer:
        if getattr(_ACTIVE, "tracer", None) is not None:
            raise Mistake(
                "K004", "a kernel is called while another one is traced", "write the shared part as a plain function"
            )
        _ACTIVE.tracer = self
        return self

    def __exit__(self, *_: object) -> None:
        _ACTIVE.tracer = None

    # Names and values.

    def new_name(self, name: str) -> str:
        name = made = name.removeprefix("vyre$")
        k = self._names.get(name, 0)
        while made in self._names or k:
            k += 1
            made = f"{name}_{k}"
            if made not in self._names:
                break
        self._names[name] = max(k, 1)
        self._names.setdefault(made, 1)
        return made

    def var(self, name: str) -> Expr:
        leaf = self.read_slot(name)
        self.variables[id(leaf)] = (name, leaf)
        return leaf

    def read_slot(self, slot: str) -> Expr:
        value = Expr.var(slot)
        return self.boolean(value) if slot in self.boolean_slots else value

    def boolean(self, value: Expr) -> Expr:
        """Remember that a value is a Bool, which operators on truths of type U32 do not take."""
        self.booleans[id(value)] = value
        return value

    def truth_of(self, value: Expr) -> Expr:
        """A condition as a U32, which is what comparisons give."""
        return _core.select(value, 1, 0) if id(value) in self.booleans else value

    def emit(self, node: Node) -> None:
        if not self.dead:
            self.block.append(node)

    def effect(self, node: Node) -> None:
        self.effects += 1
        self.emit(node)

    def let(self, name: str, value: Any) -> Any:
        """What a Python variable holds after an assignment."""
        kind = type(value)
        if kind is Expr:
            if id(value) in self.variables:
                return value
            made = self.new_name(name)
            self.emit(Node.let(made, value))
            variable = self.var(made)
            return self.boolean(variable) if id(value) in self.booleans else variable
        if kind is Undefined:
            raise value.mistake()
        if kind is KernelArray:
            value.call_it(name)
        elif kind is float or isinstance(value, np.floating):
            raise _float(value)
        elif kind is tuple:
            return tuple(self.let(name, each) for each in value)
        elif kind is list or kind is dict:
            self.new(value)
        return value

    def let_effect(self, name: str, value: Expr) -> Expr:
        self.effects += 1
        return self.let(name, value)

    def typed(self, name: str, value: Any, kind: Any) -> Any:
        """``x: vyre.u64 = value``."""
        if not isinstance(kind, DataType):
            named = kind.__name__ if isinstance(kind, type) else shown(kind)
            raise Mistake("K001", f"variable `{name}` has the annotation {named}", f"write `{name}: vyre.u32 = ...`")
        return self.let(name, kind(self.operand(value, name)) if is_number(value) else value)

    def use(self, value: Any) -> Any:
        """A variable that some path may not have assigned."""
        if type(value) is Undefined:
            raise value.mistake()
        return value

    def operand(self, value: Any, where: str) -> Any:
        """A value that becomes an operand of the IR: an expression, an integer or a truth."""
        if type(value) is Expr or is_number(value):
            return value
        if type(value) is Undefined:
            raise value.mistake()
        if isinstance(value, (float, np.floating)):
            raise _float(value)
        if value is None:
            raise Mistake(
                "K004", f"{where} is given None", "return a value from the helper, or leave the assignment out"
            )
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
            element = _element_of(values)
            array = KernelArray(
                self, None, "table", element, (values.size,) if values.ndim == 1 else values.shape, True
            )
            _, copy = self._copies.setdefault(id(values), (values, values.copy()))
            known = self._tables[id(values)] = (copy, array)
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
        if len(self.regions) > 1:  # it may have been here before
            self._fill_with_zeros(array)
        for k, value in enumerate(values or []):
            if not (is_number(value) and value == 0):
                array[k] = value
        return array

    def _fill_with_zeros(self, array: KernelArray) -> None:
        zero = Expr.load(array.name, _FOREVER)  # beyond every array: zero of the element's type
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
        return KernelArray(self, None, kind, element, tuple(int(extent) for extent in extents), False)

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
        if isinstance(array, np.ndarray) and _is_known_later(key):
            return self.table(array)[key]
        if _is_known_later(key):
            raise Mistake(
                "K004",
                f"a Python {kind.__name__} is indexed with a value that is unknown while the kernel is traced",
                "write np.array(values, np.uint32) outside of the kernel for a table of constants, "
                "vyre.local(vyre.u32, values) for an array of the invocation, or `for k in "
                "vyre.unroll(range(n))` for known indices",
            )
        found = array[key]
        return self.new(found) if isinstance(key, slice) and kind is list else found

    def set(self, value: Any, array: Any, key: Any) -> None:
        """``array[key] = value``."""
        kind = type(array)
        if kind is KernelArray:
            array[key] = value
            return
        if isinstance(array, np.ndarray):
            raise Mistake(
                "K008", "a captured numpy array is written", "pass it as a parameter that is annotated with InOut"
            )
        if kind is Expr:
            raise Mistake(
                "K004",
                "an element of a value is assigned, but values are no arrays",
                "make a new value: v = vyre.vec2u32(x, y)",
            )
        if _is_known_later(key):
            raise Mistake(
                "K004",
                f"a Python {kind.__name__} is written at an index that is unknown while the kernel is traced",
                "write vyre.local(vyre.u32, n) for an array of the invocation",
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
        """A dict or a set that the kernel makes: Python finds its keys by comparing them."""
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
            return getattr(operator, f"i{_OPERATORS[name].rstrip('_')}")(old, value)
        return getattr(operator, _OPERATORS[name])(self.use(old), self.use(value))

    def keep(self, name: str, value: Any) -> Any:
        """An assignment of what has a name already, or may have one."""
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
            replaced = _REPLACED.get(function)
        except TypeError:  # what is not hashable
            replaced = None
        if replaced is not None:
            return replaced(self, *args, **kwargs)
        inlined = self._inliner(function)
        if inlined is not None:
            return inlined(self, args, kwargs)
        for each in args:
            if type(each) is Undefined:
                raise each.mistake()
        if function is DataType.Bool and len(args) == 1 and type(args[0]) is Expr:
            return self.boolean(function(*args))
        if any(type(each) in (Expr, KernelArray) for each in args):
            _check_takes_values(function, any(type(each) is Expr for each in args))
        result = function(*args, **kwargs)
        return self.new(result) if type(result) in (list, dict) else result

    def method(self, owner: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        """``owner.name(...)``: on an expression the function of that name, which goes by types."""
        if type(owner) is Expr:
            function = _METHODS.get(name)
            if function is not None:
                return function(owner, *args, **kwargs)
            if name.startswith("atomic_"):
                raise Mistake(
                    "K008",
                    f"{name} is called on the value of an element",
                    f"write array.{name}(index, value), which names the element",
                )
            meant = _core._did_you_mean(name, list(_METHODS))
            raise Mistake(
                "K004",
                f"a value has no method `{name[:80]}`{meant}",
                "write it with operators, or with a function of vyre",
            )
        elif type(owner) is Undefined:
            raise owner.mistake()
        elif name in _CHANGING and not isinstance(owner, (KernelArray, ModuleType, type)):
            self.touch(owner)
            if name == "append" and len(args) == 1:
                args = (self.let("item", args[0]),)
        return self.call(getattr(owner, name), *args, **kwargs)

    # Conditions.

    def not_(self, value: Any) -> Any:
        return _core.logical_not(self.truth_of(value)) if type(value) is Expr else not self._truth(value)

    def and_(self, first: Any, *others: Callable[[], Any]) -> Any:
        return self._logical(first, others, is_and=True)

    def or_(self, first: Any, *others: Callable[[], Any]) -> Any:
        return self._logical(first, others, is_and=False)

    def and_value(self, first: Any, *others: Callable[[], Any]) -> Any:
        """``a and b`` where its value counts: it is one of the two."""
        value = first
        for other in others:
            value = self.choose(value, other, lambda value=value: value)
        return value

    def or_value(self, first: Any, *others: Callable[[], Any]) -> Any:
        value = first
        for other in others:
            value = self.choose(value, lambda value=value: value, other)
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

    def _logical(self, first: Any, others: Sequence[Callable[[], Any]], is_and: bool) -> Any:
        value = first
        for other in others:
            if type(value) is not Expr:
                if bool(self._truth(value)) is not is_and:
                    return value
                value = other()
                continue
            nodes, right, has_effect = self._aside(other)
            value, right = self.truth_of(value), self._truth(right)
            if type(right) is Expr:
                right = self.truth_of(right)
            if type(right) is not Expr:
                right = int(bool(right))
            if has_effect:
                slot = self._slot("both" if is_and else "either", 0 if is_and else 1)
                inside = [*nodes, Node.assign(slot, _core.ne(right, 0) if type(right) is Expr else right)]
                self.effect(Node.if_(value, inside) if is_and else Node.if_(value, [], inside))
                value = self.var(slot)
            else:
                for node in nodes:
                    self.emit(node)
                value = (_core.logical_and if is_and else _core.logical_or)(value, right)
        return value

    def _aside(self, thunk: Callable[[], Any]) -> tuple[list[Node], Any, bool]:
        """The statements that an expression makes, its value, and whether one of them does more than read."""
        outer, before = self.block, self.effects
        self.block = []
        self.regions.append(_Region())
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
        if isinstance(value, (float, np.floating)):
            raise _float(value)
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
                return tuple(
                    _core.select(condition, self.operand(a, "an arm"), self.operand(b, "an arm"))
                    for a, b in zip(first, second, strict=True)
                )
            return _core.select(
                condition,
                self.operand(first, "an arm of `if ... else`"),
                self.operand(second, "an arm of `if ... else`"),
            )
        before: list[Node] = []
        value = self.join("chosen", None, [(nodes, first), (others, second)], before)
        for node in before:
            self.emit(node)
        self.effect(Node.if_(condition, nodes, others))
        return value

    def contains(self, value: Any, values: Any) -> Any:
        """``value in values``."""
        sequence = isinstance(values, (tuple, list, range, set, frozenset))
        if sequence and (type(value) is Expr or any(type(each) is Expr for each in values)):
            found: Any = 0
            for each in values:
                same = value == each
                if same is True:
                    return True
                if type(same) is Expr:
                    found = _core.logical_or(found, same) if type(found) is Expr else same
            return found if type(found) is Expr else False
        if type(values) is Expr or isinstance(values, KernelArray):
            raise Mistake(
                "K004",
                "`in` looks into an array, whose elements are unknown while the kernel is traced",
                "write a loop over its indices",
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

    def _slot(self, name: str, initial: Any) -> str:
        """A variable of the Program that later statements assign."""
        slot = self.new_name(name)
        self.slots[slot] = name
        if id(initial) in self.booleans:
            self.boolean_slots.add(slot)
        self.emit(Node.let(slot, _start(name, initial)))
        return slot

    def if_(self, condition: Any, names: tuple[str, ...], values: tuple[Any, ...]) -> _If | _Known:
        if type(condition) is Expr:
            return _If(self, condition, names, values)
        return _Known(bool(self._truth(condition)))

    def range_(
        self, function: Any, variable: str, names: tuple[str, ...], values: tuple[Any, ...], *bounds: Any
    ) -> _Loop | _Never:
        if function is not range:
            raise Mistake("K001", "`range` is another function here than Python's", "give that one another name")
        start, stop, step = _bounds(bounds)
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
            return _Never(values)
        return _Loop(self, names, values, variable, _turns(start, stop, step))

    def while_(self, names: tuple[str, ...], values: tuple[Any, ...]) -> _Loop:
        return _Loop(self, names, values, "turn", (0, _FOREVER, None))

    def test(self, loop: _Loop, condition: Any) -> None:
        """The condition of a `while`, at the beginning of each turn."""
        if type(condition) is Expr:
            self.effect(Node.if_(_core.logical_not(self.truth_of(condition)), [Node.break_()]))
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
        """What a `for` over something else than range goes through: a sequence of Python, which is unrolled."""
        if type(values) is Expr:
            raise Mistake("K004", "`for` goes over a value", "write `for i in range(n):`")
        if type(values) is Undefined:
            raise values.mistake()
        return values

    def join(
        self, name: str, old: Any, paths: Sequence[tuple[list[Node], Any]], before: list[Node], is_item: bool = False
    ) -> Any:
        """The value of a Python variable after paths that meet.

        Each path is a list of statements and the variable's value at its end. ``old`` is the value before the paths
        part, and ``before`` takes the statements that stand there.
        """
        values = [value for _, value in paths]
        first = values[0]
        if all(value is first for value in values[1:]):
            return first
        undefined = next((value for value in values if type(value) is Undefined), None)
        if undefined is not None and not name.startswith("vyre$"):
            if all(type(value) is Undefined for value in values):
                return undefined
            return Undefined(name, "is not assigned on every path that comes here")
        known = [
            value
            for value in values
            if type(value) is not Undefined and not (value is None and name.startswith("vyre$"))
        ]
        if known and any(value is None for value in values) and name.startswith("vyre$"):
            raise Mistake(
                "K007", "a helper returns a value on some paths and None on others", "return a value on every path"
            )
        if not known:  # a helper that returns nothing, on some of these paths so far
            return None if any(value is None for value in values) else first
        if all(isinstance(value, tuple) for value in known):
            if len({len(value) for value in known}) != 1:
                raise Mistake(
                    "K003",
                    f"{_what(name)} {_shapes(known)} on the paths that meet here",
                    "give it as many values on each path",
                )
            parts = []
            for k in range(len(known[0])):
                parts.append(
                    self.join(
                        name,
                        old[k] if isinstance(old, tuple) and k < len(old) else None,
                        [
                            (nodes, value[k] if isinstance(value, tuple) else Undefined(name, ""))
                            for nodes, value in paths
                        ],
                        before,
                    )
                )
            return tuple(parts)
        if (
            all(is_number(value) for value in values)
            and len({(isinstance(v, (bool, np.bool_)), int(v)) for v in values}) == 1
        ):
            return first
        for value in known:
            if type(value) in (list, dict) and not name.startswith("vyre$"):
                kind = type(value).__name__
                fix = "use a tuple, or assign the items of one list"
                return Undefined(name, f"is a Python {kind} that the paths to here do not share", fix)
            if type(value) is not Expr and not is_number(value):
                raise Mistake(
                    "K003",
                    f"{_what(name)} is {_described(value)} on one path and "
                    f"{_described(next(v for v in [*known, None] if v is not value))} on another",
                    "give it an expression or an integer on every path",
                )
        slot = self.new_name(name)
        self.slots[slot] = name
        if any(id(value) in self.booleans for value in values):
            self.boolean_slots.add(slot)
        # A path that leaves the variable as it was needs no assignment.
        begins = old if type(old) is Expr or is_number(old) else None
        # The items of a list may have several types; one variable has one.
        before.append(Node.let(slot, _start(slot if is_item else name, 0 if begins is None else begins)))
        for nodes, value in paths:
            if value is not begins and (type(value) is Expr or is_number(value)):
                nodes.append(Node.assign(slot, _assigned(value)))
        return self.var(slot)


class _Region:
    """The lists and dicts of Python that a branch or a body makes, and those from before it that it changes."""

    def __init__(self) -> None:
        self.made: dict[int, Any] = {}  # kept alive for their ids
        self._before: dict[int, tuple[Any, Any]] = {}

    def add(self, container: Any) -> None:
        self._before.setdefault(id(container), (container, container.copy()))

    def close(self, outer: _Region) -> dict[int, tuple[Any, Any, Any]]:
        """Put back what they held; gives each with what it held at the beginning and at the end."""
        outer.made.update(self.made)
        changed = {}
        for key, (container, before) in self._before.items():
            changed[key] = (container, before, container.copy())
            _refill(container, before)
        return changed


def _refill(container: Any, held: Any) -> None:
    if isinstance(container, list):
        container[:] = held
    else:
        container.clear()
        container.update(held)


def _keys(held: Any) -> list[Any]:
    return list(range(len(held))) if isinstance(held, list) else list(held)


def _same_keys(first: Any, second: Any) -> None:
    if _keys(first) != _keys(second):
        kind = "list" if isinstance(first, list) else "dict"
        raise Mistake(
            "K004",
            f"a Python {kind} changes its length under a condition or in a loop that runs on the device",
            "give it its length before, or unroll the loop: `for k in vyre.unroll(range(n)):`",
        )


class _Known:
    """An `if` whose condition Python knows."""

    def __init__(self, condition: bool) -> None:
        self._condition = condition

    def __iter__(self) -> Iterator[bool]:
        yield self._condition

    def end(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        return values


class _If:
    """An `if` whose condition is an expression: both branches run, one after the other."""

    def __init__(self, tracer: Tracer, condition: Expr, names: tuple[str, ...], values: tuple[Any, ...]) -> None:
        self._tracer, self._condition, self._names, self._values = tracer, condition, names, values
        self._outer, self._was_dead = tracer.block, tracer.dead
        self._branches: list[tuple[list[Node], tuple[Any, ...], bool]] = []
        self._changes: list[dict[int, tuple[Any, Any, Any]]] = []

    def __iter__(self) -> Iterator[bool]:
        for branch in (True, False):
            self._tracer.block, self._tracer.dead = [], self._was_dead
            self._tracer.regions.append(_Region())
            yield branch

    def end(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The end of a branch; gives what the variables hold in the next one, or after both."""
        tracer = self._tracer
        self._branches.append((tracer.block, values, tracer.dead))
        self._changes.append(tracer.close_region())
        if len(self._branches) == 1:
            return self._values
        (then, then_values, then_ends), (otherwise, else_values, else_ends) = self._branches
        tracer.block, tracer.dead = self._outer, self._was_dead
        if then_ends and else_ends:
            self._emit(then, otherwise)
            tracer.dead = True
            return else_values
        if then_ends or else_ends:  # what the other branch does follows the If
            self._emit(*((then, []) if then_ends else ([], otherwise)))
            tracer.block.extend(otherwise if then_ends else then)
            for container, _, held in self._changes[1 if then_ends else 0].values():
                tracer.touch(container)
                _refill(container, held)
            return else_values if then_ends else then_values
        before: list[Node] = []
        self._join_containers(then, otherwise, before)
        joined = tuple(
            tracer.join(name, old, [(then, a), (otherwise, b)], before)
            for name, old, a, b in zip(self._names, self._values, then_values, else_values, strict=True)
        )
        for node in before:
            tracer.emit(node)
        self._emit(then, otherwise)
        return joined

    def _join_containers(self, then: list[Node], otherwise: list[Node], before: list[Node]) -> None:
        first, second = self._changes
        for key, (container, held, _) in {**first, **second}.items():
            a, b = first[key][2] if key in first else held, second[key][2] if key in second else held
            _same_keys(a, b)
            self._tracer.touch(container)
            joined = held.copy()
            _refill(joined, a)
            for k in _keys(a):
                old = held[k] if k in _keys(held) else None
                joined[k] = self._tracer.join("item", old, [(then, a[k]), (otherwise, b[k])], before, is_item=True)
            _refill(container, joined)

    def _emit(self, then: list[Node], otherwise: list[Node]) -> None:
        if not (then or otherwise):
            return
        if then:
            self._tracer.emit(Node.if_(self._condition, then, otherwise))
        else:
            self._tracer.emit(Node.if_(_core.logical_not(self._tracer.truth_of(self._condition)), otherwise))


class _Never:
    """A loop over an empty range."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        self._values = values

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(())

    def end(self, values: tuple[Any, ...]) -> None: ...

    def after(self) -> tuple[Any, ...]:
        return self._values


class _Loop:
    """A Loop of the Program: its body is traced once, and slots carry what it assigns to the next turn."""

    def __init__(
        self,
        tracer: Tracer,
        names: tuple[str, ...],
        values: tuple[Any, ...],
        variable: str,
        turns: tuple[Any, Any, Callable[[Any], Any] | None],
    ) -> None:
        self._tracer, self._names, self._values = tracer, names, values
        self._first, self._end, self._value = turns
        self._slots: list[Any] = [
            tuple(self._slots_of(name, each) for each in value)
            if isinstance(value, tuple)
            else self._slots_of(name, value)
            for name, value in zip(names, values, strict=True)
        ]
        self.is_endless = False  # a `while True`: what every break has assigned is assigned after the loop
        self._unassigned: set[str] = set()  # what some break has not
        self._variable = tracer.new_name(variable)
        self._outer, self._was_dead = tracer.block, tracer.dead
        self._outer_length = len(tracer.block)
        # Lists and dicts of Python that the body changes, each with what it holds before the loop and the slots of
        # that.
        self._carried: dict[int, tuple[Any, Any, dict[Any, str]]] = {}
        self._again = True

    def _slots_of(self, name: str, value: Any) -> str | None:
        return self._tracer._slot(name, value) if type(value) is Expr or is_number(value) else None

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Trace the body; and again if it has changed lists of Python, which slots then carry like variables."""
        while self._again:
            yield self._begin()

    def _begin(self) -> tuple[Any, ...]:
        tracer = self._tracer
        tracer.block = []
        tracer.loops.append(self)
        tracer.regions.append(_Region())
        for container, _, slots in self._carried.values():
            tracer.touch(container)
            for k, slot in slots.items():
                container[k] = tracer.let("item", Expr.var(slot))
        variable = Expr.var(self._variable)
        if self._value is None:
            tracer.variables[id(variable)] = (self._variable, variable)
        else:
            variable = tracer.let(self._variable, self._value(variable))
        # A copy a turn: what is kept of it does not change when the slot does.
        inside = [
            self._inside(name, value, slot)
            for name, value, slot in zip(self._names, self._values, self._slots, strict=True)
        ]
        return (variable, *inside)

    def _inside(self, name: str, value: Any, slot: Any) -> Any:
        if isinstance(slot, tuple):
            return tuple(self._inside(name, each, part) for each, part in zip(value, slot, strict=True))
        return value if slot is None else self._tracer.let(name, self._tracer.read_slot(slot))

    def store(self, values: tuple[Any, ...], leaves: bool = False) -> None:
        for k, (name, before, value) in enumerate(zip(self._names, self._values, values, strict=True)):
            if type(before) is Undefined and not leaves:
                continue  # the next turn begins without it
            if type(before) is Undefined and (self.is_endless or name.startswith("vyre$")):
                if type(value) is Undefined:
                    self._unassigned.add(name)
                    continue
                if self._slots[k] is None:
                    self._slots[k] = self._late_slot(name, value)
            self._store_one(name, before, value, self._slots[k])
        for container, held, slots in self._carried.values():
            _same_keys(held, container)
            for k, slot in slots.items():
                self._tracer.emit(Node.assign(slot, _assigned(self._tracer.operand(container[k], "an item of a list"))))

    def _before(self, node: Node) -> None:
        if not self._was_dead:
            self._outer.append(node)

    def _late_slot(self, name: str, value: Any) -> Any:
        """A slot for a variable that is assigned in the loop first, made before the loop."""
        if isinstance(value, tuple):
            return tuple(self._late_slot(name, each) for each in value)
        if type(value) is not Expr and not is_number(value):
            return None
        slot = self._tracer.new_name(name)
        self._tracer.slots[slot] = name
        self._before(Node.let(slot, _start(name, 0)))
        return slot

    def _store_one(self, name: str, before: Any, value: Any, slot: Any) -> None:
        if isinstance(slot, tuple):
            if not isinstance(value, tuple) or len(value) != len(slot):
                raise Mistake(
                    "K003",
                    f"variable `{name}` begins a loop with {len(slot)} values and ends it otherwise",
                    "give it as many values in the loop",
                )
            for k, (each, part) in enumerate(zip(value, slot, strict=True)):
                self._store_one(name, before[k] if isinstance(before, tuple) else before, each, part)
        elif slot is not None:
            if type(value) is Undefined:
                raise value.mistake()
            if type(value) is not Expr and not is_number(value):
                raise Mistake(
                    "K003",
                    f"variable `{name}` begins a loop as a value and ends it as {_described(value)}",
                    "give it an expression or an integer in the loop",
                )
            self._tracer.emit(Node.assign(slot, _assigned(value)))
        elif type(before) is not Undefined and value is not before:
            raise Mistake(
                "K003",
                f"variable `{name}` is {_described(before)} before a loop and {_described(value)} after its body",
                "use another name in the loop, or unroll the loop: `for k in vyre.unroll(range(n)):`",
            )

    def end(self, values: tuple[Any, ...]) -> None:
        tracer = self._tracer
        if not tracer.dead:
            self.store(values)
        body = tracer.block
        tracer.loops.pop()
        tracer.block, tracer.dead = self._outer, self._was_dead
        if self._carry(tracer.close_region()):
            return
        self._again = False
        tracer.emit(Node.loop(self._variable, self._first, self._end, body))
        for container, _, slots in self._carried.values():
            tracer.touch(container)
            for k, slot in slots.items():
                container[k] = tracer.var(slot)

    def _carry(self, changes: dict[int, tuple[Any, Any, Any]]) -> bool:
        """Make slots for the lists and dicts that the body has changed; whether there are any that had none."""
        found = False
        for key, (container, held, after) in changes.items():
            if key in self._carried:
                continue
            _same_keys(held, after)
            if all(after[k] is held[k] for k in _keys(held)):
                continue
            if not found:
                del self._outer[self._outer_length :]  # what the discarded body has put before the loop
                self._slots = [
                    None if type(old) is Undefined else slot
                    for old, slot in zip(self._values, self._slots, strict=True)
                ]
                self._unassigned.clear()
            found = True
            slots: dict[Any, str] = {}
            for k in _keys(held):
                if type(held[k]) is Expr or is_number(held[k]):
                    slots[k] = self._tracer.new_name("item")
                elif after[k] is not held[k]:
                    raise Mistake(
                        "K004",
                        f"an item of a Python list is {_described(held[k])} before a loop and "
                        f"{_described(after[k])} after its body",
                        "use another list in the loop",
                    )
            self._carried[key] = (container, held, slots)
        if found:
            for _, held, slots in self._carried.values():
                for k, slot in slots.items():
                    self._before(Node.let(slot, _start(slot, held[k])))
        return found

    def after(self) -> tuple[Any, ...]:
        return tuple(
            self._after(name, value, slot)
            for name, value, slot in zip(self._names, self._values, self._slots, strict=True)
        )

    def _after(self, name: str, value: Any, slot: Any) -> Any:
        if isinstance(slot, tuple):
            return tuple(
                self._after(name, value[k] if isinstance(value, tuple) else value, part) for k, part in enumerate(slot)
            )
        if name in self._unassigned and not name.startswith("vyre$"):
            return Undefined(name, "is not assigned before every `break` of the loop")
        if slot is not None:
            return self._tracer.var(slot)
        return (
            Undefined(name, "is assigned in a loop alone, which may have no turns")
            if type(value) is Undefined
            else value
        )


def _start(name: str, value: Any) -> Any:
    """What a slot begins with: an integer takes the type of what is assigned to the variable."""
    return value if type(value) is Expr else _core._open_integer(int(value), name)


def _assigned(value: Any) -> Any:
    return int(value) if isinstance(value, (bool, np.bool_)) else value


def _bounds(bounds: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    if not 1 <= len(bounds) <= 3:
        raise Mistake(
            "K005",
            f"range takes 1 to 3 arguments, got {len(bounds)}",
            "write range(n), range(first, end) or range(first, end, step)",
        )
    if len(bounds) == 1:
        return 0, bounds[0], 1
    return bounds[0], bounds[1], bounds[2] if len(bounds) == 3 else 1


def _turns(start: Any, stop: Any, step: int) -> tuple[Any, Any, Callable[[Any], Any] | None]:
    """The bounds of the Loop, and what makes a value of range of the Loop's variable."""
    known = type(start) is not Expr and type(stop) is not Expr
    if known:
        values = range(int(start), int(stop), step)
        if step == 1 and values[0] >= 0:
            return values[0], values[-1] + 1, None
        if min(values[0], values[-1]) < 0:
            raise Mistake(
                "K004",
                f"range goes below 0: from {values[0]} to {values[-1]}",
                "count from 0, and subtract where the value is used",
            )
        return 0, len(values), (lambda k: start + k * step) if step > 0 else (lambda k: start - k * -step)
    if step == 1:
        return start, stop, None
    if step > 0:
        begins_at_zero = type(start) is not Expr and int(start) == 0
        first = _core.ne(stop, 0) if begins_at_zero else _core.lt(start, stop)
        distance = stop if begins_at_zero else stop - start
        count = _core.select(first, (distance - 1) // step + 1, 0)
        return 0, count, lambda k: k * step if begins_at_zero else start + k * step
    # Downwards: `stop` may be -1, one before zero.
    size = -step
    down = (lambda k: start - k) if size == 1 else (lambda k: start - k * size)
    if is_number(stop) and int(stop) < 0:
        if int(stop) != -1:
            raise Mistake(
                "K004",
                f"range goes down to {int(stop)}",
                "write -1 as the end that is not reached, or count upwards",
            )
        # start + 1 elements; a start of 0 - 1 has none.
        count = start + 1
        if size > 1:
            count = _core.select(_core.eq(start, _FOREVER), 0, start // size + 1)
        return 0, count, down
    count = (start - stop - 1) // size + 1 if size > 1 else start - stop
    return 0, _core.select(_core.gt(start, stop), count, 0), down


def _is_known_later(key: Any) -> bool:
    return type(key) is Expr or (isinstance(key, tuple) and any(type(each) is Expr for each in key))


def _element_of(values: np.ndarray) -> DataType:
    from vyre._array import _NUMPY

    for element, (dtype, axes) in _NUMPY.items():
        if values.dtype.name == dtype and not axes and element is not DataType.Bytes and values.dtype.isnative:
            return element
    raise Mistake(
        "K008",
        f"a captured numpy array of {values.dtype} is read at an index that is unknown while the kernel is traced",
        "write values.astype(np.uint32)",
    )


def _float(value: Any) -> Mistake:
    return Mistake(
        "K001", f"a kernel computes with the float {value!r}", "use integers: x * p // q is x times the fraction p / q"
    )


_STORE = "store it into an Out array and {} it after the call"
# Functions of Python that a value cannot be given, and what to write instead.
_INSTEAD = {
    **dict.fromkeys(["int", "bool", "float"], "write vyre.u32(x), vyre.i32(x), vyre.u64(x) or vyre.boolean(x)"),
    **dict.fromkeys(["str", "repr", "hex", "bin", "oct", "format", "chr", "ascii"], _STORE.format("format")),
    "print": _STORE.format("print"),
    "divmod": "write x // y and x % y",
    "pow": "write the products, x * x * x",
    "round": "leave it out: values are integers",
    **dict.fromkeys(
        ["isinstance", "type", "callable", "hash", "id"], "leave it out: values are expressions while tracing"
    ),
    "range": "write it in the loop: `for i in range(n):`",
    **dict.fromkeys(
        [
            "sum",
            "any",
            "all",
            "sorted",
            "list",
            "tuple",
            "set",
            "enumerate",
            "zip",
            "reversed",
            "map",
            "filter",
            "iter",
        ],
        "give it a Python sequence of values",
    ),
}


# The same for functions of numpy, by their names.
_INSTEAD_OF_NUMPY = {
    "where": "write `x if c else y`",
    **dict.fromkeys(["minimum", "fmin"], "write min(x, y)"),
    **dict.fromkeys(["maximum", "fmax"], "write max(x, y)"),
    **dict.fromkeys(["abs", "absolute"], "write abs(x)"),
    **{
        f"{kind}{bits}": f"write vyre.{kind[0]}{bits}(x)"
        for kind in ("uint", "int")
        for bits in (32, 64)
        if kind == "uint" or bits == 32
    },
    "bool_": "write vyre.boolean(x)",
}


def _check_takes_values(function: Any, is_value: bool) -> None:
    """A Mistake for a function of Python, numpy or math, which cannot take a value that is unknown while tracing."""
    module = (getattr(function, "__module__", None) or "").partition(".")[0]
    if isinstance(function, np.ufunc):
        module = "numpy"
    if module == "builtins" and not is_value:
        return  # an array says itself that it has no length and no elements yet
    if module in ("builtins", "math", "numpy", "cmath", "statistics", "random"):
        raise _no_meaning(function, "" if module == "builtins" else f"{module}.")


def _no_meaning(function: Any, module: str = "") -> Mistake:
    name = getattr(function, "__name__", "a function")
    problem = f"{module}{name}() is given a value that is unknown while the kernel is traced"
    table = _INSTEAD if not module else _INSTEAD_OF_NUMPY
    return Mistake("K004", problem, table.get(name, "write it with operators, or with a function of vyre"))


def _what(name: str) -> str:
    return "the result of the helper" if name.startswith("vyre$") else f"variable `{name}`"


def _shapes(values: list[Any]) -> str:
    return " and ".join(f"has {len(value)} values" for value in values[:2])


def _described(value: Any) -> str:
    if type(value) is Expr:
        return "an expression"
    if value is None:
        return "None"
    if isinstance(value, KernelArray):
        return f"the array `{value.name}`"
    if type(value) is Undefined:
        return "unassigned"
    if is_number(value):
        return f"the integer {int(value)}"
    return f"a Python {type(value).__name__}"


# Python's functions on expressions.


def _fold(function: Any, builtin: Any, name: str) -> Any:
    def folded(tracer: Tracer, *args: Any, **kwargs: Any) -> Any:
        values = list(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else list(args)
        if not any(type(each) is Expr for each in values):
            return builtin(*args, **kwargs)
        if kwargs or len(values) < 2:
            raise Mistake("K004", f"{name}() takes two values and more in a kernel", f"write {name}(a, b)")
        result = values[0]
        for each in values[1:]:
            result = function(result, tracer.operand(each, f"{name}()"))
        return result

    return folded


def _len(tracer: Tracer, value: Any) -> Any:
    if isinstance(value, KernelArray):
        tracer.uses(value)
        return value.shape[0]
    if type(value) is Expr:
        raise Mistake("K004", "len() is given a value", "give it an array")
    return len(tracer.use(value))


def _next(tracer: Tracer, *args: Any) -> Any:
    if len(tracer.regions) > 1:
        raise Mistake(
            "K004",
            "next() is called under a condition or in a loop that runs on the device",
            "read a list by an index, or unroll the loop: `for k in vyre.unroll(range(n)):`",
        )
    return next(*args)


def _abs(tracer: Tracer, value: Any) -> Any:
    return _core.abs(value) if type(value) is Expr else abs(tracer.use(value))


def _sum(tracer: Tracer, values: Any, start: Any = 0) -> Any:
    if type(values) is Expr:
        raise _no_meaning(sum)
    total = start
    for each in values:
        total = each if isinstance(total, int) and total == 0 and type(each) is Expr else operator.add(total, each)
    return total


def _any_all(is_all: bool) -> Any:
    def found(tracer: Tracer, values: Any) -> Any:
        if type(values) is Expr:
            raise _no_meaning(all if is_all else any)
        result: Any = is_all
        for each in values:
            result = tracer._logical(result, [lambda each=each: each], is_and=is_all)
        return result

    return found


def _atomic(name: str) -> Any:
    def called(tracer: Tracer, array: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(array, KernelArray):
            raise Mistake(
                "K008",
                f"vyre.atomic_{name} is given {_described(array)} in place of an array",
                f"write vyre.atomic_{name}(array, index, value)",
            )
        return array.atomic_op(name, *args, **kwargs)

    return called


_REPLACED: dict[Any, Any] = {
    builtins.len: _len,
    builtins.next: _next,
    builtins.abs: _abs,
    builtins.sum: _sum,
    builtins.min: _fold(_core.min, builtins.min, "min"),
    builtins.max: _fold(_core.max, builtins.max, "max"),
    builtins.any: _any_all(False),
    builtins.all: _any_all(True),
    **{
        getattr(_core, f"atomic_{name.rstrip('_')}"): _atomic(name)
        for name in ("add", "and_", "or_", "xor", "min", "max", "exchange", "compare_exchange")
    },
}
# Operators by their names in the syntax tree, as the module operator has them.
_OPERATORS = {
    "Add": "add",
    "Sub": "sub",
    "Mult": "mul",
    "FloorDiv": "floordiv",
    "Mod": "mod",
    "Pow": "pow",
    "LShift": "lshift",
    "RShift": "rshift",
    "BitAnd": "and_",
    "BitOr": "or_",
    "BitXor": "xor",
}
# Methods that change what Python's containers and iterators hold.
_CHANGING = frozenset(
    "__delitem__ __iadd__ __next__ __setitem__ add append appendleft clear difference_update discard extend "
    "extendleft fromlist insert intersection_update move_to_end pop popitem popleft remove reverse rotate send "
    "setdefault sort subtract symmetric_difference_update update".split()
)
# Methods of values that go by types, like the functions of the module.
_METHODS: dict[str, Any] = {
    name: getattr(_core, name)
    for name in _core.__all__
    if name.islower() and hasattr(Expr, name) and not name.startswith("atomic_")
}
