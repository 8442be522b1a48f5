"""README's first screen: its picture is what the kernel gives, its figures are those that were measured."""

from __future__ import annotations

import hashlib
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

import vyre

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def drawn() -> ModuleType:
    spec = importlib.util.spec_from_file_location("same_bytes", ROOT / "pictures" / "same_bytes.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def section(title: str) -> str:
    return README.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_the_picture_is_what_the_kernel_gives_on_every_device(drawn, target):
    image = drawn.image(**target)
    assert drawn.HERE.read_text(encoding="utf-8") == drawn.picture(dict.fromkeys(drawn.WAYS, image))
    digest = hashlib.sha256(image.tobytes()).hexdigest()
    (shown,) = re.findall(r'startswith\("([0-9a-f]{16})"\)', README)
    assert digest.startswith(shown)


def test_a_backend_that_differs_makes_no_picture(drawn):
    images = {name: drawn.image(backend="cpu") for name in drawn.WAYS}
    images["cpu"] = images["cpu"].copy()
    images["cpu"][50, 100] ^= 1
    with pytest.raises(AssertionError):
        drawn.picture(images)


def test_the_kernel_of_the_picture_is_the_readmes(drawn):
    names = {"vyre": vyre}
    block = re.search(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)[1]
    kernel = block[block.index("@vyre.kernel") : block.index("\nimage =")]
    import linecache

    linecache.cache["<README's kernel>"] = (len(kernel), None, kernel.splitlines(True), "<README's kernel>")
    exec(compile(kernel, "<README's kernel>", "exec"), names)
    assert names["mandelbrot"].program == drawn.mandelbrot.program


def test_the_first_screen_has_what_a_visitor_looks_for():
    screen = "\n".join(README.splitlines()[:46])
    for wanted in ("pip install", "same_bytes.svg)", "@vyre.kernel", ".check(", "sha256", "make demo", "make test"):
        assert wanted in screen
    assert "**A plain call looks for no races and no indices out of bounds**" in screen
    order = [README.index(f"\n## {title}\n") for title in ("Trust", "Speed", "Library", "Limits", "From here")]
    assert order == sorted(order)
    assert len(README.splitlines()) <= 250


def test_the_figures_of_speed_are_those_that_were_measured():
    """Each stands in bench/README.md, which `make bench` writes."""
    measured = (ROOT / "bench" / "README.md").read_text(encoding="utf-8")
    rows = [line for line in section("Speed").splitlines() if line.startswith("| ")][1:]
    figures = [figure for row in rows for figure in re.findall(r"\b\d+\.?\d* (?:[TG]B/s|[TG]ops/s|us|ms)", row)]
    assert len(figures) >= 2 * len(rows)
    for figure in figures:
        number, unit = figure.split()
        assert figure in measured or (unit == "ms" and f"| {number} |" in measured), figure


def test_the_number_of_modules_is_what_an_import_loads():
    from test_import import OWN

    assert f"`import vyre` loads {len(OWN)} modules of its own" in README
