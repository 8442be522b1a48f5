"""`vyre.dask` on a real cluster of several processes: devices, workers that die, and each call twice."""

# ruff: noqa: E501  (messages stand whole)
from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import subprocess
import sys
from pathlib import Path
from unittest import mock

import dask.array
import distributed
import numpy as np
import pytest

import dask_work
import vyre
import vyre.dask
from conftest import message, refused
from vyre import In, InOut, Out, u32

# A cluster takes seconds to start, and seconds more to replace a worker.
pytestmark = pytest.mark.slow

DEVICES = [device for device in vyre.devices("vulkan") if device.usable]
BLOCKS = [np.arange(1000, dtype=np.uint32) + 1000 * k for k in range(12)]


@vyre.kernel
def counted(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    y[i] = vyre.popcount(x[i] * 3) + 1


@vyre.kernel
def shifted(x: InOut[u32], n: u32, k: vyre.const, y: Out[u32]):
    i = vyre.gid(0)
    y[i] = x[i] * k
    x[i] += n


def wanted(block):
    return np.array([int(value).bit_count() + 1 for value in block * np.uint32(3)], np.uint32)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("locks"))
    with (
        # Another process of these tests may have a cluster on this host: the locks of devices are apart from its.
        mock.patch.dict(os.environ, TMPDIR=folder),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as made,
    ):
        made.wait_for_workers(2, timeout=60)
        yield made


def test_blocks_come_back_in_order(client):
    for block, result in zip(BLOCKS, vyre.dask.run(client, counted, BLOCKS), strict=True):
        assert result.tolist() == wanted(block).tolist()
    assert vyre.dask.run(client, counted, []) == []


def test_inout_arrays_come_back_as_new_ones(client):
    work = vyre.dask.task(shifted, k=5)
    results = vyre.dask.run(client, work, BLOCKS[:3], n=7)
    for block, (x, y) in zip(BLOCKS, results, strict=False):
        assert x.tolist() == (block + 7).tolist()
        assert y.tolist() == (block * 5).tolist()
    assert BLOCKS[1][0] == 1000  # as it was
    frozen = BLOCKS[0].copy()
    frozen.flags.writeable = False
    assert work(frozen, 1)[0].tolist() == (frozen + 1).tolist()


def test_a_task_has_what_the_kernel_has_captured_when_it_is_made():
    factor, x = 3, np.arange(4, dtype=np.uint32)

    @vyre.kernel
    def scaled(x: In[u32], y: Out[u32]):
        i = vyre.gid(0)
        y[i] = x[i] * factor

    before = vyre.dask.task(scaled, backend="cpu")
    factor = 5
    assert before(x).tolist() == (x * 3).tolist()
    assert vyre.dask.task(scaled, backend="cpu")(x).tolist() == (x * 5).tolist()


def test_a_task_is_a_function_of_dask_arrays(client):
    whole = np.concatenate(BLOCKS)
    chunked = dask.array.from_array(whole, chunks=3000)
    result = chunked.map_blocks(vyre.dask.task(counted), dtype=np.uint32).compute(scheduler=client)
    assert result.tolist() == wanted(whole).tolist()


def test_a_grid_is_exact_in_smaller_workgroups():
    def small(program, inputs, workgroups):
        if program.workgroup_size[0] > 128:
            raise vyre.CapabilityError("maxComputeWorkGroupInvocations is 128")
        return vyre.run(program, inputs, workgroups, backend="cpu")

    @vyre.kernel
    def sevens(x: InOut[u32]):
        i = vyre.gid(0)
        x[i] = 7

    x = np.zeros(8, np.uint32)
    assert vyre.dask.task(sevens, backend=small)(x, grid=5).tolist() == [7, 7, 7, 7, 7, 0, 0, 0]


def test_kernels_are_functions_for_dask_itself(client):
    @vyre.procedure
    def both(x: In[u32]):
        y, z = vyre.scratch(u32, x.length), vyre.scratch(u32, x.length)
        counted(x, y)
        counted(y, z)
        return z

    block = BLOCKS[1]
    for work in (both, lambda x: counted(counted(x)), vyre.dask.task(lambda x: both(x))):
        assert client.submit(work, block).result().tolist() == wanted(wanted(block)).tolist()


def test_any_function_runs_on_the_workers_device(client):
    block = BLOCKS[1][::-1].copy()
    with one_device(client, "reference"):
        (found,) = vyre.dask.run(client, dask_work.sorted_and_hashed, [block])
        assert found[0].tolist() == sorted(block)
        assert bytes(found[1]) == hashlib.sha256(block.tobytes()).digest()
        assert found[2] == "reference"


# --- one device a worker ---


TWO_DEVICES = pytest.mark.skipif(
    len(DEVICES) < 2, reason="two Vulkan devices are needed: llvmpipe and SwiftShader, which make test brings, or GPUs"
)


@contextlib.contextmanager
def one_device(client, backend=None):
    try:
        client.register_plugin(vyre.dask.OneDevice(backend))
        yield
    finally:
        client.unregister_worker_plugin("vyre-one-device")


@TWO_DEVICES
def test_each_worker_has_a_device_of_its_own(client):
    with one_device(client, "vulkan"):
        places = client.run(vyre.dask.place)
        assert {each.backend for each in places.values()} == {"vulkan"}
        assert sorted(each.device for each in places.values()) == [each.index for each in DEVICES][:2]
        for block, result in zip(BLOCKS, vyre.dask.run(client, counted, BLOCKS, against="reference"), strict=True):
            assert result.tolist() == wanted(block).tolist()
        assert client.run(dask_work.device_of_a_call) == {worker: each.device for worker, each in places.items()}
    assert set(client.run(vyre.dask.place).values()) == {(None, None)}


@pytest.mark.skipif(not DEVICES, reason="a Vulkan device is needed, of which make test brings two")
def test_a_device_is_taken_once_and_shared_where_that_is_asked_for(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    count = len(DEVICES)
    plugins = [vyre.dask.OneDevice("vulkan") for _ in range(count + 1)]
    assert [each._taken() for each in plugins[:-1]] == [("vulkan", device.index) for device in DEVICES]
    assert message(plugins[-1]._taken, vyre.CapabilityError) == (
        f"this host has {count} device{'' if count == 1 else 's'} for workers, and all are taken. Fix: start at most "
        f"{count} worker processes here, or write vyre.dask.OneDevice(share=True)."
    )
    sharing = [vyre.dask.OneDevice("vulkan", share=True) for _ in range(count + 1)]
    assert [each._taken().device for each in sharing] == [*(device.index for device in DEVICES), DEVICES[0].index]
    for each in (*plugins, *sharing):
        each.teardown(WORKER)
    assert plugins[-1]._taken().device == DEVICES[0].index
    plugins[-1].teardown(WORKER)


def test_a_host_without_devices_says_why(monkeypatch):
    monkeypatch.setattr(vyre._core, "_devices", lambda: [])
    monkeypatch.setattr(vyre._core, "_unavailable", lambda: {"cuda": ["there is no driver. Fix: install one."]})
    assert message(vyre.dask.OneDevice("cuda")._taken, vyre.CapabilityError) == "there is no driver. Fix: install one."
    assert message(vyre.dask.OneDevice("vulkan")._taken, vyre.CapabilityError) == (
        "backend `vulkan` has no device on this host. Fix: run `vyre doctor` on it."
    )


def test_locks_never_touch_files_elsewhere(monkeypatch, tmp_path):
    """Folders for temporary files are everyone's: another user may have made the one of the locks, or links in it."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    kept = tmp_path / "kept"
    kept.write_text("kept")
    folder = tmp_path / f"vyre-devices-{os.getuid()}"
    folder.mkdir()
    (folder / "a-0-0").symlink_to(kept)
    for name in ("a-0-0", "b-0-0"):
        if name == "b-0-0":
            folder.rename(tmp_path / "elsewhere")
            folder.symlink_to(tmp_path / "elsewhere")
        told = message(lambda name=name: vyre.dask._locked(name), vyre.CapabilityError)
        assert told.startswith(f"the workers of this host share out its devices in `{folder}`, which cannot be used: ")
        assert told.endswith(". Fix: remove it, or set TMPDIR to another folder for all workers.")
    assert kept.read_text() == "kept"
    folder.unlink()
    vyre.dask._locked("b-0-0").close()


class WORKER:
    """What a plugin asks of a worker."""

    id = "a worker that is none"


def test_a_host_without_gpus_shares_its_processor(client):
    if any(each.kind != "software gpu" for each in DEVICES):
        pytest.skip("this host has a GPU")
    with one_device(client):
        assert set(client.run(vyre.dask.place).values()) == {("cpu", None)}


# --- a worker that dies ---


@TWO_DEVICES
def test_a_worker_that_is_killed_amid_a_run_loses_nothing(client, tmp_path):
    with one_device(client, "vulkan"):
        before = set(client.nthreads())
        mark = tmp_path / "killed"
        work = vyre.dask.task(counted, backend=dask_work.KilledOnce(mark, 5500))
        results = vyre.dask.run(client, work, BLOCKS)
        assert mark.exists()
        assert [each.tobytes() for each in results] == [wanted(block).tobytes() for block in BLOCKS]
        client.wait_for_workers(2, timeout=60)
        # Another process in its place, with the device that the killed one had.
        assert len(set(client.nthreads()) - before) == 1
        assert sorted(each.device for each in client.run(vyre.dask.place).values()) == [e.index for e in DEVICES][:2]


def test_a_worker_that_is_killed_is_no_second_opinion_on_itself(client, tmp_path):
    client.wait_for_workers(2, timeout=60)
    mark = tmp_path / "killed"
    work = vyre.dask.task(counted, backend=dask_work.KilledOnce(mark, 3500))
    results = vyre.dask.run(client, work, BLOCKS, against="another worker")
    assert mark.exists()
    assert [each.tobytes() for each in results] == [wanted(block).tobytes() for block in BLOCKS]
    client.wait_for_workers(2, timeout=60)


# --- each call twice ---


def test_two_backends_that_agree(client):
    results = vyre.dask.run(client, counted, BLOCKS[:2], against="reference")
    assert [each.tolist() for each in results] == [wanted(block).tolist() for block in BLOCKS[:2]]


def test_two_workers_that_agree(client):
    client.wait_for_workers(2, timeout=60)
    results = vyre.dask.run(client, counted, BLOCKS, against="another worker")
    assert [each.tolist() for each in results] == [wanted(block).tolist() for block in BLOCKS]


def test_a_backend_that_is_wrong_is_found_with_its_first_value(client):
    work = vyre.dask.task(counted, backend=dask_work.wrong, against="cpu")
    with pytest.raises(vyre.dask.DisagreementError) as raised:
        vyre.dask.run(client, work, BLOCKS[:1])
    error = raised.value
    assert error.places == ("wrong", "cpu")
    assert error.divergence.expression.startswith("popcount(")
    assert error.divergence.invocation == (0, 0, 0)
    assert error.divergence.values == {"wrong": 32, "cpu": 0}
    assert str(error).startswith("kernel `counted` gave other bytes on wrong than on cpu: y[0]: wrong 33, cpu 1.\n")
    assert str(error).endswith("\nFix: leave out the device that is wrong, and report the program with its text.")


def test_a_worker_that_is_wrong_is_found_with_its_first_value(client):
    client.wait_for_workers(2, timeout=60)
    names = {name: address for address, name in client.run(lambda dask_worker: dask_worker.name).items()}
    work = vyre.dask.task(counted, backend=dask_work.wrong_on_the_first_worker)
    with pytest.raises(vyre.dask.DisagreementError) as raised:
        vyre.dask.run(client, work, BLOCKS[:3], against="another worker")
    error = raised.value
    places = {f"worker {names[0]} (its default device)": 32, f"worker {names[1]} (its default device)": 0}
    assert set(error.places) == set(places)
    assert error.divergence.expression.startswith("popcount(")
    assert set(error.divergence.values) == set(places)


def test_a_difference_that_does_not_come_again_is_told_as_such(client, tmp_path):
    client.wait_for_workers(2, timeout=60)
    work = vyre.dask.task(counted, backend=dask_work.FlippedOnce(tmp_path / "flipped", 0))
    with pytest.raises(vyre.dask.DisagreementError) as raised:
        vyre.dask.run(client, work, BLOCKS, against="another worker")
    error = raised.value
    assert error.divergence is None
    assert "y[3]: " in str(error)
    assert str(error).endswith(
        "\nThey agree when the call is made again: one of them did not compute what it does otherwise.\n"
        "Fix: certify both devices: `vyre conform`, and `vyre.repeat` of the program."
    )


def test_functions_that_differ_are_told_without_a_value():
    with pytest.raises(vyre.dask.DisagreementError) as raised:
        vyre.dask.task(dask_work.telling_its_backend, backend="cpu", against="reference")(BLOCKS[0])
    assert raised.value.places == ("cpu", "reference")
    assert str(raised.value) == (
        "`telling_its_backend` gave other bytes on cpu than on reference. "
        "Fix: make a task of each kernel that it calls, which finds the first value that differs."
    )
    again = pickle.loads(pickle.dumps(raised.value))
    assert (str(again), again.places, again.divergence) == (str(raised.value), raised.value.places, None)


# --- documents ---


def test_every_name_has_an_entry_in_the_reference():
    text = (Path(__file__).parents[3] / "docs" / "api" / "dask.md").read_text(encoding="utf-8")
    assert set(text.split("```{documented} vyre.dask\n")[1].split("```")[0].split()) == {*vyre.dask.__all__}
    assert all(getattr(vyre.dask, name).__doc__ for name in vyre.dask.__all__)


# --- mistakes ---


def test_mistakes_are_told(client):
    run, task = vyre.dask.run, vyre.dask.task
    made = task(counted)
    rows = [
        (lambda: run(client, counted, BLOCKS, BLOCKS[:2]), vyre.ArgumentError, "arguments `blocks` of vyre.dask.run must have one length, got 12, 2", "pass one with one length"),
        (lambda: run(client, made, BLOCKS, against="cpu"), vyre.ArgumentError, "argument `against` of vyre.dask.run is for kernels, and a task has its own", "write vyre.dask.task(kernel, against=...)"),
        (lambda: task(made), vyre.ArgumentError, "argument `kernel` of vyre.dask.task is a task already", "use it as it is"),
        (lambda: task(5), vyre.ArgumentError, "argument `kernel` of vyre.dask.task must be a kernel or a function, got 5", "pass a kernel or a function"),
        (lambda: task(len, k=5), vyre.ArgumentError, "argument `k` of vyre.dask.task is a constant, and `len` is no kernel", "give it to the calls, or to functools.partial"),
        (lambda: task(len, against={"backend": "cpu"}), vyre.ArgumentError, "argument `against` of vyre.dask.task must be the name of a backend for a function that is no kernel, got {'backend': 'cpu'}", "pass the name of a backend for a function that is no kernel"),
        (lambda: task(shifted), vyre.CallError, "kernel `shifted` misses const parameter `k`", "write vyre.dask.task(shifted, k=...)"),
        (lambda: task(shifted, k=5, j=1), vyre.CallError, "kernel `shifted` has no const parameter `j`", "write vyre.dask.task(shifted, k=...)"),
        (lambda: run(client, counted, x=BLOCKS), vyre.ArgumentError, "vyre.dask.run got no blocks: they stand by place, and arguments by name are the same in each call", "write vyre.dask.run(client, kernel, blocks)"),
        (lambda: run(None, counted, BLOCKS), vyre.ArgumentError, "argument `client` of vyre.dask.run must be a distributed.Client, got None", "pass a distributed.Client"),
        (lambda: run(client, counted, [BLOCKS[0], vyre.array(BLOCKS[0])]), vyre.ArgumentError, "vyre.dask.run got a vyre.Array, which is memory of a device here and does not travel", "pass array.numpy()"),
        (lambda: made(BLOCKS[0], backend="cpu"), vyre.ArgumentError, "argument `backend` of kernel `counted` has no place in a call that a worker runs", "leave it out"),
        (lambda: run(client, counted, [BLOCKS[0].astype(np.int64)]), vyre.BindingError, "argument `x` of kernel `counted` must be an array of uint32, got one of int64."),
    ]  # fmt: skip
    for call, *expected in rows:
        with refused(*expected):
            call()
    assert message(lambda: task(counted, against="vulcan"), vyre.ArgumentError).startswith(
        "argument `against` of vyre.dask.task must be"
    )
    assert message(lambda: vyre.dask.OneDevice("vulcan"), vyre.ArgumentError).startswith(
        "argument `backend` of vyre.dask.OneDevice must be"
    )


def test_one_worker_is_no_second_opinion():
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as alone:
        assert message(
            lambda: vyre.dask.run(alone, counted, BLOCKS, against="another worker"), vyre.CapabilityError
        ) == (
            'argument `against="another worker"` of vyre.dask.run needs two workers, and the cluster has 1. '
            "Fix: start more worker processes."
        )


def test_a_second_worker_that_never_comes_is_told():
    class Alone:
        def nthreads(self):
            return {"tcp://one": 1}

        def wait_for_workers(self, count, timeout):
            raise TimeoutError(f"{count} in {timeout}")

    assert message(lambda: vyre.dask._others(Alone(), "tcp://one"), vyre.CapabilityError) == (
        "worker tcp://one has been alone for 60 seconds, and a second one was wanted to compare with. "
        "Fix: start more worker processes, with nannies, which replace those that die."
    )


def test_what_is_missing_is_told_at_import():
    code = "import sys; sys.modules['distributed'] = None\ntry: import vyre.dask\nexcept ImportError as error: print(error)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == (
        "vyre.dask needs the package distributed, which is not installed. Fix: pip install 'vyre[dask]'.\n"
    )
