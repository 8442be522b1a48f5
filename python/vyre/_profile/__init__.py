"""``profile`` records the host's work and the devices' on one time line.

`events.py` makes events and rows of what the core reports, `table.py` and `picture.py` show them, and `trace.py` writes
them for a trace viewer.
"""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING, Any

from vyre import _core
from vyre._base.calls import explain_calls
from vyre._base.files import write_atomically
from vyre._base.refused import must_be
from vyre._base.text import as_count, shown
from vyre._profile import table as _table
from vyre._profile import trace as _trace
from vyre._profile.events import Device, ProfileEvent, ProfileRow, events_of, rows_of, shown_time
from vyre.errors import ArgumentError

if TYPE_CHECKING:
    from types import TracebackType

    import numpy as np

__all__ = ["Profile", "ProfileEvent", "ProfileRow", "profile"]


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
            report: dict[str, Any] = self._handle.report()
            return report
        empty: list[Any] = []
        return dict.fromkeys(("devices", "programs", "rows", "events", "notes"), empty) | {
            "open": False,
            "began": 0,
            "ended": 0,
            "left_out": 0,
        }

    @property
    def _devices(self) -> list[Device]:
        return [Device(*fields) for fields in self._now()["devices"]]

    @property
    def began_ns(self) -> int:
        """When it was opened, by ``time.perf_counter_ns()``: for putting times of your own beside those of events."""
        found: int = self._now()["began"]
        return found

    @property
    def duration_ns(self) -> int:
        """The time from its opening to its end, or until now."""
        report = self._now()
        found: int = report["ended"] - report["began"]
        return found

    @property
    def left_out(self) -> int:
        """The number of events that were not kept. The rows count them."""
        found: int = self._now()["left_out"]
        return found

    @property
    def notes(self) -> list[str]:
        """Notes on what the numbers leave out: work without times of its own, a lost device, dropped events."""
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
        made = events_of(report), rows_of(report)
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
            raise must_be("argument `path` of Profile.to_perfetto", "a path", type(path).__name__) from None
        text = json.dumps(_trace.trace(self), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
        write_atomically(where, text + "\n")

    def __repr__(self) -> str:
        state = "recording" if self._handle is not None else "not opened" if self._report is None else "closed"
        return f"<vyre.Profile {state}, {len(self._now()['events']):,} events in {shown_time(self.duration_ns)}>"

    def __str__(self) -> str:
        return _table.text(self)

    def _repr_html_(self) -> str:
        return _table.markup(self)


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
    >>> @vyre.kernel
    ... def step(data: vyre.InOut[vyre.u32]):
    ...     data[vyre.gid(0)] += 1
    >>> data = vyre.empty(4, backend="cpu")
    >>> with vyre.profile() as prof:
    ...     for _ in range(3):
    ...         _ = step(data)
    >>> [(row.name, row.backend, row.calls) for row in prof.rows][0]
    ('dispatch', 'cpu', 3)
    """
    count = as_count(keep)
    if count is None or not 0 <= count < 2**62:
        raise must_be("argument `keep` of vyre.profile", "a count of events", shown(keep))
    return Profile(count)


explain_calls(globals())
