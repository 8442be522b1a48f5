"""Certificates of procedures: made on one backend, verified on another, and refused once they were edited."""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import vyre
from certificate_forger import sealed
from conftest import message
from vyre import In, InOut, Out, boolean, conformance, i32, u8, u32, u64, vec4u32
from vyre.__main__ import main
from vyre.conformance import CertificateError, Elements, ProcedureCertificate
from vyre.errors import ArgumentError, BindingError


@vyre.kernel
def mixed(x: In[u32], b: In[u8], f: In[boolean], v: In[vec4u32], k: u32, m: u64, y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] * k + b[i] + (1 if f[i] else 0) + v[i].z + vyre.u32(m)


@vyre.kernel
def added(t: InOut[i32, 2], y: In[u32], k: i32):
    i, j = vyre.gid(0), vyre.gid(1)
    t[j, i] += vyre.i32(y[i]) + k


@vyre.procedure
def folded(x: In[u32], b: In[u8], f: In[boolean], v: In[vec4u32], t: InOut[i32, 2], n: u32, m: u64, k: i32):
    y = vyre.scratch(u32, x.length, name="y")
    mixed(x, b, f, v, n, m, y)
    for _ in vyre.times(n):
        added(t, y, k)
    return y


CALLS = [
    {"x": 100, "b": 100, "f": 100, "v": 100, "t": (3, 7), "n": 2, "m": 2**40 + 5, "k": -3},
    {"x": Elements(10, below=4, ascending=True), "b": 3, "f": 0, "v": 10, "t": (0, 2), "n": 0, "m": 0, "k": 0},
]
GOLDEN = Path(__file__).parent.parent / "golden"
DEVICES = [device for device in vyre.devices() if device.usable]


def certified(**how):
    return conformance.certify_procedure(folded, CALLS, **{"backend": "reference", **how})


def test_what_is_certified_on_one_backend_is_verified_on_another():
    certificate = certified()
    assert certificate.passed
    verification = conformance.verify_procedure(certificate, folded, backend="cpu")
    assert verification.agrees
    assert verification.again.content["calls"] == certificate.content["calls"]
    assert any(note.startswith("made on reference interpreter, verified on ") for note in verification.notes)


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_it_is_verified_on_the_drivers_here(device):
    assert conformance.verify_procedure(certified(), folded, backend="vulkan", device=device.index).agrees


def test_the_hashes_are_those_of_what_numpy_computes():
    x = hashlib.shake_256(b"vyre 7 x").digest(400)
    y = np.frombuffer(x, "<u4").astype(np.uint32)

    @vyre.kernel
    def tripled(x: In[u32], y: Out[u32]):
        i = vyre.gid(0)
        if i < len(y):
            y[i] = x[i] * 3

    @vyre.procedure
    def three(x: In[u32]):
        y = vyre.scratch(u32, x.length, name="y")
        tripled(x, y)
        return y

    certificate = conformance.certify_procedure(three, {"x": 100}, seed=7, backend="cpu")
    wanted = hashlib.sha256((y * np.uint32(3)).tobytes()).hexdigest()
    assert certificate.content["calls"] == [
        {"arrays": {"x": {"shape": [100]}}, "numbers": {}, "outputs": {"y": {"shape": [100], "sha256": wanted}}}
    ]
    assert certificate.content["procedure"] == {
        "name": "three",
        "sha256": hashlib.sha256(three.procedure.to_bytes()).hexdigest(),
    }


def test_elements_keep_what_they_say():
    sorted_ = Elements(1000, below=50, ascending=True).make(vyre.u32, 1, "x")
    assert sorted_.max() < 50
    assert np.array_equal(sorted_, np.sort(sorted_))
    assert Elements((2, 3)).make(vyre.vec4u32, 1, "x").shape == (2, 3, 4)
    assert Elements(64).make(vyre.boolean, 1, "x").dtype == np.bool_
    one, other = (Elements(9).make(vyre.u64, seed, "x") for seed in (1, 2))
    assert not np.array_equal(one, other)


def test_a_file_is_written_and_read(tmp_path):
    certificate = certified()
    certificate.save(tmp_path / "cert.json")
    assert ProcedureCertificate.load(tmp_path / "cert.json") == certificate
    assert conformance.verify_procedure(tmp_path / "cert.json", folded, backend="cpu").agrees
    assert message(lambda: conformance.Certificate.load(tmp_path / "cert.json"), CertificateError) == (
        "this certificate is of kind `procedure`. Fix: write `vyre conform --procedure NAME --verify FILE` or "
        "`conformance.verify_procedure(file, procedure)`."
    )
    assert message(lambda: ProcedureCertificate.load(GOLDEN / "certificate-1.json"), CertificateError) == (
        "this certificate is of kind `cases`. Fix: write `vyre conform --verify FILE` or `conformance.verify(file)`."
    )


def test_an_edited_certificate_is_refused():
    content = certified().content
    edited = json.loads(json.dumps(content))
    edited["calls"][0]["outputs"]["y"]["sha256"] = "0" * 64
    with pytest.raises(CertificateError, match=r"^this certificate was edited or damaged: its content has the hash"):
        ProcedureCertificate.from_json(json.dumps(edited))
    # One that was sealed anew differs when it is verified.
    forged = ProcedureCertificate.from_json(sealed(edited))
    [difference] = conformance.verify_procedure(forged, folded, backend="cpu").differences
    assert difference.startswith("call 1, output `y`: shape (100,) and 0000000000000000 certified, shape (100,) and ")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda c: c.pop("calls"), "`calls` is missing"),
        (lambda c: c.update(calls=[]), "no call was run"),
        (lambda c: c.update(seed=-1), "`seed` is not an integer from 0 to 18446744073709551615"),
        (lambda c: c.update(procedure={"name": 1, "sha256": "x"}), "`procedure.name` is not a text"),
        (
            lambda c: c["calls"][0]["arrays"]["x"].update(shape=[-1]),
            "`calls[0].arrays.x.shape[0]` is not an integer from 0 to 4294967295",
        ),
        (
            lambda c: c["calls"][0]["arrays"]["x"].update(below=0),
            "`calls[0].arrays.x.below` is not an integer from 1 to 18446744073709551615",
        ),
        (
            lambda c: c["calls"][0]["arrays"]["x"].update(ascending=1),
            "`calls[0].arrays.x.ascending` is not true",
        ),
        (
            lambda c: c["calls"][0]["numbers"].update(n="x"),
            "`calls[0].numbers.n` is not a text of the form -?[0-9]{1,20}",
        ),
        (
            lambda c: c["calls"][0]["outputs"]["y"].update(sha256="x"),
            "`calls[0].outputs.y.sha256` is not a text of the form [0-9a-f]{64}",
        ),
        (lambda c: c["calls"][0].update(more=1), "`calls[0].more` is unknown"),
    ],
)
def test_what_is_no_certificate_is_refused(change, problem):
    content = json.loads(certified(repeat=1).to_json())
    change(content)
    assert message(lambda: ProcedureCertificate.from_json(sealed(content)), CertificateError) == (
        f"this is no certificate: {problem}. Fix: use a file that `vyre conform --out` wrote."
    )


def test_a_verdict_that_is_not_that_of_the_calls_is_refused():
    content = json.loads(certified(repeat=1).to_json())
    assert content["verdict"] == "incomplete"
    content["verdict"] = "passed"
    with pytest.raises(CertificateError, match="edited or damaged: its verdict is not that of its calls"):
        ProcedureCertificate.from_json(sealed(content))


def test_another_procedure_is_not_run():
    @vyre.procedure(name="folded")
    def other(x: InOut[u32]):
        vyre.clear(x)

    verification = conformance.verify_procedure(certified(), other, backend="cpu")
    assert verification.again is None
    [difference] = verification.differences
    assert difference.startswith("the certificate is about procedure `folded` with the hash ")


def test_a_wrong_backend_does_not_verify():
    def wrong(procedure, arrays, numbers):
        outputs = vyre.check(procedure, {**arrays, **numbers}, checks="race").outputs
        outputs["y"][-1:] ^= 1
        return outputs

    verification = conformance.verify_procedure(certified(), folded, backend=wrong)
    assert len(verification.differences) == 2
    assert all(", output `y`: shape " in each for each in verification.differences)


def test_a_backend_that_differs_from_run_to_run_does_not_pass():
    calls = []

    def fickle(procedure, arrays, numbers):
        calls.append(numbers)
        outputs = vyre.check(procedure, {**arrays, **numbers}, checks="race").outputs
        outputs["y"][:1] = len(calls)
        return outputs

    certificate = certified(backend=fickle)
    assert certificate.verdict == "nondeterministic"
    assert not certificate.passed
    again = conformance.verify_procedure(certificate, folded, backend="cpu")
    assert again.differences == tuple(
        f"call {k} gave other bytes from run to run when it was certified" for k in (1, 2)
    )


@pytest.mark.parametrize(
    ("calls", "wanted"),
    [
        ([], "argument `calls` of certify_procedure is empty. Fix: write calls={'x': 1000}."),
        (
            {**CALLS[0], "z": 1},
            "procedure `folded` has no input 'z'. Fix: its inputs are `x`, `b`, `f`, `v`, `t`, `n`, `m`, `k`.",
        ),
        (
            {**CALLS[0], "x": (1, 2)},
            "array `x` of procedure `folded` must be its length, got (1, 2). Fix: pass its length.",
        ),
        (
            {**CALLS[0], "t": 5},
            "array `t` of procedure `folded` must be a tuple of 2 lengths, got 5. Fix: pass a tuple of 2 lengths.",
        ),
        (
            {**CALLS[0], "n": -1},
            "number `n` of procedure `folded` must be an integer from 0 to 4294967295, got -1. "
            "Fix: pass an integer from 0 to 4294967295.",
        ),
    ],
)
def test_calls_that_do_not_fit_are_refused(calls, wanted):
    assert (
        message(lambda: conformance.certify_procedure(folded, calls, backend="cpu"), (ArgumentError, BindingError))
        == wanted
    )


def test_a_procedure_without_results_is_refused():
    @vyre.procedure
    def silent(x: In[u32]):
        pass

    assert message(lambda: conformance.certify_procedure(silent, {"x": 1}, backend="reference"), ArgumentError) == (
        "procedure `silent` has no result. Fix: return an array from it."
    )


def test_the_command_line_certifies_and_verifies(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "my_procedures", sys.modules[__name__])
    file = str(tmp_path / "cert.json")
    call = json.dumps({"x": 9, "b": 9, "f": 9, "v": 9, "t": [2, 3], "n": 1, "m": 1, "k": 1})
    ask = ["conform", "--procedure", "my_procedures:folded"]
    assert main([*ask, "--backend", "cpu", "--call", call, "--seed", "5", "--out", file]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("procedure folded, sha256 ")
    assert lines[2:] == ["calls     1, each 3 times", "verdict   passed", f"wrote     {file}"]
    assert main([*ask, "--backend", "reference", "--verify", file]) == 0
    assert f"verified  every hash of {file} is what this run gave" in capsys.readouterr().out
    assert main([*ask, "--verify", file, "--seed", "1"]) == 2
    assert main(["conform", "--call", call]) == 2
    assert main(["conform", "--procedure", "my_procedures:nothing"]) == 2
    assert main([*ask, "--call", "[1]"]) == 2
    text = json.loads((tmp_path / "cert.json").read_text())
    text["calls"][0]["outputs"]["y"]["sha256"] = "0" * 64
    (tmp_path / "cert.json").write_text(sealed(text))
    capsys.readouterr()
    assert main([*ask, "--backend", "cpu", "--verify", file]) == 1
    assert "differs   call 1, output `y`: shape (9,) and 0000000000000000 certified" in capsys.readouterr().out
