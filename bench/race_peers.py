"""Brings the peers of cpu_race.py that need something: numba, a C compiler, or llvmpipe. Each is None where it is not.

numba_kernels()     xor, saxpy, copy and copy4, parallel, of arrays that are given
compiled_c()        peers/vectors_.c, compiled by clang for this processor
llvmpipe()          arguments of a call of vyre on Mesa's llvmpipe
"""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = Path(__file__).with_name("peers") / "vectors_.c"
FLAGS = ("-O3", "-march=native", "-pthread", "-shared", "-fPIC")


def missing(what: str, why: str) -> None:
    print(f"no rows of {what}: {why}", flush=True)


@cache
def numba_kernels() -> SimpleNamespace | None:
    try:
        import numba
    except ImportError as error:
        return missing("numba", f"{error}. Fix: pip install numba.")
    numba.set_num_threads(min(numba.config.NUMBA_NUM_THREADS, len(os.sched_getaffinity(0))))
    word = np.uint32
    compiled = numba.njit(parallel=True)

    @compiled
    def xor(a, b, out):
        for i in numba.prange(out.size):
            out[i] = a[i] ^ b[i]

    @compiled
    def saxpy(a, b, out):
        for i in numba.prange(out.size):
            out[i] = word(a[i] * word(7)) + b[i]

    @compiled
    def copy(a, out):
        for i in numba.prange(out.size):
            out[i] = a[i]

    @compiled
    def copy4(a, out):
        for i in numba.prange(out.shape[0]):
            for k in range(4):
                out[i, k] = a[i, k]

    @compiled
    def arx(a, out):
        for i in numba.prange(out.size):
            x, y = a[i], word(i)
            for _ in range(256):
                x = word(x + y)
                x = word((x << word(7)) | (x >> word(25))) ^ y
                y = word(y + x)
            out[i] = x ^ y

    return SimpleNamespace(xor=xor, saxpy=saxpy, copy=copy, copy4=copy4, arx=arx)


class CompiledC:
    """The functions of peers/vectors_.c over numpy arrays, with as many threads as there are processors."""

    def __init__(self, path: Path) -> None:
        self.functions, self.threads = ctypes.CDLL(str(path)), len(os.sched_getaffinity(0))

    def __call__(self, name: str, *given: np.ndarray | int) -> Callable[[], None]:
        function = getattr(self.functions, name)
        as_c = [ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else ctypes.c_size_t(a) for a in given]
        return lambda keep=given: function(*as_c, ctypes.c_int(self.threads))


@cache
def compiled_c() -> CompiledC | None:
    if platform.machine() != "x86_64":
        return missing("C", "its vectors are for x86-64")
    compiler = shutil.which("clang")
    if compiler is None:
        return missing("C", "there is no clang. Fix: apt-get install clang.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.so"
        done = subprocess.run(
            [compiler, *FLAGS, str(SOURCE), "-o", str(path)], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            return missing("C", f"clang does not compile {SOURCE}: {done.stderr.strip()}")
        return CompiledC(path)


@cache
def llvmpipe() -> dict[str, Any] | None:
    for device in vyre.devices():
        if "llvmpipe" in device.name.lower() and device.backend == "vulkan":
            return {"backend": "vulkan", "device": device}
    return missing("llvmpipe", "Vulkan does not list it. Fix: apt-get install mesa-vulkan-drivers.")
