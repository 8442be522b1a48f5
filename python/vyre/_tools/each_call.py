"""Checks every call before it runs: those of a process that began with VYRE_CHECK, and those of tests.

A call of a kernel, a procedure or vyre.run is checked as vyre.check checks it, on copies of its arrays, and then runs
as it would have. Calls inside of such a call, of vyre's own library, and of a Program itself are not seen.
"""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Any

from vyre import _core
from vyre._tools.check import check
from vyre._tools.watch import watched
from vyre.errors import ArgumentError, CheckError, VyreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from vyre._arrays.checked import CheckResult, ProcedureCheckResult

__all__ = ["EachCall", "check_each_call", "elsewhere_too", "names_of"]

VARIABLE = "VYRE_CHECK"
_OF_PLACES = ("backend", "device", "optimize", "at_most", "timeout")


def elsewhere_too(kwargs: dict[str, Any], *names: str) -> dict[str, Any]:
    """The arguments of a call that it has wherever it runs, without ``names`` as well."""
    return {name: value for name, value in kwargs.items() if name not in (*_OF_PLACES, *names)}


class EachCall:
    """A Watcher that checks, and tells what it found by ``found``. It looks for ``checks``, nothing while empty."""

    def __init__(self, checks: tuple[str, ...] = ()) -> None:
        self.checks = checks
        self.count = 0

    def found(self, what: str, result: CheckResult | ProcedureCheckResult) -> None:
        raise CheckError(result, what)

    def unchecked(self, why: str) -> None:
        warnings.warn(f"{VARIABLE}: a call is not checked: {why}", RuntimeWarning, stacklevel=2)

    def kernel(self, kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        __tracebackhide__ = True
        given = elsewhere_too(kwargs)
        return self._see(f"kernel `{kernel.__name__}`", lambda checks: kernel.check(*args, checks=checks, **given))

    def procedure(self, procedure: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        __tracebackhide__ = True
        given = elsewhere_too(kwargs, "out")
        return self._see(f"procedure `{procedure.name}`", lambda checks: procedure.check(*args, checks=checks, **given))

    def program(self, program: Any, inputs: Any, workgroups: Any) -> str:
        __tracebackhide__ = True
        what = f"procedure `{program.name}`" if isinstance(program, _core.Procedure) else "a program"
        return self._see(what, lambda checks: check(program, inputs, workgroups, checks=checks))

    def _see(self, what: str, look: Callable[[tuple[str, ...]], Any]) -> str:
        """Check a call: why it could not be, or nothing."""
        __tracebackhide__ = True
        if not self.checks:
            return ""
        try:
            result = look(self.checks)
        except VyreError as error:
            # If it is the call's own mistake, the call says so.
            return f"{what}: {str(error).splitlines()[0]}"
        self.count += 1
        if not result.ok:
            self.found(what, result)
        return ""


def names_of(names: Iterable[str], of: str) -> tuple[str, ...]:
    """Names of checks; "all" is one of them.

    Raises: ArgumentError.
    """
    known = tuple(name for name, *_ in _core._tables["checks"])
    asked = tuple(str(name).strip() for name in names)
    for name in asked:
        if name not in ("all", *known):
            raise ArgumentError(f"{of}: there is no check `{name}`. Fix: write all, or some of {', '.join(known)}.")
    return asked


_ALWAYS = contextlib.ExitStack()  # until the process ends


def check_each_call(names: str) -> None:
    """Check every call of this process from now on: ``names`` are those of checks, with commas between."""
    _ALWAYS.enter_context(watched(EachCall(names_of(names.split(","), VARIABLE))))
