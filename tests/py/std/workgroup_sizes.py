"""Runs calls of the library with another workgroup size, and holds results to their models.

    python workgroup_sizes.py 64

The modules that name their size LANES get another one before their kernels are made.
"""

import importlib.util
import sys
from pathlib import Path

import numpy as np

import vyre

# Modules whose kernels are of one size, first those from which others take theirs.
MODULES = ["_scanning.reductions", "_graphs.components", "_graphs.pagerank"]
MODULES += ["_searching.filter_kernels", "_searching.find_kernels"]
CALLS = """
    all any bincount compact components cumsum find histogram max min nonzero pagerank
    partition reduce regex scan segmented_reduce segmented_scan sort sum unique
""".split()


def resized(size: int) -> None:
    for name in MODULES:
        path = f"vyre.std.{name}"
        assert path not in sys.modules
        source = importlib.util.find_spec(path)
        text = source.loader.get_source(path)
        line = next(line for line in text.splitlines() if line.startswith("LANES = "))
        module = importlib.util.module_from_spec(source)
        sys.modules[path] = module
        exec(compile(text.replace(line, f"LANES = {size}"), source.origin, "exec"), module.__dict__)


def main() -> None:
    resized(int(sys.argv[1]))
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from library_calls import ROWS, SMALL, Data
    from library_models import assert_same

    sizes = [Data(n, np.random.default_rng(n), every=False) for n in (35, 5000, 70_001)]
    with vyre.default_device("cpu"):
        for name in CALLS:
            for data in (SMALL, *sizes):
                assert_same(ROWS[name].call(vyre.std, data), ROWS[name].model(data))
    assert sys.modules["vyre.std._scanning.compaction"].LANES == int(sys.argv[1])


if __name__ == "__main__":
    main()
