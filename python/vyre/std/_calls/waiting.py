"""Results that a call reads from the device before it goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre._base.refused import no_place
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np

    from vyre._core import Array

__all__ = ["waited"]


def waited(array: Array, where: str) -> np.ndarray:
    """The elements of an array that the call needs on the host.

    Raises: ArgumentError while a vyre.graph() is recorded, which runs nothing.
    """
    try:
        return array.numpy()
    except ArgumentError:
        raise no_place(f"{where}, which reads from the device on its way,", "in a graph") from None
