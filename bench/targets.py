"""Lists the targets, one row each. `make bench` makes its table from them; nothing else decides what is met."""

from __future__ import annotations

from dataclasses import dataclass

SMALL = 1 << 10
# Sizes of `a ^ b`, also for the picture of cost by size. Memory-bound targets use the last one.
SIZES = {"cpu": (SMALL, 1 << 15, 1 << 20, 1 << 22), "gpu": (SMALL, 1 << 15, 1 << 20, 1 << 24, 1 << 26, 1 << 28)}
# Sizes of 256 rounds of ARX, and of calls with numpy arrays on a GPU.
ARX = {"cpu": 1 << 20, "gpu": 1 << 26}
WHOLE = 1 << 26
# The reference is an interpreter, so it gets fewer elements.
REFERENCE_ARX = 1 << 14

PROCESSOR = ("numpy", "numba", "Taichi, processor", "Quadrants, processor", "PoCL")
SAME_DRIVER = ("Taichi, Vulkan", "Quadrants, Vulkan", "wgpu", "kp")
GPU = ("CUDA C++", "CUDA C++, uint4", "CuPy RawKernel", "CuPy ufunc", "torch", "Triton", "JAX", *SAME_DRIVER)


@dataclass(frozen=True)
class Unit:
    """Tells how seconds, or a plain number, are shown.

    Attributes:
        name: the text after the number.
        work: the work for one element, such as terabytes for TB/s; 0 where seconds themselves are shown.
        scale: the factor for seconds where they are shown.
    """

    name: str
    work: float = 0.0
    scale: float = 1.0

    @property
    def higher_is_better(self) -> bool:
        return self.work > 0


UNITS = {
    "us": Unit("us", scale=1e6),
    "ms": Unit("ms", scale=1e3),
    "times": Unit("times"),
    # Two words read and one written, four bytes each.
    "TB/s": Unit("TB/s", work=12 / 1e12),
    "GB/s": Unit("GB/s", work=12 / 1e9),
    "Tops/s": Unit("Tops/s", work=768 / 1e12),
    "Gops/s": Unit("Gops/s", work=768 / 1e9),
    "Mops/s": Unit("Mops/s", work=768 / 1e6),
}


@dataclass(frozen=True)
class Target:
    """Describes one target.

    Attributes:
        what: the first column.
        ours: the contender of contenders.py, or "host".
        figure: what is measured: "<workload> <kind> <elements>", or a figure of host.py.
        unit: how it is shown.
        goal: the second column.
        bound: the value that the figure must reach (in its unit); None when the goal is about a peer.
        times: how many times as fast as the peer `than` it must be; 0 when the goal is a bound.
        than: that peer; empty for each of the peers.
        peers: the contenders that are shown beside it; "import <package>" stands for the import of that package.
        gpu: whether it needs a real GPU (True) or only makes sense without one (False); None for both.
        only: the bound holds on devices whose name holds this; on others the goal is `times` and `than`.
    """

    what: str
    ours: str
    figure: str
    unit: str
    goal: str
    bound: float | None = None
    times: float = 0.0
    than: str = ""
    peers: tuple[str, ...] = ()
    gpu: bool | None = None
    only: str = ""


def targets() -> tuple[Target, ...]:
    """Returns the targets: speed.md's table in its order, then goals to beat each peer that a user could pick."""
    large, gpu = SIZES["cpu"][-1], "vyre on the GPU"
    imports = ("numpy", "numba", "taichi", "quadrants", "wgpu", "pyopencl", "cupy", "torch", "triton", "jax")
    return (
        Target(
            "naive elementwise u32 program, resident",
            gpu,
            f"xor resident {SIZES['gpu'][-1]}",
            "TB/s",
            ">= 4.2 TB/s on an H200; elsewhere >= 0.95 x CUDA C++, uint4",
            bound=4.2,
            times=0.95,
            than="CUDA C++, uint4",
            peers=GPU,
            gpu=True,
            only="H200",
        ),
        Target(
            "256 ARX rounds, resident",
            gpu,
            f"arx resident {ARX['gpu']}",
            "Tops/s",
            ">= 0.97 x CUDA C++",
            times=0.97,
            than="CUDA C++",
            peers=GPU,
            gpu=True,
        ),
        Target("call, resident, no wait", gpu, f"xor enqueue {SMALL}", "us", "<= 3 us", bound=3, peers=GPU, gpu=True),
        Target(
            "recorded batch: a dispatch on the device",
            gpu,
            f"xor batch {SMALL}",
            "us",
            "<= 2.6 us",
            bound=2.6,
            peers=GPU,
            gpu=True,
        ),
        Target(
            "recorded batch: a dispatch on the host",
            gpu,
            f"xor batch-host {SMALL}",
            "us",
            "<= 0.5 us",
            bound=0.5,
            peers=GPU,
            gpu=True,
        ),
        Target(
            "dispatch and wait, resident", gpu, f"xor round {SMALL}", "us", "<= 15 us", bound=15, peers=GPU, gpu=True
        ),
        Target(
            f"no wait, {SIZES['gpu'][-1] >> 20} M elements over {SMALL:,}",
            gpu,
            "flat",
            "times",
            "<= 1.5 times (flat)",
            bound=1.5,
            gpu=True,
        ),
        Target(
            f"numpy in, numpy out, {WHOLE >> 20} M elements",
            gpu,
            f"xor whole {WHOLE}",
            "GB/s",
            ">= 3 x CuPy RawKernel",
            times=3,
            than="CuPy RawKernel",
            peers=("numpy", *GPU),
            gpu=True,
        ),
        Target("build to SPIR-V in C++, 200 nodes", "host", "core all 200", "ms", "<= 1 ms", bound=1),
        Target("build to SPIR-V in C++, 99,000 nodes", "host", "core all 99000", "ms", "<= 300 ms", bound=300),
        Target("build to SPIR-V from Python, 200 nodes", "host", "compile all 200", "ms", "<= 1 ms", bound=1),
        Target("build to SPIR-V from Python, 99,000 nodes", "host", "compile all 99000", "ms", "<= 300 ms", bound=300),
        Target(
            "instructions a node, 99,000 nodes over 2,000",
            "host",
            "growth",
            "times",
            "<= 1.25 times (linear)",
            bound=1.25,
        ),
        Target(
            "import vyre",
            "host",
            "import vyre",
            "ms",
            "<= 60 ms",
            bound=60,
            peers=tuple(f"import {name}" for name in imports),
        ),
        Target(
            f"cpu beside llvmpipe: a ^ b, {large >> 20} M, numpy in, numpy out",
            "vyre cpu",
            f"xor whole {large}",
            "GB/s",
            ">= 2 x llvmpipe",
            times=2,
            than="vyre on llvmpipe",
            peers=("vyre on llvmpipe",),
            gpu=False,
        ),
        Target(
            f"cpu beside llvmpipe: a ^ b, {large >> 20} M, resident",
            "vyre cpu",
            f"xor resident {large}",
            "GB/s",
            ">= 2 x llvmpipe",
            times=2,
            than="vyre on llvmpipe",
            peers=("vyre on llvmpipe",),
            gpu=False,
        ),
        Target(
            f"cpu beside llvmpipe: ARX, {ARX['cpu'] >> 20} M, numpy in, numpy out",
            "vyre cpu",
            f"arx whole {ARX['cpu']}",
            "Gops/s",
            ">= 0.7 x llvmpipe",
            times=0.7,
            than="vyre on llvmpipe",
            peers=("vyre on llvmpipe",),
            gpu=False,
        ),
        Target(
            "reference: simple operations, one core",
            "vyre reference",
            f"arx whole {REFERENCE_ARX}",
            "Mops/s",
            ">= 20 Mops/s",
            bound=20,
            peers=("numpy",),
        ),
        Target("reference: the cost of checks, worst of four", "host", "checks", "times", "<= 5 times", bound=5),
        *(
            Target(
                f"memory of a call over its arrays, {where}",
                "host",
                f"memory {where}",
                "times",
                "<= 1.1 times",
                bound=1.1,
                gpu=gpu_only,
            )
            for where, gpu_only in (("cpu", None), ("reference", None), ("llvmpipe", False), ("gpu", True))
        ),
        *(
            Target(f"{what}, processor", "vyre cpu", figure, unit, "ahead of each", times=1, peers=PROCESSOR)
            for what, figure, unit in (
                (f"a ^ b, {large >> 20} M, resident", f"xor resident {large}", "GB/s"),
                (f"a ^ b, {large >> 20} M, numpy in, numpy out", f"xor whole {large}", "GB/s"),
                (f"256 ARX rounds, {ARX['cpu'] >> 20} M, numpy in, numpy out", f"arx whole {ARX['cpu']}", "Gops/s"),
                ("a ^ b, 1,024, resident, call and wait", f"xor round {SMALL}", "us"),
                ("a ^ b, 1,024, numpy in, numpy out", f"xor whole {SMALL}", "us"),
            )
        ),
        Target(
            f"no wait, llvmpipe, {large >> 20} M elements over {SMALL:,}",
            "vyre on llvmpipe",
            "flat",
            "times",
            "<= 1.5 times (flat)",
            bound=1.5,
            gpu=False,
        ),
        *(
            Target(
                f"{what}, llvmpipe",
                "vyre on llvmpipe",
                figure,
                unit,
                "ahead of each",
                times=1,
                peers=SAME_DRIVER,
                gpu=False,
            )
            for what, figure, unit in (
                (f"a ^ b, {large >> 20} M, resident", f"xor resident {large}", "GB/s"),
                (f"a ^ b, {large >> 20} M, numpy in, numpy out", f"xor whole {large}", "GB/s"),
                (f"256 ARX rounds, {ARX['cpu'] >> 20} M, numpy in, numpy out", f"arx whole {ARX['cpu']}", "Gops/s"),
                ("a ^ b, 1,024, resident, no wait", f"xor enqueue {SMALL}", "us"),
                ("a ^ b, 1,024, resident, call and wait", f"xor round {SMALL}", "us"),
                ("a ^ b, 1,024, a dispatch of a recorded batch", f"xor batch {SMALL}", "us"),
                ("a ^ b, 1,024, numpy in, numpy out", f"xor whole {SMALL}", "us"),
            )
        ),
    )


TARGETS = targets()


def shown(unit: str, figure: str, seconds: float) -> float:
    """A measured figure in its unit."""
    chosen = UNITS[unit]
    if chosen.work:
        return chosen.work * int(figure.split()[-1]) / seconds
    return seconds * chosen.scale
