"""Arrays of jax in and out of vyre; test_interop.py runs it where jax is installed. Prints the platforms that
it tried, the CPU and CUDA where jax and vyre have it, and `exchanged` at the end."""

from __future__ import annotations

import jax
import numpy as np

import vyre
from vyre import In, InOut, Out, u32

X = np.arange(6, dtype=np.uint32)


@vyre.kernel
def doubled(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    y[i] = x[i] * 2


@vyre.kernel
def add(x: InOut[u32], n: u32):
    x[vyre.gid(0)] += n


def refusal(array, backend):
    """What a kernel says that would write it."""
    try:
        add(array, 1, backend=backend)
    except vyre.BindingError as error:
        return str(error)
    return "it was written"


def platforms() -> list[str]:
    """The platforms of jax that arrays of vyre can share memory with here."""
    if "cuda" not in vyre.backends():
        return ["cpu"]
    try:
        jax.devices("cuda")
    except RuntimeError:  # jax has no plugin for it
        return ["cpu"]
    return ["cpu", "cuda"]


def on_host() -> None:
    values = jax.device_put(X, jax.devices("cpu")[0])
    for backend in ("cpu", "reference"):
        assert doubled(values, backend=backend).tolist() == (X * 2).tolist()
        array = vyre.array(values, backend=backend)
        shared = jax.dlpack.from_dlpack(array)
        assert shared.tolist() == X.tolist()
        assert shared.unsafe_buffer_pointer() == np.from_dlpack(array).ctypes.data, "the memory is shared"
        assert jax.numpy.sum(jax.dlpack.from_dlpack(doubled(array))) == 30
        assert "read-only" in refusal(values, backend)
    assert np.asarray(values).tolist() == X.tolist()


def address(array: vyre.Array) -> int:
    return array.__cuda_array_interface__["data"][0]


def on_cuda() -> None:
    device = jax.devices("cuda")[0]
    assert "read-only" in refusal(jax.device_put(X, device), "cuda")
    for turn in range(200):
        n = 1 + 49_999 * (turn % 10)  # jax compiles for each length
        counted = np.arange(n, dtype=np.uint32) * 3 + np.uint32(turn)
        # jax still works on it when the kernel is called.
        values = jax.numpy.cumsum(jax.device_put(counted, device)) - jax.numpy.cumsum(jax.device_put(counted, device))
        values = values.astype(np.uint32) + counted
        made = doubled(values)
        assert made.backend == "cuda"
        assert np.array_equal(made.numpy(), counted * 2)
        # Arrays of other sizes and values come and go while jax has the memory.
        for take in (jax.dlpack.from_dlpack, jax.numpy.asarray):
            given = take(doubled(values))
            doubled(doubled(vyre.array(counted, backend="cuda"))).wait()
            assert np.array_equal(np.asarray(given), counted * 2), (take, turn)
            assert int(jax.numpy.max(given)) == int((counted * 2).max())
            shared = take(made)
            assert shared.unsafe_buffer_pointer() == address(made), "the memory is shared"
        assert np.array_equal(np.asarray(values), counted)


for platform in platforms():
    {"cpu": on_host, "cuda": on_cuda}[platform]()
    print(f"exchanged on {platform}")
print("exchanged")
