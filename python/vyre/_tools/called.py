"""Calls of kernels, whose arguments tools take by name, as calls of programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre._kernel.call import host_call
from vyre.errors import BindingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vyre._core import Program
    from vyre._kernel.kernel import Kernel

__all__ = ["of_kernel", "refuse_own"]

_OWN = ("workgroups", "backend", "device", "timeout")


def of_kernel(
    kernel: Kernel, inputs: Mapping[str, Any], workgroups: Any, owner: str
) -> tuple[Program, dict[str, Any], Any]:
    """A call of a kernel as the program, the inputs and the workgroups of vyre.run.

    Args:
        inputs: the arguments by name, also ``grid``.
        owner: the tool that is called.

    Raises: what the call raises for its arguments.
    """
    refuse_own(inputs, _OWN, owner)
    traced, bound, groups = host_call(kernel, (), {**inputs, "workgroups": workgroups})
    return traced.program, bound, groups


def refuse_own(inputs: Mapping[str, Any], own: Iterable[str], owner: str) -> None:
    """Refuse inputs with the name of an argument of the tool.

    Raises: BindingError.
    """
    for name in sorted(inputs.keys() & {*own}):
        raise BindingError(
            f"argument `inputs` of {owner} has {name!r}, which is an argument of {owner} itself. "
            f"Fix: write {name}= beside the inputs."
        )
