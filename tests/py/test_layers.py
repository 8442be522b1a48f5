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
    # Makes programs and runs them in several ways.
    "fuzz": {"base", "ir", "ops", "validate", "transform", "run", "fuzz"},
    # The definition of meaning stands on what it defines, and on nothing that could be wrong in the same way.
    "run/reference": {"base", "ir", "validate", "run"},
}
FILES = sorted(path for path in CORE.rglob("*") if path.suffix in {".hpp", ".cpp", ".def"})


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
        if place.startswith("run/vulkan/"):
            assert name not in {"vyre/ir/ops.hpp", "vyre/ir/ops.def"}, (
                f"{place} includes {name}: operators are lowered by then"
            )


def test_the_module_releases_the_gil_in_one_way():
    """WithoutGil counts the threads that the interpreter's end has to wait for; pybind11's own class does not."""
    bindings = ROOT / "cpp" / "bindings"
    using = [
        path.name for path in sorted(bindings.glob("*.?pp")) if "gil_scoped_release" in path.read_text(encoding="utf-8")
    ]
    assert using == ["without_gil.cpp", "without_gil.hpp"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(CORE).as_posix())
def test_opcodes_are_asked_by_flags_and_not_by_their_order(path):
    """A row may be added anywhere in opcodes.def."""
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"[<>]=? *(?:lower::)?Opcode::\w+|Opcode::\w+ *(?:<=?|>=?)(?!\w)", text) == []


def test_time_outs_and_interruptions_are_thrown_in_one_place():
    """A Deadline knows the time-out, how often to ask, and the sentences."""
    throws = re.compile(r"throw Interrupted\(|DispatchTimeoutError\(|options\.interrupted\(\)")
    found = {path.relative_to(CORE).as_posix() for path in FILES if throws.search(path.read_text(encoding="utf-8"))}
    assert found == {"base/deadline.cpp"}
