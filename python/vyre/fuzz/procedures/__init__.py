"""Random procedures with one right answer, as ``vyre fuzz --procedures`` runs them.

spec.py says what one is, generate.py makes them, model.py runs them with numpy and single calls of programs, judge.py
compares backends with that, and shrink.py makes a procedure that fares badly small.

>>> from vyre.fuzz import procedures, ways_of
>>> case = procedures.generate(7)
>>> case == procedures.generate(7)
True
>>> procedures.judge(case, ways_of("cpu")).kind
'agrees'
"""

from vyre._base.calls import explain_calls
from vyre.fuzz.procedures.generate import generate
from vyre.fuzz.procedures.judge import judge, run
from vyre.fuzz.procedures.model import expected
from vyre.fuzz.procedures.shrink import reduce
from vyre.fuzz.procedures.spec import ArraySpec, Call, ProcedureCase, Spec

__all__ = ["ArraySpec", "Call", "ProcedureCase", "Spec", "expected", "generate", "judge", "reduce", "run"]

explain_calls(globals(), "vyre.fuzz.procedures")
