"""A kernel that travels by value: its program and parameters, without the function that it was made of.

A kernel pickles by its name, which another process finds only in a module that it can import; what was typed in a
notebook or a script lies in none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vyre import _core
from vyre._base.captured import Captures
from vyre._base.refused import no_place
from vyre._kernel.call import host_call
from vyre._kernel.smaller import in_halves
from vyre._kernel.trace import Traced
from vyre.errors import CapabilityError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np

    from vyre._core import Program
    from vyre._kernel.kernel import Kernel
    from vyre._kernel.parameters import Parameter

__all__ = ["HostCall", "ShippedKernel", "shipped"]


@dataclass(frozen=True)
class HostCall:
    """A call as arguments of vyre.run, and which of the outputs it gives."""

    program: Program
    inputs: Mapping[str, Any]
    workgroups: tuple[int, int, int]
    results: tuple[str, ...]

    def result_of(self, outputs: Mapping[str, np.ndarray]) -> Any:
        """Return the result of the call: one array bare, several as a tuple."""
        found = tuple(outputs[name] for name in self.results)
        return found[0] if len(found) == 1 else found


class ShippedKernel:
    """The members of a kernel that ``vyre._kernel.call`` uses, for one value of each constant."""

    _constants = ()
    _is_of_std = False

    def __init__(self, name: str, parameters: list[Parameter], traced: Traced) -> None:
        self.__name__ = name
        self._parameters = parameters
        self._arrays = [each for each in parameters if each.is_array]
        # The rest of a trace is about the function, or about the devices of this process.
        is_chosen = traced.is_size_chosen
        self._trace = Traced(traced.program, dict(traced.tables), traced.layout, Captures(), is_size_chosen=is_chosen)

    def _traced(self, constants: Mapping[str, Any]) -> Traced:
        return self._trace

    def host_call(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> HostCall:
        """A call on the host. An InOut array is read, and comes back as another one."""
        for name in ("backend", "device", "optimize", "timeout", "at_most"):
            if kwargs.get(name) is not None:
                raise no_place(f"argument `{name}` of kernel `{self.__name__}`", "in a call that a worker runs")
        program, inputs, workgroups = host_call(self, args, dict(kwargs))  # type: ignore[arg-type]
        counts = _core._grid(workgroups, f"kernel `{self.__name__}`")
        results = tuple(each.name for each in self._arrays if each.kind != "In")
        return HostCall(program, inputs, counts, results)

    def run(self, call: HostCall, way: Callable[..., Mapping[str, np.ndarray]]) -> Mapping[str, np.ndarray]:
        """The outputs of a call, in smaller workgroups where the device needs them."""
        try:
            return way(call.program, call.inputs, call.workgroups)
        except CapabilityError as error:
            label = f"kernel `{self.__name__}`"
            program, counts = in_halves(self._trace, call.workgroups, error, label)
            return way(program, call.inputs, counts)


def shipped(kernel: Kernel, constants: Mapping[str, Any]) -> ShippedKernel:
    """The kernel for these values of its constants.

    Raises: CallError for a missing or unknown constant, KernelError.
    """
    named = [kernel.__name__, *(f"{each.name}=..." for each in kernel._constants)]
    traced = kernel._traced(kernel._chosen(dict(constants), f"vyre.dask.task({', '.join(named)})"))
    parameters = [each for each in kernel._parameters if each.kind != "const"]
    return ShippedKernel(kernel._function.__name__, parameters, traced)
