"""Random programs with one right answer, their comparison, reduction and rewriting, as ``vyre fuzz`` runs them.

A generated program is valid, keeps within every buffer or says what happens outside, and gives the same bytes whatever
the order of its invocations: each buffer has one role between two barriers. So the reference, every schedule of it, the
optimiser and every backend must agree on it, and a disagreement is somebody's fault.

>>> from vyre import fuzz
>>> case = fuzz.generate(7)
>>> case == fuzz.generate(7)
True
>>> fuzz.judge(case, [fuzz.Way("reference", schedule="reversed", optimize=True)]).kind
'agrees'
"""

from vyre._base.calls import explain_calls
from vyre.fuzz.campaign import describe, sweep
from vyre.fuzz.case import PLANTS, REWRITES, Case, Planted, generate, reduce, rewrite
from vyre.fuzz.compare import Judgement, Way, judge, way_against, ways_of
from vyre.fuzz.log import Log, Row
from vyre.fuzz.settings import Settings

__all__ = [
    "PLANTS",
    "REWRITES",
    "Case",
    "Judgement",
    "Log",
    "Planted",
    "Row",
    "Settings",
    "Way",
    "describe",
    "generate",
    "judge",
    "reduce",
    "rewrite",
    "sweep",
    "way_against",
    "ways_of",
]

explain_calls(globals())
