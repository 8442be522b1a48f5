"""`await array` and `await graph`: other tasks run meanwhile, cancelling ends the wait, and errors arrive."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

import vyre
from conftest import message
from vyre import In, Out, u32
from vyre._arrays.awaiting import awaited

X = np.arange(4096, dtype=np.uint32)


@vyre.kernel
def spun(x: In[u32], turns: u32, y: Out[u32]):
    i = vyre.gid(0)
    value = x[i]
    for _ in range(turns):
        value = value * 1664525 + 1013904223
    y[i] = value


async def counted(awaitable):
    """What it gives, and how often another task ran meanwhile."""
    turns = 0

    async def other():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    try:
        return await awaitable, turns
    finally:
        task.cancel()


def test_awaiting_gives_the_array_once_its_calls_are_done(place):
    async def main():
        array = spun(vyre.array(X, **place), 3)
        assert await array is array
        first, second = spun(array, 1), spun(array, 2)
        return (await first).numpy(), (await second).numpy()

    wanted = spun(spun(X, 3), 1)
    first, second = asyncio.run(main())
    assert first.tolist() == wanted.tolist()
    assert second.tolist() == spun(wanted, 1).tolist()


def test_a_graph_is_awaited_too(place):
    x = vyre.array(X, **place)
    with vyre.graph() as graph:
        y = spun(x, 2)

    async def main():
        graph.replay(3)
        assert await graph is graph
        return y.numpy()

    assert asyncio.run(main()).tolist() == spun(X, 2).tolist()


# llvmpipe does the work when it is submitted, so that nothing is left to wait for; so do cpu and reference.
ASYNCHRONOUS = [
    device for device in vyre.devices("vulkan") if device.usable and not device.name.lower().startswith("llvmpipe")
]


@pytest.mark.parametrize("device", ASYNCHRONOUS, ids=lambda device: device.name)
def test_other_tasks_run_while_a_device_works(device):
    async def main():
        x = vyre.array(X, device=device)
        calls = 1
        while True:
            array = x
            for _ in range(calls):
                array = spun(array, 20_000)
            _, others = await counted(array)
            if others > 3:
                return
            calls *= 2  # it was done before the loop had a turn

    asyncio.run(asyncio.wait_for(main(), 120))


class Work:
    """Waits as an array does, until it is told that it is done; or raises."""

    def __init__(self, error=None):
        self.done, self.error, self.waiting = threading.Event(), error, 0

    def wait(self, timeout=None):
        self.waiting += 1
        finished = self.done.wait(timeout)
        self.waiting -= 1
        if not finished:
            raise vyre.DispatchTimeoutError("not done. Fix: wait.")
        if self.error is not None:
            raise self.error

    def __await__(self):
        return awaited(self)


def test_the_loop_goes_on_during_a_wait():
    """The wait ends only because another task runs meanwhile."""

    async def main():
        work = Work()

        async def finish():
            while not work.waiting:
                await asyncio.sleep(0)
            work.done.set()

        found, _ = await asyncio.gather(work_of(work), finish())
        return found is work

    assert asyncio.run(asyncio.wait_for(main(), 60))


async def work_of(work):
    return await work


def test_a_cancelled_task_stops_waiting():
    async def main():
        work = Work()
        task = asyncio.ensure_future(work)
        while not work.waiting:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # asyncio.run waits for the threads of its pool: this ends although the work is never done.

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_time_out_of_asyncio_ends_the_wait():
    async def main():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(Work(), 0.01)

    asyncio.run(main())


ERRORS = [
    vyre.DeviceLostError("the device is gone. Fix: start again."),
    # The waits of `await` end by an error of the same class.
    vyre.DispatchTimeoutError("the call did not end within 2 s. Fix: raise the time-out."),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_arrive_where_it_is_awaited(error):
    async def main(work):
        task = asyncio.ensure_future(work)
        while not work.waiting:
            await asyncio.sleep(0)
        work.done.set()
        await task

    with pytest.raises(type(error)) as raised:
        asyncio.run(asyncio.wait_for(main(Work(error)), 60))
    assert raised.value is error


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_of_calls_that_are_over_arrive_too(error):
    work = Work(error)
    work.done.set()
    with pytest.raises(type(error)) as raised:
        asyncio.run(asyncio.wait_for(work_of(work), 60))
    assert raised.value is error


def test_what_is_done_needs_no_thread():
    work = Work()
    work.done.set()

    async def main():
        before = threading.active_count()
        assert await work is work
        assert await vyre.array(X, backend="cpu") is not None
        return threading.active_count() - before

    assert asyncio.run(main()) == 0


def test_awaiting_outside_asyncio_is_told():
    assert message(lambda: next(vyre.empty(1, backend="cpu").__await__()), vyre.ArgumentError) == (
        "a vyre.Array is awaited outside asyncio. Fix: write x.wait(), or await it in a coroutine that asyncio runs."
    )


# --- the default device ---


def test_a_task_begins_with_the_default_of_its_maker_and_keeps_its_own():
    async def here():
        await asyncio.sleep(0)
        return vyre.empty(1).backend

    async def chosen(backend, ready, others):
        with vyre.default_device(backend):
            ready.set()
            await others.wait()  # both have chosen before either looks
            return await here(), await asyncio.to_thread(lambda: vyre.empty(1).backend)

    async def main():
        one, two = asyncio.Event(), asyncio.Event()
        with vyre.default_device("reference"):
            inherited = asyncio.create_task(here())
        both = await asyncio.gather(chosen("cpu", one, two), chosen("reference", two, one))
        return await inherited, both

    assert asyncio.run(main()) == ("reference", [("cpu", "cpu"), ("reference", "reference")])
