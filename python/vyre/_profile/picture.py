"""The picture of a profile: an SVG time line of the host's threads and of the devices."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from vyre._profile.events import short, shown_time, work

if TYPE_CHECKING:
    from vyre._profile import Profile
    from vyre._profile.events import ProfileEvent

# The most bars of a picture, and its width in pixels.
_MOST_BARS = 2000
_WIDTH = 860
_LABEL = 180
_ROW = 22
# They stand out from a light sheet and from a dark one: a contrast of 3 to 1, as WCAG 2 wants of pictures.
COLOURS = ("#4c78a8", "#d5670b", "#459340", "#d94f4f", "#2b948e", "#b0709e", "#9d755d", "#9a7d00")


def time_line(prof: Profile, colours: dict[str, str]) -> str:
    """An SVG with a line for each thread of the host, of its outermost work, and for each device.

    Each kind of event that is drawn gets a colour in `colours`, by which the tables name it.
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
            # An event within another one of its thread is not drawn over it.
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
        shapes.append(f'<text x="0" y="{y + 14}">{html.escape(short(label))}</text>')
        reached = -1.0
        for event in own:
            left = (event.start_ns - first) * scale
            width = max(event.duration_ns * scale, 0.5)
            # A bar that ends where the last one did shows nothing new.
            if left + width < reached + 0.5 or drawn >= _MOST_BARS:
                continue
            reached = left + width
            drawn += 1
            kind = event.name if event.backend is None else work(event)
            colour = colours.setdefault(kind, COLOURS[len(colours) % len(COLOURS)])
            told = html.escape(f"{kind}: {shown_time(event.duration_ns)} at {shown_time(max(event.start_ns, 0))}")
            shapes.append(
                f'<rect x="{_LABEL + left:.2f}" y="{y + 3}" width="{width:.2f}" height="{_ROW - 6}" fill="{colour}">'
                f"<title>{told}</title></rect>"
            )
    bottom = len(lines) * _ROW
    shapes.append(f'<text x="{_LABEL}" y="{bottom + 14}">0</text>')
    shapes.append(f'<text x="{_WIDTH}" y="{bottom + 14}" text-anchor="end">{shown_time(whole)}</text>')
    shapes.append(f'<line x1="{_LABEL}" y1="{bottom}" x2="{_WIDTH}" y2="{bottom}" stroke="currentColor"/>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{bottom + 20}" '
        f'viewBox="0 0 {_WIDTH} {bottom + 20}" font-family="sans-serif" font-size="12" fill="currentColor">'
        f"{''.join(shapes)}</svg>"
    )
