"""``pytest --pyargs vyre.conformance`` as an installed package offers it, in a folder of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import vyre
from vyre.conformance import cases

ROOT = Path(__file__).parents[3]


@pytest.fixture
def installed(tmp_path):
    """A function that runs pytest where vyre's metadata are installed, and gives its exit status and what it said.

    `asked` says whether it is asked for the conformance cases, or runs what lies in the folder.
    """
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    ((module, target),) = re.findall(r'^\[project\.entry-points\.pytest11\]\n"(.+)" = "(.+)"$', settings, re.MULTILINE)
    metadata = tmp_path / "site" / "vyre-0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: vyre\nVersion: 0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(f"[pytest11]\n{module} = {target}\n", encoding="utf-8")
    (metadata / "RECORD").write_text("vyre/__init__.py,,\npytest_vyre/__init__.py,,\n", encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")

    def run(*arguments: str, asked: bool = True, **variables: str) -> tuple[int, str]:
        path = os.pathsep.join([str(tmp_path / "site"), str(Path(vyre.__file__).parents[1])])
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-p",
                "no:cacheprovider",
                *arguments,
                *(["--pyargs", "vyre.conformance"] if asked else []),
            ],
            env={**os.environ, "PYTHONPATH": path, **variables},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    return run


def test_the_developers_environment_has_the_plugin_in_every_folder(tmp_path):
    """Seen: `make build` gave an environment in which the documents' command had "unrecognized arguments"."""
    command = ["pytest", "-q", "-p", "no:cacheprovider", "--pyargs", "vyre.conformance", "--vyre-backend", "reference"]
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", *command, "-k", "L4/sha256"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\nFix: .ci/setup venv"
    assert re.search(r"\b1 passed, \d+ deselected", done.stdout), done.stdout


def test_the_cases_of_one_backend(installed):
    """Also where there is no device."""
    nowhere = {"VK_DRIVER_FILES": "/nonexistent", "VK_ADD_DRIVER_FILES": ""}
    status, said = installed("--vyre-backend", "reference", "-k", "L4", "-vv", **nowhere)
    assert status == 0, said
    assert "test_conformance[reference-L4/sha256]" in said
    assert re.search(r"\b8 passed, \d+ deselected", said, re.MULTILINE)
    assert "warning" not in said


def test_no_device_is_an_error_that_says_what_to_do(installed):
    status, said = installed(VK_DRIVER_FILES="/nonexistent", VK_ADD_DRIVER_FILES="", VYRE_ALLOW_NO_VULKAN="")
    assert status not in (0, 5), said
    assert "no device here to test: no Vulkan driver was found. Fix: " in said
    assert "To test the reference alone, pass --vyre-backend=reference." in said


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--vyre-backend", "metal", ", got 'metal'. Fix: write one of these."),
        ("--vyre-device", "99", "there is no device 99. Fix: name one of `vyre devices`."),
    ],
)
def test_an_unknown_place_is_an_error(installed, option, value, message):
    status, said = installed(option, value)
    assert status not in (0, 5), said
    assert message in said


def test_a_marker_slow_stays_the_users_own(installed, tmp_path):
    """Neither taken, nor made known where the user's settings ask that every marker is declared."""
    (tmp_path / "test_mine.py").write_text(
        "import pytest\n\n@pytest.mark.slow\ndef test_mine():\n    pass\n", encoding="utf-8"
    )
    status, said = installed("--strict-markers", asked=False)
    assert status == 2, said
    assert "'slow' not found in `markers` configuration option" in said
    listed = installed("--markers", asked=False)[1]
    assert "slow" not in listed
    assert "vyre_slow" not in listed
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  slow: mine\n", encoding="utf-8")
    assert "1 passed" in installed("--strict-markers", "-m", "slow", asked=False)[1]


def test_the_slow_cases_can_be_left_out(installed):
    """Five of six of the repeats with the optimiser on and off."""
    chosen = "L3/optimiser/L1/casts"
    on = ("--vyre-backend", "reference", "--strict-markers", "--collect-only", "-k", chosen)
    status, said = installed(*on, "-m", "not vyre_slow")
    assert status == 0, said
    found = re.findall(r"^\S*test_conformance\[reference-(\S+)\]$", said, re.MULTILINE)
    repeats = [made.id for made in cases() if made.id.startswith("L3/optimiser/")]
    assert found == [id for id in repeats[::6] if chosen in id]
    assert 0 < len(found) < len([id for id in repeats if chosen in id])
