"""The package as type checkers see it, which the fast tests ask because sources change with every commit.

What they say of kernels and of pages takes longer, and lies in test_typing.py.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_mypy_accepts_the_package():
    """In strict mode, by the settings in pyproject.toml: all of vyre.std, the commands and the plugin of pytest."""
    command = [sys.executable, "-m", "mypy", "python/vyre", "python/pytest_vyre"]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout


def test_public_names_have_types():
    command = [sys.executable, "-m", "basedpyright", "--verifytypes", "vyre", "--ignoreexternal"]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    (score,) = re.findall(r"^Type completeness score: ([\d.]+)%$", made.stdout, re.MULTILINE)
    assert float(score) == 100, made.stdout
