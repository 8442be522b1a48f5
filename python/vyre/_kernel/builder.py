"""``vyre.Builder``: programs spelled out statement by statement, for programs that are generated.

A Builder has a Tracer of its own, so that its arrays and variables mean what they mean in a kernel, but its lines run
as they stand. Each declaration makes a buffer, in the order of their bindings; ``if_`` and ``loop`` give with-blocks
whose statements become a body (_Body), and ``program`` puts all together.
"""

from __future__ import annotations

import math
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._base.calls import explain_calls
from vyre._base.refused import must_be, must_have
from vyre._base.text import shown
from vyre._base.types import SCALARS, TYPES
from vyre._core import BufferAccess, BufferDecl, DataType, Expr, Node, Program
from vyre._kernel.arrays import KernelArray
from vyre._kernel.mistakes import Mistake
from vyre._kernel.parameters import SCALAR_NAMES, workgroup_counts
from vyre._kernel.trace import scalar_at
from vyre._kernel.tracer import Tracer, element_of
from vyre._kernel.user_terms import in_user_terms
from vyre._kernel.words import PARAMS
from vyre.errors import ArgumentError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from vyre._kernel.typed import ElementType

__all__ = ["Builder"]


# The condition of an `if_`, its body, and the statement itself.
_If = tuple[Any, list[Node], Node]


class Builder:
    """Statements of a Program in the order in which they are written; ``with`` opens what has a body.

    Arrays are declared by methods, and read and written by indexing. A value that is read from memory that the program
    writes, or given back by an atomic, is read once, where it stands, as in a kernel. The names are the caller's.

    The sizes of arrays with several axes, first axis first, and scalars are words of a uniform buffer ``__params``, in
    the order in which they were declared; a call gives that buffer too. Arrays before scalars is a kernel's order.
    Tables of constants are buffers behind it, and a call gives them from ``tables``.

    Args:
        workgroup_size: invocations of a workgroup along x, y, z.

    >>> import numpy as np
    >>> import vyre
    >>> p = vyre.Builder(workgroup_size=64)
    >>> a, out = p.read("a", vyre.u32), p.output("out", vyre.u32)
    >>> i = p.let("i", vyre.gid(0))
    >>> with p.if_(a[i] > 5):
    ...     out[i] = a[i] - 5
    >>> with p.else_():
    ...     out[i] = 0
    >>> vyre.run(p.program(), {"a": np.array([4, 9], np.uint32), "out": 2}, 1, backend="reference")["out"]
    array([0, 4], dtype=uint32)
    """

    def __init__(self, workgroup_size: int | Sequence[int] = (64, 1, 1)) -> None:
        self._size = workgroup_counts(workgroup_size, "vyre.Builder")
        self._tracer = Tracer(lambda function: None)
        self._tracer.is_builder = True
        self._tables: dict[str, tuple[np.ndarray, DataType]] = {}
        _TRACERS.add(self._tracer)
        _core._before_in_place(_check_in_place)  # programs without builders do not pay for the question
        self._buffers: list[BufferDecl] = []
        self._bindings = 0
        self._words = 0  # of PARAMS
        self._depth = 0
        self._last_if: _If | None = None

    # Arrays.

    def read(self, name: str, element: ElementType, *, count: int = 0, axes: int = 1) -> KernelArray:
        """Declare a buffer that is read; its binding is the next one. ``count`` 0 takes any length."""
        return self._declare(BufferDecl.read(name, self._bindings, element, count=count), axes)

    def read_write(self, name: str, element: ElementType, *, count: int = 0, axes: int = 1) -> KernelArray:
        """Declare a buffer that is read and written."""
        return self._declare(BufferDecl.read_write(name, self._bindings, element, count=count), axes)

    def output(self, name: str, element: ElementType, *, count: int = 0, axes: int = 1) -> KernelArray:
        """Declare the buffer that is the program's output. With several ``axes`` it is indexed as in ``out[y, x]``."""
        return self._declare(BufferDecl.output(name, self._bindings, element, count=count), axes)

    def uniform(self, name: str, element: ElementType, *, count: int = 0) -> KernelArray:
        """Declare a small buffer that all invocations read."""
        return self._declare(BufferDecl.uniform(name, self._bindings, element, count=count), 1)

    def table(self, name: str, values: np.ndarray) -> KernelArray:
        """Declare a table of constants that is read: a numpy array of an element's dtype, of one to three axes.

        Its values are copied. They are no part of the Program: a call gives ``tables`` with its other inputs.

        >>> import numpy as np
        >>> import vyre
        >>> p = vyre.Builder(workgroup_size=64)
        >>> out, squares = p.output("out", vyre.u32), p.table("squares", np.arange(10, dtype=np.uint32) ** 2)
        >>> out[vyre.gid(0)] = squares[vyre.gid(0) + 3]
        >>> vyre.run(p.program(), {"out": 3, **p.tables}, 1, backend="reference")["out"]
        array([ 9, 16, 25], dtype=uint32)
        """
        if not isinstance(values, np.ndarray):
            raise must_be("argument `values` of Builder.table", "a numpy array", shown(values))
        if not 1 <= values.ndim <= 3 or not values.size:
            raise must_have(
                "argument `values` of Builder.table", "elements along one to three axes", f"shape {values.shape}"
            )
        try:
            element = element_of(values)
        except Mistake as mistake:
            problem = (
                f"argument `values` of Builder.table is an array of {values.dtype}, and programs have integers alone"
            )
            raise ArgumentError(f"{problem}. Fix: {mistake.fix}.") from None
        copied = values.copy()
        self._tables[self._fresh(name)] = (copied, element)
        return KernelArray(self._tracer, name, "table", element, copied.shape, True)

    @property
    def tables(self) -> dict[str, np.ndarray]:
        """The values of the tables, by their names."""
        return {name: values for name, (values, _) in self._tables.items()}

    def scalar(self, element: DataType) -> Expr:
        """Declare a number that a call gives in ``__params``: one word, or the low and the high word of a U64."""
        if element not in SCALARS:
            raise must_be("argument `element` of Builder.scalar", SCALAR_NAMES, shown(element))
        self._words += TYPES[element].lanes
        return scalar_at(self._words - TYPES[element].lanes, element)

    def shared(self, name: str, element: ElementType, count: int | tuple[int, ...]) -> KernelArray:
        """Declare an array of the workgroup. `count` is its number of elements, or their numbers along each axis."""
        return self._own("shared", BufferDecl.workgroup(name, _elements(count), element), count)

    def local(self, name: str, element: ElementType, count: int | tuple[int, ...]) -> KernelArray:
        """Declare an array of the invocation. `count` is its number of elements, or their numbers along each axis."""
        return self._own("private", BufferDecl.private(name, _elements(count), element), count)

    def _own(self, kind: str, decl: BufferDecl, count: int | tuple[int, ...]) -> KernelArray:
        shape = count if isinstance(count, tuple) else (decl.count,)
        made = KernelArray(self._tracer, self._fresh(decl.name), kind, decl.element, shape, False)
        self._tracer.uses(made)
        return made

    def _fresh(self, name: str) -> str:
        made = self._tracer.new_name(name)
        if made != name:
            raise ArgumentError(
                f"the program has something called `{name}` already. Fix: give the buffer another name."
            )
        return made

    def _declare(self, decl: BufferDecl, axes: int) -> KernelArray:
        if type(axes) is not int or not 1 <= axes <= 3:
            raise must_be("argument `axes` of vyre.Builder", "an int from 1 to 3", shown(axes))
        is_const = decl.access in (BufferAccess.ReadOnly, BufferAccess.Uniform)
        name = self._fresh(decl.name)
        shape: tuple[Expr, ...] = (Expr.buf_len(name),)
        if axes > 1:
            shape = tuple(Expr.load(PARAMS, self._words + axis) for axis in range(axes))
            self._words += axes
        self._bindings += 1
        self._buffers.append(decl)
        return KernelArray(self._tracer, name, "In" if is_const else "InOut", decl.element, shape, is_const)

    # Statements.

    def let(self, name: str, value: Any) -> Expr:
        """Declare a variable; gives the expression that reads it. A name that is taken gets a number."""
        Node.let(name, value)  # checks both
        made = self._tracer.new_name(name)
        self._tracer.emit(Node.let(made, value))
        return self._tracer.var(made)

    def assign(self, variable: Expr, value: Any) -> None:
        """Assign to what ``let`` gave. Expressions that read it have the new value from here on."""
        name, known = self._tracer.variables.get(id(variable), (None, None))
        if name is None or known is not variable:
            raise must_be("argument `variable` of Builder.assign", "what let gave", shown(variable))
        self._tracer.emit(Node.assign(name, value))

    def barrier(self) -> None:
        """Wait until every invocation of the workgroup is here."""
        self._tracer.effect(Node.barrier())

    def return_(self) -> None:
        """End the invocation."""
        self._tracer.effect(Node.return_())

    def break_(self) -> None:
        """Leave the innermost loop."""
        self._tracer.effect(Node.break_())

    def if_(self, condition: Any) -> AbstractContextManager[None]:
        """Statements for the invocations whose condition is not zero."""
        Node.if_(condition, [])  # checks the condition
        return _Body(self, None, lambda body: self._close_if(condition, body))

    def _close_if(self, condition: Any, body: list[Node]) -> None:
        node = Node.if_(condition, body)
        self._tracer.block.append(node)
        self._last_if = (condition, body, node)

    def else_(self) -> AbstractContextManager[None]:
        """Statements for the others: right after an ``if_``."""
        last = self._last_if
        self._check_last(last)

        def close(body: list[Node]) -> None:
            condition, then, _ = self._check_last(last)
            self._tracer.block[-1] = Node.if_(condition, then, body)

        return _Body(self, None, close)

    def _check_last(self, last: _If | None) -> _If:
        block = self._tracer.block
        if last is None or not block or block[-1] is not last[2]:
            raise ArgumentError(
                "else_ stands after no if_. Fix: write `with p.else_():` right after the body of `with p.if_(...):`."
            )
        return last

    def loop(self, name: str, first: Any, end: Any) -> AbstractContextManager[Expr]:
        """Statements for each integer from ``first`` on, ``end`` excluded; gives the variable."""
        Node.loop(name, first, end, [])  # checks name and bounds
        made = self._tracer.new_name(name)
        variable = Expr.var(made)
        return _Body(self, variable, lambda body: self._tracer.block.append(Node.loop(made, first, end, body)))

    def program(self) -> Program:
        """The Program of what was written so far.

        Raises: ArgumentError while a body is open, ValidationError for V039.
        """
        if self._depth:
            raise ArgumentError("Builder.program was called in an open body. Fix: call it after the with-blocks.")
        buffers, binding = self._buffers.copy(), self._bindings
        if self._words:
            buffers.append(BufferDecl.uniform(PARAMS, binding, DataType.U32, count=self._words))
            binding += 1
        for name, (values, element) in self._tables.items():
            buffers.append(BufferDecl.read(name, binding, element, count=values.size))
            binding += 1
        buffers += [array.declaration() for array in self._tracer.arrays if array.kind != "table"]
        try:
            return Program(buffers, self._size, self._tracer.block)
        except ValidationError as error:
            told = in_user_terms(error.diagnostics)
        # An index of a wrong type is an operand of several operators, which all stand in one place.
        first: dict[Any, int] = {}
        places = [(each.place.file, each.place.line, each.place.column) for each in told]
        kept = [k for k, place in enumerate(places) if place[2] is None or first.setdefault(place, k) == k]
        raise ValidationError([told[k] for k in kept])


def _elements(count: int | tuple[int, ...]) -> int:
    """How many elements an array of this shape has."""
    if not isinstance(count, tuple):
        return count
    if not 1 <= len(count) <= 3 or not all(type(each) is int and each > 0 for each in count):
        raise must_be(
            "argument `count` of vyre.Builder", "an int or a tuple of one to three ints from 1 on", shown(count)
        )
    return math.prod(count)


class _Body:
    """The statements of a with-block. One that raises leaves nothing behind."""

    def __init__(self, builder: Builder, given: Any, close: Callable[[list[Node]], None]) -> None:
        self._builder, self._given, self._close = builder, given, close
        self._body: list[Node] | None = None

    def __enter__(self) -> Any:
        if self._body is not None:
            raise ArgumentError(
                "the body of a statement was entered twice. "
                "Fix: call p.if_, p.else_ or p.loop once for each with-block."
            )
        tracer = self._builder._tracer
        self._outer, tracer.block = tracer.block, []
        self._body = tracer.block
        self._builder._depth += 1
        return self._given

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        tracer = self._builder._tracer
        if tracer.block is not self._body:
            raise ArgumentError(
                "a body was left before the bodies inside of it. Fix: write nested with-blocks, which end in order."
            )
        body, tracer.block = tracer.block, self._outer
        self._builder._depth -= 1
        if kind is None:
            self._close(body)


# The tracers of the builders that are alive.
_TRACERS: weakref.WeakSet[Tracer] = weakref.WeakSet()


def _check_in_place(changed: Any, symbol: str, operand: Any) -> None:
    """Refuse `x += 1` on a variable of a builder."""
    for tracer in _TRACERS:
        name, known = tracer.variables.get(id(changed), ("", None))
        if known is changed:
            value = str(operand) if type(operand) is int else "value"
            raise ArgumentError(
                f"`{name} {symbol}= {value}` gives the name in Python another expression, and variable `{name}` of "
                f"the program keeps its value. Fix: write p.assign({name}, {name} {symbol} {value}) to change the "
                f"variable, or {name} = {name} {symbol} {value} for another expression."
            )


explain_calls(globals(), "vyre")
