"""Arrays of jax in and out of vyre; test_interop.py runs it where jax is installed. Prints `exchanged` at the end."""

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


values = jax.numpy.asarray(X)
for backend in ("cpu", "reference"):
    assert doubled(values, backend=backend).tolist() == (X * 2).tolist()
    array = vyre.array(values, backend=backend)
    shared = jax.dlpack.from_dlpack(array)
    assert shared.tolist() == X.tolist()
    assert shared.unsafe_buffer_pointer() == np.from_dlpack(array).ctypes.data, "the memory is shared"
    assert jax.numpy.sum(jax.dlpack.from_dlpack(doubled(array))) == 30
    assert "read-only" in refusal(values, backend)
assert np.asarray(values).tolist() == X.tolist()
print("exchanged")
