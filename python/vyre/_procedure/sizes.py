"""Sizes: integers that are known when a Procedure is planned for the arrays of a call.

A Size is an expression over the lengths of arrays, the numbers of the call and the limits of the device. It is
evaluated exactly, in integers from 0 to 2^64 - 1. The expressions are the core's: a Size is the number of one in the
builder of a Procedure.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeAlias

import numpy as np

from vyre import _core
from vyre._arrays.array import PlannedCount
from vyre._base.calls import explain_calls
from vyre._base.refused import must_be
from vyre._base.text import as_count, shown
from vyre._procedure.branches import BOTH, EITHER, OPPOSITE, what_to_write
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre._procedure.recorded import ArrayDecl

__all__ = [
    "LIMITS",
    "SIZES",
    "Size",
    "as_size",
    "ceil_div",
    "ceil_log2",
    "divisor_of",
    "known_difference",
    "limit",
    "size_max",
    "size_min",
    "size_select",
    "substituted",
]

_MOST = 2**64 - 1
# What may be asked about a device, with Vulkan's name of it.
LIMITS = {
    "workgroup_memory": "maxComputeSharedMemorySize",
    "workgroup_invocations": "maxComputeWorkGroupInvocations",
}
_LEAVES = ("literal", "length", "number", "limit", "turn")
# (number, operation, operands): the numbers of sizes, or what a leaf names.
Term: TypeAlias = "tuple[int, str, tuple[Any, ...]]"


class Home:
    """What the sizes of one recording are numbered by: the core's builder of a Procedure, with names for messages."""

    def __init__(self, name: str = "") -> None:
        self.name: str = name
        self.made: _core._ProcedureBuilder = _core._ProcedureBuilder(name)
        self.arrays: list[ArrayDecl] = []
        self.numbers: list[str] = []
        self.turns: list[int] = []  # of the loops that are open, from 1

    def number_of(self, size: Size | int) -> int:
        """The number of a size here.

        Raises: ArgumentError for one of another procedure.
        """
        if not isinstance(size, Size):
            return self.made.literal(size)
        if size._home is self:
            return size._id

        def leaf(op: str, operands: tuple[Any, ...]) -> Size:
            if op == "limit":
                return Size(self, self.made.limit(*operands))
            if op == "turn":
                raise self.outside()
            raise ArgumentError(
                f"procedure `{self.name}` uses the size {_leaf_text(size._home, op, operands)} of another procedure. "
                "Fix: pass it as an argument, with a parameter `n: vyre.u32`."
            )

        found: int = substituted(size._terms(), leaf)[size._id]._id
        return found

    def used(self, size: Size | int) -> int:
        """The number of a size that a step has.

        Raises: ArgumentError, also for the turn of a loop that is not open.
        """
        if isinstance(size, Size) and size._turn and size._turn not in self.turns:
            raise self.outside()
        return self.number_of(size)

    def outside(self) -> ArgumentError:
        return ArgumentError(
            f"procedure `{self.name}` uses the turn of a vyre.times outside of its steps. "
            "Fix: use it in the steps of that loop; arrays are made for all turns, for instance with "
            "the most elements that a turn needs."
        )


class Size(PlannedCount):
    """An integer that is known when a procedure is planned, such as the length of an array.

    It has ``+ - * // %`` and comparisons with integers and other sizes. ``vyre.when`` decides by it.

    >>> import vyre
    >>> @vyre.procedure
    ... def halves(x: vyre.In[vyre.u32]):
    ...     print(x.length // 2)
    ...     return vyre.scratch(vyre.u32, x.length // 2, zeros=True)
    >>> _ = halves.procedure
    length(x) // 2
    """

    __slots__ = ("_home", "_id", "_turn")

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # == makes a Size

    def __init__(self, home: Home, id: int, turn: int = 0) -> None:
        self._home, self._id = home, id
        self._turn = turn  # the innermost one that it depends on, or one whose loop has ended; 0 for none

    def _terms(self) -> list[Term]:
        """What it consists of, operands first."""
        return self._home.made.terms([self._id])

    def __add__(self, other: Any) -> Size:
        return _made("+", self, other)

    def __radd__(self, other: Any) -> Size:
        return _made("+", other, self)

    def __sub__(self, other: Any) -> Size:
        return _made("-", self, other)

    def __rsub__(self, other: Any) -> Size:
        return _made("-", other, self)

    def __mul__(self, other: Any) -> Size:
        return _made("*", self, other)

    def __rmul__(self, other: Any) -> Size:
        return _made("*", other, self)

    def __floordiv__(self, other: Any) -> Size:
        return _made("/", self, other)

    def __rfloordiv__(self, other: Any) -> Size:
        return _made("/", other, self)

    def __mod__(self, other: Any) -> Size:
        return _made("%", self, other)

    def __rmod__(self, other: Any) -> Size:
        return _made("%", other, self)

    def __lt__(self, other: Any) -> Size:
        return _made("<", self, other)

    def __le__(self, other: Any) -> Size:
        return _made("<=", self, other)

    def __gt__(self, other: Any) -> Size:
        return _made("<", other, self)

    def __ge__(self, other: Any) -> Size:
        return _made("<=", other, self)

    def __eq__(self, other: object) -> Size:  # type: ignore[override]
        return _made("==", self, other)

    def __ne__(self, other: object) -> Size:  # type: ignore[override]
        return _made("!=", self, other)

    def __bool__(self) -> NoReturn:
        raise ArgumentError(
            f"the size {self} decides a branch of Python, and is not known until the procedure is planned. "
            f"Fix: {what_to_write(sys._getframe(1))}."
        )

    def __index__(self) -> NoReturn:
        raise ArgumentError(
            f"the size {self} is used as an integer, and is not known until the procedure is planned. "
            "Fix: compute with the size itself, or repeat with `for i in vyre.times(size):`."
        )

    __int__ = __index__
    __iter__ = None  # for type checkers; see _refuse_iteration

    def __repr__(self) -> str:
        return _text(self)


_IN_A_KERNEL = "compute it in the kernel, which is given the size"

# What sizes do not have: the operator by its method in Python, and what to write in its place.
_LEFT_OUT = {
    "truediv": ("/", "write `//`, which rounds down, or vyre.ceil_div(a, b)"),
    "pow": ("**", f"write a product, or {_IN_A_KERNEL}"),
    "divmod": ("divmod", "write a // b and a % b"),
    "lshift": ("<<", f"write `* 2**k` for an integer k, or {_IN_A_KERNEL}"),
    "rshift": (">>", f"write `// 2**k` for an integer k, or {_IN_A_KERNEL}"),
    "and": ("&", f"write `% 2**k` for the low k bits, or {BOTH.removeprefix('write ')}"),
    "or": ("|", EITHER),
    "xor": ("^", "write `a != b` for one of two conditions alone"),
    "neg": ("-", "subtract it from another size: sizes are integers from 0 on"),
    "invert": ("~", OPPOSITE),
    "abs": ("abs", "write vyre.size_max(a, b) - vyre.size_min(a, b) for the distance of a and b"),
    **{name: (name, "leave it out: sizes are integers") for name in ("round", "floor", "ceil", "trunc")},
}


def _refusal(operator: str, fix: str) -> Callable[..., NoReturn]:
    def refuse(self: Size, *_: object) -> NoReturn:
        raise ArgumentError(f"operator `{operator}` is not defined on the size {self}. Fix: {fix}.")

    return refuse


for _name, (_operator, _fix) in _LEFT_OUT.items():
    for _method in (f"__{_name}__", f"__r{_name}__"):
        setattr(Size, _method, _refusal(_operator, _fix))


def _refuse_iteration(size: Size) -> NoReturn:
    raise ArgumentError(
        f"the size {size} is iterated over, and is not known until the procedure is planned. "
        "Fix: write `for i in vyre.times(size):`."
    )


setattr(Size, "__iter__", _refuse_iteration)  # noqa: B010

SIZES = (Size, int, np.integer)
_LONGEST = 200


def _leaf_text(home: Home, op: str, operands: tuple[Any, ...]) -> str:
    if op == "length":
        name, axis = home.arrays[operands[0]].name, operands[1]
        return f"length({name})" if axis == 0 else f"length({name}, {axis})"
    if op == "number":
        return str(home.numbers[operands[0]])
    return f"turn{operands[0] + 1}" if op == "turn" else str(operands[0])


def _text(size: Size) -> str:
    terms = {number: (op, operands) for number, op, operands in size._terms()}
    parts: list[str] = []
    open_: list[str | int] = [size._id]
    while open_ and len(parts) < _LONGEST:
        each = open_.pop()
        if isinstance(each, str):
            parts.append(each)
            continue
        op, operands = terms[each]
        if op in _LEAVES:
            parts.append(_leaf_text(size._home, op, operands))
            continue
        if op.isidentifier():
            pieces = [f"{op}("]
            for k, operand in enumerate(operands):
                pieces += [", ", operand] if k else [operand]
            pieces.append(")")
        else:
            pieces = [operands[0], f" {'//' if op == '/' else op} ", operands[1]]
            if each != size._id:
                pieces = ["(", *pieces, ")"]
        open_.extend(reversed(pieces))
    return "".join(parts) + ("..." if open_ else "")


def as_size(value: Any, where: str) -> Size | int:
    """A size as given, checked.

    Raises: ArgumentError for what is no size.
    """
    if isinstance(value, Size):
        return value
    count = as_count(value)
    if count is None or not 0 <= count <= _MOST:
        raise must_be(where, "an integer from 0 to 2**64 - 1 or a vyre.Size", shown(value))
    return count


def _made(op: str, *args: Any) -> Size:
    whole: list[Any] = [as_size(each, "an operand of a size") for each in args]
    sizes = [each for each in whole if isinstance(each, Size)]
    if not sizes:
        return _core._size_value(op, whole)  # type: ignore[return-value]  # operators have a Size
    home, turns = _home_of(sizes), [each._turn for each in sizes if each._turn]
    turn = next((each for each in turns if each not in home.turns), max(turns)) if turns else 0
    return Size(home, home.made.apply(op, [home.number_of(each) for each in whole]), turn)


def _home_of(sizes: Sequence[Size]) -> Home:
    """Where an operation on sizes is recorded. A limit has a home of its own until it meets a size of a procedure."""
    return next((each._home for each in reversed(sizes) if type(each._home) is not Home), sizes[0]._home)


def ceil_div(a: Size | int, b: Size | int) -> Any:
    """a / b, rounded up.

    >>> ceil_div(1025, 1024)
    2
    """
    return _made("ceil_div", a, b)


def ceil_log2(a: Size | int) -> Any:
    """The least k with 2^k >= a; 0 of 0.

    >>> [ceil_log2(n) for n in (0, 1, 2, 3, 4, 5)]
    [0, 0, 1, 2, 2, 3]
    """
    return _made("ceil_log2", a)


def size_min(a: Size | int, b: Size | int) -> Any:
    """The smaller of two sizes.

    >>> size_min(3, 5)
    3
    """
    return _made("min", a, b)


def size_max(a: Size | int, b: Size | int) -> Any:
    """The larger of two sizes.

    >>> size_max(3, 5)
    5
    """
    return _made("max", a, b)


def size_select(condition: Size | int, a: Size | int, b: Size | int) -> Any:
    """``a`` where the condition is not 0, else ``b``.

    >>> size_select(0, 3, 5)
    5
    """
    return _made("select", condition, a, b)


def limit(name: str) -> Size:
    """A limit of the device that the procedure runs on: "workgroup_memory" in bytes, "workgroup_invocations".

    >>> limit("workgroup_memory") // 4
    workgroup_memory // 4
    """
    if not isinstance(name, str) or name not in LIMITS:
        raise ArgumentError(f"there is no limit {shown(name)}. Fix: use one of {', '.join(LIMITS)}.")
    home = Home()
    return Size(home, home.made.limit(name))


def divisor_of(size: Size | int) -> int:
    """A power of two, at most 256, that divides the size whatever its lengths and numbers are."""
    if not isinstance(size, Size):
        return math.gcd(size, 256)
    known: dict[int, int] = {}
    for number, op, operands in size._terms():
        known[number] = 1
        if op == "literal":
            known[number] = math.gcd(*operands, 256)
        elif op in ("+", "-", "*", "min", "max", "select"):
            divisors = [known[each] for each in operands[op == "select" :]]
            known[number] = math.gcd(math.prod(divisors) if op == "*" else math.gcd(*divisors), 256)
    return known[size._id]


_MOST_TERMS = 64


def known_difference(a: Size | int, b: Size | int) -> int | None:
    """a - b where that is the same for all lengths, numbers and devices; None where it is not known to be.

    >>> n = limit("workgroup_memory")
    >>> known_difference(n * 2 + 3, (n + 1) * 2), known_difference(n, ceil_div(n, 2))
    (1, None)
    """
    sizes = [each for each in (a, b) if isinstance(each, Size)]
    home = _home_of(sizes) if sizes else Home()
    first, second = home.number_of(a), home.number_of(b)
    # Each size as a sum: what it is multiplied with by its number, and the constant by None.
    known: dict[int, dict[int | None, int]] = {}
    for number, op, operands in home.made.terms([first, second]):
        made: dict[int | None, int] = {number: 1}
        if op == "literal":
            made = {None: operands[0]}
        elif op in ("+", "-"):
            made = _sum(known[operands[0]], known[operands[1]], 1 if op == "+" else -1)
        elif op == "*":
            for constant, other in (operands, reversed(operands)):
                if known[constant].keys() <= {None}:
                    made = {leaf: each * known[constant].get(None, 0) for leaf, each in known[other].items()}
        known[number] = made if len(made) <= _MOST_TERMS else {number: 1}
    difference = _sum(known[first], known[second], -1)
    return difference.get(None, 0) if difference.keys() <= {None} else None


def _sum(a: dict[int | None, int], b: dict[int | None, int], factor: int) -> dict[int | None, int]:
    found = dict(a)
    for leaf, each in b.items():
        found[leaf] = found.get(leaf, 0) + factor * each
    return {leaf: each for leaf, each in found.items() if each}


def substituted(terms: Sequence[Term], leaf: Callable[[str, tuple[Any, ...]], Any]) -> dict[int, Any]:
    """The sizes of another procedure by their numbers there, with other leaves."""
    made: dict[int, Any] = {}
    for number, op, operands in terms:
        if op == "literal":
            made[number] = operands[0]
        elif op in _LEAVES:
            made[number] = leaf(op, operands)
        else:
            made[number] = _made(op, *(made[each] for each in operands))
    return made


explain_calls(globals(), "vyre")
