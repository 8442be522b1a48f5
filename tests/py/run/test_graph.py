"""Graphs: a replay gives the bytes of its calls made one after the other, on every backend and device here."""

import copy
import os
import pickle
import random
import threading

import numpy as np
import pytest

import vyre
from conftest import message, problem
from places import PLACES, name_of
from threads import in_threads
from vyre import BufferDecl, Expr, Node, Program

INDEX = Expr.gid_x()


ADD_ONE = Program(
    [BufferDecl.read_write("data", 0, vyre.u32)], (64, 1, 1), [Node.store("data", INDEX, Expr.load("data", INDEX) + 1)]
)
MIX = Program(
    [BufferDecl.read("a", 0, vyre.u32), BufferDecl.read_write("sum", 1, vyre.u32)],
    (64, 1, 1),
    [Node.store("sum", INDEX, Expr.load("sum", INDEX) * 3 + Expr.load("a", INDEX))],
)
A = np.arange(1000, dtype=np.uint32) * 3 + 7


def test_nothing_runs_while_it_is_recorded_and_all_of_it_in_a_replay(place):
    data, other = vyre.array(A, **place), vyre.empty(1000, **place)
    with vyre.graph() as graph:
        assert ADD_ONE(data, workgroups=16) is data
        MIX(data, other, workgroups=16)
        ADD_ONE(data, workgroups=16)
    np.testing.assert_array_equal(data.numpy(), A)
    assert not other.numpy().any()
    graph.replay()
    np.testing.assert_array_equal(data.numpy(), A + 2)
    np.testing.assert_array_equal(other.numpy(), A + 1)
    graph.replay(2)
    np.testing.assert_array_equal(data.numpy(), A + 6)
    np.testing.assert_array_equal(other.numpy(), ((A + 1) * 3 + (A + 3)) * 3 + (A + 5))
    graph.replay(0)
    np.testing.assert_array_equal(data.numpy(), A + 6)
    data.write(A)
    graph.replay()
    np.testing.assert_array_equal(data.numpy(), A + 2, "a graph works with what its arrays hold when it is replayed")


@pytest.mark.parametrize("seed", range(3))
def test_random_graphs_of_views_do_what_numpy_does(place, seed):
    draw = random.Random(seed)
    hosts = [np.arange(1201, dtype=np.uint32) * (3 + k) for k in range(3)]
    arrays = [vyre.array(host, **place) for host in hosts]
    steps = []
    for _ in range(30):
        (a, at), (b, to) = ((draw.randrange(3), draw.choice((0, 1, 300, 600, 601))) for _ in range(2))
        if a == b and abs(at - to) < 300:
            continue
        steps.append((a, at, b, to))
    with vyre.graph() as graph:
        for a, at, b, to in steps:
            MIX(arrays[a][at : at + 300], arrays[b][to : to + 300], workgroups=5)
    assert len(graph) == len(steps) > 5
    graph.replay(3)
    for a, at, b, to in steps * 3:
        part = hosts[b][to : to + 300]
        part[:] = part * 3 + hosts[a][at : at + 300]
    for k, (host, array) in enumerate(zip(hosts, arrays, strict=True)):
        np.testing.assert_array_equal(array.numpy(), host, f"array {k}, seed {seed}")


def test_it_may_be_long_and_take_no_longer_to_record_a_call(place):
    count = 200 if place["backend"] == "reference" else 3000
    data = vyre.empty(64, **place)
    with vyre.graph() as graph:
        for _ in range(count):
            ADD_ONE(data, workgroups=1)
    graph.replay(2)
    np.testing.assert_array_equal(data.numpy(), np.full(64, 2 * count, np.uint32))


def test_it_keeps_what_it_works_with(place):
    kept = vyre.array(A, **place)
    with vyre.graph() as graph:
        MIX(vyre.array(A, **place), kept, workgroups=16)
    for _ in range(20):
        vyre.array(np.full(1000, 9, np.uint32), **place)  # what takes the memory, were it free
    graph.replay()
    np.testing.assert_array_equal(kept.numpy(), A * 3 + A)
    graph.replay(50)
    del graph
    kept.wait()


def test_a_graph_can_be_part_of_another(place):
    data = vyre.empty(64, **place)
    with vyre.graph() as inner:
        ADD_ONE(data, workgroups=1)
    with vyre.graph() as outer:
        inner.replay(3)
        ADD_ONE(data, workgroups=1)
    assert (len(inner), len(outer)) == (1, 4)
    outer.replay(2)
    np.testing.assert_array_equal(data.numpy(), np.full(64, 8, np.uint32))


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ({"times": 2**20}, "a graph has 1048576 calls at most. Fix: record fewer, and replay them more often."),
        ({"times": 2**62}, "a graph has 1048576 calls at most. Fix: record fewer, and replay them more often."),
        (
            {"times": 3, "progress": lambda done, times: None},
            "Graph.replay with progress=, which waits for the device, has no place in a graph. "
            "Fix: leave out progress=.",
        ),
    ],
)
def test_a_refused_part_adds_no_call(place, options, refusal):
    data = vyre.empty(64, **place)
    with vyre.graph() as inner:
        ADD_ONE(data, workgroups=1)
    with vyre.graph() as outer:
        ADD_ONE(data, workgroups=1)
        assert message(lambda: inner.replay(**options), vyre.ArgumentError) == refusal
        inner.replay(2)
    assert len(outer) == 3
    outer.replay()
    np.testing.assert_array_equal(data.numpy(), np.full(64, 3, np.uint32))


def test_one_of_nothing_does_nothing(place):
    with vyre.graph() as nothing:
        pass
    nothing.replay(10)
    nothing.wait()
    data = vyre.array(A, **place)
    with vyre.graph() as idle:
        ADD_ONE(data, workgroups=0)
    idle.replay(3)
    idle.replay(2**62)  # there is nothing to repeat
    nothing.replay(2**62)
    with vyre.graph() as outer:
        nothing.replay(2**62)
    assert len(outer) == 0
    np.testing.assert_array_equal(data.numpy(), A)
    assert (len(nothing), len(idle), bool(nothing)) == (0, 1, True)
    assert repr(nothing) == "<vyre.Graph: 0 calls>"


def test_only_the_thread_that_records_is_recorded(place):
    data, other = vyre.empty(64, **place), vyre.empty(64, **place)

    def elsewhere():
        ADD_ONE(other, workgroups=1)
        assert other.numpy()[0] == 1

    with vyre.graph() as graph:
        ADD_ONE(data, workgroups=1)
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert len(graph) == 1
    assert other.numpy()[0] == 1


def test_threads_may_replay_it_together(place):
    data = vyre.empty(64, **place)
    with vyre.graph() as graph:
        ADD_ONE(data, workgroups=1)
        ADD_ONE(data, workgroups=1)
    in_threads(lambda _: [graph.replay(2) for _ in range(10)], range(4))
    np.testing.assert_array_equal(data.numpy(), np.full(64, 4 * 10 * 2 * 2, np.uint32))


def test_progress_is_told_until_all_is_done(place):
    data = vyre.empty(64, **place)
    with vyre.graph() as graph:
        ADD_ONE(data, workgroups=1)
    seen = []
    graph.replay(100, progress=lambda done, total: seen.append((done, total, int(data.numpy()[0]))))
    assert seen[0] == (0, 100, 0)
    assert seen[-1] == (100, 100, 100)
    assert all(done == value and total == 100 for done, total, value in seen)
    assert [done for done, _, _ in seen] == sorted({done for done, _, _ in seen})


def test_a_bar_shows_progress(capsys):
    pytest.importorskip("tqdm")
    data = vyre.empty(64, backend="cpu")
    with vyre.graph() as graph:
        ADD_ONE(data, workgroups=1)
    graph.replay(50, progress=True)
    assert "50/50" in capsys.readouterr().err
    assert data.numpy()[0] == 50


def test_what_cannot_be_replayed_is_refused_while_recording(place):
    data = vyre.array(A, **place)
    tail = (
        " has no place in a graph: the calls recorded so far have not run, and a replay would leave it out. "
        "Fix: call it after the with-block, and after replay()."
    )
    with vyre.graph() as graph:
        ADD_ONE(data, workgroups=16)
        for what, call in (
            ("Array.numpy", data.numpy),
            ("Array.numpy", lambda: np.asarray(data)),
            ("Array.wait", data.wait),
            ("Array.write", lambda: data.write(0)),
            ("Array.write", lambda: data.__setitem__(slice(0, 1), 0)),
            ("vyre.run", lambda: vyre.run(ADD_ONE, {"data": A}, (16, 1, 1))),
        ):
            assert message(call, vyre.ArgumentError) == what + tail
        more = vyre.array(A, **place)  # not part of it, and harmless
        MIX(more, data, workgroups=16)
    graph.replay()
    np.testing.assert_array_equal(data.numpy(), (A + 1) * 3 + A)


@vyre.kernel
def doubled(x: vyre.In[vyre.u32], y: vyre.Out[vyre.u32]):
    i = vyre.gid(0)
    y[i] = x[i] * 2


def test_a_kernel_on_numpy_arrays_in_a_graph_is_told_to_take_resident_ones(place):
    x = np.arange(4, dtype=np.uint32)
    with vyre.graph():
        assert message(lambda: doubled(x), vyre.ArgumentError) == (
            "each argument of kernel `doubled` is not resident, and a graph records calls on resident arrays. "
            "Fix: pass vyre.array(x)."
        )
    assert doubled(x, **place).tolist() == [0, 2, 4, 6]
    with vyre.graph() as graph:
        y = doubled(vyre.array(x, **place))
    graph.replay()
    assert y.numpy().tolist() == [0, 2, 4, 6]
    with pytest.raises(ZeroDivisionError), vyre.graph():
        raise ZeroDivisionError
    assert doubled(x, **place).tolist() == [0, 2, 4, 6]


def test_a_block_that_raises_leaves_no_graph_and_no_recording(place):
    data = vyre.array(A, **place)
    graph = vyre.graph()
    assert repr(graph) == "<vyre.Graph: not recorded yet>"

    def record():
        with graph:
            ADD_ONE(data, workgroups=16)
            ADD_ONE(A, workgroups=16)

    assert "wants a vyre.Array" in message(record, vyre.BindingError)
    assert repr(graph) == "<vyre.Graph: not recorded>"
    assert message(graph.replay, vyre.ArgumentError) == (
        "the graph was not recorded: its with-block raised. Fix: make a new one with vyre.graph()."
    )
    np.testing.assert_array_equal(ADD_ONE(data, workgroups=16).numpy(), A + 1)


def test_a_graph_that_the_backend_refuses_is_recorded_no_more():
    class Refused:
        def __init__(self, core):
            self.begin, self._end = core.begin, core.end

        def end(self, failed):
            self._end(failed=True)
            raise vyre.DeviceError("refused")

    data, graph = vyre.array(A, backend="cpu"), vyre.graph()
    graph._core = Refused(graph._core)
    with pytest.raises(vyre.DeviceError, match="refused"), graph:
        ADD_ONE(data, workgroups=16)
    np.testing.assert_array_equal(doubled(A, backend="cpu"), A * 2)


def test_mistakes_are_told():
    data = vyre.empty(64, backend="cpu")
    graph = vyre.graph()
    assert message(graph.replay, vyre.ArgumentError) == (
        "the graph is not recorded yet. Fix: call programs in its with-block, and replay it after that."
    )
    with graph:
        ADD_ONE(data, workgroups=1)
        assert problem(graph.replay, vyre.ArgumentError) == "the graph is not recorded yet."
        assert message(vyre.graph().__enter__, vyre.ArgumentError) == (
            "this thread records another graph already. "
            "Fix: end its with-block first; a graph's replay() can be recorded."
        )
        assert (
            message(lambda: ADD_ONE(vyre.empty(64, backend="reference"), workgroups=1), vyre.BindingError)
            == "the graph records calls on cpu, this one is on reference. Fix: record a graph for each device."
        )
    assert repr(graph) == "<vyre.Graph: 1 call on cpu>"
    assert problem(graph.__enter__, vyre.ArgumentError) == "a graph records once, and this one has."
    for times in (-1, 1.5, True, "3", 2**63):
        assert message(lambda times=times: graph.replay(times), vyre.ArgumentError) == (
            f"argument `times` of Graph.replay must be a count from 0 to 2^63 - 1, got {times!r}. "
            f"Fix: pass a count from 0 to 2^63 - 1."
        )
    for way in (copy.copy, copy.deepcopy, pickle.dumps):
        assert message(lambda way=way: way(graph), vyre.ArgumentError) == (
            "a vyre.Graph works with memory of a device, which is not copied or pickled. Fix: record it again there."
        )
    graph.replay(np.uint8(3))
    assert data.numpy()[0] == 3


@pytest.mark.skipif(len(PLACES) < 4, reason="needs two devices")
def test_a_graph_has_one_device():
    (one, one_index), (other, other_index) = PLACES[2:4]
    first, second = vyre.empty(64, backend=one, device=one_index), vyre.empty(64, backend=other, device=other_index)
    with vyre.graph():
        ADD_ONE(first, workgroups=1)
        assert problem(lambda: ADD_ONE(second, workgroups=1), vyre.BindingError) == (
            f"the graph records calls on {one} device {one_index}, this one is on {other} device {other_index}."
        )


def test_a_failed_call_in_a_graph_fails_what_it_was_to_write(place):
    rounds = Program(
        [BufferDecl.read("n", 0, vyre.u32), BufferDecl.read_write("data", 1, vyre.u32)],
        (1, 1, 1),
        [Node.loop("k", 0, Expr.load("n", 0), [Node.store("data", 0, Expr.load("data", 0) + 1)])],
    )
    here = next((d for d in vyre.devices() if (d.backend, d.index) == (place["backend"], place["device"])), None)
    limit = here.probes.get("loop_budget") if here else None
    n, data, other = vyre.array(np.uint32([70_000]), **place), vyre.empty(1, **place), vyre.empty(64, **place)
    with vyre.graph() as graph:
        ADD_ONE(other, workgroups=1)
        rounds(n, data, workgroups=1)
    if place["backend"] != "vulkan" or not str(limit).isdigit():
        graph.replay(2)
        assert (int(data.numpy()[0]), int(other.numpy()[0])) == (140_000, 2)
        return
    # This driver ends loops early, so the results of the calls are unknown.
    assert "ends loops after" in message(graph.replay, vyre.CapabilityError)
    for array in (data, other):
        assert "ends loops after" in message(array.numpy, vyre.CapabilityError)
    n.write(10)
    data.write(0)
    other.write(0)
    graph.replay(2)
    assert (int(data.numpy()[0]), int(other.numpy()[0])) == (20, 2)


# Only devices do not survive a fork.
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("where", [where for where in PLACES if where[1] is not None], ids=name_of)
def test_a_forked_child_is_told(where):
    data = vyre.array(A, backend=where[0], device=where[1])
    with vyre.graph() as graph:
        ADD_ONE(data, workgroups=16)
    graph.replay()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            graph.replay()
        except vyre.DeviceError:
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    np.testing.assert_array_equal(data.numpy(), A + 1)
