"""What `make dist` asks of a wheel where it is installed; conftest.py leaves this file out elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from email.message import Message
from importlib import metadata
from pathlib import Path

import pytest

import vyre

ROOT = Path(__file__).parents[3]
WHEEL = os.environ.get("VYRE_INSTALLED")


@pytest.fixture(scope="module")
def about() -> Message:
    return metadata.metadata("vyre")


def test_what_is_imported_is_what_was_installed():
    assert Path(vyre.__file__).parent.parent == Path(metadata.distribution("vyre").locate_file("")).resolve()
    assert ROOT not in Path(vyre.__file__).parents or "tried" in vyre.__file__


def test_the_readme_says_its_size():
    said = re.search(r"a wheel has ([\d.]+) MB", (ROOT / "README.md").read_text(encoding="utf-8"))[1]
    assert abs(Path(WHEEL).stat().st_size / 1e6 - float(said)) < 0.1


def test_its_name_says_which_systems_it_is_for():
    tags = Path(WHEEL).stem.split("-")[-1].split(".")
    oldest = max(int(re.fullmatch(r"manylinux_2_(\d+)_x86_64", tag)[1]) for tag in tags)
    # The module calls functions of glibc 2.34. Functions that only GCC 12's library has, which RHEL 9 lacks, would give
    # a later tag.
    assert oldest <= 34
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(r"need glibc 2\.(\d+) or later\n?\s*\(manylinux_2_(\d+)\)", readme).groups() == (str(oldest),) * 2


def test_the_metadata_says_whose_it_is_and_for_whom(about):
    assert about["Author"]
    assert about["License-Expression"] == "Apache-2.0 AND BSD-3-Clause AND MIT AND MIT-Khronos-old"
    here = f"Programming Language :: Python :: {sys.version_info[0]}.{sys.version_info[1]}"
    assert here in about.get_all("Classifier")
    assert about["Requires-Python"] == ">=3.10"
    needed = [each for each in about.get_all("Requires-Dist") if "extra ==" not in each]
    assert [re.match(r"\w+", each)[0] for each in needed] == ["numpy", "cloudpickle"]


def test_the_notices_come_with_it(about):
    files = {file.name: file for file in metadata.files("vyre") if "licenses" in file.parts}
    assert set(files) == {"LICENSE", *(path.name for path in (ROOT / "notices").iterdir())}
    assert len(files) == 8
    for file in files.values():
        assert "opyright" in file.read_text(encoding="utf-8")


def test_it_ships_nothing_but_the_package():
    tops = {file.parts[0] for file in metadata.files("vyre") if not file.parts[0].startswith("..")}
    assert tops == {"vyre", "pytest_vyre", f"vyre-{vyre.__version__}.dist-info"}


def test_its_commands_start(tmp_path):
    command = Path(sys.executable).with_name("vyre")
    printed = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    assert printed == f"vyre {vyre.__version__}\n"
    (tmp_path / "abc").write_bytes(b"abc")
    listed = subprocess.run(
        [command, "hash", "--alg", "sha256", tmp_path / "abc"], capture_output=True, text=True, check=True
    ).stdout
    assert listed.startswith("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad ")


def test_its_page_has_no_link_that_holds_in_a_checkout_alone(about):
    page = about.get_payload() or about["Description"]
    assert "# vyre" in page
    assert "](python/" not in page
    assert "](bench/" not in page
