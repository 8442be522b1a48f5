"""Results do not depend on the size of workgroups.

Families whose file names its size LANES are run with others; products take the size from their tiling (test_matrices),
sorts, positions of extremes and searches of frontiers are written for one size, and sorts have tiles of several
(test_sort).
"""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("workgroup_sizes.py")


@pytest.mark.slow
@pytest.mark.parametrize("size", [32, 64, 128])
def test_another_workgroup_size_gives_the_same_results(size):
    done = subprocess.run([sys.executable, SCRIPT, str(size)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
