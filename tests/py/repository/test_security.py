"""SECURITY.md promises; each test that it names is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def cpp_tests() -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for path in (ROOT / "tests" / "cpp").rglob("*_test.cpp"):
        found.update(re.findall(r"TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", path.read_text(encoding="utf-8")))
    return found


def test_each_test_that_is_named_exists():
    tests = cpp_tests()
    suites = {suite for suite, _ in tests}
    named = re.findall(r"`(?:[a-z]+\.)?([A-Z]\w+)\.(\*|[a-z]\w+)`", TEXT)
    named = [name for name in named if name[0] not in ("Program", "Procedure")]  # Python's Program.from_bytes
    assert len(named) > 20
    missing = [name for name in named if name not in tests and not (name[1] == "*" and name[0] in suites)]
    assert missing == []
    files = {path.name for path in (ROOT / "tests" / "py").rglob("test_*.py")}
    assert set(re.findall(r"`(test_\w+\.py)`", TEXT)) - files == set()


def test_each_fuzz_target_is_named():
    for source in (ROOT / "tests" / "cpp" / "fuzz").glob("*_fuzz.cpp"):
        assert f"`{source.stem.removesuffix('_fuzz')}`" in TEXT, source


def test_limits_are_those_of_the_code():
    limits = (ROOT / "cpp/vyre/validate/limits.hpp").read_text(encoding="utf-8")
    for name, said in {
        "kMaxNodeCount": "100,000 (V019)",
        "kMaxNestingDepth": "64 (V018)",
        "kMaxCallDepth": "32 (V017)",
    }.items():
        number = re.search(rf"{name} = ([0-9']+);", limits)[1].replace("'", "")
        assert said.split(" ")[0].replace(",", "") == number
        assert said in TEXT
