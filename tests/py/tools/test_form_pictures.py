"""The HTML forms as Chromium draws them, in light and dark: nothing is blank, hard to read, or outside its frame.

`VYRE_UPDATE_GOLDEN=1 pytest -m slow tests/py/tools/test_form_pictures.py` takes the pictures that documents show anew.
"""

from __future__ import annotations

import os
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from PIL import Image

from drawn_pages import Drawn, draw, open_page
from html_forms import EXAMPLES, drawn
from vyre._html.style import PALETTE

ROOT = Path(__file__).parents[3]
SHOWN_IN_DOCUMENTS = ROOT / "pictures" / "forms"
CONTRAST, OF_MARKS = 4.5, 3  # WCAG 2, level AA: of text of any size, and of pictures

pytestmark = pytest.mark.slow


@cache
def form(name: str) -> str:
    return drawn(EXAMPLES[name]()).replace(f"{ROOT}/", "")  # the pictures are the same wherever the project lies


def mistakes(made: Drawn) -> list[str]:
    """What a reader would frown at."""
    found = []
    for state in ("closed", "open", "narrow"):
        told = made.found[state]
        found += [f"{state}: `{each}` stands outside of the form" for each in told["outside"]]
        if told["wide"] > 0:
            found.append(f"{state}: the page is {told['wide']} pixels too wide")
        for text in told["texts"]:
            if text["contrast"] < (OF_MARKS if text["picture"] else CONTRAST):
                found.append(f"{state}: `{text['text']}` has a contrast of {text['contrast']:.2f}")
            if text["size"] < 10:
                found.append(f"{state}: `{text['text']}` has letters of {text['size']} pixels")
    return found


def colours(made: Drawn) -> Counter:
    return Counter(made.picture.get_flattened_data())


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[k : k + 2], 16) for k in (1, 3, 5))


@pytest.mark.parametrize("side", ["light", "dark"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_form_is_readable(name, side):
    made = draw(form(name), dark=side == "dark")
    assert mistakes(made) == []
    assert len(made.found["closed"]["texts"]) >= 2
    found = colours(made)
    sheet, band = (rgb(PALETTE[each][side == "dark"]) for each in ("sheet", "band"))
    assert found.most_common(1)[0][0] in (sheet, band)
    ink = sum(count for colour, count in found.items() if colour not in (sheet, band))
    assert ink > 0.005 * found.total()  # it is not blank
    assert len(found) > 16  # letters have smooth edges
    path = SHOWN_IN_DOCUMENTS / f"{name}-{side}.png"
    if path.exists() and os.environ.get("VYRE_UPDATE_GOLDEN") == "1":
        made.picture.quantize(255).save(path, optimize=True)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["program", "kernel", "array", "race", "diagnostics", "profile", "certificate"])
def test_a_form_follows_the_theme_of_jupyterlab_and_not_the_system(name, theme):
    made = draw(form(name), dark=theme == "light", jupyter=theme)
    assert mistakes(made) == []
    sheet = {"light": (255, 255, 255), "dark": (0x11, 0x11, 0x11)}[theme]
    assert colours(made).most_common(1)[0][0] in (sheet, rgb(PALETTE["band"][theme == "dark"]))


@pytest.mark.parametrize("side", ["light", "dark"])
def test_the_page_of_a_certificate_fills_the_window(side, tmp_path):
    page, picture = tmp_path / "page.html", tmp_path / "page.png"
    page.write_text(EXAMPLES["certificate"]().to_html(), encoding="utf-8")
    open_page(page.as_uri(), picture, dark=side == "dark", width=1300, height=700)
    drawn_page = Image.open(picture).convert("RGB")
    sheet = rgb(PALETTE["sheet"][side == "dark"])
    assert {drawn_page.getpixel(place) for place in ((0, 0), (1299, 0), (0, 699), (1299, 699))} == {sheet}
    ink = drawn_page.convert("L").point(lambda value: 255 * (abs(value - sum(sheet) // 3) > 60)).getbbox()
    left, right = ink[0], 1300 - ink[2]
    assert 100 < left < 300  # it stands in the middle, in lines that are not too long
    assert 100 < right < 300


def test_the_measure_sees_what_is_wrong():
    """A test of the test: faint text, text that leaves its frame, and a blank form."""
    faint = '<div class="vyre"><p style="color:#bbb">faint</p></div>'
    assert [each.split(": ")[1][:7] for each in mistakes(draw(faint, dark=False))] == ["`faint`"] * 3
    long = f'<div class="vyre" style="width:300px"><p style="white-space:nowrap">{"long " * 200}</p></div>'
    found = mistakes(draw(long, dark=False))
    assert any("stands outside" in each for each in found)
    assert any("too wide" in each for each in found)
    assert len(colours(draw('<div class="vyre" style="height:50px"></div>', dark=False))) == 1
