"""Private buffers: arrays of each invocation's own, on every backend, in every form, and what is refused."""

import pickle

import numpy as np
import pytest

import vyre
from conftest import refused
from vyre import BufferAccess, BufferDecl, DataType, Expr, Node, Program

U32, I32, U64 = DataType.U32, DataType.I32, DataType.U64
MINE = BufferDecl.private("mine", 16, U32)
i, k, n, x = (Expr.var(name) for name in ("i", "k", "n", "x"))


def base_digits() -> Program:
    """The digits of each number in a base of its own, most significant first: a stack, pushed and popped."""
    return Program(
        [
            BufferDecl.read("numbers", 0, U32),
            BufferDecl.read("bases", 1, U32),
            BufferDecl.output("digits", 2, U32),
            BufferDecl.private("stack", 32, U32),
        ],
        (32, 1, 1),
        [
            Node.let("i", Expr.gid_x()),
            Node.let("x", Expr.load("numbers", i)),
            Node.let("n", 0),
            Node.loop(
                "k",
                0,
                32,
                [
                    Node.if_(Expr.eq(x, 0), [Node.break_()]),
                    Node.store("stack", n, x % Expr.load("bases", i)),
                    Node.assign("x", x // Expr.load("bases", i)),
                    Node.assign("n", n + 1),
                ],
            ),
            Node.loop("k", 0, n, [Node.store("digits", i * 32 + k, Expr.load("stack", n - 1 - k))]),
        ],
    )


def digits(number: int, base: int) -> list[int]:
    found = []
    while number:
        found.insert(0, number % base)
        number //= base
    return found


@pytest.mark.parametrize("optimize", [True, False])
def test_each_invocation_has_a_stack_of_its_own(target, optimize, rng):
    numbers = rng.integers(0, 2**32, 100, dtype=np.uint32) >> rng.integers(0, 31, 100, dtype=np.uint32)
    bases = rng.integers(2, 17, 100, dtype=np.uint32)
    arrays = {"numbers": numbers, "bases": bases, "digits": 100 * 32}
    found = vyre.run(base_digits(), arrays, 4, optimize=optimize, **target)["digits"].reshape(100, 32)
    for row, number, base in zip(found.tolist(), numbers.tolist(), bases.tolist(), strict=True):
        wanted = digits(number, base)
        assert row == wanted + [0] * (32 - len(wanted))


@pytest.mark.parametrize("element", [t for t in DataType if t is not DataType.Bytes], ids=lambda t: t.name)
def test_it_begins_as_zeros_and_holds_every_element(target, element):
    program = Program(
        [
            BufferDecl.private("mine", 5, element),
            BufferDecl.read("given", 0, element),
            BufferDecl.output("out", 1, element),
        ],
        (8, 1, 1),
        [
            Node.store("mine", Expr.gid_x() % 5, Expr.load("given", Expr.gid_x())),
            Node.loop("k", 0, 5, [Node.store("out", Expr.gid_x() * 5 + k, Expr.load("mine", k))]),
        ],
    )
    shape = (24, *np.zeros(1, vyre.run(program, {"given": given_zeros(element), "out": 40}, 1)["out"].dtype).shape[1:])
    given = (np.arange(1, 25 * lanes(element) - lanes(element) + 1) * 0x01010101).astype(dtype(element))
    given = given.reshape(24, -1) if lanes(element) > 1 and element is not U64 else given[: shape[0]]
    out = vyre.run(program, {"given": given, "out": 24 * 5}, 3, **target)["out"].reshape(24, 5, -1)
    for invocation in range(24):
        for at in range(5):
            expected = given[invocation] if at == invocation % 5 else np.zeros_like(given[invocation])
            np.testing.assert_array_equal(out[invocation, at].ravel(), np.atleast_1d(expected).ravel())


def lanes(element: DataType) -> int:
    return {DataType.Vec2U32: 2, DataType.Vec4U32: 4}.get(element, 1)


def dtype(element: DataType) -> type:
    narrow = {DataType.U8: np.uint8, DataType.I8: np.int8, DataType.U16: np.uint16, DataType.I16: np.int16}
    return {I32: np.int32, U64: np.uint64, DataType.Bool: np.bool_, **narrow}.get(element, np.uint32)


def given_zeros(element: DataType) -> np.ndarray:
    return np.zeros((8, lanes(element)) if lanes(element) > 1 else 8, dtype(element))


@pytest.mark.parametrize("optimize", [True, False])
def test_by_literal_indices_alone_it_is_variables(target, optimize, rng):
    """A sorting network of four, written out: what optimised code keeps is no array."""

    def swap(low: int, high: int) -> list[Node]:
        one, other = Expr.load("four", low), Expr.load("four", high)
        less, more = Node.let(f"a{low}{high}", one.min(other)), Node.let(f"b{low}{high}", one.max(other))
        return [
            Node.block(
                [
                    less,
                    more,
                    Node.store("four", low, Expr.var(f"a{low}{high}")),
                    Node.store("four", high, Expr.var(f"b{low}{high}")),
                ]
            )
        ]

    program = Program(
        [BufferDecl.read_write("data", 0, U32), BufferDecl.private("four", 4, U32)],
        (16, 1, 1),
        [
            Node.let("i", Expr.gid_x() * 5),
            *[Node.store("four", at, Expr.load("data", i + at)) for at in range(4)],
            *[Node.store("four", at, 7) for at in (4, 2**32 - 1)],
            *[node for pair in ((0, 1), (2, 3), (0, 2), (1, 3), (1, 2)) for node in swap(*pair)],
            *[Node.store("data", i + at, Expr.load("four", at)) for at in range(5)],
        ],
    )
    data = rng.integers(0, 2**32, (48, 5), dtype=np.uint32)
    found = vyre.run(program, {"data": data}, 3, optimize=optimize, **target)["data"]
    np.testing.assert_array_equal(found[:, :4], np.sort(data[:, :4], axis=1))
    assert not found[:, 4].any()
    assert ("var p0" in vyre.lower(program, target="wgsl", optimize=optimize)) == (not optimize)


def test_the_forms_keep_it():
    program = base_digits()
    assert "buffer stack: private u32 count 32\n" in program.to_text()
    for again in (
        vyre.parse(program.to_text()),
        Program.from_bytes(program.to_bytes()),
        pickle.loads(pickle.dumps(program)),
    ):
        assert again == program
        assert hash(again) == hash(program)
    assert pickle.loads(pickle.dumps(MINE)) == MINE
    assert (MINE.access, MINE.count, MINE.binding, MINE.atomic) == (BufferAccess.Private, 16, 0, False)
    assert repr(MINE) == "BufferDecl.private('mine', 16, DataType.U32)"
    assert BufferDecl.storage("mine", 0, BufferAccess.Private, U32, count=16) == MINE
    shared = [BufferDecl.workgroup("mine", 16, U32)]
    assert Program([MINE]) != Program(shared)
    assert hash(Program([MINE])) != hash(Program(shared))
    assert "var p0: array<u32, 32>;" in vyre.lower(program, target="wgsl")


def test_it_has_no_array(target):
    with refused(vyre.BindingError, "buffer `stack` is private memory, which has no array", "remove it from `inputs`"):
        vyre.run(base_digits(), {"numbers": np.zeros(1, np.uint32), "stack": 32}, 1, **target)


def test_resident_arrays_are_given_for_the_others():
    numbers = vyre.array([10, 11], dtype=vyre.u32, backend="cpu")
    bases = vyre.array([2, 2], dtype=vyre.u32, backend="cpu")
    out = vyre.empty(64, backend="cpu")
    base_digits()(numbers, bases, out, workgroups=1)
    assert out.numpy()[:4].tolist() == [1, 0, 1, 0]
    assert out.numpy()[32:36].tolist() == [1, 0, 1, 1]


def test_validation_names_the_declaration_and_the_atomic():
    program = Program(
        [BufferDecl.private("p", 0, U32), BufferDecl.private("q", 4096, U32), BufferDecl.private("r", 1, U32)],
        entry=[Node.let("old", Expr.atomic_add("r", 0, 1))],
    )
    prefix = "vyre IR validation: "
    assert [(d.rule, d.place.path, d.message.removeprefix(prefix)) for d in vyre.validate(program)] == [
        ("V037", "buffers[0]", "private buffer `p` must have a non-zero count. Fix: declare at least one element."),
        ("V037", "buffers[2]", "private buffers hold 16388 bytes an invocation. Fix: keep them within 16384 bytes."),
        (
            "V037",
            "entry[0].value",
            "atomic on private buffer `r`. Fix: use a Workgroup buffer declared atomic, or a ReadWrite buffer.",
        ),
    ]


def test_loads_count_as_divergent():
    entry = [Node.if_(Expr.load("mine", 0), [Node.barrier()])]
    assert [d.rule for d in vyre.validate(Program([MINE], (8, 1, 1), entry))] == ["V010"]


def test_checked_execution_reports_indices_and_never_a_race():
    def checked(index):
        entry = [Node.store("mine", index, 1), Node.store("out", Expr.gid_x(), Expr.load("mine", 2))]
        return vyre.check(Program([MINE, BufferDecl.output("out", 0, U32)], (8, 1, 1), entry), {"out": 8}, 1)

    assert checked(3).ok
    assert [type(report) for report in checked(Expr.local_x() + 10).reports] == [vyre.OutOfBoundsReport]


@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_a_workgroup_too_large_for_its_private_memory_is_a_capability_error(backend):
    entry = [Node.store("mine", Expr.gid_x(), 1)]
    program = Program([BufferDecl.private("mine", 4096, U32)], (256, 128, 1), entry)
    with pytest.raises(vyre.CapabilityError) as error:
        vyre.run(program, {}, 1, backend=backend)
    whose = "cpu backend" if backend == "cpu" else "reference"
    assert str(error.value) == (
        f"private buffers exceed the {whose}'s limit of private memory for a workgroup: wanted 536870912 bytes, "
        "allowed 268435456. Fix: use a smaller workgroup_size, or declare fewer elements."
    )
