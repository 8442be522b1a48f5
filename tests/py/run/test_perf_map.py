"""With VYRE_PERF=1, /tmp/perf-PID.map lists machine code as perf reads it; without it, nothing is written."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import vyre
from vyre import BufferDecl, Expr, Node, Program, _core

# A loop that keeps the processor in the machine code.
BUSY = Program(
    [BufferDecl.output("out", 0, vyre.u32)],
    (64, 1, 1),
    [
        Node.let("x", Expr.gid_x()),
        Node.loop("k", 0, 500, [Node.assign("x", Expr.var("x") * 1664525 + Expr.var("k"))]),
        Node.store("out", Expr.gid_x(), Expr.var("x")),
    ],
)
SCRIPT = """
import os, sys, vyre
program = vyre.parse(sys.argv[1])
BEFORE
with vyre.profile() as profile:
    for _ in range(int(sys.argv[2])):
        out = vyre.run(program, {"out": 1 << 18}, 1 << 12, backend="cpu")["out"]
(name,) = {event.program_hash for event in profile.events if event.program_hash}
print(os.getpid(), name, int(out.sum()))
print(open("/proc/self/maps").read())
"""
SUM = sum(vyre.run(BUSY, {"out": 1 << 18}, 1 << 12, backend="cpu", optimize=False)["out"].tolist())


@pytest.fixture
def maps():
    """Removes the files of the processes that a test appends to it."""
    pids: list[int] = []
    yield pids
    for pid in pids:
        Path(f"/tmp/perf-{pid}.map").unlink(missing_ok=True)


def run(wanted: str | None, pids: list[int], before: str = "", around: tuple[str, ...] = (), times: int = 1):
    env = {name: value for name, value in os.environ.items() if name != "VYRE_PERF"}
    if wanted is not None:
        env["VYRE_PERF"] = wanted
    command = [*around, sys.executable, "-c", SCRIPT.replace("BEFORE", before), BUSY.to_text(), str(times)]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode == 0:
        first, mappings = done.stdout.split("\n", 1)
        pid, name, total = first.split()
        pids.append(int(pid))
        assert int(total) == SUM
        return done, int(pid), name, mappings
    return done, 0, "", ""


def mapping(mappings: str, address: int) -> str:
    for line in mappings.splitlines():
        begin, end = (int(part, 16) for part in line.split()[0].split("-"))
        if begin <= address < end:
            return line
    return "not mapped"


def test_the_file_lists_the_code_by_the_hash_of_its_program(maps):
    done, pid, name, mappings = run("1", maps)
    path = Path(f"/tmp/perf-{pid}.map")
    found = re.fullmatch(r"([0-9a-f]+) ([0-9a-f]+) vyre:(\w+)\n", path.read_text())
    assert found
    assert found[3] == name
    here = _core._devices("cpu")[0]["probes"]["machine_code"]
    assert int(found[2], 16) == len(_core._machine_code(BUSY, True, here)[4])
    # perf gives names to executable memory that is of no file, and only there.
    assert re.search(r" r-xp 00000000 00:00 0 *$", mapping(mappings, int(found[1], 16)))
    assert path.stat().st_mode & 0o7777 == 0o600
    assert done.stderr == ""


@pytest.mark.parametrize("wanted", [None, "", "0", "yes"])
def test_nothing_is_written_unasked(wanted, maps):
    done, pid, _, mappings = run(wanted, maps)
    assert not Path(f"/tmp/perf-{pid}.map").exists()
    code = [line for line in mappings.splitlines() if "vyre-code" in line]
    assert code
    assert all(line.split()[1] == "r-xp" for line in code)
    assert done.stderr == ""


def test_a_link_that_waits_at_the_path_is_not_followed(maps, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("kept")
    done, pid, _, _ = run("1", maps, before=f"os.symlink({str(victim)!r}, f'/tmp/perf-{{os.getpid()}}.map')")
    assert victim.read_text() == "kept"
    assert done.stderr == (
        f"vyre: cannot write /tmp/perf-{pid}.map for VYRE_PERF=1: Too many levels of symbolic links. "
        "Fix: remove it, or leave VYRE_PERF out.\n"
    )


def test_a_process_that_was_forked_has_a_list_of_its_own(maps):
    script = (
        "import os, sys, vyre\n"
        "program = vyre.parse(sys.argv[1])\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    vyre.run(program, {'out': 1 << 18}, 1 << 12, backend='cpu')\n"
        "    os._exit(0)\n"
        "os.waitpid(pid, 0)\n"
        "print(os.getpid(), pid)"
    )
    env = os.environ | {"VYRE_PERF": "1"}
    command = [sys.executable, "-W", "ignore", "-c", script, BUSY.to_text()]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    maps += map(int, done.stdout.split())
    parent, child = (Path(f"/tmp/perf-{pid}.map") for pid in maps)
    assert not parent.exists()
    assert len(child.read_text().splitlines()) == 1


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed (Debian: linux-perf)")
def test_perf_names_the_program(maps, tmp_path):
    data = str(tmp_path / "perf.data")
    done, _, name, _ = run("1", maps, around=("perf", "record", "-q", "-e", "cpu-clock:u", "-o", data), times=10)
    if done.returncode != 0 and "ermission" in done.stderr + done.stdout:
        pytest.skip(f"perf may not record here: {done.stderr[:200]}")
    assert done.returncode == 0, done.stderr
    command = ["perf", "report", "-i", data, "--stdio", "--sort", "symbol"]
    report = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    share = re.search(rf"([0-9.]+)% +\[\.\] vyre:{name}\b", report)
    assert share, report[:2000]
    assert float(share[1]) > 5
