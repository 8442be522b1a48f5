"""Programs compiled for words of Uniform buffers: a call sees its own words, however often others came before."""

import numpy as np
import pytest

import vyre
from vyre import BufferDecl, DataType, Expr, Node, Program

INDEX = Expr.gid_x()
AT_ONCE = ["passes", "specialization"]
DATA = np.arange(640, dtype=np.uint32) * 5 + 7


# The loop has `rounds[1]` rounds; `turned[0]` turns the result round.
ROUNDS = Program(
    [
        BufferDecl.read_write("data", 0, vyre.u32),
        BufferDecl.uniform("rounds", 1, vyre.u32),
        BufferDecl.uniform("turned", 2, DataType.Bool),
    ],
    (64, 1, 1),
    [
        Node.let("x", Expr.load("data", INDEX)),
        Node.loop("k", 0, Expr.load("rounds", 1), [Node.assign("x", Expr.var("x") * 3 + Expr.var("k"))]),
        Node.if_(Expr.load("turned", 0), [Node.assign("x", ~Expr.var("x"))]),
        Node.store("data", INDEX, Expr.var("x")),
    ],
)


def after(data, rounds, turned=False):
    for k in range(rounds):
        data = data * np.uint32(3) + np.uint32(k)
    return ~data if turned else data


def arrays(place, data):
    """The arrays of a call that asks for two rounds."""
    return vyre.array(data, **place), vyre.array(np.uint32([0, 2]), **place), vyre.empty(1, bool, **place)


CALLS = [(3, False), (3, False), (0, False), (1, True), (40, False), (7, True), (3, False), (3, True), (1, True)]


@pytest.mark.parametrize("optimize", [None, True, False, AT_ONCE, [*AT_ONCE, "addresses"]])
def test_a_call_sees_what_the_host_wrote_last(place, optimize):
    data, rounds, turned = arrays(place, DATA)
    expected = DATA
    for words in CALLS:
        rounds[1:] = words[0]
        turned.write([words[1]])
        for _ in range(3):
            ROUNDS(data, rounds, turned, workgroups=10, optimize=optimize)
            expected = after(expected, *words)
    np.testing.assert_array_equal(data.numpy(), expected)


def test_many_calls_with_the_same_words_are_compiled_for_them(place):
    """Enough of them for every processor; what is compiled shows in a profile."""
    many = 1 << 16
    first = np.arange(many, dtype=np.uint32)
    data, rounds, turned = arrays(place, first)
    software = place["backend"] != "vulkan" or vyre.devices("vulkan")[place["device"]].kind == "software gpu"
    # 2^28 invocations make it worth while on a GPU, 2^20 on a processor.
    turns = 20 if software else 1 << 13
    expected = first
    with vyre.profile() as prof:
        with vyre.graph() as graph:
            ROUNDS(data, rounds, turned, workgroups=many // 64)
        graph.replay(turns)
        graph.replay()
        data.wait()
    for _ in range(turns + 1):
        expected = after(expected, 2)
    np.testing.assert_array_equal(data.numpy(), expected)
    # The reference runs what it is given, and CUDA compiles for the words of the host's arrays alone.
    wanted = [] if place["backend"] in ("reference", "cuda") else [1]
    assert [row.calls for row in prof.rows if row.name == "specialize"] == wanted


@pytest.mark.parametrize(
    ("element", "words", "value"),
    [
        (DataType.U32, np.uint32([1, 6]), lambda load: load),
        (DataType.I32, np.int32([-1, 6]), lambda load: Expr.cast(DataType.U32, load)),
        (DataType.U64, np.uint64([1, 6]), lambda load: Expr.lane(load, 0)),
        (DataType.Vec2U32, np.uint32([[1, 2], [5, 6]]), lambda load: Expr.lane(load, 1)),
        (DataType.Vec4U32, np.uint32([[1, 2, 3, 4], [5, 7, 6, 8]]), lambda load: Expr.lane(load, 2)),
        (DataType.Bool, np.array([False, True]), lambda load: Expr.cast(DataType.U32, load) * 6),
    ],
    ids=lambda it: str(it) if isinstance(it, DataType) else "",
)
def test_elements_of_every_type_may_decide(place, element, words, value):
    program = Program(
        [BufferDecl.uniform("n", 0, element), BufferDecl.output("out", 1, vyre.u32)],
        (64, 1, 1),
        [
            Node.loop("k", 0, value(Expr.load("n", 1)), [Node.store("out", INDEX, Expr.var("k") + 1)]),
            Node.store("out", INDEX + 64, INDEX // value(Expr.load("n", 1))),
        ],
    )
    out = vyre.run(program, {"n": words, "out": 128}, 1, **place, optimize=AT_ONCE)["out"]
    np.testing.assert_array_equal(out[:64], 6)
    np.testing.assert_array_equal(out[64:], np.arange(64) // 6)
