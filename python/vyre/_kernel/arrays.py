"""Arrays inside a kernel: parameters, workgroup and private arrays, and tables; what indexing them means.

A load becomes an expression, and a store or an atomic a statement of the Tracer. An array of several axes has one
buffer: indices are multiplied by the sizes, and an index beyond its axis becomes NOWHERE, because the product could
lie inside the buffer. Whatever else Python does with arrays is refused with the form to write instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._base.text import shown
from vyre._base.types import TYPES
from vyre._core import BufferDecl, DataType, Expr, Node
from vyre._kernel.mistakes import Mistake

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre._kernel.tracer import Tracer

__all__ = ["ATOMICS", "NOWHERE", "KernelArray", "zero_of"]

# The operands of each atomic behind the index.
ATOMICS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(["add", "and_", "or_", "xor", "min", "max", "exchange"], ("value",)),
    "compare_exchange": ("expected", "value"),
    "load": (),
    "store": ("value",),
}
# The atomics that the IR has under another name, and the operands that it takes besides.
_SPELLED: dict[str, tuple[str, tuple[int, ...]]] = {"load": ("or", (0,)), "store": ("exchange", ())}
# Members of numpy's arrays that kernels' arrays do not have, each with its Fix.
_LOOP = "write a loop over the indices: `for j in range(len(array)):`"
_OF_NUMPY = {
    **dict.fromkeys(["sum", "min", "max", "mean", "prod", "any", "all", "cumsum", "argmin", "argmax", "sort"], _LOOP),
    **dict.fromkeys(["fill", "tolist", "dot", "nonzero"], _LOOP),
    **dict.fromkeys(["reshape", "T", "transpose", "ravel", "flatten"], "compute the index that the element has"),
    "astype": "cast the element, as in vyre.u64(array[i])",
    **dict.fromkeys(["len", "length"], "write len(array)"),
    "dtype": "write the type that the parameter is annotated with",
    "append": "write an element at an index, as in array[i] = value",
}
# Beyond every array: a load gives zero and a store does nothing.
NOWHERE = 0xFFFFFFFF


def zero_of(element: DataType) -> Expr:
    """Zero, of the type that a load of an element gives."""
    value = TYPES[element].value
    zero: Expr = Expr.bool(False) if value is DataType.Bool else value(*[0] * TYPES[value].components)
    return zero


class KernelArray:
    """An array of the kernel that is being traced. Its elements are known when the kernel runs."""

    __slots__ = ("_name", "_tracer", "atomic", "element", "is_const", "kind", "shape")

    atomic: bool
    element: DataType
    is_const: bool
    kind: str
    shape: tuple[Any, ...]

    def __init__(
        self, tracer: Tracer, name: str | None, kind: str, element: DataType, shape: tuple[Any, ...], is_const: bool
    ) -> None:
        self._tracer, self._name, self.kind, self.element = tracer, name, kind, element
        self.shape = shape  # integers or expressions, first axis first
        self.is_const = is_const  # no invocation writes it while the kernel runs
        self.atomic = False

    @property
    def name(self) -> str:
        if self._name is None:
            self._name = self._tracer.new_name("array")
        return self._name

    def call_it(self, name: str) -> None:
        """Take the name of the first variable that holds the array."""
        if self._name is None:
            self._name = self._tracer.new_name(name)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Any:
        result = self.shape[0]
        for extent in self.shape[1:]:
            result = result * extent
        return result

    def declaration(self) -> BufferDecl:
        """The buffer of a workgroup or private array."""
        if self.kind == "private":
            return BufferDecl.private(self.name, self.size, self.element)
        return BufferDecl.workgroup(self.name, self.size, self.element, atomic=self.atomic)

    def __repr__(self) -> str:
        return f"<{self.kind} array `{self.name}` of {self.element}>"

    # Messages name these. A builder's lines run as they stand, and those of a kernel are rewritten.

    @property
    def _of_builder(self) -> bool:
        return self._tracer.is_builder

    @property
    def _moment(self) -> str:
        return "the program is built" if self._of_builder else "the kernel is traced"

    @property
    def _lengths(self) -> list[str]:
        return [f"{self.name}.shape[0]"] if self._of_builder else [f"len({self.name})", f"{self.name}.shape[0]"]

    @property
    def _loop(self) -> str:
        if self._of_builder:
            return f'with p.loop("j", 0, {self.name}.shape[0]) as j:'
        return f"for j in range(len({self.name})):"

    def __len__(self) -> int:
        raise Mistake(
            "K004",
            f"the length of `{self.name}` is unknown while {self._moment}",
            f"write {self.name}.shape[0]"
            if self._of_builder
            else f"write len({self.name}) in the kernel itself, or {self.name}.shape[0]",
        )

    def __iter__(self) -> Any:
        raise Mistake(
            "K004",
            f"array `{self.name}` is iterated over, but its length is unknown while {self._moment}",
            f"write `{self._loop}` and read {self.name}[j]",
        )

    def __bool__(self) -> bool:
        raise Mistake(
            "K004", f"array `{self.name}` is used as a condition", f"compare an element, as in {self.name}[i] != 0"
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what Python and numpy ask of any object
            raise AttributeError(name)
        if name in _OF_NUMPY:
            raise Mistake("K008", f"array `{self.name}` has no `{name}` in a kernel", _OF_NUMPY[name])
        atomics = [f"atomic_{each}" for each in ATOMICS]
        meant = _core._did_you_mean(name, ["get", "shape", "size", "ndim", "copy", *atomics])
        if f"{name}_" in atomics:  # which is not the nearest name: atomic_add is as near to atomic_and
            meant = f" (did you mean `{name}_`?)"
        raise Mistake(
            "K008",
            f"array `{self.name}` has no attribute `{name[:80]}`{meant}",
            f"use {self.name}[i], {', '.join(self._lengths)}, {self.name}.size or an atomic",
        )

    # Indexing.

    def __getitem__(self, key: Any) -> Any:
        return self._load(self._index(key))

    def _load(self, index: Any) -> Any:
        self._tracer.uses(self)
        value = Expr.load(self.name, index)
        return value if self.is_const else self._tracer.let(f"{self.name}_read", value)

    def get(self, *key: Any, default: Any = None) -> Any:
        """The element, or ``default`` where the index is out of range on an axis; without one it is zero."""
        self._check(key)
        other = zero_of(self.element) if default is None else self._tracer.operand(default, "`default`")
        pairs = zip(key, self.shape, strict=True)
        if any(isinstance(each, int) and isinstance(extent, int) and each >= extent for each, extent in pairs):
            return other
        inside, flat = self._place(key)
        value = self._load(flat)
        return value if inside is None else self._tracer.chosen(inside, value, other, "`default`")

    def __setitem__(self, key: Any, value: Any) -> None:
        if self.kind == "In" and self._of_builder:
            raise Mistake(
                "K008", f"buffer `{self.name}` is declared with read", "declare it with read_write to change it"
            )
        if self.kind in ("In", "table"):
            what = (
                f"parameter `{self.name}` is annotated with In"
                if self.kind == "In"
                else f"`{self.name}` is a captured table"
            )
            raise Mistake(
                "K008",
                f"{what}, which a kernel only reads",
                "annotate it with InOut to change it, or with Out to make it",
            )
        index = self._index(key)
        self._tracer.uses(self)
        self._tracer.effect(Node.store(self.name, index, self._tracer.operand(value, f"{self.name}[...]")))

    def _index(self, key: Any) -> Any:
        keys = key if isinstance(key, tuple) else (key,)
        self._check(keys)
        if self.ndim == 1:
            return keys[0]
        inside, flat = self._place(keys)
        return flat if inside is None else _core.select(inside, flat, NOWHERE)

    def _check(self, keys: Sequence[Any]) -> None:
        for axis, each in enumerate(keys):
            self._check_index(each, axis)
        if len(keys) != self.ndim:
            named = f"`{self.name}` has {self.ndim} ax{'is' if self.ndim == 1 else 'es'}"
            letters = ", ".join("zyx"[-self.ndim :])
            if len(keys) > 1 and self.ndim == 1:
                raise Mistake(
                    "K008",
                    f"{named} and {len(keys)} indices",
                    f"write {self.name}[y * width + x], or annotate it with {len(keys)} axes",
                )
            raise Mistake(
                "K008",
                f"{named} and {len(keys)} ind{'ex' if len(keys) == 1 else 'ices'}",
                f"write {self.name}[{letters}]",
            )

    def _place(self, keys: Sequence[Any]) -> tuple[Any, Any]:
        """Whether indices are in range, None where that is known; and the number of the element if they are."""
        inside: Any = None
        flat: Any = None
        for each, extent in zip(keys, self.shape, strict=True):
            flat = each if flat is None else flat * extent + each
            if isinstance(each, int) and isinstance(extent, int):
                if each >= extent:
                    raise Mistake(
                        "K008", f"index {each} is out of range of an axis of {extent}", f"write an index below {extent}"
                    )
                continue
            # A literal with a type, so that an index of another type is refused here, and not where it is added up.
            within = _core.lt(each, Expr.u32(extent) if isinstance(extent, int) else extent)
            inside = within if inside is None else _core.logical_and(inside, within)
        return inside, flat

    def _check_index(self, each: Any, axis: int) -> None:
        if isinstance(each, slice):
            raise Mistake(
                "K008",
                f"`{self.name}` is sliced in a kernel",
                "index one element, or pass a slice of the array when the kernel is called",
            )
        if isinstance(each, (bool, np.bool_)):
            where = f"{self.name}[{int(each)}]" if self.ndim == 1 else f"{int(each)}"
            raise Mistake("K008", f"`{self.name}` is indexed with {bool(each)}", f"write {where}")
        if isinstance(each, (int, np.integer)):
            if each < 0:
                extent = self.shape[axis] if axis < self.ndim else None
                back = f"{self._lengths[0] if axis == 0 else f'{self.name}.shape[{axis}]'} - {-int(each)}"
                if isinstance(extent, int) and extent + each >= 0:
                    back = str(extent + int(each))
                raise Mistake(
                    "K008",
                    f"`{self.name}` is indexed with {int(each)}",
                    f"write {back if self.ndim > 1 else f'{self.name}[{back}]'} to count from the end",
                )
            if each > NOWHERE:
                raise Mistake(
                    "K008", f"`{self.name}` is indexed with {int(each)}", f"write an index of at most {NOWHERE}"
                )
            return
        if type(each) is Expr:
            return
        if each is None or each is Ellipsis:
            raise Mistake(
                "K008",
                f"`{self.name}` is indexed with {'None' if each is None else 'an ellipsis'}",
                "write one index for each axis",
            )
        if callable(each):
            name = getattr(each, "__name__", type(each).__name__)
            raise Mistake("K008", f"`{self.name}` is indexed with the function {name}", f"call it, as in {name}(0)")
        if isinstance(each, KernelArray):
            what, fix = f"array `{each.name}`", f"index that, as in {each.name}[i]"
            if each.element is DataType.Bool:
                what, fix = f"mask `{each.name}`", f"write `if {each.name}[i]:` around an access of {self.name}[i]"
            raise Mistake("K008", f"`{self.name}` is indexed with the {what}", fix)
        first = each.flat[:1] if isinstance(each, np.ndarray) else each[:1] if type(each) is list else []
        if any(isinstance(value, (bool, np.bool_)) for value in first):
            fix = "pass it as a parameter, `mask: In[vyre.boolean]`, and write `if mask[i]:` around the access"
            raise Mistake("K008", f"`{self.name}` is indexed with a mask that lies on the host", fix)
        raise Mistake("K008", f"`{self.name}` is indexed with {shown(each)}", "index with an integer or an expression")

    # Atomics: add, and_, ... return the value before.

    def atomic_op(self, name: str, operands: tuple[Any, ...], named: dict[str, Any], function: str = "") -> Expr:
        """``function`` is the one of vyre that the user called in place of the method."""
        called = function or f"atomic_{name}"
        if self.kind in ("In", "table", "private"):
            what = {
                "In": "is annotated with In",
                "table": "is a captured table",
                "private": "is private to its invocation",
            }[self.kind]
            fix = "use an Out or InOut array, or vyre.shared(...)"
            if self.kind == "private":
                fix = "read and write the element: no other invocation has it"
            raise Mistake("K008", f"{called} on `{self.name}`, which {what}", fix)
        if self.element is not DataType.U32:
            element = f"vyre.{self.element.name.lower()}"
            raise Mistake(
                "K008", f"{called} on `{self.name}`, whose elements are {element}", "use an array of vyre.u32"
            )
        wanted = ATOMICS[name]
        if len(operands) != len(wanted) + 1 or named:
            rest = ", ".join(["i", *wanted])
            call = f"{function}({self.name}, {rest})" if function else f"{self.name}.{called}({rest})"
            count = len(operands) + len(named) + bool(function)
            said = f"got {count} argument{'' if count == 1 else 's'}"
            if named:
                said = f"got the keyword {shown(next(iter(named)))}"
            raise Mistake("K008", f"{called} {said}", f"write {call}")
        key, *values = operands
        index = self._index(key)
        self._tracer.uses(self)
        self.atomic = True
        for k, value in enumerate(values):
            if type(self._tracer.operand(value, called)) is Expr:
                continue
            values[k] = int(value)
            if not 0 <= values[k] <= NOWHERE:
                problem = f"{called} is given {values[k]}, which is no u32"
                raise Mistake("K008", problem, f"write {values[k] % 2**32}, which has the same 32 bits")
        spelled, more = _SPELLED.get(name, (name.rstrip("_"), ()))
        return self._tracer.let_effect("old", getattr(_core, f"atomic_{spelled}")(self.name, index, *values, *more))

    def copy(self) -> KernelArray:
        """A private array with the same elements."""
        if self.kind != "private":
            raise Mistake(
                "K008", f"`{self.name}` is copied, but only private arrays are", "make one with vyre.local(...)"
            )
        made = self._tracer.local(self.element, self.shape[0] if self.ndim == 1 else self.shape)
        made.call_it(f"{self.name}_copy")
        k = self._tracer.new_name("k")
        self._tracer.uses(self)
        self._tracer.uses(made)
        self._tracer.effect(
            Node.loop(k, 0, self.size, [Node.store(made.name, Expr.var(k), Expr.load(self.name, Expr.var(k)))])
        )
        return made


def _atomic_method(name: str) -> Any:
    def method(self: KernelArray, *operands: Any, **named: Any) -> Expr:
        return self.atomic_op(name, operands, named)

    method.__name__ = f"atomic_{name}"
    return method


def _operator(text: str) -> Any:
    def method(self: KernelArray, *_: Any) -> Any:
        raise Mistake("K004", f"array `{self.name}` is an operand of `{text}`", f"index it, as in {self.name}[i]")

    return method


_OPERATORS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "floordiv": "//",
    "mod": "%",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
    "pow": "**",
}
for _name, _text in _OPERATORS.items():
    for _prefix in ("", "r", "i"):
        setattr(KernelArray, f"__{_prefix}{_name}__", _operator(_text))
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_FUNCTIONS = {"divmod": "divmod", "rdivmod": "divmod", "round": "round"}
for _name, _text in {**_COMPARISONS, **_FUNCTIONS, "neg": "-", "invert": "~"}.items():
    setattr(KernelArray, f"__{_name}__", _operator(_text))
for _name in ATOMICS:
    setattr(KernelArray, f"atomic_{_name}", _atomic_method(_name))
