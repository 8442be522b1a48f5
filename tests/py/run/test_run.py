"""vyre.run: grids, ids, loops, barriers, backends, time-outs and threads."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import vyre
from conftest import message, problem
from programs import xor
from threads import in_threads
from vyre import BufferDecl, DataType, Expr, Node, Program
from wrong_calls import wrong_calls

U32 = DataType.U32


def spin(rounds: int, outer: int = 1) -> Program:
    """out[0] counts rounds * outer turns of nested loops."""
    body = [Node.assign("sum", Expr.var("sum") + 1)]
    return Program(
        [BufferDecl.output("out", 0, U32)],
        (1, 1, 1),
        [
            Node.let("sum", 0),
            Node.loop("k", 0, outer, [Node.loop("j", 0, rounds, body)]),
            Node.store("out", 0, Expr.var("sum")),
        ],
    )


@pytest.mark.parametrize("workgroups", [3, (3,), (3, 1), (3, 1, 1), [3], np.int64(3), (np.uint8(3), 1, 1)])
def test_forms_of_workgroups(workgroups, target):
    data = np.arange(192, dtype=np.uint32)
    out = vyre.run(xor(), {"in0": data, "in1": data, "out": np.ones(192, np.uint32)}, workgroups, **target)["out"]
    assert not out.any()


@pytest.mark.parametrize("grid", [0, (0, 1, 1), (4, 0, 4), (2**32 - 1, 0, 1)])
def test_an_empty_grid_runs_nothing(grid, target):
    program = Program([BufferDecl.output("out", 0, U32)], (1, 1, 1), [Node.store("out", 0, 9)])
    assert vyre.run(program, {"out": np.array([5], np.uint32)}, grid, **target)["out"].tolist() == [5]


def test_more_than_2_to_the_32_invocations_on_an_axis(target):
    program = Program([BufferDecl.output("out", 0, DataType.U32)], (64, 1, 1))
    calls = [
        lambda: vyre.run(program, {"out": 1}, 2**26 + 1, **target),
        lambda: vyre.run(program, {"out": 1}, 2**26 + 1, check="all"),
        lambda: program(vyre.empty(1, **target), workgroups=2**26 + 1),
    ]
    for call in calls:
        assert problem(call, vyre.ArgumentError) == (
            "67108865 workgroups of size 64 on axis 0 are 4294967360 invocations, at most 2^32 are allowed."
        )


@pytest.mark.parametrize("timeout", [0, -1, "1", True, float("nan"), float("inf")])
def test_bad_timeout(timeout):
    with pytest.raises(vyre.ArgumentError, match=r"argument `timeout` of vyre.run must be seconds above 0, or None"):
        vyre.run(Program(), {}, 1, backend="reference", timeout=timeout)


def test_unknown_backend_and_device():
    with pytest.raises(vyre.ArgumentError, match=r"argument `backend` of vyre.run must be one of .*, got 'metal'"):
        vyre.run(Program(), {}, 1, backend="metal")
    with pytest.raises(vyre.ArgumentError, match=r"argument `device` of vyre.run must be an index into"):
        vyre.run(Program(), {}, 1, device="first")
    with pytest.raises(vyre.VyreError):
        vyre.run(Program(), {}, 1, backend="vulkan", device=10_000)


def test_an_invalid_program_does_not_run(target):
    with pytest.raises(vyre.ValidationError) as error:
        vyre.run(Program(entry=[Node.assign("x", 1)]), {}, 1, **target)
    assert [d.rule for d in error.value.diagnostics] == ["V006"]


def test_the_best_backend_is_taken_when_none_is_named():
    data = np.arange(64, dtype=np.uint32)
    assert not vyre.run(xor(), {"in0": data, "in1": data, "out": 64}, 1)["out"].any()


def test_backends():
    found = vyre.backends()
    assert found[-1] == "reference"
    assert not set(found) & set(found.unavailable())
    assert repr(found).startswith("[")


def test_a_device_of_the_list_is_taken():
    for device in vyre.devices():
        assert device.limits
        if device.usable:
            data = np.arange(64, dtype=np.uint32)
            inputs = {"in0": data, "in1": data, "out": 64}
            assert not vyre.run(xor(), inputs, 1, backend=device.backend, device=device)["out"].any()


def test_a_timeout_is_typed_and_the_next_call_works():
    # 2^32 turns: hours on the reference.
    with pytest.raises(vyre.DispatchTimeoutError) as error:
        vyre.run(spin(2**16, 2**16), {"out": 1}, 1, backend="reference", timeout=0.1)
    assert isinstance(error.value, TimeoutError)
    assert ". Fix: " in str(error.value)
    assert vyre.run(spin(10), {"out": 1}, 1, backend="reference", timeout=60)["out"].tolist() == [10]


@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_a_timeout_names_the_loops_that_may_take_long(backend):
    @vyre.kernel
    def wraps(x: vyre.InOut[vyre.u32], n: vyre.u32):
        for k in range(4):
            x[0] += k
        for _ in range(n - 1):
            x[0] ^= 1

    first = wraps._function.__code__.co_firstlineno
    with pytest.raises(vyre.DispatchTimeoutError, match=rf"; it loops at {__file__}:{first + 4}\. Fix: "):
        wraps(np.zeros(1, np.uint32), 0, grid=1, timeout=0.2, backend=backend)


def test_the_gil_is_released_while_work_runs():
    finished = threading.Event()

    def work():
        with pytest.raises(vyre.DispatchTimeoutError):
            vyre.run(spin(2**16, 2**16), {"out": 1}, 1, backend="reference", timeout=1.0)
        finished.set()

    thread = threading.Thread(target=work)
    thread.start()
    turns = 0
    while not finished.is_set():
        turns += 1
        time.sleep(0.001)
    thread.join()
    assert turns > 50


def test_calls_from_many_threads(target):
    data = np.arange(256, dtype=np.uint32)
    failures = []

    def work(seed: int):
        other = data * np.uint32(seed)
        for _ in range(5):
            out = vyre.run(xor(), {"in0": data, "in1": other, "out": 256}, 4, **target)["out"]
            if not (out == data ^ other).all():
                failures.append(seed)

    in_threads(work, range(8))
    assert not failures


def test_a_device_brings_its_backend():
    for device in vyre.devices():
        if device.usable:
            assert vyre.run(Program(), {}, 1, device=device) == {}
        assert message(
            lambda device=device: vyre.run(Program(), {}, 1, backend="reference", device=device), vyre.ArgumentError
        ) == (
            "argument `device` of vyre.run must be a device of backend 'reference', got one of 'vulkan'. "
            "Fix: pass a device of backend 'reference'."
        )


def test_devices_are_listed_by_their_backend():
    for name in vyre.backends():
        assert vyre.devices(name) == [device for device in vyre.devices() if device.backend == name]
    assert vyre.devices("reference") == []


def test_limits_of_the_device_are_capability_errors():
    program = Program(workgroup_size=(2**16 + 1, 1, 1))
    with pytest.raises(vyre.CapabilityError):
        vyre.run(program, {}, 1, backend="reference")
    for device in vyre.devices():
        if device.usable:
            with pytest.raises(vyre.CapabilityError):
                vyre.run(program, {}, 1, backend=device.backend, device=device)


def test_lowering_is_deterministic():
    for target in ("spirv", "spirv-asm", "wgsl", "ptx"):
        assert vyre.lower(xor(), target) == vyre.lower(xor(), target)
    assert isinstance(vyre.lower(xor()), bytes)
    assert "@compute" in vyre.lower(xor(), "wgsl")
    assert ".visible .entry main(" in vyre.lower(xor(), "ptx")
    assert "OpEntryPoint" in vyre.lower(xor(), "spirv-asm")
    with pytest.raises(vyre.ArgumentError, match=r"argument `target` of vyre.lower must be"):
        vyre.lower(xor(), "glsl")
    with pytest.raises(vyre.ValidationError):
        vyre.lower(Program(workgroup_size=(0, 1, 1)))


def test_the_optimiser_can_be_left_out_everywhere(target, rng):
    a, b = (rng.integers(2**32, size=64, dtype=np.uint32) for _ in range(2))
    for optimize in (True, False, None):
        out = vyre.run(xor(), {"in0": a, "in1": b, "out": 64}, 1, optimize=optimize, **target)["out"]
        np.testing.assert_array_equal(out, a ^ b)
    with pytest.raises(vyre.ArgumentError, match=r"argument `optimize` of vyre.run must be"):
        vyre.run(xor(), {"in0": a, "in1": b, "out": 64}, 1, optimize="no", **target)


def test_only_the_reference_has_a_schedule():
    for device in vyre.devices():
        if device.usable:
            assert message(
                lambda device=device: vyre.run(Program(), {}, 1, device=device, schedule="reversed"), vyre.ArgumentError
            ) == (
                "backend `vulkan` has no choice of schedule: its device decides. "
                "Fix: leave the schedule out, or run on the reference."
            )
    for schedule in ("backwards", "random:", "random:-1", "random:7x", f"random:{2**64}", ""):
        assert message(
            lambda schedule=schedule: vyre.run(Program(), {}, 1, backend="reference", schedule=schedule),
            vyre.ArgumentError,
        ) == (
            'argument `schedule` of vyre.run must be "in-order", "reversed" or "random:<seed>" with a seed '
            f"below 2^64, got {schedule!r} (str). "
            f'Fix: pass "in-order", "reversed" or "random:<seed>" with a seed below 2^64.'
        )


def test_a_value_bound_twice_keeps_what_a_variable_was_before_it_is_assigned():
    program = vyre.parse("""vyre 1
workgroup_size 1 1 1
buffer out: read_write u32 binding 0 output

let v = gid.x + 3
let x = v ^ 5
let w = x ^ 9
v = 100
out[0] = (w ^ 9) ^ 5
out[1] = w
""")
    for backend in ("reference", "cpu"):
        for optimize in (True, False):
            out = vyre.run(program, {"out": 2}, 1, backend=backend, optimize=optimize)["out"]
            assert out.tolist() == [3, 3 ^ 5 ^ 9]


@pytest.mark.parametrize(
    ("first", "name"),
    [("loop i in 0..1 {\n  out[1] = i\n}", "i"), ("block {\n  let t = gid.x + 4\n  out[1] = t\n}", "t")],
    ids=["after a loop", "after a block"],
)
def test_a_name_used_again_is_another_variable(first, name):
    program = vyre.parse(f"""vyre 1
workgroup_size 1 1 1
buffer out: read_write u32 binding 0 output

{first}
let {name} = gid.x + 1
let kept = {name} ^ 12
{name} = 7
out[0] = kept ^ 12
""")
    for backend in vyre.backends():
        for optimize in (True, False):
            assert vyre.run(program, {"out": 2}, 1, backend=backend, optimize=optimize)["out"][0] == 1


test_bad_workgroups = wrong_calls("run", globals())
