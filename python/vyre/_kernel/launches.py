"""Attributes that the kernels of CUDA's Python packages have, answered with what to write instead.

A kernel here is called like a function, and `grid=` counts its invocations, so nothing configures a launch before it.
What those packages tell about compiled code is in `.explain()` and `.text`. All other names are missing as ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from vyre._absent import NoAttributeError

if TYPE_CHECKING:
    from vyre._kernel.kernel import Kernel

__all__ = ["refuse_attribute"]

_LAUNCHING = ("configure", "forall", "launch", "launch_async", "prepared_call", "run")
_INSPECTING = ("inspect_asm", "inspect_llvm", "inspect_sass", "inspect_types", "ptx")


def refuse_attribute(kernel: Kernel, name: str) -> NoReturn:
    """Raises the AttributeError of ``kernel.name``."""
    if name in _LAUNCHING:
        fix = f"write {_called(kernel, 'grid=n')} for n invocations"
    elif name in _INSPECTING:
        fix = f"write {kernel.__name__}.explain(), or {kernel.__name__}.text for the program"
    elif name == "py_func":
        fix = f"write {kernel.__name__}.__wrapped__"
    else:
        raise AttributeError(f"'Kernel' object has no attribute '{name}'", name=name, obj=kernel)
    raise NoAttributeError(f"kernel `{kernel.__name__}` has no attribute `{name}`. Fix: {fix}.")


def _called(kernel: Kernel, *options: str) -> str:
    names = [each.name for each in kernel._parameters if each.kind != "Out"]
    return f"{kernel.__name__}({', '.join([*names, *options])})"
