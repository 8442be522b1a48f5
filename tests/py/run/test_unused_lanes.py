"""Workgroups that do not fill a driver's last group of lanes, with barriers where the unused lanes go astray.

Such a lane's loads give 0 on llvmpipe, so each condition here is one that 0 decides otherwise.
"""

import numpy as np
import pytest

import vyre

BODIES = {
    "a loop whose beginning is loaded": "loop k in given[0]..2 { barrier }",
    "a loop with two barriers": "loop k in given[0]..2 { barrier barrier }",
    "a loop whose end is loaded": "let end = 7 - given[0]\nloop k in 0..end { barrier }",
    "a loop that a loaded value ends": "loop k in 0..10 { if given[0] == 5 { break } barrier }",
    "a loop in a loop": "loop j in 0..given[0] { barrier loop k in given[0]..3 { barrier } }",
    "a barrier in a condition": "if given[0] == 0 { barrier }",
    "a loop in a condition": "if given[0] == 0 { loop k in 0..4 { barrier } }",
    "a condition in a loop": "loop k in 0..4 { if given[0] == 0 { barrier } barrier }",
}


def in_lines(body):
    """The text form has a statement a line."""
    for mark in ("{", "}"):
        body = body.replace(mark, f"{mark}\n" if mark == "{" else f"\n{mark}\n")
    return body.replace("barrier", "barrier\n").replace("break", "break\n")


@pytest.mark.parametrize("body", BODIES.values(), ids=list(BODIES))
def test_every_invocation_stores_after_a_barrier_whatever_the_size_of_the_workgroup(target, body):
    for size in (1, 3, 7, 9, 17, 33, 40, 63, 65):
        program = vyre.parse(
            f"vyre 1\nworkgroup_size {size} 1 1\nbuffer out: read_write u32 binding 0\n"
            f"buffer given: read u32 binding 1\n\n{in_lines(body)}out[lid.x] = lid.x + 1\n"
        )
        arrays = {"out": np.zeros(size, np.uint32), "given": np.array([5], np.uint32)}
        out = vyre.run(program, arrays, workgroups=1, **target)["out"]
        assert out.tolist() == list(range(1, size + 1)), size


# The rows of a workgroup end in lanes of no invocation too, whose local index is that of an invocation in the next row.
@pytest.mark.parametrize("size", [(1, 2, 1), (3, 3, 3), (4, 4, 1), (20, 2, 1), (20, 4, 1), (5, 3, 2), (8, 8, 1)])
@pytest.mark.parametrize("body", BODIES.values(), ids=list(BODIES))
def test_every_row_of_a_workgroup_stores_after_a_barrier(target, body, size):
    x, y, z = size
    program = vyre.parse(
        f"vyre 1\nworkgroup_size {x} {y} {z}\nbuffer out: read_write u32 binding 0\n"
        "buffer given: read u32 binding 1\n\n"
        f"{in_lines(body)}out[((lid.z * {x * y}) + (lid.y * {x})) + lid.x] = 7\n"
    )
    arrays = {"out": np.zeros(x * y * z, np.uint32), "given": np.array([5], np.uint32)}
    assert vyre.run(program, arrays, workgroups=1, **target)["out"].tolist() == [7] * (x * y * z)
