"""Takes the inputs of a call from the caller once, for functions that use them more than once, and copies arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre import _core
from vyre._arrays.dlpack import numpy_of, speaks_dlpack
from vyre._base.refused import no_memory
from vyre._base.text import shown
from vyre.errors import BindingError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["copied", "named", "of_other_libraries"]


def named(inputs: Any, function: str) -> dict[str, Any]:
    """The inputs of a call as a new dict. A Mapping of the user's may give other arrays each time, or have no end.

    The memory of other libraries' arrays is given as numpy arrays.

    Raises: BindingError.
    """
    given: dict[str, Any] = _core._inputs(inputs, function)
    return of_other_libraries(given) or given


def of_other_libraries(inputs: Mapping[str, Any]) -> dict[str, Any] | None:
    """The inputs with the memory of torch's, jax's and pyarrow's arrays as numpy arrays; None where there are none.

    Raises: BindingError for an array whose memory the host does not read.
    """
    if not any(map(speaks_dlpack, inputs.values())):
        return None
    return {name: numpy_of(value, f"buffer {shown(name)}", BindingError) for name, value in inputs.items()}


def copied(inputs: Mapping[str, Any], function: str) -> dict[str, Any]:
    """The inputs with a copy of each array, so that a later write to the caller's array does not change it.

    Raises: DeviceMemoryError.
    """
    try:
        return {name: _copy(value) for name, value in inputs.items()}
    except MemoryError as error:
        raise no_memory("the host", f"a copy of argument `inputs` of {function}: {error}") from None


def _copy(value: Any) -> Any:
    if isinstance(value, _core.Array):
        return value.numpy()
    # An array that a call refuses stays as it is: a copy would be contiguous.
    return value.copy() if isinstance(value, np.ndarray) and value.flags.c_contiguous else value
