"""Pictures that the documents keep, and what each says of itself: a stale one is seen without a browser.

A PNG holds notes beside its pixels. The command that takes a picture writes into them what it shows and what drew it,
so that the two cannot be committed apart. The picture of a form notes its ``digest``, that of a page the words that it
shows.
"""

from __future__ import annotations

import hashlib
import io
import subprocess
from functools import cache
from pathlib import Path

import PIL
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from drawn_pages import chromium
from html_reader import Element, parsed

ROOT = Path(__file__).parents[2]
LARGEST = 100_000  # bytes of a picture that is kept


def _shown(element: Element) -> list[object]:
    """An element as lists and words, without what its closed folds hide."""
    closed = element.tag == "details" and "open" not in element.attributes
    contents = [
        each for each in element.contents if not closed or (isinstance(each, Element) and each.tag == "summary")
    ]
    inside = [each if isinstance(each, str) else _shown(each) for each in contents]
    return [element.tag, sorted(element.attributes.items()), inside]


def digest(form: str) -> str:
    """SHA-256 of what a browser shows of a form: its style, its elements and its text, but not what is folded away."""
    return hashlib.sha256(repr(_shown(parsed(form))).encode()).hexdigest()


@cache
def tools() -> str:
    """What decides about the pixels: the browser, the fonts that it takes, and what reduces the colours."""
    browser = subprocess.run([chromium(), "--version"], capture_output=True, text=True, check=True).stdout
    fonts = [
        subprocess.run(
            ["fc-match", "--format=%{family} %{fontversion}", name], capture_output=True, text=True, check=True
        )
        for name in ("sans-serif", "monospace", "system-ui")
    ]
    return ", ".join(
        [browser.split(" built ")[0].strip(), *(each.stdout for each in fonts), f"Pillow {PIL.__version__}"]
    )


def png(picture: Image.Image, notes: dict[str, str]) -> bytes:
    """The bytes of a picture in 255 colours, which drawn text needs no more than, with notes."""
    info = PngInfo()
    for name, text in notes.items():
        info.add_itxt(name, text, zip=len(text) > 200)
    kept = io.BytesIO()
    few = picture.quantize(255, method=Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE)
    few.save(kept, "PNG", optimize=True, pnginfo=info)
    return kept.getvalue()


def keep(path: Path, picture: Image.Image, notes: dict[str, str]) -> None:
    """Write a picture with its notes and with what drew it."""
    made = png(picture, {**notes, "drawn by": tools()})
    assert len(made) < LARGEST, f"the picture {path.name} has {len(made)} bytes. Fix: show less in it."
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(made)


def notes_of(path: Path) -> dict[str, str]:
    with Image.open(path) as picture:
        return {name: str(text) for name, text in picture.text.items()}


def same_pixels(path: Path, picture: Image.Image) -> bool:
    """Whether a picture that was just drawn is the one that is kept, when both have as few colours."""
    with Image.open(path) as kept, Image.open(io.BytesIO(png(picture, {}))) as drawn:
        return kept.size == drawn.size and kept.convert("RGB").tobytes() == drawn.convert("RGB").tobytes()
