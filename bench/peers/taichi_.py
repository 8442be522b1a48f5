"""Runs Taichi, and Quadrants, which grew out of it, from one source on the processor and on Vulkan."""

# Annotations are read when a kernel is made, so they cannot be postponed.
import importlib

import numpy as np

from kernel import ROUNDS, Contender, Kernel, Missing


def start(package: str, arch: str) -> Contender:
    """Starts "taichi" or "quadrants" on "cpu" or "vulkan"."""
    ti = importlib.import_module(package)
    ti.init(arch=getattr(ti, arch), offline_cache=False, log_level=ti.ERROR)
    got = ti.lang.impl.current_cfg().arch
    if arch == "vulkan" and got != ti.vulkan:
        raise Missing(f"{package} found no Vulkan device and fell back to {got}")

    @ti.kernel
    def xor(a: ti.types.ndarray(), b: ti.types.ndarray(), out: ti.types.ndarray()):
        for i in range(out.shape[0]):
            out[i] = a[i] ^ b[i]

    @ti.kernel
    def arx(a: ti.types.ndarray(), b: ti.types.ndarray(), out: ti.types.ndarray()):
        for i in range(out.shape[0]):
            x = a[i]
            y = b[i]
            for _ in range(ROUNDS):
                x = x + y
                z = y ^ x
                y = (z << ti.u32(7)) | ti.bit_shr(z, ti.u32(25))
            out[i] = x ^ y

    def make(workload: str, a: np.ndarray, b: np.ndarray) -> Kernel:
        run = xor if workload == "xor" else arx
        ours, theirs, out = (ti.ndarray(ti.u32, a.size) for _ in range(3))
        ours.from_numpy(a)
        theirs.from_numpy(b)

        def whole() -> np.ndarray:
            result = np.empty_like(a)
            run(a, b, result)
            ti.sync()
            return result

        return Kernel(lambda: run(ours, theirs, out), ti.sync, out.to_numpy, whole)

    return Contender(f"{package} {'.'.join(map(str, ti.__version__))}, {arch}", make)
