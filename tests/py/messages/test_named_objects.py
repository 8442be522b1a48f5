"""Commands find kernels, procedures and functions of the user's files: ``FILE.py:NAME``, and ``module:name`` here."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import vyre
from vyre.__main__ import main

MODULE = """
import vyre


@vyre.kernel
def doubled(x: vyre.In[vyre.u32], y: vyre.Out[vyre.u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] * 2


@vyre.kernel
def scaled(x: vyre.In[vyre.u32], n: vyre.const, k: vyre.u32, y: vyre.Out[vyre.u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] * n + k


tripled = scaled.specialize(n=3)


@vyre.kernel
def first(x: vyre.In[vyre.u32], total: vyre.InOut[vyre.u32]):
    if vyre.gid(0) < len(x):
        total[0] += x[vyre.gid(0)]


@vyre.kernel
def last(x: vyre.In[vyre.u32], total: vyre.InOut[vyre.u32]):
    total[0] = x[vyre.gid(0)]


@vyre.kernel
def summed(x: vyre.In[vyre.u32], total: vyre.InOut[vyre.u32]):
    i = vyre.gid(0)
    if i < len(x):
        total.atomic_add(0, x[i])


@vyre.procedure
def scaled_by(x: vyre.In[vyre.u32], n: vyre.const, k: vyre.u32):
    return scaled(x, n, k)


@vyre.procedure
def racy(x: vyre.In[vyre.u32], total: vyre.InOut[vyre.u32]):
    last(x, total, grid=x.length)


@vyre.procedure
def twice(x: vyre.In[vyre.u32]):
    y = vyre.scratch(vyre.u32, x.length)
    doubled(x, y)
    return y


def on_cpu(program, inputs, workgroups, **how):
    return vyre.run(program, inputs, workgroups, backend="cpu")
"""
NAME = "kernels_in_this_folder"  # a module that is nowhere else


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch):
    """The current folder, which is not in sys.path, as for the command that pip installs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    (tmp_path / f"{NAME}.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "broken_here.py").write_text("1 / 0\n", encoding="utf-8")
    yield
    for name in (NAME, f"_vyre_file_{NAME}"):
        sys.modules.pop(name, None)


def refused(capsys, *arguments: str) -> str:
    assert main(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    return told.err


CONFORM = ("conform", "--backend", "cpu", "--call", '{"x": 9}', "--repeat", "3", "--procedure")
X = np.arange(5, dtype=np.uint32)
BENCH = ("bench", "--backend", "cpu", "--size", "4", "--seconds", "0")
FUZZ = ("fuzz", "--count", "2", "--jobs", "1", "--backend")


@pytest.mark.parametrize("home", [NAME, f"{NAME}.py", f"./{NAME}.py"])
def test_every_command_finds_what_it_takes(home, capsys):
    for arguments in (
        (*CONFORM, f"{home}:twice"),
        (*BENCH, f"{home}:doubled"),
        (*BENCH, f"{home}:twice"),
        (*FUZZ, f"{home}:on_cpu"),
    ):
        assert main([*arguments, "--json"]) == 0, arguments
        assert json.loads(capsys.readouterr().out)["ok"], arguments


def test_the_current_folder_hides_no_module_that_is_installed(capsys, tmp_path):
    (tmp_path / "colorsys.py").write_text(MODULE, encoding="utf-8")
    sys.modules.pop("colorsys", None)
    assert refused(capsys, *CONFORM, "colorsys:twice").startswith("error: `colorsys` has no procedure `twice`. ")


def test_a_file_with_one_procedure_needs_no_name(capsys, tmp_path):
    own = "@vyre.procedure\ndef own(x: vyre.In[vyre.u32]):\n    return twice(x)\nalias = own\n"
    for imports, rest, name in (("doubled, twice", "", "twice"), ("twice, racy", own, "own")):
        (tmp_path / f"{name}.py").write_text(f"import vyre\nfrom {NAME} import {imports}\n{rest}", encoding="utf-8")
        assert main([*CONFORM, f"{name}.py", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["procedure"]["name"] == name


def test_run_calls_kernels_and_procedures_by_their_parameters(capsys):
    np.save("x.npy", X)
    for name, inputs, right in (
        ("doubled", (), X * 2),
        ("scaled", ("n=3", "k=0x10"), X * 3 + 16),
        ("tripled", ("k=1",), X * 3 + 1),
        ("scaled_by", ("n=2", "k=1"), X * 2 + 1),
    ):
        given = [word for each in ("x=x.npy", *inputs) for word in ("--input", each)]
        assert main(["run", f"{NAME}.py:{name}", *given, "--backend", "cpu", "--json"]) == 0
        (row,) = json.loads(capsys.readouterr().out)["outputs"]
        assert row["sha256"] == hashlib.sha256(right.tobytes()).hexdigest(), name
    # Zeros for an Out are elements, and --workgroups counts groups of 256.
    given = ("--input", "x=300", "--input", "y=600", "--workgroups", "2", "--output", "y=y.npy")
    assert main(["run", f"{NAME}.py:doubled", *given]) == 0
    assert np.load("y.npy").shape == (600,)


def test_a_call_says_what_its_parameters_need(refuses):
    np.save("x.npy", X)
    run = ["run", f"{NAME}.py:scaled", "--input", "x=x.npy"]
    refuses(run, "constant `n` has no value", "add --input n=N")
    refuses([*run, "--input", "n=2"], "number `k` has no value", "add --input k=N")
    refuses([*run[:2], "--input", "n=2", "--input", "k=2"], "array `x` has no value", "add --input x=FILE.npy")
    refuses([*run, "--input", "n=x"], "constant `n` is no literal of Python, got `x`", "write --input n=5")
    refuses([*run, "--input", "m=2"], "there is no input `m`", "name one of x, n, k, y")
    refuses(
        [*run, *("--input", "n=2", "--input", "k=1", "--output", "x=o")],
        "the kernel writes no array `x`",
        "name one of y",
    )


@pytest.mark.parametrize("name", ["scaled", "scaled_by"])
@pytest.mark.parametrize("command", ["check", "lower"])
def test_a_constant_without_a_value_is_specialized_where_none_is_given(command, name, refuses):
    where = f"{NAME}.py:{name}"
    fix = f"write NAME = {name}.specialize(n=...) at the top of its file, and name that"
    refuses([command, where], f"`{where}` has no value for its constant `n`", fix)
    assert main([command, f"{NAME}.py:tripled"]) == 0


def test_check_tells_mistakes_and_notes_of_a_kernel(capsys, tmp_path):
    assert main(["check", f"{NAME}.py:first", "--json"]) == 0
    (note,) = json.loads(capsys.readouterr().out)["notes"]
    line = MODULE.splitlines().index("        total[0] += x[vyre.gid(0)]") + 1
    assert (note["rule"], note["line"]) == ("N005", line)
    assert note["hint"] == "write total.atomic_add(index, value) instead of this statement."
    (tmp_path / "wrong.py").write_text(MODULE.replace("x[i] * 2", "x[i] * nothing"), encoding="utf-8")
    for name in ("doubled", "tripled"):  # found when `doubled` is asked for, and not before
        status = int(name == "doubled")
        assert main(["check", f"wrong.py:{name}", "--json"]) == status
        broken = json.loads(capsys.readouterr().out)["broken"]
        assert [(row["rule"], Path(row["file"]).name) for row in broken] == [("K005", "wrong.py")] * status
    (tmp_path / "with.py").write_text(MODULE.replace("if i < len(y)", "with i"), encoding="utf-8")
    assert main(["check", "with.py:twice"]) == 1
    assert capsys.readouterr().out.startswith("K001 at doubled (")


def test_lower_gives_the_program_and_keeps_the_source(capsys, refuses):
    assert main(["lower", f"{NAME}.py:doubled", "--to", "text"]) == 0
    assert "] = x[%0] * 2" in capsys.readouterr().out
    refuses(
        ["lower", f"{NAME}.py:doubled", "-o", f"{NAME}.py"],
        f"the program is in `{NAME}.py` itself",
        "name another file with -o",
    )


TAKEN = {
    "repeat": (["--backend", "cpu"], "same bytes"),
    "bisect": (["--backend", "cpu"], "same bytes"),
    "check": ([], "checks (all): nothing was found."),
}


@pytest.mark.parametrize("command", TAKEN)
def test_commands_take_the_arguments_of_a_call(command, capsys, refuses):
    np.savez("inputs.npz", x=X, n=2, k=1)
    np.savez("x.npz", x=X)
    more, said = TAKEN[command]
    for name in ("scaled", "scaled_by"):
        assert main([command, f"{NAME}.py:{name}", "inputs.npz", *more]) == 0
        assert said in capsys.readouterr().out
    refuses(
        [command, f"{NAME}.py:scaled", "x.npz"],
        "constant `n` has no value",
        "add it to x.npz: np.savez(file, n=5, ...)",
    )
    refuses(
        [command, f"{NAME}.py:twice", "x.npz", "--workgroups", "1"],
        "--workgroups has no place for a procedure",
        "leave it out",
    )


def test_repeat_and_check_find_a_race(capsys):
    np.savez("inputs.npz", x=X, total=1)
    for call in ((f"{NAME}.py:racy", "inputs.npz"), (f"{NAME}.py:last", "inputs.npz", "--grid", "5")):
        assert main(["repeat", *call, "--backend", "reference"]) == 1
        assert "`total`[0] is 0 in run 2 and 4 in run 1; 1 of 1 elements differ" in capsys.readouterr().out
        assert main(["check", *call, "--json"]) == 1
        (row,) = json.loads(capsys.readouterr().out)["reports"]
        assert (row["check"], row["count"]) == ("race", 4)


def test_check_tells_broken_rules_beside_inputs_and_runs_a_saved_call(capsys):
    head = "vyre 1\nworkgroup_size 8 1 1\nbuffer out: read_write u32 binding 0\n\n"
    divergent, racy = f"{head}if lid.x < 8 {{\n  barrier\n}}\nout[0] = 1\n", f"{head}out[0] = out[0] + 1\n"
    Path("divergent.vyre").write_text(divergent)
    np.savez("out.npz", out=1)
    assert main(["check", "divergent.vyre", "out.npz", "--workgroups", "1"]) == 1
    assert "V010 at entry[0]" in capsys.readouterr().out
    vyre.check(vyre.parse(racy), {"out": 1}, 1).save("race.json")
    assert main(["check", "race.json"]) == 1
    assert "race: two invocations access `out`[0]" in capsys.readouterr().out


SUM = ("--input", "x=x.npy", "--input", "total=1", "--backend", "cpu")
GRIDS = {
    "run": (f"{NAME}.py:summed", *SUM),
    "bench": (f"{NAME}.py:summed", *SUM[:2], *SUM[4:], "--seconds", "0", "--quiet"),
    "repeat": (f"{NAME}.py:summed", "inputs.npz", "--backend", "cpu"),
    "bisect": (f"{NAME}.py:summed", "inputs.npz", "--backend", "cpu"),
    "check": (f"{NAME}.py:summed", "inputs.npz"),
}


@pytest.mark.parametrize("command", GRIDS)
def test_a_call_that_needs_a_grid_gets_one(command, capsys, refuses):
    np.save("x.npy", X)
    np.savez("inputs.npz", x=X, total=1)
    call = [command, *GRIDS[command]]
    if command != "bench":  # whose arrays have one length
        problem = "kernel `summed` compares vyre.gid(0) with len(x), which is 5, and its grid, the shape of `total`, "
        refuses(call, f"{problem}ends at 1", "write grid=len(x)")
    assert main([*call, "--grid", "5", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    if command == "run":
        assert told["outputs"][0]["sha256"] == hashlib.sha256(X.sum(dtype=np.uint32).tobytes()).hexdigest()
    refuses(
        [command, f"{NAME}.py:racy", *call[2:], "--grid", "5"], "--grid has no place for a procedure", "leave it out"
    )
    assert main(["lower", call[1], "--to", "text", "-o", "summed.vyre"]) == 0
    refuses(
        [command, "summed.vyre", *call[2:], "--grid", "5"], "--grid has no place for a program", "write --workgroups"
    )


ALL = "doubled, scaled, tripled, first, last, summed, scaled_by, racy, twice"
WHAT = {"conform": "procedure", "bench": "kernel, procedure or program"}


@pytest.mark.parametrize("command", [CONFORM, BENCH, FUZZ])
@pytest.mark.parametrize("home", [NAME, f"{NAME}.py"])
def test_a_name_that_is_nowhere_and_a_module_that_fails_are_told(command, home, refuses):
    problem, fix = f"`{home}` has no {WHAT.get(command[0])} `twce`", f"write {home}:twice"
    if command is FUZZ:
        problem = f"backend `{home}:twce` cannot be imported: `{home}` has no `twce`"
        fix = f"write {home}:NAME, with a name that it has (did you mean `twice`?)"
    refuses([*command, f"{home}:twce"], problem, fix)
    of = "backend " if command is FUZZ else ""
    for name, file, problem, fix in (
        ("nowhere_at_all", "", "ModuleNotFoundError: No module named 'nowhere_at_all'", ""),
        ("broken_here", " (at broken_here.py:1)", "ZeroDivisionError: division by zero", ""),
        (
            "broken_here.py",
            " (at broken_here.py:1)",
            "ZeroDivisionError: division by zero",
            "run `python broken_here.py`",
        ),
    ):
        refuses(
            [*command, f"{name}:twice"],
            f"{of}`{name}{':twice' * bool(of)}` cannot be imported{file}: {problem}",
            fix or f"write FILE.py:NAME, or name a module that `python -c 'import {name}'` imports",
        )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "x = (",
            "`wrong.py` cannot be imported: SyntaxError: '(' was never closed (wrong.py, line 1). "
            "Fix: run `python wrong.py`.",
        ),
        (
            "import sys\nprint('out')\nsys.exit(3)",
            "`wrong.py` ends the process (at wrong.py:3). Fix: put what only a script does under "
            '`if __name__ == "__main__":`.',
        ),
        (
            "def f():\n    raise OSError('\\n  one\\ntwo')\nf()",
            "`wrong.py` cannot be imported (at wrong.py:2): OSError: one. Fix: run `python wrong.py`.",
        ),
        (
            "import vyre\nvyre.zeros(-1, vyre.u32)",
            "`wrong.py` cannot be imported (at wrong.py:2): argument `shape` of vyre.zeros must be ",
        ),
    ],
)
def test_what_a_file_raises_is_told_with_its_line(text, said, capsys, tmp_path):
    (tmp_path / "wrong.py").write_text(f"{text}\n", encoding="utf-8")
    assert main(["check", "wrong.py:doubled"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.removeprefix("out\n").startswith(f"error: {said}")
    assert (told.err.removeprefix("out\n").count("\n"), told.err.count("Fix: ")) == (1, 1)


def test_a_file_that_is_not_here_is_told(refuses):
    refuses([*CONFORM, "nofile.py:twice"], "`nofile.py` is no file", "name a file of Python that is here")


@pytest.mark.parametrize("home", [NAME, f"{NAME}.py"])
def test_what_is_something_else_is_told(home, refuses):
    problem = f"`{home}:doubled` is of type Kernel, and no procedure"
    refuses([*CONFORM, f"{home}:doubled"], problem, f"write {home}:NAME, with one of scaled_by, racy, twice")
    refuses(
        ["check", f"{home}:on_cpu"],
        f"`{home}:on_cpu` is of type function, and no kernel, procedure or program",
        "write @vyre.kernel or @vyre.procedure above it",
    )
    refuses(
        ["check", f"{home}:vyre"],
        f"`{home}:vyre` is of type module, and no kernel, procedure or program",
        f"write {home}:NAME, with one of {ALL}",
    )


def test_a_file_of_several_or_none_needs_a_name(refuses):
    refuses(
        ["check", f"{NAME}.py"],
        f"`{NAME}.py` has 9 kernels, procedures and programs",
        f"write {NAME}.py:NAME, with one of {ALL}",
    )
    Path("two.py").write_text("import vyre\na = b = vyre.Program()\nc = vyre.Program()\n", encoding="utf-8")
    refuses(
        ["check", "two.py"], "`two.py` has 2 kernels, procedures and programs", "write two.py:NAME, with one of a, c"
    )
    Path("none.py").write_text("x = 3\n", encoding="utf-8")
    refuses(
        ["check", "none.py"],
        "`none.py` has no kernel, procedure or program",
        "define one at the top of `none.py`, under @vyre.kernel or @vyre.procedure",
    )
