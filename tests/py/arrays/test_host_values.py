"""Numbers and shapes in an array's place: a Uniform buffer's value, a ReadWrite buffer's zeros, refused for all others."""

# ruff: noqa: E501  (messages stand whole)
from __future__ import annotations

import json

import numpy as np
import pytest

import vyre
from conftest import message
from vyre import BufferDecl, DataType, Expr, Node, Program
from wrong_calls import wrong_calls

I = Expr.gid_x()  # noqa: E741
DTYPES = {DataType.U32: np.uint32, DataType.I32: np.int32, DataType.U64: np.uint64, DataType.Bool: np.bool_}


def spread(element: DataType, count: int = 0) -> Program:
    """out[i] = n[0]."""
    return Program(
        [BufferDecl.uniform("n", 0, element, count=count), BufferDecl.output("out", 1, element)],
        (4, 1, 1),
        [Node.store("out", I, Expr.load("n", 0))],
    )


def filler(element: DataType = DataType.U32) -> Program:
    return Program([BufferDecl.read_write("out", 0, element)], (64, 1, 1), [])


VALUES = [
    (DataType.U32, 7),
    (DataType.U32, 2**32 - 1),
    (DataType.U32, np.int8(7)),
    (DataType.U32, np.uint64(7)),
    (DataType.I32, -7),
    (DataType.I32, np.int64(-(2**31))),
    (DataType.U64, 2**64 - 1),
    (DataType.U64, np.uint8(200)),
    (DataType.Bool, True),
    (DataType.Bool, np.bool_(True)),
    (DataType.Bool, False),
]


@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.parametrize(("element", "value"), VALUES, ids=str)
def test_a_number_for_a_uniform_buffer_is_its_value(target, element, value, count):
    program = spread(element, count)
    wanted = np.full(4, value, DTYPES[element])
    got = vyre.run(program, {"n": value, "out": 4}, 1, **target)["out"]
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(
        vyre.run(program, {"n": np.array([value], DTYPES[element]), "out": 4}, 1, **target)["out"], wanted
    )


@pytest.mark.parametrize(("element", "value"), VALUES, ids=str)
def test_a_number_is_the_value_in_a_call_with_resident_arrays(place, element, value):
    program = spread(element)
    out = vyre.empty(4, DTYPES[element], **place)
    assert program(value, out, workgroups=1) is out
    np.testing.assert_array_equal(out.numpy(), np.full(4, value, DTYPES[element]))
    made = program(n=value, out=4, workgroups=1)
    assert isinstance(made, vyre.Array)
    np.testing.assert_array_equal(made.numpy(), np.full(4, value, DTYPES[element]))


def test_values_that_change_from_call_to_call_are_each_calls_own(place):
    i = Expr.gid_x()
    add = Program(
        [BufferDecl.uniform("n", 0, vyre.u32), BufferDecl.read_write("sum", 1, vyre.u32)],
        (64, 1, 1),
        [Node.store("sum", i, Expr.load("sum", i) * 3 + Expr.load("n", 0))],
    )
    total, wanted = vyre.empty(1000, **place), np.zeros(1000, np.uint32)
    for n in [*range(40), *range(40), 5, 5, 5]:
        add(n, total, workgroups=16)
        wanted = wanted * np.uint32(3) + np.uint32(n)
    np.testing.assert_array_equal(total.numpy(), wanted)


def test_a_graph_keeps_the_values_that_it_was_recorded_with(place):
    add = Program(
        [BufferDecl.uniform("n", 0, vyre.u32), BufferDecl.read_write("sum", 1, vyre.u32)],
        (64, 1, 1),
        [Node.store("sum", I, Expr.load("sum", I) + Expr.load("n", 0))],
    )
    total = vyre.empty(64, **place)
    with vyre.graph() as graph:
        add(3, total, workgroups=1)
        add(4, total, workgroups=1)
        with pytest.raises(vyre.BindingError) as error:
            add(3, 64, workgroups=1)
    for n in range(100, 140):  # other values do not take their place
        add(n, vyre.empty(64, **place), workgroups=1)
    graph.replay(5)
    np.testing.assert_array_equal(total.numpy(), np.full(64, 35, np.uint32))
    assert str(error.value) == (
        "buffer `sum` (u32) wants a vyre.Array in a graph, whose replays go on with what is in it, got 64 (int). "
        "Fix: pass a vyre.Array in a graph, whose replays go on with what is in it."
    )


@pytest.mark.parametrize("shape", [(), (0,), (5,), (8, 8), (2, 3, 4), (np.int64(2), 3)])
def test_a_shape_for_a_read_write_buffer_is_zeros_of_that_shape(target, shape):
    for element, dtype in DTYPES.items():
        got = vyre.run(filler(element), {"out": shape}, 1, **target)["out"]
        assert (got.shape, got.dtype) == (shape, dtype)
        assert not got.any()
    got = vyre.run(filler(DataType.Vec2U32), {"out": shape}, 1, **target)["out"]
    assert got.shape == (*shape, 2)


def test_a_shape_in_a_call_with_resident_arrays(place):
    copy = Program(
        [BufferDecl.read("a", 0, vyre.vec2u32), BufferDecl.output("out", 1, vyre.vec2u32)],
        (8, 1, 1),
        [Node.store("out", I, Expr.load("a", I))],
    )
    values = np.arange(12, dtype=np.uint32).reshape(2, 3, 2)
    out = copy(vyre.array(values, **place), (2, 3), workgroups=1)
    assert out.shape == (2, 3, 2)
    np.testing.assert_array_equal(out.numpy(), values)


def test_check_bisect_and_replay_take_numbers_as_run_does(tmp_path):
    program = Program(
        [
            BufferDecl.uniform("n", 0, vyre.u32),
            BufferDecl.uniform("up", 1, DataType.Bool),
            BufferDecl.read_write("out", 2, vyre.u32),
        ],
        (4, 1, 1),
        [Node.store("out", I, Expr.load("out", I) + Expr.select(Expr.load("up", 0), Expr.load("n", 0), 0))],
    )
    inputs = {"n": np.uint8(7), "up": True, "out": (2, 2)}
    wanted = np.full((2, 2), 7, np.uint32)
    np.testing.assert_array_equal(vyre.run(program, inputs, 1, backend="reference")["out"], wanted)
    result = vyre.check(program, inputs, 1)
    np.testing.assert_array_equal(result.outputs["out"], wanted)
    assert [type(report).__name__ for report in result.reports] == ["UninitialisedReadReport"]
    assert vyre.bisect(program, inputs, 1, backend="cpu") is None
    result.save(tmp_path / "run.json")
    written = json.loads((tmp_path / "run.json").read_text())["inputs"]
    assert written == {"n": {"value": 7}, "up": {"value": True}, "out": {"zeros": [2, 2]}}
    again = vyre.replay(tmp_path / "run.json")
    np.testing.assert_array_equal(again.outputs["out"], wanted)
    assert again.reports == result.reports


def test_a_replay_file_keeps_what_resident_arrays_held(tmp_path):
    program = Program(
        [BufferDecl.read_write("out", 0, vyre.u32)], (4, 1, 1), [Node.store("out", I, Expr.load("out", I) + 1)]
    )
    data = vyre.array([1, 2, 3, 4], dtype=vyre.u32, backend="cpu")
    vyre.check(program, {"out": data}, 1).save(tmp_path / "run.json")
    assert vyre.replay(tmp_path / "run.json").outputs["out"].tolist() == [2, 3, 4, 5]


@pytest.mark.parametrize(
    "value",
    [[0.5], {"value": 1.5}, {"value": "7"}, {"value": 2**64}, {"value": None}, {"zeros": [1.5]}, {"zeros": [-1]}],
)
def test_a_replay_file_with_another_number_is_refused(tmp_path, value):
    vyre.check(spread(DataType.U64), {"n": 7, "out": 4}, 1).save(tmp_path / "run.json")
    content = json.loads((tmp_path / "run.json").read_text())
    content["inputs"]["n"] = value
    (tmp_path / "run.json").write_text(json.dumps(content))
    with pytest.raises(vyre.ParseError):
        vyre.replay(tmp_path / "run.json")


UNIFORM = "buffer `n` (u32) wants an integer from 0 to 4294967295, or a numpy array of uint32, got"
READ = "buffer `n` (u32) wants a numpy array of uint32, got"


def told(decl, value):
    """Raises what vyre.run says to an array of a program with this buffer alone, as vyre.check and vyre.bisect do."""
    program = Program([decl])
    for call in (
        lambda: vyre.check(program, {"n": value}, 1),
        lambda: vyre.bisect(program, {"n": value}, 1, backend="cpu"),
    ):
        told = message(lambda: vyre.run(program, {"n": value}, 1, backend="reference"), vyre.BindingError)
        assert message(call, vyre.BindingError) == told
    vyre.run(program, {"n": value}, 1, backend="reference")


RESIDENT = "buffer `n` (u32) wants an integer from 0 to 4294967295, or a vyre.Array, got"


def test_numbers_that_stand_for_no_array_are_refused_in_a_call_with_resident_arrays():
    program = Program([BufferDecl.read("a", 0, vyre.u32), BufferDecl.uniform("n", 1, vyre.u32)])
    a = vyre.empty(4, backend="cpu")
    for values, wanted in [
        ((7, 7), "buffer `a` (u32) wants a vyre.Array, got 7 (int). Fix: pass a vyre.Array."),
        (
            ([1, 2], 7),
            "buffer `a` (u32) wants a vyre.Array, got an object of type list. Fix: pass a vyre.Array.",
        ),
        ((a, -1), f"{RESIDENT} -1 (int). Fix: pass an integer from 0 to 4294967295, or a vyre.Array."),
    ]:
        assert message(lambda values=values: program(*values, workgroups=1), vyre.BindingError) == wanted


class Raising(np.int32):
    """An integer of the user's, whose value cannot be asked for."""

    def __index__(self):
        raise ZeroDivisionError("of the user's own")


@pytest.mark.parametrize(
    "call",
    [
        lambda number, program, a: vyre.Expr.i32(number),
        lambda number, program, a: vyre.Expr.u32(number),
        lambda number, program, a: vyre.Expr.gid_x() + number,
        lambda number, program, a: number - vyre.Expr.gid_x(),
        lambda number, program, a: vyre.Expr.load("a", number),
        lambda number, program, a: vyre.Node.loop("k", 0, number, []),
        lambda number, program, a: Program(workgroup_size=(number, 1, 1)),
        lambda number, program, a: vyre.run(program, {"a": a, "n": number, "out": 4}, 1),
        lambda number, program, a: vyre.run(program, {"a": a, "n": 1, "out": number}, 1),
        lambda number, program, a: vyre.run(program, {"a": a, "n": 1, "out": (number, 1)}, 1),
        lambda number, program, a: vyre.run(program, {"a": a, "n": 1, "out": 4}, number),
        lambda number, program, a: program(vyre.array(a), number, 4, workgroups=1),
        lambda number, program, a: vyre.array(a)[number],
    ],
)
def test_what_a_number_of_the_users_raises_is_what_the_call_raises(call):
    buffers = [
        BufferDecl.read("a", 0, vyre.u32),
        BufferDecl.uniform("n", 1, vyre.u32),
        BufferDecl.output("out", 2, vyre.u32),
    ]
    with pytest.raises(ZeroDivisionError, match="of the user's own"):
        call(Raising(3), Program(buffers), np.arange(4, dtype=np.uint32))


LIMITS = {vyre.u32: (0, 2**32 - 1), vyre.i32: (-(2**31), 2**31 - 1), vyre.u64: (0, 2**64 - 1)}


@pytest.mark.parametrize("element", LIMITS, ids=lambda element: element.name)
def test_a_uniform_buffer_takes_the_numbers_of_its_element_and_no_others(element):
    low, high = LIMITS[element]
    for number in (low, low + 1, 0, 1, high - 1, high):
        assert vyre.run(spread(element), {"n": number, "out": 1}, 1)["out"].tolist() == [number]
    for number in (low - 1, high + 1, -(2**63) - 1, 2**64, -(2**64), 2**100):
        assert message(
            lambda number=number: vyre.run(spread(element), {"n": number, "out": 1}, 1), vyre.BindingError
        ) == (
            f"buffer `n` ({element.name.lower()}) wants an integer from {low} to {high}, "
            f"or a numpy array of {np.dtype(DTYPES[element])}, got {number} (int). "
            f"Fix: pass an integer from {low} to {high}, or a numpy array of {np.dtype(DTYPES[element])}."
        )


test_exact_message = wrong_calls("host_values", globals())
