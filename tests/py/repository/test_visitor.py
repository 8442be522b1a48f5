"""What a visitor does: an empty folder, a fresh environment, the wheel, and the pages typed in from top to bottom.

`make dist` runs it with each wheel; conftest.py leaves this file out elsewhere. Nothing of the checkout is on any path,
and pip brings what the wheel's metadata asks for and nothing else.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import page_code

ROOT = Path(__file__).parents[3]
WHEEL = os.environ.get("VYRE_INSTALLED", "")
PAGES = ["README.md", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs" / "how-to").glob("*.md")))]
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def visitor(tmp_path_factory):
    """Runs a command with the visitor's environment, and gives all that it prints."""
    folder = tmp_path_factory.mktemp("visitor")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("VYRE_", "PYTHON", "VIRTUAL_"))}
    environment = {**kept, "PATH": f"{folder / 'venv' / 'bin'}:/usr/bin:/bin", "XDG_CACHE_HOME": str(folder / "cache")}

    def run(*command, cwd=folder, timeout=None, status=0):
        done = subprocess.run(
            command,
            cwd=cwd,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert done.returncode == status, done.stdout
        return done.stdout

    run(sys._base_executable, "-m", "venv", "venv")
    run("pip", "install", "--quiet", "--disable-pip-version-check", WHEEL)
    return run


def test_pip_brings_numpy_and_nothing_else(visitor):
    listed = visitor("pip", "--disable-pip-version-check", "list", "--format", "freeze").split()
    assert {each.split("==")[0] for each in listed} - {"pip", "setuptools"} == {"numpy", "vyre"}


def test_the_first_kernel_of_the_readme_runs_in_half_a_minute(visitor, tmp_path):
    """As a file, with compilation and the tries that a device is put through when it is first opened."""
    install, kernel = page_code.blocks((ROOT / "README.md").read_text(encoding="utf-8"))[:2]
    assert install.text.startswith("pip install vyre ")
    (tmp_path / "first.py").write_text(kernel.text, encoding="utf-8")
    visitor("python", "first.py", cwd=tmp_path, timeout=30 * int(os.environ.get("VYRE_PATIENCE", "1")))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_does_what_it_says(visitor, page, tmp_path):
    """Cell by cell, as in a notebook; code that needs another library, which the page marks, is left out."""
    found = page_code.blocks((ROOT / page).read_text(encoding="utf-8"))
    for install in (each.text.split() for each in found if each.language == "sh"):
        if install[:2] == ["pip", "install"] and not any("vyre" in word for word in install):
            visitor(*install, "--quiet", "--disable-pip-version-check")
    runs = [each for each in found if each.language in ("python", "console") and not each.needs]
    # Beside it nothing of the tests can be imported.
    shutil.copy(page_code.__file__, tmp_path / "page_code.py")
    printed = visitor("python", "page_code.py", str(ROOT / page), cwd=tmp_path)
    assert printed.splitlines()[-1] == f"{ROOT / page} {len(runs)}"


def as_in_a_file(text):
    """What a page shows, with the lines of cells as any lines: a file's are others."""
    text = re.sub(r"\.\.\.:\d+", "...:...", text)
    return re.sub(r"^ +\d+  (?=\S)", "  ...  ", text, flags=re.MULTILINE)


def test_the_tutorial_typed_into_a_file_prints_what_it_shows(visitor, tmp_path):
    """The file has each block at its end and runs again, as the tutorial says; commands are typed between."""
    typed, before, steps = "", "", 0
    found = page_code.blocks(TUTORIAL)
    assert found[0].text == "pip install vyre\n"
    for number, block in enumerate(found[1:], 1):
        if block.language == "console":
            for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                command, _, wanted = part.partition("\n")
                page_code.compare(command, wanted, visitor("sh", "-c", command, cwd=tmp_path))
        elif block.language == "python":
            typed += block.text
            (tmp_path / "tutorial.py").write_text(typed, encoding="utf-8")
            printed = visitor("python", "tutorial.py", cwd=tmp_path)
            assert printed.startswith(before)
            shown = found[number + 1]
            wanted = shown.text if shown.language == "text" and shown.follows else ""
            page_code.compare(f"block {number}", as_in_a_file(wanted), printed.removeprefix(before))
            before, steps = printed, steps + 1
        else:
            assert block.language == "text"
    assert steps >= 10
