"""`make dist`: which links the page of a release has, and whose licences come with it."""

from __future__ import annotations

import importlib.util
import mmap
import re
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

import vyre

ROOT = Path(__file__).parents[3]
HOME = "https://example.org/vyre"


@pytest.fixture(scope="module")
def dist():
    loader = SourceFileLoader("vyre_dist", str(ROOT / ".ci" / "dist"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("vyre_dist", loader))
    loader.exec_module(module)
    return module


def links(page: str) -> list[str]:
    prose = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"\]\(([^)\s]+)\)", prose)


def test_every_link_of_the_readme_leads_to_a_file_that_is_there():
    for to in links((ROOT / "README.md").read_text(encoding="utf-8")):
        assert re.match(r"https?://|#", to) or (ROOT / to.split("#")[0]).exists(), to


def test_links_of_a_release_hold_from_anywhere(dist):
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    published = links(dist.published(page, HOME, "1.2.3"))
    assert len(published) == len(links(page)) > 10
    assert all(to.startswith(("https://", "#")) for to in published)
    for before, after in zip(links(page), published, strict=True):
        assert before == after or after in {f"{HOME}/blob/v1.2.3/{before}", f"{HOME}/raw/v1.2.3/{before}"}


def test_without_a_home_links_are_their_text(dist):
    page = "![a picture](p.svg) [`a.md`](docs/a.md), [own](#own), [far](https://example.org)\n```python\nx[1](y)\n```\n"
    assert dist.published(page, None, "1") == (
        " `a.md`, [own](#own), [far](https://example.org)\n```python\nx[1](y)\n```\n"
    )
    assert dist.published(page, HOME, "1").startswith(
        f"![a picture]({HOME}/raw/v1/p.svg) [`a.md`]({HOME}/blob/v1/docs/"
    )


def test_the_module_calls_nothing_that_only_the_newest_library_of_cpp_has():
    """A condition variable's wait without a time is in GCC 12's library alone: wheels would not install elsewhere."""
    module = Path(vyre._core.__file__)
    with module.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        assert content.find(b"_ZNSt18condition_variable10notify_one") >= 0  # names of functions stand in it as they are
        assert content.find(b"_ZNSt18condition_variable4waitERSt11unique_lock") < 0


def test_every_library_of_the_module_has_its_notice(dist):
    files = {path.stem for path in (ROOT / "notices").iterdir()}
    assert set(dist.NOTICES.values()) == files
    # What the build asks a machine for is what the module is made of, but for the tests' own.
    asked = set(
        re.findall(r"lib[a-z]+-(?:volk-)?dev|glslang-dev|spirv-tools", (ROOT / "cpp/dependencies.cmake").read_text())
    )
    assert asked - {"libgtest-dev"} == set(dist.NOTICES) - {"pybind11"}
    for path in (ROOT / "notices").iterdir():
        assert "opyright" in path.read_text(encoding="utf-8"), path
