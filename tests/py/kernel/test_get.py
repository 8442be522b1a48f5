"""`a.get(i)` is the element, or a default beyond the array, and no mistake for a check."""

import numpy as np
import pytest

import vyre
from vyre import In, InOut, Out, boolean, i16, i32, u8, u32, u64, vec2u32

EVERY = ["all", "promised_zeros"]


def around(a, i, missing):
    return np.array([a[k] if k < len(a) else missing for k in i], a.dtype)


@pytest.mark.parametrize(
    ("element", "dtype", "default"),
    [(u8, np.uint8, 7), (i16, np.int16, -7), (i32, np.int32, -7), (u32, np.uint32, 7), (u64, np.uint64, 1 << 40)],
)
@pytest.mark.parametrize("kind", [In, InOut])
def test_an_element_or_the_default_is_read(kind, element, dtype, default, target):
    @vyre.kernel
    def shifted(a: kind[element], zero: Out[element], other: Out[element]):
        i = vyre.gid(0)
        zero[i] = a.get(i + 2)
        other[i] = a.get(i + 2, default=default)

    a, i = np.arange(1, 9).astype(dtype), np.arange(8) + 2
    *_, zero, other = shifted(a.copy(), **target)
    assert np.array_equal(zero, around(a, i, 0))
    assert np.array_equal(other, around(a, i, default))
    assert shifted.check(a.copy(), checks=EVERY).ok


def test_booleans_and_vectors_have_defaults(target):
    @vyre.kernel
    def shifted(truths: In[boolean], pairs: In[vec2u32], out: Out[vec2u32]):
        i = vyre.gid(0)
        if truths.get(i + 1, default=True):
            out[i] = pairs.get(i + 1, default=vec2u32(8, 9))
        elif truths.get(i + 9):
            out[i] = vec2u32(1, 1)
        else:
            out[i] = pairs.get(i + 9)

    truths, pairs = np.array([False, False, True]), np.arange(6, dtype=np.uint32).reshape(3, 2)
    assert shifted(truths, pairs, **target).tolist() == [[0, 0], [4, 5], [8, 9]]
    assert shifted.check(truths, pairs).ok


def test_each_axis_is_checked_by_itself(target):
    @vyre.kernel
    def neighbours(a: In[u32, 2], out: Out[u32, 2]):
        x, y = vyre.gid(0), vyre.gid(1)
        out[y, x] = a.get(y, x + 1, default=100) + a.get(y - 1, x)

    a = np.arange(1, 13, dtype=np.uint32).reshape(3, 4)
    right, up = np.pad(a, ((0, 0), (0, 1)), constant_values=100)[:, 1:], np.pad(a, ((1, 0), (0, 0)))[:-1]
    assert np.array_equal(neighbours(a, **target), right + up)
    assert neighbours.check(a).ok


def test_arrays_of_the_kernels_own_have_it_too(target):
    @vyre.kernel(workgroup_size=4)
    def own(out: Out[u32]):
        t, table = vyre.lid(0), vyre.local(u32, [5, 6])
        tile = vyre.shared(u32, 4)
        tile[t] = table.get(t, default=1) + table.get(1) + table.get(2)
        vyre.barrier()
        out[t] = tile.get(t + 1, default=50)

    assert own(np.zeros(4, np.uint32), **target).tolist() == [12, 7, 7, 50]
    assert own.check(np.zeros(4, np.uint32), checks=EVERY).ok


@pytest.mark.parametrize("what", ["number of indices", "default", "keyword"])
def test_a_wrong_get_is_told(what):
    @vyre.kernel
    def wrong(a: In[u32, 2], out: Out[u32]):
        if what == "number of indices":
            out[0] = a.get(1)
        elif what == "default":
            out[0] = a.get(1, 1, default="x")
        else:
            out[0] = a.get(1, 1, missing=1)

    said = {
        "number of indices": "`a` has 2 axes and 1 index.",
        "default": "`default` is given 'x'.",
        "keyword": "unexpected keyword argument 'missing'",
    }
    with pytest.raises(vyre.KernelError) as caught:
        _ = wrong.program
    assert said[what] in str(caught.value)
