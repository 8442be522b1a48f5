"""The sentences of what is refused in many places: one for each problem, with its place and one plain Fix.

Each function gives the error, which its caller raises, but for ``not_installed``, which gives the sentence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre._base.text import device_of, shown
from vyre.errors import ArgumentError, BindingError, CallError, DeviceMemoryError, VyreError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "BESIDE_RESIDENT",
    "IN_CHECK",
    "IN_PROCEDURE",
    "must_be",
    "must_be_one_of",
    "must_have",
    "no_memory",
    "no_place",
    "not_ascending",
    "not_installed",
    "not_resident",
    "other_device",
    "overlapping",
    "wrong_call",
]

# Where `backend`, `device` and other words for a run have no place.
BESIDE_RESIDENT = "beside resident arrays, which are used where they are"
IN_CHECK = "in a check, which runs on the reference"
IN_PROCEDURE = "in a procedure, which runs as a whole"


def must_be(where: str, wanted: str, got: object, kind: type[Exception] = ArgumentError) -> Exception:
    """A value of another kind or outside of a range.

    >>> str(must_be("argument `k` of topk", "an integer from 0 to 9", 10))
    'argument `k` of topk must be an integer from 0 to 9, got 10. Fix: pass an integer from 0 to 9.'
    """
    return kind(f"{where} must be {wanted}, got {got}. Fix: pass {wanted}.")


def must_have(where: str, wanted: str, got: object, kind: type[Exception] = ArgumentError) -> Exception:
    """A value of another size or shape.

    >>> str(must_have("argument `key` of chacha20", "32 bytes", 16))
    'argument `key` of chacha20 must have 32 bytes, got 16. Fix: pass one with 32 bytes.'
    """
    return kind(f"{where} must have {wanted}, got {got}. Fix: pass one with {wanted}.")


def must_be_one_of(where: str, known: Iterable[str], given: object, kind: type[VyreError] = ArgumentError) -> VyreError:
    """A value that is none of those which are known.

    >>> str(must_be_one_of("argument `op` of scan", ["add", "max"], "addd"))
    "argument `op` of scan must be one of add, max, got 'addd'. Fix: write one of these (did you mean `add`?)."
    """
    names = list(known)
    wanted = ", ".join(names) or "none"
    return kind(f"{where} must be one of {wanted}, got {shown(given)}. Fix: write one of these{_meant(given, names)}.")


def _meant(name: object, known: list[str]) -> str:
    from vyre import _core

    return _core._did_you_mean(name, known) if isinstance(name, str) else ""


def no_place(where: str, beside: str, kind: type[VyreError] = ArgumentError) -> VyreError:
    """Something that is given where it has no meaning.

    >>> str(no_place("--json", "with --coverage"))
    '--json has no place with --coverage. Fix: leave it out.'
    """
    return kind(f"{where} has no place {beside}. Fix: leave it out.")


def not_resident(who: str) -> ArgumentError:
    """Arrays of the host in a graph, which records calls on memory of a device."""
    problem = "is not resident, and a graph records calls on resident arrays"
    return ArgumentError(f"{who} {problem}. Fix: pass vyre.array(x).")


def wrong_call(who: str, problem: str, call: str) -> CallError:
    """A call whose arguments do not fit the parameters, and how the call is written."""
    return CallError(f"{who} {problem}. Fix: write {call}.")


def other_device(who: str, first: Any, other: Any) -> BindingError:
    """Resident arrays of two devices in one call."""
    return BindingError(
        f"{who} got arrays of two devices: {device_of(first)} and {device_of(other)}. "
        "Fix: make both with the same `backend` and `device`."
    )


def overlapping(one: str, other: str, owner: str) -> BindingError:
    """Arrays that a call writes and that share memory: one result would overwrite the other."""
    return BindingError(
        f"arguments `{one}` and `{other}` of {owner} overlap in memory, and both are written. "
        "Fix: give each its own array, for instance a copy."
    )


def not_ascending(where: str, before: object, after: object, at: int) -> ArgumentError:
    """Numbers that have to ascend, and fall at an element."""
    return ArgumentError(f"{where} falls from {before} to {after} at element {at}. Fix: pass it in ascending order.")


def no_memory(whose: str, what: str) -> DeviceMemoryError:
    """Memory that the host or a device does not have.

    >>> str(no_memory("the host", "the values of vyre.array"))
    'the host has no memory for the values of vyre.array. Fix: use fewer elements.'
    """
    return DeviceMemoryError(f"{whose} has no memory for {what}. Fix: use fewer elements.")


def not_installed(what: str, package: str, extra: str) -> str:
    """A package that something needs and that is not installed.

    >>> not_installed("--progress", "tqdm", "fuzz")
    "--progress needs the package tqdm, which is not installed. Fix: pip install 'vyre[fuzz]'."
    """
    return f"{what} needs the package {package}, which is not installed. Fix: pip install 'vyre[{extra}]'."
