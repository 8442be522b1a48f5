"""The modules of the mutation gate, which are scripts beside each other and no package."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("tomllib", reason="Python reads TOML from 3.11 on; the list of faults is the same for all")

sys.path.insert(0, str(Path(__file__).parents[2] / "mutation"))
try:
    import copies
    import faults
    import gate
    import suites
finally:
    del sys.path[0]

__all__ = ["copies", "faults", "gate", "suites"]
