"""The pictures that the documents keep are those of what there is now. No browser is needed to see that."""

from __future__ import annotations

import importlib.util
import json
import re
import sys

import pytest

from html_forms import EXAMPLES, drawn
from kept_pictures import LARGEST, ROOT, digest, notes_of

FORMS = ROOT / "pictures" / "forms"
FOLD = "<details><summary>more</summary><p>not seen</p></details>"
FORM = f'<div class="vyre"><style>p{{color:red}}</style><p>seen</p>{FOLD}</div>'


def test_every_form_has_a_picture_of_both_sides_that_is_small():
    kept = {path.stem: path.stat().st_size for path in FORMS.glob("*.png")}
    assert {f"{name}-{side}" for name in EXAMPLES for side in ("light", "dark")} == kept.keys()
    assert [name for name, size in kept.items() if size >= LARGEST] == []


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the pictures show columns, which Python 3.10 does not know")
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_pictures_of_a_form_show_what_it_is_now(name):
    now = digest(drawn(EXAMPLES[name]()).replace(f"{ROOT}/", ""))
    for side in ("light", "dark"):
        assert notes_of(FORMS / f"{name}-{side}.png")["form"] == now, (
            f"pictures/forms/{name}-{side}.png shows an earlier form. "
            "Fix: run `VYRE_UPDATE_GOLDEN=1 pytest -m slow tests/py/test_form_pictures.py`, and look at it."
        )


@pytest.mark.parametrize(
    "other",
    [
        FORM.replace("seen<", "sees<"),
        FORM.replace("red", "tan"),
        FORM.replace("<details", "<details open"),
    ],
    ids=["text", "style", "unfolded"],
)
def test_a_change_that_shows_is_noticed(other):
    assert digest(other) != digest(FORM)


def test_a_change_that_is_folded_away_needs_no_picture():
    assert digest(FORM.replace("not seen", "not seen either")) == digest(FORM)
    assert digest(FORM.replace("more", "less")) != digest(FORM)


# --- pages of the site ---


def script(name: str):
    spec = importlib.util.spec_from_file_location(f"pictures_{name}", ROOT / "pictures" / f"{name}.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


SITE = script("site")
TAKE = "Fix: run `make docs` and `python pictures/site.py`, and look at the pictures."


def words_of(markdown: str) -> list[str]:
    """The words that a page shows, in their order."""
    text = re.sub(r"^```\{toctree\}\n.*?^```$|<!--.*?-->|!\[[^\]]*\]\([^)]*\)", "", markdown, flags=re.M | re.S)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.findall(r"\w+", re.sub(r"^```\w*$", "", text, flags=re.M))


def navigation() -> list[str]:
    """The words of the list of all pages, which stands beside each of them."""
    shown = []
    index = ROOT / "docs" / "index.md"
    for block in re.findall(r"^```\{toctree\}\n(.*?)^```$", index.read_text(encoding="utf-8"), re.M | re.S):
        for line in filter(None, block.splitlines()):
            title, _, name = line.rpartition(" <")
            if line.startswith(":"):
                shown += [line.removeprefix(":caption: ")] if "caption" in line else []
            elif title:
                shown.append(title)
            else:
                page = ROOT / name[1:] if name.startswith("/") else index.parent / name
                shown.append(page.with_suffix(".md").read_text(encoding="utf-8").splitlines()[0])
    return words_of("\n".join(shown))


def begins(words: list[str], shown: str) -> bool:
    return len(shown.split()) > 20 and words[: len(shown.split())] == shown.split()


@pytest.mark.parametrize("page", SITE.PAGES)
def test_the_picture_of_a_page_shows_what_the_page_says(page):
    notes = notes_of(SITE.kept(page))
    assert begins(words_of((ROOT / f"{page}.md").read_text(encoding="utf-8")), notes["words"]), TAKE
    assert begins(navigation(), notes["navigation"]), TAKE
    assert notes["style"] == SITE.style(), TAKE
    for name, digest_then in json.loads(notes["pictures"]).items():
        (file,) = (ROOT / "pictures").rglob(name)
        assert digest_then == SITE.hash_of(file), TAKE


def test_a_word_more_or_less_of_a_page_is_noticed():
    page = "# One\n\n" + " ".join(f"word{k}" for k in range(40)) + "\n\n[two](three.md)\n"
    shown = " ".join(["One", *(f"word{k}" for k in range(30))])
    assert begins(words_of(page), shown)
    assert not begins(words_of(page.replace("word7 ", "")), shown)
    assert not begins(words_of(page.replace("word7 ", "word7 new ")), shown)
    assert words_of(page)[-1] == "two"


def test_every_picture_of_a_page_is_taken_by_the_script():
    assert {path.name for path in SITE.HERE.glob("*.png")} == {SITE.kept(page).name for page in SITE.PAGES}


def test_the_picture_of_a_page_for_browsers_shows_what_to_html_makes():
    made = script("in_a_browser")
    assert notes_of(made.KEPT)["page"] == made.digest(), "Fix: run `python pictures/in_a_browser.py`, and look at it."
