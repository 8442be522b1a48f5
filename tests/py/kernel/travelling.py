"""Kernels and procedures that test_travelling.py runs as a script, and has another process run that lacks the file."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import pickle
import sys
from pathlib import Path

import cloudpickle
import numpy as np

import vyre
from vyre import DataType, In, InOut, Out, u32, u64

FACTOR, PAIR, TABLE = 3, (2, np.uint32(7)), np.array([1, 10, 100, 1000], np.uint32)
STEPS = [lambda x: x + 1, lambda x: x * 2]


def raised(x):
    return x + FACTOR


@vyre.kernel
def captured(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    v = raised(x[i]) * PAIR[1] + TABLE[i & 3]
    for step in STEPS:
        v = step(v)
    y[i] = v


def made_for(element: DataType, factor: int):
    def made(x, y):
        i = vyre.gid(0)
        y[i] = x[i] * factor

    made.__annotations__ = {"x": In[element], "y": Out[element]}
    return vyre.kernel(made, workgroup_size=32)


class Model:
    unit = 3

    @vyre.kernel  # reads the class that has it
    def scaled(x: In[u32], y: Out[u32]):
        i = vyre.gid(0)
        y[i] = x[i] * Model.unit


@vyre.kernel
def chosen(x: In[u32], function: vyre.const, y: Out[u32]):
    i = vyre.gid(0)
    y[i] = function(x[i])


@vyre.op("travelling.mixed", inputs=[u32, u32], output=u32)
def mixed(a, b):
    return (a ^ b) + 1


@vyre.kernel
def with_operations(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    y[i] = mixed(x[i], 6) + vyre.ops.call("travelling.mixed", x[i], 1)


def doubling():
    @vyre.kernel
    def doubled(x: InOut[u32]):
        i = vyre.gid(0)
        x[i] = x[i] * 2

    return doubled


@vyre.procedure
def steps(x: In[u32]):
    more = Model.unit + len(PAIR)

    @vyre.kernel
    def first(x: In[u32], y: Out[u32]):
        i = vyre.gid(0)
        y[i] = x[i] + more

    a, b = vyre.scratch(u32, x.length), vyre.scratch(u32, x.length)
    first(x, a)
    captured(a, b)
    grown(b)
    return b


@vyre.procedure
def grown(x: InOut[u32]):
    doubling()(x)


@vyre.kernel
def wrong(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    y[i] = x[i] + missing  # noqa: F821


if __name__ == "__main__":
    kernels = {
        "captured": captured,
        "of a factory": made_for(u32, 6),
        "of a factory for another type": made_for(u64, 1 << 33),
        "of a class": Model.scaled,
        "specialized": chosen.specialize(function=lambda x: x * FACTOR),
        "with operations": with_operations,
        "steps": steps,
        "wrong": wrong,
    }
    pickles = {name: (pickle.dumps(each), cloudpickle.dumps(each, protocol=5)) for name, each in kernels.items()}
    Path(sys.argv[1]).write_bytes(pickle.dumps(pickles))
    try:
        wrong.program  # noqa: B018
    except vyre.KernelError as error:
        print(error)
    spawn, block = multiprocessing.get_context("spawn"), np.arange(4, dtype=np.uint32)
    with spawn.Pool(1) as pool:
        print(*pool.map(made_for(u32, 7), [block]))
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as pool:
        print(*pool.map(steps, [block]))
