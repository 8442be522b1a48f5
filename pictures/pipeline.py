"""Draws the picture of the architecture page: what a kernel becomes on its way to a device. Run it to draw it anew."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).with_suffix(".svg")
WIDTH, HEIGHT = 860, 500
BOX = 46  # the height of a box

# x of the middle, y of the top, width, title, what it says below the title, the folder in cpp/vyre or python/vyre.
BOXES = {
    "kernel": (130, 20, 220, "@vyre.kernel", "Python's source, rewritten", "python/vyre/_kernel"),
    "builder": (430, 20, 220, "Builder, Expr, Node", "programs that programs make", "bindings"),
    "text": (730, 20, 220, "text, bytes", "parse, from_bytes, pickle", "ir"),
    "program": (430, 110, 330, "Program", "statements, typed expressions; any can be built", "ir"),
    "validate": (430, 190, 330, "ValidProgram", "rules V001 to V039, types, uniformity", "validate"),
    "reference": (110, 270, 190, "reference", "interprets: the definition", "run/reference"),
    "transform": (510, 270, 330, "inlined, optimised", "rules proven for all values", "transform"),
    "lower": (510, 350, 330, "Kernel", "slots and words; bounds made explicit", "lower"),
    "cpu": (300, 434, 150, "cpu", "vectors, machine code", "run/cpu"),
    "spirv": (465, 434, 150, "SPIR-V", "Vulkan", "emit/spirv"),
    "wgsl": (630, 434, 150, "WGSL", "WebGPU", "emit/wgsl"),
    "ptx": (780, 434, 130, "PTX", "CUDA", "emit/ptx"),
}
ARROWS = [
    ("kernel", "program"),
    ("builder", "program"),
    ("text", "program"),
    ("program", "validate"),
    ("validate", "reference"),
    ("validate", "transform"),
    ("transform", "lower"),
    *(("lower", end) for end in ("cpu", "spirv", "wgsl", "ptx")),
]
STYLE = """
  text { font: 13px ui-sans-serif, system-ui, sans-serif; fill: #14232e; text-anchor: middle }
  .title { font-weight: 600 }
  .says { font-size: 11px; fill: #45606f }
  .step { fill: #e8f1f4; stroke: #1f6f8b }
  .definition { fill: #f6edd3; stroke: #a87a1c }
  .code { fill: #e6f2e4; stroke: #4d8a43 }
  path { fill: none; stroke: #5b7280; stroke-width: 1.3; marker-end: url(#end) }
  .same { stroke: #a87a1c; stroke-dasharray: 4 3; marker-end: none }
"""


def kind(name: str) -> str:
    return "definition" if name == "reference" else "code" if name in ("cpu", "spirv", "wgsl", "ptx") else "step"


def box(name: str) -> str:
    x, y, width, title, says, _ = BOXES[name]
    return (
        f'<rect class="{kind(name)}" x="{x - width // 2}" y="{y}" width="{width}" height="{BOX}" rx="6"/>\n'
        f'<text class="title" x="{x}" y="{y + 19}">{title}</text>\n'
        f'<text class="says" x="{x}" y="{y + 36}">{says}</text>'
    )


def arrow(start: str, end: str) -> str:
    """From the lower edge of a box to the upper edge of another one, by a bend at half the way."""
    (x, y, *_), (to_x, to_y, *_) = BOXES[start], BOXES[end]
    y += BOX
    middle = (y + to_y) // 2
    return f'<path d="M{x} {y}V{middle}H{to_x}V{to_y - 3}"/>'


def picture() -> str:
    x, y, *_ = BOXES["reference"]
    last = BOXES["cpu"]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
            "<title>What a kernel becomes: a Program, validated, then interpreted, or lowered to machine code, SPIR-V, "
            "WGSL and PTX</title>",
            f"<style>{STYLE}</style>",
            '<defs><marker id="end" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            '<path d="M0 0L8 4L0 8z" style="fill:#5b7280;stroke:none"/></marker></defs>',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff" rx="8"/>',
            *(arrow(start, end) for start, end in ARROWS),
            f'<path class="same" d="M{x} {y + BOX}V{last[1] + BOX // 2}H{last[0] - last[2] // 2}"/>',
            f'<text class="says" x="{x}" y="{last[1] + BOX // 2 + 18}">the same bytes</text>',
            *(box(name) for name in BOXES),
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    HERE.write_text(picture(), encoding="utf-8")
