"""The ways to run a program that vyre.bisect and vyre.repeat compare: by a backend, a device or a function.

A way is called with a program, its inputs and the workgroups, and gives the ReadWrite buffers by name, each in the
dtype and the shape that vyre.run gives.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._arrays import inputs as _inputs
from vyre._base.refused import must_be, must_be_one_of
from vyre._base.text import shown, type_of
from vyre._default import check_backend, place
from vyre._devices import Device
from vyre._tools.divergence import OutputDifference
from vyre.errors import ArgumentError, BindingError, VyreError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from vyre._core import Program

    # Takes a program, a dict of arrays by name, and the workgroups as an int or a sequence. The annotations of a user's
    # function may be narrower.
    Runner: TypeAlias = Callable[[Program, Any, Any], Mapping[str, np.ndarray]]
    Way: TypeAlias = str | Device | Mapping[str, Any] | Runner

__all__ = ["Function", "Run", "differing", "first_difference", "way"]

_ARGUMENTS = ("backend", "device", "schedule", "optimize")
_COMPARED = {"vyre.bisect": "bisected", "vyre.repeat": "repeated", "vyre.dask.task": "compared"}


def way(given: Way | None, argument: str, owner: str, timeout: float | None) -> tuple[str, Runner]:
    """The name of a way, and a function that runs a program in this way.

    Args:
        given: what the caller gave for ``argument`` of the function ``owner``.
        timeout: seconds that each run may take; functions do not get it.

    Raises: ArgumentError.
    """
    if isinstance(given, Device):
        return f"{given.backend} ({given.name})", Run(owner, timeout, device=given)
    if given is None:
        return "default", Run(owner, timeout)
    if isinstance(given, str):
        check_backend(given, f"argument `{argument}` of {owner}")
        return given, Run(owner, timeout, backend=given)
    if isinstance(given, Mapping):
        # This takes one key more than the limit and no further, because a user's own mapping may have no end.
        keys = list(itertools.islice(given, len(_ARGUMENTS) + 1))
        if not all(key in _ARGUMENTS for key in keys):
            unknown = next(key for key in keys if key not in _ARGUMENTS)
            raise must_be_one_of(f"a key of argument `{argument}` of {owner}", _ARGUMENTS, unknown)
        arguments = {key: given[key] for key in keys}
        name = ", ".join(
            f"{key}={value if isinstance(value, str) else shown(value)}" for key, value in arguments.items()
        )
        return name or "default", Run("vyre.run", timeout, **arguments)
    if callable(given):
        function = Function(given, argument, owner)
        return function.name, function
    raise must_be(
        f"argument `{argument}` of {owner}",
        "the name of a backend, a Device, a dict of arguments of vyre.run or a function",
        type(given).__name__[:80],
    )


class Run:
    """vyre.run with these arguments, whose messages name the function ``owner``."""

    def __init__(
        self,
        owner: str,
        timeout: float | None,
        *,
        backend: str | None = None,
        device: int | Device | None = None,
        schedule: str | None = None,
        optimize: Any = None,
    ) -> None:
        self.owner, self.timeout = owner, timeout
        self.backend, self.device = place(backend, device)
        self.schedule, self.optimize = schedule, optimize

    def __call__(
        self,
        program: Program,
        inputs: Mapping[str, Any],
        workgroups: int | Sequence[int],
        *,
        schedule: str | None = None,
    ) -> dict[str, np.ndarray]:
        schedule = self.schedule if schedule is None else schedule
        return _core._run(
            program,
            inputs,
            workgroups,
            self.backend,
            self.device,
            self.timeout,
            schedule,
            self.optimize,
            self.owner,
        )


class Function:
    """A function of the user's, given copies of the inputs; what it answers is checked and copied.

    Attributes:
        name: what to call it.
    """

    def __init__(self, function: Runner, argument: str, owner: str) -> None:
        self._function, self._owner = function, owner
        name = getattr(function, "__name__", None)
        self.name = name[:80] if isinstance(name, str) else type(function).__name__[:80]
        self._where = f"the function `{self.name}` in argument `{argument}` of {owner}"
        self._first: Program | None = None

    def __call__(
        self,
        program: Program,
        inputs: Mapping[str, Any],
        workgroups: int | Sequence[int],
        *,
        schedule: str | None = None,
    ) -> dict[str, np.ndarray]:
        # A run of no workgroups gives the buffers as they come back, and refuses inputs that do not fit.
        wanted = _core._run(program, inputs, (0, 1, 1), "reference", None, None, None, None, self._owner)
        if self._first is None:
            self._first = program
        own = program is self._first
        try:
            given = self._function(program, _inputs.copied(inputs, self._owner), workgroups)
        except Exception as error:
            if own or (isinstance(error, VyreError) and not isinstance(error, BindingError)):
                raise
            raise self._refusal(wanted, f"raised {type(error).__name__[:80]}") from error
        if not issubclass(type(given), Mapping):
            raise ArgumentError(
                f"{self._where} must give a dict of name -> array, "
                f"got an object of type {type(given).__name__[:80]}. Fix: return what vyre.run gave."
            )
        outputs = {}
        for name, like in wanted.items():
            if name not in given and not own:
                raise self._refusal(wanted, f"gave no buffer `{name}`")
            got = _difference_in_kind(given, name, like)
            if got:
                raise ArgumentError(
                    f"{self._where} must give buffer `{name}` as {like.dtype} with shape {like.shape}, got {got}. "
                    "Fix: return what vyre.run gives for the program that the function gets."
                )
            # The result is copied because the function may write to it later.
            outputs[name] = np.array(given[name])
        return outputs

    def _refusal(self, wanted: Mapping[str, np.ndarray], did: str) -> ArgumentError:
        """The error for a function that does not run the programs that it gets."""
        names = ", ".join(f"`{name}`" for name in wanted)
        return ArgumentError(
            f"{self._where} must run the program that it gets, which is not always the one that {self._owner} was "
            f"called with; for one that writes to {names} it {did}. A numpy model, which runs no program, cannot be "
            f"{_COMPARED[self._owner]}. Fix: call vyre.run(program, inputs, workgroups) with the function's own "
            "arguments, or compare the outputs of a model with np.array_equal."
        )


def _difference_in_kind(given: Mapping[str, Any], name: str, like: np.ndarray) -> str:
    """Describe ``given[name]`` if it is no array with the dtype and shape of ``like``; else return the empty string."""
    if name not in given:
        keys = list(itertools.islice(given, 10))
        return f"none of this name, but {', '.join(map(shown, keys))}" if keys else "an empty dict"
    array = given[name]
    if not issubclass(type(array), np.ndarray) or _core._is_masked(array):
        return type_of(array)
    if (array.dtype, array.shape) != (like.dtype, like.shape):
        return f"{array.dtype} with shape {array.shape}"
    return ""


def differing(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The elements that differ between two arrays of one dtype and shape, in C order."""
    found: np.ndarray = one.reshape(-1) != other.reshape(-1)
    return found


def first_difference(
    program: Program, outputs: Mapping[str, Mapping[str, np.ndarray]], unstable: Mapping[str, np.ndarray] | None = None
) -> OutputDifference | None:
    """The first element that differs, in the order of the program's buffers. Elements in ``unstable`` are left out."""
    (one, left), (two, right) = outputs.items()
    for decl in program.buffers:
        if decl.access != _core.BufferAccess.ReadWrite:
            continue
        a, b = left[decl.name], right[decl.name]
        differs = differing(a, b)
        if unstable is not None:
            differs &= ~unstable[decl.name]
        different = np.flatnonzero(differs)
        if different.size:
            index = int(different[0])
            return OutputDifference(
                decl.name, index, {one: a.reshape(-1)[index].item(), two: b.reshape(-1)[index].item()}
            )
    return None
