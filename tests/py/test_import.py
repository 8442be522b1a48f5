"""`import vyre` brings in what every program needs, and leaves the rest until it is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import vyre


def in_new_process(text: str) -> str:
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_leaves_out_numpy_and_what_looks_for_mistakes():
    loaded = set(in_new_process("import sys, vyre; print(*sys.modules)").split())
    assert "vyre" in loaded
    assert (
        loaded
        & {
            "numpy",
            "json",
            "pathlib",
            "inspect",
            "dataclasses",
            "vyre._devices",
            "vyre._profile",
            "vyre._bisect",
            "vyre._ways",
            "vyre._check",
            "vyre._replay",
            "vyre._reports",
        }
        == set()
    )


@pytest.mark.parametrize("name", vyre.__all__)
def test_every_public_name_is_there_and_listed(name):
    assert getattr(vyre, name) is getattr(vyre, name)
    assert name in dir(vyre)


def test_star_import_brings_the_later_names_too():
    assert in_new_process("from vyre import *; print(check.__name__, bisect.__name__, RaceReport.__name__)") == (
        "check bisect RaceReport\n"
    )


def test_unknown_name_is_pythons_own_error():
    with pytest.raises(AttributeError, match=r"^module 'vyre' has no attribute 'nonsense'$"):
        vyre.nonsense  # noqa: B018
