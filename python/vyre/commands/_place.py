"""The options ``--backend`` and ``--device`` of commands that run something."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

import vyre
from vyre._default import check_backend

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

__all__ = ["NoSuchPlace", "add_place", "check_name", "check_place", "exit_statuses", "split_place"]


class NoSuchPlace(vyre.ArgumentError):
    """A backend or a device that is not here."""


def exit_statuses(well: str, fault: str, *more: str) -> str:
    """What the help of a command that runs something tells about its exit status: when it is 0, and when 1."""
    cases = [f"0 {well}", f"1 {fault}", "2 for a request that cannot be carried out"]
    cases += ["3 for a backend or device that is not here", *more]
    return textwrap.fill(f"Exit status: {', '.join(cases)}.", 120)


def add_place(parser: argparse.ArgumentParser, otherwise: str = "the best one here") -> None:
    parser.add_argument("--backend", metavar="NAME", help=f"one of `vyre backends`; otherwise {otherwise}")
    parser.add_argument("--device", metavar="NUMBER", type=int, help="one of `vyre devices`")


def split_place(given: str) -> tuple[str, int | None]:
    """The backend and the device of an option such as vulkan:1; another name after the colon is a function's.

    >>> split_place("vulkan:1"), split_place("cpu"), split_place("module:function")
    (('vulkan', 1), ('cpu', None), ('module:function', None))
    """
    backend, _, number = given.rpartition(":")
    return (backend, int(number)) if backend and re.fullmatch(r"[0-9]{1,4}", number) else (given, None)


def check_name(backend: str, option: str, also: Sequence[str] = ()) -> None:
    """Refuse the name of no backend. Raises NoSuchPlace."""
    try:
        check_backend(backend, option, also)
    except vyre.ArgumentError as error:
        raise NoSuchPlace(str(error)) from None


def check_place(backend: str | None, device: int | None, option: str = "--backend", *, is_joined: bool = False) -> None:
    """Refuse here, by the options' names, what the library would refuse by its arguments'.

    Args:
        option: what names the backend.
        is_joined: whether it names the device too, as in vulkan:1.

    Raises: NoSuchPlace.
    """
    if backend is not None:
        check_name(backend, option)
        missing = vyre.backends().unavailable().get(backend)
        if missing:
            raise NoSuchPlace(" ".join(missing))
    if device is None:
        return
    listed = vyre.devices(backend)
    if not 0 <= device < len(listed):
        there = "`vyre devices` lists" if backend is None else f"backend {backend} has"
        numbers = f"0 to {len(listed) - 1}" if len(listed) > 1 else "0 alone"
        fix = "leave --device out" if not listed else "write --device 0, or leave it out"
        if is_joined:
            fix = f"write {option} {backend}"
        raise NoSuchPlace(f"there is no device {device}: {there} {numbers if listed else 'none'}. Fix: {fix}.")
