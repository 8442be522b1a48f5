"""Runs numba: loops that LLVM compiles, spread over the processor's threads."""

from __future__ import annotations

import numba
import numpy as np

from kernel import ROUNDS, Contender, Kernel, nothing

U32 = np.uint32


@numba.njit(parallel=True)
def xor(a, b, out):
    """Computes one element in each iteration."""
    for i in numba.prange(out.size):
        out[i] = a[i] ^ b[i]


@numba.njit(parallel=True)
def arx(a, b, out):
    """Computes the ARX rounds. numba computes with 64 bits, so each operation is converted back to 32."""
    for i in numba.prange(out.size):
        x, y = a[i], b[i]
        for _ in range(ROUNDS):
            x = U32(x + y)
            z = U32(y ^ x)
            y = U32(U32(z << U32(7)) | U32(z >> U32(25)))
        out[i] = x ^ y


def start() -> Contender:
    """Starts numba with both kernels."""

    def make(workload: str, a: np.ndarray, b: np.ndarray) -> Kernel:
        run = xor if workload == "xor" else arx
        out = np.empty_like(a)

        def whole() -> np.ndarray:
            result = np.empty_like(a)
            run(a, b, result)
            return result

        return Kernel(lambda: run(a, b, out), nothing, lambda: out, whole)

    return Contender(f"numba {numba.__version__}, {numba.get_num_threads()} threads", make)
