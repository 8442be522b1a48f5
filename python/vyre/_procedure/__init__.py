"""Procedures: several kernels over arrays of any length, as one value.

procedure.py runs a decorated function once, over symbolic arrays (arrays.py) and sizes (sizes.py), and keeps what was
recorded (recorded.py). A Recorder (recorder.py) writes its steps into the core's builder: arrays (making.py), branches
and repetitions (blocks.py), calls of kernels (dispatches.py) and of procedures (invocations.py). Where Python decides
by a size, branches.py says what to write; names and objects that a block would leave as this one run made them are
refused (carried.py, changed.py). A call runs the core's Procedure for its arrays (running.py).
"""
