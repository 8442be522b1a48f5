"""Arrays that stay on a device: on every backend and device here, the bytes are those of vyre.run."""

import gc
import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

import vyre
from conftest import message
from threads import in_threads
from vyre import BufferDecl, DataType, Expr, Node, Program, _core
from wrong_calls import wrong_calls

INDEX = Expr.gid_x()
SPEEDUPS = [name for name, _ in _core._tables["speedups"]]


def xor_program():
    return Program(
        [BufferDecl.read("a", 0, vyre.u32), BufferDecl.read("b", 1, vyre.u32), BufferDecl.output("c", 2, vyre.u32)],
        (64, 1, 1),
        [Node.store("c", INDEX, Expr.load("a", INDEX) ^ Expr.load("b", INDEX))],
    )


def add_program(element=vyre.u32, one=1):
    return Program(
        [BufferDecl.read_write("data", 0, element)],
        (64, 1, 1),
        [Node.store("data", INDEX, Expr.load("data", INDEX) + one)],
    )


A = np.arange(1000, dtype=np.uint32) * 3 + 7
B = np.arange(1000, dtype=np.uint32) * 5 + 1


@pytest.mark.parametrize("guarded", [False, True])
def test_every_combination_of_what_lowering_does_for_speed_gives_the_same_bytes(place, guarded):
    stored = Node.store("c", INDEX, Expr.load("a", INDEX) ^ Expr.load("b", INDEX))
    entry = [Node.if_(INDEX < Expr.buf_len("c"), [stored])] if guarded else [stored]
    program = Program(xor_program().buffers, (64, 1, 1), entry)
    a, b = vyre.array(A, **place), vyre.array(B, **place)
    for groups in (16, 19, 15, 4, 3):
        expected = A ^ B
        expected[groups * 64 :] = 0
        for count in range(len(SPEEDUPS) + 1):
            for names in itertools.combinations(SPEEDUPS, count):
                out = vyre.empty(1000, **place)
                assert program(a, b, out, workgroups=groups, optimize=names) is out
                np.testing.assert_array_equal(out.numpy(), expected, str((groups, names)))
        for switch in (True, False, None):
            out = vyre.empty(1000, **place)
            np.testing.assert_array_equal(program(a, b, out, workgroups=groups, optimize=switch).numpy(), expected)


def test_what_lowering_does_for_speed_has_names(place):
    a, b, out = vyre.array(A, **place), vyre.array(B, **place), vyre.empty(1000, **place)
    with pytest.raises(vyre.ArgumentError) as error:
        xor_program()(a, b, out, workgroups=16, optimize=["fast"])
    assert str(error.value).startswith(
        "an element of argument `optimize` of a Program's call must be one of "
        '"passes", "proofs", "coarsening", "straightening", "specialization", "compilation", "narrow", '
        '"addresses", got '
    )


@pytest.mark.parametrize("dtype", [np.uint32, np.int32, np.uint64, np.bool_, np.uint8])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (3, 5), (2, 0, 4), (2, 3, 4)])
def test_an_array_gives_back_what_it_was_made_of(place, dtype, shape):
    values = (np.arange(np.prod(shape, dtype=int)) % 3).astype(dtype).reshape(shape)
    array = vyre.array(values, **place)
    assert (array.shape, array.dtype, array.ndim, array.size, array.nbytes) == (
        values.shape,
        values.dtype,
        values.ndim,
        values.size,
        values.nbytes,
    )
    for got in (array.numpy(), np.asarray(array), np.array(array), np.from_dlpack(array)):
        assert got.dtype == values.dtype
        assert got.shape == values.shape
        np.testing.assert_array_equal(got, values)
    assert np.asarray(array, dtype=np.float64).dtype == np.float64
    np.testing.assert_array_equal(vyre.empty(shape, dtype, **place).numpy(), np.zeros(shape, dtype))


@pytest.mark.parametrize("dtype", [np.uint32, np.int16, np.uint64, np.bool_, np.uint8])
@pytest.mark.parametrize("size", [0, 1, 2, 7, 1000])
def test_the_bytes_of_an_array_are_those_of_what_it_was_made_of(place, dtype, size):
    values = (np.arange(size) % 3).astype(dtype)
    array = vyre.array(values, **place)
    assert array.tobytes() == values.tobytes()
    assert array[size // 3 :].tobytes(timeout=60) == values[size // 3 :].tobytes()


def test_bytes_of_many_megabytes_are_whole_and_wait_for_the_calls_before_them(place):
    values = np.arange(3 << 20, dtype=np.uint32)
    data = vyre.array(values, **place)
    add_program()(data, workgroups=len(values) // 64)
    assert data.tobytes() == (values + np.uint32(1)).tobytes()


def test_a_graph_records_no_reading_of_bytes():
    array = vyre.empty(4, backend="cpu")
    with vyre.graph():
        told = message(array.tobytes, vyre.ArgumentError)
        assert told == message(array.numpy, vyre.ArgumentError).replace("Array.numpy", "Array.tobytes")


def test_a_program_called_with_arrays_gives_the_bytes_of_run(place):
    program = xor_program()
    a, b, c = vyre.array(A, **place), vyre.array(B, **place), vyre.empty(1000, **place)
    assert program(a, b, c, workgroups=16) is c
    np.testing.assert_array_equal(c.numpy(), A ^ B)
    by_name = vyre.empty(1000, **place)
    assert program(a, c=by_name, b=b, workgroups=(16, 1, 1)) is by_name
    np.testing.assert_array_equal(by_name.numpy(), A ^ B)
    np.testing.assert_array_equal(a.numpy(), A)


def test_a_resident_array_of_another_length_than_declared_is_refused(place):
    """On every way to a device: indices below the declared count have no bounds checks there."""
    program = Program(
        [BufferDecl.read("a", 0, vyre.u32, count=4), BufferDecl.output("out", 1, vyre.u32, count=4)],
        (4, 1, 1),
        [Node.store("out", INDEX, Expr.load("a", 3))],
    )
    made = {length: vyre.array(np.arange(length, dtype=np.uint32), **place) for length in (3, 4, 5)}
    out = vyre.array(np.zeros(4, np.uint32), **place)
    program(made[4], out, workgroups=1)
    assert out.numpy().tolist() == [3] * 4
    for length in (3, 5):
        wanted = f"buffer `a` is declared with exactly 4 elements, got {length}. Fix: give an array of 4 elements."
        assert message(lambda length=length: program(made[length], out, workgroups=1), vyre.BindingError) == wanted
        assert (
            message(
                lambda length=length: vyre.run(program, {"a": made[length], "out": out}, 1, **place), vyre.BindingError
            )
            == wanted
        )
        with pytest.raises(vyre.BindingError) as refused, vyre.graph():
            program(made[length], out, workgroups=1)
        assert str(refused.value) == wanted


def test_calls_see_what_the_calls_before_them_wrote(place):
    program = add_program()
    data = vyre.array(A, **place)
    for _ in range(200):
        program(data, workgroups=16)
    np.testing.assert_array_equal(data.numpy(), A + 200)
    data.write(B)
    program(data, workgroups=16)
    np.testing.assert_array_equal(data.numpy(), B + 1)


def test_several_written_arrays_come_back_in_the_order_of_the_buffers(place):
    program = Program(
        [BufferDecl.read_write("x", 0, vyre.u32), BufferDecl.read_write("y", 1, vyre.u32)],
        (1, 1, 1),
        [Node.store("x", 0, 1), Node.store("y", 0, 2)],
    )
    x, y = vyre.empty(1, **place), vyre.empty(1, **place)
    results = program(y=y, x=x, workgroups=1)
    assert results[0] is x
    assert results[1] is y
    assert (x.numpy()[0], y.numpy()[0]) == (1, 2)


def test_a_slice_shares_its_arrays_memory_wherever_it_begins(place):
    program = add_program()
    whole = vyre.array(A, **place)
    expected = A.copy()
    for first, last in [(0, 1000), (1, 999), (3, 67), (64, 128), (500, 501), (10, 10), (-5, None), (None, 7)]:
        part = whole[first:last]
        expected[first:last] += 1
        assert part.shape == expected[first:last].shape
        program(part, workgroups=16)
        np.testing.assert_array_equal(part.numpy(), expected[first:last])
    np.testing.assert_array_equal(whole.numpy(), expected)
    whole[2:5] = [7, 8, 9]
    whole[5:9] = 1
    expected[2:5], expected[5:9] = [7, 8, 9], 1
    np.testing.assert_array_equal(whole[1:][1:8].numpy(), expected[2:9])
    np.testing.assert_array_equal(whole.numpy(), expected)
    rows = vyre.array(A.reshape(100, 10), **place)
    np.testing.assert_array_equal(rows[3:5].numpy(), A.reshape(100, 10)[3:5])
    with pytest.raises(vyre.BindingError, match="overlap in memory"):
        xor_program()(whole[0:10], whole[10:20], whole[5:15], workgroups=1)


def test_slices_of_one_array_that_only_touch_are_different_arrays(place):
    whole = vyre.array(A, **place)
    xor_program()(whole[0:10], whole[0:10], whole[10:20], workgroups=1)
    np.testing.assert_array_equal(whole.numpy(), np.concatenate([A[:10], np.zeros(10, np.uint32), A[20:]]))


def run_outputs(program, inputs, place):
    return vyre.run(program, inputs, 1, **place)


def check_outputs(program, inputs, place):
    return vyre.check(program, inputs, 1).outputs


@pytest.mark.parametrize("outputs_of", [run_outputs, check_outputs])
class TestResidentArraysAsInputsByName:
    """They are copied for the call, so it is their places on the device that say which of them overlap."""

    REFUSED = (
        "arrays `a` and `b` overlap in memory, and one of them is written. "
        "Fix: give each its own array, for instance a copy."
    )
    ADD_ONE = (Node.store("a", INDEX, Expr.load("b", INDEX) + 1),)
    INTO_A = Program([BufferDecl.read_write("a", 0, vyre.u32), BufferDecl.read("b", 1, vyre.u32)], (4, 1, 1), ADD_ONE)

    @pytest.mark.parametrize("access", [BufferDecl.read, BufferDecl.read_write])
    @pytest.mark.parametrize("length", [4, 64, 4096, 1 << 20])
    def test_separate_arrays_of_one_size_do_not_overlap(self, place, outputs_of, length, access):
        program = Program([BufferDecl.read_write("a", 0, vyre.u32), access("b", 1, vyre.u32)], (4, 1, 1), self.ADD_ONE)
        ones = np.ones(length, np.uint32)
        inputs = {"a": vyre.array(ones, **place), "b": vyre.array(ones * 7, **place)}
        outputs = outputs_of(program, inputs, place)
        np.testing.assert_array_equal(outputs["a"], np.concatenate([[8] * 4, ones[4:]]))
        if access == BufferDecl.read_write:
            np.testing.assert_array_equal(outputs["b"], ones * 7)
        np.testing.assert_array_equal(inputs["a"].numpy(), ones)

    def test_an_array_that_is_given_twice_is_refused_if_one_buffer_is_written(self, place, outputs_of):
        array = vyre.array(A[:64], **place)
        inputs = {"a": array, "b": array}
        assert message(lambda: outputs_of(self.INTO_A, inputs, place), vyre.BindingError) == self.REFUSED
        assert not outputs_of(xor_program(), {**inputs, "c": vyre.empty(64, **place)}, place)["c"].any()

    def test_views_of_one_array_are_refused_if_they_share_a_byte(self, place, outputs_of):
        whole = vyre.array(A, **place)
        same_element = whole.view(vyre.u8)[28:60].view(vyre.u32)
        for a, b in ((whole[:8], whole[7:15]), (whole[7:15], whole[:8]), (whole[:8], same_element)):
            refused = message(lambda a=a, b=b: outputs_of(self.INTO_A, {"a": a, "b": b}, place), vyre.BindingError)
            assert refused == self.REFUSED
        for a, b in ((0, 8), (8, 0), (0, 32)):
            outputs = outputs_of(self.INTO_A, {"a": whole[a : a + 8], "b": whole[b : b + 8]}, place)
            assert outputs["a"].tolist() == [*(A[b : b + 4] + 1), *A[a + 4 : a + 8]]
        assert outputs_of(self.INTO_A, {"a": whole[4:4], "b": whole[:8]}, place)["a"].size == 0


@pytest.mark.parametrize(
    ("element", "values"),
    [
        (DataType.I32, np.array([-3, 0, 2**31 - 1], np.int32)),
        (DataType.U64, np.array([2**64 - 1, 0, 5], np.uint64)),
        (DataType.Vec2U32, np.array([[1, 2], [3, 4]], np.uint32)),
        (DataType.Vec4U32, np.arange(12, dtype=np.uint32).reshape(3, 4)),
        (DataType.Bool, np.array([True, False, True])),
        (DataType.Bool, np.array([1, 0, 7], np.uint32)),
    ],
    ids=str,
)
def test_every_element_type_crosses_as_for_run(place, element, values):
    copy = Program(
        [BufferDecl.read("a", 0, element), BufferDecl.output("b", 1, element)],
        (8, 1, 1),
        [Node.store("b", INDEX, Expr.load("a", INDEX))],
    )
    wanted = vyre.run(copy, {"a": values, "b": np.zeros_like(values)}, 1, backend="reference")["b"]
    got = copy(vyre.array(values, **place), vyre.array(np.zeros_like(values), **place), workgroups=1).numpy()
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)


def test_run_takes_arrays_too_and_writes_none_of_them(place):
    a, c = vyre.array(A, **place), vyre.empty(1000, **place)
    out = vyre.run(xor_program(), {"a": a, "b": B, "c": c}, 16, backend="reference")["c"]
    np.testing.assert_array_equal(out, A ^ B)
    np.testing.assert_array_equal(c.numpy(), np.zeros(1000, np.uint32))


def test_a_call_planned_once_is_not_mistaken_for_another(place):
    program = add_program()
    arrays = [vyre.array(A, **place) for _ in range(40)]
    for _ in range(3):
        for array in arrays:
            program(array, workgroups=16)
            program(array[:64], workgroups=1)
            program(array, workgroups=1)
    for array in arrays:
        np.testing.assert_array_equal(array.numpy(), A + np.where(np.arange(1000) < 64, 9, 3).astype(np.uint32))


def test_memory_that_comes_back_serves_arrays_of_another_type(place):
    values = np.arange(64, dtype=np.uint32)
    for _ in range(5):
        data = vyre.array(values, **place)
        add_program()(data, workgroups=1)
        np.testing.assert_array_equal(data.numpy(), values + 1)
        del data
        signed = vyre.array(values.astype(np.int32), **place)
        with pytest.raises(vyre.BindingError, match=r"wants a vyre\.Array of uint32, got a vyre\.Array of int32"):
            add_program()(signed, workgroups=1)
        del signed
        gc.collect()


def test_arrays_may_go_while_the_device_works_with_them(place):
    program = xor_program()
    a = vyre.array(np.arange(100_000, dtype=np.uint32), **place)
    for _ in range(30):
        b = vyre.array(np.full(100_000, 5, np.uint32), **place)
        c = program(a, b, vyre.empty(100_000, **place), workgroups=1563)
        del b
    np.testing.assert_array_equal(c.numpy(), np.arange(100_000, dtype=np.uint32) ^ 5)


def test_threads_that_add_to_one_array_lose_nothing(place):
    program = Program(
        [BufferDecl.read_write("sum", 0, vyre.u32)], (64, 1, 1), [Node.let("old", vyre.atomic_add("sum", 0, 1))]
    )
    total = vyre.empty(1, **place)
    in_threads(lambda _: [program(total, workgroups=2) for _ in range(25)], range(8))
    assert total.numpy()[0] == 8 * 25 * 128


def test_mistakes_are_told():
    program = xor_program()
    a, b, c = (vyre.empty(4, backend="cpu") for _ in range(3))
    for wrong in ({"workgroup": 1}, {"optimize": True, "workgroup": 1}, {"workgroups": 1, "workgroup": 1}):
        assert message(lambda wrong=wrong: program(a, b, c, **wrong), vyre.CallError) == (
            "a Program's call has no argument `workgroup` (did you mean `workgroups`?). "
            "Fix: write workgroups= in place of workgroup=."
        )
    named = vyre.parse("vyre 1\nworkgroup_size 1 1 1\nbuffer workgroup: read_write u32 binding 0\n\nworkgroup[0] = 7\n")
    assert named(workgroup=vyre.empty(1, backend="cpu"), workgroups=1).numpy().tolist() == [7]
    assert message(lambda: named(workgroup=a), vyre.ArgumentError).startswith(
        "a Program's call needs argument `workgroups`: "
    )
    assert message(lambda: a[::2], vyre.ArgumentError) == (
        "a slice of a vyre.Array has the step 2, and a part of an array has its elements side by side. "
        "Fix: leave the step out, or slice array.numpy(), which is a copy on the host."
    )
    assert a.numpy()[::2].size == -(-len(a) // 2)
    invalid = Program([BufferDecl.output("x", 0, vyre.u32)], (0, 1, 1), [])
    with pytest.raises(vyre.ValidationError):
        invalid(a, workgroups=1)
    # Nothing of this has changed them.
    for array in (a, b, c):
        np.testing.assert_array_equal(array.numpy(), np.zeros(4, np.uint32))


def test_a_device_that_does_not_exist_is_told():
    assert "does not exist" in message(lambda: vyre.empty(3, backend="cpu", device=1), vyre.ArgumentError)
    with pytest.raises(vyre.ArgumentError):
        vyre.empty(3, backend="vulkan", device=1000)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_is_told_and_ends_without_harm(place):
    array = vyre.array(A, **place)
    add_program()(array, workgroups=16)
    array.wait()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            if place["device"] is not None:
                try:
                    array.numpy()
                except vyre.DeviceError as error:
                    code = 0 if "forked" in str(error) else 2
            else:
                code = 0 if np.array_equal(array.numpy(), A + 1) else 3
            del array
        finally:
            sys.stdout.flush()
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    np.testing.assert_array_equal(array.numpy(), A + 1)


def test_a_process_may_end_while_nobody_has_read_what_its_calls_wrote(place):
    text = (
        "import vyre\n"
        "from vyre import BufferDecl, Expr, Node, Program\n"
        "i = Expr.gid_x()\n"
        "rounds = [Node.loop('k', 0, 2000, [Node.store('data', i, Expr.load('data', i) + 1)])]\n"
        "program = Program([BufferDecl.read_write('data', 0, vyre.u32)], (64, 1, 1), rounds)\n"
        f"data = vyre.empty(65536, backend={place['backend']!r}, device={place['device']!r})\n"
        "for _ in range(3 if data.backend == 'vulkan' else 1):\n"
        "    program(data, workgroups=1024 if data.backend == 'vulkan' else 1)\n"
        "print('said', end='')\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "said", "")


@pytest.mark.skipif(sys.platform == "win32", reason="the call is ended by a signal")
@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_bytes_of_a_failed_array_are_refused_even_where_there_are_none(backend):
    script = f"""
import signal
import vyre
from vyre import BufferDecl, Expr, Node, Program
rounds = [Node.store("data", Expr.gid_x(), Expr.var("j"))]
for name in "jk":
    rounds = [Node.loop(name, 0, 2**31 - 1, rounds)]
program = Program([BufferDecl.read_write("data", 0, vyre.u32)], (1, 1, 1), rounds)
data = vyre.empty(4, backend={backend!r})
def end(*_):
    raise InterruptedError
signal.signal(signal.SIGALRM, end)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    program(data, workgroups=4)
except InterruptedError:
    print("ended")
for part in (data, data[2:2]):
    for read in (part.numpy, part.tobytes):
        try:
            print(read())
        except KeyboardInterrupt as error:
            print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    told = done.stdout.splitlines()
    assert (done.returncode, told[0]) == (0, "ended"), done.stderr
    assert told[1:] == 4 * ["the call was interrupted. Fix: run it again, or give it a time-out."]


def test_values_are_made_anew_after_a_call_failed_on_its_device():
    """A value that was kept from before may lie on a device that is gone, where its caller cannot make it anew."""
    script = """
import resource
import numpy as np
import vyre
from vyre import BufferDecl, Expr, Node, Program
tile = BufferDecl.workgroup("tile", 1 << 24, vyre.u32)
# The index keeps the memory of the workgroup in use.
i = Expr.gid_x()
entry = [Node.store("tile", Expr.load("n", 0), 1), Node.barrier(), Node.store("out", i, Expr.load("tile", i))]
program = Program([BufferDecl.uniform("n", 0, vyre.u32), BufferDecl.output("out", 1, vyre.u32), tile], (4, 1, 1), entry)
out = vyre.empty(4, backend="cpu")
def uploads():
    with vyre.profile() as prof:
        program(2, out, workgroups=1)
    return sum(row.calls for row in prof.rows if row.name == "upload")
print(uploads(), uploads())
# Memory that was given back is kept for arrays of its size.
held = [vyre.array(np.zeros((1 << 24) + more, np.uint32), backend="cpu") for more in (0, 1, 1 << 19)]
used = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 20), resource.RLIM_INFINITY))
try:
    program(2, out, workgroups=1)
except vyre.DeviceMemoryError:
    print("no memory")
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
out = vyre.empty(4, backend="cpu")
print(uploads(), uploads(), out.numpy().tolist())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "1 0\nno memory\n1 0 [0, 0, 1, 0]\n"), done.stderr


test_wrong_calls_are_told = wrong_calls("resident", globals())
