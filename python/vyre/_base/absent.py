"""Says what to write in place of a name that vyre does not have.

There is a table for what other packages have: for arrays the attributes of numpy, CuPy and torch, for the module the
functions and types of numpy and the words of CUDA's Python packages, for a Regex the methods of Python's `re`, for a
kernel those of CUDA's Python packages, for a procedure those of a kernel. In place of any other name stands the nearest
one. Names that begin with `_` are asked by Python and other packages, and give Python's usual AttributeError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from vyre import _core
from vyre._base.types import OF_DTYPE, TYPES
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    from vyre._kernel.kernel import Kernel
    from vyre._procedure.arrays import ProcedureArray
    from vyre._procedure.procedure import ProcedureFunction

__all__ = [
    *("NoAttributeError", "refuse_attribute", "refuse_name"),
    *("refuse_of_kernel", "refuse_of_procedure", "refuse_of_procedure_array", "refuse_of_regex", "refuse_of_std"),
]


class NoAttributeError(ArgumentError, AttributeError):
    """An object has no such attribute; hasattr gives False."""


_IN_STD = ("all", "any", "argmax", "argmin", "argsort", "cumsum", "max", "min", "nonzero", "sort", "sum", "transpose")
_OF_ARRAYS = {
    **{name: f"vyre.std.{name}(a)" for name in _IN_STD},
    **{name: f"a.numpy().{name}()" for name in ("tolist", "mean", "std", "var", "prod", "dump")},
    **dict.fromkeys(("asnumpy", "copy_to_host", "cpu", "get", "to_numpy"), "a.numpy()"),
    **dict.fromkeys(("flatten", "ravel"), "a.reshape(-1)"),
    "T": "vyre.std.transpose(a)",
    "clip": "vyre.std.clip(a, low, high)",
    "compress": "a[mask]",
    "dot": "vyre.std.matmul(a, b)",
    "repeat": "vyre.std.repeat(a, times)",
    "take": "vyre.std.gather(a, index)",
    "itemsize": "a.dtype.itemsize",
    "to": "vyre.array(a.numpy(), backend=...), which copies it",
    "to_device": "vyre.array(a.numpy(), backend=...), which copies it",
}


# The types of numpy, what CUDA's Python packages have in a kernel, and what vyre calls them. Kernels may ask for these.
_OF_BODIES = {
    "int64": "vyre.u64, which keeps the bits",
    "i64": "vyre.u64, which keeps the bits",
    "f64": "vyre.u64 for the bits that x.view(np.uint64) gives",
    "float32": "vyre.u32 for the bits that x.view(np.uint32) gives",
    "float64": "vyre.u64 for the bits that x.view(np.uint64) gives",
    **{dtype: f"vyre.{TYPES[element].spelled}" for dtype, element in OF_DTYPE.items()},
    "bool_": "vyre.boolean",
    "grid": "vyre.gid(0)",
    "gridsize": "vyre.grid_size(0)",
    "threadIdx": "vyre.lid(0) for `threadIdx.x`",
    "blockIdx": "vyre.wid(0) for `blockIdx.x`",
    "syncthreads": "vyre.barrier()",
    "atomic": "a.atomic_add(i, value), for an array `a`",
}
# The functions of numpy, CuPy and torch that neither vyre nor vyre.std has.
_OF_MODULE = {
    **dict.fromkeys(("asanyarray", "asarray", "ascontiguousarray", "tensor"), "vyre.array(values, dtype=vyre.u32)"),
    **dict.fromkeys(("device_put", "from_numpy", "to_device"), "vyre.array(x), for an array `x` of numpy"),
    **dict.fromkeys(("asnumpy", "to_numpy"), "a.numpy(), for an array `a`"),
    **dict.fromkeys(("cat", "hstack"), "vyre.std.concatenate([a, b])"),
    "copy": "a.copy(), for an array `a`",
    **dict.fromkeys(("dot", "mm"), "vyre.std.matmul(a, b)"),
    **dict.fromkeys(("jit", "njit"), "@vyre.kernel above a function of one invocation"),
    "ones": "vyre.full(shape, 1)",
    "synchronize": "a.wait(), for the array `a` that is needed next",
}
_OF_REGEX = {
    **dict.fromkeys(("findall", "finditer"), "r.find(data)"),
    "search": "r.find(data, limit=1)",
    "match": "r.find(data, limit=1), whose match begins at 0 where the data begins with one",
    "fullmatch": "r.find(data, limit=1), whose match is (0, len(data)) where it is all of the data",
}
# {} is the name of the kernel or procedure.
_OF_KERNELS = {
    **dict.fromkeys(("configure", "forall", "launch", "launch_async", "run"), "{}(..., grid=n) for n invocations"),
    **dict.fromkeys(("inspect_asm", "inspect_llvm", "inspect_sass", "inspect_types", "ptx"), "{}.explain()"),
    "py_func": "{}.__wrapped__",
}
_OF_PROCEDURES = {
    **{name: f"kernel.{name}(...) for each kernel that it calls" for name in ("cost", "explain", "notes")},
    "program": "{}.procedure.programs, because it has several",
}


def _refuse(
    owner: Any, name: str, what: str, usual: str, called: str | None, fix: str | None, of: str = ""
) -> NoReturn:
    """Raises the AttributeError of ``owner.name``; ``called`` is how a program writes the owner, if it can."""
    if fix is None and (not called or name.startswith("_")):
        raise AttributeError(f"{usual} has no attribute '{name}'", name=name, obj=owner)
    if fix is None:
        meant = _core._did_you_mean(name, [each for each in dir(owner) if not each.startswith("_")])
        fix = f"{called}.{meant.split('`')[1]}" if meant else f"one of the names in dir({called})"
    raise NoAttributeError(f"{what} has no attribute `{name}`. Fix: write {fix}{of}.")


def refuse_attribute(array: Any, name: str) -> NoReturn:
    """Raises the AttributeError of ``array.name``."""
    usual = f"'{type(array).__module__}.Array' object"
    _refuse(array, name, "a vyre.Array", usual, "a", _OF_ARRAYS.get(name), ", for an array `a`")


def refuse_name(vyre: ModuleType, name: str, names_of_std: Callable[[], Sequence[str] | None]) -> NoReturn:
    """Raises the AttributeError of ``vyre.name``.

    Args:
        names_of_std: gives the names of vyre.std; None in a kernel, which calls none of them.
    """
    fix = _OF_BODIES.get(name)
    if fix is None and not name.startswith("_"):
        names = names_of_std()
        if names is not None:
            fix = f"vyre.std.{name}" if name in names else _OF_MODULE.get(name)
        from importlib.util import find_spec

        if fix is None and find_spec(f"vyre.{name}") is not None:
            fix = f"`import vyre.{name}` above it"
    _refuse(vyre, name, "module `vyre`", "module 'vyre'", "vyre", fix)


def refuse_of_std(std: ModuleType, name: str) -> NoReturn:
    """Raises the AttributeError of ``vyre.std.name``."""
    _refuse(std, name, "module `vyre.std`", "module 'vyre.std'", "vyre.std", None)


def refuse_of_regex(regex: Any, name: str) -> NoReturn:
    """Raises the AttributeError of ``regex.name``."""
    _refuse(regex, name, "a vyre.std.Regex", "'Regex' object", "r", _OF_REGEX.get(name), ", for a Regex `r`")


def refuse_of_kernel(kernel: Kernel, name: str) -> NoReturn:
    """Raises the AttributeError of ``kernel.name``."""
    fix, called = _OF_KERNELS.get(name), kernel.__name__
    _refuse(kernel, name, f"kernel `{called}`", "'Kernel' object", called, fix and fix.format(called))


def refuse_of_procedure(procedure: ProcedureFunction, name: str) -> NoReturn:
    """Raises the AttributeError of ``procedure.name``."""
    made = vars(procedure).get("name")  # its making may not have come so far
    fix = _OF_PROCEDURES.get(name) if made else None
    _refuse(procedure, name, f"procedure `{made}`", "'ProcedureFunction' object", made, fix and fix.format(made))


def refuse_of_procedure_array(array: ProcedureArray, called: str, name: str) -> NoReturn:
    """Raises the AttributeError of ``array.name``; ``called`` is the array's name in the procedure."""
    _refuse(array, name, f"the array `{called}` of a procedure", "'ProcedureArray' object", called, None)
