"""Finds Python names whose value would be carried out of a block, or from one turn of a loop into the next.

The body of a procedure runs once, while it is recorded: both blocks of a condition run, and a loop over ``vyre.times``
runs one turn. A name that is assigned in a block and read behind it means what was assigned last, whichever block a
call takes; one that is read in a loop and then assigned means the same in every turn. The recorder sees values alone,
so the function's syntax tree is looked at: `_events` gives what happens to names in the order of a run, and a block is
a stretch of these events.
"""

from __future__ import annotations

import ast
import functools
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre._base import source as _source
from vyre._procedure.functions import Function, body_of, called, calling_frame, function_of, named_blocks
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence
    from types import CodeType
    from typing import Any

__all__ = [
    "Carried",
    "carried_names",
    "names_read_in_blocks",
    "refuse_carried_names",
    "refuse_other_beginnings",
    "watched_turn",
]

_WITH_OWN_NAMES = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
_CONDITIONS = ("when", "otherwise")
_BLOCKS = (*_CONDITIONS, "times")
_ASSIGNED = "names which the block assigns would keep what it assigned"
_TURN = "takes a turn of vyre.times without a loop over it", "enumerate, zip and next would count one turn"
_BEGINNINGS = {
    "times": (*_TURN, "`for i in vyre.times(count):`, and make numbers from `i`"),
    "graph": (*_TURN, "`for _ in vyre.times(count):`, and count in an array that a call of the loop adds 1 to"),
    "when": ("begins a block of vyre.when without a with statement over it", _ASSIGNED, "`with vyre.when(condition):`"),
    "otherwise": (
        "begins a block of vyre.otherwise without a with statement over it",
        _ASSIGNED,
        "`with vyre.otherwise():`",
    ),
}


@dataclass(frozen=True)
class Carried:
    """A name that is carried out of a block of `block`, or with `turn` from one turn to the next."""

    name: str
    block: str
    assigned: int  # lines
    read: int
    turn: bool = False


@dataclass(frozen=True)
class _Event:
    """`load` or `store` of a name, or `open` or `close` of a block, which has the name of its function."""

    kind: str
    name: str
    line: int


def refuse_carried_names() -> None:
    """Raise ArgumentError when the function that calls ``vyre.when`` and the like carries a name out of a block."""
    frame = calling_frame()
    found = None if frame is None else _carried_in(frame.f_code)
    if frame is None or found is None:
        return
    file = _source.file_name(frame.f_code.co_filename)
    if found.turn:
        raise ArgumentError(
            f"`{found.name}` is read at line {found.read} of {file} and assigned anew at line {found.assigned}, in a "
            "loop over vyre.times. The body is recorded once for all turns, so that each would read what was there "
            "before the loop. Fix: write into one array in each turn, or exchange two by vyre.swap(a, b); make "
            "numbers from the number of the turn."
        )
    raise ArgumentError(
        f"`{found.name}` is assigned at line {found.assigned} of {file} in a block of vyre.{found.block}, and read "
        f"behind the block at line {found.read}. The body is recorded once, so that it would be what was assigned "
        "last, whichever steps a call runs. Fix: make an array before the block by vyre.scratch, and write it in the "
        "block without assigning its name (`scale(x, 2, y)`, not `y = scale(x, 2, y)`); compute a size before the "
        "block, or choose it by vyre.size_select(condition, a, b)."
    )


def watched_turn() -> Callable[[], None]:
    """A check that raises ArgumentError where a turn in a graph has bound a name anew that it read before.

    A call in place binds none: names that mean the same object before and after the turn carry nothing.
    """
    frame = calling_frame()
    names = [] if frame is None else [each for each in _all_carried_in(frame.f_code) if each.turn]

    def values() -> list[Any]:
        return [] if frame is None else [{**frame.f_globals, **frame.f_locals}.get(each.name) for each in names]

    before = values()

    def check() -> None:
        for each, old, new in zip(names, before, values(), strict=True):
            if new is not old:
                raise ArgumentError(
                    f"`{each.name}` is read at line {each.read} and assigned anew at line {each.assigned}, in a loop "
                    "over vyre.times. A graph repeats the calls of one turn, so that each would read what was there "
                    f"before the loop. Fix: write into one array in each turn, by out= or `{each.name}[:] = ...`."
                )

    return check


def refuse_other_beginnings(block: str, told: str | None = None) -> None:
    """Raise ArgumentError when a turn of ``vyre.times``, or the block of a condition, begins in another way.

    Args:
        block: ``times``, ``when`` or ``otherwise``.
        told: the row of the message, where it is not that of the block.
    """
    frame = calling_frame()
    if frame is None or frame.f_lineno in _lines_of(frame.f_code, _CONDITIONS if block in _CONDITIONS else (block,)):
        return
    does, would, fix = _BEGINNINGS[told or block]
    raise ArgumentError(
        f"line {frame.f_lineno} of {_source.file_name(frame.f_code.co_filename)} {does}. The body is recorded once, so "
        f"that {would}. Fix: write {fix}."
    )


@functools.lru_cache(maxsize=256)
def _lines_of(code: CodeType, blocks: tuple[str, ...]) -> Container[int]:
    """The lines at which loops or with statements begin blocks; all lines where Python keeps no source."""
    function = body_of(code)
    if function is None and (code.co_name[0] != "<" or code.co_name == "<module>"):
        return range(2**31)
    if function is None or code.co_flags & inspect.CO_GENERATOR:  # the body of a generator's block stands elsewhere
        return ()
    named = named_blocks(function, _BLOCKS)
    found: set[int] = set()
    for each in ast.walk(function):
        if not isinstance(each, (ast.For, ast.With)):
            continue
        heads = [each.iter] if isinstance(each, ast.For) else [item.context_expr for item in each.items]
        if any(_block(head, named) in blocks for head in heads):
            found.update(range(each.lineno, (heads[-1].end_lineno or 0) + 1))
    return found


@functools.lru_cache(maxsize=256)
def _carried_in(code: CodeType) -> Carried | None:
    function = function_of(code)
    return None if function is None else next(iter(carried_names(function)), None)


@functools.lru_cache(maxsize=256)
def _all_carried_in(code: CodeType) -> list[Carried]:
    body = body_of(code)
    return [] if body is None else carried_names(body)


def carried_names(function: Function | ast.Module) -> list[Carried]:
    """The names that a function carries, in the order of the blocks."""
    events, found = _events(function), []
    closes = _closes(events)
    for begin, end in sorted(closes.items()):
        block = events[begin].name
        stores: dict[str, int] = {}
        for each in events[begin:end]:
            if each.kind == "store":
                stores.setdefault(each.name, each.line)
        for name, line in stores.items():
            if block == "times":
                first = next(each for each in events[begin:end] if each.name == name and each.kind in ("load", "store"))
                if first.kind == "load":
                    found.append(Carried(name, block, line, first.line, turn=True))
                    continue
            read = _read_behind(events, closes, end, name)
            if read is not None:
                found.append(Carried(name, block, line, read))
    return found


@functools.lru_cache(maxsize=256)
def names_read_in_blocks(code: CodeType) -> Iterable[str]:
    """The names that a function reads in a block before it assigns them there, in order."""
    function = function_of(code)
    found: dict[str, None] = {}
    events = [] if function is None else _events(function)
    for begin, end in _closes(events).items():
        stored = set()
        for each in events[begin:end]:
            if each.kind == "store":
                stored.add(each.name)
            elif each.kind == "load" and each.name not in stored:
                found[each.name] = None
    return found


def _read_behind(events: list[_Event], closes: dict[int, int], end: int, name: str) -> int | None:
    """The line that reads a name behind a block before it is assigned again; None where none does.

    An assignment in the other block of the condition does not count behind that.
    """
    other = closes[end + 1] if events[end + 1].kind == "open" and events[end + 1].name == "otherwise" else end
    k = end + 1
    while k < len(events):
        each = events[k]
        if each.name == name and each.kind == "load":
            return each.line
        if each.name == name and each.kind == "store":
            if k > other:
                return None
            k = other
        k += 1
    return None


def _closes(events: list[_Event]) -> dict[int, int]:
    """The place of each block's end by that of its begin."""
    closes, opened = {}, []
    for k, each in enumerate(events):
        if each.kind == "open":
            opened.append(k)
        elif each.kind == "close":
            closes[opened.pop()] = k
    return closes


def _events(function: Function | ast.Module) -> list[_Event]:
    """What happens to names in a function, in the order of a run in which all branches of Python are taken."""
    events: list[_Event] = []
    named = named_blocks(function, _BLOCKS)
    waiting: list[ast.AST | _Event] = list(reversed(function.body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, _Event):
            events.append(node)
        elif isinstance(node, ast.Name):
            events.append(_Event("load" if isinstance(node.ctx, ast.Load) else "store", node.id, node.lineno))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            events.append(_Event("store", node.name, node.lineno))
        else:
            waiting.extend(reversed(_parts(node, named)))
    events.append(_Event("end", "", 0))
    return events


def _parts(node: ast.AST, named: dict[str, str]) -> list[ast.AST | _Event]:
    """The parts of a node in the order in which they run, with the begin and the end of blocks."""
    if isinstance(node, ast.Assign):
        return [node.value, *node.targets]
    if isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
        return [*([node.value] if node.value else []), node.target]
    if isinstance(node, ast.AugAssign):
        target = node.target
        before = [_Event("load", target.id, target.lineno)] if isinstance(target, ast.Name) else []
        return [*before, node.value, target]
    if isinstance(node, (ast.For, ast.AsyncFor)):
        # The turn of a loop over vyre.times is not of the block: a use of it behind the loop has a message of its own.
        block = _block(node.iter, named)
        if block == "times":
            return [node.iter, node.target, *_in_block(block, node.lineno, node.body), *node.orelse]
        turn = [node.target, *node.body]
        return [node.iter, *turn, *turn, *node.orelse]  # the second turn reads what the first one assigned
    if isinstance(node, ast.While):
        turn = [node.test, *node.body]
        return [*turn, *turn, *node.orelse]
    if isinstance(node, (ast.With, ast.AsyncWith)):
        parts: list[ast.AST | _Event] = list(node.body)
        for item in reversed(node.items):
            parts = [item.context_expr, *([item.optional_vars] if item.optional_vars else []), *parts]
            block = _block(item.context_expr, named)
            if block in _CONDITIONS:
                parts = _in_block(block, node.lineno, parts)
        return parts
    if isinstance(node, _WITH_OWN_NAMES):
        return _outer_names(node)
    return list(ast.iter_child_nodes(node))


def _block(expression: ast.expr, named: dict[str, str]) -> str | None:
    """The function whose block an expression makes, or has the name of."""
    return named.get(expression.id) if isinstance(expression, ast.Name) else called(expression)


def _in_block(name: str, line: int, parts: Sequence[ast.AST | _Event]) -> list[ast.AST | _Event]:
    return [_Event("open", name, line), *parts, _Event("close", name, line)]


def _outer_names(node: ast.AST) -> list[ast.AST | _Event]:
    """What a comprehension or a lambda reads of the function; its own names live in it alone."""
    inside = list(ast.walk(node))
    names = [each for each in inside if isinstance(each, ast.Name)]
    own = {each.id for each in names if isinstance(each.ctx, ast.Store)}
    own.update(each.arg for each in inside if isinstance(each, ast.arg))
    return [_Event("load", each.id, each.lineno) for each in names if each.id not in own]
