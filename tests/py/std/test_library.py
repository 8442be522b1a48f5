"""The library as a whole: its names, and what importing it costs."""

import importlib
import subprocess
import sys

import pytest

from conftest import refused
from vyre import std


@pytest.mark.parametrize("family", std._FAMILIES)
def test_the_names_of_a_family_are_those_of_its_file(family):
    module = importlib.import_module(f"vyre.std.{family}")
    if not family.startswith("_"):
        assert sorted(module.__all__) == sorted(std._FAMILIES[family])
    for name in std._FAMILIES[family]:
        assert getattr(std, name) is getattr(module, name)


def test_every_name_belongs_to_one_family():
    assert sum(map(len, std._FAMILIES.values())) == len(std._HOMES)


def test_importing_the_library_imports_no_family():
    code = "import sys, vyre; vyre.std; print(sorted(m for m in sys.modules if m.startswith('vyre.std.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError) as caught:
        std.no_such_call  # noqa: B018
    assert str(caught.value) == (
        "module `vyre.std` has no attribute `no_such_call`. Fix: write one of the names in dir(vyre.std)."
    )
    with refused(AttributeError, "module `vyre.std` has no attribute `argsrot`", "write vyre.std.argsort"):
        std.argsrot  # noqa: B018
