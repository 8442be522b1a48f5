"""Lists the contenders that are measured, one row each; vyre's own devices come first."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """Describes a contender.

    Attributes:
        name: its name in the table.
        module: the module whose start() starts it, called with `arguments`.
        package: the package whose import is timed; None where that time means nothing.
        gpu: whether it is only tried where there is a GPU.
        workloads: the kernels that it implements.
        ours: whether it is vyre, which runs in the Python that runs the benchmarks.
        batches: whether it is a peer that can record runs and replay them.
        never: why it cannot even be tried.
    """

    name: str
    module: str
    arguments: tuple[str, ...] = ()
    package: str | None = None
    gpu: bool = False
    workloads: tuple[str, ...] = ("xor", "arx")
    ours: bool = False
    batches: bool = False
    never: str = ""


CONTENDERS = (
    Row("vyre on the GPU", "ours", ("gpu",), gpu=True, ours=True),
    Row("vyre cpu", "ours", ("cpu",), "vyre", ours=True),
    Row("vyre on llvmpipe", "ours", ("llvmpipe",), ours=True),
    Row("vyre reference", "ours", ("reference",), ours=True),
    Row("numpy", "peers.numpy_", package="numpy"),
    Row("numba", "peers.numba_", package="numba"),
    Row("Taichi, processor", "peers.taichi_", ("taichi", "cpu"), "taichi"),
    Row("Quadrants, processor", "peers.taichi_", ("quadrants", "cpu"), "quadrants"),
    Row("PoCL", "peers.pyopencl_", package="pyopencl"),
    Row("Taichi, Vulkan", "peers.taichi_", ("taichi", "vulkan")),
    Row("Quadrants, Vulkan", "peers.taichi_", ("quadrants", "vulkan")),
    Row("wgpu", "peers.wgpu_", ("{vulkan}",), "wgpu"),
    Row(
        "kp",
        "",
        never="kp 0.9 has no wheels, its source distribution clones Vulkan-Headers, fmt and pybind11 with git while it "
        "builds, and it needs numpy below 2",
    ),
    Row("CUDA C++", "peers.cuda_", ("one",), gpu=True, batches=True),
    Row("CUDA C++, uint4", "peers.cuda_", ("four",), gpu=True, workloads=("xor",)),
    Row("CuPy RawKernel", "peers.cupy_", ("raw",), "cupy", gpu=True, batches=True),
    Row("CuPy ufunc", "peers.cupy_", ("ufunc",), gpu=True, workloads=("xor",)),
    Row("torch", "peers.torch_", package="torch", gpu=True, workloads=("xor",), batches=True),
    Row("Triton", "peers.triton_", package="triton", gpu=True),
    Row("JAX", "peers.jax_", package="jax", gpu=True),
)
BY_NAME = {row.name: row for row in CONTENDERS}
