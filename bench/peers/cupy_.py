"""Runs CuPy: kernels in CUDA C++ source, or its own element-wise functions."""

from __future__ import annotations

from collections.abc import Callable

import cupy as cp
import numpy as np

from kernel import ROUNDS, Contender, Kernel

SIZE = 256
SOURCE = f"""
extern "C" __global__ void xor_(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {{
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] ^ b[i];
}}
extern "C" __global__ void arx_(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {{
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x = a[i], y = b[i];
  for (int k = 0; k < {ROUNDS}; ++k) {{ x += y; unsigned z = y ^ x; y = (z << 7) | (z >> 25); }}
  out[i] = x ^ y;
}}
"""


def start(form: str) -> Contender:
    """Starts CuPy with "raw" kernels or with the "ufunc"."""
    cp.cuda.runtime.getDeviceCount()
    module = cp.RawModule(code=SOURCE)

    def make(workload: str, a: np.ndarray, b: np.ndarray) -> Kernel:
        ours, theirs = cp.asarray(a), cp.asarray(b)
        out = cp.empty_like(ours)
        raw = module.get_function(f"{workload}_")
        grid, size = (-(-a.size // SIZE),), np.uint32(a.size)

        def run(left: cp.ndarray, right: cp.ndarray, result: cp.ndarray) -> None:
            if form == "raw":
                raw(grid, (SIZE,), (left, right, result, size))
            else:
                cp.bitwise_xor(left, right, out=result)

        def whole() -> np.ndarray:
            left, right = cp.asarray(a), cp.asarray(b)
            result = cp.empty_like(left)
            run(left, right, result)
            return cp.asnumpy(result)

        def batch(count: int) -> Callable[[], object]:
            stream = cp.cuda.Stream(non_blocking=True)
            with stream:
                stream.begin_capture()
                for _ in range(count):
                    run(ours, theirs, out)
                graph = stream.end_capture()
            return graph.launch

        wait = cp.cuda.get_current_stream().synchronize
        return Kernel(lambda: run(ours, theirs, out), wait, lambda: cp.asnumpy(out), whole, batch)

    name = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    return Contender(f"CuPy {cp.__version__} on {name}", make)
