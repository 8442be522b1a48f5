"""Calls of a Procedure that is a value, read from text or bytes for instance: its arrays and numbers by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._arrays import inputs as _inputs
from vyre._arrays.given import bits_given, check_array
from vyre._base.text import shown
from vyre._base.types import NUMPY
from vyre._core import Array, DataType
from vyre._default import check_place, place
from vyre.errors import BindingError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre._core import Procedure

__all__ = ["by_name", "run_by_name", "submit_by_name"]

_OWNER = "vyre.run"


def run_by_name(
    procedure: Procedure, inputs: Mapping[str, Any], backend: str | None, device: Any, timeout: float | None = None
) -> dict[str, np.ndarray]:
    """The in_outs and outputs of one call, by name."""
    procedure.check()
    if backend is not None or device is not None:
        check_place(backend, device, _OWNER)
    given = _inputs.named(inputs, _OWNER)
    _core._check_place_is_free(*place(backend, device), _OWNER)
    arrays, numbers = by_name(procedure, given, f"argument `inputs` of {_OWNER}", *place(backend, device))
    return submit_by_name(procedure, arrays, numbers, *place(backend, device), timeout)


def submit_by_name(
    procedure: Procedure,
    arrays: Sequence[Array],
    numbers: Sequence[int],
    backend: Any,
    device: Any,
    timeout: float | None = None,
) -> dict[str, np.ndarray]:
    """The in_outs and outputs of a call with arrays and numbers in the order of the interface; it changes its in_outs.

    Without an array the backend and the device say where it runs.
    """
    interface = _core._procedure_interface(procedure, True)
    beside = arrays[0] if arrays else _core._empty([0], np.dtype(np.uint32), backend, device)
    outputs = [name for kind, name, _, _ in interface if kind == "output"]
    made = _core._run_procedure(
        procedure, arrays, numbers, [None] * len(outputs), beside.backend, beside.device, timeout, _OWNER, of_host=True
    )
    given = [(kind, name) for kind, name, _, _ in interface if kind != "output"]
    found = {name: array for (kind, name), array in zip(given, arrays, strict=True) if kind == "in_out"}
    found.update(zip(outputs, made, strict=True))
    return {name: array.numpy() for name, array in found.items()}


def by_name(
    procedure: Procedure, inputs: Mapping[str, Any], where: str, backend: Any = "reference", device: Any = None
) -> tuple[list[Array], list[int]]:
    """New arrays of a device and numbers, in the order of the interface.

    Raises: BindingError, for a name that the procedure has not, or that is missing, and for values that do not fit.
    """
    state = {name: (kind, element, axes) for kind, name, element, axes in _core._procedure_interface(procedure)}
    for name in inputs:
        if name not in state:
            meant = _core._did_you_mean(name, list(state))
            names = ", ".join(f"`{each}`" for each in state) or "none"
            raise BindingError(
                f"procedure `{procedure.name}` has no input {shown(name)}{meant}. Fix: its inputs are {names}."
            )
    arrays: list[Array] = []
    numbers: list[int] = []
    for name, (kind, element, axes) in state.items():
        if name not in inputs:
            raise BindingError(f"{where} misses `{name}` of procedure `{procedure.name}`. Fix: add {name!r} to it.")
        if kind == "number":
            where_number = f"number `{name}` of procedure `{procedure.name}`"
            numbers.append(bits_given(where_number, element, inputs[name]))
        else:
            host = _array(procedure, name, element, axes, inputs[name])
            arrays.append(_core._array(host, backend, device))
    return arrays, numbers


def _array(procedure: Procedure, name: str, element: DataType, axes: int, value: Any) -> np.ndarray:
    if isinstance(value, Array):
        value = value.numpy()
    dtype, lanes = NUMPY[element]
    check_array(f"array `{name}` of procedure `{procedure.name}`", value, [dtype], axes, lanes)
    return np.ascontiguousarray(value)
