"""vyre.profile: what is recorded, where it lies in time, and what it looks like. No test says how fast anything is."""

import json
import operator
import os
import re
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import vyre
from html_reader import told
from programs import groups, xor
from vyre import BufferDecl, Expr, Node, Program

COUNT = 1000
A = np.arange(COUNT, dtype=np.uint32) * 3 + 7
B = np.arange(COUNT, dtype=np.uint32) * 5 + 1


# A program is named by where the first one like it was made, so what these tests make is made nowhere else.
def adder(one: int = 1, name: str = "data") -> Program:
    i = Expr.gid_x()
    return Program(
        [BufferDecl.read_write(name, 0, vyre.u32)],
        (64, 1, 1),
        [Node.store(name, i, Expr.u32(one) + Expr.load(name, i))],
    )


def dispatches(prof: vyre.Profile, program: Program | None = None) -> list[vyre.ProfileEvent]:
    found = [event for event in prof.events if event.backend is not None and event.name == "dispatch"]
    # The dispatches that try a driver have no program.
    found = [event for event in found if event.program is not None]
    return found if program is None else [event for event in found if event.program_hash == hash_of(program)]


def hash_of(program: Program) -> str:
    with vyre.profile() as prof:
        program(vyre.empty(1, backend="reference"), workgroups=1)
    return next(event.program_hash for event in prof.events if event.program_hash)


def error_of(prof: vyre.Profile) -> int:
    """By how much a device's event may be misplaced."""
    return max([device.error_ns or 0 for device in prof._devices], default=0)


def place_of(target: dict) -> tuple[str, int]:
    return target["backend"], target.get("device", 0)


def trace_of(prof: vyre.Profile, folder) -> dict:
    path = folder / "run.json"
    prof.to_perfetto(path)

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(path.read_text(encoding="ascii"), parse_constant=refuse)


def test_of_nothing_is_an_empty_table(tmp_path):
    with vyre.profile() as prof:
        pass
    assert (prof.rows, prof.events, prof.notes, prof.left_out) == ([], [], [], 0)
    assert re.fullmatch(r"profile of [\d.]+ \w+: nothing recorded", str(prof))
    (form,) = told(prof._repr_html_())
    assert (form.kind, form.tables, form.sentences) == ("Profile", [], [])
    assert form.title.endswith(": nothing recorded")
    assert len(prof.to_numpy()) == 0
    assert all(record["ph"] == "M" for record in trace_of(prof, tmp_path)["traceEvents"])


def test_that_was_not_opened_shows_nothing():
    prof = vyre.profile()
    assert (prof.rows, prof.events, str(prof)) == ([], [], "profile, not opened yet")


def test_every_call_is_an_event_of_its_device(target):
    program = adder()
    a = vyre.array(A, **target)
    with vyre.profile() as prof:
        for _ in range(5):
            program(a, workgroups=groups(COUNT))
    events = dispatches(prof)
    assert len(events) == 5
    for event in events:
        assert (event.backend, event.device) == place_of(target)
        assert re.fullmatch(r"data at test_profile\.py:\d+", event.program)
        assert re.fullmatch("[0-9a-f]{16}", event.program_hash)
        assert event.workgroups == (groups(COUNT), 1, 1)
        assert event.bytes == 4 * COUNT
        assert event.thread == threading.get_native_id()
        assert event.duration_ns > 0
        assert not event.observed
    np.testing.assert_array_equal(a.numpy(), A + 5)


def first_line(function) -> str:
    code = function.__code__
    return f"{function.__name__} at {Path(code.co_filename).name}:{code.co_firstlineno}"


def helped(x):
    y = x + 1
    return y * 3


@vyre.kernel
def tripled(x: vyre.In[vyre.u32], y: vyre.Out[vyre.u32]):
    y[vyre.gid(0)] = helped(x[vyre.gid(0)])


@vyre.kernel
def saturated(x: vyre.In[vyre.u32], n: vyre.const, y: vyre.Out[vyre.u32]):
    i = vyre.gid(0)
    y[i] = vyre.saturating_add(x[i], n)


@vyre.procedure
def both(x: vyre.In[vyre.u32]):
    return saturated(vyre.std.sort(tripled(x)), 3)


def test_dispatches_have_the_names_of_kernels_and_the_lines_where_they_begin(target):
    a = vyre.array(A, **target)
    with vyre.profile() as prof:
        tripled(a, grid=COUNT)  # the helper has the first statement
        tripled(a, workgroups=groups(COUNT))
        tripled(a[:300], grid=7)  # in a program that compares the index
        saturated(a, 3)  # calls an operation, which a program's own hash does not take in
        saturated(a, 4)
        both(a)
    names = Counter(event.program for event in dispatches(prof))
    assert names.pop(first_line(tripled._function)) == 4
    assert names.pop(first_line(saturated._function)) == 3
    assert names.total() >= 1
    for name in names:  # of the library's sort
        assert re.fullmatch(r"(keys_only|count_digits|place_tiles) at \w+\.py:\d+", name), name


def test_kernels_of_one_helper_and_one_operation_have_their_own_names():
    """Their programs call an operation, write the same, and begin with the line of one helper."""

    def limited():
        i = vyre.saturating_add(vyre.gid(0), 7)
        return i

    @vyre.kernel(workgroup_size=8)
    def one(x: vyre.InOut[vyre.u32]):
        x[limited()] = 1

    @vyre.kernel(workgroup_size=8)
    def other(x: vyre.InOut[vyre.u32]):
        x[limited()] = 2

    with vyre.profile() as prof:
        for kernel in (one, other):
            kernel(np.zeros(8, np.uint32), workgroups=1, backend="cpu")
    assert [event.program.partition(" at ")[0] for event in dispatches(prof)] == ["one", "other"]


WRITTEN = {
    "a + b": lambda a, b, m: a + b,
    "a - n": lambda a, b, m: a - 3,
    "n * a": lambda a, b, m: 3 * a,
    "a ^= b": lambda a, b, m: operator.ixor(a, b),
    "a += n": lambda a, b, m: operator.iadd(a, 3),
    "a <= b": lambda a, b, m: a <= b,
    "a >> n": lambda a, b, m: a >> 1,
    "~a": lambda a, b, m: ~a,
    "abs(a)": lambda a, b, m: abs(a),
    "a.copy()": lambda a, b, m: a.copy(),
    "a.astype(uint8)": lambda a, b, m: a.astype(np.uint8),
    "a.fill(n)": lambda a, b, m: a.fill(3),
    "a[mask] = n": lambda a, b, m: a.__setitem__(m, 3),
}


@pytest.mark.parametrize("written", WRITTEN)
def test_dispatches_of_arrays_are_named_as_they_are_written(written):
    a, b = (vyre.array(np.arange(8, dtype=np.int32), backend="cpu") for _ in range(2))
    mask = vyre.array(np.arange(8) % 2 == 0, backend="cpu")
    with vyre.profile() as prof:
        WRITTEN[written](a, b, mask)
    assert [row.program for row in prof.rows if row.name == "dispatch"] == [written]


def test_a_run_is_an_event_of_its_device(target):
    with vyre.profile() as prof:
        result = vyre.run(xor(), {"in0": A, "in1": B, "out": COUNT}, groups(COUNT), **target)
    np.testing.assert_array_equal(result["out"], A ^ B)
    (event,) = dispatches(prof)
    assert (event.backend, event.device) == place_of(target)
    assert event.bytes == 3 * 4 * COUNT
    assert [row.calls for row in prof.rows if row.name == "run"] == [1]


def test_a_dispatch_lies_between_its_call_and_the_read_that_waited_for_it(target):
    program = adder()
    a = vyre.array(A, **target)
    with vyre.profile() as prof:
        for _ in range(3):
            before = time.perf_counter_ns()
            program(a, workgroups=groups(COUNT))
            a.numpy()
            after = time.perf_counter_ns()
            time.perf_counter_ns()
    calls = [event for event in prof.events if event.name == "call"]
    reads = [event for event in prof.events if event.name == "download" and event.backend is None]
    events = dispatches(prof)
    assert len(calls) == len(reads) == len(events) == 3
    error = error_of(prof)
    for call, event, read in zip(calls, events, reads, strict=True):
        assert call.start_ns <= event.submitted_ns <= call.start_ns + call.duration_ns
        assert event.start_ns + error >= event.submitted_ns
        assert event.start_ns + event.duration_ns - error <= read.start_ns + read.duration_ns
    # The clock of events is Python's own.
    assert before <= prof.began_ns + calls[-1].start_ns
    assert prof.began_ns + reads[-1].start_ns + reads[-1].duration_ns <= after


def test_a_device_is_not_busy_for_longer_than_the_profile_took(target):
    program = adder()
    a = vyre.array(A, **target)
    a.numpy()
    with vyre.profile() as prof:
        for _ in range(50):
            program(a, workgroups=groups(COUNT))
        a.numpy()
    assert sum(event.duration_ns for event in dispatches(prof)) <= prof.duration_ns + 2 * error_of(prof)


def test_rows_say_what_the_events_say(target):
    first, second = adder(1), adder(2)
    a = vyre.array(A, **target)
    with vyre.profile() as prof:
        for k in range(12):
            (first if k % 3 else second)(a, workgroups=groups(COUNT))
        a.numpy()
    kinds = {}
    for event in prof.events:
        kinds.setdefault((event.name, event.backend, event.device), []).append(event)
    for row in prof.rows:
        own = kinds[row.name, row.backend, row.device]
        if row.backend is not None:
            own = [event for event in own if event.program_hash == row.program_hash]
        durations = [event.duration_ns for event in own]
        assert row.calls == len(durations)
        assert row.total_ns == sum(durations)
        assert (row.min_ns, row.max_ns) == (min(durations), max(durations))
        assert row.mean_ns == pytest.approx(row.total_ns / row.calls)
    of_device = [row for row in prof.rows if row.backend is not None and row.program is not None]
    assert sorted(row.calls for row in of_device) == [4, 8]
    assert sum(row.share for row in prof.rows if row.backend is not None) == pytest.approx(1)
    assert [row.total_ns for row in of_device] == sorted((row.total_ns for row in of_device), reverse=True)


def check_trace(trace: dict) -> None:
    """Valid by the Trace Event Format, and possible."""
    records = trace["traceEvents"]
    host = os.getpid()
    processes, threads = set(), set()
    slices: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for record in records:
        assert isinstance(record["name"], str)
        assert isinstance(record["pid"], int)
        assert isinstance(record["tid"], int)
        if record["ph"] == "M":
            if record["name"] == "process_name":
                processes.add(record["pid"])
            elif record["name"] == "thread_name":
                threads.add((record["pid"], record["tid"]))
            else:
                assert record["name"] == "process_sort_index"
            continue
        assert record["ph"] in {"X", "s", "f", "b", "e"}
        assert isinstance(record["ts"], (int, float))
        assert isinstance(record["cat"], str)
        if record["ph"] == "X":
            assert record["dur"] >= 0
            slices.setdefault((record["pid"], record["tid"]), []).append((record["ts"], record["dur"]))
    assert set(slices) <= threads
    assert {pid for pid, _ in slices} <= processes
    for (pid, _), own in slices.items():
        ends: list[float] = []
        # Nanoseconds, in numbers that are exact.
        for start, duration in sorted(
            ((round(s * 1000), round(d * 1000)) for s, d in own), key=lambda x: (x[0], -x[1])
        ):
            while ends and ends[-1] <= start:
                ends.pop()
            if pid == host:
                # Within what contains it, as far as it reaches.
                assert not ends or start + duration <= ends[-1]
            else:
                assert not ends, "two slices of a queue overlap"
            ends.append(start + duration)
    begun = {record["id"] for record in records if record["ph"] == "s"}
    assert begun == {record["id"] for record in records if record["ph"] == "f"}


def test_a_trace_is_valid_and_possible(target, tmp_path):
    first, second = adder(1), adder(2)
    with vyre.profile() as prof:
        a = vyre.array(A, **target)
        for _ in range(20):
            first(a, workgroups=groups(COUNT))
            second(a, workgroups=groups(COUNT))
        a.numpy()
        vyre.run(xor(), {"in0": A, "in1": B, "out": COUNT}, groups(COUNT), **target)
    trace = trace_of(prof, tmp_path)
    check_trace(trace)
    assert trace["displayTimeUnit"] == "ns"
    names = {record["args"]["name"] for record in trace["traceEvents"] if record["name"] == "process_name"}
    assert "host" in names
    assert any(name.startswith(f"{target['backend']} {target.get('device', 0)}: ") for name in names)
    slices = [record for record in trace["traceEvents"] if record.get("cat") == "device" and "hash" in record["args"]]
    assert len(slices) == 41
    assert all(record["args"]["workgroups"] == [groups(COUNT), 1, 1] for record in slices)
    assert all(record["dur"] > 0 for record in slices)
    assert all(record["args"]["bytes"] in (4 * COUNT, 12 * COUNT) for record in slices)
    (clock,) = trace["otherData"]["clocks"]
    if target["backend"] in ("vulkan", "cuda"):
        assert clock["alignment_error_ns"] >= 0
        assert clock["clock"] in (
            "VK_EXT_calibrated_timestamps",
            "a submission between two readings of the host's clock",
            "an event between two readings of the host's clock",
        )
    else:
        assert clock["clock"] == "the host's"
    assert trace["otherData"]["began_perf_counter_ns"] == prof.began_ns
    assert list(tmp_path.iterdir()) == [tmp_path / "run.json"]


def test_threads_and_devices_are_told_apart(tmp_path):
    places = [{"backend": "cpu"}, {"backend": "reference"}]
    places += [{"device": device} for device in vyre.devices() if device.usable]
    failures = []

    def work(place, k):
        try:
            program, a = adder(k + 1), vyre.array(A, **place)
            for _ in range(10):
                program(a, workgroups=groups(COUNT))
            np.testing.assert_array_equal(a.numpy(), A + 10 * (k + 1))
        except BaseException as error:
            failures.append(error)

    with vyre.profile() as prof:
        threads = [
            threading.Thread(target=work, args=(place, k), name=f"worker {k}-{copy}")
            for k, place in enumerate(places)
            for copy in range(2)
        ]
        for thread in threads:
            thread.start()
        prof._name_threads()
        for thread in threads:
            thread.join()
    assert not failures
    assert len(dispatches(prof)) == 10 * len(threads)
    by_thread = {}
    for event in dispatches(prof):
        by_thread.setdefault((event.thread, event.program_hash, event.backend, event.device), []).append(event)
    assert sorted(map(len, by_thread.values())) == [10] * len(threads)
    trace = trace_of(prof, tmp_path)
    check_trace(trace)
    assert len({record["pid"] for record in trace["traceEvents"] if record["name"] == "process_name"}) == 1 + len(
        places
    )


def test_profiles_lie_within_each_other():
    program = adder()
    a = vyre.array(A, backend="cpu")
    with vyre.profile() as outer:
        program(a, workgroups=1)
        with vyre.profile() as inner:
            program(a, workgroups=2)
        program(a, workgroups=3)
    assert [event.workgroups[0] for event in dispatches(inner)] == [2]
    assert [event.workgroups[0] for event in dispatches(outer)] == [1, 2, 3]
    assert inner.began_ns > outer.began_ns


def test_what_runs_after_it_is_not_in_it(target):
    program = adder()
    a = vyre.array(A, **target)
    with vyre.profile() as prof:
        program(a, workgroups=1)
    seen = prof.events
    program(a, workgroups=1)
    a.numpy()
    assert prof.events == seen
    assert len(dispatches(prof)) == 1


def test_an_exception_passes_and_the_profile_is_kept(target):
    program = adder()
    a = vyre.array(A, **target)
    prof = vyre.profile()

    def fail():
        with prof:
            program(a, workgroups=1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert len(dispatches(prof)) == 1
    with vyre.profile() as later:
        pass
    assert later.events == []


def test_what_is_known_so_far_can_be_looked_at():
    program = adder()
    a = vyre.array(A, backend="cpu")
    with vyre.profile() as prof:
        program(a, workgroups=1)
        assert len(dispatches(prof)) == 1
        assert str(prof).startswith("profile, recording for ")
        program(a, workgroups=1)
        assert len(dispatches(prof)) == 2
    assert repr(prof).startswith("<vyre.Profile closed, ")


def test_events_beyond_what_is_kept_count_in_the_rows():
    program = adder()
    a = vyre.array(A, backend="cpu")
    with vyre.profile(keep=10) as prof:
        for _ in range(100):
            program(a, workgroups=1)
    assert len(prof.events) == 10
    assert [row.calls for row in prof.rows if row.name == "dispatch"] == [100]
    assert prof.left_out > 90
    assert prof.notes == [
        f"{prof.left_out} events were not kept, and count in the rows alone. "
        f"Fix: write vyre.profile(keep={10 + prof.left_out})."
    ]


def test_a_graph_is_an_event_for_each_of_its_calls(target, tmp_path):
    first, second = adder(1), adder(2)
    a, b = vyre.array(A, **target), vyre.array(B, **target)
    with vyre.graph() as graph:
        first(a, workgroups=groups(COUNT))
        second(a, workgroups=groups(COUNT))
        first(b, workgroups=groups(COUNT))
    with vyre.profile() as prof:
        graph.replay(40)
        a.numpy()
    np.testing.assert_array_equal(a.numpy(), A + 120)
    np.testing.assert_array_equal(b.numpy(), B + 40)
    assert sorted(row.calls for row in prof.rows if row.program is not None) == [40, 80]
    assert [row.calls for row in prof.rows if row.name == "replay"] == [1]
    check_trace(trace_of(prof, tmp_path))


def test_numpy_gets_the_events():
    program = adder()
    a = vyre.array(A, backend="cpu")
    with vyre.profile() as prof:
        for _ in range(4):
            program(a, workgroups=(2, 3, 1))
    events, array = prof.events, prof.to_numpy()
    assert array.dtype.names == vyre.ProfileEvent._fields
    assert list(array["duration_ns"]) == [event.duration_ns for event in events]
    assert list(array["name"]) == [event.name for event in events]
    of_device = array[array["device"] == 0]
    assert of_device["workgroups"].tolist() == [[2, 3, 1]] * 4
    assert of_device["bytes"].tolist() == [4 * COUNT] * 4


def test_html_is_static_and_closed():
    program = adder(1, "<b>&\"'")
    a = vyre.array(A, backend="cpu")
    with vyre.profile() as prof:
        for _ in range(5000):
            program(a, workgroups=1)
    text = prof._repr_html_()
    (form,) = told(text)
    assert {"script", "img", "a", "link"} & {each.tag for each in form.whole.all("*")} == set()
    device, host = form.tables
    assert device[0].startswith("cpu 0: ")
    assert [(row[0].split(" at ")[0], row[1]) for row in device[2]] == [("■ <b>&\"'", "5,000")]
    assert host[0] == "host"
    assert [head.strip() for head in host[1]] == ["", "calls", "total", "mean", "min", "max", "share"]
    picture = xml.etree.ElementTree.fromstring(text[text.index("<svg") : text.index("</svg>") + 6])
    bars = picture.findall("{http://www.w3.org/2000/svg}rect")
    assert 0 < len(bars) <= 2000
    for bar in bars:
        assert 0 <= float(bar.get("x")) <= float(picture.get("width"))
        assert float(bar.get("x")) + float(bar.get("width")) <= float(picture.get("width")) + 1


def test_a_program_of_a_notebook_is_named_by_its_cell():
    scope = {"vyre": vyre}
    scope["out"] = BufferDecl.output("cells", 0, vyre.u32)
    text = "made = vyre.Program([out], (1, 1, 1), [vyre.Node.store('cells', 0, 7)])"
    exec(compile(text, "<ipython-input-7-0123abcd>", "exec"), scope)
    with vyre.profile() as prof:
        scope["made"](vyre.empty(1, backend="cpu"), workgroups=1)
    names = {event.program.partition(" #")[0] for event in dispatches(prof)}
    assert names == {"cells at Cell In[7], line 1"}


def test_a_table_lines_up_and_names_programs():
    program = adder()
    a = vyre.array(A, backend="cpu")
    with vyre.profile() as prof:
        for _ in range(1234):
            program(a, workgroups=1)
    lines = str(prof).splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("cpu 0: "))
    head, row = lines[start + 1], lines[start + 2]
    assert re.match(r"data at test_profile\.py:\d+ #[0-9a-f]{8} +1,234  ", row)
    assert row.endswith("100.0 %")
    assert len(head) == len(row)
    host = lines[lines.index("host") :]
    assert len({len(line) for line in host[1:]}) == 1


def test_misuse_is_a_typed_error():
    once = r"^a profile is opened once\. Fix: write `with vyre\.profile\(\) as prof:` anew\.$"
    with vyre.profile() as prof, pytest.raises(vyre.ArgumentError, match=once):
        prof.__enter__()
    with pytest.raises(vyre.ArgumentError, match=once):
        prof.__enter__()
    with pytest.raises(vyre.ArgumentError, match=r"argument `path` of Profile.to_perfetto must be a path, got int"):
        prof.to_perfetto(3)
    for keep in (-1, 1.5, "many", True, None, 2**63):
        with pytest.raises(vyre.ArgumentError, match=r"argument `keep` of vyre\.profile must be a count of events"):
            vyre.profile(keep=keep)


def python(code: str) -> subprocess.CompletedProcess:
    head = (
        "import os, sys, threading, numpy as np, vyre\n"
        "from vyre import BufferDecl, Expr, Node, Program\n"
        "i = Expr.gid_x()\n"
        "step = Program([BufferDecl.read_write('d', 0, vyre.u32)], (64, 1, 1), "
        "[Node.store('d', i, Expr.load('d', i) + 1)])\n"
    )
    # From 3.12 on, Python warns of a fork where there are threads.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", head + code]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_a_profile_that_is_open_at_the_end_of_the_process_is_no_trouble(target):
    done = python(
        f"a = vyre.array(np.zeros(100000, np.uint32), **{target!r})\n"
        "prof = vyre.profile().__enter__()\n"
        "for _ in range(200): step(a, workgroups=1563)\n"
        "print('end')\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_a_profile_that_nobody_holds_any_more_is_closed():
    program = adder()
    a = vyre.array(A, backend="cpu")
    prof = vyre.profile().__enter__()
    del prof
    with vyre.profile() as later:
        program(a, workgroups=1)
    assert len(dispatches(later)) == 1


def test_a_forked_child_leaves_the_profile_to_its_parent(target):
    done = python(
        f"a = vyre.array(np.zeros(1000, np.uint32), **{target!r})\n"
        "with vyre.profile() as prof:\n"
        "    step(a, workgroups=1)\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        b = vyre.array(np.zeros(64, np.uint32), backend='cpu')\n"
        "        step(b, workgroups=1)\n"
        "        with vyre.profile() as own:\n"
        "            step(b, workgroups=1)\n"
        "        assert [row.calls for row in own.rows if row.name == 'dispatch'] == [1]\n"
        "    else:\n"
        "        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0\n"
        "if child == 0:\n"
        "    assert prof.events == [] and len(prof.notes) == 1, prof.notes\n"
        "    os._exit(0)\n"
        "assert [row.calls for row in prof.rows if row.program is not None] == [1], prof.rows\n"
        "print(a.numpy()[:64].sum())\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "64\n", "")
