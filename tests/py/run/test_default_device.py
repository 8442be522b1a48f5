"""Where calls run that name neither a backend nor a device: vyre.default_device and the environment variables."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import numpy as np
import pytest

import vyre
from conftest import message
from places import PLACES, name_of
from threads import in_a_thread
from vyre import BufferDecl, Expr, Node, Program

X = np.array([3, 1, 2], np.uint32)
DOUBLE = Program(
    [BufferDecl.read_write("x", 0, vyre.u32)],
    (4, 1, 1),
    [Node.store("x", Expr.gid_x(), Expr.load("x", Expr.gid_x()) * 2)],
)
# Those of Vulkan come first, so that their indices count all devices too.
DEVICES = [device for device in vyre.devices("vulkan") if device.usable]


@vyre.kernel
def doubled(x: vyre.In[vyre.u32], y: vyre.Out[vyre.u32]):
    i = vyre.gid(0)
    y[i] = x[i] * 2


def ran_on(call):
    """The backend and the device of the one call that is made, as the profile tells them."""
    with vyre.profile() as prof:
        call()
    (found,) = {(event.backend, event.device) for event in prof.events if event.backend is not None}
    return found


def here():
    array = vyre.empty(1)
    return array.backend, array.device


@pytest.mark.parametrize("place", PLACES, ids=name_of)
def test_everything_that_names_no_place_goes_to_the_default(place):
    backend, device = place
    best = here()
    with vyre.default_device(backend, device) as chosen:
        assert (chosen.backend, chosen.device) == place
        for array in (vyre.empty(3), vyre.array(X), vyre.array([1], dtype=vyre.u32)):
            assert (array.backend, array.device) == (backend, device or 0)
        resident = doubled(vyre.array(X))
        assert (resident.backend, resident.numpy().tolist()) == (backend, [6, 2, 4])
        assert vyre.run(DOUBLE, {"x": X}, 1)["x"].tolist() == [6, 2, 4]
        assert doubled(X).tolist() == [6, 2, 4]
        assert vyre.repeat(DOUBLE, {"x": X}, 1, times=2).backend == backend
        vyre.try_compile(DOUBLE)
    assert here() == best


@pytest.mark.parametrize("call", [lambda: vyre.run(DOUBLE, {"x": X}, 1), lambda: doubled(X)], ids=["run", "kernel"])
def test_a_call_with_numpy_arrays_runs_on_the_default(call):
    for backend in ("reference", "cpu"):
        with vyre.default_device(backend):
            assert ran_on(call)[0] == backend


def test_what_a_call_names_itself_wins():
    with vyre.default_device("reference"):
        assert vyre.empty(1, backend="cpu").backend == "cpu"
        assert ran_on(lambda: vyre.run(DOUBLE, {"x": X}, 1, backend="cpu"))[0] == "cpu"
        assert ran_on(lambda: doubled(X, backend="cpu"))[0] == "cpu"
        assert ran_on(lambda: DOUBLE(vyre.array(X, backend="cpu"), workgroups=1))[0] == "cpu"
        for device in DEVICES:
            array = vyre.array(X, device=device)
            assert (array.backend, array.device) == (device.backend, device.index)
            assert (doubled(array).backend, doubled(array).device) == (device.backend, device.index)
    # A backend that is named alone chooses its device itself.
    if len(DEVICES) > 1:
        own = vyre.empty(1, backend="vulkan").device
        with vyre.default_device(next(device for device in DEVICES if device.index != own)):
            assert vyre.empty(1).device != own
            assert vyre.empty(1, backend="vulkan").device == own


def test_a_device_is_named_by_its_index_or_itself():
    for device in DEVICES:
        for choice in (
            {"backend": device},
            {"device": device},
            {"device": device.index},
            {"backend": "vulkan", "device": device.index},
        ):
            with vyre.default_device(**choice):
                assert here() == ("vulkan", device.index)


def test_it_holds_from_the_call_on_and_blocks_nest():
    def work():
        outer = vyre.default_device("reference")
        assert here()[0] == "reference"
        with vyre.default_device("cpu") as inner:
            assert here()[0] == "cpu"
            with outer:  # which holds already, and ends here
                assert here()[0] == "cpu"
            assert here() == best
        with inner, pytest.raises(ZeroDivisionError), vyre.default_device("reference"):
            raise ZeroDivisionError
        with vyre.default_device("reference"):
            with vyre.default_device():
                assert here() == best
            assert here()[0] == "reference"

    best = here()
    in_a_thread(work)
    assert here() == best


def test_a_thread_has_its_own():
    best = here()
    with vyre.default_device("reference"):
        in_a_thread(lambda: assert_here(best))
    in_a_thread(lambda: vyre.default_device("reference"))
    assert here() == best


def assert_here(wanted):
    assert here() == wanted


def test_a_task_has_its_own():
    async def task(backend, mine, others):
        with vyre.default_device(backend):
            for _ in range(5):
                mine.set()
                await others.wait()
                others.clear()
                assert here()[0] == backend
            mine.set()

    async def both():
        left, right = asyncio.Event(), asyncio.Event()
        await asyncio.gather(task("cpu", left, right), task("reference", right, left))

    best = here()
    asyncio.run(both())
    assert here() == best


def test_what_is_not_here_is_refused_at_once():
    best = here()
    assert message(lambda: vyre.default_device("metal"), vyre.ArgumentError) == (
        "argument `backend` of vyre.default_device must be one of "
        f"{', '.join([*vyre.backends(), *vyre.backends().unavailable()])}, got 'metal'. Fix: write one of these."
    )
    assert message(lambda: vyre.default_device("cpu", 1), vyre.ArgumentError) == (
        "device 1 of backend `cpu` does not exist. Fix: use 0, its only device."
    )
    count = len(vyre.devices())
    assert message(lambda: vyre.default_device(device=99), vyre.ArgumentError) == (
        f"argument `device` of vyre.default_device must be an index into vyre.devices(), which lists {count}, "
        "got 99 (int). "
        f"Fix: pass an index into vyre.devices(), which lists {count}."
    )
    assert here() == best


def run_with(text, **environment):
    names = {"VYRE_BACKEND", "VYRE_DEVICE"}
    kept = {name: value for name, value in os.environ.items() if name not in names}
    command, settings = [sys.executable, "-c", text], {**kept, **environment}
    return subprocess.run(command, env=settings, capture_output=True, text=True, timeout=60, check=False)


SHOW = """
import vyre
a = vyre.empty(1)
print(a.backend, a.device)
with vyre.default_device("reference"):
    print(vyre.empty(1).backend)
"""
TRY = """
import vyre
for _ in range(2):
    try:
        vyre.empty(1)
    except vyre.ArgumentError as error:
        print(error)
print(vyre.empty(1, backend="cpu").backend)
"""


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_the_environment_names_a_backend(backend):
    done = run_with(SHOW, VYRE_BACKEND=backend, VYRE_DEVICE="")
    assert (done.returncode, done.stdout) == (0, f"{backend} 0\nreference\n"), done.stderr


@pytest.mark.parametrize("more", [{}, {"VYRE_BACKEND": "vulkan"}], ids=["alone", "with a backend"])
def test_the_environment_names_a_device(more):
    for device in DEVICES:
        done = run_with(SHOW, VYRE_DEVICE=str(device.index), **more)
        assert (done.returncode, done.stdout) == (0, f"vulkan {device.index}\nreference\n"), done.stderr


def test_wrong_environment_variables_are_told_by_every_call_that_needs_them():
    done = run_with(TRY, VYRE_BACKEND="vulcan")
    told, again, last = done.stdout.splitlines()
    assert (told, last) == (again, "cpu")
    known = ", ".join([*vyre.backends(), *vyre.backends().unavailable()])
    assert told == (
        f"environment variable `VYRE_BACKEND` must be one of {known}, got 'vulcan'. "
        "Fix: write one of these (did you mean `vulkan`?)."
    )
    for given in ("9", "-1", "first", "٣", "9" * 50):
        told, again, last = run_with(TRY, VYRE_DEVICE=given).stdout.splitlines()
        assert (told, last) == (again, "cpu")
        assert told == (
            f"environment variable `VYRE_DEVICE` must be the index of a device of vyre.devices(), got {given!r}. "
            f"Fix: pass the index of a device of vyre.devices()."
        )
    told = run_with(TRY, VYRE_DEVICE="1", VYRE_BACKEND="cpu").stdout.splitlines()[0]
    assert told == (
        "environment variable `VYRE_DEVICE` must be the index of a device of backend `cpu`, got '1'. "
        "Fix: pass the index of a device of backend `cpu`."
    )


SILENT = """
import vyre
def drivers():
    return [name for name in ("libvulkan", "libcuda") if name in open("/proc/self/maps").read()]
x = vyre.array([1], dtype=vyre.u32, backend="cpu")
with vyre.default_device("reference"):
    vyre.empty(1)
print(drivers())
print(vyre.empty(1).backend, vyre.backends()[0], vyre.devices() == [] or drivers() != [])
"""


def test_no_driver_is_looked_for_until_a_default_is_needed():
    done = run_with(SILENT)
    best = vyre.backends()[0]
    assert (done.returncode, done.stdout) == (0, f"[]\n{best} {best} True\n"), done.stderr
