"""Where hashes make some of their sums by products with a number that is one.

An NVIDIA GPU adds in the units that also shift and do logic, of which a hash keeps every one at work, and multiplies
and adds in others, which a hash leaves idle. There ``x * one + y`` takes the place of ``x + y``, as long as the
compiler does not know that `one` is 1: it is a number that a kernel is given, or comes from data. Elsewhere `one` is
the integer 1, and the optimiser drops its products.
"""

from __future__ import annotations

__all__ = ["products_pay"]


def products_pay(backend: str) -> bool:
    """Whether a backend's devices have units of their own for products."""
    return backend not in ("cpu", "reference")
