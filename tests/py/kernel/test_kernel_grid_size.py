"""vyre.grid_size in kernels: what the call asked for, in every way to call, and the words of kernels without it."""

import numpy as np
import pytest

import vyre
from conftest import refused
from vyre import In, InOut, Out, u32

ASKED = np.zeros(6, np.uint32)


@vyre.kernel
def sizes(out: Out[u32], n: u32):
    if vyre.gid(0) == 0 and vyre.gid(1) == 0 and vyre.gid(2) == 0:
        out[0] = vyre.grid_size(2)
        out[1] = vyre.grid_size(0)
        out[2] = vyre.grid_size(1)
        out[3] = n


@vyre.kernel
def ends(out: InOut[u32, 2], k: u32 = 1):
    out[vyre.gid(1), vyre.gid(0)] = vyre.grid_size(0) * 1000 + vyre.grid_size(1) * k


@vyre.kernel
def strided(a: In[u32], sums: Out[u32]):
    k, step = vyre.gid(0), vyre.grid_size()
    if k < step:
        for turn in range((len(a) - k + step - 1) // step):
            sums[k] += a[k + turn * step]


@pytest.mark.parametrize(
    ("how", "wanted"),
    [
        ({}, (6, 1, 1)),
        ({"grid": 1000}, (1000, 1, 1)),
        ({"grid": (7, 5)}, (7, 5, 1)),
        ({"grid": (3, 2, 9)}, (3, 2, 9)),
        ({"workgroups": 2}, (512, 1, 1)),
        ({"workgroups": (1, 3, 2)}, (256, 3, 2)),
    ],
)
def test_it_is_what_the_call_asked_for(target, how, wanted):
    for _ in range(2):
        given = sizes(ASKED.copy(), 9, **how, **target).tolist()
        assert given[:4] == [wanted[2], wanted[0], wanted[1], 9]


def test_a_call_that_is_made_again_has_the_sizes_of_its_own_arrays():
    for shape in ((3, 5), (3, 5), (4, 2), (3, 5)):
        for make in (np.zeros, lambda shape, kind: vyre.array(np.zeros(shape, kind), backend="cpu")):
            given = ends(make(shape, np.uint32), 7)
            assert (np.asarray(given) == shape[1] * 1000 + shape[0] * 7).all()


def test_a_loop_strides_over_the_grid(target):
    a = np.arange(1000, dtype=np.uint32)
    given = strided(a, sums=np.zeros(7, np.uint32), grid=7, **target)
    assert given.tolist() == [int(a[k::7].sum()) for k in range(7)]


def test_its_words_are_behind_the_scalars_in_the_order_of_first_use():
    program = sizes.program
    assert [(decl.name, decl.count) for decl in program.buffers] == [("out", 0), ("__params", 4)]
    params = np.array([9, 30, 10, 20], np.uint32)  # n, z, x, y
    assert vyre.run(program, {"out": 4, "__params": params}, 1, backend="reference")["out"].tolist() == [30, 10, 20, 9]


def test_a_kernel_without_it_keeps_its_words():
    @vyre.kernel
    def plain(out: Out[u32], n: u32):
        out[vyre.gid(0)] = n

    assert plain.program.buffers[1].count == 1


def test_a_resident_grid_is_refused():
    counts = vyre.array(np.array([1, 1, 1], np.uint32), backend="cpu")
    with refused(
        vyre.ArgumentError,
        "kernel `sizes` calls vyre.grid_size, and its grid comes from an array",
        "give the kernel the size as a u32 parameter or an In array",
    ):
        sizes(ASKED.copy(), 9, workgroups=counts, at_most=9)


def test_more_than_a_u32_holds_is_refused():
    with refused(
        vyre.ArgumentError,
        "the grid of kernel `sizes` must have at most 4294967295 invocations an axis, got 4294967296",
        "pass one with at most 4294967295 invocations an axis",
    ):
        sizes(ASKED.copy(), 9, grid=2**32, backend="reference")


@pytest.mark.parametrize("axis", [3, -1, "x"])
def test_an_axis_that_there_is_not_is_refused(axis):
    @vyre.kernel
    def wrong(out: Out[u32], n: vyre.const):
        out[0] = vyre.grid_size(n)

    with pytest.raises(vyre.KernelError) as caught:
        wrong.specialize(n=axis)
    assert f"argument `axis` of vyre.grid_size must be 0 (x), 1 (y) or 2 (z), got {axis!r}. " in str(caught.value)
    assert "Fix: pass 0 (x), 1 (y) or 2 (z)." in str(caught.value)


def test_outside_of_a_kernel_it_is_refused():
    with refused(
        vyre.ArgumentError, "vyre.grid_size was called outside of a kernel", "call it in a function under @vyre.kernel"
    ):
        vyre.grid_size(0)


def test_a_grid_of_more_than_an_axis_has_is_told_with_the_most_that_it_has():
    @vyre.kernel
    def fill(out: Out[u32]):
        out[vyre.gid(0)] = 1

    for grid in (2**32 + 1, 2**70, (1, 2**33)):
        with pytest.raises(vyre.ArgumentError) as raised:
            fill(np.zeros(3, np.uint32), grid=grid, backend="cpu")
        most = "at most 4294967296 invocations an axis"
        assert str(raised.value) == (
            f"argument `grid` of kernel `fill` must have {most}, got {grid}. Fix: pass one with {most}."
        )
