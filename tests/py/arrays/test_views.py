"""Arrays seen as another type: the same bytes, as numpy's view gives them, wherever an array is taken."""

import itertools

import numpy as np
import pytest

import vyre
from conftest import message
from vyre import BufferDecl, DataType, Expr, In, InOut, Node, Out, Program, u32, u64, vec4u32
from wrong_calls import wrong_calls

INDEX = Expr.gid_x()
WORDS = (np.arange(48, dtype=np.uint32) * 0x9E3779B9).astype(np.uint32)
# The types that have views: numpy's dtype, and the lanes of a vector.
TYPES = {
    DataType.U32: (np.uint32, ()),
    DataType.I32: (np.int32, ()),
    DataType.U64: (np.uint64, ()),
    DataType.Vec2U32: (np.uint32, (2,)),
    DataType.Vec4U32: (np.uint32, (4,)),
    DataType.U8: (np.uint8, ()),
    DataType.I8: (np.int8, ()),
    DataType.U16: (np.uint16, ()),
    DataType.I16: (np.int16, ()),
}


def seen(array, type):
    """The view that numpy gives."""
    dtype, lanes = TYPES[type]
    return np.ascontiguousarray(array).reshape(-1).view(dtype).reshape(-1, *lanes)


def same(array, wanted):
    assert (array.dtype, array.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_array_equal(array.numpy(), wanted)


def test_every_type_is_seen_as_every_other(place):
    array = vyre.array(WORDS, **place)
    for one, other in itertools.product(TYPES, TYPES):
        same(array.view(one).view(other), seen(WORDS, other))
    same(array[:0].view(DataType.Vec4U32), np.zeros((0, 4), np.uint32))
    rows = vyre.array(WORDS.reshape(4, 12), **place)
    same(rows.view(DataType.Vec4U32), WORDS.reshape(12, 4))
    same(rows[2].view(DataType.U64), WORDS[24:36].view(np.uint64))
    same(vyre.array(WORDS.view(np.uint8), **place).view(DataType.U64), WORDS.view(np.uint64))


def test_slices_of_views_of_slices_lie_where_numpy_finds_them(place):
    array = vyre.array(WORDS, **place)
    same(array[4:44].view(DataType.U64)[2:-1].view(DataType.U32)[1:7], WORDS[9:15])
    same(array[4:44].view(DataType.Vec4U32)[3:5].view(DataType.U64), WORDS[16:24].view(np.uint64))
    same(array[8:][4:12].view(DataType.Vec2U32), WORDS[12:20].reshape(-1, 2))
    assert int(array.view(DataType.U64)[3]) == int(WORDS.view(np.uint64)[3])


def test_what_one_is_written_the_other_shows(place):
    array = vyre.array(WORDS, **place)
    host = WORDS.copy()
    view = array[2:10].view(DataType.U64)
    view.write([2**63, 1, 2, 3])
    host[2:10] = np.array([2**63, 1, 2, 3], np.uint64).view(np.uint32)
    array.view(DataType.Vec4U32)[5] = [9, 8, 7, 6]
    host[20:24] = [9, 8, 7, 6]
    array.view(DataType.I32)[0:1] = -1
    host[0] = 2**32 - 1
    same(array, host)
    same(view, host[2:10].view(np.uint64))


def test_a_view_outlives_the_array_that_it_was_made_of(place):
    view = vyre.array(WORDS, **place)[4:].view(DataType.U64)
    for _ in range(20):
        vyre.array(np.zeros(48, np.uint32), **place)  # what takes the memory, were it free
    same(view, WORDS[4:].view(np.uint64))
    same(vyre.array(view, **place), WORDS[4:].view(np.uint64))


ADD_LANES = Program(
    [
        BufferDecl.read("vectors", 0, vyre.vec4u32),
        BufferDecl.read("words", 1, vyre.u32),
        BufferDecl.read_write("sums", 2, vyre.u64),
    ],
    (8, 1, 1),
    [
        Node.let("v", Expr.load("vectors", INDEX)),
        Node.store(
            "sums",
            INDEX,
            Expr.cast(vyre.u64, Expr.load("words", INDEX)) + Expr.cast(vyre.u64, Expr.lane(Expr.var("v"), 3)),
        ),
    ],
)


@pytest.mark.parametrize("first", [0, 4, 8])
def test_a_program_may_bind_two_views_of_one_array_that_it_only_reads(place, first):
    array, out = vyre.array(WORDS, **place), vyre.empty(16, **place)
    part = array[first : first + 32]
    assert ADD_LANES(part.view(DataType.Vec4U32), part, out.view(DataType.U64), workgroups=1).dtype == np.uint64
    sums = WORDS[first : first + 8].astype(np.uint64) + WORDS[first + 3 : first + 35 : 4][:8].astype(np.uint64)
    same(out, sums.view(np.uint32))
    with vyre.graph() as graph:
        ADD_LANES(part.view(DataType.Vec4U32), part, out.view(DataType.U64), workgroups=1)
    array.write(WORDS[::-1])
    graph.replay()
    back = np.ascontiguousarray(WORDS[::-1])
    sums = back[first : first + 8].astype(np.uint64) + back[first + 3 : first + 35 : 4][:8].astype(np.uint64)
    same(out, sums.view(np.uint32))


def test_views_overlap_as_slices_do(place):
    array = vyre.array(WORDS, **place)
    said = (
        "arrays `{}` and `sums` overlap in memory, and one of them is written. "
        "Fix: give each its own array, for instance a copy."
    )
    vectors, words, sums = array.view(DataType.Vec4U32), array, array.view(DataType.U64)
    assert message(lambda: ADD_LANES(vectors[:4], words[40:], sums[6:14], workgroups=1), vyre.BindingError) == (
        said.format("vectors")
    )
    assert message(lambda: ADD_LANES(vectors[:4], words[15:17], sums[8:], workgroups=1), vyre.BindingError) == (
        said.format("words")
    )
    ADD_LANES(vectors[:4], words[:16], sums[8:16], workgroups=1)
    host = WORDS.copy()
    three = np.concatenate([WORDS[3:16:4], np.zeros(4, np.uint32)])
    host[16:32] = (WORDS[:8].astype(np.uint64) + three.astype(np.uint64)).view(np.uint32)
    same(array, host)


@vyre.kernel
def halves(wide: In[u64], vectors: In[vec4u32], low: Out[u32], total: InOut[u64]):
    i = vyre.gid(0)
    if i < len(wide):
        low[i] = wide[i].lo ^ vectors[i].y
        total[i] = total[i] + wide[i]


def test_kernels_and_their_plans_take_views(place):
    array = vyre.array(WORDS, **place)
    out, total = vyre.empty(10, **place), vyre.empty(20, **place)
    wide, vectors = array[2:18].view(u64), array[8:].view(vec4u32)
    host = np.zeros(10, np.uint64)
    for _ in range(3):  # the first call makes the plan that the others take
        halves(wide, vectors, out[2:], total.view(u64))
        host[:8] += WORDS[2:18].view(np.uint64)
        same(total, host.view(np.uint32))
        same(out[2:], WORDS[2:18:2] ^ WORDS[9:41:4])
    target = vyre.empty(6, np.uint64, **place)
    halves(wide, vectors, out=target.view(u32)[4:], total=total.view(u64))
    same(target[2:].view(u32), WORDS[2:18:2] ^ WORDS[9:41:4])


def test_numpy_and_dlpack_read_views(place):
    array = vyre.array(WORDS, **place)
    view = array[2:].view(DataType.U64)
    np.testing.assert_array_equal(np.asarray(view), WORDS[2:].view(np.uint64))
    np.testing.assert_array_equal(np.from_dlpack(view), WORDS[2:].view(np.uint64))
    if place["backend"] != "vulkan":
        shared = np.from_dlpack(array[4:].view(DataType.Vec4U32))
        array[5] = 77
        assert shared[0, 1] == 77


def test_a_grid_may_be_a_view(place):
    counts = vyre.array(np.array([2 | 1 << 32, 1], np.uint64), **place)
    data = vyre.empty(8, **place)
    add_one = Program(
        [BufferDecl.read_write("data", 0, vyre.u32)],
        (1, 1, 1),
        [Node.store("data", INDEX, Expr.load("data", INDEX) + 1)],
    )
    add_one(data, workgroups=counts.view(vyre.u32)[0:3], at_most=8)
    same(data, np.array([1, 1, 0, 0, 0, 0, 0, 0], np.uint32))


def test_what_no_whole_number_of_elements_fits_is_refused():
    array = vyre.array(WORDS, backend="cpu")
    data = vyre.array(bytes(range(16)), backend="cpu")
    same(array[:2].view(DataType.Vec2U32), WORDS[None, :2])
    same(array[2:6].view(DataType.U64), WORDS[2:6].view(np.uint64))
    same(data[:4].view(DataType.U32), np.arange(4, dtype=np.uint8).view(np.uint32))


def test_bool_and_bytes_have_no_views():
    array, truths = vyre.array(WORDS, backend="cpu"), vyre.array(np.array([True, False]), backend="cpu")
    for type in (DataType.U32, DataType.Bool):
        assert message(lambda type=type: truths.view(type), vyre.BindingError).startswith(
            f"a vyre.Array of bool with shape (2,) has no view as `{type.name.lower()}`: what a bool is on the "
            "device is "
            "not what it is in numpy. Fix: convert array.numpy(), and pass that to vyre.array."
        )
    keep = Program(
        [BufferDecl.read("flags", 0, vyre.boolean), BufferDecl.read_write("out", 1, vyre.u32)],
        (1, 1, 1),
        [Node.store("out", INDEX, Expr.select(Expr.load("flags", INDEX), 5, 6))],
    )
    out = vyre.empty(2, backend="cpu")
    keep(vyre.array(np.array([0, 1], np.int32), backend="cpu").view(vyre.u32), out, workgroups=2)
    same(out, np.array([6, 5], np.uint32))
    same(vyre.array(truths.numpy().astype(np.uint32), backend="cpu").view(vyre.u64), np.array([1], np.uint64))
    same(vyre.array(array.numpy().view(np.uint8), backend="cpu"), WORDS.view(np.uint8))


def test_what_is_no_type_is_refused():
    array = vyre.array(WORDS, backend="cpu")
    for wrong in (np.float32, ">u4", "u32", 0, None):
        with pytest.raises(vyre.ArgumentError, match="argument `dtype` of Array"):
            array.view(wrong)


@pytest.mark.parametrize("dtype", ["uint32", "int32", "uint64", "uint8", "int8", "uint16", "int16"])
def test_a_view_takes_the_dtypes_of_numpy(dtype):
    array = vyre.array(WORDS, backend="cpu")
    for spelled in (dtype, np.dtype(dtype), getattr(np, dtype)):
        same(array.view(spelled), WORDS.view(dtype))


test_wrong_calls_are_told = wrong_calls("views", globals())
