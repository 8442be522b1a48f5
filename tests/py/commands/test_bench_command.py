"""``vyre bench``: rows of times, and the same bytes in all of them. No test looks at how long something took."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys

import numpy as np
import pytest

import vyre
from vyre import BufferDecl, Expr, Node, Program
from vyre.__main__ import main
from vyre._tools.objects import one_of
from vyre.commands import _bench, bench

KERNELS = """
import vyre
from vyre import In, InOut, Out, const, u32


@vyre.kernel
def scaled(a: In[u32], k: u32, n: const, out: Out[u32]):
    i = vyre.gid(0)
    if i < len(out):
        out[i] = a[i] * k + n
"""
MORE = """

@vyre.kernel
def added(a: InOut[u32]):
    i = vyre.gid(0)
    if i < len(a):
        a[i] += 1


@vyre.procedure
def twice(a: In[u32, 2], b: In[u32]):
    return scaled(scaled(b, 2, 1), 3, 1)
"""


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "one_kernel.py").write_text(KERNELS, encoding="utf-8")
    (tmp_path / "some_kernels.py").write_text(KERNELS + MORE, encoding="utf-8")


def rows(capsys, *arguments: str, status: int = 0) -> list[dict]:
    assert main(["bench", *arguments, "--seconds", "0", "--json"]) == status
    told = capsys.readouterr()
    assert told.err == ""
    found = json.loads(told.out)
    assert (found["command"], found["target"], found["ok"]) == ("bench", arguments[0], status == 0)
    for row in found["rows"]:
        assert row["calls"] >= 5
        assert row["least"] <= row["median"]
    return found["rows"]


SCALED = ("--input", "k=3", "--input", "n=0x10")
BESIDE = """
from dataclasses import dataclass
from helper_beside import FACTOR


@dataclass
class Settings:
    factor: "int" = FACTOR
"""


@pytest.mark.parametrize("stem", ["json", "colorsys", "vyre"])  # loaded by vyre, loaded by nothing here, vyre itself
def test_a_file_with_the_name_of_a_module_hides_it_from_nothing(tmp_path, stem):
    (tmp_path / "helper_beside.py").write_text("FACTOR = 5\n", encoding="utf-8")
    file = tmp_path / f"{stem}.py"
    file.write_text(KERNELS + BESIDE, encoding="utf-8")
    # A process of its own, of which neither the folder nor its modules are known before.
    code = f"""
import sys
from pathlib import Path
from vyre.__main__ import main
assert main(["bench", {str(file)!r}, "--input", "k=3", "--input", "n=1", "--size", "9", "--seconds", "0"]) == 0
import {stem}
assert Path({stem}.__file__) != Path({str(file)!r}), {stem}.__file__
assert sys.modules["_vyre_file_{stem}"].Settings().factor == 5
"""
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr


def test_a_kernel_on_every_device_beside_numpy(capsys, kernels):
    """The only one of a file, or by its name."""
    found = rows(capsys, "one_kernel.py", *SCALED, "--size", "10", "--size", "100", "--numpy", "a * np.uint32(k) + n")
    devices = [device for device in vyre.devices() if device.usable]
    places = ["cpu", *(device.name for device in devices)]
    for size in (10, 100):
        of_size = [row for row in found if row["size"] == [size]]
        assert [(row["where"], row["arrays"]) for row in of_size] == [
            ("numpy", "numpy"),
            *((place, arrays) for place in places for arrays in ("numpy", "resident")),
        ]
        a = _bench.random_array(vyre.u32, (size,), 0)
        right = hashlib.sha256((a * np.uint32(3) + np.uint32(16)).tobytes()).hexdigest()
        assert {row["sha256"] for row in of_size} == {right}
        assert {row["bytes"] for row in of_size} == {8 * size}


def test_other_bytes_are_a_fault(capsys, kernels):
    arguments = ("one_kernel.py:scaled", *SCALED, "--size", "10", "--backend", "cpu", "--numpy", "a")
    found = rows(capsys, *arguments, status=1)
    assert len({row["sha256"] for row in found}) == 2
    assert main(["bench", *arguments, "--seconds", "0"]) == 1
    assert "Rows of one size have different bytes. Fix: find where with vyre.bisect" in capsys.readouterr().out


def test_an_array_that_is_changed_begins_anew(capsys, kernels):
    found = rows(capsys, "some_kernels:added", "--size", "7", "--backend", "cpu", "--numpy", "a + np.uint32(1)")
    assert len({row["sha256"] for row in found}) == 1


def test_a_procedure_with_arrays_of_several_axes(capsys, kernels):
    found = rows(capsys, "some_kernels.py:twice", "--size", "4x6", "--backend", "reference", "--numpy", "b * 6 + 4")
    assert {(tuple(row["size"]), row["bytes"]) for row in found} == {((4, 6), 4 * 24 * 3)}
    assert len({row["sha256"] for row in found}) == 1


def test_a_procedure_of_a_file_of_its_own(capsys, kernels, tmp_path):
    procedure = one_of("some_kernels.py:twice", {"procedure": (object,)}).procedure
    (tmp_path / "text").write_text(procedure.to_text(), encoding="utf-8")
    (tmp_path / "bytes").write_bytes(procedure.to_bytes())
    for name in ("text", "bytes"):
        found = rows(capsys, name, "--size", "4x6", "--backend", "cpu", "--numpy", "b * 6 + 4")
        assert len({row["sha256"] for row in found}) == 1


@pytest.fixture
def xor(tmp_path):
    i = Expr.gid_x()
    buffers = [BufferDecl.read(name, binding, vyre.u32) for binding, name in enumerate("ab")]
    buffers.append(BufferDecl.output("o", 2, vyre.u32))
    program = Program(buffers, (64, 1, 1), [Node.store("o", i, Expr.load("a", i) ^ Expr.load("b", i))])
    path = tmp_path / "xor.vyre"
    path.write_text(program.to_text(), encoding="utf-8")
    return path


def test_a_program_on_arrays_that_are_given(capsys, xor, tmp_path):
    a = np.arange(128, dtype=np.uint32)
    np.save(tmp_path / "a.npy", a)
    given = ("--input", f"a={tmp_path / 'a.npy'}", "--input", "b=128", "--backend", "cpu", "--size", "128")
    found = rows(capsys, str(xor), *given, "--numpy", "a ^ b")
    assert len({row["sha256"] for row in found}) == 1
    assert {row["bytes"] for row in found} == {128 * 4 * 4}  # `o` goes in and comes out


def test_a_replay_file_has_its_arrays_and_its_grid(capsys, xor, tmp_path):
    program = vyre.parse(xor.read_text(encoding="utf-8"))
    a = np.arange(64, dtype=np.uint32)
    vyre.check(program, {"a": a, "b": a + 1, "o": 64}, 1).save(tmp_path / "it.json")
    found = rows(capsys, str(tmp_path / "it.json"), "--backend", "cpu", "--numpy", "a ^ b")
    assert [row["size"] for row in found] == [[64]] * 3
    assert {row["sha256"] for row in found} == {hashlib.sha256((a ^ (a + 1)).tobytes()).hexdigest()}


def test_the_numbers_of_a_kernel_are_given_and_never_random(capsys, tmp_path):
    @vyre.kernel
    def plus(a: vyre.In[vyre.u32], k: vyre.u32, out: vyre.Out[vyre.u32]):
        i = vyre.gid(0)
        if i < len(out):
            out[i] = a[i] + k

    path = tmp_path / "plus.vyre"
    path.write_text(plus.text, encoding="utf-8")
    options = ("--backend", "cpu", "--size", "64", "--workgroups", "1")
    assert main(["bench", str(path), *options]) == 2
    assert capsys.readouterr().err.startswith("error: buffer `__params` has no array. Fix: add --input __params=N")
    found = rows(capsys, str(path), *options, "--input", "__params=3", "--numpy", "a + 3")
    assert len({row["sha256"] for row in found}) == 1


def test_the_table(capsys, kernels):
    arguments = ("one_kernel.py", *SCALED, "--size", "1000", "--backend", "cpu", "--seconds", "0")
    assert main(["bench", *arguments, "--numpy", "a * np.uint32(k) + n"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["size", "place", "arrays", "first", "call", "least", "bytes/s", "numpy/call", "SHA-256"]
    assert [line.split()[:3] for line in lines] == [
        ["1,000", "numpy", "numpy"],
        ["1,000", "cpu", "numpy"],
        ["1,000", "cpu", "resident"],
    ]
    for line in lines:
        assert re.search(r"( +[\d.e+-]+ (s|ms|us)){3} +[\d.e+-]+ [TGM]B/s +[\d.]+ +[0-9a-f]{8}$", line), line


@pytest.mark.parametrize(("seconds", "shown"), [(12.0, "12 s"), (0.0123, "12.3 ms"), (1.5e-6, "1.5 us"), (0, "0 us")])
def test_times_have_a_unit(seconds, shown):
    assert bench._time(seconds) == shown


@pytest.mark.parametrize(("rate", "shown"), [(2e12, "2 TB/s"), (1.25e9, "1.25 GB/s"), (3e5, "0.3 MB/s")])
def test_rates_have_a_unit(rate, shown):
    assert bench._rate(rate) == shown


@pytest.mark.parametrize(
    ("text", "problem", "fix"),
    [
        (
            "some_kernels.py",
            "`some_kernels.py` has 3 kernels, procedures and programs",
            "write some_kernels.py:NAME, with one of scaled, added, twice",
        ),
        (
            "some_kernels.py:none",
            "`some_kernels.py` has no kernel, procedure or program `none`",
            "write some_kernels.py:NAME, with one of scaled, added, twice",
        ),
        ("one_kernel.py:scaled", "number `k` has no value", "add --input k=N"),
        ("one_kernel.py --input k=x --input n=1", "number `k` is no integer, got `x`", "write --input k=5"),
        ("one_kernel.py --input k=1 --input n=1 --input z=1", "there is no input `z`", "name one of a, k, n, out"),
        (
            "one_kernel.py --input k=1 --input n=1 --numpy b",
            "--numpy b cannot be evaluated: NameError: name 'b' is not defined",
            "write an expression of np and a, k, n",
        ),
        (
            "one_kernel.py --numpy =",
            "--numpy = is no expression: invalid syntax (--numpy, line 1)",
            "write one, such as --numpy 'a ^ b'",
        ),
        ("nowhere.py", "`nowhere.py` is no file", "name a file of Python that is here"),
        ("some_kernels.py:twice --workgroups 3", "--workgroups has no place for a procedure", "leave it out"),
    ],
)
def test_what_cannot_be_measured_is_one_sentence(text, problem, fix, kernels, refuses):
    refuses(["bench", *text.split(), "--backend", "cpu", "--size", "4", "--seconds", "0"], problem, fix)


@pytest.mark.parametrize("option", [("--size", "0"), ("--size", "4y4"), ("--seconds", "-1"), ("--seconds", "nan")])
def test_options_that_are_no_numbers(option, capsys):
    with pytest.raises(SystemExit):
        main(["bench", "x", *option])
    assert f"argument {option[0]}: `{option[1]}` is not" in capsys.readouterr().err


def test_devices_of_one_name_are_measured_each(kernels, monkeypatch):
    """A machine with eight GPUs of one kind has eight rows for them."""
    rows = [vyre.Device(k, "vulkan", "H", "", "discrete gpu", True, k == 0) for k in range(2)]
    monkeypatch.setattr(vyre, "devices", lambda backend=None: rows)
    monkeypatch.setattr(vyre, "backends", lambda: ["vulkan"])
    seen = []
    monkeypatch.setattr(_bench, "measure", lambda subject, places, seconds: seen.extend(places) or [])
    main(["bench", "one_kernel.py", "--input", "k=1", "--input", "n=1", "--size", "1"])
    assert seen == [_bench.Place("vulkan", 0, "H (vulkan 0)"), _bench.Place("vulkan", 1, "H (vulkan 1)")]


@pytest.mark.parametrize("count", [10**11, 10**18])
def test_more_elements_than_there_can_be_are_refused(refuses, kernels, count):
    arguments = ["bench", "one_kernel.py", "--input", f"a={count}", "--input", "k=1", "--input", "n=1"]
    refuses(arguments, f"the host has no memory for {count:,} random elements of `a`", "name fewer elements")
