"""Arrays of other libraries on CUDA devices: what is taken, what is refused, and what vyre's own arrays say.

Where backend `cuda` works, arrays of CuPy and torch go in and come out where they lie.
"""

from __future__ import annotations

import ctypes
import gc
import importlib.util
import sys
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

import dlpack_producer
import vyre
from conftest import message, refused
from vyre import _core
from vyre._arrays.cuda import Taken, exported, jax_array, speaks_cuda, take
from vyre._kernel import call as calls

HAS_CUDA = "cuda" in vyre.backends()
CONTIGUOUS = "must be a C-contiguous array, got another. Fix: pass a C-contiguous array."


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


class Anything:
    """It has every attribute that it is asked for, as a mock has."""

    def __getattr__(self, name):
        return {"shape": (4,)}


def test_an_array_is_asked_and_not_its_class():
    assert not speaks_cuda(Anything())
    assert speaks_cuda(Foreign())
    for other in (OnHost(), np.zeros(3), np.uint32(3), vyre.array([1], vyre.u32, backend="cpu"), [1], 3, "x", None):
        assert not speaks_cuda(other), other


@pytest.mark.parametrize(
    ("said", "written", "wanted"),
    [
        ({"strides": (8,)}, False, CONTIGUOUS),
        ({"shape": (2, 2), "strides": (4, 8)}, False, CONTIGUOUS),
        ({"data": (1, True)}, True, "must be a writable array, got a read-only one. Fix: pass a writable array."),
        (
            {"mask": object()},
            False,
            "must be an array without a mask, got a masked array. Fix: pass an array without a mask.",
        ),
    ],
)
def test_what_cannot_be_taken_is_refused_with_what_to_write(said, written, wanted):
    assert (
        message(
            lambda: take(Foreign(**said), "argument `a` of kernel `f`", vyre.BindingError, written=written),
            vyre.BindingError,
        )
        == f"argument `a` of kernel `f` {wanted}"
    )


class Unordered(Foreign):
    """As an array of jax: it names no stream, and can be waited for."""

    def __init__(self, **said):
        super().__init__(version=2, **said)
        self.waits = 0

    def block_until_ready(self):
        self.waits += 1
        return self


@pytest.mark.parametrize(("version", "waits"), [(2, 1), (3, 0)])
def test_an_array_that_names_no_stream_is_waited_for_before_it_is_taken(version, waits):
    theirs = Unordered()
    theirs._said["version"] = version
    for turn in (1, 2):
        with pytest.raises(vyre.BindingError):
            take(theirs, "argument `a`", vyre.BindingError, written=False) if HAS_CUDA else add_one(theirs)
        assert theirs.waits == waits * turn


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
    assert not hasattr(array, "__jax_array__")


def test_jax_makes_its_array_by_dlpack(monkeypatch):
    """Of the CUDA array interface jax keeps the address alone."""
    array = SimpleNamespace(backend="cuda", dtype=np.dtype(np.uint32))
    monkeypatch.setitem(sys.modules, "jax.dlpack", SimpleNamespace(from_dlpack=lambda given: ("of jax", given)))
    monkeypatch.setitem(sys.modules, "jax", SimpleNamespace())
    assert jax_array(array)() == ("of jax", array)
    array.dtype = np.dtype(bool)
    with pytest.raises(AttributeError, match="bool takes four bytes an element"):
        jax_array(array)


# Arrays of a call go back to their libraries, whatever happens to it.


class Returned(Taken):
    """An array of another library that lies on the host here, and says when it is given back."""

    def give_back(self):
        GIVEN_BACK.append(self.stream)
        if self.stream == LOST:
            raise vyre.DeviceLostError("the device was lost. Fix: make the arrays anew.")


GIVEN_BACK: list[int] = []
LOST = 666


@pytest.fixture
def on_host(monkeypatch):
    """Arrays that speak the interface are taken as arrays of backend cpu."""
    GIVEN_BACK.clear()

    def taken(value, where, error, *, written):
        return Returned(vyre.array(np.arange(4, dtype=np.uint32), backend="cpu"), value._said["stream"])

    monkeypatch.setattr(calls, "take", taken)


def test_arrays_are_given_back_after_a_call(on_host):
    out = Foreign(stream=8)
    assert add_one(Foreign(stream=7), out) is out
    assert GIVEN_BACK == [7, 8]


@pytest.mark.parametrize("raised", [vyre.DispatchTimeoutError, KeyboardInterrupt])
@pytest.mark.parametrize("streams", [(7, 8), (LOST, 8)], ids=["there", "lost"])
def test_arrays_are_given_back_when_a_call_fails_after_it_was_submitted(on_host, monkeypatch, raised, streams):
    submitted = []
    run = calls.run_resident

    def failing(*args):
        submitted.append(run(*args))
        raise raised("after the submission")

    monkeypatch.setattr(calls, "run_resident", failing)
    with pytest.raises(raised, match="after the submission"):
        add_one(*(Foreign(stream=stream) for stream in streams))
    assert len(submitted) == 1
    assert GIVEN_BACK == list(streams), "each of them, though one failed"


def test_a_call_that_is_refused_before_it_is_submitted_gives_back_too(on_host):
    with pytest.raises(
        vyre.ArgumentError, match="argument `timeout` of kernel `add_one` has no place beside resident arrays"
    ):
        add_one(Foreign(stream=7), timeout=3)
    assert GIVEN_BACK == [7]


# Capsules of DLPack, read as a consumer in C reads them.

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_rename = ctypes.pythonapi.PyCapsule_SetName
_rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
VERSIONED, BARE, USED = b"dltensor_versioned", b"dltensor", b"used_dltensor_versioned"
IS_COPIED = 2


def read(capsule, name):
    structure = dlpack_producer._Versioned if name == VERSIONED else dlpack_producer._Managed
    return structure.from_address(_pointer(capsule, name))


@pytest.mark.parametrize("name", [VERSIONED, BARE])
@pytest.mark.parametrize("dtype", ["uint32", "int32", "uint64", "uint8", "int16"])
def test_a_capsule_says_where_the_array_lies(name, dtype):
    array = vyre.array(np.zeros((3, 4), dtype), backend="cpu")
    capsule = _core._dlpack_capsule(array, 0xABC000, (2, 5), name == VERSIONED, True)
    managed = read(capsule, name)
    tensor = managed.tensor
    assert (tensor.data, tensor.byte_offset) == (0xABC000, 0)
    assert (tensor.device.kind, tensor.device.number) == (2, 5)
    assert (tensor.shape[: tensor.ndim], tensor.strides[: tensor.ndim]) == ([3, 4], [4, 1])
    wanted = np.dtype(dtype)
    assert (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes) == (
        {"i": 0, "u": 1}[wanted.kind],
        8 * wanted.itemsize,
        1,
    )
    if name == VERSIONED:
        assert (managed.major, managed.minor, managed.flags) == (1, 0, IS_COPIED)


def host_bytes(address, count):
    return list((ctypes.c_uint8 * count).from_address(address))


def test_a_capsule_keeps_the_memory_until_its_consumer_ends_it():
    array = vyre.array(np.arange(1000, dtype=np.uint32) + 1000, backend="cpu")
    address = np.from_dlpack(array).ctypes.data
    for taken in (False, True):
        capsule = _core._dlpack_capsule(array, address, (1, 0), True, False)
        managed = read(capsule, VERSIONED)
        if taken:
            # From here on the consumer ends it, which it does once.
            _rename(capsule, USED)
            del array
            gc.collect()
            assert host_bytes(managed.tensor.data, 2) == [0xE8, 0x03], "the memory stays"
        del capsule
        if taken:
            managed.deleter(ctypes.addressof(managed))


class OnDevice:
    """What `exported` needs of an array on a CUDA device."""

    def __init__(self, array, device=3, size=4):
        self.array, self._device, self.size = array, device, size
        self.copies = 0

    def __dlpack_device__(self):
        return self._device if isinstance(self._device, tuple) else (2, self._device)

    def copy(self):
        self.copies += 1
        return self


@pytest.fixture
def driver(monkeypatch):
    """The calls of the core that need a device, as (name, arguments) in their order."""
    made = []

    def answer(name, value=None):
        def called(*args):
            made.append((name, *args[1:]))
            return value

        return called

    monkeypatch.setattr(_core, "_cuda_address", answer("address", 0x1000))
    monkeypatch.setattr(_core, "_cuda_hand_over", answer("order"))
    monkeypatch.setattr(_core, "_dlpack_capsule", answer("capsule", "a capsule"))
    return made


@pytest.mark.parametrize(("stream", "order"), [(None, 1), (1, 1), (2, 2), (0x7F0000001000, 0x7F0000001000), (-1, None)])
def test_the_consumers_stream_waits_for_what_wrote_the_array(driver, stream, order):
    assert exported(OnDevice(None), {"stream": stream, "max_version": (1, 1)}) == "a capsule"
    waits = [] if order is None else [("order", order)]
    assert driver == [("address",), *waits, ("capsule", 0x1000, (2, 3), True, False)]


@pytest.mark.parametrize("stream", [0, -2, True, "s", 1.5])
def test_a_stream_that_is_none_is_refused(driver, stream):
    with pytest.raises(vyre.ArgumentError, match="must be a CUDA stream's handle, 1, 2, -1 or None, got"):
        exported(OnDevice(None), {"stream": stream})
    assert driver == []


def test_the_capsule_is_of_the_version_that_the_consumer_reads(driver):
    for asked, versioned in (({}, False), ({"max_version": None}, False), ({"max_version": (0, 8)}, False)):
        exported(OnDevice(None), {"stream": 1, **asked})
        assert driver[-1][3] is versioned
    exported(OnDevice(None), {"dl_device": (2, 3), "max_version": (1, 0)})
    assert driver[-2:] == [("order", 1), ("capsule", 0x1000, (2, 3), True, False)]


def test_a_copy_on_the_device_is_marked(driver):
    array = OnDevice(None)
    exported(array, {"stream": 1, "copy": True, "max_version": (1, 0)})
    assert array.copies == 1
    assert driver[-1] == ("capsule", 0x1000, (2, 3), True, True)


def test_the_host_is_given_a_copy_when_it_is_asked_for(driver):
    # numpy names neither a stream nor a device, and reads what the host reads.
    for asked in (
        {},
        {"dl_device": None, "copy": None, "max_version": (1, 0)},
        {"dl_device": (1, 0), "stream": None},
        {"dl_device": (1, 0), "copy": True},
    ):
        assert exported(OnDevice(None), asked) is None
    # Elements of bool are no bytes there.
    assert exported(OnDevice(None, device=(1, 0)), {"stream": 1}) is None
    assert driver == []


def test_another_device_is_refused(driver):
    assert message(lambda: exported(OnDevice(None), {"dl_device": (2, 1)}), BufferError) == (
        "argument `dl_device` of Array.__dlpack__ must be (1, 0), (2, 3) or None, got (2, 1). "
        "Fix: pass (1, 0), (2, 3) or None."
    )


def test_an_empty_array_has_no_address(driver):
    exported(OnDevice(None, size=0), {"stream": 1})
    assert driver[-1][1] == 0


def test_arrays_elsewhere_are_the_hosts():
    array = vyre.array(np.arange(3, dtype=np.uint32), backend="cpu")
    assert array.__dlpack_device__() == (1, 0)
    assert np.from_dlpack(array).tolist() == [0, 1, 2]


# Arrays that speak DLPack alone.


class Tensor(dlpack_producer.Tensor):
    """An array of a library that has no CUDA array interface; its memory is the host's, and says a CUDA device."""

    def __init__(self, values, version=(1, 0), **said):
        super().__init__(values, version, device=(2, 1), **said)
        self.asked = []

    def __dlpack__(self, **asked):
        self.asked.append(asked)
        return super().__dlpack__(**asked)


class Older(Tensor):
    """It knows no argument but the stream."""

    def __dlpack__(self, *, stream=None):
        return super().__dlpack__(stream=stream)


@pytest.fixture
def cuda_here(monkeypatch):
    """Backend `cuda` works, and takes (address, shape, dtype, stream, owner)."""
    taken = []

    def adopt(address, shape, dtype, stream, owner, where):
        taken.append(SimpleNamespace(address=address, shape=shape, dtype=dtype, stream=stream, owner=owner))
        return taken[-1]

    monkeypatch.setattr(_core, "_available", lambda: ["cuda", "cpu", "reference"])
    monkeypatch.setattr(_core, "_cuda_adopt", adopt)
    return taken


VALUES = np.arange(12, dtype=np.uint32).reshape(3, 4)


@pytest.mark.parametrize("kind", [Tensor, Older])
@pytest.mark.parametrize("version", [(1, 0), (1, 7), None])
@pytest.mark.parametrize("strides", [True, False])
def test_an_array_that_speaks_dlpack_alone_is_taken_where_it_lies(cuda_here, kind, version, strides):
    tensor = kind(VALUES, version, offset=8, strides=strides)
    assert speaks_cuda(tensor)
    found = take(tensor, "argument `a`", vyre.BindingError, written=True)
    (array,) = cuda_here
    assert found == (array, 1), "the library's default stream waits for what vyre does"
    assert (array.address, array.shape, array.dtype, array.stream) == (
        VALUES.ctypes.data,
        [3, 4],
        np.dtype("uint32"),
        1,
    )
    assert all(asked["stream"] == 1 for asked in tensor.asked), "which is also the one that it orders its work by"
    assert tensor.deleted == 0
    del found, array
    cuda_here.clear()
    gc.collect()
    assert tensor.deleted == 1


def test_a_capsule_is_taken_once(cuda_here):
    capsule = Tensor(VALUES).__dlpack__()
    _core._dlpack_opened(capsule)
    with pytest.raises(BufferError, match="is no capsule of DLPack, or was taken before"):
        _core._dlpack_opened(capsule)


@pytest.mark.parametrize(
    ("tensor", "wanted"),
    [
        (Tensor(VALUES.T), CONTIGUOUS),
        (Tensor(VALUES, read_only=True), "must be a writable array, got a read-only one."),
        (
            Tensor(VALUES, dtype=(4, 16)),
            "must have elements that numpy has, got others. Fix: pass one with elements that numpy has.",
        ),
        (
            Tensor(VALUES, lanes=2),
            "must have elements that numpy has, got others.",
        ),
        (
            Tensor(VALUES, (2, 0)),
            "cannot be read through DLPack: version 2.0 of DLPack is none that is known. "
            "Fix: pass a numpy array of its elements.",
        ),
    ],
    ids=["strided", "read-only", "bfloat16", "lanes", "version"],
)
def test_what_dlpack_gives_and_a_call_cannot_take_is_refused(cuda_here, tensor, wanted):
    with refused(vyre.BindingError, f"a {wanted}"):
        take(tensor, "a", vyre.BindingError, written=True)
    gc.collect()
    # A capsule of an unknown version is not taken: its producer's own destructor ends it.
    assert tensor.deleted == ("version" not in wanted), "what was taken is given back"


def test_without_cuda_an_array_that_speaks_dlpack_alone_is_named_by_its_device(monkeypatch):
    monkeypatch.setattr(_core, "_available", lambda: ["cpu", "reference"])
    assert not speaks_cuda(Tensor(VALUES))
    with pytest.raises(vyre.BindingError, match=r"got one on a CUDA device \(number 1\)"):
        add_one(Tensor(VALUES))


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

    @pytest.mark.parametrize("library", ["cupy", "torch"])
    def test_dlpack_shares_memory_and_orders_streams(self, library):
        if importlib.util.find_spec(library) is None:
            pytest.skip(f"{library} is not here")
        module = pytest.importorskip(library)
        host = (lambda x: x.get()) if library == "cupy" else (lambda x: x.cpu().numpy())
        for turn in range(200):
            n = 1 + 997 * turn % 50_000
            made = add_one(vyre.array(np.arange(n, dtype=np.uint32) * 3 + turn, backend="cuda"))
            assert made.__dlpack_device__() == (2, made.device)
            given = module.from_dlpack(made)
            pointer = given.data.ptr if library == "cupy" else given.data_ptr()
            assert pointer == made.__cuda_array_interface__["data"][0], "no copy"
            expected = np.arange(n, dtype=np.uint32) * 3 + turn + 1
            assert np.array_equal(host(given), expected)
            assert np.array_equal(np.from_dlpack(made), expected)
            del made
            assert np.array_equal(host(given), expected), "the memory stays as long as theirs"
        flags = vyre.array(np.array([True, False]), backend="cuda")
        assert flags.__dlpack_device__() == (1, 0)
        assert np.from_dlpack(flags).tolist() == [True, False]

    def test_an_array_that_speaks_dlpack_alone_goes_in(self):
        class Alone:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **asked):
                return self.array.__dlpack__(**asked)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        array = vyre.array(np.arange(100, dtype=np.uint32), backend="cuda")
        for _ in range(50):
            out = vyre.empty(100, backend="cuda")
            add_one(Alone(array), Alone(out))
            assert np.array_equal(out.numpy(), np.arange(1, 101, dtype=np.uint32))
