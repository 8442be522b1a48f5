"""Takes the picture of the page that vyre.to_html makes, in headless Chromium on SwiftShader. Run it to take it anew.

The kernel is that of docs/how-to/show-in-a-browser.md.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

import vyre

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "py"))

from browser import WEBGPU, Browser  # noqa: E402  it lies beside the tests

KEPT = Path(__file__).with_suffix(".png")


@vyre.kernel
def collatz(first: vyre.In[vyre.u32], steps: vyre.Out[vyre.u32]):
    """Counts the steps of Collatz's sequence from each number down to one."""
    i = vyre.gid(0)
    value = first[i]
    count = 0
    while value > 1:
        value = value // 2 if value % 2 == 0 else 3 * value + 1
        count += 1
    steps[i] = count


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, Browser(WEBGPU, "--window-size=1000,780") as browser:
        path = Path(folder) / "collatz.html"
        numbers = np.arange(1, 10_001, dtype=np.uint32)
        page = vyre.to_html(collatz, {"first": numbers}, title="Collatz, up to 10,000")
        path.write_text(page, encoding="utf-8")
        browser.open(path)
        said = browser.value(
            "new Promise((done) => { const look = () => document.getElementById('again').disabled"
            " ? requestAnimationFrame(look) : done(document.getElementById('status').textContent); look(); })"
        )
        picture = browser.picture()
    if not said.startswith("same"):
        raise SystemExit(f"the browser says: {said}. Fix: run it where Chromium's SwiftShader works.")
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(255).save(KEPT, optimize=True)


if __name__ == "__main__":
    main()
