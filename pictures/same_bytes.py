"""Draws README's picture: its kernel on each backend, and the SHA-256 of what each gave. Run it to draw it anew.

The same bytes give the same picture, so a backend that differs makes another one, and a test fails.
"""

from __future__ import annotations

import hashlib
from itertools import groupby
from pathlib import Path

import numpy as np

import vyre

HERE = Path(__file__).with_suffix(".svg")
WIDTH, HEIGHT = 200, 100
# From the outside to the set: the number of rounds that a colour is for, at most.
COLOURS = {
    **{2: "#0d2538", 3: "#12384d", 4: "#174f63", 5: "#1f6f8b", 6: "#2f8f9d", 8: "#4fae9c"},
    **{11: "#86c98f", 16: "#c9dd8a", 24: "#f2d98b", 40: "#f0a868", 63: "#c8553d", 64: "#071521"},
}
WAYS = {
    "reference": "the definition, interpreted",
    "cpu": "machine code, vectors and threads",
    "vulkan": "any GPU, or none: SPIR-V",
}


@vyre.kernel(workgroup_size=(8, 4, 1))
def mandelbrot(rounds: vyre.Out[vyre.u8, 2]) -> None:
    i, j = vyre.gid(0), vyre.gid(1)
    cx, cy = vyre.i32(i) * 80 - 11000, vyre.i32(j) * 80 - 4000  # 12 bits behind the point
    x, y, n = vyre.i32(0), vyre.i32(0), 0
    while n < 64 and x * x + y * y < 4 << 24:
        x, y = (x * x - y * y >> 12) + cx, (x * y >> 11) + cy
        n += 1
    rounds[j, i] = n


def image(**place: object) -> np.ndarray:
    return mandelbrot(np.zeros((HEIGHT, WIDTH), np.uint8), **place)


def paths(rounds: np.ndarray) -> str:
    """A path a colour: a line for each run of pixels that have it."""
    limits = np.array(list(COLOURS))
    index = np.searchsorted(limits, rounds)
    lines: dict[int, list[str]] = {k: [] for k in range(len(limits))}
    for y, row in enumerate(index):
        x = 0
        for colour, run in groupby(row.tolist()):
            length = len(list(run))
            lines[colour].append(f"M{x} {y}h{length}v1h-{length}")
            x += length
    colours = list(COLOURS.values())
    return "\n".join(f'<path fill="{colours[k]}" d="{"".join(found)}"/>' for k, found in lines.items() if found)


def picture(images: dict[str, np.ndarray]) -> str:
    """The picture of the image of each backend: drawn once, because they are the same."""
    first, *others = images.values()
    for other in others:
        np.testing.assert_array_equal(other, first)
    panels = []
    for k, name in enumerate(images):
        digest = hashlib.sha256(images[name].tobytes()).hexdigest()
        left = 20 + k * 220
        panels.append(
            f'<g transform="translate({left} 20)"><use href="#image"/>\n'
            f'<text y="122" class="name">{name}</text><text y="138" class="way">{WAYS[name]}</text>\n'
            f'<text y="156" class="digest">sha256 {digest[:16]}…</text></g>'
        )
    width = 20 + 220 * len(images)
    size = f'viewBox="0 0 {width} 192" width="{width}" height="192"'
    said = f"The Mandelbrot set, computed by one kernel on {', '.join(images)}: the same bytes"
    return f"""<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">
<title>{said}</title>
<style>text {{ font-family: monospace; fill: #d8e6ea; font-size: 10px }}
.name {{ font-size: 13px; font-weight: bold }} .digest {{ fill: #86c98f }}</style>
<defs><g id="image" shape-rendering="crispEdges">
{paths(first)}
</g></defs>
<rect width="{width}" height="192" rx="8" fill="#0b1f2a"/>
{chr(10).join(panels)}
</svg>
"""


def write() -> None:
    """Anew, on a machine that has all three."""
    HERE.write_text(picture({name: image(backend=name) for name in WAYS}), encoding="utf-8")


if __name__ == "__main__":
    write()
