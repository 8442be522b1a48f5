"""``vyre.repeat`` and ``vyre repeat``: what differs from run to run is found, and said with its place."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

import vyre
from conftest import refused
from html_reader import told
from vyre import BufferDecl, Expr, Node, Program
from vyre.__main__ import main

I = Expr.gid_x()  # noqa: E741


def own() -> Program:
    """Each invocation doubles an element of its own."""
    return Program([BufferDecl.output("out", 0, vyre.u32)], (64, 1, 1), [Node.store("out", I, Expr.load("out", I) * 2)])


RACE = Program([BufferDecl.output("out", 0, vyre.u32)], (4, 1, 1), [Node.store("out", 3, I + 1)])
DATA = np.arange(64, dtype=np.uint32)


class Wrong:
    """The reference, wrong in some runs of the program; what runs between is left alone."""

    def __init__(self, wrong, value=1) -> None:
        self.wrong, self.value, self.run, self.calls, self.key = wrong, value, 0, [], "out"

    def __call__(self, program, inputs, workgroups):
        outputs = vyre.run(program, inputs, workgroups, backend="reference")
        self.calls.append(program)
        if "dirt" not in outputs:
            self.run += 1
            if self.wrong(self.run):
                for index in (17, 20) if self.key == "out" else (0,):
                    outputs[self.key][index] += self.value
        return outputs


def test_a_program_that_is_right_gives_the_same_bytes_everywhere(target):
    result = vyre.repeat(own(), {"out": DATA}, 1, times=5, **target)
    assert (result.ok, result.times, result.difference, result.backend) == (True, 5, None, target["backend"])
    assert result.outputs["out"].tolist() == (DATA * 2).tolist()
    assert DATA.tolist() == list(range(64))


def test_a_backend_wrong_in_every_second_run_is_found_with_its_place():
    result = vyre.repeat(own(), {"out": DATA}, 1, backend=Wrong(lambda run: run % 2 == 0))
    assert result.times == 2
    assert result.difference == vyre.RunDifference("out", 17, (34, 35), (1, 2), None, 2, 64)
    assert str(result) == (
        "Wrong: run 2 differs from run 1: `out`[17] is 35 in run 2 and 34 in run 1; 2 of 64 elements differ. "
        "Fix: look for a race or an order-dependence with vyre.check, which takes the same arguments; "
        "if it finds none, report the program, for the backend is wrong."
    )
    (form,) = told(result._repr_html_())
    assert form.title == str(result).partition(" Fix: ")[0]
    assert form.tables == [("", ["", "", "out[17]"], [["run 1", "", "34"], ["run 2", "", "35"]])]


def test_the_last_run_counts_and_so_does_one_that_is_right_after_a_wrong_one():
    assert vyre.repeat(own(), {"out": DATA}, 1, times=10, backend=Wrong(lambda run: run == 10)).difference.runs == (
        1,
        10,
    )
    assert vyre.repeat(own(), {"out": DATA}, 1, times=9, backend=Wrong(lambda run: run == 10)).ok
    assert vyre.repeat(own(), {"out": DATA}, 1, backend=Wrong(lambda run: run == 1)).difference.values == (35, 34)


def test_another_program_runs_between():
    backend = Wrong(lambda _: False)
    program = own()
    assert vyre.repeat(program, {"out": DATA}, 1, times=4, backend=backend).ok
    assert [made == program for made in backend.calls] == [True, False] * 3 + [True]
    between = backend.calls[1]
    result = vyre.check(between, {"dirt": 256}, 4)
    assert result.ok
    assert (result.outputs["dirt"] != 0).all()


def test_memory_that_keeps_what_another_program_left_is_found():
    """A backend that forgets to put zeros into workgroup memory is right until something else ran."""
    program = Program(
        [BufferDecl.workgroup("tile", 64, vyre.u32), BufferDecl.output("out", 0, vyre.u32)],
        (64, 1, 1),
        [Node.store("out", I, Expr.load("tile", Expr.local_x()))],
    )
    left = 0

    def forgetful(made, inputs, workgroups):
        nonlocal left
        outputs = vyre.run(made, inputs, workgroups, backend="reference")
        if made == program:
            outputs["out"][:] = left
        else:
            left = outputs["dirt"][0]
        return outputs

    difference = vyre.repeat(program, {"out": 64}, 1, backend=forgetful).difference
    assert (difference.runs, difference.values[0], difference.values[1] != 0) == ((1, 2), 0, True)


def test_a_race_is_found_by_the_orders_of_the_reference_and_the_fix_finds_it():
    result = vyre.repeat(RACE, {"out": 4}, 1, backend="reference")
    assert str(result.difference) == (
        "run 2 (reversed) differs from run 1 (in-order): `out`[3] is 1 in run 2 and 4 in run 1; 1 of 4 elements differ"
    )
    assert [report.check for report in vyre.check(RACE, {"out": 4}, 1).reports] == ["race"]
    tickets = Program(
        [BufferDecl.read_write("n", 0, vyre.u32), BufferDecl.output("out", 1, vyre.u32)],
        (4, 1, 1),
        [Node.store("out", I, vyre.atomic_add("n", 0, 1))],
    )
    call = (tickets, {"n": 1, "out": 4}, 1)
    assert not vyre.repeat(*call, backend="reference").ok
    assert [report.check for report in vyre.check(*call).reports] == ["order-dependence"]


def test_a_backend_that_spoils_its_inputs_or_its_outputs_is_seen_through():
    kept = np.zeros(64, np.uint32)

    def spoiling(program, inputs, workgroups):
        outputs = vyre.run(program, {k: v.copy() if hasattr(v, "copy") else v for k, v in inputs.items()}, workgroups)
        if "out" in outputs:
            inputs["out"][:] = 7
            calls.append(1)
            kept[:] = outputs["out"] + (len(calls) > 2)
            outputs["out"] = kept
        return outputs

    calls: list[int] = []
    assert vyre.repeat(own(), {"out": DATA}, 1, backend=spoiling).difference.runs == (1, 3)
    assert DATA[1] == 1


@vyre.kernel
def added(x: vyre.In[vyre.u32], k: vyre.u32, n: vyre.const, y: vyre.Out[vyre.u32]):
    y[vyre.gid(0)] = x[vyre.gid(0)] * n + k


@vyre.kernel
def last(x: vyre.In[vyre.u32], total: vyre.InOut[vyre.u32]):
    total[0] = x[vyre.gid(0)]


@vyre.procedure
def both(x: vyre.In[vyre.u32], total: vyre.InOut[vyre.u32], k: vyre.u32):
    y = added(x, k, 2)
    last(y, total, grid=x.length)
    return y


TOTAL = np.array([5, 6], np.uint32)


def test_kernels_and_procedures_take_their_arguments_by_name(target):
    result = vyre.repeat(added, {"x": DATA, "k": 1, "n": 3}, times=3, **target)
    assert (result.ok, result.outputs["y"].tolist()) == (True, (DATA * 3 + 1).tolist())
    one = {"x": DATA[:1], "total": TOTAL, "k": 1}
    for procedure in (both, both.procedure):
        result = vyre.repeat(procedure, one, times=3, **target)
        assert result.ok
        assert {name: array.tolist() for name, array in result.outputs.items()} == {"total": [1, 6], "y": [1]}
    assert TOTAL.tolist() == [5, 6]


def test_a_race_in_a_kernel_or_a_step_is_found_and_the_fix_finds_it():
    for called, inputs, values in (
        (last, {"x": DATA, "total": TOTAL, "grid": 64}, (63, 0)),
        (both, {"x": DATA, "total": TOTAL, "k": 1}, (127, 1)),
    ):
        difference = vyre.repeat(called, inputs, backend="reference").difference
        assert (difference.buffer, difference.values, difference.runs) == ("total", values, (1, 2))
        assert difference.schedules == ("in-order", "reversed")
        assert [report.check for report in vyre.check(called, inputs).reports] == ["race"]


def test_a_backend_that_is_wrong_in_a_step_is_found():
    backend = Wrong(lambda run: run == 4)  # two steps a run
    backend.key = "total"
    difference = vyre.repeat(both, {"x": DATA[:1], "total": TOTAL, "k": 1}, backend=backend).difference
    assert (difference.buffer, difference.runs, difference.values) == ("total", (1, 2), (1, 2))


def test_what_a_tool_and_a_call_both_have_is_given_beside_the_inputs():
    with refused(
        vyre.ArgumentError, "argument `workgroups` of vyre.repeat has no place for a procedure", "leave it out"
    ):
        vyre.repeat(both, {"x": DATA, "total": TOTAL, "k": 1}, 1)
    for tool in (vyre.repeat, vyre.bisect):
        name = f"vyre.{tool.__name__}"
        with refused(
            vyre.BindingError,
            f"argument `inputs` of {name} has 'workgroups', which is an argument of {name} itself",
            "write workgroups= beside the inputs",
        ):
            tool(last, {"x": DATA, "total": TOTAL, "workgroups": 1})


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (
            {"times": 1},
            "argument `times` of vyre.repeat must be an integer from 2 to 1000000, got 1. Fix: ",
        ),
        ({"times": True}, "argument `times` of vyre.repeat must be an integer from 2 to 1000000, got True. Fix: "),
        (
            {"backend": print, "device": 0},
            "argument `device` of vyre.repeat has no place beside a function. Fix: ",
        ),
        ({"backend": "metal"}, "argument `backend` of vyre.repeat must be one of "),
        ({"timeout": -1}, "argument `timeout` of vyre.repeat must be seconds above 0"),
        ({"device": 99}, "argument `device` of vyre.repeat must be an index into vyre.devices()"),
    ],
)
def test_a_wrong_request_is_an_argument_error(more, problem):
    with pytest.raises(vyre.ArgumentError) as error:
        vyre.repeat(own(), {"out": DATA}, 1, **more)
    assert str(error.value).startswith(problem)
    assert "Fix: " in str(error.value)


def test_a_result_has_no_truth_value():
    with pytest.raises(vyre.ArgumentError, match="a RepeatResult has no truth value"):
        bool(vyre.repeat(own(), {"out": DATA}, 1, times=2, backend="reference"))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "race.txt").write_text(RACE.to_text(), encoding="utf-8")
    (tmp_path / "own.bin").write_bytes(own().to_bytes())
    np.savez(tmp_path / "four.npz", out=4)
    np.savez_compressed(tmp_path / "data.npz", out=DATA)
    vyre.check(RACE, {"out": 4}, 1).save(tmp_path / "race.json")
    return tmp_path


def test_the_command_takes_text_bytes_and_replay_files(files, capsys):
    on = ["--backend", "reference", "--times", "3"]
    assert main(["repeat", str(files / "own.bin"), str(files / "data.npz"), "--workgroups", "1,1,1", *on]) == 0
    assert capsys.readouterr().out == "reference: 3 runs in 3 orders of invocations gave the same bytes.\n"
    said = str(vyre.repeat(RACE, {"out": 4}, 1, backend="reference")) + "\n"
    assert main(["repeat", str(files / "race.txt"), str(files / "four.npz"), "--workgroups", "1", *on]) == 1
    assert capsys.readouterr().out == said
    assert main(["repeat", str(files / "race.json"), *on]) == 1
    assert capsys.readouterr().out == said
    # Other inputs and workgroups than those of the replay file.
    np.savez(files / "eight.npz", out=8)
    assert main(["repeat", str(files / "race.json"), str(files / "eight.npz"), "--workgroups", "2", *on]) == 1
    assert "`out`[3] is 1 in run 2 and 8 in run 1; 1 of 8 elements differ" in capsys.readouterr().out


def test_what_cannot_be_carried_out_is_one_sentence(files, capsys):
    def said(*arguments: object, status: int = 2) -> str:
        assert main(["repeat", *map(str, arguments)]) == status
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.count("\n") == 1
        return told.err

    programs = "Fix: name a file with the text or the bytes of a program or procedure, a file of CheckResult.save, or "
    programs += "FILE.py:NAME.\n"
    arrays = "Fix: write the arrays with np.savez(file, name=array, ...).\n"
    race, four = files / "race.txt", files / "four.npz"
    assert said(files / "none") == f"error: `{files / 'none'}` cannot be read: No such file or directory. {programs}"
    assert said(files) == f"error: `{files}` cannot be read: Is a directory. {programs}"
    assert said(four) == f"error: `{four}` holds no program: it is not UTF-8. {programs}"
    assert said(race, four) == f"error: `{race}` does not say how many workgroups run. Fix: add --workgroups.\n"
    at = ["--workgroups", "1"]
    assert said(race, files, *at) == f"error: `{files}` cannot be read: Is a directory. {arrays}"
    assert said(race, race, *at) == f"error: `{race}` holds no inputs: File is not a zip file. {arrays}"
    assert said(race, *at) == (
        'error: buffer `out` has no array. Fix: write it with np.savez("inputs.npz", out=array, ...), '
        "and add inputs.npz to the command.\n"
    )
    np.savez(files / "other.npz", oot=4)
    other = files / "other.npz"
    assert said(race, other, *at) == "error: the program has no buffer `oot`. Fix: use one of `out`.\n"
    np.savez(other)
    assert said(race, other, *at) == (
        f"error: buffer `out` has no array. Fix: add it to {other}: np.savez(file, out=array, ...).\n"
    )
    run = [race, four, *at]
    assert (
        said(*run, "--times", "1")
        == "error: --times must be a number from 2 to 1000000, got 1. Fix: pass a number from 2 to 1000000.\n"
    )
    for timeout in ("-1", "nan", "inf"):
        assert said(*run, f"--timeout={timeout}") == (
            f"error: --timeout must be seconds above 0, got {timeout}. Fix: pass seconds above 0.\n"
        )
    listed = ", ".join([*vyre.backends(), *vyre.backends().unavailable()])
    assert said(*run, "--backend", "vulkn", status=3) == (
        f"error: --backend must be one of {listed}, got 'vulkn'. Fix: write one of these (did you mean `vulkan`?).\n"
    )
    number = len(vyre.devices())
    if number:
        there = f"0 to {number - 1}" if number > 1 else "0 alone"
        assert said(*run, "--device", number, status=3) == (
            f"error: there is no device {number}: `vyre devices` lists {there}. "
            "Fix: write --device 0, or leave it out.\n"
        )
    assert said(*run, "--backend", "cpu", "--device", 0, status=3) == (
        "error: there is no device 0: backend cpu has none. Fix: leave --device out.\n"
    )
    (files / "bad.txt").write_text("vyre 1\nworkgroup_size 1 1", encoding="utf-8")
    assert said(files / "bad.txt", *at).startswith(f"error: `{files / 'bad.txt'}` holds no program: line 2, column ")
    np.savez(files / "objects.npz", out=np.array([{}], dtype=object))
    assert said(race, files / "objects.npz", *at).startswith(f"error: `{files / 'objects.npz'}` holds no inputs: ")


def huge() -> bytes:
    """An array of 2^60 elements, says its head."""
    head = b"{'descr': '<u4', 'fortran_order': False, 'shape': (1152921504606846976,), }"
    head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head


def zipped(**members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as packed:
        for name, data in members.items():
            packed.writestr(f"{name}.npy", data)
    return stream.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK",
        b"PK\x05\x06" + bytes(18),
        zipped(out=b""),
        zipped(out=b"\x93NUMPY\x01\x00"),
        zipped(out=huge()),
        zipped(out=b"text"),
    ],
    ids=["empty", "start", "no members", "empty member", "cut", "huge", "no array"],
)
def test_a_damaged_or_hostile_archive_is_one_sentence(files, capsys, data):
    (files / "bad.npz").write_bytes(data)
    assert main(["repeat", str(files / "race.txt"), str(files / "bad.npz"), "--workgroups", "1"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "Fix: " in said


@pytest.mark.parametrize("end", [10, 60, 120, 200, -1, -30])
def test_an_archive_that_is_cut_short_is_one_sentence(files, capsys, end):
    data = (files / "data.npz").read_bytes()
    (files / "data.npz").write_bytes(data[:end])
    assert main(["repeat", str(files / "own.bin"), str(files / "data.npz"), "--workgroups", "1"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
