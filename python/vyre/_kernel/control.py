"""Branches and loops of a kernel: their bodies run on expressions, and what they assign is joined or carried in slots.

If and Loop are what the rewritten function iterates over. A branch or a body is traced with a list of statements of its
own; where paths meet, slots.py makes one variable of what they assigned. Lists and dicts of Python are joined and
carried item by item: a Region remembers what the lists and dicts that it did not make held before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre._core import Expr, Node
from vyre._kernel.mistakes import Mistake
from vyre._kernel.rewriting.syntax import is_added
from vyre._kernel.slots import assigned, join, let_slot, new_slot
from vyre._kernel.values import Undefined, described, is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vyre._kernel.tracer import Tracer

__all__ = ["If", "Known", "Loop", "Never", "Region"]


class Region:
    """The lists and dicts of Python that a branch or a body makes, and those from before it that it changes."""

    def __init__(self) -> None:
        self.made: dict[int, Any] = {}  # kept alive for their ids
        self._before: dict[int, tuple[Any, Any]] = {}

    def add(self, container: Any) -> None:
        self._before.setdefault(id(container), (container, container.copy()))

    def close(self, outer: Region) -> dict[int, tuple[Any, Any, Any]]:
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


class Known:
    """An `if` whose condition Python knows."""

    def __init__(self, condition: bool) -> None:
        self._condition = condition

    def __iter__(self) -> Iterator[bool]:
        yield self._condition

    def end(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        return values


class If:
    """An `if` whose condition is an expression: both branches run, one after the other."""

    def __init__(self, tracer: Tracer, condition: Expr, names: tuple[str, ...], values: tuple[Any, ...]) -> None:
        self._tracer, self._condition, self._names, self._values = tracer, condition, names, values
        self._outer, self._was_dead = tracer.block, tracer.dead
        self._branches: list[tuple[list[Node], tuple[Any, ...], bool]] = []
        self._changes: list[dict[int, tuple[Any, Any, Any]]] = []

    def __iter__(self) -> Iterator[bool]:
        for branch in (True, False):
            self._tracer.block, self._tracer.dead = [], self._was_dead
            self._tracer.regions.append(Region())
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
            join(tracer, name, old, [(then, a), (otherwise, b)], before)
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
                joined[k] = join(self._tracer, "item", old, [(then, a[k]), (otherwise, b[k])], before, is_item=True)
            _refill(container, joined)

    def _emit(self, then: list[Node], otherwise: list[Node]) -> None:
        if not (then or otherwise):
            return
        if then:
            self._tracer.emit(Node.if_(self._condition, then, otherwise))
        else:
            self._tracer.emit(Node.if_(self._tracer.negated(self._condition), otherwise))


class Never:
    """A loop over an empty range."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        self._values = values

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(())

    def end(self, values: tuple[Any, ...]) -> None: ...

    def after(self) -> tuple[Any, ...]:
        return self._values


class Loop:
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
        self._unassigned: set[str] = set()  # variables that some break has not assigned
        self._variable = tracer.new_name(variable)
        self._outer, self._was_dead = tracer.block, tracer.dead
        self._outer_length = len(tracer.block)
        # Lists and dicts of Python that the body changes, each with its items before the loop and the slots of these
        # items.
        self._carried: dict[int, tuple[Any, Any, dict[Any, str]]] = {}
        self._again = True

    def _slots_of(self, name: str, value: Any) -> str | None:
        return new_slot(self._tracer, name, value) if type(value) is Expr or is_number(value) else None

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Trace the body; and again if it has changed lists of Python, which slots then carry like variables."""
        while self._again:
            yield self._begin()

    def _begin(self) -> tuple[Any, ...]:
        tracer = self._tracer
        tracer.block = []
        tracer.loops.append(self)
        tracer.around.append(self)
        tracer.regions.append(Region())
        for container, _, slots in self._carried.values():
            tracer.touch(container)
            for k, slot in slots.items():
                container[k] = tracer.let("item", Expr.var(slot))
        variable = Expr.var(self._variable)
        if self._value is None:
            tracer.variables[id(variable)] = (self._variable, variable)
        else:
            variable = tracer.let(self._variable, self._value(variable))
        # Each turn copies the slot, so that a value that the body keeps does not change when the slot does.
        inside = [
            self._inside(name, value, slot)
            for name, value, slot in zip(self._names, self._values, self._slots, strict=True)
        ]
        return (variable, *inside)

    def _inside(self, name: str, value: Any, slot: Any) -> Any:
        if isinstance(slot, tuple):
            return tuple(self._inside(name, each, part) for each, part in zip(value, slot, strict=True))
        return value if slot is None else self._tracer.let(name, Expr.var(slot))

    def store(self, values: tuple[Any, ...], leaves: bool = False) -> None:
        for k, (name, before, value) in enumerate(zip(self._names, self._values, values, strict=True)):
            if type(before) is Undefined and not leaves:
                continue  # the next turn begins without it
            if type(before) is Undefined and (self.is_endless or is_added(name)):
                if type(value) is Undefined:
                    self._unassigned.add(name)
                    continue
                if self._slots[k] is None:
                    self._slots[k] = self._late_slot(name, value)
            self._store_one(name, before, value, self._slots[k])
        for container, held, slots in self._carried.values():
            _same_keys(held, container)
            for k, slot in slots.items():
                self._tracer.emit(Node.assign(slot, assigned(self._tracer.operand(container[k], "an item of a list"))))

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
        self._before(let_slot(slot, self._tracer.group(name), 0))
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
                    f"variable `{name}` begins a loop as a value and ends it as {described(value)}",
                    "give it an expression or an integer in the loop",
                )
            self._tracer.emit(Node.assign(slot, assigned(value)))
        elif type(before) is not Undefined and value is not before:
            raise Mistake(
                "K003",
                f"variable `{name}` is {described(before)} before a loop and {described(value)} after its body",
                "use another name in the loop, or unroll the loop: `for k in vyre.unroll(range(n)):`",
            )

    def end(self, values: tuple[Any, ...]) -> None:
        tracer = self._tracer
        if not tracer.dead:
            self.store(values)
        body = tracer.block
        tracer.loops.pop()
        tracer.around.pop()
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
        """Make slots for the lists and dicts that the body has changed. Returns whether there are any new ones."""
        found = False
        for key, (container, held, after) in changes.items():
            if key in self._carried:
                continue
            _same_keys(held, after)
            if all(after[k] is held[k] for k in _keys(held)):
                continue
            if not found:
                del self._outer[self._outer_length :]  # statements that the discarded body put before the loop
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
                        f"an item of a Python list is {described(held[k])} before a loop and "
                        f"{described(after[k])} after its body",
                        "use another list in the loop",
                    )
            self._carried[key] = (container, held, slots)
        if found:
            for _, held, slots in self._carried.values():
                for k, slot in slots.items():
                    self._before(let_slot(slot, slot, held[k]))
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
        if name in self._unassigned and not is_added(name):
            return Undefined(name, "is not assigned before every `break` of the loop")
        if slot is not None:
            return self._tracer.var(slot)
        return (
            Undefined(name, "is assigned in a loop alone, which may have no turns")
            if type(value) is Undefined
            else value
        )
