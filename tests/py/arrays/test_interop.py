"""Arrays of other libraries as arguments, and vyre's arrays as theirs: DLPack, pyarrow, and numpy's protocols."""

# ruff: noqa: E501  (messages stand whole)
from __future__ import annotations

import gc
import os
import subprocess
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pyarrow
import pytest

import vyre
from conftest import message, problem
from dlpack_producer import Tensor
from vyre import BufferDecl, Expr, In, InOut, Node, Out, Program, u32

ROOT = Path(__file__).parents[3]
X = np.arange(12, dtype=np.uint32)
HOSTS = ["cpu", "reference"]


@vyre.kernel
def doubled(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    y[i] = x[i] * 2


@vyre.kernel
def add(x: InOut[u32], n: u32):
    x[vyre.gid(0)] += n


@vyre.kernel
def both(x: In[u32], y: InOut[u32], z: Out[u32]):
    i = vyre.gid(0)
    z[i] = x[i] + y[i]
    y[i] = 7


ADD = Program(
    [BufferDecl.read("a", 0, u32), BufferDecl.output("out", 1, u32)],
    (4, 1, 1),
    [Node.store("out", Expr.gid_x(), Expr.load("a", Expr.gid_x()) + 1)],
)


# --- in ---

FORMS = {
    "before 1.0": {"version": None},
    "1.0": {},
    "1.1": {"version": (1, 1)},
    "without strides": {"strides": False},
    "byte offset": {"offset": 64},
    "read-only": {"read_only": True},
    "pinned for CUDA": {"device": (3, 0)},
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_tensor_is_read(place, form):
    def tensor():
        return Tensor(X.copy(), **FORMS[form])

    assert doubled(tensor(), **place).tolist() == (X * 2).tolist()
    assert vyre.run(ADD, {"a": tensor(), "out": 12}, 3, **place)["out"].tolist() == (X + 1).tolist()
    assert vyre.array(tensor(), **place).numpy().tolist() == X.tolist()


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (3, 4), (1,)])
@pytest.mark.parametrize("dtype", ["uint32", "int32", "uint64", "uint8", "int8", "uint16", "int16", "bool"])
def test_every_dtype_and_shape_is_read(dtype, shape):
    values = np.arange(12)[: int(np.prod(shape))].astype(dtype).reshape(shape)
    array = vyre.array(Tensor(values), backend="cpu")
    assert (array.dtype, array.shape) == (values.dtype, shape)
    np.testing.assert_array_equal(array.numpy(), values)


def test_a_call_is_done_with_a_tensor_when_it_ends():
    tensors = [Tensor(X.copy(), version) for version in (None, (1, 0))]
    for tensor in tensors:
        doubled(tensor, backend="cpu")
        vyre.array(tensor, backend="cpu")
        vyre.run(ADD, {"a": tensor, "out": 12}, 3, backend="cpu")
    gc.collect()
    assert [tensor.deleted for tensor in tensors] == [3, 3]


@pytest.mark.parametrize("steps", [slice(None, None, 2), slice(None, None, -1)])
def test_strided_tensors_are_copied_by_array_and_refused_by_calls(steps):
    tensor = Tensor(X[steps])
    assert vyre.array(tensor, backend="cpu").numpy().tolist() == X[steps].tolist()
    assert "C-contiguous" in message(lambda: doubled(tensor, backend="cpu"), vyre.BindingError)


def test_an_axis_that_repeats_one_element_is_read():
    assert vyre.array(Tensor(np.broadcast_to(X[3:4], (5,))), backend="cpu").numpy().tolist() == [3] * 5


def test_what_is_written_is_written_into_the_memory_of_the_tensor(place):
    values = X.copy()
    tensor = Tensor(values)
    assert add(tensor, 5, **place) is tensor
    assert values.tolist() == (X + 5).tolist()
    out = Tensor(np.ones(12, np.uint32))
    assert doubled(X, y=out, **place) is out
    assert out.values.tolist() == (X * 2).tolist()
    y = Tensor(X.copy())
    first, second = both(X, y, **place)
    assert first is y
    assert type(second) is np.ndarray
    assert (y.values.tolist(), second.tolist()) == ([7] * 12, (X * 2).tolist())


def test_tensors_stand_beside_resident_arrays(place):
    resident = vyre.array(X, **place)
    tensor = Tensor(X.copy())
    first, second = both(tensor, resident)
    assert first is resident
    assert second.numpy().tolist() == (X * 2).tolist()
    out = Tensor(np.zeros(12, np.uint32))
    assert doubled(resident, y=out) is out
    assert out.values.tolist() == [14] * 12


@pytest.mark.parametrize("form", ["read-only", "before 1.0"])
def test_a_tensor_that_may_not_be_written_is_refused_where_it_would_be(form):
    """numpy takes a tensor without flags for one that may not be written."""
    tensor = Tensor(X.copy(), **FORMS[form])
    if np.from_dlpack(tensor).flags.writeable:
        pytest.fail("this numpy lets it be written: the kernel may write it too")
    assert message(lambda: add(tensor, 5, backend="cpu"), vyre.BindingError) == (
        "argument `x` of kernel `add` is written, and the array is read-only. Fix: pass a writable, C-contiguous array."
    )
    assert tensor.values.tolist() == X.tolist()


@pytest.mark.parametrize(
    ("device", "name"),
    [
        ((2, 1), "a CUDA device (number 1)"),
        ((7, 0), "a Vulkan device (number 0)"),
        ((10, 3), "a ROCm device (number 3)"),
        ((14, 0), "a oneAPI device (number 0)"),
        ((99, 0), "a device of DLPack's type 99 (number 0)"),
    ],
)
def test_memory_that_the_host_does_not_read_is_named(device, name):
    tensor = Tensor(X, device=device)
    rest = f"must be an array in memory of the host, got one on {name}. Fix: pass an array in memory of the host."
    assert message(lambda: vyre.array(tensor), vyre.ArgumentError) == f"argument `values` of vyre.array {rest}"
    assert message(lambda: doubled(tensor), vyre.BindingError) == f"argument `x` of kernel `doubled` {rest}"
    assert message(lambda: vyre.run(ADD, {"a": tensor, "out": 12}, 3), vyre.BindingError) == f"buffer 'a' {rest}"


def test_torchs_own_way_to_the_host_is_told():
    kind = type("Tensor", (Tensor,), {"__module__": "torch"})
    assert message(lambda: doubled(kind(X, device=(2, 0))), vyre.BindingError).endswith(
        "Fix: pass an array in memory of the host."
    )


def test_dtypes_are_never_converted():
    assert message(lambda: doubled(Tensor(X.astype(np.int64))), vyre.BindingError) == (
        "argument `x` of kernel `doubled` must be an array of uint32, got one of int64. Fix: pass an array of uint32."
    )
    assert vyre.array(Tensor(X.astype(np.int64)), dtype=u32, backend="cpu").dtype == np.uint32
    assert "integers" in message(lambda: vyre.array(Tensor(X.astype(np.float32)), dtype=u32), vyre.ArgumentError)


class Raising(Tensor):
    def __init__(self, error, where="__dlpack__"):
        super().__init__(X)
        self.error, self.where = error, where

    def __dlpack__(self, **asked):
        raise self.error

    def __dlpack_device__(self):
        if self.where == "__dlpack_device__":
            raise self.error
        return super().__dlpack_device__()


@pytest.mark.parametrize(
    "error", [BufferError("no."), RuntimeError("it needs a gradient"), KeyError("x"), ValueError()]
)
def test_whatever_a_producer_raises_is_a_typed_error(error):
    said = str(error).rstrip(".") or "ValueError"
    for call, kind, where in [
        (vyre.array, vyre.ArgumentError, "argument `values` of vyre.array"),
        (doubled, vyre.BindingError, "argument `x` of kernel `doubled`"),
    ]:
        fix = "Fix: pass a numpy array of its elements."
        assert (
            message(lambda call=call: call(Raising(error)), kind)
            == f"{where} cannot be read through DLPack: {said}. {fix}"
        )
        assert message(lambda call=call: call(Raising(error, "__dlpack_device__")), kind) == (
            f"{where} cannot be read through DLPack: it does not say on which device it lies: {said}. {fix}"
        )


@pytest.mark.parametrize(
    "wrong", [{"version": (2, 0)}, {"lanes": 4}, {"dtype": (4, 16)}, {"dtype": (1, 128)}, {"dtype": (5, 64)}], ids=str
)
def test_what_numpy_cannot_hold_is_a_typed_error(wrong):
    found = message(lambda: doubled(Tensor(X.copy(), **wrong)), vyre.BindingError)
    assert found.startswith("argument `x` of kernel `doubled` ")
    assert " Fix: " in found


# --- out ---


def test_a_resident_array_on_the_host_is_shared_by_from_dlpack_and_by_asarray_where_that_is_asked_for():
    for backend in HOSTS:
        array = vyre.array(X, backend=backend)
        shared, uncopied = (
            np.from_dlpack(array),
            np.asarray(array, copy=False) if NUMPY_2 else array.__array__(copy=False),
        )
        assert np.shares_memory(shared, uncopied)
        uncopied[0] = 99
        add(array, 1)
        assert shared[:3].tolist() == array.numpy()[:3].tolist() == [100, 2, 3]
        part = array[4:8].__array__(copy=False)
        assert np.shares_memory(part, shared)
        assert array.__array__(np.uint32, copy=False).dtype == np.uint32
        assert np.shares_memory(array.__array__(copy=np.False_), shared)


NUMPY_2 = int(np.__version__.partition(".")[0]) >= 2


def test_asarray_is_a_copy_on_every_backend(place):
    """So that a program means the same on each: what was taken before a call stays as it was."""
    array = vyre.array(X, **place)
    before, as_floats = np.asarray(array), np.asarray(array, np.float64)
    add(array, 1)
    assert before.tolist() == as_floats.tolist() == X.tolist()
    assert array.numpy().tolist() == (X + 1).tolist()


def test_a_copy_that_is_forbidden_and_needed_is_refused(place):
    array = vyre.array(X, **place)
    assert problem(lambda: array.__array__(np.uint64, copy=False), vyre.ArgumentError) == (
        "elements of uint32 are no elements of uint64 without a copy."
    )
    truths = vyre.array(X > 3, **place)
    assert message(lambda: truths.__array__(copy=False), vyre.ArgumentError).endswith("Fix: leave out copy=False.")
    if place["backend"] == "vulkan":
        assert message(lambda: array.__array__(copy=False), vyre.ArgumentError).endswith(
            "lies in its device's memory, which the host does not share. Fix: leave out copy=False."
        )
        with pytest.raises(BufferError):
            array.__dlpack__(copy=False)


# --- other libraries ---


def test_pyarrow():
    column = pyarrow.array([1, 2, 3, 4], pyarrow.uint32())
    assert doubled(column[1:], backend="cpu").tolist() == [4, 6, 8]
    assert vyre.array(column, backend="cpu").numpy().tolist() == [1, 2, 3, 4]
    assert vyre.run(ADD, {"a": column, "out": 4}, 1, backend="cpu")["out"].tolist() == [2, 3, 4, 5]
    assert "read-only" in message(lambda: add(column, 1, backend="cpu"), vyre.BindingError)
    assert problem(lambda: doubled(pyarrow.array([1, None], pyarrow.uint32())), vyre.BindingError) == (
        "argument `x` of kernel `doubled` cannot be read through DLPack: Can only use DLPack on arrays with no nulls."
    )
    back = pyarrow.array(np.from_dlpack(vyre.array([5, 6], dtype=u32, backend="cpu")))
    assert back.to_pylist() == [5, 6]


@vyre.procedure
def doubled_and_added(x: In[u32], y: InOut[u32], n: u32):
    a = vyre.scratch(u32, x.length)
    doubled(x, a)
    add(y, n)
    return a


def test_a_call_of_a_procedure_reads_and_writes_other_libraries_memory(place):
    y = Tensor(X.copy())
    assert doubled_and_added(Tensor(X), y, 3, **place).tolist() == (X * 2).tolist()
    assert y.values.tolist() == (X + 3).tolist()
    given = {"x": Tensor(X), "y": y, "n": 1}
    assert vyre.run(doubled_and_added.procedure, given, **place)["y"].tolist() == (X + 4).tolist()
    assert y.values.tolist() == (X + 3).tolist()  # vyre.run never writes its inputs
    assert doubled_and_added.check(Tensor(X), y, 3).outputs["y"].tolist() == (X + 6).tolist()


@vyre.procedure
def added(x: InOut[u32], n: u32):
    add(x, n)
    return x


def test_what_a_procedure_changes_comes_back_as_it_was_given():
    x = Tensor(X.copy())
    assert added(x, 3) is x
    assert x.values.tolist() == (X + 3).tolist()


@vyre.procedure
def two(x: In[u32]):
    a, b = vyre.scratch(u32, x.length), vyre.scratch(u32, x.length)
    doubled(x, a)
    doubled(a, b)
    return b, a


@pytest.mark.parametrize("form", ["1.0", "pinned for CUDA"])
def test_out_is_written_and_comes_back_as_it_was_given(place, form):
    first, second = Tensor(np.zeros(12, np.uint32), **FORMS[form]), np.zeros(12, np.uint32)
    b, a = two(X, out=(second, first), **place)
    assert (b is second, a is first) == (True, True)
    assert (first.values.tolist(), second.tolist()) == ((X * 2).tolist(), (X * 4).tolist())
    other = Tensor(np.zeros(12, np.uint32))
    result, made = two(vyre.array(X, **place), out=(None, other))
    assert made is other
    assert (other.values.tolist(), result.numpy().tolist()) == ((X * 2).tolist(), (X * 4).tolist())
    assert doubled(X, out=other, **place) is other
    assert other.values.tolist() == (X * 2).tolist()


def test_out_is_refused_where_it_cannot_be_written():
    fix = "Fix: pass a writable, C-contiguous array."
    where = "argument `out` of procedure `two`"
    column = pyarrow.array([0] * 12, pyarrow.uint32())
    assert message(lambda: two(X, out=(None, column)), vyre.BindingError) == (
        f"{where} is written, and the array is read-only. {fix}"
    )
    assert message(lambda: two(X, out=(None, Tensor(X, device=(2, 1)))), vyre.BindingError).startswith(
        f"{where} must be an array in memory of the host, got one on a CUDA device (number 1). Fix: "
    )
    shared = np.zeros(12, np.uint32)
    assert "overlap in memory" in message(lambda: two(X, out=(Tensor(shared), Tensor(shared))), vyre.BindingError)
    assert message(lambda: two(X, out=(None, Tensor(np.zeros(3, np.uint32)))), vyre.ArgumentError).startswith(
        f"{where} must be an array of uint32 with shape (12,) for "
    )


def test_a_procedure_refuses_what_it_cannot_read_or_write():
    column = pyarrow.array([1, 2, 3, 4], pyarrow.uint32())
    assert message(lambda: added(column, 1), vyre.BindingError) == (
        "argument `x` of procedure `added` is written, and the array is read-only. Fix: pass a writable, C-contiguous array."
    )
    assert added(np.array(column), 1).tolist() == [2, 3, 4, 5]
    assert problem(lambda: added(Tensor(X, device=(2, 1)), 1), vyre.BindingError) == (
        "argument `x` of procedure `added` must be an array in memory of the host, got one on a CUDA device (number 1)."
    )


def test_all_that_takes_inputs_by_name_takes_other_libraries_arrays():
    def inputs():
        return {"a": Tensor(X), "out": 12}

    expected = (X + 1).tolist()
    assert vyre.run(ADD, MappingProxyType(inputs()), 3)["out"].tolist() == expected
    assert vyre.run(ADD, inputs(), 3, check="all")["out"].tolist() == expected
    assert vyre.check(ADD, inputs(), 3).outputs["out"].tolist() == expected
    assert vyre.repeat(ADD, inputs(), 3, times=2, backend="cpu").ok
    assert vyre.bisect(ADD, inputs(), 3, backend="cpu") is None
    assert vyre.to_html(ADD, inputs(), 3) == vyre.to_html(ADD, {"a": X, "out": 12}, 3)


@pytest.mark.slow
def test_jax():
    """In a Python of its own, because jax is large. (torch has no small wheel; the producer here does what it does.)"""
    python = ROOT / "build" / "interop" / "bin" / "python"
    assert python.exists(), "jax is not here. Fix: .ci/setup interop"
    done = subprocess.run(
        [python, ROOT / "tests" / "py" / "jax_exchange.py"],
        env={**os.environ, "PYTHONPATH": str(Path(vyre.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.stdout.splitlines()[-1:], done.returncode) == (["exchanged"], 0), done.stderr
    assert "exchanged on cpu" in done.stdout
