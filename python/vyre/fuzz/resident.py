"""Runs programs on arrays that stay on their device, and on a grid from data.

``vyre fuzz --backend vyre.fuzz.resident:run`` compares such calls with the reference's, whose grid is given by value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import vyre

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def run(
    program: vyre.Program,
    inputs: Mapping[str, Any],
    workgroups: Sequence[int],
    *,
    backend: str | None = None,
    device: int | vyre.Device | None = None,
    optimize: bool | Sequence[str] | None = None,
) -> dict[str, np.ndarray]:
    """Run a program as ``vyre.run`` does, on arrays that stay on their device."""
    arrays: dict[str, vyre.Array] = {}
    for decl in program.buffers:
        if decl.access in (vyre.BufferAccess.Workgroup, vyre.BufferAccess.Private):
            continue
        given = inputs.get(decl.name, decl.count)
        make: Any = vyre.empty if isinstance(given, int) else vyre.array
        more = {"dtype": decl.element} if isinstance(given, int) else {}
        arrays[decl.name] = make(given, backend=backend, device=device, **more)
    # The counts lie where many devices cannot bind an array, and the largest grid has more workgroups on every axis.
    counts = vyre.array(np.array([9, *workgroups, 9], np.uint32), backend=backend, device=device)[1:4]
    at_most = tuple(count + axis for axis, count in enumerate(workgroups, 1))
    program(*arrays.values(), workgroups=counts, at_most=at_most, optimize=optimize)
    return {
        decl.name: arrays[decl.name].numpy() for decl in program.buffers if decl.access == vyre.BufferAccess.ReadWrite
    }
