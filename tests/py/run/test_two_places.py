"""Any two backends or devices are compared with each other: bisected, and certificates of one verified on the other."""

from __future__ import annotations

import itertools
import json
import re

import numpy as np
import pytest

import vyre
from vyre import In, Out, conformance, u32
from vyre.__main__ import main
from vyre._tools.ways import Run
from vyre.conformance import Certificate, verify
from vyre.conformance.format import compare

DEVICES = [device for device in vyre.devices() if device.usable]
PLACES = [{"backend": "cpu"}, *({"backend": each.backend, "device": each.index} for each in DEVICES)]
PAIRS = list(itertools.permutations(PLACES, 2))
PROGRAM = vyre.parse(
    """vyre 1
workgroup_size 4 1 1
buffer x: read u32 binding 0
buffer out: read_write u32 binding 1 output

let a = x[gid.x] * 3
if a > 6 {
  out[gid.x] = popcount(a) + 1
} else {
  out[gid.x] = a
}
"""
)
INPUTS = {"x": np.arange(8, dtype=np.uint32), "out": 8}


def name_of(place):
    return "-".join(map(str, place.values()))


def title(place):
    """A place in the messages of vyre.bisect, given as a dict."""
    return ", ".join(f"{key}={value}" for key, value in place.items())


both = pytest.mark.parametrize(("one", "other"), PAIRS, ids=[f"{name_of(a)} {name_of(b)}" for a, b in PAIRS])


@pytest.fixture
def wrong_at(monkeypatch):
    """Makes the driver of a place take popcount for clz."""

    def plant(place):
        run = Run.__call__

        def wrong(self, program, inputs, workgroups, **how):
            if {"backend": self.backend, "device": self.device} == {"device": None, **place}:
                program = vyre.parse(program.to_text().replace("popcount", "clz"))
            return run(self, program, inputs, workgroups, **how)

        monkeypatch.setattr(Run, "__call__", wrong)

    return plant


@both
def test_two_places_that_are_right_do_not_differ(one, other):
    assert vyre.bisect(PROGRAM, INPUTS, 2, backend=one, against=other) is None


@both
def test_the_first_value_that_differs_between_two_places_is_found(one, other, wrong_at):
    wrong_at(other)
    found = vyre.bisect(PROGRAM, INPUTS, 2, backend=one, against=other)
    where = "invocation (3, 0, 0) of workgroup (0, 0, 0), after 0 barriers:"
    assert str(found).splitlines()[0] == f"{title(one)} and {title(other)} first differ in {where}"
    assert re.search(r"^  expression +popcount\(a\)$", str(found), re.MULTILINE)
    # x is 3, so a is 9: two bits, and 28 zeros before them.
    assert found.values == {title(one): 2, title(other): 28}
    assert found.output.values == {title(one): 3, title(other): 29}


@pytest.mark.skipif(len(DEVICES) < 2, reason="needs two devices")
def test_devices_name_themselves(wrong_at):
    one, other = DEVICES[:2]

    def wrong(program, inputs, workgroups):
        return vyre.run(
            vyre.parse(program.to_text().replace("popcount", "clz")), inputs, workgroups, device=vyre.devices()[0]
        )

    assert vyre.bisect(PROGRAM, INPUTS, 2, backend=one, against=other) is None
    found = vyre.bisect(PROGRAM, INPUTS, 2, backend=wrong, against=other)
    assert list(found.values) == ["wrong", f"{other.backend} ({other.name})"]


@vyre.kernel
def tripled(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] * 3


@vyre.kernel
def counted(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = vyre.popcount(x[i])


@vyre.procedure
def both_steps(x: In[u32]):
    a = vyre.scratch(u32, x.length, name="a")
    b = vyre.scratch(u32, x.length, name="b")
    tripled(x, a)
    counted(a, b)
    return b


@both
def test_procedures_are_bisected_between_two_places(one, other):
    inputs = {"x": np.arange(100, dtype=np.uint32)}

    def wrong(program, inputs, workgroups):
        return vyre.run(vyre.parse(program.to_text().replace("popcount", "clz")), inputs, workgroups, **one)

    assert vyre.bisect(both_steps, inputs, backend=one, against=other) is None
    found = vyre.bisect(both_steps, inputs, backend=wrong, against=other)
    assert "counted" in str(found.step)
    assert list(found.array.values) == ["wrong", title(other)]


# Certificates.


@pytest.fixture(scope="module")
def made():
    """A certificate of each place, of the level with the fewest cases."""
    return {name_of(place): conformance.certify(**place, levels=["L4"]) for place in PLACES}


@both
def test_a_certificate_of_one_place_verifies_on_the_other(one, other, made, tmp_path, capsys):
    given = made[name_of(one)]
    found = verify(given, **other)
    assert found.agrees
    assert found.again.content["target"]["backend"] == other["backend"]
    path = tmp_path / "cert.json"
    given.save(path)
    words = [text for key, value in other.items() for text in (f"--{key}", str(value))]
    assert main(["conform", *words, "--verify", str(path)]) == 0
    out = capsys.readouterr().out
    assert f"verified  every hash of {path} is what this run gave\n" in out
    names = [place.content["target"]["device"] for place in (given, found.again)]
    if names[0] != names[1]:
        assert f"note      made on {names[0]}, verified on {names[1]}\n" in out
    elif one["backend"] != other["backend"]:
        by = f"made on {names[0]} by backend {one['backend']}, verified on it by backend {other['backend']}"
        assert f"note      {by}" in out
    else:  # two GPUs of one model
        assert "note " not in out


def test_two_routes_to_one_gpu_are_told_apart_by_their_backends(made):
    """The certificates of a GPU by Vulkan and by CUDA have the device's name alike."""

    def of(**said):
        given = made["cpu"]
        target = {**given.content["target"], "device": "NVIDIA H200", "kind": "discrete gpu", **said}
        sealed = Certificate._sealed({**given.content, "target": target})
        return Certificate.from_json(sealed.to_json())

    by_vulkan, by_cuda = of(backend="vulkan", driver="NVIDIA 580.159.04"), of(backend="cuda", driver="CUDA 13.0")
    found = compare(by_vulkan, by_cuda)
    assert found.agrees
    assert found.notes == (
        "made on NVIDIA H200 by backend vulkan, verified on it by backend cuda, whose driver differs",
    )
    assert compare(by_vulkan, by_vulkan).notes == ()
    other_driver = of(backend="vulkan", driver="NVIDIA 590.1")
    assert compare(by_vulkan, other_driver).notes == ("made on NVIDIA H200, whose driver differ here",)


def test_what_differs_is_named_with_its_place(made):
    """A backend that is wrong verifies nothing of another one's certificate."""

    def wrong(program, inputs, grid, optimize):
        broken = vyre.parse(program.to_text().replace("popcount", "clz"))
        return vyre.run(broken, inputs, grid, backend="cpu", optimize=optimize)

    given = conformance.certify("cpu", levels=["L1"], repeat=1)
    found = verify(given, wrong, repeat=1)
    assert found.differences
    assert all(re.match(r"case `L1/.*`: certified as passed, failed here \(", each) for each in found.differences)
    assert any("popcount" in each for each in found.differences)


def test_a_certificate_of_a_procedure_verifies_on_every_place(tmp_path):
    inputs = [{"x": 100}]
    for one, other in PAIRS:
        given = conformance.certify_procedure(both_steps, inputs, **one)
        assert given.passed
        assert conformance.verify_procedure(given, both_steps, **other).agrees


# The command.


@pytest.fixture
def files(tmp_path):
    """A program and its inputs."""
    program, inputs = tmp_path / "program.txt", tmp_path / "inputs.npz"
    program.write_text(PROGRAM.to_text(), encoding="utf-8")
    np.savez(inputs, x=INPUTS["x"], out=8)
    return [str(program), str(inputs), "--workgroups", "2"]


def option(place):
    return ":".join(map(str, place.values()))


@both
def test_the_command_bisects_between_two_places(one, other, files, wrong_at, capsys):
    asked = ["bisect", *files, "--backend", option(one), "--against", option(other)]
    assert main(asked) == 0
    assert capsys.readouterr().out == f"{option(one)} and {option(other)} give the same bytes.\n"
    wrong_at(other)
    assert main(asked) == 1
    said = capsys.readouterr().out
    assert re.search(r"^  expression +popcount\(a\)$", said, re.MULTILINE)
    assert main([*asked, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["command"], found["ok"], found["difference"]) == ("bisect", False, said.rstrip("\n"))


def test_the_command_compares_with_the_reference_and_says_what_is_wrong_with_a_request(files, capsys):
    assert main(["bisect", *files, "--backend", "cpu"]) == 0
    assert capsys.readouterr().out == "cpu and reference give the same bytes.\n"
    for more, status, said in (
        (["--against", "vulkn"], 3, "error: --against must be one of "),
        (["--against", "vulkan:77"], 3, "error: there is no device 77: backend vulkan has "),
        (["--backend", "cpu:1"], 3, "error: there is no device 1: backend cpu has none. Fix: write --backend cpu.\n"),
        (["--against", "cpu:1"], 3, "error: there is no device 1: backend cpu has none. Fix: write --against cpu.\n"),
        (["--timeout", "-1"], 2, "error: --timeout must be seconds above 0, got -1. "),
    ):
        assert main(["bisect", *files, *more]) == status
        assert capsys.readouterr().err.startswith(said)
    assert main(["bisect", files[0], *files[2:]]) == 2
    assert capsys.readouterr().err == (
        'error: buffer `x` has no array. Fix: write it with np.savez("inputs.npz", x=array, ...), and add inputs.npz '
        "to the command.\n"
    )
