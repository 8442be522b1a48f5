"""Sizes: integers that are known when a Procedure is planned for the arrays of a call.

A Size is an expression over the lengths of arrays, the numbers of the call and the limits of the device. It is
evaluated exactly, in integers from 0 to 2^64 - 1.
"""

from __future__ import annotations

import math
import operator
import sys
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from vyre._arrays.array import PlannedCount
from vyre._base.calls import explain_calls
from vyre._base.text import as_count, shown
from vyre._procedure.branches import BOTH, EITHER, OPPOSITE, what_to_write
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "LIMITS",
    "SIZES",
    "Size",
    "as_size",
    "ceil_div",
    "ceil_log2",
    "divisor_of",
    "evaluated",
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


def _quotient(a: int, b: int) -> int:
    if b == 0:
        raise ArgumentError("a size is divided by zero. Fix: divide by vyre.size_max(n, 1).")
    return a // b


def _remainder(a: int, b: int) -> int:
    return a - _quotient(a, b) * b


# What each operation of a Size computes.
_OPERATIONS: dict[str, Callable[..., int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": _quotient,
    "mod": _remainder,
    "ceil_div": lambda a, b: -_quotient(-a, b),
    "min": min,
    "max": max,
    "ceil_log2": lambda a: max(a - 1, 0).bit_length(),
    "lt": lambda a, b: int(a < b),
    "le": lambda a, b: int(a <= b),
    "eq": lambda a, b: int(a == b),
    "ne": lambda a, b: int(a != b),
    "select": lambda c, a, b: a if c else b,
}


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

    __slots__ = ("args", "op")

    op: str
    args: tuple[Any, ...]
    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # == makes a Size

    def __init__(self, op: str, *args: Any) -> None:
        self.op, self.args = op, args

    def __add__(self, other: Any) -> Size:
        made: Size = _made("add", self, other)
        return made

    def __radd__(self, other: Any) -> Size:
        made: Size = _made("add", other, self)
        return made

    def __sub__(self, other: Any) -> Size:
        made: Size = _made("sub", self, other)
        return made

    def __rsub__(self, other: Any) -> Size:
        made: Size = _made("sub", other, self)
        return made

    def __mul__(self, other: Any) -> Size:
        made: Size = _made("mul", self, other)
        return made

    def __rmul__(self, other: Any) -> Size:
        made: Size = _made("mul", other, self)
        return made

    def __floordiv__(self, other: Any) -> Size:
        made: Size = _made("div", self, other)
        return made

    def __rfloordiv__(self, other: Any) -> Size:
        made: Size = _made("div", other, self)
        return made

    def __mod__(self, other: Any) -> Size:
        made: Size = _made("mod", self, other)
        return made

    def __rmod__(self, other: Any) -> Size:
        made: Size = _made("mod", other, self)
        return made

    def __lt__(self, other: Any) -> Size:
        made: Size = _made("lt", self, other)
        return made

    def __le__(self, other: Any) -> Size:
        made: Size = _made("le", self, other)
        return made

    def __gt__(self, other: Any) -> Size:
        made: Size = _made("lt", other, self)
        return made

    def __ge__(self, other: Any) -> Size:
        made: Size = _made("le", other, self)
        return made

    def __eq__(self, other: object) -> Size:  # type: ignore[override]
        made: Size = _made("eq", self, other)
        return made

    def __ne__(self, other: object) -> Size:  # type: ignore[override]
        made: Size = _made("ne", self, other)
        return made

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
_SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "//", "mod": "%", "lt": "<", "le": "<=", "eq": "==", "ne": "!="}
_LONGEST = 200


def _text(size: Size) -> str:
    parts: list[str] = []
    open_: list[Any] = [size]
    while open_ and len(parts) < _LONGEST:
        each = open_.pop()
        if not isinstance(each, Size):
            parts.append(str(each))
        elif each.op == "length":
            name, axis = each.args[0].name, each.args[1]
            parts.append(f"length({name})" if axis == 0 else f"length({name}, {axis})")
        elif each.op in ("number", "limit", "turn"):
            parts.append(str(each.args[0]))
        elif each.op in _SYMBOLS:
            a, b = each.args
            pieces = [a, f" {_SYMBOLS[each.op]} ", b]
            if each is not size:
                pieces = ["(", *pieces, ")"]
            open_.extend(reversed(pieces))
        else:
            pieces = [f"{each.op}("]
            for k, arg in enumerate(each.args):
                pieces += [", ", arg] if k else [arg]
            open_.extend(reversed([*pieces, ")"]))
    return "".join(parts) + ("..." if open_ else "")


def as_size(value: Any, where: str) -> Size | int:
    """A size as given, checked.

    Raises: ArgumentError for what is no size.
    """
    if isinstance(value, Size):
        return value
    count = as_count(value)
    if count is None or not 0 <= count <= _MOST:
        raise ArgumentError(
            f"{where} must be a size, got {shown(value)}. Fix: pass an integer from 0 on, or a vyre.Size such as "
            "x.length."
        )
    return count


def _made(op: str, *args: Any) -> Any:
    whole = [as_size(each, "an operand of a size") for each in args]
    if any(isinstance(each, Size) for each in whole):
        return Size(op, *whole)
    return _checked(op, _OPERATIONS[op](*whole), whole)


def _checked(op: str, value: int, operands: Sequence[Any]) -> int:
    if not 0 <= value <= _MOST:
        a, b = operands  # the other operations give no such value
        fix = "bound what it is made of with vyre.size_min"
        if op == "sub":
            fix = "write vyre.size_max(a, b) - b for a - b, which is 0 where b is larger"
        raise ArgumentError(f"a size is {value}, outside of 0 to 2^64 - 1 ({a} {_SYMBOLS[op]} {b}). Fix: {fix}.")
    return value


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
    return Size("limit", name)


def evaluated(sizes: Sequence[Size | int], leaf: Callable[[Size], int]) -> list[int]:
    """The values of sizes; ``leaf`` gives those of lengths, numbers, limits and turns."""
    known: dict[int, int] = {}
    for size in sizes:
        open_ = [size]
        while open_:
            each = open_[-1]
            if not isinstance(each, Size) or id(each) in known:
                open_.pop()
            elif each.op not in _OPERATIONS:
                known[id(each)] = leaf(each)
            else:
                missing = [arg for arg in each.args if isinstance(arg, Size) and id(arg) not in known]
                if missing:
                    open_.extend(missing)
                    continue
                values = [known[id(arg)] if isinstance(arg, Size) else int(arg) for arg in each.args]
                known[id(each)] = _checked(each.op, _OPERATIONS[each.op](*values), values)
    return [known[id(size)] if isinstance(size, Size) else int(size) for size in sizes]


def divisor_of(size: Size | int) -> int:
    """A power of two, at most 256, that divides the size whatever its lengths and numbers are."""
    known: dict[int, int] = {}
    open_ = [size]
    while open_:
        each = open_[-1]
        if not isinstance(each, Size) or id(each) in known:
            open_.pop()
            continue
        args = each.args[1:] if each.op == "select" else each.args
        if each.op not in ("add", "sub", "mul", "min", "max", "select"):
            known[id(each)] = 1
            continue
        missing = [arg for arg in args if isinstance(arg, Size) and id(arg) not in known]
        if missing:
            open_.extend(missing)
            continue
        divisors = [known[id(arg)] if isinstance(arg, Size) else int(arg) for arg in args]
        known[id(each)] = math.gcd(math.prod(divisors) if each.op == "mul" else math.gcd(*divisors), 256)
    return known[id(size)] if isinstance(size, Size) else math.gcd(size, 256)


_MOST_TERMS = 64


def known_difference(a: Size | int, b: Size | int) -> int | None:
    """a - b where that is the same for all lengths, numbers and devices; None where it is not known to be.

    >>> n = Size("number", "n", None)
    >>> known_difference(n * 2 + 3, (n + 1) * 2), known_difference(n, ceil_div(n, 2))
    (1, None)
    """
    # Each size as a sum: what it is multiplied with by its leaf, and the constant by None.
    known: dict[int, dict[Any, int]] = {}

    def form(size: Size | int) -> dict[Any, int]:
        return known[id(size)] if isinstance(size, Size) else {None: size}

    open_ = [a, b]
    while open_:
        each = open_[-1]
        if not isinstance(each, Size) or id(each) in known:
            open_.pop()
            continue
        if each.op not in ("add", "sub", "mul"):
            known[id(each)] = {_leaf(each): 1}
            continue
        missing = [arg for arg in each.args if isinstance(arg, Size) and id(arg) not in known]
        if missing:
            open_.extend(missing)
            continue
        first, second = map(form, each.args)
        if each.op != "mul":
            made = _sum(first, second, 1 if each.op == "add" else -1)
        elif first.keys() <= {None} or second.keys() <= {None}:
            constant, other = (first, second) if first.keys() <= {None} else (second, first)
            made = {leaf: factor * constant.get(None, 0) for leaf, factor in other.items()}
        else:
            made = {id(each): 1}
        known[id(each)] = made if len(made) <= _MOST_TERMS else {id(each): 1}
    difference = _sum(form(a), form(b), -1)
    return difference.get(None, 0) if difference.keys() <= {None} else None


def _leaf(size: Size) -> Any:
    """Equal for sizes that are the same in every call; operations and turns are the same as themselves alone."""
    if size.op == "length":
        return size.op, id(size.args[0]), size.args[1]
    return (size.op, size.args[0]) if size.op in ("number", "limit") else id(size)


def _sum(a: dict[Any, int], b: dict[Any, int], factor: int) -> dict[Any, int]:
    found = dict(a)
    for leaf, each in b.items():
        found[leaf] = found.get(leaf, 0) + factor * each
    return {leaf: each for leaf, each in found.items() if each}


def substituted(size: Size | int, leaf: Callable[[Size], Size | int]) -> Size | int:
    """The size with other leaves."""
    made: dict[int, Size | int] = {}
    open_: list[Any] = [size]
    while open_:
        each = open_[-1]
        if not isinstance(each, Size) or id(each) in made:
            open_.pop()
        elif each.op not in _OPERATIONS:
            made[id(each)] = leaf(each)
        else:
            missing = [arg for arg in each.args if isinstance(arg, Size) and id(arg) not in made]
            if missing:
                open_.extend(missing)
                continue
            made[id(each)] = _made(each.op, *(made[id(arg)] if isinstance(arg, Size) else arg for arg in each.args))
    return made[id(size)] if isinstance(size, Size) else size


explain_calls(globals(), "vyre")
