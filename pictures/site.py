"""Takes pictures of three pages of the site that `make docs` built, in Chromium. Run it to take them anew.

Each picture notes the words that can be read in it, the pictures that are part of it, and the style. A test compares
these with the pages' sources, and fails when a picture is out of date.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "py"))

HERE = Path(__file__).with_suffix("")
SITE = ROOT / "build" / "docs" / "html"
# The pages, each with whether the reader's system is dark.
PAGES = {"docs/index": False, "docs/tutorial": True, "docs/how-to/work-in-notebooks": False}
WIDTH, HEIGHT = 1200, 1150  # pixels

# The words of an element, and the files of its pictures, that lie within the window as a whole.
SEEN = """
(selector => {
  const words = [], pictures = [], root = document.querySelector(selector);
  const inside = box => box.height > 0 && box.bottom <= innerHeight;
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    for (const word of node.data.matchAll(/[\\p{L}\\p{N}_]+/gu)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      if (inside(range.getBoundingClientRect())) words.push(word[0]);
    }
  }
  for (const each of root.querySelectorAll("img")) {
    if (each.getBoundingClientRect().top < innerHeight) pictures.push(each.src);
  }
  return {words, pictures};
})
"""


def kept(page: str) -> Path:
    """The file of a page's picture."""
    return HERE / f"{page.rpartition('/')[2]}-{'dark' if PAGES[page] else 'light'}.png"


def hash_of(*files: Path) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def style() -> str:
    """A hash of what makes the look of all pages: the rules of style, and the theme with its settings and title."""
    settings = re.findall(r"^html_.*$", (ROOT / "docs/conf.py").read_text(encoding="utf-8"), re.MULTILINE)
    version = re.search(r"project\(vyre VERSION [0-9.]+", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[0]
    rules = (ROOT / "docs/static/site.css").read_text(encoding="utf-8")
    return hashlib.sha256("\n".join([*settings, version, rules]).encode()).hexdigest()


def take(page: str) -> None:
    import kept_pictures
    from browser import Browser

    with Browser("--hide-scrollbars", "--force-device-scale-factor=1") as browser:
        size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        browser.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if PAGES[page] else "light"}
        browser.call("Emulation.setEmulatedMedia", features=[scheme])
        browser.open(SITE / f"{page}.html")
        text, sidebar = (browser.value(f"{SEEN}('{each}')") for each in ("article[role=main]", ".sidebar-tree"))
        picture = Image.open(io.BytesIO(browser.picture())).convert("RGB")
    found = {re.sub(r".*/", "", address) for address in text["pictures"]}
    notes = {
        "words": " ".join(text["words"]),
        "navigation": " ".join(sidebar["words"]),
        "pictures": json.dumps({name: hash_of(SITE / "_images" / name) for name in sorted(found)}),
        "style": style(),
    }
    kept_pictures.keep(kept(page), picture, notes)


if __name__ == "__main__":
    for each in PAGES:
        take(each)
