"""Which Out arrays a call stores to as a whole: they need not begin as zeros, because nothing reads what they held."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from vyre import _core
from vyre._base.text import as_count

if TYPE_CHECKING:
    from vyre._kernel.kernel import Kernel
    from vyre._kernel.trace import Traced

__all__ = ["whole_outs"]


def whole_outs(kernel: Kernel, traced: Traced, shapes: dict[str, tuple[int, ...]], workgroups: Any) -> frozenset[str]:
    """The names of the Out parameters of which `workgroups` workgroups store every element and read none."""
    if not isinstance(workgroups, tuple):
        return frozenset()
    counts = [as_count(each) or 0 for each in workgroups]
    if 0 in counts:  # the call does nothing, or is refused
        return frozenset()
    if traced.whole_stores is None:
        traced.whole_stores = _core._whole_stores(traced.program)
    outs = {each.name for each in kernel._arrays if each.kind == "Out"}
    lengths = {name: math.prod(shape) for name, shape in shapes.items()}
    counts += [1, 1]
    found = set()
    for name, (axis, below) in traced.whole_stores.items():
        reached = counts[axis] * traced.program.workgroup_size[axis]
        bounds = [reached, *(lengths.get(each, 0) for each in below)]
        if name in outs and lengths[name] <= min(bounds):
            found.add(name)
    return frozenset(found)
