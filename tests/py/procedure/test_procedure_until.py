"""Loops of procedures and graphs that an element ends, against Python and numpy."""

import itertools
import random

import numpy as np
import pytest

import vyre
from conftest import message
from small_kernels import doubled, evens
from vyre import In, InOut, boolean, conformance, i8, i16, i32, u8, u16, u32, u64
from vyre.errors import ArgumentError

TYPES = {np.uint8: u8, np.int8: i8, np.uint16: u16, np.int16: i16, np.uint32: u32, np.int32: i32, np.uint64: u64}


@vyre.kernel
def count(x: InOut[u32], ends: InOut[u32], last: u32):
    x[0] += 1
    ends[0] = x[0] >= last


@vyre.procedure
def counted(x: InOut[u32], last: u32, most: u32):
    ends = vyre.scratch(u32, 1, zeros=True)
    for _ in vyre.times(most, until=ends):
        count(x, ends, last, grid=1)


def test_a_loop_runs_until_its_element_is_not_0(target):
    for last, most in itertools.product((0, 1, 2, 5), (0, 1, 3, 6)):
        x = np.zeros(1, np.uint32)
        counted(x, last, most, **target)
        assert x[0] == min(max(last, 1), most)


@pytest.mark.parametrize("dtype", [*TYPES, np.bool_])
def test_any_integer_and_boolean_ends_a_loop_before_its_first_turn(target, dtype):
    @vyre.kernel
    def turned(x: InOut[u32], ends: InOut[TYPES.get(dtype, boolean)]):
        x[0] += 1
        ends[1] = ends[1]

    @vyre.procedure
    def run(x: InOut[u32], ends: InOut[TYPES.get(dtype, boolean)]):
        for _ in vyre.times(3, until=ends[1:2]):
            turned(x, ends, grid=1)

    top = (
        True if dtype is np.bool_ else np.iinfo(dtype).max // 2 + 1 if np.iinfo(dtype).min == 0 else np.iinfo(dtype).min
    )
    for value, turns in ((0, 3), (1, 0), (top, 0)):
        x, ends = np.zeros(1, np.uint32), np.array([1, value, 1], dtype)
        run(x, ends, **target)
        assert x[0] == turns


@vyre.kernel
def mix(x: In[u32], y: InOut[u32], k: u32):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = y[i] * 3 + x[i] + k


@vyre.kernel
def decide(x: In[u32], ends: InOut[u32], at: u32, part: u32):
    ends[at] = x[0] % 5 < part


@vyre.kernel
def sized(x: In[u32], counts: InOut[u32]):
    if vyre.gid(0) < len(counts):
        counts[vyre.gid(0)] = 1 + (x[0] & 1)


@vyre.procedure
def inner(x: In[u32], y: InOut[u32]):
    a, b, ends = (vyre.scratch(u32, n, zeros=True) for n in (x.length, x.length, 1))
    evens(x, a)
    vyre.clear(ends)
    for i in vyre.times(3, until=ends):
        mix(a, b, i + 1)
        vyre.swap(a, b)
        decide(a, ends, 0, 2, grid=1)
    mix(a, y, 7)
    return b


N = 5


def inner_model(x, y):
    a, b, ends = np.where(np.arange(N) % 2, np.uint32(0), x), np.zeros(N, np.uint32), False
    for i in range(3):
        if ends:
            break
        b = b * np.uint32(3) + a + np.uint32(i + 1)
        a, b = b, a
        ends = a[0] % 5 < 2
    return b, y * np.uint32(3) + a + np.uint32(7)


def drawn(rng, depth, turns=0):
    """Random steps; `turns` are the loops around them."""
    steps = []
    for _ in range(rng.randint(2, 5)):
        kind = rng.choice(["mix", "mix", "swap", "clear", "inner", "grid", *["loop", "loop", "when"] * (depth > 0)])
        a, b = rng.sample("abc", 2)
        if kind == "loop":
            end = rng.choice([None, depth, depth])
            body = drawn(rng, depth - 1, turns + 1)
            if end is not None:
                body.insert(rng.randrange(len(body) + 1), ("decide", rng.choice("abc"), depth, rng.randrange(3)))
            steps.append(("loop", rng.randrange(5), end, body))
        elif kind == "when" and turns:
            steps.append(("when", rng.randrange(2), drawn(rng, 0, turns)))
        else:
            steps.append((kind if kind != "when" else "mix", a, b, rng.randrange(9)))
    return steps


def recorded(steps, arrays, ends, counts, turn):
    for kind, *rest in steps:
        if kind == "loop":
            most, end, body = rest
            for i in vyre.times(most, until=None if end is None else ends[end : end + 1]):
                recorded(body, arrays, ends, counts, i)
        elif kind == "when":
            with vyre.when(turn % 2 == rest[0]):
                recorded(rest[1], arrays, ends, counts, turn)
        elif kind == "decide":
            decide(arrays[rest[0]], ends, rest[1], rest[2], grid=1)
        else:
            a, b = (arrays[name] for name in rest[:2])
            if kind == "mix":
                mix(a, b, rest[2])
            elif kind == "swap":
                vyre.swap(a, b)
            elif kind == "clear":
                vyre.clear(a[1:3])
            elif kind == "inner":
                inner(a, b, out=arrays[next(each for each in "abc" if each not in rest[:2])])
            else:
                sized(a, counts, grid=3)
                mix(a, b, rest[2], workgroups=counts, at_most=1)


def modelled(steps, arrays, ends, turn):
    for kind, *rest in steps:
        if kind == "loop":
            most, end, body = rest
            for i in range(most):
                if end is not None and ends[end]:
                    break
                modelled(body, arrays, ends, i)
        elif kind == "when":
            if turn % 2 == rest[0]:
                modelled(rest[1], arrays, ends, turn)
        elif kind == "decide":
            ends[rest[1]] = arrays[rest[0]][0] % 5 < rest[2]
        else:
            a, b = rest[:2]
            if kind in ("mix", "grid"):
                arrays[b] = arrays[b] * np.uint32(3) + arrays[a] + np.uint32(rest[2])
            elif kind == "swap":
                arrays[a], arrays[b] = arrays[b], arrays[a]
            elif kind == "clear":
                arrays[a] = np.concatenate([arrays[a][:1], [0, 0], arrays[a][3:]]).astype(np.uint32)
            else:
                c = next(each for each in "abc" if each not in rest[:2])
                arrays[c], arrays[b] = inner_model(arrays[a], arrays[b])


def procedure_of(steps):
    @vyre.procedure
    def made(x: In[u32], ends: InOut[u32]):
        arrays = {name: vyre.scratch(u32, x.length, zeros=True, name=name) for name in "abc"}
        counts = vyre.scratch(u32, 3, zeros=True)
        for k, name in enumerate("abc"):
            mix(x, arrays[name], k)
        recorded(steps, arrays, ends, counts, 0)
        return arrays["a"], arrays["b"], arrays["c"]

    return made


@pytest.mark.parametrize("seed", range(12))
def test_random_loops_give_what_python_gives(target, seed):
    print("seed", seed)
    rng = random.Random(seed)
    steps = drawn(rng, 3)
    made = procedure_of(steps)
    x = np.array([rng.randrange(2**32) for _ in range(N)], np.uint32)
    ends = np.zeros(4, np.uint32)
    arrays = {name: x + np.uint32(k) for k, name in enumerate("abc")}
    wanted_ends = [0] * 4
    modelled(steps, arrays, wanted_ends, 0)
    for _ in range(2):  # a plan is used again
        given = ends.copy()
        found = made(x, given, **target)
        assert given.tolist() == [*map(int, wanted_ends)]
        for name, each in zip("abc", found, strict=True):
            assert np.array_equal(each, arrays[name]), name
    if target["backend"] == "reference":
        read = vyre.Procedure.parse(made.text)
        assert read == made.procedure
        assert vyre.Procedure.from_bytes(read.to_bytes()) == read
        result = vyre.check(read, {"x": x, "ends": ends})
        assert result.ok, result
        assert np.array_equal([*result.outputs.values()][-1], arrays["c"])
        assert vyre.bisect(made, {"x": x, "ends": ends}, backend="cpu") is None


def test_a_result_that_no_turn_writes_keeps_what_was_there(target):
    """An invocation fills its output with zeros first, and one in a turn that is not run does not."""

    @vyre.procedure
    def scattered(x: In[u32]):
        y = vyre.scratch(u32, x.length)
        evens(x, y)
        return y

    @vyre.procedure
    def made(x: In[u32], ends: InOut[u32]):
        y = vyre.scratch(u32, x.length)
        doubled(x, y)
        for _ in vyre.times(2, until=ends):
            scattered(x, out=y)
            decide(x, ends, 0, 5, grid=1)
        return y

    x = np.arange(1, 7, dtype=np.uint32)
    assert made(x, np.ones(1, np.uint32), **target).tolist() == (2 * x).tolist()
    assert made(x, np.zeros(1, np.uint32), **target).tolist() == [1, 0, 3, 0, 5, 0]


def test_a_step_of_a_turn_that_is_not_run_is_not_reported():
    @vyre.procedure
    def made(x: In[u32], ends: InOut[u32]):
        y, z = vyre.scratch(u32, x.length, name="y"), vyre.scratch(u32, x.length, zeros=True, name="z")
        for _ in vyre.times(2, until=ends):
            evens(x, y)
            mix(y, z, 0)
            decide(x, ends, 0, 5, grid=1)
        return z

    x = np.arange(6, dtype=np.uint32)
    assert made.check(x, np.ones(1, np.uint32)).ok
    (report,) = made.check(x, np.zeros(1, np.uint32)).reports
    assert (report.check, report.step.array, report.count) == ("uninitialised-read", "y", 3)


def test_an_element_that_nothing_has_written_is_reported():
    @vyre.procedure
    def made(x: InOut[u32]):
        ends = vyre.scratch(u32, 4, name="ends")
        evens(x, ends[0:1])
        for _ in vyre.times(2, until=ends[1:2]):
            count(x, ends, 5, grid=1)

    (report,) = made.check(np.zeros(1, np.uint32)).reports
    assert (report.check, report.step.array, report.step.index) == ("uninitialised-read", "ends", 1)
    assert report.step.place.what == "a repetition in procedure `made`"


def test_a_certificate_has_what_the_loop_gave():
    calls = [{"x": 1, "last": 4, "most": 9}]
    certificate = conformance.certify_procedure(counted, calls, seed=1, backend="cpu")
    assert conformance.verify_procedure(certificate, counted, backend="reference").agrees


# --- graphs ---


def test_a_loop_in_a_graph_ends_in_each_replay(place):
    x, ends = vyre.zeros(1, dtype=u32, **place), vyre.zeros(3, dtype=u32, **place)
    with vyre.graph() as graph:
        for _ in vyre.times(6, until=ends[1:2]):
            count(x, ends[1:2], 4, grid=1)
    assert x.numpy()[0] == 0
    graph.replay()
    assert x.numpy()[0] == 4
    graph.replay(2)
    assert x.numpy()[0] == 4
    ends.write(np.zeros(3, np.uint32))
    graph.replay(2)
    assert (x.numpy()[0], ends.numpy().tolist()) == (5, [0, 1, 0])


def test_loops_in_loops_of_a_graph_give_what_python_gives(place):
    @vyre.procedure
    def up(x: InOut[u32], ends: InOut[u32], last: u32):
        for _ in vyre.times(2):
            count(x, ends, last, grid=1)

    for outer_last, inner_last in ((4, 2), (9, 5), (1, 1), (20, 3)):
        x, y = vyre.zeros(1, dtype=u32, **place), vyre.zeros(1, dtype=u32, **place)
        ends, inner_ends, counts = (vyre.zeros(n, dtype=u32, **place) for n in (1, 1, 3))
        with vyre.graph() as graph:
            for _ in vyre.times(5, until=ends):
                for _ in vyre.times(2, until=inner_ends):
                    count(y, inner_ends, inner_last, grid=1)
                for _ in vyre.times(2):
                    up(x, ends, outer_last)
                sized(y, counts, grid=3)
                mix(x, y, 0, workgroups=counts, at_most=1)
        graph.replay()
        a = b = is_ended = is_inner_ended = 0
        for _ in range(5):
            if is_ended:
                break
            for _ in range(2):
                if not is_inner_ended:
                    b += 1
                    is_inner_ended = b >= inner_last
            a += 4
            is_ended = a >= outer_last
            b = b * 3 + a
        assert (x.numpy()[0], y.numpy()[0]) == (a, b)


def test_a_procedure_with_such_a_loop_joins_loops_of_a_graph(place):
    x, ends = vyre.zeros(1, dtype=u32, **place), vyre.zeros(1, dtype=u32, **place)
    with vyre.graph() as graph:
        for _ in vyre.times(4, until=ends):
            counted(x, 3, 5)
            count(x, ends, 5, grid=1)
    graph.replay()
    assert x.numpy()[0] == 6  # 3 and 1, then 1 and 1


def cut(place, body):
    def record():
        with vyre.graph():
            body(vyre.zeros(1, dtype=u32, **place), vyre.zeros(1, dtype=u32, **place))

    return message(record, ArgumentError)


def test_a_loop_of_a_graph_is_written_whole():
    place = {"backend": "cpu"}
    lost = "the graph calls vyre.times without a loop over it, or break or return has left the loop"

    def left(x, ends):
        for _ in vyre.times(3, until=ends):
            count(x, ends, 3, grid=1)
            break

    assert cut(place, left).startswith(lost)
    assert cut(place, lambda x, ends: vyre.times(3, until=ends)).startswith(lost)

    def empty(x, ends):
        for _ in vyre.times(3, until=ends):
            pass

    assert cut(place, empty).startswith("a loop over vyre.times repeats no calls")
    assert "a count from 0" in cut(place, lambda x, ends: vyre.times(-1))
    assert "a vyre.Array of one element, got shape (2,)" in cut(
        place, lambda x, ends: vyre.times(3, until=vyre.zeros(2, **place))
    )
    with vyre.graph() as ended:
        x, ends = vyre.zeros(1, dtype=u32, **place), vyre.zeros(1, dtype=u32, **place)
        for _ in vyre.times(2, until=ends):
            count(x, ends, 3, grid=1)

    def replayed(x, ends):
        for _ in vyre.times(2, until=ends):
            ended.replay()

    assert cut(place, replayed).startswith("a loop over vyre.times with until= replays a graph that has such a loop")
    with vyre.graph() as outer:
        ended.replay(2)
    outer.replay()
    assert x.numpy()[0] == 3


def test_an_element_that_no_call_of_a_graph_s_loop_writes_does_not_end_it():
    def never(x, ends):
        for _ in vyre.times(3, until=ends):
            x += 1

    assert cut({"backend": "cpu"}, never).startswith("argument `until` of vyre.times is an array that no call")


CARRIED = {
    ("", "x = x + 1"): "`x` is read at line",
    ("", "x, y = y, x; x += 1"): "`x` is read at line",
    ("", "x += k; k *= 2"): "`k` is read at line",
    ("", "y = x + 1; x += 1"): None,
    ("", "x += k; z = x + 1"): None,
    ("enumerate", "x += _[0]"): "line 5 of script.py takes a turn of vyre.times without a loop over it",
    ("zip", "x += 1"): "line 5 of script.py takes a turn of vyre.times without a loop over it",
}


@pytest.mark.parametrize("in_function", [False, True])
@pytest.mark.parametrize(("over", "body"), CARRIED)
def test_what_a_graph_s_loop_carries_or_counts_is_refused_in_scripts_and_functions(tmp_path, over, body, in_function):
    lines = ["x, y = (vyre.zeros(2, dtype=vyre.u32, backend='cpu') for _ in range(2))", "k = 1"]
    lines += [
        "with vyre.graph() as graph:",
        f"    for _ in {over}(vyre.times(3)):",
        f"        {body}",
        "graph.replay()",
    ]
    lines += ["found.append((x.numpy()[0], y.numpy()[0]))"]
    head = ["def run():", *(f"    {line}" for line in lines), "run()"] if in_function else lines
    path = tmp_path / "script.py"
    path.write_text("\n".join(["import vyre", *head]), encoding="utf-8")
    found = []

    def run():
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), {"found": found, "__name__": "script"})

    wanted = CARRIED[over, body]
    if wanted is None:
        run()
        assert found == [(3, 3) if "y =" in body else (3, 0)]
    else:
        assert message(run, ArgumentError).startswith(wanted.replace("5", str(5 + in_function)))


def test_a_kernel_with_a_loop_over_vyre_times_is_told_so_in_a_graph_too():
    @vyre.kernel
    def wrong(x: InOut[u32]):
        for _ in vyre.times(3):
            x[0] += 1

    x = vyre.zeros(1, dtype=u32, backend="cpu")
    alone = message(lambda: wrong(x, grid=1), vyre.KernelError)
    with pytest.raises(vyre.KernelError) as error, vyre.graph():
        wrong(x, grid=1)
    assert str(error.value) == alone


def test_an_inner_loop_of_a_graph_may_have_no_turn():
    x = vyre.zeros(1, dtype=u32, backend="cpu")
    with vyre.graph() as graph:
        for _ in vyre.times(3):
            for _ in vyre.times(0):
                x += 1
        x += 5
    graph.replay()
    assert x.numpy()[0] == 5
