"""`a.atomic_load(i)` and `a.atomic_store(i, v)`: atomics that do not race with others."""

import numpy as np
import pytest

import vyre
from vyre import In, InOut, Out, u32


@vyre.kernel
def latest(a: In[u32], cell: InOut[u32], seen: Out[u32]):
    i = vyre.gid(0)
    cell.atomic_max(0, a[i])
    seen[i] = cell.atomic_load(1) + cell.atomic_load(9)
    cell.atomic_store(2, 5)
    seen[i] += cell.atomic_store(9, 5)


def test_a_load_gives_the_element_and_a_store_writes_it(target):
    a = np.arange(100, dtype=np.uint32)
    cell, seen = latest(a, np.array([3, 4, 0], np.uint32), **target)
    assert cell.tolist() == [99, 4, 5]
    assert (seen == 4).all()


def test_their_functions_are_the_same():
    @vyre.kernel
    def latest(a: In[u32], cell: InOut[u32], seen: Out[u32]):
        i = vyre.gid(0)
        cell.atomic_max(0, a[i])
        seen[i] = vyre.atomic_load(cell, 1) + vyre.atomic_load(cell, 9)
        vyre.atomic_store(cell, 2, 5)
        seen[i] += vyre.atomic_store(cell, 9, value=5)

    assert latest.text == globals()["latest"].text

    @vyre.kernel
    def wrong(a: InOut[u32]):
        vyre.atomic_load("a", 0)

    with pytest.raises(vyre.KernelError, match=r"write vyre\.atomic_load\(array, index\)"):
        _ = wrong.program
    with pytest.raises(vyre.ArgumentError, match="argument `value` of atomic_store must be an Expr"):
        vyre.atomic_store("a", 0, -1)


def test_they_do_not_race_and_a_plain_access_does():
    @vyre.kernel
    def plain(cell: InOut[u32], out: InOut[u32]):
        if vyre.gid(0) == 0:
            cell.atomic_store(0, 5)
        else:
            out.atomic_max(0, cell[0])

    cell = np.array([3, 4, 0], np.uint32)
    checks = ["race", "uninitialised-read", "divergent-barrier"]
    assert latest.check(np.arange(8, dtype=np.uint32), cell, checks=checks).ok
    (race,) = plain.check(cell, cell.copy(), grid=2).reports
    assert (race.check, race.buffer) == ("race", "cell")


def test_a_shared_array_is_loaded_and_stored(target):
    @vyre.kernel(workgroup_size=32)
    def shared(out: Out[u32]):
        flag = vyre.shared(u32, 1)
        if vyre.lid(0) == 7:
            flag.atomic_store(0, 9)
        vyre.barrier()
        out[vyre.gid(0)] = flag.atomic_load(0)

    assert shared(np.zeros(64, np.uint32), **target).tolist() == [9] * 64


@pytest.mark.parametrize(("name", "count", "call"), [("load", 2, "load(i)"), ("store", 1, "store(i, value)")])
def test_a_wrong_number_of_operands_is_told(name, count, call):
    @vyre.kernel
    def wrong(a: InOut[u32]):
        if name == "load":
            a.atomic_load(0, 1)
        else:
            a.atomic_store(0)

    with pytest.raises(vyre.KernelError) as caught:
        _ = wrong.program
    assert f"atomic_{name} got {count} argument{'s' * (count > 1)}." in str(caught.value)
    assert f"write a.atomic_{call}." in str(caught.value)
