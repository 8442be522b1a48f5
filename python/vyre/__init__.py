"""GPU compute programs: built in Python, checked, interpreted, and run on Vulkan with the same bytes.

>>> import numpy as np
>>> import vyre
>>> @vyre.kernel
... def xor(left: vyre.In[vyre.u32], right: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]):
...     i = vyre.gid(0)
...     out[i] = left[i] ^ right[i]
>>> left, right = np.array([1, 2, 3], np.uint32), np.array([5, 5, 5], np.uint32)
>>> xor(left, right, backend="reference")
array([4, 7, 6], dtype=uint32)
>>> vyre.validate(xor.program)
[]
>>> vyre.run(xor.program, {"left": left, "right": right, "out": 3}, workgroups=1, backend="reference")["out"]
array([4, 7, 6], dtype=uint32)
"""

import importlib
import sys
from typing import TYPE_CHECKING

from vyre import _core, _enums
from vyre._arrays import elementwise as _elementwise
from vyre._arrays.array import array, empty
from vyre._base.calls import explain_calls
from vyre._base.types import TYPES
from vyre._core import *  # noqa: F403
from vyre._core import DataType
from vyre._core import abs as abs
from vyre._core import max as max
from vyre._core import min as min
from vyre._default import CHECKS as _CHECKS
from vyre._default import default_device
from vyre._diagnostics import Diagnostics
from vyre._run import lower, pack_bytes, run, unpack_bytes
from vyre.errors import (
    ArgumentError,
    BindingError,
    CallError,
    CapabilityError,
    CheckError,
    DeviceError,
    DeviceLostError,
    DeviceMemoryError,
    DispatchTimeoutError,
    DivergentBarrierError,
    ExecutionError,
    FileError,
    InternalError,
    KernelError,
    LoweringError,
    ParseError,
    PlannedTypeError,
    ValidationError,
    VyreError,
)

if TYPE_CHECKING:
    from vyre import std as std
    from vyre._arrays.checked import CheckResult, ProcedureCheckResult
    from vyre._arrays.creation import arange, empty_like, full, full_like, zeros, zeros_like
    from vyre._arrays.graph import Graph, graph
    from vyre._arrays.reports import (
        BarrierStop,
        DivergentBarrierReport,
        OrderDependenceReport,
        OutOfBoundsReport,
        PromisedZeroReport,
        RaceReport,
        Report,
        ReportedStep,
        UninitialisedReadReport,
        UnwrittenArrayReport,
        Witness,
    )
    from vyre._arrays.trial import try_compile
    from vyre._base.frames import hide_frames
    from vyre._devices import Backends, Device, backends, devices
    from vyre._kernel.builder import Builder
    from vyre._kernel.cost import Cost, CostLoop, Count
    from vyre._kernel.debugs import Debugging, debug, debugging
    from vyre._kernel.explain import DriverFact, Explanation, KernelAccess
    from vyre._kernel.inside import (
        atomic_load,
        atomic_store,
        barrier,
        gid,
        grid_size,
        lid,
        local,
        shared,
        unroll,
        wid,
    )
    from vyre._kernel.kernel import Kernel
    from vyre._kernel.rows import Row
    from vyre._kernel.tracing import Trace, trace
    from vyre._kernel.typed import (
        In,
        InOut,
        Out,
        boolean,
        const,
        i8,
        i16,
        i32,
        kernel,
        u8,
        u16,
        u32,
        u64,
        vec2u32,
        vec4u32,
    )
    from vyre._procedure.arrays import ProcedureArray
    from vyre._procedure.blocks import otherwise, require, times, when
    from vyre._procedure.flat import StepPlace
    from vyre._procedure.making import clear, scratch, swap
    from vyre._procedure.procedure import ProcedureFunction, procedure
    from vyre._procedure.sizes import Size, ceil_div, ceil_log2, limit, size_max, size_min, size_select
    from vyre._profile import Profile, ProfileEvent, ProfileRow, profile
    from vyre._tools.bisect import bisect
    from vyre._tools.check import check, replay
    from vyre._tools.divergence import Divergence, OutputDifference
    from vyre._tools.procedure_bisect import ProcedureDivergence
    from vyre._tools.repeat import RepeatResult, RunDifference, repeat
    from vyre._web import to_html
else:
    globals().update((info.spelled, element) for element, info in TYPES.items() if info.kind != "opaque")

_core._complete_array(_elementwise.MEMBERS)
_elementwise.uses("vyre.std", lambda: importlib.import_module("vyre.std"))

from vyre import ops  # noqa: E402
from vyre.ops import Operation, op  # noqa: E402

__version__: str = _core.__version__

# These names and their modules, numpy among them, are imported when they are first asked for: most programs only run.
_LATER = {
    "bisect": "vyre._tools.bisect",
    "hide_frames": "vyre._base.frames",
    **dict.fromkeys(["Graph", "graph"], "vyre._arrays.graph"),
    "std": "vyre.std",
    **dict.fromkeys(["Backends", "Device", "backends", "devices"], "vyre._devices"),
    **dict.fromkeys(["Divergence", "OutputDifference"], "vyre._tools.divergence"),
    **dict.fromkeys(["CheckResult", "ProcedureCheckResult"], "vyre._arrays.checked"),
    **dict.fromkeys(["check", "replay"], "vyre._tools.check"),
    "StepPlace": "vyre._procedure.flat",
    "ProcedureDivergence": "vyre._tools.procedure_bisect",
    "Builder": "vyre._kernel.builder",
    **dict.fromkeys(["Cost", "CostLoop", "Count"], "vyre._kernel.cost"),
    **dict.fromkeys(["Debugging", "debug", "debugging"], "vyre._kernel.debugs"),
    **dict.fromkeys(["DriverFact", "Explanation", "KernelAccess"], "vyre._kernel.explain"),
    **dict.fromkeys(
        ["atomic_load", "atomic_store", "barrier", "gid", "grid_size", "lid", "local", "shared", "unroll", "wid"],
        "vyre._kernel.inside",
    ),
    **dict.fromkeys(["Kernel", "kernel"], "vyre._kernel.kernel"),
    **dict.fromkeys(["In", "InOut", "Out", "const"], "vyre._kernel.parameters"),
    "Row": "vyre._kernel.rows",
    **dict.fromkeys(["Trace", "trace"], "vyre._kernel.tracing"),
    "ProcedureArray": "vyre._procedure.arrays",
    **dict.fromkeys(["otherwise", "require", "times", "when"], "vyre._procedure.blocks"),
    **dict.fromkeys(["clear", "scratch", "swap"], "vyre._procedure.making"),
    **dict.fromkeys(["ProcedureFunction", "procedure"], "vyre._procedure.procedure"),
    **dict.fromkeys(
        ["Size", "ceil_div", "ceil_log2", "limit", "size_max", "size_min", "size_select"], "vyre._procedure.sizes"
    ),
    **dict.fromkeys(["Profile", "ProfileEvent", "ProfileRow", "profile"], "vyre._profile"),
    **dict.fromkeys(["RepeatResult", "RunDifference", "repeat"], "vyre._tools.repeat"),
    **dict.fromkeys(["arange", "empty_like", "full", "full_like", "zeros", "zeros_like"], "vyre._arrays.creation"),
    "to_html": "vyre._web",
    "try_compile": "vyre._arrays.trial",
    **dict.fromkeys(
        [
            "BarrierStop",
            "DivergentBarrierReport",
            "OrderDependenceReport",
            "OutOfBoundsReport",
            "PromisedZeroReport",
            "RaceReport",
            "Report",
            "UninitialisedReadReport",
            "UnwrittenArrayReport",
            "ReportedStep",
            "Witness",
        ],
        "vyre._arrays.reports",
    ),
}


if not TYPE_CHECKING:  # type checkers would take every name for one that this knows

    def __getattr__(name: str) -> object:
        if name not in _LATER:
            if name.upper() in _enums._PLANNED:
                getattr(DataType, name.upper())  # says when it comes
            from vyre._base.absent import refuse_name  # imported here, because `import vyre` does not need it

            refuse_name(sys.modules[__name__], name, _names_of_std)
        home = importlib.import_module(_LATER[name])
        value = globals()[name] = home if name == "std" else getattr(home, name)
        return value


def _names_of_std() -> list[str] | None:
    """The names of vyre.std; None in a kernel, which calls none of them."""
    from vyre._kernel.recording import is_tracing

    return None if is_tracing() else importlib.import_module("vyre.std").__all__


def __dir__() -> list[str]:
    dunders = (name for name in globals() if name.startswith("__"))
    return sorted({*__all__, *dunders, "abs", "errors", "max", "min"})


def explain(rule: str) -> str:
    """The text about a rule such as "V014": what it checks and why, its sentences, and what to write in Python.

    Rules of programs begin with V, those of kernels written in Python with K, those of procedures with P, and notes
    with N.

    Raises: ArgumentError.

    >>> print(explain("V003").splitlines()[0])
    V003: Workgroup Size Components Are At Least One
    """
    from vyre._kernel.mistakes import RULES

    if isinstance(rule, str) and rule.upper() in RULES:
        return f"{rule.upper()}: {RULES[rule.upper()]}"
    try:
        return _core._explain(rule)
    except ArgumentError:
        if not isinstance(rule, str):
            raise
    # The core does not know the rules of kernels.
    from vyre._base.text import shown

    tables = [[row[0] for row in _core._tables[name]] for name in ("rules", "notes", "procedure_rules")]
    families = [tables[0], list(RULES), *tables[1:]]
    *ranges, last = [f"{ids[0]} to {ids[-1]}" for ids in families]
    meant = _core._did_you_mean(rule, [id for ids in families for id in ids])
    raise ArgumentError(f"there is no rule {shown(rule)}. Fix: write one from {', '.join(ranges)}, or {last}{meant}.")


# The names that _core lists are the types, the operators and other functions of expressions. It lists no min and max,
# which would shadow Python's own in a star import.
__all__ = [
    "ArgumentError",
    "Backends",
    "BarrierStop",
    "BindingError",
    "Builder",
    "CallError",
    "CapabilityError",
    "CheckError",
    "CheckResult",
    "Cost",
    "CostLoop",
    "Count",
    "Debugging",
    "Device",
    "DeviceError",
    "DeviceLostError",
    "DeviceMemoryError",
    "Diagnostics",
    "DispatchTimeoutError",
    "Divergence",
    "DivergentBarrierError",
    "DivergentBarrierReport",
    "DriverFact",
    "ExecutionError",
    "Explanation",
    "FileError",
    "Graph",
    "In",
    "InOut",
    "InternalError",
    "Kernel",
    "KernelAccess",
    "KernelError",
    "LoweringError",
    "Operation",
    "OrderDependenceReport",
    "Out",
    "OutOfBoundsReport",
    "OutputDifference",
    "ParseError",
    "PlannedTypeError",
    "ProcedureArray",
    "ProcedureCheckResult",
    "ProcedureDivergence",
    "ProcedureFunction",
    "Profile",
    "ProfileEvent",
    "ProfileRow",
    "PromisedZeroReport",
    "RaceReport",
    "RepeatResult",
    "Report",
    "ReportedStep",
    "Row",
    "RunDifference",
    "Size",
    "StepPlace",
    "Trace",
    "UninitialisedReadReport",
    "UnwrittenArrayReport",
    "ValidationError",
    "VyreError",
    "Witness",
    "arange",
    "array",
    "atomic_load",
    "atomic_store",
    "backends",
    "barrier",
    "bisect",
    "boolean",
    "ceil_div",
    "ceil_log2",
    "check",
    "clear",
    "const",
    "debug",
    "debugging",
    "default_device",
    "devices",
    "empty",
    "empty_like",
    "explain",
    "full",
    "full_like",
    "gid",
    "graph",
    "grid_size",
    "hide_frames",
    "i8",
    "i16",
    "i32",
    "kernel",
    "lid",
    "limit",
    "local",
    "lower",
    "op",
    "ops",
    "otherwise",
    "pack_bytes",
    "procedure",
    "profile",
    "repeat",
    "replay",
    "require",
    "run",
    "scratch",
    "shared",
    "size_max",
    "size_min",
    "size_select",
    "std",
    "swap",
    "times",
    "to_html",
    "trace",
    "try_compile",
    "u8",
    "u16",
    "u32",
    "u64",
    "unpack_bytes",
    "unroll",
    "vec2u32",
    "vec4u32",
    "when",
    "wid",
    "zeros",
    "zeros_like",
]
__all__ += _core.__all__

explain_calls(globals())

if _CHECKS:
    importlib.import_module("vyre._tools.each_call").check_each_call(_CHECKS)
