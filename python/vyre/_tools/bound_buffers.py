"""A program's buffers as a host of its WGSL binds them: the bytes of each slot, and its length in elements.

Buffers that live in a workgroup or an invocation are bound by no host. A Bool takes a word, bytes are filled up to
whole words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vyre._core import BufferAccess

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre._core import BufferDecl, Program

__all__ = ["BoundBuffer", "bound_buffers"]

_INSIDE = (BufferAccess.Workgroup, BufferAccess.Private)


class BoundBuffer(NamedTuple):
    """One slot."""

    decl: BufferDecl
    content: bytes
    length: int  # in elements; Bytes counts whole words

    @property
    def is_written(self) -> bool:
        return self.decl.access == BufferAccess.ReadWrite


def bound_buffers(program: Program, inputs: Mapping[str, np.ndarray]) -> list[BoundBuffer]:
    """The slots in the order of their bindings, for arrays of the buffers' types."""
    found = []
    for decl in program.buffers:
        if decl.access in _INSIDE:
            continue
        array = inputs[decl.name]
        content = (array.astype(np.uint32) if array.dtype == np.bool_ else array).tobytes()
        padded = content.ljust(-(-len(content) // 4) * 4, b"\0")
        element = decl.element.min_bytes()
        found.append(BoundBuffer(decl, padded, len(content) // element if element else len(padded) // 4))
    return found
