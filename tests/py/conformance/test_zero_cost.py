"""A call lowers to the words of what it stands for, written by hand (composition document, "Zero-Cost Property")."""

from __future__ import annotations

import numpy as np
import pytest

import hand_written
import vyre

PAIRS = 300
OPERATIONS = 40


def make_operations(rng: np.random.Generator, name: str) -> dict[str, hand_written.Operation]:
    """The second half may call the first."""
    made: list[hand_written.Operation] = []
    for k in range(OPERATIONS):
        callees = made[: OPERATIONS // 2] if k >= OPERATIONS // 2 else []
        made.append(hand_written.Maker(rng, callees).operation(f"test.{name}.{k}"))
    hand_written.register(made)
    return {operation.id: operation for operation in made}


def pairs(seed: int, count: int) -> list[tuple[str, vyre.Program, vyre.Program]]:
    """(which hand-written form, with calls, by hand)."""
    rng = np.random.default_rng(seed)
    operations = make_operations(rng, f"zero_cost_{seed}")
    maker = hand_written.Maker(rng, list(operations.values()))
    made = []
    while len(made) < count:
        source = maker.statements()
        called = hand_written.program(source)
        made.append(("bound", called, hand_written.program(hand_written.Bound(operations).statements(source, {}))))
        substituted = hand_written.Substituted(operations).statements(source)
        if substituted is not None:
            made.append(("substituted", called, hand_written.program(substituted)))
    return made


def check(seed: int, *, targets: tuple[str, ...]) -> list[str]:
    """The forms that were compared."""
    made = pairs(seed, PAIRS)
    differing = []
    for form, called, written in made:
        if any(vyre.lower(called, target=target) != vyre.lower(written, target=target) for target in targets):
            differing.append(f"{form}\n{called.to_text()}\n{written.to_text()}")
    assert not differing, f"seed {seed}: {len(differing)} of {len(made)} differ, among them:\n{differing[0]}"
    return [form for form, *_ in made]


def test_calls_and_what_is_written_by_hand_lower_to_the_same_words():
    forms = check(1, targets=("spirv",))
    assert set(forms) == {"bound", "substituted"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_many_calls_lower_to_the_same_words_and_text(seed):
    check(seed, targets=("spirv", "wgsl", "ptx"))


def test_what_is_written_by_hand_gives_the_bytes_of_the_calls():
    """Else the comparison of words would compare two programs of which one is wrong."""
    for number, (form, called, written) in enumerate(pairs(1, 60)):
        rng = np.random.default_rng(number)
        inputs = {name: rng.integers(2**32, size=8, dtype=np.uint32) for name in ("in", "memory", "count", "out")}
        found = [
            {name: array.tobytes() for name, array in vyre.run(program, inputs, 1, backend=backend, **how).items()}
            for program in (called, written)
            for backend, how in (("reference", {}), ("cpu", {}), ("cpu", {"optimize": False}))
        ]
        assert all(bytes == found[0] for bytes in found), f"{form}\n{called.to_text()}\n{written.to_text()}"


def test_standard_operations_with_atomics_and_loads_as_arguments():
    """The smallest programs: out[0] = op(effect, effect) and the operator in its place."""
    U32 = vyre.DataType.U32
    operators = {
        "math.add": vyre.BinOp.Add,
        "math.sub": vyre.BinOp.Sub,
        "math.mul": vyre.BinOp.Mul,
        "math.div": vyre.BinOp.Div,
        "math.mod": vyre.BinOp.Mod,
        "bitwise.xor": vyre.BinOp.BitXor,
        "bitwise.rotl": vyre.BinOp.RotateLeft,
        "compare.lt": vyre.BinOp.Lt,
        "compare.gt": vyre.BinOp.Gt,
    }
    effects = {
        "atomic": lambda: vyre.Expr.atomic_add("count", vyre.Expr.gid_x(), 1),
        "load": lambda: vyre.Expr.load("count", vyre.Expr.gid_x()),
        "value": lambda: vyre.Expr.gid_x() * 3,
    }
    for id, operator in operators.items():
        for left in effects.values():
            for right in effects.values():
                forms = []
                for called in (True, False):
                    i, a, b = vyre.Expr.gid_x(), left(), right()
                    made = vyre.Expr.call(f"primitive.{id}", [a, b]) if called else vyre.Expr.binop(operator, a, b)
                    forms.append(
                        vyre.Program(
                            [vyre.BufferDecl.read_write("count", 0, U32), vyre.BufferDecl.output("out", 1, U32)],
                            (64, 1, 1),
                            [vyre.Node.store("out", i, made + i * 3)],
                        )
                    )
                assert vyre.lower(forms[0]) == vyre.lower(forms[1]), forms[0].to_text()
