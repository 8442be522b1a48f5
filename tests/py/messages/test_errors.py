"""The hierarchy of exceptions, and the command line."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys

import pytest
from tblib import pickling_support

import vyre
from vyre import Node, Program

PARENTS = {
    "ArgumentError": (vyre.VyreError, ValueError),
    "CallError": (vyre.ArgumentError, TypeError),
    "FileError": (vyre.ArgumentError, OSError),
    "ValidationError": (vyre.VyreError,),
    "ParseError": (vyre.VyreError,),
    "LoweringError": (vyre.VyreError,),
    "BindingError": (vyre.VyreError, ValueError),
    "CapabilityError": (vyre.VyreError,),
    "DeviceError": (vyre.VyreError,),
    "DeviceLostError": (vyre.DeviceError,),
    "DeviceMemoryError": (vyre.DeviceError, MemoryError),
    "DispatchTimeoutError": (vyre.DeviceError, TimeoutError),
    "ExecutionError": (vyre.VyreError,),
    "DivergentBarrierError": (vyre.ExecutionError,),
    "InternalError": (vyre.VyreError,),
}


@pytest.mark.parametrize("name", PARENTS)
def test_hierarchy(name):
    error = getattr(vyre, name)
    for parent in PARENTS[name]:
        assert issubclass(error, parent)
    if name != "ValidationError":
        assert str(error("what is wrong. Fix: this.")) == "what is wrong. Fix: this."
        assert str(pickle.loads(pickle.dumps(error("message")))) == "message"


@pytest.mark.parametrize("name", [name for name in PARENTS if name != "ValidationError"])
def test_an_error_travels_as_dask_sends_it(name):
    """By tblib, which makes errors without a call of their class."""
    error = getattr(vyre, name)
    rebuild, arguments = pickling_support.pickle_exception(error("message"))
    again = rebuild(*arguments)
    assert (type(again), str(again)) == (error, "message")


def test_validation_error_holds_all_diagnostics_and_shows_some():
    program = Program(entry=[Node.assign(f"x{k}", 1) for k in range(50)])
    with pytest.raises(vyre.ValidationError) as error:
        program.check()
    assert len(error.value.diagnostics) == 50
    lines = str(error.value).splitlines()
    assert [line.split(" (")[0] for line in lines if line.startswith("V006 ")] == [
        f"V006 at entry[{k}]" for k in range(20)
    ]
    assert lines[-1] == "... and 30 more, see .diagnostics"
    assert copy.copy(error.value).diagnostics == error.value.diagnostics


def test_explain():
    for k in range(1, 36):
        assert vyre.explain(f"V{k:03}").startswith(f"V{k:03}: ")
    assert vyre.explain("v014") == vyre.explain("V014")
    for wrong in ("V999", "", "V14"):
        with pytest.raises(vyre.ArgumentError, match="there is no rule"):
            vyre.explain(wrong)


@pytest.mark.parametrize("wrong", ["N099", "P099", "K099", "V999", "X1", "v", ""])
def test_a_rule_that_there_is_not_leads_to_those_that_there_are(wrong):
    with pytest.raises(vyre.ArgumentError) as caught:
        vyre.explain(wrong)
    ranges = r"V001 to (V\d{3}), K001 to (K\d{3}), N001 to (N\d{3}), or P001 to (P\d{3})"
    said = re.fullmatch(
        rf"there is no rule '{wrong}'\. Fix: write one from {ranges}( \(did you mean `(.*)`\?\))?\.", str(caught.value)
    )
    assert said is not None, caught.value
    for last in said.groups()[:4]:
        for number in range(1, int(last[1:]) + 1):
            assert vyre.explain(f"{last[0]}{number:03}").startswith(f"{last[0]}{number:03}: ")
        with pytest.raises(vyre.ArgumentError):
            vyre.explain(f"{last[0]}{int(last[1:]) + 1:03}")
    if said[6]:
        vyre.explain(said[6])


def test_rules_of_every_family_may_be_written_in_small_letters():
    for rule in ("V014", "K003", "N004", "P010"):
        assert vyre.explain(rule.lower()) == vyre.explain(rule)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "vyre", *arguments], capture_output=True, text=True, timeout=120)


def test_command_line():
    shown = command("explain", "V014")
    assert shown.returncode == 0
    assert shown.stdout.strip() == vyre.explain("V014").strip()
    wrong = command("explain", "V999")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("error: there is no rule 'V999'. Fix: ")
    listed = command("backends")
    assert listed.stdout.split()[: len(vyre.backends())] == list(vyre.backends())
    assert command("devices", "--limits").returncode == (0 if vyre.devices() else 1)
    assert command("nonsense").returncode == 2


def test_doctor_runs_every_device_and_shows_what_it_does():
    shown = command("doctor")
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "\nreference: right" in shown.stdout
    for device in vyre.devices():
        if device.usable:
            assert f"\n{device.index}: {device.name}: right" in shown.stdout
            place = shown.stdout.index(f"{device.index}: {device.name} ({device.kind}), {device.driver}\n")
            assert "\n    found when opened: " in shown.stdout[place : place + 400]
