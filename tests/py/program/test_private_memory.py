"""Private buffers, arrays of each invocation, and what is refused; the rest is in vyre.conformance."""

import numpy as np
import pytest

import vyre
from conftest import refused
from vyre import BufferDecl, DataType, Expr, Node, Program

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


def test_loads_count_as_divergent():
    entry = [Node.if_(Expr.load("mine", 0), [Node.barrier()])]
    assert [d.rule for d in vyre.validate(Program([MINE], (8, 1, 1), entry))] == ["V010"]


@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_a_workgroup_too_large_for_its_private_memory_is_a_capability_error(backend):
    entry = [Node.store("mine", Expr.gid_x(), 1)]
    program = Program([BufferDecl.private("mine", 4096, U32)], (256, 128, 1), entry)
    with pytest.raises(vyre.CapabilityError) as error:
        vyre.run(program, {}, 1, backend=backend)
    whose = "cpu backend" if backend == "cpu" else "reference"
    assert str(error.value) == (
        f"536870912 bytes of private memory a workgroup exceeds the limit of private memory of the {whose}, which "
        "allows 268435456. Fix: use a smaller workgroup_size, or use another device."
    )
