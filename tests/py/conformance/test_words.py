"""Every module is valid: SPIRV-Tools find nothing wrong with the words of any program, optimised or not."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import vyre
import vyre.conformance
from programs import REVIEWED, conformance_programs
from vyre import BufferAccess, BufferDecl, DataType, Expr, Node, Program, _core, fuzz
from vyre.fuzz import wgsl as wgsl_runner

if TYPE_CHECKING:
    from collections.abc import Sequence

# These settings change the words of vyre.lower.
COMBINATIONS = [True, False, ["passes"], ["proofs"]]
LANES = {
    DataType.U32: 1,
    DataType.I32: 1,
    DataType.Bool: 1,
    DataType.U64: 2,
    DataType.Vec2U32: 2,
    DataType.Vec4U32: 4,
}
# The dtype of a narrow element, and the type that it loads as (docs/semantics.md, Programs). Storage of them is words.
NARROW = {
    DataType.U8: (np.uint8, DataType.U32),
    DataType.I8: (np.int8, DataType.I32),
    DataType.U16: (np.uint16, DataType.U32),
    DataType.I16: (np.int16, DataType.I32),
}
# What the `wgsl` column of types.def has to be. A buffer of Bytes is `array<u32>`.
WGSL = {
    DataType.U32: "u32",
    DataType.I32: "i32",
    DataType.U64: "vec2<u32>",
    DataType.Vec2U32: "vec2<u32>",
    DataType.Vec4U32: "vec4<u32>",
    DataType.Bool: "u32",
    DataType.Bytes: "u32",
    **dict.fromkeys(NARROW, "u32"),
}
COUNT = 5


def check_words(program: Program, *, combinations: Sequence = COMBINATIONS) -> None:
    for optimize in combinations:
        problem = _core._spirv_problem(vyre.lower(program, optimize=optimize))
        assert problem == "", f"optimize={optimize}\n{program.to_text()}"


def test_what_is_not_valid_is_found():
    words = bytearray(vyre.lower(Program([], (1, 1, 1), [])))
    assert _core._spirv_problem(bytes(words)) == ""
    words[4 * 3 : 4 * 4] = bytes([1, 0, 0, 0])  # the bound of ids
    assert _core._spirv_problem(bytes(words)) != ""


@pytest.mark.parametrize("optimize", COMBINATIONS, ids=str)
def test_the_conformance_corpus_lowers_to_valid_words(optimize):
    programs = conformance_programs()
    assert len(programs) > 500
    for program in programs:
        check_words(program, combinations=[optimize])


def generated(seeds: range) -> set[tuple[BufferAccess, DataType]]:
    """Checks the words of a program for each seed, and says what was declared."""
    declared = set()
    for seed in seeds:
        program = fuzz.generate(seed).program
        check_words(program)
        declared |= {(buffer.access, buffer.element) for buffer in program.buffers}
    return declared


def test_generated_programs_lower_to_valid_words():
    """The programs declare every access class with every element that it may have (V037); narrow ones count as one."""
    one_narrow = [element for element in DataType if element not in NARROW] + ["narrow"]
    every = set(itertools.product(BufferAccess, one_narrow))
    declared = {(access, "narrow" if element in NARROW else element) for access, element in generated(range(300))}
    assert declared == every - {(BufferAccess.Private, DataType.Bytes)}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
def test_thousands_of_generated_programs_lower_to_valid_words(seed):
    generated(range(400 * seed, 400 * (seed + 1)))


@pytest.mark.parametrize("target", ["ptx", "wgsl"])
@pytest.mark.parametrize("name", REVIEWED)
def test_text_is_as_kept(name, target):
    """VYRE_UPDATE_GOLDEN=1 writes the texts anew."""
    text = vyre.lower(vyre.parse(f"vyre 1{REVIEWED[name]}"), target=target)
    path = Path(__file__).parents[1] / "golden" / f"{name}.{target}"
    if os.environ.get("VYRE_UPDATE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()


def declaration(access: BufferAccess, element: DataType) -> BufferDecl:
    if access == BufferAccess.Workgroup:
        return BufferDecl.workgroup("b", COUNT, element)
    if access == BufferAccess.Private:
        return BufferDecl.private("b", COUNT, element)
    if access == BufferAccess.Uniform:
        return BufferDecl.uniform("b", 1, element)
    return BufferDecl.storage("b", 1, access, element)


def lanes_of(element: DataType) -> int:
    return LANES.get(element, 1)


def value(element: DataType, bits: int) -> Expr:
    lanes = [Expr.u32(bits + k) for k in range(lanes_of(element))]
    if element in NARROW:
        element = NARROW[element][1]
    if element == DataType.U32:
        return lanes[0]
    return Expr.cast(element, lanes[0]) if lanes_of(element) == 1 else Expr.pack(element, lanes)


def uses(access: BufferAccess, element: DataType) -> dict[str, tuple[list[Node], int]]:
    """Uses of a buffer `b` -> statements, and the word that they leave in out[0].

    The host's words are 11, 12, ...
    """
    result = {
        "unused": ([Node.store("out", 0, 9)], 9),
        "measured": ([Node.store("out", 0, Expr.buf_len("b"))], COUNT),
    }
    if element == DataType.Bytes:
        return result

    def lane(loaded: Expr) -> Expr:
        return Expr.lane(loaded, 0) if lanes_of(element) > 1 else Expr.cast(DataType.U32, loaded)

    own = access in (BufferAccess.Workgroup, BufferAccess.Private)  # zeros, and not the host's
    first = 0 if own else 1 if element == DataType.Bool else 11 + 2 * lanes_of(element)
    result["loaded"] = ([Node.store("out", 0, lane(Expr.load("b", 2)))], first)
    result["out of bounds"] = ([Node.store("out", 0, lane(Expr.load("b", COUNT)))], 0)
    if own or access == BufferAccess.ReadWrite:
        store = Node.store("b", 1, value(element, 7))
        result["stored"] = ([store, Node.store("out", 0, 9)], 9)
        stored = 1 if element == DataType.Bool else 7
        result["stored and loaded"] = ([store, Node.store("out", 0, lane(Expr.load("b", 1)))], stored)
    if access == BufferAccess.ReadWrite and element == DataType.U32:
        result["atomic"] = ([Node.store("out", 0, Expr.atomic_add("b", 1, 3))], 12)
    return result


CASES = [
    (access, element, use)
    for access, element in itertools.product(BufferAccess, DataType)
    if (access, element) != (BufferAccess.Private, DataType.Bytes)
    for use in uses(access, element)
]


def made(access: BufferAccess, element: DataType, use: str) -> tuple[Program, dict[str, np.ndarray], int]:
    entry, expected = uses(access, element)[use]
    program = Program([BufferDecl.output("out", 0, DataType.U32), declaration(access, element)], (1, 1, 1), entry)
    words = np.arange(11, 11 + COUNT * lanes_of(element), dtype=np.uint32)
    arrays = {
        DataType.I32: words.view(np.int32),
        DataType.U64: words[: len(words) // 2 * 2].view(np.uint64),
        DataType.Bytes: words.view(np.uint8),
        **{narrow: words.astype(dtype) for narrow, (dtype, _) in NARROW.items()},
    }
    inputs = {"out": np.zeros(1, np.uint32)}
    if access not in (BufferAccess.Workgroup, BufferAccess.Private):
        array = arrays.get(element, words)
        inputs["b"] = array.reshape(-1, LANES[element]) if element.name.startswith("Vec") else array
    return program, inputs, expected


@pytest.mark.parametrize(("access", "element", "use"), CASES, ids=lambda part: getattr(part, "name", part))
def test_every_access_class_takes_every_element(access, element, use):
    program, inputs, expected = made(access, element, use)
    check_words(program)
    wgsl = vyre.lower(program, target="wgsl")
    declared = f"array<{WGSL[element]}"
    if element in NARROW and access in (BufferAccess.Workgroup, BufferAccess.Private):
        declared = f"array<{WGSL[NARROW[element][1]]}"  # a word for each
    if use == "atomic" or (element in NARROW and access == BufferAccess.ReadWrite and use.startswith("stored")):
        declared = "array<atomic<u32>"
    lines = [line for line in wgsl.splitlines() if "> b1:" in line or "<workgroup>" in line or "var p0:" in line]
    # By literal indices alone, private memory is variables.
    left_out = access == BufferAccess.Private or (
        access == BufferAccess.Workgroup and use in ("unused", "measured", "out of bounds")
    )
    assert len(lines) == (0 if left_out else 1)
    assert all(declared in line for line in lines), wgsl
    wgsl_runner.check(wgsl)
    found = []
    for optimize in (True, False):
        found.append(vyre.run(program, inputs, 1, backend="reference"))
        found.append(vyre.run(program, inputs, 1, backend="cpu", optimize=optimize))
        for device in vyre.devices():
            if device.usable:
                found.append(vyre.run(program, inputs, 1, backend="vulkan", device=device.index, optimize=optimize))
        found.append(wgsl_runner.run(program, inputs, (1, 1, 1), optimize=optimize))
    assert int(found[0]["out"][0]) == expected
    for each in found[1:]:
        assert {name: array.tobytes() for name, array in each.items()} == {
            name: array.tobytes() for name, array in found[0].items()
        }


def test_workgroup_memory_that_nothing_accesses_is_not_there(target):
    """256 GiB of it are as good as none, and a length is a length."""
    program = Program(
        [
            BufferDecl.output("out", 0, DataType.U32),
            BufferDecl.workgroup("large", 2**32 - 1, DataType.Vec4U32),
            BufferDecl.workgroup("bytes", 2**32 - 1, DataType.Bytes),
        ],
        (1, 1, 1),
        [Node.store("out", 0, Expr.buf_len("large") ^ (Expr.buf_len("bytes") >> 1))],
    )
    found = vyre.run(program, {"out": np.zeros(1, np.uint32)}, 1, **target)
    assert found["out"].tolist() == [2**31]
    assert not vyre.check(program, {"out": np.zeros(1, np.uint32)}, 1).reports
