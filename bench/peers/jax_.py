"""Runs JAX: functions that XLA compiles."""

from __future__ import annotations

import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp
import numpy as np

from kernel import ROUNDS, Contender, Kernel, Missing


@jax.jit
def xor(a: jax.Array, b: jax.Array) -> jax.Array:
    """Computes the xor element by element."""
    return a ^ b


@jax.jit
def arx(a: jax.Array, b: jax.Array) -> jax.Array:
    """Computes the ARX rounds element by element."""

    def step(_: int, state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        x, y = state
        x = x + y
        z = y ^ x
        return x, (z << jnp.uint32(7)) | (z >> jnp.uint32(25))

    x, y = jax.lax.fori_loop(0, ROUNDS, step, (a, b))
    return x ^ y


def start() -> Contender:
    """Starts JAX on its first device, which must be a GPU."""
    device = jax.devices()[0]
    if device.platform != "gpu":
        raise Missing(f"jax sees no GPU, only {device.platform}")

    def make(workload: str, a: np.ndarray, b: np.ndarray) -> Kernel:
        run = xor if workload == "xor" else arx
        ours, theirs = jax.device_put(a), jax.device_put(b)
        last = [run(ours, theirs)]

        def enqueue() -> None:
            last[0] = run(ours, theirs)

        return Kernel(
            enqueue, lambda: last[0].block_until_ready(), lambda: np.asarray(last[0]), lambda: np.asarray(run(a, b))
        )

    return Contender(f"JAX {jax.__version__} on {device.device_kind}", make)
