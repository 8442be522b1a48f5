"""Includes and imports point downwards: which layer may see which is a decision, and one stray line would undo it
unseen."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
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
        path.name
        for path in sorted(bindings.rglob("*.?pp"))
        if "gil_scoped_release" in path.read_text(encoding="utf-8")
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


# Python: the layers, lowest first. The longest name that a module's begins with counts.
LAYERS = {
    "base": ["vyre.errors", "vyre._diagnostics", "vyre._enums", "vyre._base", "vyre._html"],
    "arrays": [
        *["vyre._arrays", "vyre._html.arrays", "vyre._pickle", "vyre._sharing", "vyre._values"],
        *["vyre._default", "vyre._devices"],
    ],
    "kernels": ["vyre._kernel"],
    "procedures": ["vyre._procedure", "vyre._run", "vyre.ops"],
    # The package itself has the names of all layers below it. Names of layers above it stand in its table _LATER, as
    # text: importing them takes time that most programs do not want to spend.
    "the package": ["vyre"],
    "std": ["vyre.std"],
    "tools": [
        *["vyre._tools", "vyre._profile", "vyre._trees", "vyre._web", "vyre.dask"],
        *["vyre.conformance", "vyre.demo", "vyre.fuzz"],
    ],
    "commands": ["vyre.commands", "vyre.__main__"],
}
MAX_MODULES_IN_A_CIRCLE = 5
MAX_MODULES_AT_THE_TOP = 15
PACKAGE = ROOT / "python" / "vyre"


def module_name(path: Path, package: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def statements(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports in a module and its functions, without those that only type checkers see."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child
        elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            for other in child.orelse:
                yield from statements(ast.Module([other], []))
        else:
            yield from statements(child)


def by_text(tree: ast.Module) -> list[str]:
    """The modules that ``import_module`` gets as a text."""
    calls = (each for each in ast.walk(tree) if isinstance(each, ast.Call) and "import_module" in ast.unparse(each))
    return [text.value for each in calls for text in each.args if isinstance(text, ast.Constant)]


def imports(package: Path) -> dict[str, set[str]]:
    """Every module of a package, with those of the package that it imports."""
    paths = {module_name(path, package): path for path in sorted(package.rglob("*.py"))}
    known = paths.keys() | {f"{package.name}._core"}
    graph: dict[str, set[str]] = {}
    for name, path in paths.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = [] if name == package.name else by_text(tree)  # the package itself hands out what lies above it
        for statement in statements(tree):
            if isinstance(statement, ast.Import):
                named += [alias.name for alias in statement.names]
            else:
                assert statement.level == 0, f"{name} has a relative import"
                for alias in statement.names:
                    inner = f"{statement.module}.{alias.name}"
                    named.append(inner if inner in known else statement.module)
        graph[name] = {other for other in named if other in paths and other != name}
    return graph


@cache
def python_imports() -> dict[str, set[str]]:
    return imports(PACKAGE)


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The sets of modules of which each imports all others, directly or by way of others."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = list(graph[start])
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += graph[name]
        return seen

    below = {name: reached(name) for name in graph}
    found = {frozenset(other for other in below[name] if name in below[other]) for name in graph}
    return [set(circle) for circle in found if len(circle) > 1]


def floor(name: str) -> int:
    homes = [
        (len(home), k) for k, row in enumerate(LAYERS.values()) for home in row if f"{name}.".startswith(f"{home}.")
    ]
    length, found = max(homes)
    assert name == "vyre" or length > len("vyre"), f"{name} has no layer. Fix: add it to LAYERS."
    return found


def test_imports_of_every_kind_are_found(tmp_path):
    package = tmp_path / "some"
    (package / "inner").mkdir(parents=True)
    for name, text in {
        "__init__.py": "from some.a import x",
        "a.py": "from some import _core, b\n",
        "b.py": "def late():\n    from some.inner import c\n",
        "inner/__init__.py": "",
        "inner/c.py": "class C:\n    try:\n        import some.a\n    except ImportError:\n        pass\n",
        "d.py": "if TYPE_CHECKING:\n    import some.a\nelse:\n    import some.b\n",
        "e.py": "def late():\n    importlib.import_module('some.a')\n",
    }.items():
        (package / name).write_text(text)
    graph = imports(package)
    assert graph == {
        "some": {"some.a"},
        "some.a": {"some.b"},
        "some.b": {"some.inner.c"},
        "some.inner": set(),
        "some.inner.c": {"some.a"},
        "some.d": {"some.b"},
        "some.e": {"some.a"},
    }
    assert circles(graph) == [{"some.a", "some.b", "some.inner.c"}]


def test_imports_of_python_point_downwards():
    graph = python_imports()
    assert len(graph) > 300
    names = list(LAYERS)
    assert [
        f"{name} ({names[floor(name)]}) imports {other} ({names[floor(other)]})"
        for name, others in graph.items()
        for other in sorted(others)
        if floor(other) > floor(name)
    ] == []


def test_modules_of_python_are_in_no_large_circle():
    """Imports inside functions count: these are for a quick start, and not to break a circle."""
    assert [circle for circle in circles(python_imports()) if len(circle) > MAX_MODULES_IN_A_CIRCLE] == []


def test_few_modules_lie_at_the_top():
    at_the_top = [path.name for path in PACKAGE.iterdir() if path.suffix in {".py", ".pyi"}]
    assert len(at_the_top) <= MAX_MODULES_AT_THE_TOP, at_the_top


def test_every_layer_has_its_modules():
    names = python_imports().keys()
    assert [home for row in LAYERS.values() for home in row if home not in names] == []
