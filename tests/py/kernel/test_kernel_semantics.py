"""A kernel does what Python means on every backend: lists, early exits, helpers. More forms are in kernel_forms.txt."""

import collections

import numpy as np
import pytest

import vyre
from vyre import In, InOut, Out, boolean, u32

A = np.array([1, 2, 3, 9, 0, 250], np.uint32)


def run(kernel, *more, **target):
    """What the kernel makes of A, as a list of integers."""
    made = kernel(A, *more, **(target or {"backend": "reference"}))
    return (made[0] if isinstance(made, tuple) else made).tolist()


@vyre.kernel
def lists_in_branches(a: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    t = [a[i], 5]
    same = t
    if a[i] > 2:
        t[0] = t[0] * 10
        t += [1]
        t.pop()
    else:
        t[1] = 7
    out[i] = same[0] + t[1] * 1000


def test_a_list_that_a_branch_changes_is_changed_on_its_path(target):
    assert run(lists_in_branches, **target) == [x * 10 + 5000 if x > 2 else x + 7000 for x in A.tolist()]


@vyre.kernel
def lists_in_loops(a: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    t = [a[i], 1, 0]
    for k in range(a[i] % 7):
        t[2] = t[0]
        if k % 2 == 0:
            t[0], t[1] = t[1], t[0] + t[1]
        else:
            for _ in range(2):
                t[1] ^= t[0]
    out[i] = t[0] + t[1] * 3 + t[2] * 7


def lists_in_loops_by_python(x):
    t = [x, 1, 0]
    for k in range(x % 7):
        t[2] = t[0]
        if k % 2 == 0:
            t[0], t[1] = t[1], t[0] + t[1]
        else:
            for _ in range(2):
                t[1] ^= t[0]
    return (t[0] + t[1] * 3 + t[2] * 7) & 0xFFFFFFFF


def test_a_list_that_a_loop_changes_goes_from_turn_to_turn(target):
    assert run(lists_in_loops, **target) == [lists_in_loops_by_python(x) for x in A.tolist()]


@vyre.kernel
def endless(a: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    n = a[i]
    while True:
        digit = n & 7
        if digit == 3:
            break
        n = n * 5 + 1 & 0xFF
        if n == 0:
            return
    out[i] = n * 1000 + digit


def endless_by_python(n):
    while True:
        digit = n & 7
        if digit == 3:
            return n * 1000 + digit
        n = n * 5 + 1 & 0xFF
        if n == 0:
            return 0


def test_what_every_break_has_assigned_is_assigned_after_an_endless_loop(target):
    assert run(endless, **target) == [endless_by_python(x) for x in A.tolist()]


@vyre.kernel
def effects_in_arms(a: In[u32], out: Out[u32], count: InOut[u32]):
    i = vyre.gid(0)
    first = 5 if a[i] > 2 else count.atomic_add(i, 1)
    second = count.atomic_add(i, 10) if a[i] > 2 else 6
    out[i] = first + 100 * second


def test_an_atomic_in_an_arm_happens_where_the_arm_is_taken(target):
    count = np.zeros(len(A), np.uint32)
    assert run(effects_in_arms, None, count, **target) == [5 if x > 2 else 600 for x in A.tolist()]
    assert count.tolist() == [10 if x > 2 else 1 for x in A.tolist()]


@vyre.kernel
def truths(flags: In[boolean], f: boolean, n: u32, out: Out[u32]):
    i = vyre.gid(0)
    x = flags[i]
    if not x and (f or n > 3):
        out[i] = 1
    elif f and x:
        out[i] = 2
    b = boolean(n)
    while not b:
        b = boolean(True)
    if b or f:
        out[i] |= 8


@pytest.mark.parametrize("f", [False, True])
@pytest.mark.parametrize("n", [0, 5])
def test_bools_are_conditions(target, f, n):
    flags = np.array([True, False])
    given = truths(flags, f, n, np.zeros(2, np.uint32), **target)
    assert given.tolist() == [(1 if not x and (f or n > 3) else 2 if f and x else 0) | 8 for x in flags.tolist()]


@vyre.kernel
def private_in_a_loop(a: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    total = 0
    for k in range(3):
        seen = vyre.local(u32, 4)
        total = total * 10 + seen[1]
        seen[1] = k + a[i]
    values = vyre.local(u32, [a[i], 2, 3])
    copied = values.copy()
    values[a[i] % 3] = 50
    out[i] = total + copied[a[i] % 3] * 100 + values[a[i] % 3]


def test_a_private_array_is_new_where_it_is_made(target):
    assert run(private_in_a_loop, **target) == [[x, 2, 3][x % 3] * 100 + 50 for x in A.tolist()]


@vyre.kernel
def rotated(a: In[u32], out: Out[u32]):
    i = vyre.gid(0)
    d = collections.deque([1, 2, 3])
    if a[i] > 2:
        d.rotate(1)
    out[i] = d[0]


def test_containers_that_cannot_be_joined_are_refused_where_a_branch_changes_them():
    with pytest.raises(vyre.KernelError) as caught:
        run(rotated)
    assert caught.value.diagnostics[0].message == (
        "vyre kernel: a Python deque changes under a condition or in a loop that runs on the device. "
        "Fix: use a list of values, or vyre.local(vyre.u32, n)."
    )


def either(first, second, i):
    if i & 1:
        value = first[i]
    else:
        value = second[i]
    return value


@vyre.kernel
def of_two_types(a: In[u32], out: Out[u32], wide: Out[vyre.u64]):
    i = vyre.gid(0)
    for r in range(2):
        out[i] = either(a, a, i + r)
        wide[i] = either(wide, wide, i) + vyre.u64(either(a, a, i))


def test_a_helper_takes_values_of_another_type_at_each_call(target):
    narrow, wide = of_two_types(A, wide=np.zeros(len(A), np.uint64), **target)
    assert narrow.tolist() == [*A[1:].tolist(), 0]
    assert wide.tolist() == (2 * A).tolist()
