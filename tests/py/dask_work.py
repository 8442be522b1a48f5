"""What test_dask.py has workers do: ways to run a program that are wrong, or end their process, at a chosen moment.

They are in a module of their own, which workers import.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import distributed
import numpy as np

import vyre
import vyre.dask


def wrong(program, inputs, workgroups):
    """Counts leading zeros where the program counts bits."""
    broken = vyre.parse(program.to_text().replace("popcount", "clz"))
    return vyre.run(broken, inputs, workgroups, backend="reference")


def wrong_on_the_first_worker(program, inputs, workgroups):
    if distributed.get_worker().name == 0:
        return wrong(program, inputs, workgroups)
    return vyre.run(program, inputs, workgroups, backend="reference")


class Once:
    """Runs on cpu; what it does once, in whichever process is first, is marked by a file."""

    def __init__(self, mark: Path, number: int) -> None:
        self.mark, self.number = mark, number

    def __call__(self, program, inputs, workgroups):
        outputs = vyre.run(program, inputs, workgroups, backend="cpu")
        if self.number in inputs["x"]:
            try:
                self.mark.open("x").close()
            except FileExistsError:
                return outputs
            self.happens(outputs)
        return outputs


class KilledOnce(Once):
    def happens(self, outputs):
        os.kill(os.getpid(), signal.SIGKILL)


class FlippedOnce(Once):
    """One bit of the result is wrong, as when memory fails."""

    def happens(self, outputs):
        outputs["y"][3] ^= 1 << 20


def sorted_and_hashed(block):
    """Several calls of the library, which run on the worker's device."""
    return np.asarray(vyre.std.sort(block)), vyre.std.sha256(block.tobytes()), vyre.empty(1).backend


def telling_its_backend(block):
    return vyre.empty(1).backend


@vyre.kernel
def doubled(x: vyre.In[vyre.u32], y: vyre.Out[vyre.u32]):
    i = vyre.gid(0)
    y[i] = x[i] * 2


def device_of_a_call():
    """The device that the profile of a task tells."""
    with vyre.profile() as seen:
        vyre.dask.task(doubled)(np.arange(4, dtype=np.uint32))
    (device,) = {event.device for event in seen.events if event.backend is not None}
    return device
