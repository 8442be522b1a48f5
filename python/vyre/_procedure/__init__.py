"""Procedures: several kernels over arrays of any length, as one value.

procedure.py runs a decorated function once, over symbolic arrays (arrays.py) and sizes (sizes.py), and keeps what was
recorded (recorded.py). A Recorder (recorder.py) writes its steps into the core's builder: arrays (making.py), branches
and repetitions (blocks.py), calls of kernels (dispatches.py) and of procedures (invocations.py). Where Python decides
by a size, branches.py says what to write; names and objects that a block would leave as this one run made them are
refused (carried.py, changed.py). A call runs the core's Procedure for its arrays (running.py).
"""

from vyre._procedure.arrays import ProcedureArray
from vyre._procedure.blocks import otherwise, require, times, when
from vyre._procedure.making import clear, scratch, swap
from vyre._procedure.procedure import ProcedureFunction, procedure
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
    "require",
    "scratch",
    "size_max",
    "size_min",
    "size_select",
    "swap",
    "times",
    "when",
]
