"""Recordings of the library's procedures come from the disk in later processes, and are those that would be made."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import vyre
from vyre._procedure import on_disk
from vyre.std._sorting.sorter import sorter

CALLS = """
import sys
import numpy as np
before = {*sys.modules}
import vyre
x = np.array([3, 1, 2, 3, 7], np.uint32)
with vyre.default_device(backend="cpu"):
    print(vyre.std.sort(x), vyre.std.sort(x.astype(np.int16), descending=True), vyre.std.sum(x), vyre.std.unique(x))
    print(vyre.std.scan(x, "max"), vyre.std.topk(x, 2))
    slow = ({*sys.modules} - before) & {"vyre._devices", "dataclasses", "pathlib", "signal", "sysconfig"}
    print(vyre.std.crc32c(b"abc"))
if sys.argv[1:] == ["later"]:
    recording = {"vyre._kernel.call", "vyre._kernel.tracer", "vyre._procedure.blocks", "vyre._procedure.dispatches"}
    assert slow | recording & {*sys.modules} == set(), "what a process that finds its recordings does not need"
"""


def process(folder, script, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env={**os.environ, "VYRE_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_second_process_records_nothing_and_gives_the_same(tmp_path):
    first = process(tmp_path, CALLS)
    assert first.splitlines()[0] == "[1 2 3 3 7] [7 3 3 2 1] 16 [1 2 3 7]"
    assert process(tmp_path, CALLS, "later") == first


@pytest.mark.parametrize("damage", [b"vyre pipeline 1\n", None])
def test_a_damaged_file_is_recorded_anew(tmp_path, damage):
    first = process(tmp_path, CALLS)
    for path in (tmp_path / "recordings").iterdir():
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(bytes(data) if damage is None else damage)
    assert process(tmp_path, CALLS) == first
    assert process(tmp_path, CALLS, "later") == first


def test_steps_have_the_lines_of_the_recording(tmp_path):
    script = textwrap.dedent("""
        import numpy as np, vyre
        from vyre.std._sorting.sorter import sorter
        with vyre.profile() as profile:
            vyre.std.sort(vyre.arange(5000, backend="cpu"))
        print(sorted({each.program for each in profile.events if each.program}))
        open_ = [sorter(vyre.u32)._recorded({})]
        for made in open_:
            print(made.core.name, made.trail.steps, made.trail.arrays)
            open_ += made.trail.invoked.values()
    """)
    first = process(tmp_path, script)
    assert "sorter.py" in first
    assert "keys_only at radix_kernels.py" in first
    assert process(tmp_path, script) == first


def test_keys_differ_where_what_is_recorded_differs(monkeypatch):
    monkeypatch.setattr(on_disk, "IMPORTED", 2**63)
    keys = [
        on_disk.key_on_disk(sorter(element, value)._function, exact)
        for element in (vyre.u32, vyre.u64)
        for value in (None, vyre.u32)
        for exact in (False, True)
    ]
    assert None not in keys
    assert len({*keys}) == len(keys)


def test_what_a_user_wrote_has_no_key(monkeypatch):
    monkeypatch.setattr(on_disk, "IMPORTED", 2**63)

    def factor():
        return 3

    function = sorter(vyre.u32)._function
    assert on_disk.key_on_disk(function, np.arange(3)) is not None
    for value in (factor, lambda x: x, type("Own", (), {})(), vyre.kernel(kernel)):
        assert on_disk.key_on_disk(function, value) is None
    assert on_disk.key_on_disk(factor) is None


def kernel(x: vyre.InOut[vyre.u32]):
    x[vyre.gid(0)] += 1


def test_another_file_of_the_package_is_another_package(tmp_path, monkeypatch):
    monkeypatch.setattr(on_disk, "PACKAGE", str(tmp_path))
    monkeypatch.setattr(on_disk, "IMPORTED", 2**63)
    (tmp_path / ".#draft.py").symlink_to("nowhere")
    source = tmp_path / "std" / "sorting.py"
    source.parent.mkdir()
    states = []
    for text in ("a = 1\n", "a = 12\n"):
        source.write_text(text, encoding="utf-8")
        states.append(on_disk._state_of_package.__wrapped__())
    os.utime(source, ns=(1, 1))
    states.append(on_disk._state_of_package.__wrapped__())
    assert len({*states}) == 3
    # What is recorded from now on is of the file as it was.
    monkeypatch.setattr(on_disk, "IMPORTED", source.stat().st_ctime_ns - 1)
    monkeypatch.setattr(on_disk, "_state_of_package", on_disk._state_of_package.__wrapped__)
    assert on_disk.key_on_disk(sorter(vyre.u32)._function) is None


def test_an_operation_of_the_users_is_what_this_process_registered(tmp_path):
    script = textwrap.dedent("""
        import sys
        import numpy as np, vyre
        @vyre.op("disk.either", inputs=[vyre.u32, vyre.u32], output=vyre.u32, laws=[vyre.OpLaw.Associative])
        def either(a, b):
            return vyre.max(a, b) if sys.argv[1] == "max" else vyre.min(a, b)
        print(vyre.std.reduce(np.array([4, 9, 2], np.uint32), "disk.either", 0, backend="cpu"))
    """)
    assert [process(tmp_path, script, word) for word in ("max", "min", "max")] == ["9\n", "2\n", "9\n"]
