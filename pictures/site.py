"""Takes pictures of three pages of the site that `make docs` built, in Chromium. Run it to take them anew."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "py"))

import drawn_pages  # noqa: E402

HERE = Path(__file__).with_suffix("")
SITE = ROOT / "build" / "docs" / "html"
# The pages, each with whether the reader's system is dark.
PAGES = {"docs/index.html": False, "docs/tutorial.html": True, "docs/how-to/work-in-notebooks.html": False}
WIDTH, HEIGHT = 1200, 1150  # pixels
LARGEST = 100_000  # bytes


def taken(page: str, dark: bool) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder, "page.png")
        drawn_pages.open_page((SITE / page).as_uri(), picture, dark=dark, width=WIDTH, height=HEIGHT)
        return drawn_pages.png(Image.open(picture).convert("RGB"))


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for page, dark in PAGES.items():
        made = taken(page, dark)
        assert len(made) < LARGEST, f"the picture of {page} has {len(made)} bytes. Fix: make it smaller."
        (HERE / f"{Path(page).stem}-{'dark' if dark else 'light'}.png").write_bytes(made)
