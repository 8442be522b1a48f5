"""A profile for trace viewers, in the Trace Event Format of Chrome. Its times are microseconds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from vyre import _core
from vyre._profile.events import work

if TYPE_CHECKING:
    from vyre._profile import Profile


def _microseconds(nanoseconds: int) -> float:
    return nanoseconds / 1000


def trace(prof: Profile) -> dict[str, Any]:
    """The events as a JSON object that trace viewers open."""
    host = os.getpid()
    devices = prof._devices
    records: list[dict[str, Any]] = []
    tracks: dict[tuple[int, int], str] = {}
    processes = {host: "host"}
    places: dict[tuple[str, int], int] = {}
    for device in devices:
        # Devices get numbers of their own beside the host's process id; they mean no process.
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
        # The host's processor works on the threads that call it, other devices in an order of their own.
        has_queue = event.backend not in _core._hosts
        queue = 0 if has_queue else event.thread
        tracks[pid, queue] = "queue" if has_queue else f"called by {thread}"
        args["submitted"] = _microseconds(event.submitted_ns)
        name = work(event) if event.program is not None else event.name
        record |= {"name": name, "cat": "device", "pid": pid, "tid": queue}
        if event.observed:
            # Observed times may overlap, but slices of one queue must not.
            del record["dur"]
            end = _microseconds(event.start_ns + event.duration_ns)
            records += [record | {"ph": "b", "id": number}, record | {"ph": "e", "id": number, "ts": end, "args": {}}]
            continue
        records.append(record)
        if has_queue:
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
            "vyre": _core.__version__,
            "began_perf_counter_ns": prof.began_ns,
            "clocks": clocks,
            "left_out": prof.left_out,
            "notes": prof.notes,
        },
    }
