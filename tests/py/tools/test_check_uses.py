"""A load beyond its array, or of what nothing wrote, is a mistake if its value is used, and not if it is dropped."""

from __future__ import annotations

import numpy as np
import pytest

import vyre

HEAD = """vyre 1
workgroup_size 2 1 1
buffer a: read u32 binding 0
buffer b: read_write u32 binding 1
buffer pairs: read u64 binding 2
buffer out: read_write u32 binding 3
buffer count: read_write u32 binding 4
buffer tile: workgroup u32 count 2
buffer own: private u32 count 2

"""

# A load is written `bad` (of a u64 `bad_pair`), and `n` is 3, which no compiler knows.
USED = {
    "stored": "out[0] = bad + 1",
    "stored in memory of the workgroup": "tile[0] = bad",
    "stored in memory of the invocation": "own[0] = bad",
    "a condition": "if bad == 5 {\n  out[0] = 1\n}",
    "an index of a load": "out[0] = a[bad]",
    "an index of a store": "out[bad] = 1",
    "an index of a store beyond its array": "out[bad + 1000] = 1",
    "an index of an atomic": "let old = atomic_add(count, bad, 1)",
    "an operand of an atomic": "let old = atomic_add(count, 0, bad)",
    "the expected value of an atomic": "let old = atomic_compare_exchange(count, 0, bad, 1)",
    "an end of a loop": "loop k in 0..bad {\n  out[k] = 1\n}",
    "a beginning of a loop": "loop k in bad..n {\n  out[k] = 1\n}",
    "through a variable": "let x = bad\nlet y = x\nout[0] = y",
    "through a barrier": "let x = bad\nbarrier\nout[0] = x",
    "through an assignment in a loop": "let x = 0\nloop k in 0..n {\n  x = x + bad\n}\nout[0] = x",
    "an arm that is taken": "out[0] = select(n == 3, bad, 1)",
    "the condition of a select": "out[0] = select(bad == 0, 1, 2)",
    "a side that is not decided": "out[0] = logical_and(bad == 0, n == 3)",
    "a bit that is not decided": "out[0] = bad & n",
    "both sides": "out[0] = logical_or(bad == 0, bad == 1)",
    "a lane": "out[0] = lane(bad_pair, 1)",
    "a pair": "let p = bad_pair\nlet q = p\nout[0] = lane(q, 0)",
    "through an operation": 'out[0] = lane(call("primitive.u64.div", bad_pair, 3u64), 0)',
}
NOT_USED = {
    "never": "let x = bad",
    "an arm that is not taken": "out[0] = select(n == 4, bad, 1)",
    "in a sum of such an arm": "let x = bad + 1\nout[0] = select(n == 4, x * 2, 1)",
    "an arm of an arm": "out[0] = select(n == 4, select(bad == 1, 2, 3), 1)",
    "a side that `and` decides away": "out[0] = logical_and(n == 4, bad == 1)",
    "the other side of an `and`": "if logical_and(bad == 1, n == 4) {\n  out[0] = 1\n}",
    "a side that `or` decides away": "if logical_or(n == 3, bad == 1) {\n  out[0] = 1\n}",
    "bits that are masked": "out[0] = bad & (n - 3)",
    "bits that are all set": "out[0] = bad | (n - 4)",
    "a truth that is or-ed with one": "out[0] = (bad == 1) | (n == 3)",
    "a store beyond its array": "out[1000] = bad",
    "a value that is overwritten": "let x = bad\nx = 1\nout[0] = x",
    "a pair that is not taken": "let p = select(n == 4, bad_pair, 1u64)\nout[0] = lane(p, 0)",
    "an index of a load that is dropped": "out[0] = select(n == 4, a[bad], 1)",
    "an index of an index of such a load": "out[0] = select(n == 4, a[a[bad]] + 1, 1)",
    "the other lane": "let p = pack(u64, bad, n)\nout[0] = lane(p, 1)",
    "in an operation whose result is not taken": 'let q = call("primitive.u64.div", bad_pair, 3u64)\n'
    "out[0] = lane(select(n == 4, q, 1u64), 0)",
}
LOADS = {"out-of-bounds": ("a[9]", "pairs[9]"), "uninitialised-read": ("b[1]", "pack(u64, b[1], b[1])")}


def reports(body, check, schedule=None):
    load, pair = LOADS[check]
    text = body.replace("bad_pair", pair).replace("bad", load)
    program = vyre.parse(HEAD + f"if gid.x == 0 {{\n  own[1] = 0\n}}\nlet n = a[0]\n{text}\n")
    given = {
        "a": np.full(4, 3, np.uint32),
        "b": 2,
        "pairs": np.ones(4, np.uint64),
        "out": np.zeros(8, np.uint32),
        "count": np.zeros(1, np.uint32),
    }
    found = vyre.check(program, given, 1, checks=check, schedule=schedule).reports
    assert {each.check for each in found} <= {check}
    return found


@pytest.mark.parametrize("schedule", [None, "random:7"])
@pytest.mark.parametrize("check", LOADS)
@pytest.mark.parametrize("use", USED)
def test_a_value_that_is_used_is_reported_where_it_is_loaded(use, check, schedule):
    found = [each for each in reports(USED[use], check, schedule) if each.buffer != "out"]
    assert found, USED[use]
    assert all(each.witness.access == "read" for each in found)


@pytest.mark.parametrize("check", LOADS)
@pytest.mark.parametrize("use", NOT_USED)
def test_a_value_that_is_dropped_is_not_reported(use, check):
    assert [each for each in reports(NOT_USED[use], check) if each.buffer != "out"] == []


def test_each_load_of_a_sum_is_reported_and_counts_once():
    found = reports("let x = a[8] + a[9]\nout[gid.x] = x\nout[gid.x + 2] = x", "out-of-bounds")
    assert [(each.index, each.count) for each in found] == [(8, 4)]  # two loads of two invocations
    found = reports("let x = a[8]\nlet y = a[9]\nout[gid.x] = x + y\nout[gid.x + 2] = x", "out-of-bounds")
    assert [(each.index, each.count) for each in found] == [(8, 2), (9, 2)]
