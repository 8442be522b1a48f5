"""The cases of vyre.conformance are free of the mistakes that would leave their bytes open."""

from __future__ import annotations

import vyre
from vyre.conformance import Case, cases


def found(made: Case) -> list[vyre.Report]:
    """The reports of a checked run of a case, step after step."""
    arrays, reports = dict(made.inputs), []
    for step in made.steps:
        bound = step.bound()
        inputs = {buffer: arrays[array].copy() for buffer, array, _ in bound}
        checks = ["race", "divergent-barrier", "order-dependence"]
        result = vyre.check(step.program, inputs, step.grid, checks=checks)
        reports += result.reports
        arrays |= {array: result.outputs[buffer] for buffer, array, written in bound if written}
    return reports


def test_no_case_has_a_race_and_only_judged_ones_depend_on_an_order():
    """A prefix sum once loaded what others wrote, to throw it away; a Bool was read where another invocation wrote."""
    wrong, judged = {}, set()
    for made in cases():
        if made.id.startswith("L3/optimiser/"):
            continue
        for report in found(made):
            if report.check == "order-dependence" and made.judge is not None:
                judged.add(made.id.rsplit("/", 2)[0])
            else:
                wrong.setdefault(made.id, str(report))
    assert wrong == {}
    assert judged == {"L1/litmus/coherence", "L1/litmus/open", "L1/litmus/atomicity"}
