"""A backend that is wrong in one way fails the certificate, at the case and the level that are about it.

The wrong backends run the reference on programs whose text was changed, as a broken lowering would change them, or
change what comes out. Each must fail at the named case, and every case that failed must be one that the fault touches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import vyre
from vyre.conformance import cases, catalogue, certify, run_case, target, verify


@pytest.fixture(autouse=True)
def _standard_operations_alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(catalogue, "registered_cases", lambda levels: ())
    return


def reference(program, inputs, grid, optimize=None):
    return vyre.run(program, inputs, grid, backend="reference", optimize=optimize)


def rewriting(pattern: str, replacement: str | Callable[[re.Match[str]], str]) -> Callable[..., dict[str, np.ndarray]]:
    """A backend that misreads what the pattern finds in a program's text."""

    def rewriting_backend(program, inputs, grid, optimize):
        text = re.sub(pattern, replacement, program.to_text(), flags=re.MULTILINE)
        return reference(vyre.parse(text), inputs, grid, optimize)

    return rewriting_backend


def changed(name: str, change: Callable[[np.ndarray], np.ndarray], *, when=lambda program, optimize: True):
    """A backend that changes the array `name` of what comes out."""

    def changing_backend(program, inputs, grid, optimize):
        out = reference(program, inputs, grid, optimize)
        if name in out and when(program, optimize):
            out[name] = change(out[name])
        return out

    return changing_backend


def spoiled_first(array: np.ndarray) -> np.ndarray:
    made = array.copy()
    made.ravel()[:1] ^= 1
    return made


# name -> (level, wrong backend, a case that must fail, what all failing cases look like)
FAULTS = {
    "a shift that does not mask its amount": (
        "L1",
        rewriting(r"(in0\[%0\]) << (in1\[%0\])", r"select(\2 < 32, \1 << \2, 0)"),
        "L1/operators/shl",
        r"L1/operators/shl(/literals)?",
    ),
    "a rotation the other way": (
        "L1",
        rewriting(r"\brotl\(", "rotr("),
        "L1/operators/rotl",
        r"L1/operators/rotl(/literals)?|L1/private_memory/as_large_as_allowed",
    ),
    "a division by zero that gives all ones": (
        "L1",
        rewriting(r"(in0\[%0\]) / (in1\[%0\])", r"select(\2 == 0, 4294967295, \1 / \2)"),
        "L1/operators/div",
        r"L1/operators/div(/literals)?",
    ),
    "an unsigned minimum for a signed one": (
        "L1",
        rewriting(r"\bsmin\((in0\[%0\]), (in1\[%0\])\)", r"cast(i32, min(cast(u32, \1), cast(u32, \2)))"),
        "L1/operators/smin",
        r"L1/operators/smin(/literals)?",
    ),
    "a sign that is not extended": (
        "L1",
        rewriting(r"^(buffer in0: read) i32(.*\n(?:.*\n)*?.*)cast\(u64, in0\[%0\]\)", r"\1 u32\2cast(u64, in0[%0])"),
        "L1/casts/I32-U64",
        r"L1/casts/I32-U64",
    ),
    "a load without a bounds check, whose byte offset wraps around": (
        "L1",
        rewriting(r"= data\[(indices\[i\])\]", r"= data[\1 & 1073741823]"),
        "L1/memory/load/read-U32",
        r"L1/memory/load/.*",
    ),
    "a store without a bounds check, whose byte offset wraps around": (
        "L1",
        rewriting(r"data\[(indices\[\w+(?:\.x)?\])\] = ", r"data[\1 & 1073741823] = "),
        "L1/memory/store/read_write-U32",
        r"L1/memory/store/.*",
    ),
    "an atomic without a bounds check": (
        "L1",
        rewriting(r"(atomic_\w+)\(cells, (indices\[[%\w]+\])", r"\1(cells, \2 & 1073741823"),
        "L1/memory/atomic/Add-out",
        r"L1/memory/atomic/.*-(out|mixed)|L1/workgroup_atomics/\w+",
    ),
    "an atomic that is lost": (
        "L1",
        rewriting(r"atomic_add\(count, 0, 1\)", "atomic_add(count, 0, select(gid.x == 5, 0, 1))"),
        "L1/litmus/atomicity/increments/single",
        r"L1/litmus/atomicity/increments/.*",
    ),
    "a compare-exchange that fails for no reason": (
        "L1",
        rewriting(
            r"atomic_compare_exchange\(next, 0, (\w+),", r"atomic_compare_exchange(next, 0, \1 + (gid.x % 7 == 0),"
        ),
        "L1/litmus/atomicity/compare_exchange/single",
        r"L1/litmus/atomicity/compare_exchange/.*",
    ),
    "a second read of a location that sees an older value than the first": (
        "L1",
        changed("r1", np.zeros_like),
        "L1/litmus/coherence/CoRR/dispatch",
        r"L1/litmus/(coherence/CoRR.*|coherence/CoRW1/.*|barrier/.*)",
    ),
    "a value that nobody wrote": (
        "L1",
        changed("r0", lambda array: array | np.uint32(4)),
        "L1/litmus/open/store_buffering/single",
        r"L1/litmus/.*",
    ),
    "a barrier that does not wait": (
        "L1",
        rewriting(r"^ *barrier\n", ""),
        "L1/barriers/message_passing/workgroup-64",
        r"L1/(barriers|memory|litmus/barrier|workgroup_atomics|private_memory|narrow_elements|control_flow)/.*",
    ),
    "a barrier that orders workgroup memory alone": (
        "L1",
        # This acts as if only the storing invocation saw its store after the first barrier.
        rewriting(r"^( *)barrier\n((?:.*\n)*?)( *r1\[.*\] = )x\[", r"\1barrier\n\2\g<3>0 * x["),
        "L1/litmus/barrier/message_passing/storage-64",
        r"L1/litmus/barrier/.*/storage-.*",
    ),
    "a loop that runs once too often": (
        "L1",
        rewriting(r"^(loop k in \w+)\.\.(\d+) ", lambda found: f"{found[1]}..{min(int(found[2]) + 1, 2**32 - 1)} "),
        "L1/control_flow/loop_bounds",
        r"L1/.*",
    ),
    "an If that takes odd numbers alone for true": (
        "L1",
        rewriting(r"^if (\d+) ", r"if \1 & 1 "),
        "L1/control_flow/if_on_literals",
        r"L1/control_flow/(if_on_literals|empty)",
    ),
    "a node that is evaluated at each of its uses": (
        "L1",
        rewriting(r"^out\[%0\] = %0$", "out[atomic_add(count, 0, 1)] = atomic_add(count, 0, 1)"),
        "L1/evaluation/shared_node",
        r"L1/evaluation/.*",
    ),
    "an operation with another operation's body": (
        "L2",
        rewriting(r'"primitive.u64.mul@1"', '"primitive.u64.add@1"'),
        "L2/primitive.u64.mul@1/model",
        r"L2/primitive.u64.mul@1/.*",
    ),
    "an operation that is not commutative as it says": (
        "L2",
        rewriting(
            r'call\("primitive.math.abs_diff@1", (\S+), (\S+)\)$',
            r'(\1 - \2) + (0 * call("primitive.math.abs_diff@1", \1, \2))',
        ),
        "L2/primitive.math.abs_diff@1/commutative",
        r"L2/primitive.math.abs_diff@1/.*",
    ),
    "arguments that are evaluated right to left": (
        "L3",
        rewriting(r'call\("primitive.math.sub", (%\d), (%\d)\)', r'negate(call("primitive.math.sub", \2, \1))'),
        "L3/calls/effects_in_arguments",
        r"L3/calls/effects_in_arguments",
    ),
    "an optimiser that breaks a cast": (
        "L3",
        changed(
            "out0",
            spoiled_first,
            when=lambda program, optimize: optimize is True and "cast(bool" in program.to_text(),
        ),
        "L3/optimiser/L1/casts/U64-Bool",
        r"L3/optimiser/L1/casts/\w+-Bool",
    ),
    "a second axis that is forgotten": (
        "L3",
        rewriting(r"\blid\.y\b", "lid.x"),
        "L3/workgroups/ids-8x8x1",
        r"L3/workgroups/.*",
    ),
    "a state that is lost between dispatches": (
        "L4",
        changed("state", lambda array: np.zeros_like(array), when=lambda program, optimize: True),
        "L4/sha256",
        r"L4/sha256",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_fails_at_its_case_and_level(name):
    level, backend, wanted, touched = FAULTS[name]
    certificate = certify(backend, levels=[level], repeat=1)  # what is wrong in every run shows in the first
    failed = [row["id"] for row in certificate.cases if row["status"] == "failed"]
    assert wanted in failed
    assert [id for id in failed if not re.fullmatch(touched, id)] == []
    assert certificate.levels[level] == "failed"
    assert not certificate.passed
    assert all(row["reason"] for row in certificate.cases if row["status"] == "failed")


def test_what_the_optimiser_breaks_is_said_so():
    (broken,) = [made for made in cases(["L3"]) if made.id == "L3/optimiser/L1/casts/U64-Bool"]
    result = run_case(broken, target(FAULTS["an optimiser that breaks a cast"][1]))
    assert result.reason.startswith("with the optimiser: array `out0`: element 0 is ")
    # By default the reference runs programs as they are written, so the same fault is not one of L1's.
    certificate = certify(FAULTS["an optimiser that breaks a cast"][1], levels=["L1"], repeat=1)
    assert certificate.content["levels"]["L1"]["failed"] == 0


def test_a_good_certificate_does_not_verify_on_a_wrong_backend():
    given = certify("reference", levels=["L4"])
    found = verify(given, FAULTS["a state that is lost between dispatches"][1])
    (difference,) = found.differences
    assert difference.startswith("case `L4/sha256`: certified as passed, failed here (array `state`: element 0 is 0, ")


def test_a_backend_that_crashes_fails():
    def crashing_backend(program, inputs, grid, optimize):
        raise ZeroDivisionError("division by zero")

    certificate = certify(crashing_backend, levels=["L4"])
    assert certificate.levels["L4"] == "failed"
    assert {row["reason"] for row in certificate.cases} == {"ZeroDivisionError: division by zero"}


def test_a_lost_device_fails_and_a_refusal_is_a_skip():
    def lost(program, inputs, grid, optimize):
        raise vyre.DeviceLostError("the device is lost. Fix: ...")

    def refusing(program, inputs, grid, optimize):
        raise vyre.DeviceError("this driver is refused. Fix: ...")

    assert certify(lost, levels=["L4"]).levels["L4"] == "failed"
    assert certify(refusing, levels=["L4"]).levels["L4"] == "incomplete"


def test_inputs_that_a_backend_spoils_do_not_spoil_the_case():
    """Each run has copies of its own."""

    def spoiling_backend(program, inputs, grid, optimize):
        out = reference(program, {name: array.copy() for name, array in inputs.items()}, grid, optimize)
        for array in inputs.values():
            array.fill(0)
        return out

    assert certify(spoiling_backend, levels=["L4"]).passed


@pytest.mark.parametrize("schedule", ["in-order", "reversed", "random:1", "random:2"])
def test_every_case_holds_under_every_schedule(schedule):
    """No case is race-free by luck: the reference gives the same in any order of invocations."""

    def scheduled(program, inputs, grid, optimize):
        return vyre.run(program, inputs, grid, backend="reference", schedule=schedule, optimize=optimize)

    certificate = certify(scheduled, levels=["L1", "L2", "L4"], repeat=1)
    assert [row for row in certificate.cases if row["status"] not in ("passed", "allowed")] == []
