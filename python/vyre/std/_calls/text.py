"""Texts on a device, in vectors of 16 bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

import vyre
from vyre import In, Out, u8, vec4u32
from vyre._base.refused import must_have
from vyre._core import Array
from vyre.std._calls.host import Place

__all__ = ["padded"]

_MOST = 2**32 - 1


@vyre.kernel(workgroup_size=256)
def _copy(text: In[u8], out: Out[vec4u32]) -> None:
    i = vyre.gid(0)
    words = []
    for k in vyre.unroll(range(4)):
        at = i * 16 + 4 * k
        words.append(text[at] | text[at + 1] << 8 | text[at + 2] << 16 | text[at + 3] << 24)
    out[i] = vyre.vec4u32(words[0], words[1], words[2], words[3])


def padded(text: Any, place: Place, where: str) -> Array:
    """The bytes as vectors of 16 on the device, (n, 4) uint32, with zeros behind the last.

    A resident array is used where it is when it consists of whole vectors, else it is copied.

    Raises: ArgumentError for a text whose places are no u32.
    """
    n = text.shape[0]
    if n > _MOST:
        raise must_have(f"argument `data` of {where}", f"at most {_MOST} bytes", n)
    vectors = -(-n // 16)
    if not isinstance(text, Array):
        # The bytes go to the device from where they lie: to copy them on the host would take longer than the way.
        whole = place.empty((vectors, 4), np.uint32)
        if n:
            whole.reshape(-1).view(vyre.u8)[:n] = text
        return whole
    if n % 16 == 0:
        try:
            return text.view(vec4u32)
        except vyre.BindingError:  # a slice that begins within a vector
            pass
    out = place.empty((vectors, 4), np.uint32)
    if n:
        _copy(text, out=out)
    return out
