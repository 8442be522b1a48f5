"""Arrays of other libraries on CUDA devices: what is taken, what is refused, and what vyre's own arrays say.

Where backend `cuda` works, arrays of CuPy and torch go in and come out where they lie.
"""

from __future__ import annotations

import importlib.util
import weakref

import numpy as np
import pytest

import vyre
from vyre._cuda import speaks_cuda, take

HAS_CUDA = "cuda" in vyre.backends()
CONTIGUOUS = "Fix: pass a contiguous copy, as x.contiguous() or x.copy() gives."


class Foreign:
    """What another library's array says of itself."""

    def __init__(self, **said):
        self._said = {"shape": (4,), "typestr": "<u4", "data": (0x1000, False), "version": 3, "stream": None, **said}

    @property
    def __cuda_array_interface__(self):
        return self._said


class OnHost:
    @property
    def __cuda_array_interface__(self):
        raise AttributeError("a tensor on the host")


@vyre.kernel
def add_one(a: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]):
    i = vyre.gid(0)
    if i < len(out):
        out[i] = a[i] + 1


def test_an_array_is_asked_and_not_its_class():
    assert speaks_cuda(Foreign())
    for other in (OnHost(), np.zeros(3), np.uint32(3), vyre.array([1], vyre.u32, backend="cpu"), [1], 3, "x", None):
        assert not speaks_cuda(other), other


@pytest.mark.parametrize(
    ("said", "written", "message"),
    [
        ({"strides": (8,)}, False, f"is not C-contiguous. {CONTIGUOUS}"),
        ({"shape": (2, 2), "strides": (4, 8)}, False, f"is not C-contiguous. {CONTIGUOUS}"),
        ({"data": (1, True)}, True, "is read-only, and the call writes it. Fix: pass a copy that may be written."),
        ({"mask": object()}, False, "has a mask. Fix: pass an array without one."),
    ],
)
def test_what_cannot_be_taken_is_refused_with_what_to_write(said, written, message):
    with pytest.raises(vyre.BindingError) as refused:
        take(Foreign(**said), "argument `a` of kernel `f`", vyre.BindingError, written=written)
    assert str(refused.value) == f"argument `a` of kernel `f` {message}"


@pytest.mark.skipif(HAS_CUDA, reason="says what is missing where backend `cuda` is")
def test_without_cuda_a_call_says_why():
    reason = vyre.backends().unavailable()["cuda"][0]
    for call in (lambda: add_one(Foreign()), lambda: vyre.array(Foreign())):
        with pytest.raises(vyre.VyreError) as refused:
            call()
        assert str(refused.value).endswith(f"lies on a CUDA device: {reason}")


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_an_array_elsewhere_has_no_interface(backend):
    array = vyre.array(np.arange(3, dtype=np.uint32), backend=backend)
    assert not hasattr(array, "__cuda_array_interface__")


@pytest.mark.skipif(not HAS_CUDA, reason="needs backend `cuda`")
class TestOnDevice:
    def test_an_array_says_where_it_lies(self):
        array = vyre.array(np.arange(12, dtype=np.uint32).reshape(3, 4), backend="cuda")
        said = array.__cuda_array_interface__
        assert said["shape"] == (3, 4)
        assert said["typestr"] == "<u4"
        assert array[1:].__cuda_array_interface__["data"][0] == said["data"][0] + 16
        assert not hasattr(vyre.array(np.zeros(2, bool), backend="cuda"), "__cuda_array_interface__")

    def test_an_array_goes_back_once_the_device_is_done_with_it(self):
        array = vyre.array(np.arange(4, dtype=np.uint32), backend="cuda")
        theirs = Foreign(**array.__cuda_array_interface__)
        gone = weakref.ref(theirs)
        made = add_one(theirs)
        del theirs
        assert made.numpy().tolist() == [1, 2, 3, 4]
        add_one(array).wait()
        assert gone() is None

    @pytest.mark.parametrize("library", ["cupy", "torch"])
    def test_arrays_go_in_and_come_out_where_they_lie(self, library):
        if importlib.util.find_spec(library) is None:
            pytest.skip(f"{library} is not here")
        module = pytest.importorskip(library)
        for turn in range(200):
            n = 1 + 997 * turn % 50_000
            if library == "cupy":
                theirs, out = module.arange(n, dtype=np.uint32) * 3 + turn, module.empty(n, np.uint32)
            else:
                counted = module.arange(n, dtype=module.int64, device="cuda") * 3 + turn
                theirs = counted.to(module.int32).view(module.uint32)
                out = module.zeros(n, dtype=module.int32, device="cuda").view(module.uint32)
            host = (lambda x: x.get()) if library == "cupy" else (lambda x: x.cpu().numpy())
            expected = (np.arange(n, dtype=np.uint32) * 3 + turn) + np.uint32(1)
            made = add_one(theirs)
            assert isinstance(made, vyre.Array)
            assert made.backend == "cuda"
            assert np.array_equal(made.numpy(), expected)
            assert add_one(theirs, out) is out
            assert np.array_equal(host(out), expected)
            given = module.asarray(made) if library == "cupy" else module.as_tensor(made, device="cuda")
            assert np.array_equal(host(given), expected)
            pointer = given.data.ptr if library == "cupy" else given.data_ptr()
            assert pointer == made.__cuda_array_interface__["data"][0], "no copy"
            del made
            assert np.array_equal(host(given), expected), "the memory stays as long as theirs"
            assert np.array_equal(vyre.array(theirs, backend="cuda").numpy(), expected - np.uint32(1))
            assert np.array_equal(vyre.array(theirs, backend="cpu").numpy(), expected - np.uint32(1))
