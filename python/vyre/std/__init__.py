"""The standard library: whole-array operations on numpy arrays, bytes and resident arrays.

Each gives the same bytes on every backend and device. With numpy arrays or bytes a call gives such and waits; with
resident arrays (``vyre.array``) it gives resident ones and does not wait. ``backend=`` and ``device=`` are as for
vyre.run.
"""

from vyre.std._messages import Messages
from vyre.std.adler import adler32
from vyre.std.crc import crc32, crc32c

__all__ = [
    "Messages",
    "adler32",
    "crc32",
    "crc32c",
]
