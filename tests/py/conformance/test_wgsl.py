"""WGSL, read by an outside parser (naga) and run through it: the cases of vyre.conformance, and what they leave out."""

from __future__ import annotations

import os

import numpy as np
import pytest

import vyre
import vyre.conformance
from vyre import BufferDecl, DataType, Expr, Node, Program
from vyre.fuzz import wgsl as wgsl_runner

# These tests fail without a device, unless the environment says that there is none.
pytestmark = pytest.mark.skipif(
    os.environ.get("VYRE_ALLOW_NO_VULKAN") == "1" and wgsl_runner.gpu() is None,
    reason="VYRE_ALLOW_NO_VULKAN=1, and wgpu finds no Vulkan device",
)

U32, I32, U64, BOOL = DataType.U32, DataType.I32, DataType.U64, DataType.Bool
VEC2, VEC4 = DataType.Vec2U32, DataType.Vec4U32
# More bindings, or workgroups on an axis, than wgpu gives.
TOO_LARGE = {"L1/memory/bindings", "L1/memory/wide_grid"}


def check_conformance(cases: list, optimize: bool) -> None:
    def wgsl(program, inputs, grid, asked):
        return wgsl_runner.run(program, inputs, grid, optimize=optimize if asked is None else asked)

    here = [case for case in cases if case.id not in TOO_LARGE]
    for result in vyre.conformance.run_cases(here, vyre.conformance.target(wgsl), repeat=1):
        assert result.status in ("passed", "allowed", "skipped"), f"{result.case.id}: {result}"


@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("part", range(4))
def test_the_first_level_of_conformance_is_passed_with_and_without_the_optimiser(part, optimize):
    cases = vyre.conformance.cases(["L1"])
    assert len(cases) > 500
    check_conformance(cases[2 * part + optimize :: 8], optimize)


def test_a_quarter_of_the_standard_operations_is_right():
    check_conformance(vyre.conformance.cases(["L2"])[::4], True)


@pytest.mark.slow
@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("part", range(8))
def test_every_level_of_conformance_is_passed_with_and_without_the_optimiser(part, optimize):
    check_conformance(vyre.conformance.cases()[part::8], optimize)


def test_a_contended_compare_exchange_never_fails_for_no_reason():
    """256 invocations take a number each: every failure must be somebody's success."""
    taken = Expr.atomic_compare_exchange("next", 0, Expr.var("want"), Expr.var("want") + 1)
    program = Program(
        buffers=[BufferDecl.read_write("next", 0, U32), BufferDecl.read_write("wins", 1, U32)],
        workgroup_size=(64, 1, 1),
        entry=[
            Node.loop(
                "want",
                0,
                16,
                [
                    Node.let("old", taken),
                    Node.if_(
                        Expr.var("old") == Expr.var("want"),
                        [Node.let("won", Expr.atomic_add("wins", Expr.var("want"), 1))],
                    ),
                ],
            )
        ],
    )
    inputs = {"next": np.zeros(1, np.uint32), "wins": np.zeros(16, np.uint32)}
    found = wgsl_runner.run(program, inputs, (4, 1, 1))
    assert found["next"].tolist() == [16]
    assert found["wins"].tolist() == [1] * 16


def test_reserved_words_and_odd_names():
    names = ["let", "main", "params", "gl_in", "a-b", "日本", "b0", "v0", "workgroup_id", "__x", " "]
    program = Program(
        buffers=[BufferDecl.read_write(name, 2**32 - 1 - k, U32) for k, name in enumerate(names[:7])],
        workgroup_size=(1, 1, 1),
        entry=[
            *[Node.let(name, k + 1) for k, name in enumerate(names)],
            *[Node.assign(name, Expr.var(name) + 1) for name in names],
            *[Node.store(name, 0, Expr.var(name)) for name in names[:7]],
        ],
    )
    found = wgsl_runner.run(program, {name: np.zeros(1, np.uint32) for name in names[:7]}, (1, 1, 1))
    assert [int(found[name][0]) for name in names[:7]] == list(range(2, 9))


def test_ids_and_a_split_grid():
    """A grid in two dispatches has the ids of one: the second starts at a first workgroup of its own."""
    x, y, z = (Expr.invocation_id(axis) for axis in range(3))
    at = (z * 12 + y) * 8 + x
    groups = Expr.workgroup_x() + Expr.workgroup_y() * 100 + Expr.workgroup_z() * 10_000
    locals_ = Expr.local_x() + Expr.local_y() * 100 + Expr.local_z() * 10_000
    program = Program(
        buffers=[BufferDecl.read_write("groups", 0, U32), BufferDecl.read_write("locals", 1, U32)],
        workgroup_size=(4, 3, 2),
        entry=[Node.store("groups", at, groups), Node.store("locals", at, locals_)],
    )
    n = 8 * 12 * 4
    inputs = {"groups": np.zeros(n, np.uint32), "locals": np.zeros(n, np.uint32)}
    expected = vyre.run(program, inputs, (2, 4, 2), backend="reference")
    text, contents = vyre.lower(program, target="wgsl"), [a.tobytes() for a in inputs.values()]
    for first, count in [((0, 0, 0), (2, 1, 2)), ((0, 1, 0), (2, 3, 1)), ((0, 1, 1), (2, 3, 1))]:
        contents = wgsl_runner.run_text(text, contents, [n, n], [True, True], count, first)
    for content, array in zip(contents, expected.values(), strict=True):
        np.testing.assert_array_equal(np.frombuffer(content, np.uint32), array)


def test_deep_and_long_programs_parse():
    """Depth is flat text: naga would overflow its stack on 5,000 parentheses, and allows 127 braces."""
    deep = Expr.gid_x()
    for k in range(5000):
        deep = deep * 3 + k
    nested = [Node.store("out", Expr.gid_x(), 1)]
    for _ in range(64):
        nested = [Node.if_(Expr.gid_x() < Expr.buf_len("out"), nested)]
    program = Program(
        buffers=[BufferDecl.read_write("out", 0, U32)],
        workgroup_size=(1, 1, 1),
        entry=[Node.store("out", 0, deep), *nested],
    )
    wgsl_runner.check(vyre.lower(program, target="wgsl"))
