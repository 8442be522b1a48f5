"""Runs PyTorch: its own element-wise function, with an output tensor that is allocated once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from kernel import Contender, Kernel, Missing


def start() -> Contender:
    """Starts PyTorch on CUDA."""
    if not torch.cuda.is_available():
        raise Missing("torch sees no CUDA device")

    def make(workload: str, a: np.ndarray, b: np.ndarray) -> Kernel:
        ours, theirs = (torch.from_numpy(array.view(np.int32)).cuda() for array in (a, b))
        out = torch.empty_like(ours)

        def whole() -> np.ndarray:
            left, right = (torch.from_numpy(array.view(np.int32)).cuda() for array in (a, b))
            return (left ^ right).cpu().numpy().view(np.uint32)

        def batch(count: int) -> Callable[[], object]:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                for _ in range(count):
                    torch.bitwise_xor(ours, theirs, out=out)
            return graph.replay

        return Kernel(
            lambda: torch.bitwise_xor(ours, theirs, out=out),
            torch.cuda.synchronize,
            lambda: out.cpu().numpy().view(np.uint32),
            whole,
            batch,
        )

    return Contender(f"torch {torch.__version__} on {torch.cuda.get_device_name()}", make)
