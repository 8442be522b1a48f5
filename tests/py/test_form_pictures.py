"""The HTML forms as Chromium draws them, in light and dark: nothing is blank, hard to read, or outside its frame."""

from __future__ import annotations

import os
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from browser import Drawn, draw
from html_forms import EXAMPLES, drawn
from vyre._html.style import PALETTE

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "pictures" / "forms"
CONTRAST, OF_MARKS = 4.5, 3  # WCAG 2, level AA: of text of any size, and of pictures
LARGEST = 100_000  # bytes of a picture that is kept

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
    if os.environ.get("VYRE_UPDATE_GOLDEN") == "1":
        PICTURES.mkdir(exist_ok=True)
        (PICTURES / f"{name}-{side}.png").write_bytes(made.png())


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["program", "kernel", "array", "race", "diagnostics", "profile", "certificate"])
def test_a_form_follows_the_theme_of_jupyterlab_and_not_the_system(name, theme):
    made = draw(form(name), dark=theme == "light", jupyter=theme)
    assert mistakes(made) == []
    sheet = {"light": (255, 255, 255), "dark": (0x11, 0x11, 0x11)}[theme]
    assert colours(made).most_common(1)[0][0] in (sheet, rgb(PALETTE["band"][theme == "dark"]))


def test_the_measure_sees_what_is_wrong():
    """A test of the test: faint text, text that leaves its frame, and a blank form."""
    faint = '<div class="vyre"><p style="color:#bbb">faint</p></div>'
    assert [each.split(": ")[1][:7] for each in mistakes(draw(faint, dark=False))] == ["`faint`"] * 3
    long = f'<div class="vyre" style="width:300px"><p style="white-space:nowrap">{"long " * 200}</p></div>'
    found = mistakes(draw(long, dark=False))
    assert any("stands outside" in each for each in found)
    assert any("too wide" in each for each in found)
    assert len(colours(draw('<div class="vyre" style="height:50px"></div>', dark=False))) == 1


def test_every_form_has_a_picture_of_both_sides_that_is_small():
    kept = {path.stem: path.stat().st_size for path in PICTURES.glob("*.png")}
    assert {f"{name}-{side}" for name in EXAMPLES for side in ("light", "dark")} - kept.keys() == set()
    assert [name for name, size in kept.items() if size >= LARGEST] == []
