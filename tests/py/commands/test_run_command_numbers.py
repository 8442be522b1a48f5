"""``vyre run`` of the program of a kernel: its numbers have no names there, and each Fix leads to a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import vyre
from vyre.__main__ import main

if TYPE_CHECKING:
    from pathlib import Path

X = np.arange(1, 6, dtype=np.uint32)


@vyre.kernel
def scaled(x: vyre.In[vyre.u32], k: vyre.u32, y: vyre.Out[vyre.u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] * k


@vyre.kernel
def moved(x: vyre.In[vyre.u32], k: vyre.u32, m: vyre.u32, y: vyre.Out[vyre.u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] * k + m


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for kernel in (scaled, moved):
        (tmp_path / kernel.__name__).write_text(kernel.program.to_text(), encoding="utf-8")
    np.save("x.npy", X)


def run(name: str, *inputs: str) -> int:
    options = [word for each in ("x=x.npy", "y=5", *inputs) for word in ("--input", each)]
    return main(["run", name, *options, "--output", "y=y.npy", "--workgroups", "1", "--backend", "cpu"])


def refused(capsys, name: str, *inputs: str) -> str:
    assert run(name, *inputs) == 2
    told = capsys.readouterr()
    assert told.out == ""
    return told.err


def test_one_number_is_given_by_its_value(capsys):
    assert refused(capsys, "scaled") == (
        "error: buffer `__params` has no array. "
        "Fix: add --input __params=N for the value N, or --input __params=FILE.npy.\n"
    )
    assert run("scaled", "__params=3") == 0
    assert np.load("y.npy").tolist() == (3 * X).tolist()
    np.save("k.npy", np.array([7], np.uint32))
    assert run("scaled", "__params=k.npy") == 0
    assert np.load("y.npy").tolist() == (7 * X).tolist()


def test_several_numbers_are_given_as_an_array(capsys):
    what = (
        "--input __params=FILE.npy, an array of 2 uint32: the sizes and numbers of the kernel, in the order that "
        "`vyre docs kernels` gives.\n"
    )
    assert refused(capsys, "moved") == f"error: buffer `__params` has no array. Fix: add {what}"
    assert refused(capsys, "moved", "__params=2") == (
        f"error: buffer `__params` takes an array, got the number 2. Fix: write {what}"
    )
    np.save("params.npy", np.array([3, 10], np.uint32))
    assert run("moved", "__params=params.npy") == 0
    assert np.load("y.npy").tolist() == (3 * X + 10).tolist()


def test_the_name_of_a_number_is_told_where_the_numbers_are(capsys):
    assert refused(capsys, "scaled", "k=3") == (
        "error: the program has no buffer `k`. Fix: use one of `x`, `y`, `__params` (the numbers of a kernel are words "
        "of `__params`).\n"
    )


def test_a_buffer_that_is_read_takes_a_number_of_zeros(capsys):
    assert main(["run", "scaled", "--input", "y=5", "--workgroups", "1"]) == 2
    assert capsys.readouterr().err == (
        "error: buffer `x` has no array. Fix: add --input x=FILE.npy, or --input x=N for N zero elements.\n"
    )
    assert run("scaled", "x=5", "__params=3") == 0
    assert np.load("y.npy").tolist() == [0] * 5
    assert refused(capsys, "scaled", f"x={10**15}", "__params=3") == (
        "error: the host has no memory for 1,000,000,000,000,000 elements of buffer `x`. Fix: write a smaller number.\n"
    )


UNIFORMS = {(vyre.i32, 1, "-3"): -3, (vyre.u64, 0, "5"): 5}


@pytest.mark.parametrize(("element", "count", "given"), UNIFORMS)
def test_a_uniform_buffer_of_one_element_takes_its_value(element, count, given, tmp_path):
    p = vyre.Builder(workgroup_size=1)
    n, out = p.uniform("n", element, count=count), p.output("out", element)
    out[0] = n[0]
    (tmp_path / "copied").write_text(p.program().to_text(), encoding="utf-8")
    options = ["--input", f"n={given}", "--input", "out=1", "--output", "out=out.npy", "--workgroups", "1"]
    assert main(["run", "copied", *options, "--backend", "cpu"]) == 0
    assert np.load("out.npy").tolist() == [UNIFORMS[element, count, given]]


ARRAYS = {
    (vyre.DataType.Bool, 1): ("an array of 1 bool", np.array([True])),
    (vyre.DataType.Bool, 0): ("an array of bool", np.array([True, False])),
    (vyre.DataType.Vec2U32, 1): ("an array of uint32 with 2 columns", np.array([[1, 2]], np.uint32)),
    (vyre.DataType.U16, 3): ("an array of 3 uint16", np.array([1, 2, 3], np.uint16)),
}


@pytest.mark.parametrize(("element", "count"), ARRAYS)
def test_other_uniform_buffers_say_which_array_they_take(element, count, tmp_path, capsys):
    what, array = ARRAYS[element, count]
    program = vyre.Program(
        [vyre.BufferDecl.uniform("n", 0, element, count=count), vyre.BufferDecl.output("out", 1, vyre.DataType.U32)],
        (1, 1, 1),
        [vyre.Node.store("out", 0, vyre.Expr.buf_len("n"))],
    )
    (tmp_path / "length").write_text(program.to_text(), encoding="utf-8")
    command = ["run", "length", "--input", "out=1", "--workgroups", "1", "--backend", "cpu"]
    assert main([*command, "--input", "n=1"]) == 2
    assert capsys.readouterr().err == (
        f"error: buffer `n` takes an array, got the number 1. Fix: write --input n=FILE.npy, {what}.\n"
    )
    np.save("n.npy", array)
    assert main([*command, "--input", "n=n.npy", "--output", "out=out.npy"]) == 0
    assert np.load("out.npy").tolist() == [len(array)]
