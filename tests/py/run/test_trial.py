"""``vyre.try_compile``: a driver that crashes while it compiles is an error in a process that goes on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import vyre
from conftest import message
from vyre import BufferDecl, Expr, Node, Program

GID = Expr.gid_x()
SOFTWARE = [device for device in vyre.devices() if device.usable and device.kind == "software gpu"]


def program(key: int = 0, work: int = 20) -> Program:
    x = GID
    for k in range(work):
        x = x * 3 + (k ^ key)
    return Program([BufferDecl.output("out", 0, vyre.u32)], (4, 1, 1), [Node.store("out", GID, x)])


def expected(key: int = 0, work: int = 20) -> np.ndarray:
    x = np.arange(4, dtype=np.uint32)
    for k in range(work):
        x = x * np.uint32(3) + np.uint32(k ^ key)
    return x


# A test may put several doubles in its place, one after the other: each starts this one, never the double before it.
PYTHON = sys.executable


def double(folder, monkeypatch, body: str) -> None:
    """Another Python in the place of this one, which does something else first or instead."""
    path = folder / "python"
    path.write_text(f"#!/bin/bash\nulimit -c 0\n{body.replace('PYTHON', PYTHON)}\n")
    path.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(path))


def refusal(**arguments) -> str:
    with pytest.raises(vyre.DeviceError) as caught:
        vyre.try_compile(program(), **arguments)
    assert type(caught.value) is vyre.DeviceError
    return str(caught.value)


@pytest.mark.parametrize("backend", [None, *vyre.backends()])
def test_a_program_that_compiles_gives_nothing_and_runs(backend):
    assert vyre.try_compile(program(), backend=backend) is None
    out = vyre.run(program(), {"out": 4}, 1, backend=backend)["out"]
    assert out.tolist() == expected().tolist()


@pytest.mark.skipif(not SOFTWARE, reason="no software device here")
def test_it_leaves_on_disk_what_a_call_leaves_there(tmp_path, monkeypatch):
    """The names tell driver, device and shader, so equal names mean that the first call here takes the pipeline."""
    left = {}
    for way in ["run(program(), {'out': 4}, 1, ", "try_compile(program(), "]:
        monkeypatch.setenv("VYRE_CACHE_DIR", str(tmp_path / way[:3]))
        devices = [device.index for device in SOFTWARE]
        calls = "".join(f"vyre.{way}backend='vulkan', device={index})\n" for index in devices)
        where = f"import sys; sys.path[:0] = {[str(folder) for folder in Path(__file__).parents[:2]]!r}"
        script = f"{where}\nimport vyre\nfrom test_trial import program\n{calls}"
        assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
        left[way] = sorted(path.name for path in (tmp_path / way[:3]).glob("pipelines/*"))
    one, other = left.values()
    assert one == other


def test_operations_of_ones_own_are_known_there():
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            textwrap.dedent("""
            import vyre
            @vyre.op("trial.twice", inputs=[vyre.u32], output=vyre.u32)
            def twice(x):
                return x * 2
            store = vyre.Node.store("out", 0, twice(vyre.Expr.gid_x()))
            vyre.try_compile(vyre.Program([vyre.BufferDecl.output("out", 0, vyre.u32)], (1, 1, 1), [store]))
            print("compiled")
            """),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "compiled\n"), done.stderr


@pytest.mark.skipif(not SOFTWARE, reason="no software device here")
def test_a_driver_that_has_no_memory_ends_another_process(tmp_path, monkeypatch):
    """Drivers end their process when memory runs out; under which limit that happens while they compile differs."""
    said = set()
    for limit in range(350_000, 700_000, 25_000):
        monkeypatch.setenv("VYRE_CACHE_DIR", str(tmp_path / str(limit)))
        double(tmp_path, monkeypatch, f'ulimit -v {limit}; exec PYTHON "$@"')
        for device in SOFTWARE:
            try:
                vyre.try_compile(program(), device=device, timeout=60)
            except vyre.VyreError as error:
                said.add(str(error))
        if any(" by signal " in each for each in said):
            break
    assert all(". Fix: " in each for each in said)
    crashed = [each for each in said if " by signal " in each]
    assert crashed, said
    pattern = (
        r"the driver ended the process by signal \d+ \(SIG[A-Z]+\) while it compiled the program on backend `vulkan`, "
        r'device \d+(; it said: .*)?\. Fix: name another device, or backend="cpu"\.'
    )
    assert all(re.fullmatch(pattern, each) for each in crashed)
    assert vyre.run(program(), {"out": 4}, 1, backend="cpu")["out"].tolist() == expected().tolist()


COMPILING = "cat >/dev/null; echo compiling; "


@pytest.mark.parametrize(
    ("body", "how"),
    [
        (f"{COMPILING}kill -SEGV $$", "by signal 11 (SIGSEGV)"),
        (f"{COMPILING}echo no memory >&2; kill -ABRT $$", "by signal 6 (SIGABRT)"),
        (f"{COMPILING}exit 127", "with status 127"),
    ],
)
def test_the_error_says_how_the_process_ended(tmp_path, monkeypatch, body, how):
    double(tmp_path, monkeypatch, body)
    said = "; it said: no memory" if "no memory" in body else ""
    fix = 'Fix: name another device, or backend="cpu".'
    while_ = "while it compiled the program on"
    assert refusal() == f"the driver ended the process {how} {while_} the first device found{said}. {fix}"
    assert refusal(backend="vulkan") == f"the driver ended the process {how} {while_} backend `vulkan`{said}. {fix}"


def test_a_process_that_does_not_begin_is_told_apart(tmp_path, monkeypatch):
    double(tmp_path, monkeypatch, "echo no module named vyre >&2; exit 1")
    assert refusal() == (
        "the process to try the compile in ended with status 1 before it began; it said: no module named vyre. "
        'Fix: let `sys.executable` name a Python that can import vyre, or run the program with backend="cpu".'
    )
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    assert refusal() == (
        "no process could be started to try the compile in: [Errno 2] No such file or directory: '/nonexistent/python'."
        " Fix: let `sys.executable` name the Python interpreter, and let it start processes."
    )


def test_a_compile_that_takes_too_long_is_killed(tmp_path, monkeypatch):
    double(tmp_path, monkeypatch, f"echo $$ >{tmp_path}/pid; {COMPILING} exec sleep 1000")
    assert message(lambda: vyre.try_compile(program(), timeout=0.5), vyre.DispatchTimeoutError) == (
        "trying to compile the program on the first device found did not end within 0.5 s, and its process was killed. "
        'Fix: raise the time-out, make the program smaller, or run it with backend="cpu".'
    )
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_refusal_there_is_the_refusal_here(monkeypatch):
    """The message is the first call's, word for word."""
    monkeypatch.setenv("VK_DRIVER_FILES", "/nonexistent/driver.json")
    assert message(lambda: vyre.try_compile(program(), backend="vulkan"), vyre.DeviceError) == (
        "no Vulkan driver was found. Fix: install the driver of the GPU, or a software one, on Debian with `apt-get "
        "install mesa-vulkan-drivers`."
    )
    assert vyre.try_compile(program()) is None


def test_wrong_arguments_are_told_as_ever():
    with pytest.raises(vyre.ValidationError):
        vyre.try_compile(Program(workgroup_size=(0, 1, 1)))
    with pytest.raises(vyre.ArgumentError, match=r"^argument `timeout` of vyre\.try_compile must be seconds"):
        vyre.try_compile(program(), timeout=-1)
    with pytest.raises(vyre.ArgumentError, match=r"^argument `program` of vyre\.try_compile must be a"):
        vyre.try_compile("program")
    with pytest.raises(vyre.ArgumentError, match=r"^argument `backend` of vyre\.try_compile must be one of "):
        vyre.try_compile(program(), backend="vulcan")
