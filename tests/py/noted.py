"""Notes what a check finds in each call of a kernel or a procedure within a block, and lets the calls run."""

from __future__ import annotations

import collections
import contextlib

from vyre._tools.each_call import EachCall
from vyre._tools.watch import watched

MOST_CALLS = 3  # of a kernel that are checked; a page may call one in a loop


class Noted(EachCall):
    def __init__(self):
        super().__init__(("all",))
        self.notes = set()
        self.why = []
        self.seen = collections.Counter()

    def found(self, what, result):
        self.notes.update((what, report.check) for report in result.reports)

    def kernel(self, kernel, args, kwargs):
        return super().kernel(kernel, args, kwargs) if self.is_new(kernel) else ""

    def procedure(self, procedure, args, kwargs):
        return super().procedure(procedure, args, kwargs) if self.is_new(procedure) else ""

    def is_new(self, called):
        self.seen[called] += 1
        return self.seen[called] <= MOST_CALLS

    def program(self, program, inputs, workgroups):
        return ""  # pages run programs that do wrong on purpose

    def unchecked(self, why):
        self.why.append(why)

    def not_checked(self):
        """What could not be checked, beside what a graph records."""
        return [why for why in self.why if "recorded in a graph" not in why]


@contextlib.contextmanager
def noted():
    """``notes`` has the kernel or procedure and the check that found something."""
    seen = Noted()
    with watched(seen):
        yield seen
