"""Random arguments for the calls of `calls.py`: values that fit a parameter, and values that it must refuse."""

from __future__ import annotations

import array
import collections
import enum
import inspect
import itertools
import math
import pathlib
import random
import sys
import threading
import types
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
import vyre.fuzz
from call_targets import find
from vyre import BufferDecl, DataType, Expr, Node, OpSignature, OpSpec, Program, _core

if TYPE_CHECKING:
    from collections.abc import Callable

    from call_targets import Target


class Hostile(Exception):
    """The exception that hostile objects raise; a call may let it through."""


# --- values that fit ---

GID = Expr.gid_x()
DOUBLE = Program(
    [BufferDecl.read_write("data", 0, vyre.u32)], (4, 1, 1), [Node.store("data", GID, Expr.load("data", GID) * 2)]
)
EVERY_TYPE = Program(
    [
        BufferDecl.read("a", 0, vyre.u32),
        BufferDecl.read("b", 1, vyre.i32),
        BufferDecl.uniform("c", 2, vyre.vec4u32),
        BufferDecl.read("d", 3, DataType.Bytes),
        BufferDecl.read_write("e", 4, vyre.boolean),
        BufferDecl.output("f", 5, vyre.u64, count=3),
        BufferDecl.workgroup("g", 4, vyre.u32),
    ],
    (2, 1, 1),
    [Node.let("x", Expr.load("a", GID)), Node.store("g", GID, Expr.var("x")), Node.barrier()],
)
WRONG = Program(workgroup_size=(0, 1, 1), entry=[Node.assign("x", 1), Node.let("\0", 2)])


def _array(rng: random.Random) -> Any:
    kind = rng.choice([np.uint32, np.int32, np.uint64, np.bool_, np.uint8])
    return np.ones(rng.choice([(), 0, 3, 4, (2, 4), (3, 2)]), kind)


def _inputs(rng: random.Random) -> Any:
    fitting = {
        "data": np.arange(4, dtype=np.uint32),
        "a": np.arange(4, dtype=np.uint32),
        "b": np.arange(4, dtype=np.int32),
        "c": np.zeros((2, 4), np.uint32),
        "d": b"abc",
        "e": np.ones(3, bool),
        "f": np.zeros(3, np.uint64),
    }
    chosen = ["data"] if rng.random() < 0.6 else [name for name in fitting if name != "data"]
    return {name: any_value(rng, name) if rng.random() < 0.2 else fitting[name] for name in chosen}


def _expr(rng: random.Random) -> Any:
    return rng.choice(
        [
            lambda: Expr.u32(rng.randrange(2**32)),
            lambda: Expr.i32(-3),
            lambda: Expr.u64(2**40),
            lambda: Expr.bool(True),
            lambda: Expr.var(rng.choice("abx")),
            lambda: Expr.load("data", GID),
            lambda: Expr.vec4(1, 2, 3, GID),
            lambda: vyre.atomic_add("data", 0, 1),
            lambda: vyre.call("primitive.bitwise.xor", [1, GID]),
            lambda: rng.randrange(2**32),
            lambda: np.uint32(7),
            lambda: True,
        ]
    )()


def _node(rng: random.Random) -> Any:
    return rng.choice(
        [
            Node.barrier,
            lambda: Node.let("x", _expr(rng)),
            lambda: Node.store("data", 0, _expr(rng)),
            lambda: Node.if_(True, [Node.let("y", 1)]),
        ]
    )()


def _graph(rng: random.Random) -> Any:
    graph = vyre.graph()
    if rng.random() < 0.7:
        with graph:
            if rng.random() < 0.7:
                DOUBLE(vyre.empty(4, backend="cpu"), workgroups=1)
    return graph


def _profile(rng: random.Random) -> Any:
    profile = vyre.profile()
    if rng.random() < 0.7:
        with profile:
            vyre.run(DOUBLE, {"data": 4}, 1, backend="cpu")
    return profile


def _step_place() -> Any:
    return vyre.StepPlace(1, 2, "kernel `k` in procedure `p`", "kernels.py", 3, (("callers.py", 4),))


def _difference() -> Any:
    return vyre.OutputDifference("y", 3, {"one": 1, "other": 2})


def _check(rng: random.Random) -> Any:
    racy = Program(
        [BufferDecl.output("out", 0, vyre.u32)], (4, 1, 1), [Node.store("out", 0, GID), Node.store("out", 9, 1)]
    )
    return vyre.check(racy, {"out": 1}, 1)


def _report(name: str) -> Callable[[random.Random], Any]:
    def make(_: random.Random) -> Any:
        place = vyre.validate(WRONG)[0].place
        origin = (0, 0, 0)
        witness = vyre.Witness(origin, origin, origin, "read", 1, place, "let x = 1")
        stop = vyre.BarrierStop(place, True, 3, origin)
        return {
            "RaceReport": vyre.RaceReport("out", 0, witness, witness, 2),
            "UninitialisedReadReport": vyre.UninitialisedReadReport("out", 0, witness, 1),
            "PromisedZeroReport": vyre.PromisedZeroReport("out", 0, witness, 1),
            "OutOfBoundsReport": vyre.OutOfBoundsReport("out", 9, 3, witness, 1),
            "BarrierStop": stop,
            "DivergentBarrierReport": vyre.DivergentBarrierReport(origin, (stop,), 1),
            "OrderDependenceReport": vyre.OrderDependenceReport(
                "out", 0, None, 1, 2, "in-order", "reversed", (place,), 1
            ),
            "Report": vyre.OutOfBoundsReport("out", 9, 3, witness, 1),
            "Witness": witness,
        }[name]

    return make


def _wrong_popcount(program: Program, inputs: Any, workgroups: Any) -> Any:
    return vyre.run(vyre.parse(program.to_text().replace("* 2", "* 3")), inputs, workgroups, backend="reference")


def _fuzz_case(rng: random.Random) -> Any:
    return vyre.fuzz.generate(rng.randrange(8), statements=5, work=500)


# A value of each class, for its methods.
@vyre.kernel
def _doubled(data: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]) -> None:
    out[vyre.gid(0)] = data[vyre.gid(0)] * 2


def _builder() -> vyre.Builder:
    builder = vyre.Builder(4)
    builder.output("data", vyre.u32)[GID] = 1
    return builder


@vyre.procedure
def _procedure(x: vyre.InOut[vyre.u32]):
    vyre.clear(x)


def _recorded_array() -> Any:
    """An array of a procedure that was recorded."""
    found = []

    @vyre.procedure
    def look(x: vyre.In[vyre.u32]):
        found.append(x)

    look.specialize()
    return found[0]


SELVES: dict[str, Callable[[random.Random], Any]] = {
    "Array": lambda rng: vyre.array(_array(rng), backend="cpu"),
    "Backends": lambda _: vyre.backends(),
    "BufferDecl": lambda rng: rng.choice(EVERY_TYPE.buffers),
    "Builder": lambda _: _builder(),
    "CheckResult": _check,
    "ProcedureCheckResult": lambda _: _procedure.check(np.ones(4, np.uint32)),
    "ProcedureDivergence": lambda _: vyre.ProcedureDivergence(_difference(), _step_place(), _difference()),
    "StepPlace": lambda _: _step_place(),
    "ReportedStep": lambda _: vyre.ReportedStep(_step_place(), "x", "y", 3),
    "UnwrittenArrayReport": lambda _: vyre.UnwrittenArrayReport("y", 3, "returned", 2),
    "Convention": lambda rng: rng.choice([vyre.Convention.V1(), vyre.Convention.V3(1, 2, 3, 4)]),
    "DataType": lambda rng: rng.choice(list(DataType)),
    "Explanation": lambda _: _doubled.explain(backend="cpu"),
    "KernelAccess": lambda _: vyre.KernelAccess("a", "a.py", 3, True, 1),
    "DriverFact": lambda _: vyre.DriverFact("main", "Registers", "of an invocation", "32"),
    "Cost": lambda _: _doubled.cost(64),
    "CostLoop": lambda _: vyre.CostLoop("a.py", 3, vyre.Count(3, True), None, "", {}, {}, {}, {}),
    "Count": lambda _: vyre.Count(3, True),
    "Debugging": lambda _: vyre.debugging(),
    "Device": lambda _: vyre.Device(0, "cpu", "name", "driver", "cpu", True, True),
    "Diagnostic": lambda _: vyre.validate(WRONG)[0],
    "Diagnostics": lambda _: vyre.validate(WRONG),
    "Divergence": lambda _: vyre.bisect(DOUBLE, {"data": np.ones(4, np.uint32)}, 1, backend=_wrong_popcount),
    "Expr": lambda rng: Expr.u32(3) + GID if rng.random() < 0.5 else Expr.i32(-3),
    "Graph": _graph,
    "Kernel": lambda _: _doubled,
    "KernelError": lambda _: vyre.KernelError(vyre.validate(WRONG)),
    "Node": _node,
    "OpSignature": lambda _: OpSignature([vyre.u32], vyre.u64),
    "OpSpec": lambda _: vyre.ops.get("primitive.bitwise.xor"),
    "Operation": lambda _: vyre.Operation(vyre.ops.get("primitive.bitwise.xor")),
    "OutputDifference": lambda _: (
        vyre.OutputDifference("data", (0,), None, 2, 3)
        if len(inspect.signature(vyre.OutputDifference).parameters) == 5
        else vyre.bisect(DOUBLE, {"data": np.ones(4, np.uint32)}, 1, backend=_wrong_popcount).output
    ),
    "Place": lambda _: vyre.validate(WRONG)[0].place,
    "Procedure": lambda _: _procedure.procedure,
    "ProcedureArray": lambda _: _recorded_array(),
    "ProcedureFunction": lambda _: _procedure,
    "Profile": _profile,
    "ProfileEvent": lambda _: _profile(random.Random(1)).events[0],
    "ProfileRow": lambda _: _profile(random.Random(1)).rows[0],
    "Program": lambda rng: rng.choice([DOUBLE, EVERY_TYPE, WRONG, Program()]),
    "RepeatResult": lambda _: vyre.repeat(DOUBLE, {"data": 4}, 1, times=2, backend="cpu"),
    "Row": lambda _: vyre.trace(_doubled, np.ones(2, np.uint32)).rows[0],
    "RunDifference": lambda _: vyre.RunDifference("data", 0, (1, 2), (0, 1), ("in-order", "reversed"), 1, 4),
    "Size": lambda _: vyre.limit("workgroup_memory") // 4,
    "Trace": lambda _: vyre.trace(_doubled, np.ones(2, np.uint32)),
    "ValidationError": lambda _: vyre.ValidationError(vyre.validate(WRONG)),
    "CheckError": lambda rng: vyre.CheckError(_check(rng)),
    "fuzz.Case": _fuzz_case,
    "fuzz.Way": lambda rng: vyre.fuzz.Way(rng.choice(["cpu", "reference"]), optimize=rng.random() < 0.5),
    "fuzz.Settings": lambda _: vyre.fuzz.Settings(statements=5, work=500),
    "fuzz.Judgement": lambda _: vyre.fuzz.Judgement("agrees"),
    "fuzz.Row": lambda _: vyre.fuzz.log.Row(*[None] * len(inspect.signature(vyre.fuzz.Row).parameters)),
    "fuzz.Planted": lambda _: vyre.fuzz.Planted("a", "race", ("entry[0]",), "b"),
    "_core._Graph": lambda _: _core._Graph(),
    "_core._Profile": lambda _: _core._profile(100),
} | {
    name: _report(name)
    for name in (
        "RaceReport",
        "UninitialisedReadReport",
        "PromisedZeroReport",
        "OutOfBoundsReport",
        "BarrierStop",
        "DivergentBarrierReport",
        "OrderDependenceReport",
        "Report",
        "Witness",
    )
}


def itself(owner: str, rng: random.Random) -> Any:
    """An object of a class, to call a method of."""
    known = SELVES.get(owner) or SELVES.get(owner.removeprefix("ops."))
    if known:
        return known(rng)
    kind = find(owner)
    if issubclass(kind, enum.Enum):
        return rng.choice(list(kind))
    if issubclass(kind, BaseException):
        return kind("what is wrong. Fix: this.")
    raise AssertionError(f"no object of {owner} is known here: add it to SELVES")


# By the name of a parameter.
FITTING: dict[str, Callable[[random.Random], Any]] = {
    "program": lambda rng: SELVES["Program"](rng),
    "inputs": _inputs,
    "workgroups": lambda rng: rng.choice([1, (1,), (2, 1, 1), [1, 1], np.uint32(1)]),
    "backend": lambda rng: rng.choice(["cpu", "reference", None]),
    "device": lambda rng: rng.choice([None, None, 0, 5]),
    "schedule": lambda rng: rng.choice([None, "in-order", "reversed", "random:7"]),
    "optimize": lambda rng: rng.choice([None, True, False, ["passes"], ("coarsening",)]),
    "check": lambda rng: rng.choice([None, "all", "race", ["race", "out-of-bounds"]]),
    "checks": lambda rng: rng.choice(["all", "race", ["race", "out-of-bounds"]]),
    "max_reports": lambda rng: rng.choice([1, 100]),
    "target": lambda rng: rng.choice(["spirv", "wgsl", "spirv-asm", "ptx", "asm", vyre.u32, vyre.i32]),
    "instructions": lambda rng: rng.choice([None, "sse41", "avx2", "avx512"]),
    "text": lambda rng: rng.choice([DOUBLE.to_text(), "vyre 1\n", _fuzz_case(rng).to_json()]),
    "data": lambda rng: rng.choice([DOUBLE.to_bytes(), b"abc", np.ones(3, np.uint8)]),
    "words": lambda _: np.ones(3, np.uint32),
    "length": lambda rng: rng.choice([None, 3]),
    "values": _array,
    "shape": lambda rng: rng.choice([0, 3, (2, 3), ()]),
    "dtype": lambda rng: rng.choice([None, np.uint32, "int32", vyre.u32, vyre.vec2u32]),
    "path": lambda rng: rng.choice(["here.json", pathlib.Path("there.json"), b"bytes.json"]),
    "rule": lambda rng: rng.choice(["V003", "v019"]),
    "name": lambda rng: rng.choice(["data", "x"]),
    "buffer": lambda rng: rng.choice(["data", "x"]),
    "var": lambda _: "k",
    "binding": lambda rng: rng.choice([0, 3]),
    "element": lambda rng: rng.choice(list(DataType)),
    "access": lambda rng: rng.choice(list(vyre.BufferAccess)),
    "count": lambda rng: rng.choice([0, 3]),
    "type": lambda _: vyre.vec2u32,
    "lanes": lambda rng: [_expr(rng), 1],
    "args": lambda rng: [_expr(rng), 1],
    "op_id": lambda _: "primitive.bitwise.xor",
    "id": lambda rng: rng.choice(["primitive.bitwise.xor", "hostile.made", "primitive.bitwise.xor@1"]),
    "op": lambda rng: rng.choice([vyre.BinOp.Add, vyre.UnOp.Clz]),
    "k": lambda _: 1,
    "axis": lambda _: 1,
    "body": lambda rng: [_node(rng)],
    "then": lambda rng: [_node(rng)],
    "otherwise": lambda rng: [_node(rng)],
    "entry": lambda rng: [_node(rng)],
    "buffers": lambda _: EVERY_TYPE.buffers,
    "workgroup_size": lambda _: (4, 1, 1),
    "signature": lambda _: OpSignature([vyre.u32], vyre.u32),
    "output": lambda _: vyre.u32,
    "spec": lambda _: OpSpec(
        "hostile.made", OpSignature([vyre.u32], vyre.u32), parameters=["a"], result=Expr.var("a") + 1
    ),
    "diagnostics": lambda _: vyre.validate(WRONG),
    "result": _check,
    "times": lambda rng: rng.choice([0, 1, 3]),
    "progress": lambda rng: rng.choice([False, lambda done, times: None]),
    "timeout": lambda rng: rng.choice([0.5, 1]),
    "keep": lambda _: 1000,
    "case": _fuzz_case,
    "tried": lambda _: None,
    "ways": lambda _: [vyre.fuzz.Way("cpu")],
    "how": lambda rng: rng.choice(["inline", 3]),
    "seed": lambda rng: rng.randrange(2**64),
    "statements": lambda _: 5,
    "work": lambda _: 500,
    "plant": lambda _: None,
    "tries": lambda _: 3,
    "still_fails": lambda _: lambda case: True,
    "passes": lambda rng: rng.choice([None, ["simplify"]]),
    "against": lambda _: "reference",
    "function": lambda _: "vyre.run",
    "arrays": lambda _: vyre.empty(4, backend="cpu"),
    "key": lambda rng: rng.choice([slice(1, 2), slice(None)]),
    "protocol": lambda rng: rng.randrange(6),
    "memo": lambda _: {},
    "invocation": lambda rng: rng.choice([0, (1, 0), (2, 0, 0)]),
    "invocations": lambda rng: rng.choice([[0], [(1, 0)], range(3)]),
    "kind": lambda _: None,
    "kernel": lambda _: _doubled,
    "limit": lambda rng: rng.choice([1, 1000]),
    "most_rows": lambda rng: rng.choice([2, 1000]),
    "value": _expr,
}
# Parameters that ask for work or memory. Any number in range is accepted, however large, so hostile values must not
# be large numbers.
AMOUNTS = {"workgroups", "times", "tries", "statements", "work", "rewrites", "how", "most_events"}


# --- values that a call must refuse ---


def _raise(*_: Any, **__: Any) -> Any:
    raise Hostile("raised on purpose")


def _object(rng: random.Random) -> Any:
    """An object some of whose special methods raise or lie."""
    ways = {
        "__len__": [_raise, lambda self: 2**62, lambda self: 1],
        "__index__": [_raise, lambda self: 2**70, lambda self: 3],
        "__int__": [_raise, lambda self: 3],
        "__float__": [_raise, lambda self: math.nan],
        "__bool__": [_raise, lambda self: False],
        "__array__": [_raise, lambda self, *a, **k: np.ones(3, np.uint32), lambda self, *a, **k: 3],
        "__dlpack__": [_raise, lambda self, **k: 3],
        "__dlpack_device__": [_raise, lambda self: (1, 0), lambda self: "cuda"],
        "__iter__": [_raise, lambda self: itertools.repeat(self), lambda self: iter([1, Node.barrier()])],
        "__getitem__": [_raise, lambda self, key: self],
        "keys": [_raise, lambda self: itertools.repeat("data"), lambda self: ["data"]],
        "items": [_raise, lambda self: itertools.repeat(("data", 3))],
        "__fspath__": [_raise, lambda self: "a\0b", lambda self: b"\xff"],
        "__hash__": [_raise, lambda self: 1],
        "__eq__": [_raise, lambda self, other: True, lambda self, other: np.ones(3)],
        "__repr__": [_raise, lambda self: "\ud800" * 5, lambda self: "long" * 100_000],
        "__str__": [_raise],
        "__call__": [_raise, lambda self, *a, **k: self],
        "__buffer__": [_raise],
        "dtype": [property(_raise), np.dtype(np.uint32), "junk"],
        "shape": [property(_raise), (2**40,)],
        "index": [property(_raise), 0],
        "backend": [property(_raise), "cpu"],
        "__class__": [property(lambda self: Expr), property(lambda self: Program), property(lambda self: np.ndarray)],
    }
    chosen = rng.sample(sorted(ways), rng.choice([1, 2, 3, 8]))
    return type("Odd", (), {name: rng.choice(ways[name]) for name in chosen})()


def _self_referential(rng: random.Random) -> Any:
    value: Any = [1, Node.barrier()]
    value.append(value)
    return value if rng.random() < 0.5 else {"data": value, "a": value}


class _Growing(list):
    """A list that grows while it is read."""

    def __iter__(self) -> Any:
        for item in itertools.count():
            self.append(item)
            yield self[0]


def _structured(rng: random.Random) -> Any:
    return np.zeros(3, [("a", np.uint32), ("b", np.float64)])


_released = memoryview(b"abc")
_released.release()

HOSTILE: list[Callable[[random.Random], Any]] = [
    lambda rng: rng.choice([-1, 2**31, 2**32, 2**63, 2**64, 2**200, -(2**200), 10**5000]),
    lambda rng: rng.choice([math.nan, math.inf, -math.inf, -0.0, 1e308, 5e-324]),
    lambda rng: rng.choice(
        [np.float32(2), np.float64(math.nan), np.int64(-1), np.uint64(2**63), np.bool_(True), np.str_("x")]
    ),
    lambda rng: rng.choice(["", "\0", "a\0b", "\ud800", "\ud800x", "é" * 100, "\u202e", "x@y", "a.b", "data"]),
    lambda rng: rng.choice(["a", "`", "é", " ", "{", "'\"", "."]) * 1_000_000,
    lambda rng: rng.choice([b"", b"\0", b"\xff" * 10, bytearray(b"abc"), b"a" * 1_000_000]),
    _self_referential,
    lambda rng: rng.choice(
        [itertools.repeat(1), itertools.repeat("race"), itertools.repeat(Node.barrier()), itertools.count()]
    ),
    lambda rng: itertools.cycle([GID, BufferDecl.read("a", 0, vyre.u32), vyre.u32]),
    lambda rng: (item for item in [1, Node.barrier(), GID]),
    lambda rng: (_raise() for _ in range(3)),
    _object,
    _object,
    _object,
    lambda rng: np.broadcast_to(np.ones((), rng.choice([np.uint32, np.uint8, np.bool_])), (2**40,)),
    lambda rng: np.broadcast_to(np.uint32(1), (2**20, 2**20, 4)),
    lambda rng: rng.choice([Expr, Program, vyre, np, int, DataType, vyre.ArgumentError, type, types]),
    lambda rng: rng.choice(
        [memoryview(b"abc"), memoryview(np.ones((2, 2), np.uint8)), memoryview(np.ones((), np.uint32))]
    ),
    lambda rng: rng.choice([_released, memoryview(array.array("d", [1.0])), memoryview(b"abcdef")[::2]]),
    _structured,
    lambda rng: np.ones(3, rng.choice([">u4", ">i4", "<f4", "S3", "U3", "M8[s]", object, np.complex64])),
    lambda rng: np.array([1, "a", None], dtype=object),
    lambda rng: np.ma.masked_array(np.ones(3, np.uint32), [True, False, True]),
    lambda rng: np.ones((4, 4), np.uint32)[rng.choice([slice(None, None, 2), slice(None, None, -1)])].T,
    lambda rng: np.frombuffer(b"\0" * 17, np.uint8)[1:].view(np.uint32),
    lambda rng: rng.choice([None, ..., NotImplemented, True, False, (), [], {}, set(), slice(None), range(2**60)]),
    lambda rng: rng.choice([lambda *a, **k: None, _raise, Expr.gid_x, Node.barrier]),
    lambda rng: rng.choice(
        [threading.Lock(), sys, collections.OrderedDict(a=1), collections.ChainMap({}), frozenset({1})]
    ),
    lambda rng: _Growing([Node.barrier()]),
    lambda rng: {rng.choice(["data", "\ud800", 3, None, b"data", (1,)]): hostile(rng) for _ in range(2)},
    lambda rng: [hostile(rng) for _ in range(rng.randrange(4))],
    lambda rng: (_expr(rng), _node(rng), hostile(rng)),
    lambda rng: SELVES[rng.choice(sorted(SELVES))](rng),
    lambda rng: object.__new__(rng.choice([vyre.Graph, vyre.Profile, vyre.Operation, DataType])),
    lambda rng: rng.choice(["/dev/zero", "/", ".", "x" * 300, "no/such/file", pathlib.Path("/dev/zero"), b"/dev/zero"]),
]


def hostile(rng: random.Random) -> Any:
    return rng.choice(HOSTILE)(rng)


def any_value(rng: random.Random, name: str) -> Any:
    """A hostile value; where an amount is asked for, none that would be done."""
    value = hostile(rng)
    if name == "function":  # a literal of the package's own
        return "vyre.check"
    if name in AMOUNTS:
        parts = value if type(value) in (list, tuple) else [value]
        if any(isinstance(part, (int, float, np.integer, np.floating)) and 8 < part < 2**64 for part in parts):
            return -1
        if isinstance(value, np.ndarray) or type(value).__name__ == "Odd":
            return math.nan
    return value


# --- the arguments of a call ---


def arguments(target: Target, rng: random.Random) -> tuple[list[Any], dict[str, Any]]:
    """Positional and keyword arguments for a call, some of which fit its parameters."""
    args: list[Any] = []
    named: dict[str, Any] = {}
    fits = rng.choice([0.0, 0.5, 0.8, 1.0])
    for name, kind in target.parameters:
        if name == "timeout" or (kind == "KEYWORD_ONLY" and rng.random() < 0.4):
            if name == "timeout":
                named["timeout"] = rng.choice([1.0, 1.0, 1.0, -1, "1", math.nan])
            continue
        if rng.random() < 0.03:
            continue
        bare = name.removesuffix("_").removeprefix("_")
        value = FITTING.get(bare, _expr)(rng) if rng.random() < fits else any_value(rng, bare)
        if kind == "VAR_KEYWORD":
            named |= {} if rng.random() < 0.7 else {rng.choice(["data", "\ud800", "x" * 1000]): value}
        elif kind == "VAR_POSITIONAL":
            args += [value] * rng.choice([1, 1, 1, 0, 2])
        elif kind == "KEYWORD_ONLY" or (named and kind != "POSITIONAL_ONLY") or rng.random() < 0.1:
            named[name] = value
        else:
            args.append(value)
    if rng.random() < 0.03:
        args.append(hostile(rng))
    if rng.random() < 0.03:
        named["unknown" if rng.random() < 0.8 else "\ud800"] = hostile(rng)
    return args, named
