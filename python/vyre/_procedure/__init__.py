"""Procedures: several kernels over arrays of any length, as one value.

recorder.py and procedure.py run a decorated function once and keep its steps (steps.py) over symbolic arrays
(arrays.py) and sizes (sizes.py); core.py makes the core's Procedure of them, which runs for the arrays of a call.
"""

from vyre._procedure.arrays import ProcedureArray
from vyre._procedure.procedure import ProcedureFunction, procedure
from vyre._procedure.recorder import clear, otherwise, scratch, swap, times, when
from vyre._procedure.sizes import Size, ceil_div, ceil_log2, limit, size_max, size_min, size_select

__all__ = [
    "ProcedureArray",
    "ProcedureFunction",
    "Size",
    "ceil_div",
    "ceil_log2",
    "clear",
    "limit",
    "otherwise",
    "procedure",
    "scratch",
    "size_max",
    "size_min",
    "size_select",
    "swap",
    "times",
    "when",
]
