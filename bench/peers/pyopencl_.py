"""Runs PoCL through pyopencl: OpenCL C that LLVM compiles for the processor."""

from __future__ import annotations

import numpy as np
import pyopencl as cl

from kernel import ROUNDS, Contender, Kernel, Missing

SOURCE = f"""
__kernel void xor_(__global const uint *a, __global const uint *b, __global uint *out) {{
  size_t i = get_global_id(0);
  out[i] = a[i] ^ b[i];
}}
__kernel void arx_(__global const uint *a, __global const uint *b, __global uint *out) {{
  size_t i = get_global_id(0);
  uint x = a[i], y = b[i];
  for (int k = 0; k < {ROUNDS}; ++k) {{ x += y; y = rotate(y ^ x, 7u); }}
  out[i] = x ^ y;
}}
"""


def start() -> Contender:
    """Starts pyopencl on PoCL's first device."""
    platforms = [platform for platform in cl.get_platforms() if "Portable Computing Language" in platform.name]
    if not platforms:
        raise Missing("no PoCL among the OpenCL platforms (Debian's pocl-opencl-icd brings it)")
    device = platforms[0].get_devices()[0]
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    program = cl.Program(context, SOURCE).build()

    def make(workload: str, a: np.ndarray, b: np.ndarray) -> Kernel:
        kernel = cl.Kernel(program, f"{workload}_")
        flags = cl.mem_flags
        buffers = [cl.Buffer(context, flags.READ_WRITE, a.nbytes) for _ in range(3)]
        cl.enqueue_copy(queue, buffers[0], a)
        cl.enqueue_copy(queue, buffers[1], b)
        kernel.set_args(*buffers)

        def enqueue() -> None:
            cl.enqueue_nd_range_kernel(queue, kernel, (a.size,), (64,))

        def fetch() -> np.ndarray:
            result = np.empty_like(a)
            cl.enqueue_copy(queue, result, buffers[2])
            return result

        def whole() -> np.ndarray:
            cl.enqueue_copy(queue, buffers[0], a)
            cl.enqueue_copy(queue, buffers[1], b)
            enqueue()
            return fetch()

        return Kernel(enqueue, queue.finish, fetch, whole)

    return Contender(f"{platforms[0].version.strip()} through pyopencl {cl.VERSION_TEXT}", make)
