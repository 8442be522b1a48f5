"""The exceptions of vyre. Every message reads ``<problem>. Fix: <action>.``

>>> issubclass(BindingError, ValueError), issubclass(DispatchTimeoutError, TimeoutError)
(True, True)
"""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, ClassVar

from vyre._diagnostics import Diagnostics

if TYPE_CHECKING:
    from collections.abc import Sequence
    from inspect import Signature
    from typing import Any

    from vyre._arrays.checked import CheckResult, ProcedureCheckResult
    from vyre._arrays.reports import Report
    from vyre._core import Diagnostic

__all__ = [
    "ArgumentError",
    "BindingError",
    "CallError",
    "CapabilityError",
    "CheckError",
    "DeviceError",
    "DeviceLostError",
    "DeviceMemoryError",
    "DispatchTimeoutError",
    "DivergentBarrierError",
    "ExecutionError",
    "FileError",
    "InternalError",
    "KernelError",
    "LoweringError",
    "ParseError",
    "PlannedTypeError",
    "ValidationError",
    "VyreError",
]

_MOST_SHOWN = 20


class _Signature:
    """The signature of classes with Python's own __init__, which inspect does not know; made when it is asked for."""

    def __get__(self, error: object, kind: type) -> Signature:
        init: object = kind.__init__  # type: ignore[misc]
        if isinstance(init, FunctionType):
            raise AttributeError("__signature__")  # inspect takes that of __init__
        from inspect import Parameter, Signature

        return Signature([Parameter("args", Parameter.VAR_POSITIONAL, annotation="object")])


class VyreError(Exception):
    """Everything that vyre raises on purpose."""

    __signature__: ClassVar[_Signature] = _Signature()

    def _repr_html_(self) -> str:
        from vyre._html.mistakes import error

        return error(self)


class ArgumentError(VyreError, ValueError):
    """A bad argument: names it, what was wanted, what was given and what to write instead."""


class CallError(ArgumentError, TypeError):
    """A call with too few, too many or unknown arguments: says what the function takes, and what it got."""


class FileError(ArgumentError, OSError):
    """A file that cannot be read or written.

    It is also of the class that Python has for what the system said, such as FileNotFoundError.

    Attributes:
        errno, strerror: what the system said.
        filename: the path as it was given.
    """

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[Any, ...]:
        if type(self) is FileError:
            return FileError, self.args
        return file_error, (str(self), self.errno, self.strerror, self.filename)


@cache
def _file_error_like(kind: type[OSError]) -> type[FileError]:
    if issubclass(FileError, kind):
        return FileError
    return type("FileError", (FileError, kind), {"__module__": __name__, "__doc__": FileError.__doc__})


def file_error(message: str, number: int | None, why: str | None, path: Any) -> FileError:
    """The FileError of a message that is also what OSError makes of an error number.

    >>> isinstance(file_error("Fix: this.", 2, "No such file or directory", "a.json"), FileNotFoundError)
    True
    """
    kind: Any = type(OSError(number, why))  # mypy takes exception classes for unhashable
    error = _file_error_like(kind)(message)
    error.errno, error.strerror, error.filename = number, why, path
    return error


class PlannedTypeError(ArgumentError, AttributeError):
    """A data type that is planned, and that this version does not have."""


class ValidationError(VyreError):
    """A program that breaks rules.

    Attributes:
        diagnostics: every broken rule, in program order.
    """

    diagnostics: Diagnostics

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        if type(diagnostics) not in (list, tuple, Diagnostics):
            # list() has no end for what has none.
            raise CallError(
                "ValidationError takes a list of Diagnostics, got an object of type "
                f"{type(diagnostics).__name__[:80]}. Fix: pass what vyre.validate gave."
            )
        from vyre._core import Diagnostic  # which imports this module

        for item in diagnostics:
            if type(item) is not Diagnostic:
                raise CallError(
                    "ValidationError takes a list of Diagnostics, got one that holds an object of type "
                    f"{type(item).__name__[:80]}. Fix: pass what vyre.validate gave."
                )
        self.diagnostics = Diagnostics(diagnostics)
        super().__init__(str(self.diagnostics))

    def __reduce__(self) -> tuple[type[ValidationError], tuple[Diagnostics]]:
        return type(self), (self.diagnostics,)


class KernelError(ValidationError):
    """A function under ``@vyre.kernel`` that cannot be a kernel, or whose program breaks rules.

    Attributes:
        diagnostics: what is wrong, with the line and the columns of the function's source.
    """


class ParseError(VyreError):
    """Text or bytes that do not describe a program."""


class LoweringError(VyreError):
    """A valid program that a target cannot express."""


class BindingError(VyreError, ValueError):
    """Arrays that do not fit a program's buffers."""


class CapabilityError(VyreError):
    """A limit of the device that the program or the call exceeds."""


class ExecutionError(VyreError):
    """A valid program made a mistake while it ran."""


class DivergentBarrierError(ExecutionError):
    """The invocations of a workgroup do not all wait at the same barrier."""


class CheckError(ExecutionError):
    """A check found a mistake: that of ``vyre.run(..., check=...)``, or of a call where VYRE_CHECK asks for checks.

    Attributes:
        result: the CheckResult, or the ProcedureCheckResult, with the outputs of the run.
        reports: its reports.
    """

    result: CheckResult | ProcedureCheckResult
    reports: tuple[Report, ...]
    _kinds: ClassVar[tuple[type, ...]] = ()  # of results, once the module that has them is imported

    def __init__(self, result: CheckResult | ProcedureCheckResult, what: str = "") -> None:
        if type(result) not in self._kinds:
            raise CallError(
                f"CheckError takes a CheckResult, got an object of type {type(result).__name__[:80]}. "
                "Fix: pass what vyre.check gave."
            )
        self.result = result
        self.reports = result.reports
        self._what = what
        shown = [f"{what}: {result._title()}" if what else result._title(), *map(str, result.reports[:_MOST_SHOWN])]
        if len(result.reports) > _MOST_SHOWN:
            shown.append(f"... and {len(result.reports) - _MOST_SHOWN} more, see .reports")
        super().__init__("\n".join(shown))

    def __reduce__(self) -> tuple[type[CheckError], tuple[Any, str]]:
        return type(self), (self.result, self._what)


class DeviceError(VyreError):
    """A device failed; the message says what was tried."""


class DeviceLostError(DeviceError):
    """The device is gone; the process and other devices go on."""


class DeviceMemoryError(DeviceError, MemoryError):
    """A device has no memory left for the call."""

    def __new__(cls, *args: Any) -> DeviceMemoryError:
        # MemoryError's own, which comes first by the order of the bases, makes objects of MemoryError's layout alone.
        # A caller of `cls.__new__(cls)` would get it: dask and pytest-xdist, for errors from another process.
        return Exception.__new__(cls, *args)


class DispatchTimeoutError(DeviceError, TimeoutError):
    """A call took longer than its ``timeout``."""


class InternalError(VyreError):
    """A bug of vyre's own: please report it with the program's text."""
