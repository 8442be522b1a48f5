"""Includes point downwards: which layer may see which is a decision, and one stray include would undo it unseen."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "cpp" / "vyre"

# Every folder with the layers whose headers it may include; the longest prefix of a file's path counts.
ALLOWED = {
    "base": {"base"},
    "ir": {"base", "ir"},
    "ops": {"base", "ir", "ops"},
    "validate": {"base", "ir", "validate"},
    "transform": {"base", "ir", "validate", "transform"},
    "lower": {"base", "ir", "validate", "transform", "lower"},
    "emit": {"base", "ir", "validate", "transform", "lower", "emit"},
    # The registry starts with the standard operations; what runs a program sees only what it was handed.
    "run": {"base", "ir", "ops", "validate", "transform", "lower", "emit", "run"},
    "run/vulkan": {"base", "ir", "validate", "transform", "lower", "emit", "run"},
    "run/cuda": {"base", "ir", "validate", "transform", "lower", "emit", "run"},
    # What the backends of GPUs share.
    "run/gpu": {"base", "run"},
    # Makes programs and runs them in several ways.
    "fuzz": {"base", "ir", "ops", "validate", "transform", "run", "fuzz"},
    # The definition of meaning stands on what it defines, and on nothing that could be wrong in the same way.
    "run/reference": {"base", "ir", "validate", "run"},
}
FILES = sorted(path for path in CORE.rglob("*") if path.suffix in {".hpp", ".cpp", ".def"})
CODE = sorted(path for path in (ROOT / "cpp").rglob("*") if path.suffix in {".hpp", ".cpp", ".def", ".inc"})


def includes(path: Path) -> list[str]:
    return re.findall(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', path.read_text(encoding="utf-8"), re.MULTILINE)


def test_there_are_files():
    assert len(FILES) > 20


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(CORE).as_posix())
def test_includes_point_downwards(path):
    place = path.relative_to(CORE).as_posix()
    folder = max((folder for folder in ALLOWED if place.startswith(f"{folder}/")), key=len)
    for name in includes(path):
        if name.startswith("vyre/"):
            assert name.split("/")[1] in ALLOWED[folder], f"{place} includes {name}"
            if folder == "run/reference":
                assert "/vulkan" not in name, f"{place} includes {name}"
        assert not name.startswith("pybind11/"), f"{place} includes {name}: only cpp/bindings knows Python"
        if not place.startswith("run/vulkan/"):
            assert not name.startswith(("vulkan/", "volk")), f"{place} includes {name}: only run/vulkan knows devices"
        for one, other in (("gpu", "vulkan"), ("gpu", "cuda"), ("cuda", "vulkan"), ("vulkan", "cuda")):
            if place.startswith(f"run/{one}/"):
                assert not name.startswith(f"vyre/run/{other}/"), (
                    f"{place} includes {name}: what both need is in run/gpu"
                )
        if place.startswith("run/vulkan/"):
            assert name not in {"vyre/ir/ops.hpp", "vyre/ir/ops.def"}, (
                f"{place} includes {name}: operators are lowered by then"
            )


# The folders of the backends of GPUs, lowest first. Beside them lie the backend and its open device.
FLOORS = ["api", "submit", "memory", "compile", "calls", "devices", "programs"]


@pytest.mark.parametrize("folder", FLOORS)
@pytest.mark.parametrize("backend", ["cuda", "vulkan"])
def test_folders_of_the_backends_of_gpus_use_only_those_below(backend, folder):
    """As `backend.hpp` of each tells it."""
    home = f"run/{backend}"
    below = {f"{home}/{name}/" for name in FLOORS[: FLOORS.index(folder) + 1]} | {f"{home}/device.hpp"}
    paths = [path for path in FILES if path.is_relative_to(CORE / home / folder)]
    assert paths
    for path in paths:
        for name in includes(path):
            if name.startswith(f"vyre/{home}/"):
                assert name.removeprefix("vyre/").startswith(tuple(below)), f"{path.name} includes {name}"
