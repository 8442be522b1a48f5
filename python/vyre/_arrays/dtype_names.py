"""The names of dtypes, for calls that must be quick."""

from __future__ import annotations

import numpy as np

from vyre._base.types import OF_DTYPE

__all__ = ["NAME_OF", "dtype_name"]

# By numpy's own dtype objects, which live for ever. Their attribute `name` is computed at each reading, which takes
# longer than all else that a small call looks at.
NAME_OF = {id(np.dtype(name)): name for name in OF_DTYPE}


def dtype_name(dtype: np.dtype) -> str:
    """The name of a dtype, as its attribute of that name says it."""
    return NAME_OF.get(id(dtype)) or dtype.name
