"""The numbers of a profile: its events and its rows, made from what the core reports."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any, NamedTuple

from vyre._base import source
from vyre._base.program_names import origin_of

# The host's work in the order in which it is done, and how deep each kind lies within another.
STAGES = {
    "run": 0,
    "call": 0,
    "record": 0,
    "replay": 0,
    "validate": 1,
    "optimize": 1,
    "prepare": 1,
    "open device": 2,
    "specialize": 2,
    "lower": 2,
    "emit": 2,
    "compile": 2,
    "plan": 1,
    "submit": 1,
    "upload": 1,
    "wait": 2,
    "download": 1,
    "read clocks": 1,
    "read times": 1,
}
_MOST_NAMES = 3
_LONGEST_NAME = 40


class ProfileEvent(NamedTuple):
    """One thing that the host or a device did.

    Attributes:
        name: of the host "run", "call", "validate", "prepare", "specialize", "lower", "emit", "compile", "plan",
            "submit", "wait", "upload", "download" and the like; of a device "dispatch", "upload", "download".
        program: what a dispatch, or a call, is of: a kernel and where it begins, what an operator or a method of
            arrays is written like ("a + b"), or of another program the buffers that it writes and where it was made.
            None for others.
        program_hash: of that program, 16 hexadecimal digits.
        backend, device: whose work it is; None is the host.
        thread: the system's id of the thread that did it, or asked the device for it.
        submitted_ns: when a device's work was asked for.
        start_ns, duration_ns: when it began, in nanoseconds from the beginning of the profile, and how long it took.
        workgroups: of a dispatch, along x, y, z; on a Vulkan device the largest ones, where the grid is from data.
        bytes: of the arrays that a dispatch binds, or of what is copied.
        observed: of a device without timestamps: the time is from the submission until the host saw the end.
    """

    name: str
    program: str | None
    program_hash: str | None
    backend: str | None
    device: int | None
    thread: int
    submitted_ns: int
    start_ns: int
    duration_ns: int
    workgroups: tuple[int, int, int] | None
    bytes: int
    observed: bool


class ProfileRow(NamedTuple):
    """All events of one kind: one program's on one device, or one kind of the host's work.

    Attributes:
        name, program, program_hash, backend, device, observed: as in ProfileEvent.
        calls: how many.
        total_ns, mean_ns, min_ns, max_ns: their durations.
        share: of a device's work, its part of all that the device did; of the host's, of the profile's whole time.
            What a thread does lies within something else it does, and threads work at once: these do not add up to 1.
    """

    name: str
    program: str | None
    program_hash: str | None
    backend: str | None
    device: int | None
    observed: bool
    calls: int
    total_ns: int
    mean_ns: float
    min_ns: int
    max_ns: int
    share: float


class Device(NamedTuple):
    """A device of a profile, and how far its times may be off from the host's; None where its clock is the host's."""

    backend: str
    index: int  # type: ignore[assignment]  # it hides a tuple's method, which nothing here calls
    name: str
    clock: str
    error_ns: int | None


def short(text: str) -> str:
    """The text, cut where it is too long for a table."""
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 3]}..."


def _names(report: dict[str, Any]) -> list[tuple[str, str]]:
    """The name of each program, such as "scaled at step.py:12", or of no kernel "out, sum at step.py:12", and hash."""
    found = []
    if any(origin_of(digest) is None for digest, *_ in report["programs"]):
        from vyre._procedure.recorded import record_all  # few profiles need it

        record_all()
    for digest, written, file, line in report["programs"]:
        shown = [short(name) for name in written[:_MOST_NAMES]]
        text = ", ".join(shown) + (", ..." if len(written) > _MOST_NAMES else "") or "(writes nothing)"
        origin = origin_of(digest)
        if origin is not None:
            text, file, line = origin
        if file is not None:
            text += f" at {_place(file, line)}"
        found.append((text, digest))
    return found


def _place(file: str, line: int | None) -> str:
    """`step.py:12`, or `Cell In[3], line 2` in a notebook."""
    cell = source.cell(file)
    if line is None:
        return PurePath(file).name
    return f"Cell In[{cell}], line {line}" if cell else f"{PurePath(file).name}:{line}"


def events_of(report: dict[str, Any]) -> list[ProfileEvent]:
    """Everything that was kept, in the order of the beginnings; an event comes before those that it contains."""
    names = _names(report)
    began = report["began"]
    events = []
    for name, device, program, observed, thread, submitted, start, duration, workgroups, count in report["events"]:
        text, digest = (None, None) if program is None else names[program]
        backend, index = (None, None) if device is None else report["devices"][device][:2]
        grid = workgroups if name in ("dispatch", "run", "call") else None
        times = submitted - began, start - began, duration
        events.append(ProfileEvent(name, text, digest, backend, index, thread, *times, grid, count, observed))
    events.sort(key=lambda event: (event.start_ns, -event.duration_ns))
    return events


def rows_of(report: dict[str, Any]) -> list[ProfileRow]:
    """First the devices' rows, the longest total first, then the host's in the order of its stages."""
    names = _names(report)
    sums: dict[tuple[str, str | None, str | None, str | None, int | None, bool], list[int]] = {}
    busy: dict[Any, int] = {}
    for name, device, program, observed, calls, total, least, most in report["rows"]:
        text, digest = (None, None) if program is None else names[program]
        backend, index = (None, None) if device is None else report["devices"][device][:2]
        busy[backend, index] = busy.get((backend, index), 0) + total
        known = sums.setdefault((name, text, digest, backend, index, observed), [0, 0, least, most])
        known[:] = known[0] + calls, known[1] + total, min(known[2], least), max(known[3], most)
    whole = report["ended"] - report["began"]
    rows = []
    for key, (calls, total, least, most) in sums.items():
        all_of_it = whole if key[3] is None else busy[key[3:5]]
        share = total / all_of_it if all_of_it else 0.0
        rows.append(ProfileRow(*key, calls, total, total / calls, least, most, share))
    order = list(STAGES)
    rows.sort(
        key=lambda row: (
            (1, order.index(row.name) if row.name in STAGES else len(order), row.name)
            if row.backend is None
            else (0, row.backend, row.device, -row.total_ns)
        )
    )
    return rows


def shown_time(nanoseconds: float) -> str:
    """A duration in the largest unit of which it is one or more."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3f} {unit}"
    return f"{nanoseconds:.0f} ns"


def work(row: ProfileRow | ProfileEvent) -> str:
    """A device's work, as tables and pictures name it."""
    if row.name != "dispatch":
        return f"({row.name})"
    if row.program is None or row.program_hash is None:
        return "(vyre's look at the driver)"
    return f"{row.program} #{row.program_hash[:8]}" + (" (seen by the host)" if row.observed else "")
