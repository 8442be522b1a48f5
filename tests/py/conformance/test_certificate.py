"""Certificates: the same twice, the same elsewhere, incomplete with a skip, and no edit unnoticed."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import vyre
from certificate_forger import sealed
from conftest import message
from html_reader import parsed, told
from vyre import conformance
from vyre.__main__ import main
from vyre.conformance import Certificate, CertificateError, cases, catalogue, certify, verify

FEW = ["L4"]  # the level with the fewest cases


@pytest.fixture(scope="module", autouse=True)
def _standard_operations_alone():
    """Leave out operations that other tests register in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalogue, "registered_cases", lambda levels: ())
        yield


def in_a_process(code: str) -> str:
    """The output of a program in a process of its own, with its own registry."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def whole() -> Certificate:
    """Every level, on the reference."""
    return certify("reference")


@pytest.fixture(scope="module")
def few() -> Certificate:
    return certify("reference", levels=FEW)


def test_the_reference_passes_every_level(whole):
    assert whole.levels == {
        "L1": "passed",
        "L2": "passed",
        "L3": "passed",
        "L4": "passed",
        "L1f": "not claimed",
        "L2f": "not claimed",
        "L3f": "not claimed",
        "L4f": "not claimed",
    }
    assert whole.passed
    assert whole.asked == ("L1", "L2", "L3", "L4")
    assert len(whole.cases) >= len(cases())


def test_a_certificate_names_no_time_and_no_path(whole):
    text = whole.to_json()
    assert os.sep + "home" not in text
    assert str(Path.cwd()) not in text
    assert not re.search(r"\b20[0-9]{2}-[01][0-9]-", text)


def check_agreement(certificate: Certificate, target: dict[str, object]) -> Certificate:
    """The certificates of all devices agree with one another, because each agrees with the reference's."""
    found = verify(certificate, target["backend"], target.get("device"))
    assert found.differences == ()
    assert found.again.passed
    same = ("id", "level", "program", "inputs", "output", "status")
    rows = [[{key: row[key] for key in same} for row in made.cases] for made in (certificate, found.again)]
    assert rows[0] == rows[1]
    if "device" in target:
        device = vyre.devices(target["backend"])[target["device"]]
        assert found.notes == (f"made on reference interpreter, verified on {device.name}",)
        assert found.again.content["target"]["probes"] == device.probes
        # A certificate of the device is accepted from a file.
        assert Certificate.from_json(found.again.to_json()) == found.again
    return found.again


def test_each_device_verifies_the_certificate_of_the_reference(target):
    check_agreement(certify("reference", levels=FEW), target)


@pytest.mark.slow
def test_each_device_verifies_every_level_and_certifies_the_same_twice(target, whole):
    first = check_agreement(whole, target)
    assert certify(target["backend"], target.get("device")).to_json() == first.to_json()


def test_a_device_gives_the_same_certificate_twice(target):
    made = [certify(target["backend"], target.get("device"), levels=FEW).to_json() for _ in range(2)]
    assert made[0] == made[1]


def test_a_float_level_cannot_be_asked_for():
    assert message(lambda: certify("reference", levels=["L1f"]), vyre.ArgumentError) == (
        "an element of argument `levels` must be one of L1, L2, L3, L4, got 'L1f'. Fix: write one of these."
    )


def test_a_file_is_read_back(few, tmp_path):
    path = tmp_path / "cert.json"
    few.save(path)
    assert Certificate.load(path) == few
    assert [entry.name for entry in tmp_path.iterdir()] == ["cert.json"]
    few.save(path)
    assert path.read_text(encoding="utf-8") == few.to_json()


def test_a_damaged_file_is_noticed(few):
    text = few.to_json()
    place = text.index('"output": "') + len('"output": "')
    damaged = text[:place] + ("0" if text[place] != "0" else "1") + text[place + 1 :]
    with pytest.raises(CertificateError) as error:
        Certificate.from_json(damaged)
    assert str(error.value).startswith("this certificate was edited or damaged: its content has the hash ")
    assert "Fix: use the file as `vyre conform --out` wrote it." in str(error.value)


def test_a_verdict_that_its_cases_do_not_give_is_noticed(few):
    content = copy.deepcopy(few.content)
    content["cases"][0]["status"] = "skipped"
    with pytest.raises(CertificateError, match="its verdicts are not those of its cases"):
        Certificate.from_json(sealed(content))


def forged(few: Certificate, **changes: str) -> Certificate:
    content = copy.deepcopy(few.content)
    content["cases"][1] |= changes
    return Certificate.from_json(sealed(content))


@pytest.mark.parametrize("key", ["program", "inputs", "output"])
def test_an_edit_that_was_hashed_anew_is_found_by_running_again(few, key):
    found = verify(forged(few, **{key: "0" * 64}), "reference")
    here = few.cases[1][key]
    wanted = f"case `L4/crc32`: the hash of its {key} differs: {'0' * 16} certified, {here[:16]} here"
    assert found.differences == (wanted,)


def test_missing_and_unknown_cases_are_differences(few):
    content = copy.deepcopy(few.content)
    content["cases"][0]["id"] = "L4/another"
    found = verify(Certificate.from_json(sealed(content)), "reference")
    assert found.differences == (
        "case `L4/another` is in the certificate and not here",
        "case `L4/sha256` is here and not in the certificate",
    )


def test_other_tables_and_operations_are_differences(few):
    content = copy.deepcopy(few.content)
    content["tables"]["casts"] = "0" * 64
    content["operations"]["primitive.math.add@1"] = "0" * 64
    content["operations"]["acme.mix@1"] = "0" * 64
    del content["operations"]["primitive.math.sub@1"]
    found = verify(Certificate.from_json(sealed(content)), "reference")
    assert found.differences == (
        "table `casts` differs: the certificate is about other casts",
        "operation `acme.mix@1` is not registered here",
        "operation `primitive.math.add@1` has another body",
        "operation `primitive.math.sub@1` is registered here and not in the certificate",
    )


def test_another_version_is_a_note(few):
    content = {**few.content, "versions": {**few.content["versions"], "vyre": "0.0.1", "soda": "7"}}
    found = verify(Certificate.from_json(sealed(content)), "reference")
    assert found.agrees
    assert found.notes == (
        "made with soda 7, verified with soda none",
        f"made with vyre 0.0.1, verified with vyre {vyre.__version__}",
    )


def test_the_hash_of_an_operation_covers_what_it_calls():
    told = in_a_process(
        """
import vyre
from vyre.conformance.hashes import operation_hashes

a = vyre.Expr.var("a")
def register(id, result, version=1):
    signature = vyre.OpSignature([vyre.u32], vyre.u32)
    vyre.ops.register(vyre.OpSpec(id, signature, parameters=["a"], result=result, version=version))

register("acme.inner", a + 1)
register("acme.outer", vyre.call("acme.inner", [a]) * 2)
before = operation_hashes()
register("acme.inner", a + 2, version=2)
after = operation_hashes()
print(*(name for name in before if before[name] != after[name]))
"""
    )
    assert told.split() == ["acme.outer@1"]


def test_operations_that_call_each_other_have_hashes():
    """No program may call them (V017), and a certificate is made beside them nevertheless."""
    told = in_a_process(
        """
import vyre
from vyre.conformance.hashes import operation_hashes

a = vyre.Expr.var("a")
def register(id, result):
    signature = vyre.OpSignature([vyre.u32], vyre.u32)
    vyre.ops.register(vyre.OpSpec(id, signature, parameters=["a"], result=result))

register("acme.itself", vyre.call("acme.itself", [a]))
register("acme.ping", vyre.call("acme.pong", [a]) + 1)
register("acme.pong", vyre.call("acme.ping", [a]) + 2)
hashes = operation_hashes()
print(*(name for name in hashes if name.startswith("acme.")))
print(len({hashes[name] for name in hashes}) == len(hashes))
"""
    )
    assert told.split() == ["acme.itself@1", "acme.ping@1", "acme.pong@1", "True"]


def test_a_registered_operation_is_held_to_its_examples_and_laws():
    """L2 is about every operation of the process; one of these claims too much, and one claims nothing."""
    told = in_a_process(
        """
import vyre
from vyre.conformance import certify

a, b = vyre.Expr.var("a"), vyre.Expr.var("b")
def register(id, **more):
    signature = vyre.OpSignature([vyre.u32, vyre.u32], vyre.u32)
    vyre.ops.register(vyre.OpSpec(id, signature, parameters=["a", "b"], result=a - b, **more))

register("acme.silent")
print(certify("reference", levels=["L2"]).levels["L2"])
register("acme.difference", laws=[vyre.OpLaw.Commutative], examples=[((5, 3), 2)])
certificate = certify("reference", levels=["L2"])
print(certificate.levels["L2"])
for row in certificate.cases:
    if "acme." in row["id"]:
        print(row["id"], row["status"], row.get("reason", ""))
"""
    )
    assert told.splitlines() == [
        "incomplete",
        "failed",
        "L2/acme.difference@1/examples passed ",
        "L2/acme.difference@1/commutative failed array `holds`: element 1 is 0, must be 1 (259 of 264 differ)",
        "L2/acme.silent@1/call skipped operation `acme.silent@1` has neither examples nor laws",
    ]


def test_a_law_that_a_signature_cannot_have_is_no_pass():
    told = in_a_process(
        """
import vyre
from vyre import DataType, Expr, OpLaw
from vyre.conformance import certify

def register(id, inputs, output, result, law):
    signature = vyre.OpSignature(inputs, output)
    names = ["a", "b"][: len(inputs)]
    vyre.ops.register(vyre.OpSpec(id, signature, parameters=names, result=result, laws=[law]))

a = Expr.var("a")
register("acme.none", [], vyre.u32, Expr.u32(1), OpLaw.Idempotent)
register("acme.one", [vyre.u32], vyre.u32, a, OpLaw.Commutative)
register("acme.mixed", [vyre.u32, vyre.i32], vyre.u32, a, OpLaw.Commutative)
register("acme.other", [vyre.u32, vyre.u32], vyre.i32, Expr.cast(vyre.i32, a), OpLaw.Associative)
register("acme.turn", [vyre.u32], vyre.i32, Expr.cast(vyre.i32, a), OpLaw.Involution)
certificate = certify("reference", levels=["L2"])
print(certificate.levels["L2"])
for row in certificate.cases:
    if "acme." in row["id"]:
        print(row["status"], row["reason"])
"""
    )
    assert told.splitlines() == [
        "incomplete",
        "skipped operation `acme.mixed@1` cannot keep the law Commutative with its signature",
        "skipped operation `acme.none@1` cannot keep the law Idempotent with its signature",
        "skipped operation `acme.one@1` cannot keep the law Commutative with its signature",
        "skipped operation `acme.other@1` cannot keep the law Associative with its signature",
        "skipped operation `acme.turn@1` cannot keep the law Involution with its signature",
    ]


def test_an_invalid_program_fails_and_names_no_file():
    told = in_a_process(
        """
import vyre
from vyre import Expr
from vyre.conformance import certify

signature = vyre.OpSignature([vyre.u32], vyre.u32)
result = vyre.call("acme.nowhere", [Expr.var("a")])
vyre.ops.register(vyre.OpSpec("acme.lost", signature, parameters=["a"], result=result, examples=[((1,), 1)]))
(row,) = [row for row in certify("reference", levels=["L2"]).cases if "acme." in row["id"]]
print(row["status"], row["reason"])
"""
    )
    assert told == (
        "failed ValidationError: V016: vyre IR validation: V016: unknown op `acme.nowhere`. "
        "Fix: use a registered op id or add the op to core::ops::*.\n"
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def certificate_or_fix(text: str | bytes) -> Certificate | None:
    """The certificate, or None after an error that says what to do."""
    try:
        return Certificate.from_json(text)
    except CertificateError as error:
        if ". Fix: " not in str(error):
            raise AssertionError(f"no Fix in {error}") from error
        return None


@given(st.binary())
@example(b"")
@example(b"\xff\xfe")
@example(b"[" * 100_000)
@example(b'{"a":' * 100_000)
@example(b"1" * 5000)
@example(b'{"format": 1, "format": 1}')
@example(b"NaN")
def test_garbage_is_a_typed_error(data):
    with pytest.raises(CertificateError, match=r"^this is no certificate: .* Fix: "):
        Certificate.from_json(data)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_certificate_with_any_part_replaced_is_a_typed_error_or_a_certificate(few, data):
    """Also when it is hashed anew; and what is accepted can be shown."""
    content = json.loads(few.to_json())
    content["cases"] = content["cases"][:2]
    content["operations"] = dict(list(content["operations"].items())[:2])
    holder: object = content
    for _ in range(data.draw(st.integers(1, 4))):
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if not keys:
            break
        key = data.draw(st.sampled_from(keys))
        below = holder[key]
        if isinstance(below, (dict, list)) and data.draw(st.booleans()):
            holder = below
            continue
        holder[key] = data.draw(JSON)
        break
    try:
        text = sealed(content)
    except ValueError:  # the forger has no JSON for a lone surrogate
        return
    made = certificate_or_fix(text)
    if made is not None:
        assert made.to_html()
        assert repr(made)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10**6), st.integers(0, 255))
def test_a_changed_byte_never_passes_unnoticed(few, place, byte):
    data = bytearray(few.to_json().encode())
    place %= len(data)
    data[place] = byte
    made = certificate_or_fix(bytes(data))
    assert made is None or made.content == few.content


def read(html: str) -> str:
    """The text of a page that fetches nothing."""
    elements = parsed(html).all("*")
    assert not {"script", "link", "img", "iframe"} & {each.tag for each in elements}
    assert not {"src", "href"} & {name for each in elements for name in each.attributes}
    return " ".join(parsed(html).pieces())


def test_the_page_shows_levels_and_every_case(whole):
    text = read(whole.to_html())
    assert "reference" in text
    for row in whole.cases:
        assert row["id"] in text
    for word in ("not claimed", "passed", "allowed"):
        assert word in text
    assert "Cases that did not pass" not in text
    assert "L1, L2, L3, L4 passed" in re.sub(r"\s+", " ", text)
    assert text.count(" cases with several allowed outcomes") == 1
    assert "prefers-color-scheme:dark" in whole.to_html()


def test_a_notebook_shows_the_first_rows_of_long_lists(whole):
    (form,) = told(whole._repr_html_())
    assert len(whole._repr_html_()) < 100_000
    cases = next(rows for _, heads, rows in form.tables if heads[:2] == ["case", "status"] and len(heads) == 5)
    assert [row[0] for row in cases[:-1]] == [row["id"] for row in whole.cases[:40]]
    assert cases[-1] == [f"… {len(whole.cases) - 40:,} more, which to_html() has"]


def test_the_page_escapes_what_a_driver_says(few):
    content = copy.deepcopy(few.content)
    content["target"] = {"backend": "<b>", "device": "<script>alert(1)</script>", "driver": "&", "kind": '"'}
    content["cases"][0] |= {"status": "failed", "reason": "<img src=x>"}
    content["levels"]["L4"] |= {"verdict": "failed", "failed": 1, "passed": content["levels"]["L4"]["passed"] - 1}
    text = read(Certificate.from_json(sealed(content)).to_html())
    assert "<script>alert(1)</script>" in text
    assert text.index("<img src=x>") < text.index("All 8 cases")


def test_command_line(tmp_path, capsys):
    out, page = tmp_path / "cert.json", tmp_path / "cert.html"
    common = ["conform", "--backend", "reference"]
    assert main([*common, "--level", "L4", "--out", str(out), "--html", str(page)]) == 0
    told = capsys.readouterr().out
    assert told.splitlines()[0] == "target    reference, reference interpreter, vyre"
    assert re.search(r"^L4 +passed +8 +0 +0 +0 +0$", told, re.MULTILINE)
    assert re.search(r"^L1 +not run$", told, re.MULTILINE)
    assert read(page.read_text(encoding="utf-8"))
    assert main([*common, "--verify", str(out)]) == 0
    assert f"verified  every hash of {out} is what this run gave" in capsys.readouterr().out
    content = json.loads(out.read_text(encoding="utf-8"))
    content["cases"][0]["output"] = "0" * 64
    out.write_text(sealed(content), encoding="utf-8")
    assert main([*common, "--verify", str(out)]) == 1
    assert "differs   case `L4/sha256`: the hash of its output differs" in capsys.readouterr().out
    out.write_text("{", encoding="utf-8")
    assert main([*common, "--verify", str(out)]) == 2
    assert "error: this is no certificate: it is no JSON" in capsys.readouterr().err
    assert main(["conform", "--device", "99"]) == 3
    told = capsys.readouterr().err
    assert "has no usable device 99" in told or "backend 'vulkan' does not work here" in told


def test_a_device_names_its_backend():
    for device in vyre.devices():
        if device.usable:
            certificate = certify(device=device.index, levels=FEW)
            assert certificate.content["target"]["backend"] == device.backend
            assert certificate.content["target"]["device"] == device.name


def test_a_processor_says_what_it_computes_with():
    place = certify("cpu", levels=FEW).content["target"]
    cpuinfo = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    assert f": {place['device']}\n" in cpuinfo or "model name" not in cpuinfo
    assert re.fullmatch(r"vyre, (baseline|sse41|avx2|avx512), \d+ threads?", place["driver"])
    assert place["limits"]["maxComputeWorkGroupInvocations"] == 2**16


def test_a_callable_does_not_pass_for_a_backend():
    def vulkan(program, inputs, grid, optimize):
        return vyre.run(program, inputs, grid, backend="reference", optimize=optimize)

    certificate = certify(vulkan, levels=FEW)
    assert certificate.passed
    assert certificate.content["target"] == {"backend": "callable vulkan"}


def test_a_certificate_of_nothing_is_none(few):
    content = copy.deepcopy(few.content)
    content["cases"] = []
    content["levels"]["L4"] = {"verdict": "not run"}
    with pytest.raises(CertificateError, match=r"^this is no certificate: no level was run\. Fix: "):
        Certificate.from_json(sealed(content))
    assert not Certificate(content).passed


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda c: c["target"].update(limits=[]), "`target.limits` is not an object"),
        (lambda c: c["target"].update(device=7), "`target.device` is not a text"),
        (lambda c: c["target"].update(temper="bad"), "`target.temper` is unknown"),
        (lambda c: c["target"].update({"driver?": "bad"}), "`target.driver?` is unknown"),
        (lambda c: c["target"].pop("backend"), "`target.backend` is missing"),
        (lambda c: c["versions"].pop("vyre"), "`versions.vyre` is missing"),
        (lambda c: c["versions"].update(vyre=[1]), "`versions.vyre` is not a text"),
        (
            lambda c: c["cases"][1].update(program="0"),
            "`cases[1].program` is not a text of the form (?:[0-9a-f]{64})?",
        ),
        (
            lambda c: c["cases"][0].update(output="A" * 64),
            "`cases[0].output` is not a text of the form (?:[0-9a-f]{64})?",
        ),
        (
            lambda c: c["cases"][0].update(status="fine"),
            '`cases[0].status` is not "passed" or "failed" or "nondeterministic" or "skipped" or "allowed"',
        ),
        (lambda c: c["cases"][0].update(level="L1"), "case `L4/sha256` has the level 'L1'"),
        (lambda c: c["cases"][0].update(score="1"), "`cases[0].score` is unknown"),
        (lambda c: c["cases"][1].update(id="L4/sha256"), "case `L4/sha256` stands twice"),
        (lambda c: c["cases"].append(7), "`cases[8]` is not an object"),
        (lambda c: c.update(cases={}), "`cases` is not a list"),
        (lambda c: c["levels"].update(L4="passed"), "`levels.L4` is not an object"),
        (lambda c: c["levels"].pop("L4"), "`levels.L4` is missing"),
        (lambda c: c.update(extra=1), "`extra` is unknown"),
        (lambda c: c.update(kind="other"), '`kind` is not "procedure"'),
    ],
)
def test_what_is_hashed_and_no_certificate_is_a_typed_error(few, change, problem):
    content = copy.deepcopy(few.content)
    change(content)
    with pytest.raises(CertificateError) as error:
        Certificate.from_json(sealed(content))
    fix = "Fix: use a file that `vyre conform --out` wrote."
    assert str(error.value) == f"this is no certificate: {problem}. {fix}"


def test_another_format_is_a_typed_error(few):
    for format, shown in ((3, "3"), (0, "0"), (True, "True"), ("2", "'2'")):
        assert message(
            lambda format=format: Certificate.from_json(sealed({**few.content, "format": format})), CertificateError
        ) == (
            f"certificate format {shown} is unknown to vyre {vyre.__version__}, which reads 1 and 2. "
            "Fix: use the vyre that wrote it."
        )


def test_what_a_file_says_does_not_reach_the_terminal_raw(few, tmp_path, capsys):
    content = copy.deepcopy(few.content)
    content["target"]["device"] = "\x1b[2Jfine\nverified  all" + "x" * 1000
    content["cases"][0]["id"] = "L4/\x1b[31m\u202e"
    path = tmp_path / "cert.json"
    path.write_text(sealed(content), encoding="utf-8")
    assert main(["conform", "--backend", "reference", "--verify", str(path)]) == 1
    told = capsys.readouterr().out
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert "differs   case `L4/\\x1b[31m\\u202e` is in the certificate and not here (and 1 more)" in told
    assert "note      made on \\x1b[2Jfine\\nverified  allxxx" in told
    assert max(map(len, told.splitlines())) < 450


def test_nothing_is_run_for_what_cannot_be_written(tmp_path, capsys, monkeypatch):
    def run(*_: object, **__: object) -> None:
        raise AssertionError("a case was run")

    monkeypatch.setattr("vyre.conformance.certificate.run_cases", run)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "file").write_text("")
    for path, problem in (
        (tmp_path, "Is a directory"),
        (tmp_path / "none" / "cert.json", "No such file or directory"),
        (tmp_path / "loop", "Too many levels of symbolic links"),
        (tmp_path / "file" / "cert.json", "Not a directory"),
    ):
        for option in ("--out", "--html"):
            assert main(["conform", "--backend", "reference", option, str(path)]) == 2
            wanted = (
                f"error: `{path}` cannot be written: {problem}. Fix: name a file in a folder that you may write to.\n"
            )
            assert capsys.readouterr().err == wanted


def test_an_interrupt_is_no_traceback(capsys, monkeypatch):
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("vyre.conformance.certificate.run_cases", interrupt)
    assert main(["conform", "--backend", "reference"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_the_coverage_table_on_the_command_line(capsys):
    assert main(["conform", "--coverage"]) == 0
    assert capsys.readouterr().out == conformance.coverage.table() + "\n"


def test_progress_counts_every_case():
    seen = []
    certify("reference", levels=FEW, progress=lambda result, done, of: seen.append((result.case.id, done, of)))
    assert [place for _, place, _ in seen] == list(range(1, 9))
    assert {of for _, _, of in seen} == {8}


def test_a_skipped_case_makes_its_level_incomplete():
    """Also when everything else passes; and the command fails."""

    def small(program, inputs, grid, optimize):
        if program.workgroup_size[0] * program.workgroup_size[1] * program.workgroup_size[2] > 128:
            raise vyre.CapabilityError("workgroups of more than 128. Fix: use another device.")
        return vyre.run(program, inputs, grid, backend="reference", optimize=optimize)

    certificate = certify(small, levels=["L3", "L4"])
    assert certificate.levels["L3"] == "incomplete"
    assert certificate.levels["L4"] == "passed"
    assert not certificate.passed
    skipped = [row for row in certificate.cases if row["status"] == "skipped"]
    assert {row["reason"] for row in skipped} == {"workgroups of more than 128. Fix: use another device."}
    assert "L3/workgroups/ids-256x1x1" in {row["id"] for row in skipped}
    text = read(certificate.to_html())
    assert text.index("Cases that did not pass") < text.index("L3/workgroups/ids-256x1x1")
    assert "L3 incomplete ; L4 passed" in re.sub(r"\s+", " ", text)


def test_the_page_shows_what_a_driver_refused():
    """Allowed, and worth knowing."""

    def impatient(program, inputs, grid, optimize):
        bounds = [int(rounds) for rounds in re.findall(r" in 0\.\.(\d+) \{", program.to_text())]
        if max([bound for bound in bounds if bound < 2**32 - 1], default=0) > 40_000:  # the others end by a Break
            raise vyre.DeviceError("loops end after 40,000 rounds. Fix: use another device.")
        return vyre.run(program, inputs, grid, backend="reference", optimize=optimize)

    certificate = certify(impatient, levels=["L1"])
    assert certificate.passed
    text = read(certificate.to_html())
    assert "What the documents allow, and this place does" in text
    assert text.count("refused: loops end after 40,000 rounds. Fix: use another device.") == 1


def test_an_empty_output_is_no_pass():
    certificate = certify(lambda program, inputs, grid, optimize: {}, levels=FEW)
    assert certificate.levels["L4"] == "failed"
    assert {row["reason"] for row in certificate.cases} >= {"KeyError: 'state'"}


def test_an_output_of_another_type_is_no_pass():
    def wide(program, inputs, grid, optimize):
        out = vyre.run(program, inputs, grid, backend="reference")
        return {name: array.astype(np.uint64) for name, array in out.items()}

    certificate = certify(wide, levels=FEW)
    assert certificate.levels["L4"] == "failed"
