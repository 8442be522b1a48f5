"""Python's operators on expressions: what they compute on every type, beside Python's integers, and what is refused where."""

# ruff: noqa: E501  (messages stand whole)
from __future__ import annotations

import operator
import pickle

import numpy as np
import pytest

import vyre
from conftest import refused
from programs import by_powers_of_two
from vyre import BufferDecl, DataType, Expr, Node, Program

I32, U32, U64, BOOL = DataType.I32, DataType.U32, DataType.U64, DataType.Bool
VEC2, VEC4 = DataType.Vec2U32, DataType.Vec4U32
M32, M64 = 2**32 - 1, 2**64 - 1
X = Expr.gid_x()


def i32(value: int) -> int:
    """The I32 that has the low 32 bits of ``value``."""
    return (value + 2**31) % 2**32 - 2**31


def truncated(a: int, b: int) -> int:
    """The quotient without its fraction; 0 for a divisor of 0."""
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def rest(a: int, b: int) -> int:
    return 0 if b == 0 else a - b * truncated(a, b)


def rotated(a: int, n: int, bits: int) -> int:
    n %= bits
    return (a << n | a >> (bits - n)) & (2**bits - 1)


def load(name: str) -> Expr:
    return Expr.load(name, X)


# (the expression of loads a, b of the type and n of U32, what it is for integers, the type of the result)
# Other single operators of I32 are those of L1/operators/python.
ON_I32 = [
    (lambda a, b, n: (a & b) | (a ^ ~b), lambda a, b, n: (a & b) | (a ^ ~b), I32),
    (lambda a, b, n: -a, lambda a, b, n: i32(-a), I32),
    (lambda a, b, n: abs(a), lambda a, b, n: i32(abs(a)), I32),
    (lambda a, b, n: vyre.min(a, b) - vyre.max(a, b), lambda a, b, n: i32(min(a, b) - max(a, b)), I32),
    (lambda a, b, n: -3 * a + 7, lambda a, b, n: i32(-3 * a + 7), I32),
    (lambda a, b, n: 1000 // a - -5 % b, lambda a, b, n: i32(truncated(1000, a) - rest(-5, b)), I32),
    (lambda a, b, n: vyre.select(a < -1, a, -1) + -(2**31), lambda a, b, n: i32((a if a < -1 else -1) - 2**31), I32),
    (
        lambda a, b, n: (a - b) * (a + b) >> 3 << n,
        lambda a, b, n: i32((i32(i32(a - b) * i32(a + b)) >> 3) << n % 32),
        I32,
    ),
]
ON_U64 = [
    (lambda a, b, n: a + b, lambda a, b, n: a + b & M64, U64),
    (lambda a, b, n: a - b, lambda a, b, n: a - b & M64, U64),
    (lambda a, b, n: a * b, lambda a, b, n: a * b & M64, U64),
    (lambda a, b, n: a // b, lambda a, b, n: truncated(a, b), U64),
    (lambda a, b, n: a % b, lambda a, b, n: rest(a, b), U64),
    (lambda a, b, n: (a & b) | (a ^ ~b), lambda a, b, n: ((a & b) | (a ^ ~b)) & M64, U64),
    (lambda a, b, n: a << n, lambda a, b, n: a << n % 64 & M64, U64),
    (lambda a, b, n: a >> n, lambda a, b, n: a >> n % 64, U64),
    (lambda a, b, n: -a, lambda a, b, n: -a & M64, U64),
    (lambda a, b, n: abs(a), lambda a, b, n: a, U64),
    (lambda a, b, n: (a == b) + 2 * (a != b), lambda a, b, n: int(a == b) + 2 * (a != b), U32),
    (
        lambda a, b, n: (a < b) + 2 * (a <= b) + 4 * (a > b) + 8 * (a >= b),
        lambda a, b, n: (a < b) + 2 * (a <= b) + 4 * (a > b) + 8 * (a >= b),
        U32,
    ),
    (lambda a, b, n: vyre.min(a, b) ^ vyre.max(a, b), lambda a, b, n: min(a, b) ^ max(a, b), U64),
    (lambda a, b, n: vyre.rotl(a, n), lambda a, b, n: rotated(a, n, 64), U64),
    (lambda a, b, n: vyre.rotr(a, 13), lambda a, b, n: rotated(a, -13, 64), U64),
    (lambda a, b, n: vyre.popcount(a), lambda a, b, n: a.bit_count(), U32),
    (
        lambda a, b, n: vyre.clz(a) * 100 + vyre.ctz(b),
        lambda a, b, n: (64 - a.bit_length()) * 100 + ((b & -b).bit_length() - 1 if b else 64),
        U32,
    ),
    (
        lambda a, b, n: a * 6364136223846793005 + 1442695040888963407,
        lambda a, b, n: (a * 6364136223846793005 + 1442695040888963407) & M64,
        U64,
    ),
    (
        lambda a, b, n: vyre.abs_diff(a, b) + vyre.reverse_bits(a) - vyre.mulhi(a, b),
        lambda a, b, n: abs(a - b) + int(f"{a:064b}"[::-1], 2) - (a * b >> 64) & M64,
        U64,
    ),
    (
        lambda a, b, n: 2**63 - a + (a >> 33 ^ a << 5),
        lambda a, b, n: (2**63 - a & M64) + ((a >> 33) ^ (a << 5 & M64)) & M64,
        U64,
    ),
]
# On vectors of four; the model is that of one lane, and n is the same for all.
ON_VECTORS = [
    (lambda a, b, n: a + b, lambda a, b, n: a + b & M32),
    (lambda a, b, n: a - n, lambda a, b, n: a - n & M32),
    (lambda a, b, n: n * a, lambda a, b, n: n * a & M32),
    (lambda a, b, n: a // b, lambda a, b, n: truncated(a, b)),
    (lambda a, b, n: a % 10, lambda a, b, n: a % 10),
    (lambda a, b, n: (a & b) | (a ^ 0xFF00FF), lambda a, b, n: (a & b) | (a ^ 0xFF00FF)),
    (lambda a, b, n: a << n, lambda a, b, n: a << n % 32 & M32),
    (lambda a, b, n: a >> 7, lambda a, b, n: a >> 7),
    (lambda a, b, n: -a + ~b, lambda a, b, n: -a + ~b & M32),
    (lambda a, b, n: vyre.min(a, b) * 3 + vyre.max(a, n), lambda a, b, n: min(a, b) * 3 + max(a, n) & M32),
]
EDGES = {
    I32: [0, 1, -1, 2, -2, 7, 2**31 - 1, -(2**31), -(2**31) + 1, 0x12345678, -0x12345678],
    U64: [0, 1, 2, M32, M32 + 1, M64, M64 - 1, 2**63, 2**63 - 1, 0x0123456789ABCDEF, 0xFEDCBA9876543210],
    U32: [0, 1, 2, 31, 32, 33, M32, M32 - 1, 2**31, 2**31 - 1, 0x12345678],
}
NUMPY = {I32: np.int32, U64: np.uint64, U32: np.uint32}
AMOUNTS = [0, 1, 5, 31, 32, 33, 63]


def grid(element: DataType) -> tuple[list[int], list[int], list[int]]:
    """Every pair of edges, and an amount for each."""
    pairs = [(a, b) for a in EDGES[element] for b in EDGES[element]]
    return [a for a, _ in pairs], [b for _, b in pairs], [AMOUNTS[k % len(AMOUNTS)] for k in range(len(pairs))]


@pytest.mark.parametrize(("element", "rows"), [(I32, ON_I32), (U64, ON_U64)], ids=["I32", "U64"])
def test_operators_compute_what_python_integers_do(element, rows, target):
    a, b, n = grid(element)
    count = len(a)
    buffers = [BufferDecl.read("a", 0, element), BufferDecl.read("b", 1, element), BufferDecl.read("n", 2, U32)]
    stores, outputs = [], {}
    for k, (build, model, result) in enumerate(rows):
        buffers.append(BufferDecl.read_write(f"out{k}", 3 + k, result))
        stores.append(Node.store(f"out{k}", X, build(load("a"), load("b"), load("n"))))
        outputs[f"out{k}"] = (result, [model(*values) for values in zip(a, b, n, strict=True)])
    for first in range(0, len(rows), 4):  # no device binds twenty arrays at once
        part = range(first, first + 4)
        program = Program([*buffers[:3], *(buffers[3 + k] for k in part)], (32, 1, 1), [stores[k] for k in part])
        inputs = {"a": np.array(a, NUMPY[element]), "b": np.array(b, NUMPY[element]), "n": np.array(n, np.uint32)}
        inputs |= {f"out{k}": np.zeros(count, NUMPY[rows[k][2]]) for k in part}
        got = vyre.run(program, inputs, (-(-count // 32), 1, 1), **target)
        for k in part:
            result, expected = outputs[f"out{k}"]
            np.testing.assert_array_equal(got[f"out{k}"], np.array(expected, NUMPY[result]), err_msg=f"row {k}")


@pytest.mark.parametrize("element", [U32, U64])
@pytest.mark.parametrize("optimize", [True, False])
def test_products_quotients_and_remainders_by_powers_of_two(element, optimize, target):
    """Literals of powers of two have short forms of their own; test_lowering_proofs.py proves them for every power."""
    program, inputs, groups, expected = by_powers_of_two(element)
    got = vyre.run(program, inputs, groups, optimize=optimize, **target)
    for name, values in expected.items():
        np.testing.assert_array_equal(got[name], values, err_msg=name)


@pytest.mark.parametrize("optimize", [True, False])
def test_two_shifts_that_spell_a_rotation_give_its_value(optimize, target):
    """Some targets make one instruction of them; amounts that do not add up to 32 are no rotation."""
    amounts = [(left, right) for left in (1, 5, 16, 25, 31) for right in (32 - left, 33 - left)]
    x = load("a")
    stores = []
    for k, (left, right) in enumerate(amounts):
        stores.append(Node.store("out", X * 20 + 2 * k, (x << left) | (x >> right)))
        stores.append(Node.store("out", X * 20 + 2 * k + 1, (x >> right) | (x << left)))
    buffers = [BufferDecl.read("a", 0, U32), BufferDecl.read_write("out", 1, U32)]
    values = EDGES[U32]
    inputs = {"a": np.array(values, np.uint32), "out": np.zeros(20 * len(values), np.uint32)}
    program = Program(buffers, (len(values), 1, 1), stores)
    got = vyre.run(program, inputs, (1, 1, 1), optimize=optimize, **target)["out"].tolist()
    expected = [(a << left & M32) | (a >> right % 32) for a in values for left, right in amounts for _ in range(2)]
    assert got == expected


@pytest.mark.parametrize("lanes", [2, 4])
def test_operators_on_vectors_go_lane_by_lane(lanes, target):
    assert len(ON_VECTORS) == 10
    element = VEC2 if lanes == 2 else VEC4
    a, b, _ = grid(U32)
    a, b = a[: len(a) // 4 * 4], b[: len(b) // 4 * 4]
    count = len(a) // lanes
    n = [AMOUNTS[k % len(AMOUNTS)] for k in range(count)]
    for first in range(0, 10, 5):
        part = range(first, first + 5)
        buffers = [BufferDecl.read("a", 0, element), BufferDecl.read("b", 1, element), BufferDecl.read("n", 2, U32)]
        buffers += [BufferDecl.read_write(f"out{k}", 3 + k, element) for k in part]
        stores = [Node.store(f"out{k}", X, ON_VECTORS[k][0](load("a"), load("b"), load("n"))) for k in part]
        shape = (count, lanes)
        inputs = {
            "a": np.array(a, np.uint32).reshape(shape),
            "b": np.array(b, np.uint32).reshape(shape),
            "n": np.array(n, np.uint32),
        }
        inputs |= {f"out{k}": np.zeros(shape, np.uint32) for k in part}
        got = vyre.run(Program(buffers, (16, 1, 1), stores), inputs, (-(-count // 16), 1, 1), **target)
        for k in part:
            expected = [ON_VECTORS[k][1](a[i], b[i], n[i // lanes]) for i in range(count * lanes)]
            np.testing.assert_array_equal(got[f"out{k}"].ravel(), np.array(expected, np.uint32), err_msg=f"row {k}")


def test_operators_on_bool_give_bool(target):
    a, b = [False, False, True, True], [False, True, False, True]
    rows = [
        (lambda p, q: p & q, lambda p, q: p and q),
        (lambda p, q: p | q, lambda p, q: p or q),
        (lambda p, q: p ^ q, lambda p, q: p != q),
        (lambda p, q: p == q, lambda p, q: p == q),
        (lambda p, q: (p != q) | ~p, lambda p, q: p != q or not p),
        (lambda p, q: ~(p & True) ^ (q == False), lambda p, q: (not p) != (q is False)),  # noqa: E712
    ]
    buffers = [BufferDecl.read("a", 0, BOOL), BufferDecl.read("b", 1, BOOL)]
    buffers += [BufferDecl.read_write(f"out{k}", 2 + k, BOOL) for k in range(len(rows))]
    stores = [Node.store(f"out{k}", X, build(load("a"), load("b"))) for k, (build, _) in enumerate(rows)]
    inputs = {"a": np.array(a), "b": np.array(b)} | {f"out{k}": np.zeros(4, np.bool_) for k in range(len(rows))}
    got = vyre.run(Program(buffers, (4, 1, 1), stores), inputs, (1, 1, 1), **target)
    for k, (_, model) in enumerate(rows):
        assert got[f"out{k}"].tolist() == [model(p, q) for p, q in zip(a, b, strict=True)], k


def stored(value: Expr | int, element: DataType, *loads: DataType) -> Program:
    """A program that stores ``value`` to `out`, with read buffers r0, r1 ... of these elements."""
    buffers = [BufferDecl.output("out", 0, element)]
    buffers += [BufferDecl.read(f"r{k}", k + 1, kind) for k, kind in enumerate(loads)]
    return Program(buffers, (1, 1, 1), [Node.store("out", 0, value)])


@pytest.mark.parametrize(
    ("value", "element", "expected"),
    [
        (-5, I32, "-5i32"),
        (2**40, U64, "1099511627776u64"),
        (7, U64, "7u64"),
        (7, U32, "7"),
        (vyre.select(Expr.gid_x(), Expr.load("r0", 0), -1), I32, "select(gid.x, r0[0], -1i32)"),
        (vyre.select(Expr.gid_x(), 9, Expr.load("r1", 0)), U64, "select(gid.x, 9u64, r1[0])"),
        (vyre.call("primitive.u64.add", [Expr.load("r1", 0), 3]), U64, 'call("primitive.u64.add", r1[0], 3u64)'),
        (Expr.load("r1", 0) + 3, U64, 'call("primitive.u64.add", r1[0], 3u64)'),
        (3 << Expr.load("r2", 0), U32, "3 << r2[0]"),
        (vyre.min(1, 2), U32, "min(1, 2)"),
    ],
)
def test_an_integer_takes_the_type_that_stands_opposite(value, element, expected):
    text = stored(value, element, I32, U64, U32).to_text().strip().splitlines()[-1]
    assert text == f"out[0] = {expected}"


def test_variables_have_the_type_of_their_scope():
    v = Expr.var("v")
    twice = v + v
    program = Program(
        [BufferDecl.read("i", 0, I32), BufferDecl.read_write("a", 1, I32), BufferDecl.read_write("b", 2, U32)],
        (1, 1, 1),
        [
            Node.block([Node.let("v", Expr.load("i", 0)), Node.store("a", 0, twice), Node.store("a", 1, twice)]),
            Node.block([Node.let("v", 2**31 + 4), Node.store("b", 0, twice), Node.store("b", 1, twice)]),
            Node.block([Node.let("v", Expr.load("i", 1)), Node.store("a", 2, twice)]),
        ],
    )
    program.check()
    # One expression for each type: the third block shares that of the first.
    assert [line.strip() for line in program.to_text().splitlines() if line.strip().startswith("%")] == [
        "%0 = v",
        "%1 = cast(i32, cast(u32, %0) + cast(u32, %0))",
        "%2 = %0 + %0",
    ]
    got = vyre.run(program, {"i": np.array([-3, 2**31 - 1], np.int32), "a": 3, "b": 2}, (1, 1, 1), backend="reference")
    assert (got["a"].tolist(), got["b"].tolist()) == ([-6, -6, -2], [8, 8])


def test_a_variable_that_is_assigned_keeps_its_type():
    program = Program(
        [BufferDecl.output("out", 0, I32)],
        (1, 1, 1),
        [
            Node.let("v", Expr.i32(5)),
            Node.assign("v", -7),
            Node.loop("k", 0, 3, [Node.assign("v", Expr.var("v") * 2 - 1)]),
            Node.store("out", 0, Expr.var("v")),
        ],
    )
    assert vyre.run(program, {"out": 1}, (1, 1, 1), backend="cpu")["out"].tolist() == [-63]


def test_operators_in_the_body_of_an_operation_know_its_parameters():
    a, b = Expr.var("a"), Expr.var("b")
    spec = vyre.OpSpec(
        "test.mean64", vyre.OpSignature([U64, U64], U64), parameters=["a", "b"], result=(a & b) + ((a ^ b) >> 1)
    )
    vyre.ops.register(spec)
    program = stored(vyre.call("test.mean64", [Expr.load("r0", 0), Expr.load("r0", 1)]) + 1, U64, U64)
    got = vyre.run(program, {"out": 1, "r0": np.array([M64, M64 - 2], np.uint64)}, (1, 1, 1), backend="reference")
    assert got["out"].tolist() == [M64]


def test_an_expression_that_two_statements_share_stays_one():
    shared = Expr.load("r0", 0) + Expr.load("r0", 1)
    buffers = [BufferDecl.read_write("out", 0, I32), BufferDecl.read("r0", 1, I32)]
    once = Program(buffers, (1, 1, 1), [Node.store("out", 0, shared), Node.store("out", 1, shared)])
    assert once.to_text().count("r0[0]") == 1


def test_an_unpickled_expression_is_resolved_where_it_is_used():
    for value, element in [(-(Expr.load("r0", 0) // -3) << 2, I32), (Expr.load("r1", 0) * 2**40 ^ 1, U64)]:
        again = pickle.loads(pickle.dumps(value))
        assert repr(again) == repr(value)
        assert stored(again, element, I32, U64) == stored(value, element, I32, U64)


def loads() -> dict[str, Expr]:
    return {kind: Expr.load(kind, 0) for kind in ("u32", "i32", "u64", "vec2", "vec4", "bool")}


DECLS = [
    BufferDecl.read(name, k + 1, kind)
    for k, (name, kind) in enumerate(
        {"u32": U32, "i32": I32, "u64": U64, "vec2": VEC2, "vec4": VEC4, "bool": BOOL}.items()
    )
]
BOTH = "cast one of them so that both have one type"
# (what is written, the problem and what to do, the same as code, the result's type)
MISTAKES = [
    (lambda v: v["u32"] + v["i32"], "operator `+` has operands `u32` and `i32`", BOTH, lambda v: v["u32"] + Expr.cast(U32, v["i32"]), U32),
    (lambda v: v["u64"] < v["u32"], "operator `<` has operands `u64` and `u32`", BOTH, lambda v: v["u64"] < Expr.cast(U64, v["u32"]), U32),
    (lambda v: v["vec2"] * v["vec4"], "operator `*` has operands `vec2<u32>` and `vec4<u32>`", BOTH, None, None),
    (lambda v: v["vec2"] == v["u32"], "operator `==` has operands `vec2<u32>` and `u32`", BOTH, None, None),
    (lambda v: v["bool"] & 2, "operator `&` has operands `bool` and `u32`", BOTH, lambda v: v["bool"] & Expr.cast(BOOL, 2), BOOL),
    (lambda v: v["u32"] + True, "operator `+` has operands `u32` and `bool`", BOTH, lambda v: v["u32"] + Expr.cast(U32, True), U32),
    (lambda v: v["vec2"] == v["vec2"], "operator `==` is not defined on `vec2<u32>`", "apply it to each lane, vyre.lane(x, 0) and the others", lambda v: vyre.lane(v["vec2"], 0) == vyre.lane(v["vec2"], 0), U32),
    (lambda v: vyre.rotl(v["i32"], 1), "operator `rotl` is not defined on `i32`", "write vyre.cast(vyre.u32, x) for each operand x", lambda v: vyre.rotl(vyre.cast(vyre.u32, v["i32"]), 1), U32),
    (lambda v: vyre.mulhi(v["vec2"], v["vec2"]), "operator `mulhi` is not defined on `vec2<u32>`", "apply it to each lane, vyre.lane(x, 0) and the others", lambda v: vyre.mulhi(vyre.lane(v["vec2"], 0), vyre.lane(v["vec2"], 1)), U32),
    (lambda v: vyre.min(v["i32"], 2**31), "literal 2147483648 does not fit `i32` (-2147483648 to 2147483647)", "write an integer of that range", lambda v: vyre.min(v["i32"], 2**31 - 1), I32),
    (lambda v: v["u64"] >> v["u64"], "amount of `>>` must be `u32`, got `u64`", "cast the amount to U32", lambda v: v["u64"] >> Expr.cast(U32, v["u64"]), U64),
    (lambda v: ~(v["i32"] < 0), "operator `~` flips the bits of a truth value", "use logical_not for the truth or bitnot for the bits", lambda v: vyre.logical_not(v["i32"] < 0), U32),
    (lambda v: ~((v["u64"] == 0) | (v["u32"] > 3)), "operator `~` flips the bits of a truth value", "use logical_not for the truth or bitnot for the bits", lambda v: vyre.bitnot((v["u64"] == 0) | (v["u32"] > 3)), U32),
    (lambda v: ~vyre.call("primitive.u64.lt", [v["u64"], 5]), "operator `~` flips the bits of a truth value", "use logical_not for the truth or bitnot for the bits", lambda v: vyre.logical_not(vyre.call("primitive.u64.lt", [v["u64"], 5])), U32),
]  # fmt: skip


@pytest.mark.parametrize(("write", "problem", "fix", "fixed", "element"), MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_is_said_at_the_operator_and_its_fix_works(write, problem, fix, fixed, element, target):
    line = write.__code__.co_firstlineno
    with pytest.raises(vyre.ValidationError) as error:
        Program([*DECLS, BufferDecl.read_write("out", 9, U32)], (1, 1, 1), [Node.store("out", 0, write(loads()))])
    assert [(d.rule, d.message, d.place.line) for d in error.value.diagnostics] == [
        ("V039", f"vyre IR validation: {problem}. Fix: {fix}.", line)
    ]
    if fixed is None:
        return
    # The Fix runs, and gives on every backend what it gives on the reference.
    program = Program(
        [*DECLS, BufferDecl.read_write("out", 9, element)], (1, 1, 1), [Node.store("out", 0, fixed(loads()))]
    )
    arrays = {"u32": np.array([7], np.uint32), "i32": np.array([-9], np.int32), "u64": np.array([2**40 + 5], np.uint64)}
    arrays |= {
        "vec2": np.array([[1, 2]], np.uint32),
        "vec4": np.array([[3, 4, 5, 6]], np.uint32),
        "bool": np.array([True]),
        "out": 1,
    }
    expected = vyre.run(program, arrays, (1, 1, 1), backend="reference")
    np.testing.assert_array_equal(vyre.run(program, arrays, (1, 1, 1), **target)["out"], expected["out"])


def test_all_mistakes_of_a_program_come_in_one_error():
    v = loads()
    with pytest.raises(vyre.ValidationError) as error:
        Program(
            [*DECLS, BufferDecl.read_write("out", 9, I32)],
            (1, 1, 1),
            [
                Node.store("out", 0, (v["u32"] + v["i32"]) * v["u64"]),
                Node.loop("k", 0, 4, [Node.store("out", Expr.var("k"), 2**31)]),
                Node.let("t", ~(v["i32"] > 1)),
            ],
        )
    # What follows from a mistake is not said again: the product of the wrong sum is no second one.
    assert [d.place.path for d in error.value.diagnostics] == [
        "entry[0].value.arguments[0]",
        "entry[1].body[0].value",
        "entry[2].value",
    ]


def test_an_operand_of_unknown_type_is_no_second_mistake():
    program = stored(Expr.var("nowhere") + Expr.load("missing", 0) * 3, U32)
    assert {d.rule for d in vyre.validate(program)} == {"V004", "V006"}


@pytest.mark.parametrize("make", [lambda: Node.let("x", -1), lambda: vyre.min(-1, 2)])
def test_a_negative_integer_alone_names_the_literal_of_i32(make):
    with pytest.raises(vyre.ArgumentError, match=r"pass an Expr, an integer from 0 to 4294967295 or a bool"):
        make()


METHODS = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
MIRRORED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
OTHERS = [load("b"), 0, 7, -1, 2**63, -(2**63), 2**64 - 1, 2**64, True, np.uint32(5), np.int64(-2), 1.5, ..., None, [1]]


@pytest.mark.parametrize("other", OTHERS, ids=[str(k) if k == 0 else repr(each) for k, each in enumerate(OTHERS)])
@pytest.mark.parametrize("name", METHODS)
def test_an_operator_does_what_its_method_does(name, other):
    def made(call) -> object:
        try:
            return vyre.Program([], 1, [Node.let("x", call())]).to_text()
        except (vyre.VyreError, TypeError) as error:
            return type(error), str(error)

    value = load("a")
    assert made(lambda: METHODS[name](value, other)) == made(lambda: getattr(value, f"__{name}__")(other))
    mirrored = f"__{MIRRORED[name]}__" if name in MIRRORED else f"__r{name}__"
    assert made(lambda: METHODS[name](other, value)) == made(lambda: getattr(value, mirrored)(other))


def test_an_integer_that_no_type_holds_is_refused_at_once():
    with refused(
        vyre.ArgumentError,
        "the right operand of `+` must be an Expr, a bool or an integer from -9223372036854775808 to "
        "18446744073709551615, got 18446744073709551616 (int)",
        "pass an Expr, a bool or an integer from -9223372036854775808 to 18446744073709551615",
    ):
        Expr.gid_x() + 2**64
