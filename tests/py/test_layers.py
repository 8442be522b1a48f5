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
    # What users read of mistakes, which no stage needs.
    "advise": {"base", "ir", "validate", "advise"},
    "transform": {"base", "ir", "validate", "transform"},
    "lower": {"base", "ir", "validate", "transform", "lower"},
    "emit": {"base", "ir", "validate", "transform", "lower", "emit"},
    # The registry starts with the standard operations; what runs a program sees only what it was handed.
    "run": {"base", "ir", "ops", "validate", "advise", "transform", "lower", "emit", "run"},
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


@pytest.mark.parametrize("backend", ["cuda", "vulkan"])
def test_the_floors_are_the_folders(backend):
    assert sorted(FLOORS) == sorted(path.name for path in (CORE / "run" / backend).iterdir() if path.is_dir())


def test_the_module_releases_the_gil_in_one_way():
    """WithoutGil counts the threads that the interpreter's end has to wait for; pybind11's own class does not."""
    bindings = ROOT / "cpp" / "bindings"
    using = [
        path.name for path in sorted(bindings.glob("*.?pp")) if "gil_scoped_release" in path.read_text(encoding="utf-8")
    ]
    assert using == ["without_gil.cpp", "without_gil.hpp"]


def units(root: Path) -> dict[str, set[str]]:
    """Every header with its source, as one unit, and the units below `root` that it includes."""
    found: dict[str, set[str]] = {}
    for path in sorted(root.rglob("*")):
        if path.suffix in {".hpp", ".cpp", ".def", ".inc"}:
            unit = path.relative_to(root).with_suffix("").as_posix()
            others = {Path(name).with_suffix("").as_posix() for name in includes(path)}
            found.setdefault(unit, set()).update(
                name.removeprefix("vyre/") for name in others if name.startswith("vyre/")
            )
    return {unit: (others - {unit}) & found.keys() for unit, others in found.items()}


def cycles(root: Path) -> set[str]:
    """The units on a cycle, or on a path between two cycles: what is left when a unit that includes no other, or that
    no other includes, is taken away until there is none."""
    graph = units(root)
    while True:
        included = set().union(*graph.values())
        kept = {unit for unit, others in graph.items() if others and unit in included}
        if len(kept) == len(graph):
            return kept
        graph = {unit: graph[unit] & kept for unit in kept}


def test_a_cycle_is_found(tmp_path):
    for name, text in {
        "top.cpp": '#include "vyre/a.hpp"',
        "a.hpp": "",
        "a.cpp": '#include "vyre/a.hpp"\n#include "vyre/b.hpp"',
        "b.hpp": '#include "vyre/c.hpp"',
        "c.cpp": '#include "vyre/a.hpp"\n#include "vyre/leaf.def"',
        "c.hpp": "",
        "leaf.def": "",
    }.items():
        (tmp_path / name).write_text(text)
    assert cycles(tmp_path) == {"a", "b", "c"}
    (tmp_path / "c.cpp").write_text("")
    assert cycles(tmp_path) == set()


def test_no_header_and_its_source_depend_on_themselves():
    assert cycles(CORE) == set()


ENUMS = sorted(
    {
        name
        for path in (ROOT / "cpp").rglob("*")
        if path.suffix in {".hpp", ".cpp"}
        for name in re.findall(r"\benum class (\w+)", path.read_text(encoding="utf-8"))
    }
)
# Operators have spaces around them, which the brackets of templates have not.
RANGE = re.compile(rf" [<>]=? (?:\w+::)*(?:{'|'.join(ENUMS)})::\w+|\b(?:{'|'.join(ENUMS)})::\w+ [<>]=? ")


def test_ranges_of_enumerators_are_found():
    assert len(ENUMS) > 40
    for text in ("op <= BinOp::Or", "x > lower::Opcode::Add", "Rule::V001 >= rule", "rewrite::Kind::Literal < kind"):
        assert RANGE.search(text), text
    for text in (
        "touch<AccessKind::Read>(x)",
        "add<Message::CallDepth>(id)",
        "kind == Kind::Any",
        "std::array<Kind, 2>",
    ):
        assert not RANGE.search(text), text


@pytest.mark.parametrize("path", CODE, ids=lambda path: path.relative_to(ROOT / "cpp").as_posix())
def test_enumerators_are_asked_by_name_and_not_by_their_order(path):
    """A row may be added anywhere in a table, and an enumerator anywhere in an enum."""
    assert RANGE.findall(path.read_text(encoding="utf-8")) == []


def test_time_outs_and_interruptions_are_thrown_in_one_place():
    """A Deadline knows the time-out, how often to ask, and the sentences."""
    throws = re.compile(r"throw Interrupted\(|DispatchTimeoutError\(|options\.interrupted\(\)")
    found = {path.relative_to(CORE).as_posix() for path in FILES if throws.search(path.read_text(encoding="utf-8"))}
    assert found == {"base/deadline.cpp"}
