"""Backends with one fault each, for `vyre.bisect` and for `vyre fuzz --backend wrong_backends:shift_by_31`.

Each runs a changed program on the reference, so it is wrong in every program that has the pattern, inside operations
too. `BACKENDS` lists them by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import vyre
from vyre import BufferAccess, DataType, _core
from vyre._kernel.parts import Expression, Statement, parts_of

_TYPES = {row[0]: row[1] for row in _core._tables["types"]}  # their texts
_BINARY = {row[0]: (row[1], row[5]) for row in _core._tables["binary"]}
_UNARY = {row[0]: row[1] for row in _core._tables["unary"]}
_ATOMIC = {row[0]: row[1] for row in _core._tables["atomic"]}
_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


@dataclass(frozen=True)
class Value:
    """The value of an expression: its text, its type, and a key that two equal values without effects share."""

    text: str
    type: str
    key: object

    def __str__(self) -> str:
        return self.text


def u32(value: int) -> Value:
    return Value(str(value), "U32", ("u32", value))


class Rewriter:
    """Writes a program anew, one Let an operation, in evaluation order; a subclass changes what the operations do.

    The methods of the second half give the text of an expression whose operands are Values.
    """

    def __init__(self, program: vyre.Program) -> None:
        self.program = _core._optimize(program, [])  # calls inlined, nothing else
        self.exprs, self.body = parts_of(self.program)
        self.lines: list[str] = []
        self.buffers = {decl.name: decl for decl in self.program.buffers}
        self.scopes: list[dict[str, Value]] = [{}]
        self.opened: list[str] = []
        self.count = 0
        self.keys: dict[object, object] = {}
        self.assigned = {name for kind, name, _ in _core._parts(self.program)[1] if kind == "Assign"}

    def rewritten(self) -> vyre.Program:
        head = self.program.to_text().split("\n\n")[0].splitlines()
        self.lines = [self.declaration(line) if line.startswith("buffer ") else line for line in head]
        self._block(self.body)
        return vyre.parse("\n".join(self.lines) + "\n")

    # The state of the walk.

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def emit(self, line: str) -> None:
        self.lines.append(line)

    def let(self, text: str, type: str, key: object = None) -> Value:
        name = self.fresh()
        self.emit(f"let {name} = {text}")
        return Value(name, type, key if key is not None else ("let", name))

    def _variable(self, name: str) -> Value:
        return next(scope[name] for scope in reversed(self.scopes) if name in scope)

    @property
    def depth_of_ifs(self) -> int:
        return self.opened.count("If")

    def _block(self, statements: list[Statement]) -> None:
        for each in statements:
            self._statement(each, self._evaluate(list(each.exprs)))

    def _inside(self, kind: str, statements: list[Statement], **declared: Value) -> None:
        self.opened.append(kind)
        self.scopes.append(declared)
        self._block(statements)
        self.opened.pop()
        self.scopes.pop()

    def _statement(self, each: Statement, values: list[Value]) -> None:
        kind, name = each.kind, each.name
        if kind == "Let":
            initial = values[0]
            # A Let of its own, because an Assign may follow.
            copy = self.let(str(initial), initial.type)
            key = copy.key if name in self.assigned else initial.key
            self.scopes[-1][name] = Value(copy.text, copy.type, key)
        elif kind == "Assign":
            self.emit(f"{self._variable(name)} = {values[0]}")
        elif kind == "Store":
            self.store(name, *values)
        elif kind == "If":
            self.emit(f"if {values[0]} {{")
            self._inside(kind, each.body)
            if each.otherwise:
                self.emit("} else {")
                self._inside(kind, each.otherwise)
            self.emit("}")
        elif kind == "Loop":
            start, stop = self.bounds(*values)
            variable = self.fresh()
            self.emit(f"loop {variable} in {start}..{stop} {{")
            self._inside(kind, each.body, **{name: Value(variable, "U32", ("let", variable))})
            self.emit("}")
        elif kind == "Block":
            self.emit("block {")
            self._inside(kind, each.body)
            self.emit("}")
        elif kind == "Barrier":
            self.barrier()
        else:
            self.emit(kind.lower())

    def _order(self, roots: list[int]) -> list[int]:
        """The expressions that the roots reach, each once, in evaluation order."""
        expressions, done, order = self.exprs, set(), []
        for root in roots:
            waiting = [(root, False)]
            while waiting:
                number, ready = waiting.pop()
                if ready:
                    order.append(number)
                elif number not in done:
                    done.add(number)
                    waiting.append((number, True))
                    waiting += [(operand, False) for operand in reversed(expressions[number].operands)]
        return order

    def _evaluate(self, roots: list[int]) -> list[Value]:
        values: dict[int, Value] = {}
        order = self._order(roots)
        self.begin_statement(roots, order, values)
        for number in order:
            expression = self.exprs[number]
            values[number] = self._value(number, expression, [values[operand] for operand in expression.operands])
        return [values[root] for root in roots]

    def _value(self, number: int, each: Expression, operands: list[Value]) -> Value:
        kind, name = each.kind, each.name
        if kind == "Literal":
            return self.literal(name, each.value)
        if kind == "Var":
            return self._variable(name)
        if kind == "BufLen":
            return Value(f"len({quoted(name)})", "U32", (kind, name))
        if kind == "GridId":
            return Value(f"{name}.{'xyz'[each.value]}", "U32", (kind, name, each.value))
        if kind == "Pack":
            return self.let(f"pack({_TYPES[name]}, {', '.join(map(str, operands))})", name)
        if kind == "Select":
            return self.let("select({}, {}, {})".format(*operands), operands[1].type)
        if kind == "Load":
            return self.let(self.load(name, *operands), self.buffers[name].element.name)
        if kind.startswith("Atomic "):
            return self.atomic(number, _ATOMIC[kind.removeprefix("Atomic ")], name, operands)
        key = kind, name, each.value, *(operand.key for operand in operands)
        if kind == "Binary":
            op, result = _BINARY[name]
            return self.let(self.binary(op, *operands), result, self._short(key))
        if kind == "Unary":
            return self.let(self.unary(_UNARY[name], *operands), "U32", self._short(key))
        if kind == "Cast":
            return self.let(self.cast(name, *operands), name, self._short(key))
        assert kind == "Lane", "calls are inlined before"
        return self.let(f"lane({operands[0]}, {each.value})", "U32", self._short(key))

    def literal(self, type: str, value: int) -> Value:
        if type == "U32":
            return u32(value)
        if type == "Bool":
            return self.truth(bool(value))
        if type == "I32" and value >> 31:
            value -= 1 << 32
        return Value(f"{value}{type.lower()}", type, (type, value))

    def _short(self, key: object) -> object:
        """Replace a nested key by a short number, so that keys do not grow with the length of a chain."""
        return self.keys.setdefault(key, ("number", len(self.keys)))

    # The hooks that a subclass changes.

    def declaration(self, line: str) -> str:
        return line

    def begin_statement(self, roots: list[int], order: list[int], values: dict[int, Value]) -> None:
        """Called before the expressions of a statement are evaluated; `values` is filled as they are."""

    def truth(self, value: bool) -> Value:
        return Value("true" if value else "false", "Bool", ("bool", value))

    def binary(self, op: str, left: Value, right: Value) -> str:
        return f"{op}({left}, {right})"

    def unary(self, op: str, operand: Value) -> str:
        return f"{op}({operand})"

    def cast(self, target: str, value: Value) -> str:
        return f"cast({_TYPES[target]}, {value})"

    def load(self, buffer: str, index: Value) -> str:
        return f"{quoted(buffer)}[{index}]"

    def store(self, buffer: str, index: Value, value: Value) -> None:
        self.emit(f"{quoted(buffer)}[{index}] = {value}")

    def atomic(self, number: int, op: str, buffer: str, operands: list[Value]) -> Value:
        return self.let(f"{op}({quoted(buffer)}, {', '.join(map(str, operands))})", "U32")

    def bounds(self, start: Value, stop: Value) -> tuple[Value, Value]:
        return start, stop

    def barrier(self) -> None:
        self.emit("barrier")


def quoted(name: str) -> str:
    escaped = "".join(c if c in _BARE else f"\\u{{{ord(c):x}}}" for c in name)
    return f'"{escaped}"'


class _ShiftBy31(Rewriter):
    """A left shift by 31 gives 0."""

    def binary(self, op, left, right):
        if op != "shl":
            return super().binary(op, left, right)
        return f"select(({right} & 31) == 31, 0, {left} << {right})"


class _SignOfRemainder(Rewriter):
    """A signed remainder has the sign of the divisor."""

    def binary(self, op, left, right):
        if op != "smod":
            return super().binary(op, left, right)
        rest = self.let(f"cast(u32, smod({left}, {right}))", "U32")
        signs = self.let(f"cast(u32, {left}) ^ cast(u32, {right})", "U32")
        differ = f"logical_and({rest} != 0, {signs} >> 31)"
        return f"cast(i32, select({differ}, {rest} + cast(u32, {right}), {rest}))"


class _MinMaxOfLargeValues(Rewriter):
    """Minimum and maximum compare as signed numbers, so that values from 2^31 on are small."""

    def binary(self, op, left, right):
        if op not in ("min", "max"):
            return super().binary(op, left, right)
        return f"cast(u32, s{op}(cast(i32, {left}), cast(i32, {right})))"


class _FirstBarrierMissing(Rewriter):
    """The first barrier is left out. Invocations interleave at random, so that it shows in either direction."""

    seen = False

    def barrier(self):
        if self.seen:
            super().barrier()
        self.seen = True


class OutOfBoundsClamped(Rewriter):
    """A load or store behind the end takes the last element."""

    stores, loads = True, True

    def clamped(self, buffer, index):
        decl = self.buffers[buffer]
        length = decl.count if decl.access == BufferAccess.Workgroup else f"len({quoted(buffer)})"
        # Nothing is in an empty buffer: its last index wraps around, and the access stays out of bounds.
        return self.let(f"min({index}, {length} - 1)", "U32")

    def load(self, buffer, index):
        return super().load(buffer, self.clamped(buffer, index) if self.loads else index)

    def store(self, buffer, index, value):
        super().store(buffer, self.clamped(buffer, index) if self.stores else index, value)


class _ClzOfZero(Rewriter):
    """The leading zeros of 0 are 31."""

    def unary(self, op, operand):
        if op != "clz":
            return super().unary(op, operand)
        return f"select({operand} == 0, 31, clz({operand}))"


class _LazySelect(Rewriter):
    """An atomic that only one arm of a select reaches happens only when that arm is taken."""

    def begin_statement(self, roots, order, values):
        self.values, self.guards = values, {}
        expressions = self.exprs
        atomics = [number for number in order if expressions[number].kind.startswith("Atomic ")]
        if not atomics:
            return
        for number in order:
            if expressions[number].kind != "Select":
                continue
            for arm in (1, 2):
                elsewhere = self._reached(roots, number, arm)
                for atomic in atomics:
                    if atomic not in elsewhere:
                        self.guards.setdefault(atomic, []).append((expressions[number].operands[0], arm == 1))

    def _reached(self, roots, select, arm):
        """The expressions that are reached when one operand of one select is left out."""
        reached, waiting = set(), list(roots)
        while waiting:
            number = waiting.pop()
            if number in reached:
                continue
            reached.add(number)
            operands = list(self.exprs[number].operands)
            if number == select:
                del operands[arm]
            waiting += operands
        return reached

    def atomic(self, number, op, buffer, operands):
        guards = self.guards.get(number)
        if not guards:
            return super().atomic(number, op, buffer, operands)
        taken = "1"
        for condition, wanted in guards:
            value = self.values[condition]
            truth = f"cast(u32, {value})" if value.type == "Bool" else f"{value}"
            truth = truth if wanted else f"logical_not({truth})"
            taken = str(self.let(f"logical_and({taken}, {truth})", "U32"))
        result = self.let("0", "U32")
        self.emit(f"if {taken} {{")
        happened = super().atomic(number, op, buffer, operands)
        self.emit(f"{result} = {happened}")
        self.emit("}")
        return result


class StoreUnderNestedIfs(Rewriter):
    """A store under two or more Ifs is dropped."""

    def store(self, buffer, index, value):
        if self.depth_of_ifs < 2:
            super().store(buffer, index, value)


class _EmptyLoops(Rewriter):
    """A loop whose bounds leave no turn has one."""

    def bounds(self, start, stop):
        return start, self.let(f"select({start} >= {stop}, {start} + 1, {stop})", "U32")


class _CarryLost(Rewriter):
    """The carry into the high lane is the question whether the sum of the low lanes is less than one of them."""

    def __init__(self, program):
        super().__init__(program)
        self.sums: dict[object, tuple[object, object]] = {}

    def _short(self, key):
        result = super()._short(key)
        if key[:2] == ("Binary", "Add"):
            self.sums[result] = key[3:]
        return result

    def binary(self, op, left, right):
        if op == "lt" and right.key in self.sums.get(left.key, ()):
            return "0"
        return super().binary(op, left, right)


class _BoolAsItIs(Rewriter):
    """Loads of a Bool buffer return the raw word: Bool is U32 throughout the program, and only casts make 0 or 1."""

    def declaration(self, line):
        name, _, rest = line.rpartition(": ")
        return f"{name}: {rest.replace(' bool ', ' u32 ')}"

    def truth(self, value):
        return Value(str(int(value)), "Bool", ("bool", value))

    def cast(self, target, value):
        if target != "Bool":
            return super().cast(target, value)
        return str(value) if value.type == "Bool" else f"cast(u32, cast(bool, {value}))"


@lru_cache(maxsize=128)
def _rewritten(rewriter: type[Rewriter], program: vyre.Program) -> vyre.Program:
    return rewriter(program).rewritten()


def rewriting(rewriter: type[Rewriter], program, inputs, workgroups, *, schedule: str | None = None):
    """The outputs of the program that `rewriter` makes of this one."""
    return vyre.run(_rewritten(rewriter, program), inputs, workgroups, backend="reference", schedule=schedule)


def _backend(rewriter: type[Rewriter], schedule: str | None = None):
    def wrong(program, inputs, workgroups, *, device=None, optimize=True):
        return rewriting(rewriter, program, inputs, workgroups, schedule=schedule)

    return wrong


shift_by_31 = _backend(_ShiftBy31)
sign_of_remainder = _backend(_SignOfRemainder)
min_max_of_large_values = _backend(_MinMaxOfLargeValues)
first_barrier_missing = _backend(_FirstBarrierMissing, "random:1")
out_of_bounds_clamped = _backend(OutOfBoundsClamped)
clz_of_zero = _backend(_ClzOfZero)
lazy_select = _backend(_LazySelect)
store_under_nested_ifs = _backend(StoreUnderNestedIfs)
empty_loops_run_once = _backend(_EmptyLoops)
u64_carry_lost = _backend(_CarryLost)


def bool_not_canonical(program, inputs, workgroups, *, device=None, optimize=True):
    """Loading a Bool gives the word that is stored there, 2 for 2."""
    arrays = {name: np.asarray(given) for name, given in inputs.items() if not isinstance(given, (int, tuple))}
    bools = [name for name, given in arrays.items() if given.dtype == np.bool_]
    outputs = rewriting(
        _BoolAsItIs,
        program,
        {**inputs, **{name: arrays[name].astype(np.uint32) for name in bools}},
        workgroups,
    )
    return {name: given != 0 if name in bools else given for name, given in outputs.items()}


class _StaleUniforms:
    """The words of the Uniform buffers are those of the call before, as far as there were any."""

    def __init__(self) -> None:
        self.before = np.zeros(0, np.uint32)

    def __call__(self, program, inputs, workgroups):
        uniforms = [decl for decl in program.buffers if decl.access == BufferAccess.Uniform]
        given = {decl.name: _uniform(decl, inputs[decl.name]) for decl in uniforms}
        now = [array.view(np.uint32).reshape(-1) for array in given.values()]
        words = np.concatenate([np.zeros(0, np.uint32), *now])
        stale = words.copy()
        known = min(stale.size, self.before.size)
        stale[:known] = self.before[:known]
        self.before = words
        changed, at = {}, 0
        for name, array in given.items():
            count = array.nbytes // 4
            changed[name] = stale[at : at + count].view(array.dtype).reshape(array.shape)
            at += count
        return vyre.run(program, {**inputs, **changed}, workgroups, backend="reference")


def _uniform(decl, given) -> np.ndarray:
    """The array of a Uniform buffer in whole words; a number is the value of its one element."""
    dtypes = {DataType.I32: np.int32, DataType.U64: np.uint64}
    array = np.atleast_1d(np.asarray(given, None if hasattr(given, "dtype") else dtypes.get(decl.element, np.uint32)))
    if array.dtype == np.bool_:
        return array.astype(np.uint32)
    if array.dtype == np.uint8:
        return np.concatenate([array.reshape(-1), np.zeros(-array.size % 4, np.uint8)])
    return np.ascontiguousarray(array)


_stale = _StaleUniforms()


def stale_uniforms(program, inputs, workgroups, *, device=None, optimize=True):
    """Uniform buffers are read as the call before left them; the first call of a process is right."""
    return _stale(program, inputs, workgroups)


NAMES = """
    shift_by_31 sign_of_remainder min_max_of_large_values first_barrier_missing out_of_bounds_clamped
    clz_of_zero lazy_select store_under_nested_ifs empty_loops_run_once u64_carry_lost bool_not_canonical stale_uniforms
"""
BACKENDS = {name: globals()[name] for name in NAMES.split()}
for _name, _function in BACKENDS.items():
    _function.__name__ = _name
