"""Quotients and remainders beside Python's integers: by literals, which become products, and of U64 by any number."""

from __future__ import annotations

import itertools
from random import Random

import numpy as np
import pytest

import ptx_machine
import vyre
from vyre import BufferDecl, DataType, Expr, Node, Program

M64 = 2**64 - 1
X = Expr.gid_x()
EDGES = [0, 1, 2, 2**32 - 1, 2**32, 2**32 + 1, 2**63 - 1, 2**63, 2**63 + 1, M64 - 1, M64]
PRIMES = [641, 65537, 998244353, 10**9 + 7, 4294967291, 2**61 - 1, 10**19]


def quotient(a: int, b: int) -> int:
    return a // b if b else 0


def rest(a: int, b: int) -> int:
    return a % b if b else 0


def any_number(random: Random) -> int:
    return random.getrandbits(64) >> random.randrange(65)


def literals(random: Random) -> list[int]:
    near_powers = [2**power + d for power in range(64) for d in (-1, 0, 1)]
    of_each_length = [random.getrandbits(bits) | 1 << (bits - 1) for bits in range(1, 65)]
    return sorted({*range(40), *near_powers, *of_each_length, *EDGES, *PRIMES, *(6 * prime for prime in PRIMES[:5])})


def dividends(by: int, random: Random) -> list[int]:
    most = M64 // max(by, 1)
    times = [1, 2, 2**32, most // 2, most - 1, most, random.randrange(most + 1), random.randrange(most + 1)]
    near = [by * k + d for k in times for d in (-1, 0, 1)]
    return [number % 2**64 for number in (*EDGES, *near, *(any_number(random) for _ in range(6)))]


def divided(
    a: list[int], b: list[int] | None, by: list[int]
) -> tuple[Program, dict[str, np.ndarray], dict[str, list[int]]]:
    """A program that divides a[i] by b[i], or by the literal of its column."""
    buffers = [BufferDecl.read("a", 0, DataType.U64), BufferDecl.read("b", 1, DataType.U64)]
    buffers += [BufferDecl.read_write(name, 2 + k, DataType.U64) for k, name in enumerate(("quotient", "rest"))]
    stores = []
    for column, literal in enumerate(by):
        at = X * len(by) + column
        dividend, divisor = Expr.load("a", at), Expr.load("b", at) if b else Expr.u64(literal)
        stores += [Node.store("quotient", at, dividend // divisor), Node.store("rest", at, dividend % divisor)]
    divisors = b or by * (len(a) // len(by))
    inputs = {"a": np.array(a, np.uint64), "b": np.array(divisors, np.uint64)}
    inputs |= {name: np.zeros(len(a), np.uint64) for name in ("quotient", "rest")}
    wanted = {
        name: list(itertools.starmap(model, zip(a, divisors, strict=True)))
        for name, model in (("quotient", quotient), ("rest", rest))
    }
    return Program(buffers, (32, 1, 1), stores), inputs, wanted


def by_literals(some: list[int], random: Random) -> tuple[Program, dict[str, np.ndarray], dict[str, list[int]]]:
    columns = [dividends(literal, random) for literal in some]
    return divided([number for row in zip(*columns, strict=True) for number in row], None, some)


def by_numbers(random: Random) -> tuple[Program, dict[str, np.ndarray], dict[str, list[int]]]:
    pairs = [(any_number(random), any_number(random)) for _ in range(4000)]
    pairs += [(number, by) for by in literals(random)[::3] for number in dividends(by, random)]
    return divided([a for a, _ in pairs], [b for _, b in pairs], [0])


def check(found: dict[str, np.ndarray], wanted: dict[str, list[int]], inputs: dict[str, np.ndarray]) -> None:
    for name, values in wanted.items():
        wrong = np.nonzero(found[name] != np.array(values, np.uint64))[0]
        first = [int(array[wrong[0]]) for array in (inputs["a"], inputs["b"], found[name])] if len(wrong) else []
        assert not len(wrong), f"{name}: {len(wrong)} are wrong; the first dividend, divisor and result are {first}"


@pytest.mark.parametrize("optimize", [True, False])
def test_literal_divisors(optimize, target, rng):
    random = Random(int(rng.integers(2**32)))
    some = literals(random) if optimize else random.sample(literals(random), 64)
    for first in range(0, len(some), 16):
        program, inputs, wanted = by_literals(some[first : first + 16], random)
        groups = -(-len(inputs["a"]) // 32)
        check(vyre.run(program, inputs, groups, optimize=optimize, **target), wanted, inputs)


@pytest.mark.parametrize("optimize", [True, False])
def test_any_divisors(optimize, target, rng):
    program, inputs, wanted = by_numbers(Random(int(rng.integers(2**32))))
    groups = -(-len(inputs["a"]) // 32)
    check(vyre.run(program, inputs, groups, optimize=optimize, **target), wanted, inputs)


def test_divisors_in_ptx(rng):
    random = Random(int(rng.integers(2**32)))
    programs = [by_literals(random.sample(literals(random), 12), random) for _ in range(3)]
    for program, inputs, wanted in [*programs, by_numbers(random)]:
        groups = (-(-len(inputs["a"]) // 32), 1, 1)
        check(ptx_machine.run(program, inputs, groups, optimize=True), wanted, inputs)


@pytest.mark.parametrize("element", [DataType.U32, DataType.I32])
def test_literal_divisors_of_32_bits(element, target, rng):
    random = Random(int(rng.integers(2**32)))
    signed = element == DataType.I32
    some = sorted({by % 2**32 for by in literals(random)} - {0})
    to_type = (lambda a: (a + 2**31) % 2**32 - 2**31) if signed else lambda a: a % 2**32
    some = [to_type(by) for by in random.sample(some, 96)]
    for first in range(0, len(some), 24):
        part = some[first : first + 24]
        numbers = [
            to_type(k * by + d) for by in part for k in (0, 1, -1, random.getrandbits(32) // by) for d in (-1, 0, 1)
        ]
        wanted = {"quotient": [], "rest": []}
        for a, by in itertools.product(numbers, part):
            whole = abs(a) // abs(by) * (1 if (a < 0) == (by < 0) else -1)
            wanted["quotient"].append(to_type(whole))
            wanted["rest"].append(a - whole * by)
        buffers = [BufferDecl.read("a", 0, element)]
        buffers += [BufferDecl.read_write(name, 1 + k, element) for k, name in enumerate(wanted)]
        stores = []
        for column, by in enumerate(part):
            at, dividend, divisor = X * len(part) + column, Expr.load("a", X), (Expr.i32 if signed else Expr.u32)(by)
            stores += [Node.store("quotient", at, dividend // divisor), Node.store("rest", at, dividend % divisor)]
        inputs = {"a": np.array(numbers, np.int32 if signed else np.uint32)}
        inputs |= {name: np.zeros(len(values), inputs["a"].dtype) for name, values in wanted.items()}
        found = vyre.run(Program(buffers, (32, 1, 1), stores), inputs, len(numbers) // 32, **target)
        for name, values in wanted.items():
            np.testing.assert_array_equal(found[name], values, err_msg=f"{name} by {part}")
