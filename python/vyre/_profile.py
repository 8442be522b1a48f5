"""What happened when: ``profile`` records the host's work and the devices' on one time line."""

from __future__ import annotations

import html
import json
import os
import threading
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from vyre import _core
from vyre._calls import explain_calls
from vyre._files import write_atomically
from vyre._text import as_count, shown
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from types import TracebackType

    import numpy as np

__all__ = ["Profile", "ProfileEvent", "ProfileRow", "profile"]

# The host's work in the order in which it is done, and within what.
_STAGES = {
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
        program: what a dispatch, or a call, is of: the buffers it writes and where it was made. None for others.
        program_hash: of that program, 16 hexadecimal digits.
        backend, device: whose work it is; None is the host.
        thread: the system's id of the thread that did it, or asked the device for it.
        submitted_ns: when a device's work was asked for.
        start_ns, duration_ns: when it began, in nanoseconds from the beginning of the profile, and how long it took.
        workgroups: of a dispatch, along x, y, z.
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


class _Device(NamedTuple):
    backend: str
    index: int
    name: str
    clock: str
    error_ns: int | None


class Profile:
    """A profile that ``vyre.profile`` made: a context manager while it records, and then what it recorded.

    ``print(prof)`` shows a table, a notebook the same with a time line; ``rows`` and ``events`` are the numbers, and
    ``to_perfetto`` writes them for a trace viewer.
    """

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._handle: Any = None
        self._report: dict[str, Any] | None = None
        self._threads: dict[int, str] = {}
        self._made: tuple[list[ProfileEvent], list[ProfileRow]] | None = None

    def __enter__(self) -> Profile:
        if self._handle is not None or self._report is not None:
            raise ArgumentError("a profile is opened once. Fix: write `with vyre.profile() as prof:` anew.")
        self._name_threads()
        self._handle = _core._profile(self._keep)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._handle is None:
            raise ArgumentError(
                "a profile is closed once, after it was opened. Fix: write `with vyre.profile() as prof:`."
            )
        try:
            self._handle.end()
        finally:
            self._name_threads()
            self._report = self._handle.report()
            self._handle = None

    def _name_threads(self) -> None:
        self._threads.update({thread.native_id: thread.name for thread in threading.enumerate() if thread.native_id})

    def _now(self) -> dict[str, Any]:
        if self._report is not None:
            return self._report
        if self._handle is not None:
            return self._handle.report()
        empty: list[Any] = []
        return dict.fromkeys(("devices", "programs", "rows", "events", "notes"), empty) | {
            "open": False,
            "began": 0,
            "ended": 0,
            "left_out": 0,
        }

    @property
    def _devices(self) -> list[_Device]:
        return [_Device(*fields) for fields in self._now()["devices"]]

    @property
    def began_ns(self) -> int:
        """When it was opened, by ``time.perf_counter_ns()``: for putting times of your own beside those of events."""
        return self._now()["began"]

    @property
    def duration_ns(self) -> int:
        """From its opening to its end, or until now."""
        report = self._now()
        return report["ended"] - report["began"]

    @property
    def left_out(self) -> int:
        """How many events were not kept. The rows count them all the same."""
        return self._now()["left_out"]

    @property
    def notes(self) -> list[str]:
        """What the numbers do not say: work without times of its own, a device that was lost, events left out."""
        report = self._now()
        notes = list(report["notes"])
        if report["left_out"]:
            notes.append(
                f"{report['left_out']:,} events were not kept, and count in the rows alone. "
                f"Fix: write vyre.profile(keep={self._keep + report['left_out']})."
            )
        return notes

    @property
    def events(self) -> list[ProfileEvent]:
        """Everything that was recorded and kept, each a ProfileEvent, in the order of their beginnings."""
        return self._numbers()[0]

    @property
    def rows(self) -> list[ProfileRow]:
        """The table: each a ProfileRow. First those of devices, the longest first, then the host's."""
        return self._numbers()[1]

    def _numbers(self) -> tuple[list[ProfileEvent], list[ProfileRow]]:
        if self._made is not None:
            return self._made
        report = self._now()
        made = _events(report), _rows(report)
        if self._report is not None:
            self._made = made
        return made

    def to_numpy(self) -> np.ndarray:
        """The events as a structured array, one field for each attribute of ProfileEvent that fits one.

        >>> import vyre
        >>> with vyre.profile() as prof:
        ...     pass
        >>> int(prof.to_numpy()["duration_ns"].sum())
        0
        """
        import numpy as np

        texts = ("name", "program", "program_hash", "backend")
        events = self.events
        columns = {field: [getattr(event, field) for event in events] for field in ProfileEvent._fields}
        longest = {field: max([1, *(len(text or "") for text in columns[field])]) for field in texts}
        kinds: dict[str, Any] = {field: f"U{longest[field]}" for field in texts}
        kinds |= dict.fromkeys(("device", "thread", "submitted_ns", "start_ns", "duration_ns"), np.int64)
        kinds |= {"workgroups": (np.uint32, 3), "bytes": np.uint64, "observed": np.bool_}
        array = np.zeros(len(events), [(field, kinds[field]) for field in ProfileEvent._fields])
        absent = dict.fromkeys(texts, "") | {"device": -1, "workgroups": (0, 0, 0)}
        if events:
            for field, values in columns.items():
                array[field] = [absent[field] if value is None else value for value in values]
        return array

    def to_perfetto(self, path: str | os.PathLike[str]) -> None:
        """Write the events as Chrome's trace-event JSON, which ui.perfetto.dev and chrome://tracing open.

        The host's threads and the devices' queues stand on one time line. The file's ``otherData`` says how each
        device's clock was read, and by how many nanoseconds its events may be misplaced.

        Args:
            path: where to; a file there is replaced, by a finished one.

        Raises: ArgumentError (not a path), FileError.

        >>> import tempfile
        >>> import vyre
        >>> with vyre.profile() as prof:
        ...     pass
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     prof.to_perfetto(f"{folder}/run.json")
        """
        try:
            where = os.fsdecode(path)
        except TypeError:
            raise ArgumentError(
                f"argument `path` of Profile.to_perfetto must be a path, got {type(path).__name__}. "
                'Fix: write to_perfetto("run.json").'
            ) from None
        text = json.dumps(_trace(self), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
        write_atomically(where, text + "\n")

    def __repr__(self) -> str:
        state = "recording" if self._handle is not None else "not opened" if self._report is None else "closed"
        return f"<vyre.Profile {state}, {len(self._now()['events']):,} events in {_time(self.duration_ns)}>"

    def __str__(self) -> str:
        lines = [_title(self)]
        for heading, table in _tables(self):
            lines += ["", heading]
            lines += _aligned([_COLUMNS, *table])
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        left, right = 'style="text-align:left"', 'style="text-align:right"'
        colours: dict[str, str] = {}
        parts = [f"<p>{html.escape(_title(self))}</p>", _time_line(self, colours)]
        for heading, table in _tables(self):
            head = "".join(f"<th {right}>{name}</th>" for name in _COLUMNS)
            body = ""
            for first, *numbers in table:
                cells = "".join(f"<td {right}>{html.escape(cell)}</td>" for cell in numbers)
                colour = colours.get(first.strip())
                mark = f'<span style="color:{colour}">&#9632;</span> ' if colour else ""
                body += f"<tr><td {left}>{_spaced(first, mark)}</td>{cells}</tr>"
            parts.append(f"<table><caption {left}>{html.escape(heading)}</caption><tr>{head}</tr>{body}</table>")
        parts += [f"<p>note: {html.escape(note)}</p>" for note in self.notes]
        return "".join(parts)


def profile(*, keep: int = 1_000_000) -> Profile:
    """Record what the host and the devices do while a with-block runs.

    It hears of all threads and all devices of the process. Several may be open at once, one within the other or in
    different threads: each records what began while it was open. Dispatches are timed by the device's own clock, which
    is aligned with the host's; a call that a device takes in several submissions is one event each. At the end the
    block waits for the devices. While a profile is open, calls are recorded anew each time, and the calls of a batch
    follow each other, so that each has a time of its own; nothing else changes, and no byte of a result.

    Args:
        keep: how many events are kept, of about 100 bytes each; the rows of the table count those beyond, too.

    Returns: a Profile.

    Raises: ArgumentError, KeyboardInterrupt on Ctrl-C while it waits for the devices. A device that is lost meanwhile
        is a note in the profile, and an error of the calls.

    >>> import vyre
    >>> i = vyre.Expr.gid_x()
    >>> step = vyre.Program([vyre.BufferDecl.read_write("data", 0, vyre.u32)], (4, 1, 1),
    ...                     [vyre.Node.store("data", i, vyre.Expr.load("data", i) + 1)])
    >>> data = vyre.empty(4, backend="cpu")
    >>> with vyre.profile() as prof:
    ...     for _ in range(3):
    ...         _ = step(data, workgroups=1)
    >>> [(row.name, row.backend, row.calls) for row in prof.rows][0]
    ('dispatch', 'cpu', 3)
    """
    count = as_count(keep)
    if count is None or not 0 <= count < 2**62:
        raise ArgumentError(
            f"argument `keep` of vyre.profile must be a count of events, got {shown(keep)}. Fix: write keep=1_000_000."
        )
    return Profile(count)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 3]}..."


def _names(report: dict[str, Any]) -> list[tuple[str, str]]:
    """Of each program: "out, sum at step.py:12", and its hash."""
    found = []
    for digest, written, file, line in report["programs"]:
        shown = [_short(name) for name in written[:_MOST_NAMES]]
        text = ", ".join(shown) + (", ..." if len(written) > _MOST_NAMES else "") or "(writes nothing)"
        if file is not None:
            text += f" at {PurePath(file).name}" + ("" if line is None else f":{line}")
        found.append((text, digest))
    return found


def _events(report: dict[str, Any]) -> list[ProfileEvent]:
    names = _names(report)
    began = report["began"]
    events = []
    for name, device, program, observed, thread, submitted, start, duration, workgroups, count in report["events"]:
        text, digest = (None, None) if program is None else names[program]
        backend, index = (None, None) if device is None else report["devices"][device][:2]
        grid = workgroups if name in ("dispatch", "run", "call") else None
        times = submitted - began, start - began, duration
        events.append(ProfileEvent(name, text, digest, backend, index, thread, *times, grid, count, observed))
    # A slice comes before the slices that it contains.
    events.sort(key=lambda event: (event.start_ns, -event.duration_ns))
    return events


def _rows(report: dict[str, Any]) -> list[ProfileRow]:
    names = _names(report)
    sums: dict[tuple[Any, ...], list[int]] = {}
    busy: dict[Any, int] = {}
    for name, device, program, observed, calls, total, least, most in report["rows"]:
        text, digest = (None, None) if program is None else names[program]
        place = (None, None) if device is None else tuple(report["devices"][device][:2])
        busy[place] = busy.get(place, 0) + total
        known = sums.setdefault((name, text, digest, *place, observed), [0, 0, least, most])
        known[:] = known[0] + calls, known[1] + total, min(known[2], least), max(known[3], most)
    whole = report["ended"] - report["began"]
    rows = []
    for key, (calls, total, least, most) in sums.items():
        all_of_it = whole if key[3] is None else busy[key[3:5]]
        share = total / all_of_it if all_of_it else 0.0
        rows.append(ProfileRow(*key, calls, total, total / calls, least, most, share))
    order = list(_STAGES)
    rows.sort(
        key=lambda row: (
            (1, order.index(row.name) if row.name in _STAGES else len(order), row.name)
            if row.backend is None
            else (0, row.backend, row.device, -row.total_ns)
        )
    )
    return rows


# --- the report for people ---

_COLUMNS = ("", "calls", "total", "mean", "min", "max", "share")


def _time(nanoseconds: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3f} {unit}"
    return f"{nanoseconds:.0f} ns"


def _title(prof: Profile) -> str:
    report = prof._now()
    if prof._handle is not None:
        return f"profile, recording for {_time(prof.duration_ns)}: what is known so far"
    if prof._report is None:
        return "profile, not opened yet"
    events = len(report["events"]) + report["left_out"]
    return f"profile of {_time(prof.duration_ns)}: " + ("nothing recorded" if not events else f"{events:,} events")


def _device_heading(device: _Device, busy: int) -> str:
    heading = f"{device.backend} {device.index}: {device.name}, busy for {_time(busy)}"
    return heading if device.error_ns is None else f"{heading}, times aligned to {_time(device.error_ns)}"


def _tables(prof: Profile) -> list[tuple[str, list[tuple[str, ...]]]]:
    """A heading and cells for each device, and for the host."""
    rows = prof.rows
    devices: dict[tuple[str, int], _Device] = {}
    for device in prof._devices:
        known = devices.setdefault((device.backend, device.index), device)
        # A device that was lost and opened anew is two: the worse alignment counts.
        if known.error_ns is not None and (device.error_ns or 0) > known.error_ns:
            devices[device.backend, device.index] = device
    tables = []
    for place, device in sorted(devices.items()):
        own = [row for row in rows if (row.backend, row.device) == place]
        if own:
            heading = _device_heading(device, sum(row.total_ns for row in own))
            tables.append((heading, [_cells(_work(row), row) for row in own]))
    host = [row for row in rows if row.backend is None]
    if host:
        tables.append(("host", [_cells(f"{'  ' * _STAGES.get(row.name, 1)}{row.name}", row) for row in host]))
    return tables


def _work(row: ProfileRow | ProfileEvent) -> str:
    if row.name != "dispatch":
        return f"({row.name})"
    if row.program is None or row.program_hash is None:
        return "(vyre's look at the driver)"
    return f"{row.program} #{row.program_hash[:8]}" + (" (seen by the host)" if row.observed else "")


def _cells(first: str, row: ProfileRow) -> tuple[str, ...]:
    times = (_time(value) for value in (row.total_ns, row.mean_ns, row.min_ns, row.max_ns))
    return (first, f"{row.calls:,}", *times, f"{100 * row.share:.1f} %")


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[k]) for row in rows) for k in range(len(_COLUMNS))]
    return [
        "  ".join(row[k].rjust(width) if k else row[k].ljust(width) for k, width in enumerate(widths)) for row in rows
    ]


def _spaced(text: str, mark: str) -> str:
    stripped = text.lstrip(" ")
    return "&nbsp;" * (len(text) - len(stripped)) * 2 + mark + html.escape(stripped)


# No picture has more bars.
_MOST_BARS = 2000
_WIDTH = 860
_LABEL = 180
_ROW = 22
_COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#9d755d", "#eeca3b")


def _time_line(prof: Profile, colours: dict[str, str]) -> str:
    """An SVG with a line for each thread of the host, of its outermost work, and for each device.

    What is drawn gets a colour, by which the tables name it.
    """
    events = prof.events
    if not events:
        return ""
    first = min(event.start_ns for event in events)
    whole = max(1, max(event.start_ns + event.duration_ns for event in events) - first)
    lines: dict[tuple[Any, ...], list[ProfileEvent]] = {}
    ends: dict[tuple[Any, ...], int] = {}
    for event in events:
        if event.backend is None:
            line: tuple[Any, ...] = (0, "", 0, event.thread)
            # What lies within something else of its thread is not drawn over it.
            if event.start_ns < ends.get(line, -(2**62)):
                continue
            ends[line] = event.start_ns + event.duration_ns
        else:
            line = (1, event.backend, event.device, 0)
        lines.setdefault(line, []).append(event)
    scale = (_WIDTH - _LABEL) / whole
    drawn, shapes = 0, []
    for row, (line, own) in enumerate(sorted(lines.items())):
        label = prof._threads.get(line[3], f"thread {line[3]}") if line[0] == 0 else f"{line[1]} {line[2]}"
        y = row * _ROW
        shapes.append(f'<text x="0" y="{y + 14}">{html.escape(_short(label))}</text>')
        reached = -1.0
        for event in own:
            left = (event.start_ns - first) * scale
            width = max(event.duration_ns * scale, 0.5)
            # A bar that ends where the last one did shows nothing new.
            if left + width < reached + 0.5 or drawn >= _MOST_BARS:
                continue
            reached = left + width
            drawn += 1
            kind = event.name if event.backend is None else _work(event)
            colour = colours.setdefault(kind, _COLOURS[len(colours) % len(_COLOURS)])
            told = html.escape(f"{kind}: {_time(event.duration_ns)} at {_time(max(event.start_ns, 0))}")
            shapes.append(
                f'<rect x="{_LABEL + left:.2f}" y="{y + 3}" width="{width:.2f}" height="{_ROW - 6}" fill="{colour}">'
                f"<title>{told}</title></rect>"
            )
    bottom = len(lines) * _ROW
    shapes.append(f'<text x="{_LABEL}" y="{bottom + 14}">0</text>')
    shapes.append(f'<text x="{_WIDTH}" y="{bottom + 14}" text-anchor="end">{_time(whole)}</text>')
    shapes.append(f'<line x1="{_LABEL}" y1="{bottom}" x2="{_WIDTH}" y2="{bottom}" stroke="currentColor"/>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{bottom + 20}" '
        f'viewBox="0 0 {_WIDTH} {bottom + 20}" font-family="sans-serif" font-size="12" fill="currentColor">'
        f"{''.join(shapes)}</svg>"
    )


# What trace viewers read: the Trace Event Format, in microseconds.


def _microseconds(nanoseconds: int) -> float:
    return nanoseconds / 1000


def _trace(prof: Profile) -> dict[str, Any]:
    host = os.getpid()
    devices = prof._devices
    records: list[dict[str, Any]] = []
    tracks: dict[tuple[int, int], str] = {}
    processes = {host: "host"}
    places: dict[tuple[str, int], int] = {}
    for device in devices:
        # Numbers of their own beside the host's: no process is meant.
        pid = places.setdefault((device.backend, device.index), host + 1 + len(places))
        processes[pid] = f"{device.backend} {device.index}: {device.name}"
    for number, event in enumerate(prof.events):
        args: dict[str, Any] = {}
        if event.program is not None:
            args |= {"program": event.program, "hash": event.program_hash}
        if event.workgroups is not None:
            args["workgroups"] = list(event.workgroups)
        if event.bytes:
            args["bytes"] = event.bytes
        record: dict[str, Any] = {"name": event.name, "cat": "host", "ph": "X", "pid": host, "tid": event.thread}
        record |= {"ts": _microseconds(event.start_ns), "dur": _microseconds(event.duration_ns), "args": args}
        thread = prof._threads.get(event.thread, f"thread {event.thread}")
        tracks[host, event.thread] = thread
        if event.backend is None or event.device is None:
            records.append(record)
            continue
        pid = places[event.backend, event.device]
        # A device on the host's processor works on the threads that call it.
        queue = 0 if event.backend == "vulkan" else event.thread
        tracks[pid, queue] = "queue" if event.backend == "vulkan" else f"called by {thread}"
        args["submitted"] = _microseconds(event.submitted_ns)
        name = _work(event) if event.program is not None else event.name
        record |= {"name": name, "cat": "device", "pid": pid, "tid": queue}
        if event.observed:
            # Such times may overlap, which slices of one queue must not.
            del record["dur"]
            end = _microseconds(event.start_ns + event.duration_ns)
            records += [record | {"ph": "b", "id": number}, record | {"ph": "e", "id": number, "ts": end, "args": {}}]
            continue
        records.append(record)
        if event.backend == "vulkan":
            arrow = {"name": "submission", "cat": "submission", "id": number}
            began = _microseconds(event.submitted_ns)
            records.append(arrow | {"ph": "s", "pid": host, "tid": event.thread, "ts": began})
            records.append(arrow | {"ph": "f", "bp": "e", "pid": pid, "tid": queue, "ts": record["ts"]})
    named: list[dict[str, Any]] = []
    for order, (pid, name) in enumerate(processes.items()):
        named.append({"name": "process_name", "ph": "M", "pid": pid, "tid": 0, "args": {"name": name}})
        named.append({"name": "process_sort_index", "ph": "M", "pid": pid, "tid": 0, "args": {"sort_index": order}})
    for (pid, tid), name in tracks.items():
        named.append({"name": "thread_name", "ph": "M", "pid": pid, "tid": tid, "args": {"name": name}})
    from vyre import __version__

    clocks = [
        {
            "device": f"{device.backend} {device.index}: {device.name}",
            "clock": device.clock or "the host's",
            "alignment_error_ns": device.error_ns,
        }
        for device in devices
    ]
    return {
        "traceEvents": named + records,
        "displayTimeUnit": "ns",
        "otherData": {
            "vyre": __version__,
            "began_perf_counter_ns": prof.began_ns,
            "clocks": clocks,
            "left_out": prof.left_out,
            "notes": prof.notes,
        },
    }


explain_calls(globals())
