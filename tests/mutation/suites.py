"""The suites that look for faults, and which of them is likely to find one."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace

# The gate's own tests, of which one cannot pass while a fault is in the tree.
OWN_TESTS = (
    "tests/py/repository/mutation_gate.py",
    "tests/py/repository/test_mutation_gate.py",
    "tests/py/repository/test_mutation_list.py",
)


@dataclass(frozen=True)
class Suite:
    name: str
    target: str  # what has to be built
    command: tuple[str, ...]
    part_of: str = ""  # the suite that holds these tests too

    def only(self, test: str) -> Suite:
        """One of its tests alone."""
        if self.is_gtest():
            command = (self.command[0], f"--gtest_filter={test}")
        else:
            command = (*self.command[: self.command.index("--")], "--", test)
        return replace(self, command=command)

    def without(self, test: str) -> Suite:
        """All of its tests but one."""
        if self.is_gtest():
            option, filter = self.command[-1].split("=", 1)
            filter += (":" if "-" in filter else "-") + test
            return replace(self, command=(*self.command[:-1], f"{option}={filter}"))
        at = self.command.index("--")
        return replace(self, command=(*self.command[:at], f"--deselect={test}", *self.command[at:]))

    def is_gtest(self) -> bool:
        return self.target != "_core"


def _gtest(name: str, layer: str, filter: str = "*") -> Suite:
    target = f"vyre_{layer}_tests"
    # Commands run in the tree of a copy, beside its build folder.
    return Suite(name, target, (f"../build/tests/cpp/{target}", "--gtest_fail_fast", f"--gtest_filter={filter}"))


def _pytest(name: str, *arguments: str, without: tuple[str, ...] = (), part_of: str = "") -> Suite:
    # Random tests take one seed, so that a score is the same twice. Not -v: doctest finds that in sys.argv and talks.
    fixed = ("-x", "--verbosity=1", "--tb=short", "-p", "no:cacheprovider", "--hypothesis-seed=0")
    ignored = (f"--ignore={path}" for path in (*OWN_TESTS, *without))
    return Suite(name, "_core", (sys.executable, "-m", "pytest", *fixed, *ignored, "--", *arguments), part_of)


SUITES = {
    suite.name: suite
    for suite in (
        _gtest("base", "base"),
        _gtest("lower", "lower"),
        _gtest("ops", "ops"),
        _gtest("validate", "validate"),
        _gtest("emit", "emit"),
        _gtest("transform", "transform"),
        _gtest("run", "run", "-*Vulkan*:PipelineFile*:UnfitDevices*:EveryFunction*"),
        _gtest("ir", "ir"),
        _gtest("fuzz_programs", "fuzz_programs"),
        _gtest("vulkan", "run", "*Vulkan*:PipelineFile*:UnfitDevices*"),
        _gtest("vulkan-failures", "run", "EveryFunction*"),
        _gtest("corpus", "corpus"),
        _gtest("memory", "memory"),
        _gtest("threads", "threads"),
        _gtest("vulkan-memory", "vulkan_memory"),
        # Last: minutes, where the others take seconds.
        _pytest("python", "tests/py", "python/vyre"),
        _pytest("proofs", "tests/py/program/test_proofs.py", part_of="python"),
        _pytest("wgsl", "tests/py/conformance/test_wgsl.py", "tests/py/conformance/test_words.py", part_of="python"),
        _pytest("ptx", "tests/py/conformance/test_ptx.py", part_of="python"),
        _pytest("std", "tests/py/std", part_of="python"),
        _pytest("html", "tests/py/tools/test_html.py", part_of="python"),
        _pytest("kernels", "tests/py/kernel", part_of="python"),
        _pytest("procedures", "tests/py/procedure", part_of="python"),
        _pytest(
            "python-api",
            "tests/py",
            "python/vyre/_run.py",
            "python/vyre/ops.py",
            "python/vyre/errors.py",
            without=("tests/py/conformance", "tests/py/program/test_scale.py", "tests/py/tools/test_notebooks.py"),
            part_of="python",
        ),
    )
}

# By the beginning of a fault's file, the suites that come first; the others follow in the order above, each test once.
NEAREST = {
    "cpp/vyre/base/": ("base", "ir", "memory"),
    "cpp/vyre/ir/semantics.hpp": ("ir", "ops", "run"),
    "cpp/vyre/ir/": ("ir", "ops", "run"),
    "cpp/vyre/ops/": ("ops",),
    "cpp/vyre/validate/": ("validate",),
    "cpp/vyre/advise/": ("python-api",),
    "cpp/vyre/transform/rewrites.def": ("transform", "proofs"),
    "cpp/vyre/transform/": ("transform",),
    "cpp/vyre/lower/": ("lower", "emit", "vulkan"),
    "cpp/vyre/emit/wgsl/": ("emit", "wgsl"),
    "cpp/vyre/emit/ptx/": ("emit", "ptx"),
    "cpp/vyre/emit/": ("emit", "vulkan"),
    "cpp/vyre/run/cpu/": ("run", "memory", "threads"),
    "cpp/vyre/run/vulkan/": ("vulkan", "vulkan-failures"),
    "cpp/vyre/run/": ("run",),
    "cpp/vyre/fuzz/": ("fuzz_programs",),
    "cpp/bindings/": ("python-api",),
    "python/vyre/_html/": ("html", "python-api"),
    "python/vyre/std/": ("std", "python-api"),
    "python/vyre/_kernel/": ("kernels", "python-api"),
    "python/vyre/_procedure/": ("procedures", "std", "python-api"),
    "python/": ("python-api",),
}


def suites_for(file: str) -> list[Suite]:
    near = next((names for prefix, names in NEAREST.items() if file.startswith(prefix)), ())
    whole = [suite.name for suite in SUITES.values() if not suite.part_of]
    return [SUITES[name] for name in dict.fromkeys((*near, *whole))]


def failed_test(suite: Suite, output: str) -> str:
    """The test that failed, or was running when everything ended."""
    if suite.is_gtest():
        failed = re.findall(r"^\[  FAILED  \] ([^\s,]+)", output, re.MULTILINE)
        started = re.findall(r"^\[ RUN      \] (\S+)", output, re.MULTILINE)
        return failed[0] if failed else started[-1] if started else ""
    failed = re.findall(r"^(\S+\.py::.*?) +(?:FAILED|ERROR)\b", output, re.MULTILINE)
    failed += re.findall(r"^ERROR (\S+\.py)", output, re.MULTILINE)  # it could not even be imported
    started = re.findall(r"^(\S+\.py::.*?)(?: +(?:PASSED|SKIPPED|XFAIL).*)?$", output, re.MULTILINE)
    return (failed or started[-1:] or [""])[0].strip()
