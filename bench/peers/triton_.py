"""Runs Triton: kernels that are written in Python, on torch's tensors."""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl

from kernel import ROUNDS, Contender, Kernel, Missing

SIZE = 1024


@triton.jit
def xor_(a, b, out, n, SIZE: tl.constexpr):
    """Computes one block of elements in each program instance."""
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = i < n
    tl.store(out + i, tl.load(a + i, mask=inside) ^ tl.load(b + i, mask=inside), mask=inside)


@triton.jit
def arx_(a, b, out, n, SIZE: tl.constexpr, ROUNDS: tl.constexpr):
    """Computes the ARX rounds of one block of elements, as unsigned 32-bit integers."""
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = i < n
    x = tl.load(a + i, mask=inside).to(tl.uint32, bitcast=True)
    y = tl.load(b + i, mask=inside).to(tl.uint32, bitcast=True)
    for _ in range(ROUNDS):
        x = x + y
        z = y ^ x
        y = (z << 7) | (z >> 25)
    tl.store(out + i, (x ^ y).to(tl.int32, bitcast=True), mask=inside)


def start() -> Contender:
    """Starts Triton on CUDA."""
    if not torch.cuda.is_available():
        raise Missing("torch, whose tensors Triton takes, sees no CUDA device")

    def make(workload: str, a: np.ndarray, b: np.ndarray) -> Kernel:
        ours, theirs = (torch.from_numpy(array.view(np.int32)).cuda() for array in (a, b))
        out = torch.empty_like(ours)
        grid = (triton.cdiv(a.size, SIZE),)

        def run(left: torch.Tensor, right: torch.Tensor, result: torch.Tensor) -> None:
            if workload == "xor":
                xor_[grid](left, right, result, a.size, SIZE=SIZE)
            else:
                arx_[grid](left, right, result, a.size, SIZE=SIZE, ROUNDS=ROUNDS)

        def whole() -> np.ndarray:
            left, right = (torch.from_numpy(array.view(np.int32)).cuda() for array in (a, b))
            result = torch.empty_like(left)
            run(left, right, result)
            return result.cpu().numpy().view(np.uint32)

        return Kernel(
            lambda: run(ours, theirs, out), torch.cuda.synchronize, lambda: out.cpu().numpy().view(np.uint32), whole
        )

    return Contender(f"Triton {triton.__version__} on {torch.cuda.get_device_name()}", make)
