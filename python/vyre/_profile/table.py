"""The tables of a profile: plain text for a terminal, markup for a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre._profile import picture
from vyre._profile.events import STAGES, shown_time, work

if TYPE_CHECKING:
    from vyre._profile import Profile
    from vyre._profile.events import Device, ProfileRow

_COLUMNS = ("", "calls", "total", "mean", "min", "max", "share")


def _title(prof: Profile) -> str:
    report = prof._now()
    if prof._handle is not None:
        return f"profile, recording for {shown_time(prof.duration_ns)}: what is known so far"
    if prof._report is None:
        return "profile, not opened yet"
    events = len(report["events"]) + report["left_out"]
    return f"profile of {shown_time(prof.duration_ns)}: " + ("nothing recorded" if not events else f"{events:,} events")


def _device_heading(device: Device, busy: int) -> str:
    heading = f"{device.backend} {device.index}: {device.name}, busy for {shown_time(busy)}"
    return heading if device.error_ns is None else f"{heading}, times aligned to {shown_time(device.error_ns)}"


def _tables(prof: Profile) -> list[tuple[str, list[tuple[str, ...]]]]:
    """A heading and cells for each device, and for the host."""
    rows = prof.rows
    devices: dict[tuple[str, int], Device] = {}
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
            tables.append((heading, [_cells(work(row), row) for row in own]))
    host = [row for row in rows if row.backend is None]
    if host:
        tables.append(("host", [_cells(f"{'  ' * STAGES.get(row.name, 1)}{row.name}", row) for row in host]))
    return tables


def _cells(first: str, row: ProfileRow) -> tuple[str, ...]:
    times = (shown_time(value) for value in (row.total_ns, row.mean_ns, row.min_ns, row.max_ns))
    return (first, f"{row.calls:,}", *times, f"{100 * row.share:.1f} %")


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[k]) for row in rows) for k in range(len(_COLUMNS))]
    return [
        "  ".join(row[k].rjust(width) if k else row[k].ljust(width) for k, width in enumerate(widths)) for row in rows
    ]


def text(prof: Profile) -> str:
    """The tables as lines of text."""
    lines = [_title(prof)]
    for heading, table in _tables(prof):
        lines += ["", heading]
        lines += _aligned([_COLUMNS, *table])
    lines += [f"note: {note}" for note in prof.notes]
    return "\n".join(lines)


def markup(prof: Profile) -> str:
    """The tables and the time line as HTML."""
    from vyre._html.markup import Markup, element, joined
    from vyre._html.parts import Form, note, sheet, table

    colours: dict[str, str] = {}
    parts = [Markup(picture.time_line(prof, colours))]
    for heading, rows in _tables(prof):
        made = []
        for first, *cells in rows:
            name = first.strip()
            colour = colours.get(name)
            mark = element("span", "■ ", class_="mark", style=f"color:{colour}") if colour else ""
            indent = Markup("&emsp;" * ((len(first) - len(first.lstrip())) // 2))
            made.append([joined(indent, mark, name), *cells])
        parts.append(table(_COLUMNS, made, caption=heading, numbers=range(1, len(_COLUMNS))))
    parts += [note(f"note: {each}") for each in prof.notes]
    return sheet(Form("Profile", _title(prof).removeprefix("profile of ").removeprefix("profile, "), tuple(parts)))
