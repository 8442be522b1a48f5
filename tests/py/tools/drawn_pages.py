"""Pages as Chromium draws them: a picture, and what can be measured of the text in it.

Chromium runs without a window, opens one page, and ends. The page measures itself by a script, and leaves what it found
in an attribute that is read from the document. Nothing is loaded from elsewhere.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

WIDTH, HEIGHT = 900, 2600  # pixels of the window; a picture is cut to what it shows

# JupyterLab's rules for output, as far as they touch what forms are made of, and its variables in either theme.
JUPYTER = """
.jp-RenderedHTMLCommon{color:var(--jp-content-font-color1);font-family:sans-serif;font-size:14px;line-height:1.6}
.jp-RenderedHTMLCommon table{border-collapse:collapse;border-spacing:0;border:none;color:var(--jp-ui-font-color1);
 font-size:12px;table-layout:fixed;margin-left:auto;margin-bottom:1em;margin-right:auto}
.jp-RenderedHTMLCommon td,.jp-RenderedHTMLCommon th{vertical-align:middle;padding:.5em;line-height:normal;
 white-space:normal;max-width:none;border:none;text-align:right}
.jp-RenderedHTMLCommon tbody tr:nth-child(odd){background:var(--jp-layout-color2)}
.jp-RenderedHTMLCommon pre,.jp-RenderedHTMLCommon code{border:0;background-color:var(--jp-layout-color2);
 padding:1px 5px}
.jp-RenderedHTMLCommon p{text-align:left;margin:0 0 1em}
.jp-RenderedHTMLCommon dl dt{float:left;width:20%}
"""
_THEMES = {
    "light": "--jp-content-font-color1:rgba(0,0,0,.87);--jp-ui-font-color1:rgba(0,0,0,.87);--jp-layout-color0:#fff;"
    "--jp-layout-color2:#eee;--jp-border-color2:#e0e0e0",
    "dark": "--jp-content-font-color1:#fff;--jp-ui-font-color1:rgba(255,255,255,.87);--jp-layout-color0:#111;"
    "--jp-layout-color2:#424242;--jp-border-color2:#616161",
}

_MEASURE = """
const rgba = text => { const n = text.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
const over = (top, under) => {
  const a = top[3] + under[3] * (1 - top[3]);
  return a ? [0, 1, 2].map(k => (top[k] * top[3] + under[k] * under[3] * (1 - top[3])) / a).concat(a) : [0, 0, 0, 0];
};
const light = c => {
  const [r, g, b] = c.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = element => {
  let found = [0, 0, 0, 0];
  for (let e = element; e; e = e.parentElement) found = over(found, rgba(getComputedStyle(e).backgroundColor));
  return over(found, [255, 255, 255, 1]);
};
function measured(root) {
  const box = root.getBoundingClientRect(), texts = [], outside = [];
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const holder = node.parentElement;
    if (!node.data.trim() || !holder.checkVisibility()) continue;
    if (["style", "title"].includes(holder.tagName.toLowerCase())) continue;
    const style = getComputedStyle(holder), ground = behind(holder);
    const ink = over(rgba(holder.namespaceURI.endsWith("svg") ? style.fill : style.color), ground);
    const [low, high] = [light(ink), light(ground)].sort((a, b) => a - b);
    const range = document.createRange();
    range.selectNodeContents(node);
    const place = range.getBoundingClientRect();
    texts.push({text: node.data.trim().slice(0, 60), contrast: (high + 0.05) / (low + 0.05),
      size: parseFloat(style.fontSize), picture: holder.classList.contains("mark")});
    const scrolls = holder.closest(".wide, .code");
    const limit = scrolls ? scrolls.getBoundingClientRect() : box;
    if (scrolls ? limit.right > box.right + 1 : place.right > limit.right + 1 || place.left < limit.left - 1) {
      outside.push(node.data.trim().slice(0, 60));
    }
  }
  return {texts, outside, width: box.width, wide: document.documentElement.scrollWidth - innerWidth};
}
const place = document.getElementById("place"), root = place.firstElementChild;
const folds = [...root.querySelectorAll("details")].map(each => [each, each.open]);
const found = {closed: measured(root)};
folds.forEach(([each]) => each.open = true);
found.open = measured(root);
place.style.width = "440px";
found.narrow = measured(root);
place.style.width = "";
folds.forEach(([each, was]) => each.open = was);
const box = place.getBoundingClientRect();
found.box = [box.left, box.top, box.right, box.bottom];
document.documentElement.dataset.measured = JSON.stringify(found);
"""


@dataclass
class Drawn:
    """A page that was drawn.

    Attributes:
        picture: its pixels, cut to what it shows.
        found: what the page measured: "closed", "open" with every fold open, and "narrow"; each with its texts, those
            that stand outside, and by how many pixels the page is too wide.
    """

    picture: Image.Image
    found: dict


def chromium() -> str:
    for name in ("chromium", "chromium-headless-shell"):
        found = shutil.which(name)
        if found:
            return found
    raise AssertionError("no Chromium here. Fix: run `.ci/setup packages-slow`, or `make test-slow`, which does.")


def draw(form: str, *, dark: bool, jupyter: str = "") -> Drawn:
    """A form on a page, as a reader sees it whose system is dark or light; `jupyter` names a theme of JupyterLab."""
    attributes, style = "", "body{margin:12px}"
    if jupyter:
        attributes = f' data-jp-theme-light="{"true" if jupyter == "light" else "false"}"'
        style += f"body{{{_THEMES[jupyter]};background:var(--jp-layout-color0)}}{JUPYTER}"
    elif dark:
        style += "body{background:#0d0f12}"
    page = (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>form</title><style>{style}</style><body{attributes}>"
        f'<div id=place class="jp-RenderedHTMLCommon">{form}</div><script>{_MEASURE}</script></body></html>'
    )
    with tempfile.TemporaryDirectory() as folder:
        file, picture = Path(folder, "page.html"), Path(folder, "page.png")
        file.write_text(page, encoding="utf-8")
        document = open_page(file.as_uri(), picture, dark=dark)
        found = re.search(r'data-measured="([^"]*)"', document)
        assert found, document[:2000]
        whole = Image.open(picture).convert("RGB")
        measured = json.loads(html.unescape(found[1]))
        left, top, right, bottom = measured["box"]
        return Drawn(whole.crop((int(left), int(top), int(right) + 1, min(int(bottom) + 1, HEIGHT))), measured)


def open_page(address: str, picture: Path, *, dark: bool, width: int = WIDTH, height: int = HEIGHT) -> str:
    """Draw a page into a PNG, and give its document after its scripts ran."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            chromium(),
            *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1"),
            *("--disable-background-networking", "--no-first-run", f"--user-data-dir={folder}"),
            f"--blink-settings=preferredColorScheme={0 if dark else 1}",
            *(f"--window-size={width},{height}", f"--screenshot={picture}", "--dump-dom", address),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
