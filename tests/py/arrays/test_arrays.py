"""numpy arrays as buffers: what is taken, what comes back, what is refused (docs/semantics.md, The host)."""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from conftest import message
from programs import groups, xor
from vyre import BufferDecl, DataType, Expr, Node, Program
from wrong_calls import wrong_calls

U32 = DataType.U32
DTYPES = {
    DataType.U32: np.uint32,
    DataType.I32: np.int32,
    DataType.U64: np.uint64,
    DataType.Vec2U32: np.uint32,
    DataType.Vec4U32: np.uint32,
    DataType.Bool: np.bool_,
}
LANES = {DataType.Vec2U32: (2,), DataType.Vec4U32: (4,)}


def copier(element: DataType, access=BufferDecl.read) -> Program:
    """out[i] = data[i]."""
    i = Expr.gid_x()
    return Program(
        [access("data", 0, element), BufferDecl.output("out", 1, element)],
        (64, 1, 1),
        [Node.store("out", i, Expr.load("data", i))],
    )


def nothing(*buffers: BufferDecl) -> Program:
    return Program(list(buffers))


def run(program, inputs, workgroups=1, **options):
    return vyre.run(program, inputs, workgroups, backend="reference", **options)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (2, 3), (2, 0, 3), (2, 1, 3)])
@pytest.mark.parametrize("element", DTYPES, ids=lambda e: e.name)
def test_shape_and_dtype_come_back(element, shape, target, rng):
    shape = (*shape, *LANES.get(element, ()))
    raw = rng.integers(2**32, size=shape, dtype=np.uint32)
    data = np.asarray(raw % 2 if element is DataType.Bool else raw, dtype=DTYPES[element])
    out = np.zeros(shape, DTYPES[element])
    got = vyre.run(copier(element), {"data": data, "out": out}, groups(max(data.size, 1)), **target)
    assert list(got) == ["out"]
    assert got["out"].dtype == data.dtype
    assert got["out"].shape == data.shape
    np.testing.assert_array_equal(got["out"], data)
    assert not out.any()


def test_bool_as_uint32(target):
    data = np.array([0, 1, 2, 2**32 - 1], np.uint32)
    got = vyre.run(copier(DataType.Bool), {"data": data, "out": np.zeros(4, np.uint32)}, 1, **target)["out"]
    assert got.dtype == np.uint32
    assert got.tolist() == [0, 1, 1, 1]
    assert vyre.run(copier(DataType.Bool), {"data": data, "out": 4}, 1, **target)["out"].tolist() == [
        False,
        True,
        True,
        True,
    ]


def test_inputs_are_never_written(target):
    program = Program([BufferDecl.read_write("data", 0, U32)], (4, 1, 1), [Node.store("data", Expr.gid_x(), 9)])
    data = np.arange(4, dtype=np.uint32)
    data.flags.writeable = False
    got = vyre.run(program, {"data": data}, 1, **target)["data"]
    assert data.tolist() == [0, 1, 2, 3]
    assert got.tolist() == [9, 9, 9, 9]
    assert got.flags.writeable
    assert not np.shares_memory(got, data)


def test_a_number_is_that_many_zero_elements():
    elements = dict.fromkeys(DTYPES, 3)
    for element, n in elements.items():
        got = run(nothing(BufferDecl.read_write("x", 0, element)), {"x": n})["x"]
        assert got.shape == (n, *LANES.get(element, ()))
        assert got.dtype == DTYPES[element]
        assert not got.any()
    assert run(nothing(BufferDecl.read_write("x", 0, U32)), {"x": np.int64(2)})["x"].tolist() == [0, 0]
    assert run(nothing(BufferDecl.read_write("x", 0, U32)), {"x": 0})["x"].shape == (0,)


def test_a_counted_read_write_buffer_may_be_left_out():
    assert run(nothing(BufferDecl.read_write("x", 0, U32, count=3)), {})["x"].tolist() == [0, 0, 0]


def test_bytes_buffers():
    program = nothing(BufferDecl.read_write("x", 0, DataType.Bytes))
    for given in (b"abcde", np.frombuffer(b"abcde", np.uint8)):
        got = run(program, {"x": given})["x"]
        assert got.dtype == np.uint8
        assert got.tobytes() == b"abcde"


def test_array_subclasses_and_unaligned_arrays():
    raw = np.zeros(17, np.uint8)
    raw[1:] = np.arange(4, dtype=np.uint32).view(np.uint8)
    unaligned = raw[1:].view(np.uint32)
    assert not unaligned.flags.aligned
    got = run(copier(U32), {"data": unaligned, "out": 4})["out"]
    assert got.tolist() == [0, 1, 2, 3]


READ = nothing(BufferDecl.read("data", 0, U32))
WRITE = nothing(BufferDecl.read_write("data", 0, U32))
VEC2 = nothing(BufferDecl.read("data", 0, DataType.Vec2U32))
BOOL = nothing(BufferDecl.read("data", 0, DataType.Bool))
BYTES = nothing(BufferDecl.read("data", 0, DataType.Bytes))
COUNTED = nothing(BufferDecl.read("data", 0, U32, count=4))
UNIFORM = nothing(BufferDecl.uniform("data", 0, U32))


def test_workgroup_memory_has_no_array():
    program = nothing(BufferDecl.workgroup("tile", 4, U32))
    with pytest.raises(vyre.BindingError, match="buffer `tile` is workgroup memory, which has no array"):
        run(program, {"tile": 4})


def test_overlapping_arrays_are_refused_when_one_is_written(target):
    memory = np.arange(8, dtype=np.uint32)
    program = copier(U32)
    assert message(
        lambda: vyre.run(program, {"data": memory[:5], "out": memory[4:]}, 1, **target), vyre.BindingError
    ) == (
        "arrays `data` and `out` overlap in memory, and one of them is written. "
        "Fix: give each its own array, for instance a copy."
    )
    vyre.run(program, {"data": memory[:5], "out": memory[4:].copy()}, 1, **target)
    vyre.run(program, {"data": memory[:4], "out": memory[4:]}, 1, **target)
    vyre.run(program, {"data": memory[:4], "out": memory[2:2]}, 1, **target)
    same = np.arange(3, dtype=np.uint32)
    assert not vyre.run(xor(), {"in0": same, "in1": same, "out": 3}, 1, **target)["out"].any()


def test_nothing_is_half_written_after_an_error():
    data = np.arange(4, dtype=np.uint32)
    program = nothing(BufferDecl.read_write("data", 0, U32), BufferDecl.read("other", 1, U32))
    with pytest.raises(vyre.BindingError):
        run(program, {"data": data, "other": [1]})
    assert data.tolist() == [0, 1, 2, 3]


def test_pack_bytes():
    assert vyre.pack_bytes(b"").shape == (0,)
    assert vyre.pack_bytes(b"abcde").tolist() == [0x64636261, 0x65]
    for data in (bytearray(b"abc"), memoryview(b"abc"), np.frombuffer(b"abc", np.uint8)):
        assert vyre.unpack_bytes(vyre.pack_bytes(data), 3) == b"abc"
        assert vyre.unpack_bytes(vyre.pack_bytes(data), 4) == b"abc\0"
    for wrong in ("abc", [1], np.zeros(3)):
        with pytest.raises(vyre.ArgumentError, match=r"argument `data` of pack_bytes must be .* Fix: "):
            vyre.pack_bytes(wrong)
    with pytest.raises(vyre.ArgumentError, match="argument `length` of unpack_bytes"):
        vyre.unpack_bytes(np.zeros(1, np.uint32), 5)
    with pytest.raises(vyre.ArgumentError, match="argument `words` of unpack_bytes"):
        vyre.unpack_bytes(b"abc")


def test_two_buffers_given_by_their_lengths_do_not_overlap(target):
    """Seen: the zeros of the first were freed before the second's were made in the same place."""
    declarations = [BufferDecl.read_write(f"out{k}", k, U32) for k in range(4)]
    out = vyre.run(nothing(*declarations), {f"out{k}": 512 for k in range(4)}, 1, **target)
    assert not any(array.any() for array in out.values())


test_exact_message = wrong_calls("arrays", globals())
