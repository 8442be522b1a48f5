"""The plugin of pytest in a user's own tests: backends, checked calls, lines of kernels."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

import vyre
import vyre._kernel.lines
import vyre._procedure.check
import vyre._tools.watch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# A run of pytest within a test forgets what it imports, and would have a second package beside this one.
for name in vyre.__all__:
    getattr(vyre, name)

pytest_plugins = ["pytester"]

KERNELS = """
import numpy as np
import pytest
import vyre
from vyre import In, InOut, Out, u32


@vyre.kernel
def double(a: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    if i < len(out):
        out[i] = a[i] * 2


@vyre.kernel
def total(a: In[u32], out: InOut[u32]):
    i = vyre.gid(0)
    if i < len(a):
        out[0] += a[i]


@vyre.procedure
def fourfold(a: In[u32]):
    return double(double(a))


def race():
    total(np.arange(8, dtype=np.uint32), np.zeros(1, np.uint32), grid=8)


x = np.arange(8, dtype=np.uint32)
"""
RACE = "race: two invocations access `out`[0], and nothing orders them; seen 7 times."


@pytest.fixture
def tests(pytester: pytest.Pytester) -> Callable[..., pytest.RunResult]:
    """A function that runs pytest on a file of tests."""

    def run(text: str, *options: str, kernels: str = KERNELS, inside: bool = True) -> pytest.RunResult:
        pytester.makepyfile(test_mine=kernels + text)
        options = ("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest", *options)
        return pytester.runpytest_inprocess(*options) if inside else pytester.runpytest_subprocess(*options)

    return run


# The fixture.

PLACES = """
def test_place(vyre_backend):
    print("\\nplace", vyre_backend)
    assert (double(x, **vyre_backend) == x * 2).all()
    assert vyre.empty(2).backend == vyre_backend["backend"]
"""


def places(result: pytest.RunResult) -> list[str]:
    return re.findall(r"^place (.*)$", result.stdout.str(), re.MULTILINE)


def test_a_test_runs_on_every_backend(tests):
    result = tests(PLACES, "-s")
    result.assert_outcomes(passed=len(vyre.backends()))
    assert places(result) == [str({"backend": name, "device": None}) for name in vyre.backends()]


def test_devices_are_chosen_by_names_and_numbers(tests):
    named = [(device.index, device.backend) for device in vyre.devices() if device.usable]
    option = ",".join(["reference", *(str(index) for index, _ in named)])
    result = tests(PLACES, "-s", f"--vyre-devices={option}")
    assert [text.partition(", 'device'")[0] for text in places(result)] == [
        "{'backend': 'reference'",
        *(f"{{'backend': '{backend}'" for _, backend in named),
    ]
    result.assert_outcomes(passed=1 + len(named))


def test_all_is_every_backend_without_devices_and_every_device(tests):
    usable = [device for device in vyre.devices() if device.usable]
    owners = {device.backend for device in usable}
    result = tests(PLACES, "-v", "--vyre-devices=all")
    result.assert_outcomes(passed=len([name for name in vyre.backends() if name not in owners]) + len(usable))
    for device in usable:
        name = device.name.split("(")[0].strip().replace(" ", "-")
        assert f"test_place[{device.index}-{name}]" in result.stdout.str()


def test_a_device_counts_among_those_of_its_backend(monkeypatch):
    from pytest_vyre import _backends

    devices = [
        vyre.Device(k, backend, f"device {k} (a chip)", "", "cpu", True, False)
        for k, backend in enumerate(["one", "two", "two"])
    ]
    monkeypatch.setattr(vyre, "devices", lambda: devices)
    assert _backends._places("2,0") == {
        "2-device-2": {"backend": "two", "device": 1},
        "0-device-0": {"backend": "one", "device": 0},
    }


@pytest.mark.parametrize("name", ["metal", "99", "", "-1"])
def test_what_is_not_here_is_refused_with_what_is(tests, name):
    result = tests(PLACES, f"--vyre-devices={name}")
    result.assert_outcomes(errors=1)
    here = ", ".join(vyre.backends())
    said = f"--vyre-devices: there is no backend or device `{name}`. Fix: write all, or some of {here}"
    assert said in result.stdout.str()


def test_a_test_may_name_its_backends_itself(tests):
    result = tests('@pytest.mark.parametrize("vyre_backend", ["reference", "cpu"], indirect=True)' + PLACES, "-s")
    result.assert_outcomes(passed=2)
    assert places(result) == [str({"backend": name, "device": None}) for name in ("reference", "cpu")]


def test_the_default_device_is_the_one_before_when_the_test_has_ended(tests):
    before = vyre.empty(1).backend
    tests(PLACES).assert_outcomes(passed=len(vyre.backends()))
    assert vyre.empty(1).backend == before


# Checks.


def test_a_race_fails_the_test_at_the_call(tests):
    text = "def test_race():\n    race()\n"
    tests(text).assert_outcomes(passed=1)
    result = tests(text, "--vyre-check=all")
    result.assert_outcomes(failed=1)
    said = result.stdout.str()
    assert f"E       Failed: kernel `total`: checks (all): 1 mistake was found.\nE       {RACE}\n" in said
    assert "_tools/watch.py" not in said
    assert "_calls.py" not in said
    assert re.search(r"^>       total\(np\.arange", said, re.MULTILINE)


@pytest.mark.parametrize(
    "text",
    [
        "def test_it():\n    try:\n        race()\n    except Exception:\n        pass\n",
        "def test_it():\n    with pytest.raises(vyre.VyreError):\n        race()\n",
        "def test_it():\n    vyre.run(total.program, {'a': x, 'out': np.zeros(1, np.uint32)}, 1, backend='cpu')\n",
        "def test_it():\n    total(vyre.array(x), vyre.zeros(1), grid=8)\n",
        "from vyre import run\n\ndef test_it():\n    run(total.program, {'a': x, 'out': np.zeros(1, np.uint32)}, 1)\n",
        "@vyre.procedure\ndef sums(a: In[u32], out: InOut[u32]):\n    total(a, out, grid=a.length)\n\n"
        "def test_it():\n    sums(x, np.zeros(1, np.uint32))\n",
        "import threading\n\ndef test_it():\n    def quiet():\n        try:\n            race()\n"
        "        except BaseException:\n            pass\n    it = threading.Thread(target=quiet)\n"
        "    it.start()\n    it.join()\n",
    ],
    ids=["caught", "expected", "program", "resident", "imported", "procedure", "thread"],
)
def test_a_race_of_any_call_fails_the_test(tests, text):
    result = tests(text, "--vyre-check=all")
    result.assert_outcomes(failed=1)
    assert "race: two invocations access" in result.stdout.str()


def test_calls_that_are_right_are_counted_and_give_what_they_gave(tests):
    text = """
def test_numpy(vyre_backend):
    assert (double(x, **vyre_backend) == x * 2).all()
    out = np.zeros(8, np.uint32)
    double(x, out, **vyre_backend)
    assert (out == x * 2).all()

def test_resident():
    a = vyre.array(x)
    assert (double(double(a)).numpy() == x * 4).all()
    assert (fourfold(a).numpy() == x * 4).all()

def test_wrong():
    with pytest.raises(vyre.CallError):
        double()
    with pytest.raises(vyre.BindingError):
        double(x.astype(np.int64))

def test_the_library():
    assert vyre.std.sum(x) == 28
"""
    result = tests(text, "--vyre-check=all", "--vyre-devices=reference,cpu")
    result.assert_outcomes(passed=5)
    assert "\n7 calls checked (all)\n" in result.stdout.str()
    assert "not checked" not in result.stdout.str()


def test_only_the_checks_that_are_named(tests):
    text = """
def test_race():
    race()

def test_bounds():
    vyre.run(double.program, {"a": x[:4], "out": 8}, 1, backend="cpu")
"""
    tests(text, "--vyre-check=all").assert_outcomes(failed=2)
    tests(text, "--vyre-check=race,divergent-barrier").assert_outcomes(failed=1, passed=1)


def test_a_marker_says_what_a_test_does_on_purpose(tests):
    text = """
@pytest.mark.vyre_check()
def test_race():
    race()

@pytest.mark.vyre_check("out-of-bounds")
def test_other():
    race()

@pytest.mark.vyre_check("race")
def test_same():
    race()
"""
    result = tests(text, "--vyre-check=all", "--strict-markers")
    result.assert_outcomes(passed=2, failed=1)
    assert "\n2 calls checked (all)\n" in result.stdout.str()
    tests(text, "--strict-markers").assert_outcomes(passed=3)


@pytest.mark.parametrize("option", ["rays", "race,", ""])
def test_a_check_that_there_is_not_is_refused(tests, option):
    result = tests("def test_it():\n    pass\n", f"--vyre-check={option}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    wrong = option.rpartition(",")[2]
    said = f"--vyre-check: there is no check `{wrong}`. Fix: write all, or some of race, "
    assert said in result.stderr.str()


def test_what_cannot_be_checked_is_told(tests):
    text = """
def test_graph():
    a, b = vyre.array(x), vyre.empty(8)
    with vyre.graph() as graph:
        double(a, b)
    graph.replay()
    assert (b.numpy() == x * 2).all()
"""
    result = tests(text, "--vyre-check=all")
    result.assert_outcomes(passed=1)
    said = (
        "0 calls checked (all)\n"
        "not checked: test_mine.py::test_graph: kernel `double` is recorded in a graph, and runs later\n"
    )
    assert said in result.stdout.str()


def test_a_fixture_is_checked_too(tests):
    text = "@pytest.fixture\ndef sums():\n    race()\n\ndef test_it(sums):\n    pass\n"
    tests(text, "--vyre-check=all").assert_outcomes(errors=1)


def test_nothing_watches_afterwards(tests):
    from vyre import _run
    from vyre._kernel.kernel import Kernel

    before = Kernel.__call__, _run._run_program
    tests("def test_race():\n    race()\n", "--vyre-check=all").assert_outcomes(failed=1)
    assert (Kernel.__call__, _run._run_program) == before


# Lines.

COVERED = '''
import vyre
from vyre import In, Out, const, u32


def clamp(x: u32) -> u32:
    if x > 100:
        return u32(100)
    return x


@vyre.kernel
def half(a: In[u32], n: const, out: Out[u32]):
    """The docstring is no line that runs."""
    i = vyre.gid(0)
    if i >= len(out):
        return
    x = clamp(a[i])
    if n == 3:
        x += 1
    while x > 1000:
        x -= 1
        if x == 7:
            break
    for k in (1, 2):
        vyre.debug("k", k)
        if x == 2000 + k:
            continue
        x += k
    if x > 50 and a[i] != 0 and n == 2:
        out[i] = 0
    elif x <= 3:
        out[i] = (
            1
        )
    else:
        out[i] = x // 2


@vyre.procedure
def both(a: In[u32]):
    return half(half(a, 2), 3)
'''
# Of the text above, what does not run where `a` is small and `n` is 2.
MISSED = ["return u32(100)", "x += 1", "x -= 1", "if x == 7:", "break", "continue", "out[i] = 0"]
PROCEDURE = "return half(half(a, 2), 3)"


def reported(result: pytest.RunResult) -> list[str]:
    """The lines of covered.py that coverage.py misses."""
    found = re.search(r"^covered\.py .*%(.*)$", result.stdout.str(), re.MULTILINE)
    assert found, result.stdout.str()
    text = COVERED.lstrip().splitlines()
    lines: list[str] = []
    for part in filter(None, found[1].strip().split(", ")):
        first, _, last = part.partition("-")
        lines += [text[number - 1].strip() for number in range(int(first), int(last or first) + 1)]
    return lines


def test_lines_of_python_around_a_call_are_measured_as_ever(pytester):
    text = """
    def test_it():
        a = np.arange(4, dtype=np.uint32)
        for k in range(2):
            a = covered.half(a, k)
            if k == 7:
                a = "missed 1"
        covered.both(a)
        try:
            covered.half(a, 1, 1)
        except Exception:
            a = "run"
        assert len(a) == 3
    """
    result = measured(pytester, text, "--vyre-cov", "--cov=test_covered")
    result.assert_outcomes(passed=1)
    (missed,) = re.findall(r"^test_covered\.py +\d+ .*% *(.*)$", result.stdout.str(), re.MULTILINE)
    lines = pytester.path.joinpath("test_covered.py").read_text(encoding="utf-8").splitlines()
    assert [lines[int(number) - 1].strip() for number in missed.split(", ")] == ['a = "missed 1"']


def measured(pytester: pytest.Pytester, test: str, *options: str) -> pytest.RunResult:
    test = textwrap.dedent(test)
    pytester.makepyfile(covered=COVERED, test_covered=f"import numpy as np\nimport covered\n\n{test}")
    options = ("-p", "no:cacheprovider", "--cov=covered", "--cov-report=term-missing", *options)
    return pytester.runpytest_subprocess(*options)


SMALL = "def test_it():\n    covered.half(np.arange(4, dtype=np.uint32), 2, grid=300)\n"


def test_lines_of_kernels_count_as_run_when_an_invocation_came_by(pytester):
    result = measured(pytester, SMALL, "--vyre-cov")
    result.assert_outcomes(passed=1)
    assert reported(result) == [*MISSED, PROCEDURE]
    # Without the option every branch counts, because all of them are compiled.
    assert reported(measured(pytester, SMALL)) == ["x += 1", "continue", PROCEDURE]


def test_lines_of_a_procedures_kernels_count_too(pytester):
    text = "def test_it():\n    covered.both(np.array([400, 0], np.uint32))\n"
    result = measured(pytester, text, "--vyre-cov", "--vyre-check=all")
    result.assert_outcomes(passed=1)
    ran = ("return u32(100)", "x += 1", "out[i] = 0")
    assert reported(result) == ["return", *(each for each in MISSED if each not in ran)]  # which the grid's tail runs


@pytest.mark.slow
def test_lines_of_processes_are_put_together(pytester):
    both = f"{SMALL}\n\ndef test_other():\n    covered.half(np.array([400], np.uint32), 3)\n"
    result = measured(pytester, both, "--vyre-cov", "-n", "2")
    result.assert_outcomes(passed=2)
    assert reported(result) == [*MISSED[2:], PROCEDURE]


def test_coverage_without_pytest_cov(pytester):
    pytester.makepyfile(covered=COVERED, test_covered=f"import numpy as np\nimport covered\n\n{SMALL}")
    command = [sys.executable, "-m", "coverage", "run", "--include=covered.py", "-m", "pytest", "--vyre-cov", "-q"]
    done = subprocess.run(command, cwd=pytester.path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "Warning" not in done.stdout + done.stderr
    report = pytester.run(sys.executable, "-m", "coverage", "report", "-m")
    assert reported(report) == [*MISSED, PROCEDURE]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "--vyre-cov has no effect, because coverage.py does not measure. Fix: write pytest --cov --vyre-cov"),
        (("--cov=covered", "--cov-branch"), "coverage.py measures branches here. Fix: leave out --cov-branch"),
    ],
)
def test_lines_need_a_measurement_of_lines(pytester, options, said):
    pytester.makepyfile("def test_it():\n    pass\n")
    result = pytester.runpytest_subprocess("--vyre-cov", *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert said in result.stderr.str()


# What it brings in.


def loaded(folder: Path, *options: str) -> set[str]:
    """The modules that are there when a test of the user's runs, one that has nothing to do with vyre."""
    (folder / "test_mine.py").write_text(
        "import sys\n\n\ndef test_it():\n    print('loaded', *sorted(sys.modules))\n", encoding="utf-8"
    )
    command = [sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    (names,) = re.findall(r"^.*loaded (.*)$", done.stdout, re.MULTILINE)
    return set(names.split())


def test_a_run_without_vyre_loads_two_small_modules(tmp_path):
    """What the plugin costs everyone who has vyre installed, counted in modules: a module more is a decision."""
    off = ("-p", "no:pytest_vyre", "-p", "no:hypothesispytest")
    with_plugin, without = loaded(tmp_path, *off[2:]), loaded(tmp_path, *off)
    assert with_plugin - without == {"pytest_vyre", "pytest_vyre._backends"}


def test_a_run_without_vyre_loads_them_in_less_than_20_ms():
    """The least of some tries, as the interpreter measures it: the limit is ten times what a quiet machine takes."""
    code = "import pytest, pytest_vyre, pytest_vyre._backends"
    tries = []
    for _ in range(5):
        command = [sys.executable, "-X", "importtime", "-c", code]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        of_plugin = re.findall(r"^import time: +(\d+) \|.*\bpytest_vyre\S*$", told, re.MULTILINE)
        assert len(of_plugin) == 2
        tries.append(sum(map(int, of_plugin)))
    assert min(tries) < 20_000 * int(os.environ.get("VYRE_PATIENCE", "1"))


def test_the_options_load_vyre_and_not_what_they_do_not_need(tmp_path):
    found = loaded(tmp_path, "--vyre-check=race", "-p", "no:hypothesispytest")
    assert "vyre._tools.watch" in found
    assert {"pytest_vyre._lines", "coverage", "vyre.std"} & found <= {"coverage"}  # pytest-cov may be there
