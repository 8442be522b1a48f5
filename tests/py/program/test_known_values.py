"""Values that a driver's compiler finds out itself: behind a branch that compared them, after a loop without unknowns.

NVIDIA's compiler (ptxas 12.9, driver 580) loses a ``not`` or a minus before such a value. It also takes the bounds
check of ``select(c, i, j)`` for that of ``i``, and leaves out a store that follows. Of a stored vector with the same
literal in several lanes, it sets the second and later ones too late, if a loop that follows stores the same vector.
Of two constants that a branch sets a variable to, it may keep the first. It makes one instruction of two minima or
maxima, be they selects, and loses the minus of an operand. It takes the unsigned maximum of 0 and a signed minimum of
0 for 0. It takes the sign of ``x >> 1`` for 0 where it knows that of ``x`` to be 1. Where a loop is left behind
an inner branch, some invocations come to what stands behind the exit.
"""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

import vyre

BITS = 2**32
AFTER_A_BRANCH = {
    "bitnot(x) & 7": lambda x: ~x & 7,
    "bitnot(x) | 7": lambda x: (~x | 7) % BITS,
    "1 ^ bitnot(x)": lambda x: (1 ^ ~x) % BITS,
    "7 - x": lambda x: (7 - x) % BITS,
    "0 - x": lambda x: -x % BITS,
}
AFTER_A_LOOP = {"0 - x": BITS - 0x7FFFFFFF, "bitnot(x) & 7": 0, "9 - x": (9 - 0x7FFFFFFF) % BITS}


def result(body, given, target):
    program = vyre.parse(
        "vyre 1\nworkgroup_size 1 1 1\nbuffer out: read_write u32 binding 0\n"
        f"buffer given: read u32 binding 1\n\n{body}"
    )
    arrays = {"out": np.array([77], np.uint32), "given": np.array([given], np.uint32)}
    return vyre.run(program, arrays, workgroups=1, **target)["out"].tolist()


@pytest.mark.parametrize("value", [0, 5, BITS - 1])
@pytest.mark.parametrize("expression", list(AFTER_A_BRANCH))
def test_a_value_that_a_branch_compared_is_computed_with(target, expression, value):
    # The workgroup's id is uniform, and so is the value.
    body = f"let x = wid.x + given[0]\nif x != {value} {{\n  return\n}}\nout[0] = {expression}\n"
    assert result(body, value, target) == [AFTER_A_BRANCH[expression](value)]
    assert result(body, value ^ 1, target) == [77]


@pytest.mark.parametrize("expression", list(AFTER_A_LOOP))
def test_a_value_that_a_loop_without_unknowns_ends_with_is_computed_with(target, expression):
    body = (
        "let x = 0\nlet rest = 2147483647\nloop i in 0..64 {\n  x = (x << 1) | (rest >> 31)\n  rest = rest << 1\n"
        "  if (i & 31) == 31 {\n    rest = 2147483647\n  }\n}\n"
        f"x = x | rest\nout[0] = {expression}\n"
    )
    assert result(body, 0, target) == [AFTER_A_LOOP[expression]]


INVERSES_OF_ZERO = ["bitnot(x)", "x ^ 4294967295", "4294967295 - x", "negate(x + 1)"]


@pytest.mark.parametrize("inverse", INVERSES_OF_ZERO)
@pytest.mark.parametrize("left", ["", "    if logical_or(x, given[0] == 9) {\n      LEAVE\n    }\n", "    LEAVE\n"])
def test_a_value_is_inverted_behind_branches_that_left_unless_it_is_zero(target, left, inverse):
    for leave, test, optimize in itertools.product(("return", "break"), ("x", "x != 0", "x >= 1"), (True, False)):
        body = (
            f"let x = wid.z\nloop k in 0..1 {{\n  if {test} {{\n    barrier\n{left.replace('LEAVE', leave)}  }}\n"
            f"  out[0] = {inverse}\n}}\n"
        )
        assert result(body, 0, {**target, "optimize": optimize}) == [BITS - 1], body


@pytest.mark.parametrize("inverse", INVERSES_OF_ZERO)
@pytest.mark.parametrize(
    "branch",
    [
        "let v = {0}\nif x {{\n  barrier\n  v = 0\n}}\nout[0] = v\n",
        "let v = {0}\nif x {{\n}} else {{\n  let pair = pack(vec2<u32>, 0, v)\n  out[0] = lane(pair, 1)\n}}\n",
        "let own = x | (given[0] & 0)\nlet v = bitnot(own)\nif x {{\n  barrier\n  v = 0\n}}\nout[0] = v\n",
        "if x {{\n}} else {{\n  out[0] = {0}\n}}\n",
    ],
)
def test_a_value_that_a_branch_found_to_be_zero_is_inverted_in_front_of_it_and_behind(target, branch, inverse):
    for optimize in (True, False):
        body = f"let x = wid.y\n{branch.format(inverse)}"
        assert result(body, 7, {**target, "optimize": optimize}) == [BITS - 1], body


ONES = {
    "constants": "let ones = 0 - 1\n",
    "literal that decides": "let ones = given[0] | 4294967295\n",
    "literals that decide": "let ones = (lid.x | 2147483648) | 2147483647\n",
    "id of one invocation": "let ones = lid.y - 1\n",
    "an extreme": "let ones = max(given[0], 4294967295)\n",
    "equal choices": "let ones = select(given[0], 4294967295, 4294967295)\n",
    "inverse": "let ones = given[0] | bitnot(given[0])\n",
    "array": "own[0] = 4294967295\nlet ones = own[0]\n",
    "shared array": "all[0] = 4294967295\nlet ones = all[0]\n",
    "lane": "let pair = pack(vec2<u32>, 0, 4294967295)\nlet ones = lane(pair, 1)\n",
    "loop": "let ones = 0\nloop t in 0..32 {\n  ones = (ones << 1) | 1\n}\n",
    "branch": "let ones = given[0]\nif 1 {\n  ones = 4294967295\n}\n",
    "variable": "let ones = given[0] | 4294967295\nlet w = 0\nloop t in 3..4 {\n  w = ones\n  ones = given[0] >> t\n}\n"
    "ones = w\n",
}
INVERTED = [
    "ones ^ x",
    "x ^ ones",
    "ones - x",
    "ones * (x + 1)",
    "(ones ^ 5) ^ (x ^ 5)",
    "(ones - 1) - (x - 1)",
    "(x ^ 5) ^ 4294967290",
    "(x * 4294967295) - 1",
]
TOLD = [
    "if x {{\n  return\n}}\nout[0] = {0}\n",
    "let v = {0}\nif x == 0 {{\n  out[0] = v\n}}\n",
    "let v = {0}\nif x {{\n  barrier\n  v = 0\n}}\nout[0] = v\n",
    "loop t in 3..4 {{\n  if x {{\n    return\n  }}\n}}\nout[0] = {0}\n",
]


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("ones", list(ONES))
def test_a_value_that_a_branch_found_to_be_zero_is_inverted_by_what_turns_out_to_be_ones(target, ones, told):
    arrays = "buffer own: private u32 count 2\nbuffer all: workgroup u32 count 2\n"
    for inverted, optimize in itertools.product(INVERTED, (True, False, ["straightening"])):
        body = f"{arrays}\nlet x = wid.x + given[0]\n{ONES[ones]}{told.format(inverted)}"
        assert result(body, 0, {**target, "optimize": optimize}) == [BITS - 1], body


WITH_THE_SIGN = {
    "given[0] | 2147483648": lambda x: x | 2**31,
    "(given[0] >> 1) + 2147483648": lambda x: (x >> 1) + 2**31,
    "(given[0] >> 1) ^ 2147483648": lambda x: (x >> 1) + 2**31,
    "select(given[0] == 3, 2147483649, 2415919104)": lambda x: 2**31 + 1 if x == 3 else 2415919104,
    "mulhi(wid.x, 5) | 2147483648": lambda x: 2**31,
}
SHIFTED = {
    "cast(u32, sle(0i32, {0}))": lambda x: int(x >= 0),
    "cast(u32, {0}) & 2147483648": lambda x: x & 2**31,
    "cast(u32, sle(0i32, cast(i32, v - cast(u32, {0}))))": None,
}


@pytest.mark.parametrize("amount", [1, 2, 3, 31])
@pytest.mark.parametrize("operand", list(WITH_THE_SIGN))
def test_a_value_whose_sign_is_known_is_shifted_with_it(target, operand, amount):
    for (form, expected), given, optimize in itertools.product(SHIFTED.items(), (3, 12345), (True, False)):
        v = WITH_THE_SIGN[operand](given) - BITS
        body = f"let v = {operand}\nout[0] = {form.format(f'sshr(cast(i32, v), {amount})')}\n"
        wanted = int(v - (v >> amount) >= 0) if expected is None else expected(v >> amount)
        assert result(body, given, {**target, "optimize": optimize}) == [wanted], body


@pytest.mark.parametrize("constants", [(2, 1), (0, 9), (4000000000, 1, 9)])
def test_a_branch_sets_a_variable_to_the_last_of_its_constants(target, constants):
    sets = "".join(f"  v = pack(vec2<u32>, {each}, 0)\n" for each in constants)
    conditions, before = ("bitnot(0)", "given[0] == 3"), ("7", "given[0]")
    for condition, first, optimize in itertools.product(conditions, before, (True, False)):
        body = f"let v = pack(vec2<u32>, {first}, 0)\nif {condition} {{\n{sets}}}\nout[0] = lane(v, 0)\n"
        assert result(body, 3, {**target, "optimize": optimize}) == [constants[-1]], body


# Expressions that a compiler simplifies to a negation, or to x, once it finds what `zero` and `ones` are.
NEGATIONS = {
    "negate(x)": lambda x: -x,
    "negate(zero - x)": lambda x: x,
    "zero - (x + 9)": lambda x: -x - 9,
    "bitnot(x - 1)": lambda x: -x,
    "(x ^ ones) + 1": lambda x: -x,
    "x * ones": lambda x: -x,
    "x * 4294967293": lambda x: -3 * x,
    "(5 - (x + 9)) - 5": lambda x: -x - 9,
    "x - (x + x)": lambda x: -x,
    "cast(u32, sdiv(cast(i32, x), cast(i32, ones)))": lambda x: -x,
    "select(x == 5, negate(x), zero - x)": lambda x: -x,
    "lane(pack(vec2<u32>, 0, negate(x)), 1)": lambda x: -x,
}
# The operators that choose one of two numbers, and what they choose. Unsigned ones compare the bits of a number.
JOINED = {
    "smax(cast(i32, {0}), cast(i32, {1}))": lambda a, b: max(a, b),
    "smin(cast(i32, {0}), cast(i32, {1}))": lambda a, b: min(a, b),
    "max({0}, {1})": lambda a, b: max(a, b, key=lambda n: n % BITS),
    "select({0} < {1}, {0}, {1})": lambda a, b: min(a, b, key=lambda n: n % BITS),
    "select(slt(cast(i32, {0}), cast(i32, {1})), {0}, {1})": lambda a, b: min(a, b),
}


@pytest.mark.parametrize("outer", list(JOINED))
@pytest.mark.parametrize("inner", list(JOINED))
@pytest.mark.parametrize("negation", list(NEGATIONS))
def test_a_negation_among_minima_and_maxima_keeps_its_minus(target, negation, inner, outer):
    program = vyre.parse(
        "vyre 1\nworkgroup_size 1 1 1\nbuffer out: read_write u32 binding 0\nbuffer given: read u32 binding 1\n\n"
        "let x = given[0]\nlet y = given[1]\nlet zero = lid.x & 1\nlet ones = lid.y - 1\n"
        f"let v = cast(u32, {inner.format('given[2]', f'({negation})')})\n"
        f"out[0] = cast(u32, {outer.format('given[3]', 'v')})\n"
    )
    for (other, last), x, optimize in itertools.product(((0, 7), (-9, 3), (2000, -2000)), (5, 1000), (True, False)):
        given = np.array([x, 3, other % BITS, last % BITS], np.uint32)
        out = vyre.run(
            program,
            {"out": np.array([77], np.uint32), "given": given},
            workgroups=1,
            **{**target, "optimize": optimize},
        )["out"]
        assert out == JOINED[outer](last, JOINED[inner](other, NEGATIONS[negation](x))) % BITS


@pytest.mark.parametrize("negation", list(NEGATIONS))
def test_a_negation_that_a_branch_takes_for_a_minimum_keeps_its_minus(target, negation):
    for x, optimize in itertools.product((5, 1000), (True, False, ["passes"])):
        body = (
            f"let x = given[0]\nlet y = given[1]\nlet zero = lid.x & 1\nlet ones = lid.y - 1\nlet least = {negation}\n"
            "let other = 2000 - x\nif least >= other {\n  least = other\n}\n"
            "let z = x + 4294966296\nif z < least {\n  least = z\n}\nout[0] = least\n"
        )
        wanted = min(n % BITS for n in (NEGATIONS[negation](x), 2000 - x, x - 1000))
        assert result(body, x, {**target, "optimize": optimize}) == [wanted], body


ENDS = {
    "abs_diff(cast(u32, smin(0i32, cast(i32, x))), 0)": lambda x: min(x, 0),
    "max(cast(u32, smin(cast(i32, x), cast(i32, zero))), zero)": lambda x: min(x, 0),
    "cast(u32, smin(0i32, cast(i32, max(x, zero))))": lambda x: min(x, 0),
    "select(cast(u32, smin(0i32, cast(i32, x))) > zero, cast(u32, smin(0i32, cast(i32, x))), 0)": lambda x: min(x, 0),
}


@pytest.mark.parametrize("expression", list(ENDS))
def test_an_unsigned_maximum_of_0_and_a_signed_minimum_of_0_is_the_minimum(target, expression):
    for x, optimize in itertools.product((5, -5, 0), (True, False)):
        body = f"let x = given[0]\nlet zero = lid.x & 1\nout[0] = {expression}\n"
        assert result(body, x % BITS, {**target, "optimize": optimize}) == [ENDS[expression](x) % BITS], body


TOLD = ["y", "y != 0", "y >= 1", "0 < y", "(y != 0) | (x == 0)", "logical_not(y == 0)", "(y == 0) == 0"]


@pytest.mark.parametrize("branch", TOLD)
def test_a_maximum_of_what_a_branch_found_to_be_zero_and_a_signed_minimum_of_0_is_the_minimum(target, branch):
    least = "cast(u32, smin(0i32, cast(i32, max(y >> 1, x))))"
    body = f"let x = given[0]\nlet y = given[1]\nif {branch} {{\n  out[0] = 5\n}} else {{\n  out[0] = {least}\n}}\n"
    for optimize in (True, False):
        assert result(body, BITS - 9, {**target, "optimize": optimize}) == [BITS - 9]


# Some of these sums come to nothing but the rotation.
SUMS = {
    "negate({} + z) + z": lambda x, z, rotated: -rotated,
    "(z + x) - (x + (z + {}))": lambda x, z, rotated: -rotated,
    "z - {}": lambda x, z, rotated: z - rotated,
    "x + {}": lambda x, z, rotated: x + rotated,
}


@pytest.mark.parametrize("sum_of", list(SUMS))
@pytest.mark.parametrize("zero", ["0", "lid.y", "(lid.x & 0)"])
def test_a_negation_that_is_rotated_in_a_sum_keeps_its_minus(target, zero, sum_of):
    x, z = 1005, 1005 | 2**31
    body = f"let x = given[0]\nlet z = x | 2147483648\nout[0] = {sum_of.format(f'rotl({zero} - (x & 255), 31)')}\n"
    bits = -(x & 255) % BITS
    rotated = bits >> 1 | bits << 31 & 2**31
    for optimize in (True, False):
        assert result(body, x, {**target, "optimize": optimize}) == [SUMS[sum_of](x, z, rotated) % BITS]


def test_what_a_select_compares_keeps_its_minus_where_it_chooses_it(target):
    for optimize in (True, False, ["specialization", "straightening"]):
        body = (
            "let x = given[0]\nlet late = 0\nloop t in 0..3 {\n  late = late << 1\n}\nlet ones = lid.y - 1\n"
            "let most = max(((((x & 255) ^ bitnot(late)) + 1) ^ ones) + 1, 7)\n"
            "out[0] = select(most >= negate(x + 9), most, negate(x + 9))\n"
        )
        assert result(body, 5, {**target, "optimize": optimize}) == [BITS - 14]


OTHER_INDICES = {"i | 1": 1, "i + 5": 5, "given[0] - i": 3, "(i * 5) + 9": 9, "i ^ 3": 3, "min(i, 9) + 1": 1}


@pytest.mark.parametrize(
    "form",
    [
        "let k = select(i != 0, i, {0})",
        "let k = i\nif i == 0 {{\n  k = {0}\n}}",
        "let k = lane(select(i != 0, pack(vec2<u32>, 9, i), pack(vec2<u32>, 9, {0})), 1)",
    ],
)
@pytest.mark.parametrize("other", list(OTHER_INDICES))
def test_each_of_two_indices_that_a_condition_chooses_from_has_its_own_bounds_check(target, form, other):
    program = vyre.parse(
        "vyre 1\nworkgroup_size 1 1 2\nbuffer out: read_write vec2<u32> binding 0\n"
        "buffer own: read_write vec4<u32> binding 1\nbuffer given: read u32 binding 2\n\n"
        "let i = lid.z * 2\nown[i] = pack(vec4<u32>, 8, 8, 8, 8)\nout[i] = pack(vec2<u32>, 1, 2)\n"
        f"{form.format(other)}\nout[k] = cast(vec2<u32>, own[i])\nout[i] = pack(vec2<u32>, 3, 4)\nout[i] = out[i]\n"
    )
    for length in (1, OTHER_INDICES[other] + 1):
        expected = np.zeros((length, 2), np.uint32)
        for i in (0, 2):
            for place, value in ((i, (1, 2)), (i or OTHER_INDICES[other], (8, 8) if i == 0 else (0, 0)), (i, (3, 4))):
                if place < length:
                    expected[place] = value
        arrays = {
            "out": np.zeros((length, 2), np.uint32),
            "own": np.zeros((1, 4), np.uint32),
            "given": np.array([3], np.uint32),
        }
        assert np.array_equal(vyre.run(program, arrays, workgroups=1, **target)["out"], expected), length


LONGER = "  w = ((w * 3) ^ (w >> 5)) + (w << 3)\n  w = ((w * 5) ^ (w >> 7)) + (w << 9)\n  w = w / (v + 1)\n"


@pytest.mark.parametrize("at", ["{0}", "{0} + (0 * v)", "{0} + lid.x", "{0} ^ (lid.x * 3)", "{0} << (v >> 16)"])
@pytest.mark.parametrize("other", ["v | 1", "given[1]", "4294967295", "i + 4294967290"])
@pytest.mark.parametrize(
    "form",
    [
        "let k = select(v & 1, i, {0})\n",
        "let k = {0}\nif i != 0 {{\n  k = i\n}}\n",
        "let k = select(v == 0, {0}, i)\n",
        "let k = {0}\nif v < 5 {{\n  k = i\n}}\n",
        f"let k = {{0}}\nlet w = v\nif v == 1 {{{{\n{LONGER}  k = i\n}}}}\n",
        f"let k = 0\nlet w = v\nif v & 1 {{{{\n{LONGER}  k = i\n}}}} else {{{{\n{LONGER}  k = {{0}}\n}}}}\n",
        "let k = lane(select(v & 1, pack(vec2<u32>, 9, i), pack(vec2<u32>, 9, {0})), 1)\n",
    ],
)
def test_a_store_behind_one_whose_chosen_index_is_out_of_range_is_done(target, form, other, at):
    program = vyre.parse(
        "vyre 1\nworkgroup_size 1 1 1\nbuffer out: read_write u32 binding 0\n"
        "buffer own: read_write vec2<u32> binding 1\nbuffer given: read u16 binding 2\n\n"
        "let v = given[0]\nlet i = wid.x * 8\n"
        f"own[{at.format('i')}] = pack(vec2<u32>, 1, 0)\n{form.format(other)}own[{at.format('k')}] = own[0]\n"
        f"own[{at.format('i')}] = pack(vec2<u32>, v, 7)\nout[0] = 3\n"
    )
    for value, optimize in itertools.product((0, 1, 2, 5), (True, False)):
        arrays = {
            "out": np.zeros(1, np.uint32),
            "own": np.zeros((1, 2), np.uint32),
            "given": np.array([value, 2], np.uint16),
        }
        found = vyre.run(program, arrays, workgroups=1, optimize=optimize, **target)
        assert (found["own"].tolist(), found["out"].tolist()) == ([[value, 7]], [3])


SAME_LANES = {"vec4": ("1, 1, 1, 1", "7, 7, 9, 9", "0, 3, 0, 3", "4294967295, 2, 2, 1"), "vec2": ("1, 1", "5, 6")}


@pytest.mark.parametrize("words", [*SAME_LANES["vec4"], *SAME_LANES["vec2"]])
@pytest.mark.parametrize("step", ["0", "given[0]"])
def test_a_vector_of_literals_that_a_loop_stores_again_is_stored_whole(target, words, step):
    lanes = [int(each) for each in words.split(",")]
    kind = f"vec{len(lanes)}<u32>"
    program = vyre.parse(
        f"vyre 1\nworkgroup_size 1 1 1\nbuffer out: read_write {kind} binding 0\nbuffer own: workgroup {kind} count 1\n"
        f"buffer given: read u32 binding 1\n\nlet v = pack({kind}, {words})\nout[0] = v\nlet stop = given[0]\n"
        "let k = 0\n"
        "loop i in 0..128 {\n  if (stop != 0) {\n    break\n  }\n  own[0] = v\n"
        f"  k = k + {step}\n}}\nout[1] = own[0]\n"
    )
    arrays = {"out": np.zeros((3, len(lanes)), np.uint32), "given": np.zeros(1, np.uint32)}
    found = vyre.run(program, arrays, workgroups=1, **target)["out"]
    assert found.tolist() == [lanes, lanes, [0] * len(lanes)]


# Statements with v, the invocation, and n, which is 1; and x and y of invocation v behind them.
LEFT_EARLY = {
    "loop a in 0..2 {; if n == 1 {; loop b in 0..2 {; if v {; break; }; x = x * 5; }; break; }; y = y ^ 2147483649; "
    "y = x ^ 2147483649; }": lambda v: (0, 3),
    "x = x + 1; loop a in 0..2 {; y = y * 5; if n == 1 {; loop b in 0..2 {; if v {; x = b + v; break; }; x = x + v; "
    "x = x + 4294967295; }; break; }; y = max(y, 1); }": lambda v: (v if v else BITS - 1, 15),
    "loop a in 0..2 {; if n < 3 {; x = max(v, 2); loop b in 0..2 {; if v < 1 {; x = mulhi(b, 5); break; }; y = y * 5; "
    "}; break; }; y = x + 0; }; x = x + v; x = x ^ 7": lambda v: ((max(v, 2) + v) ^ 7, 75) if v else (7, 3),
    "loop a in 0..2 {; y = y ^ 7; if n {; x = a ^ 7; loop b in 0..2 {; if v {; y = y + v; break; }; x = max(x, 1); }; "
    "y = v + 2; break; } else {; y = x * 5; }; y = v * 5; x = x ^ 4; }; y = v + 0": lambda v: (7, v),
    "loop a in 0..2 {; if a == 1 {; loop b in 0..2 {; if n > 2 {; break; }; }; } else {; if y < 9 {; if v {; x = 7 - x"
    "; }; y = y ^ 1; }; if n {; y = y + n; if v < 5 {; loop c in 1..2 {; x = c + v; }; y = max(y, 2); }; break; }; "
    "x = 8; }; x = x ^ 4; }": lambda v: (1 + v if v < 5 else 7, 3),
}


@pytest.mark.parametrize("statements", LEFT_EARLY)
@pytest.mark.parametrize("invocations", [2, 33])
@pytest.mark.parametrize("n", ["len(bytes)", "lane(pair[0], 1)", "number[0]"])
def test_what_stands_behind_the_exit_of_a_loop_runs_for_no_invocation_that_left(target, statements, invocations, n):
    body = f"let v = lid.x; let n = {n}; let x = 0; let y = 3; {statements}; out[v] = x ^ rotl(y, 5)"
    program = vyre.parse(
        f"vyre 1\nworkgroup_size {invocations} 1 1\nbuffer out: read_write u32 binding 0\n"
        "buffer pair: uniform vec2<u32> binding 1\nbuffer bytes: read bytes binding 2\n"
        "buffer number: uniform u32 binding 3\n\n" + body.replace("; ", "\n") + "\n"
    )
    arrays = {"out": np.zeros(invocations, np.uint32), "pair": np.array([[0, 1]], np.uint32)}
    arrays |= {"bytes": np.zeros(1, np.uint8), "number": np.ones(1, np.uint32)}
    expected = [x ^ y << 5 for x, y in map(LEFT_EARLY[statements], range(invocations))]
    assert vyre.run(program, arrays, workgroups=1, **target)["out"].tolist() == expected


def lowered(body, target, *, of="u32", size="1 1 1", **options):
    buffers = f"buffer out: read_write {of} binding 0\nbuffer given: read u32 binding 1\n"
    return vyre.lower(vyre.parse(f"vyre 1\nworkgroup_size {size}\n{buffers}\n{body}"), target=target, **options)


TWO_VECTORS = "out[0] = pack(vec4<u32>, 5, 7, 5, 0)\nout[1] = pack(vec4<u32>, 0, 0, 8, 9)\n"


def test_spirv_packs_no_vector_of_the_same_literal_twice():
    text = lowered(TWO_VECTORS, "spirv-asm", of="vec4<u32>")
    packed = re.findall(r"OpCompositeConstruct %\d+ (%\d+) (%\d+) (%\d+) (%\d+)\n", text)
    number = dict(re.findall(r"(%\d+) = OpConstant %\d+ (\d+)\n", text))
    assert [[number.get(lane) for lane in lanes] for lanes in packed] == [[None, "7", None, "0"], ["0", "0", "8", "9"]]


def test_ptx_stores_no_vector_with_the_same_literal_twice():
    text = lowered(TWO_VECTORS, "ptx", of="vec4<u32>")
    first, second = re.findall(r"st\.global\.v4\.u32 \[.*?\], \{(.*?)\}", text)
    hidden = re.search(r"add\.u32 (%r\d+), %r\d+, 5;", text)[1]
    assert first == f"{hidden}, 7, {hidden}, 0"
    assert second == "0, 0, 8, 9"


def test_ptx_has_no_not_and_sets_no_variable_to_a_constant():
    text = lowered("let x = 5\nif out[0] == 1 {\n  x = 9\n}\nout[0] = bitnot(x)\n", "ptx", optimize=False)
    assert "not.b32" not in text
    assert re.search(r"add\.u32 %r\d+, %r\d+, 9;", text)
    assert not re.search(r"mov\.u32 %r\d+, [59];", text)


@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("target", ["ptx", "spirv-asm"])
def test_an_index_that_may_be_one_of_two_is_checked_by_a_sum_that_is_not_known_to_be_it(target, optimize):
    checked = {
        "ptx": r"add\.u32 (%r\d+), %r\d+, %r\d+;\n(?: .*\n)*? +setp\.lt\.u32 %p\d+, \1, %r\d+;",
        "spirv-asm": r"(%\d+) = OpShiftRightLogical %2 %\d+ %\d+\n +(%\d+) = OpIAdd %2 \1 %\d+\n"
        r"(?: .*\n)*? +%\d+ = OpULessThan %3 \2 ",
    }[target]

    def hides(body):
        start = "let x = given[0]\nlet i = wid.x\n"
        return bool(re.search(checked, lowered(start + body, target, size="8 1 1", optimize=optimize)))

    chosen = "let k = select(x & 1, i, x)\n"
    assert hides(f"{chosen}out[k] = 1\n")
    assert hides(f"{chosen}out[k & lid.x] = 1\n")
    assert hides("let v = select(x & 1, pack(vec2<u32>, 9, i), pack(vec2<u32>, 9, x))\nout[lane(v, 1)] = 1\n")
    assert hides(f"{chosen}loop t in k..9 {{\n  out[t] = 1\n}}\n")
    assert hides("let k = x\nif x & 1 {\n  k = i\n}\nout[k] = x\n")
    assert hides("let w = x\nlet k = x\nif x & 1 {\n  w = 7 / w\n  k = i\n}\nout[k] = w\n")
    assert hides("let k = i\nlet l = i\nloop t in 0..x {\n  out[k] = t\n  k = l\n  l = given[1]\n}\n")
    assert not hides("out[0] = select(x & 1, i, x)\n")
    assert not hides("out[x & lid.x] = 1\n")


def test_spirv_hides_only_inverted_values_that_a_branch_could_tell():
    def hides(body):
        text = lowered(f"let x = wid.z\n{body}", "spirv-asm")
        return bool(re.search(r"(%\d+) = OpIAdd .*\n +%\d+ = OpNot %\d+ \1\n", text))

    around = "if x {\n  barrier\n  if logical_or(given[0], wid.y) {\n    return\n  }\n}\n"
    assert hides(around + "out[0] = bitnot(x)\n")
    assert hides("let v = bitnot(x)\nif x {\n  barrier\n  v = 0\n}\nout[0] = v\n")
    assert hides("let v = x\nif given[0] {\n  v = given[1]\n}\nif x {\n  barrier\n}\nout[0] = bitnot(v)\n")
    assert not hides(around + "out[0] = bitnot(wid.x)\n")
    assert not hides(around + "out[0] = bitnot(x ^ wid.x)\n")
    assert not hides("out[0] = bitnot(x)\n")


def test_only_shifts_of_values_whose_sign_may_be_known_to_be_1_have_it_hidden():
    def hides(operand):
        body = f"let v = {operand}\nout[0] = cast(u32, sshr(cast(i32, v), 1))\n"
        ptx = re.search(r"and\.b32 (%r\d+), .*;\n  shr\.s32 %r\d+, \1, ", lowered(body, "ptx"))
        text = lowered(body, "spirv-asm")
        spirv = re.search(r"(%\d+) = OpBitwiseAnd .*\n +%\d+ = OpShiftRightArithmetic %\d+ \1 ", text)
        assert bool(ptx) == bool(spirv)
        return bool(spirv)

    known = ["given[1] | 2147483648", "(given[1] >> 1) + 2147483648", "bitnot(given[1] >> 1)"]
    unknown = ["given[1] + 2147483648", "given[1] << 24", "(given[1] & 255) + given[2]", "given[1] - given[2]"]
    assert [each for each in known + unknown if hides(each)] == known


def test_ptx_inverts_with_ones_that_are_not_known():
    text = lowered("out[0] = out[0] ^ 4294967295\n", "ptx")
    assert re.search(r"xor\.b32 %r\d+, %r\d+, %r\d+;", text)
    assert "4294967295" not in text


def hidden_in(body, target):
    """How often an or joins a value with an unknown zero, negated so that none of its bits are known."""
    text = lowered(body, target, optimize=False)
    if target == "spirv-asm":
        return len(re.findall(r"(%\d+) = OpISub .*\n +%\d+ = OpBitwiseOr %\d+ \1 ", text))
    negated = re.search(r"popc\.b32 (%r\d+), .*;\n(?s:.*?)neg\.s32 (%r\d+), \1;", text)
    return 0 if negated is None else len(re.findall(rf"or\.b32 (%r\d+), \1, {negated[2]};", text))


@pytest.mark.parametrize("target", ["ptx", "spirv-asm"])
def test_operands_are_hidden_where_a_minimum_or_maximum_is_computed_from_another(target):
    least = "let v = wid.y\nif v > wid.x {\n  v = wid.x\n}\n"
    hidden = [
        "out[0] = min(5, min(wid.x, negate(wid.y)))\n",
        "out[0] = min(5, select(wid.x < negate(wid.y), wid.x, negate(wid.y)))\n",
        least + "out[0] = max(v, negate(wid.y))\n",
        least + "let w = negate(wid.z)\nif w < v {\n  v = w\n}\nout[0] = v\n",
        "out[0] = max(cast(u32, smin(cast(i32, wid.x), 0i32)), 0)\n",
        "out[0] = min(negate(wid.x), bitnot(wid.y - 1))\n",
        "out[0] = max(wid.x, 1 + bitnot((wid.y ^ bitnot(0)) + 1))\n",
        "out[0] = min(wid.x, min(wid.y, (given[1] - wid.z) - given[1]))\n",
        "if wid.y {\n} else {\n  out[0] = cast(u32, smin(0i32, cast(i32, max(wid.y >> 1, wid.x))))\n}\n",
        "if logical_not(wid.y == 0) {\n  out[0] = cast(u32, smin(0i32, cast(i32, max(wid.y >> 1, wid.x))))\n}\n",
    ]
    seen = [
        "out[0] = min(wid.x, negate(wid.y))\n",
        "out[0] = min(5, min(wid.x, given[0] - wid.y))\nout[1] = negate(wid.y)\n",
        "out[0] = max(min(wid.x, 0), 0)\n",
    ]
    assert [each for each in hidden + seen if hidden_in(each, target)] == hidden


@pytest.mark.parametrize("target", ["ptx", "spirv-asm"])
def test_a_negation_whose_bits_are_moved_is_hidden(target):
    def hidden(moved):
        return hidden_in(f"out[0] = wid.y - negate(rotl({moved}, 5))\n", target)

    assert [hidden("negate(wid.x)"), hidden("lid.y - wid.x"), hidden("wid.z - wid.x")] == [1, 1, 0]


@pytest.mark.parametrize("target", ["ptx", "spirv-asm"])
def test_a_negation_is_hidden_where_a_select_compares_it_and_where_it_chooses_it(target):
    body = "out[0] = select(max(wid.x, wid.z) >= negate(wid.y), max(wid.x, wid.z), negate(wid.y))\n"
    assert hidden_in(body, target) == 2


def test_only_exclusive_ors_with_what_may_be_ones_are_hidden_where_a_branch_tells_the_operand():
    of_ptx, of_spirv = r"or\.b32 (%r\d+), .*;\n +xor\.b32 .*\1", r"(%\d+) = OpIAdd .*\n.*OpBitwiseXor .*\1\b"
    for target, pattern in (("ptx", of_ptx), ("spirv-asm", of_spirv)):

        def is_hidden(by, condition="x", *, target=target, pattern=pattern):
            body = f"let x = wid.z\nlet y = {by}\nif {condition} {{\n  return\n}}\nout[0] = x ^ y\n"
            return bool(re.search(pattern, lowered(body, target, optimize=False)))

        assert is_hidden("given[0] | 4294967295")
        assert is_hidden("0 - 1")
        assert not is_hidden("0 - 2")
        assert not is_hidden("given[0] | 2147483648")
        assert not is_hidden("given[0] | 4294967295", "given[0]")


def test_booleans_are_joined_where_a_branch_tells_one_of_them(target):
    body = "let x = wid.x >= 1\nlet y = 1 >= given[0]\nif x {\n  return\n}\nout[0] = x ^ (y ^ (wid.y >= 1))\n"
    for optimize in (True, False, ["proofs", "straightening"]):
        assert result(body, 0, {**target, "optimize": optimize}) == [1]


def test_spirv_returns_from_no_loop():
    body = "loop t in 0..given[0] {\n  if given[t] == 7 {\n    return\n  }\n}\nout[0] = 5\nif given[0] {\n  return\n}\n"
    text = lowered(body, "spirv-asm", optimize=False)
    merge = re.search(r"OpLoopMerge (%\d+) ", text)[1]
    inside, behind = text.split(f" {merge} = OpLabel")
    assert "OpReturn" not in inside
    assert behind.count("OpReturn\n") == 3


def test_spirv_unrolls_no_loop_that_is_left_behind_a_branch_and_gives_it_one_exit():
    def exits(body):
        """For each loop whether it may be unrolled, and how many branches leave it besides its head."""
        text = lowered(body, "spirv-asm", optimize=False)
        loops = re.findall(r"OpLoopMerge (%\d+) %\d+ (\w+)", text)
        return [(hint == "None", len(re.findall(f"OpBranch {merge}\n", text))) for merge, hint in loops]

    leaves = "if given[1] {\nbreak\n}\n"
    inner = f"loop b in 0..given[0] {{\n{leaves}out[b] = 1\n}}\n"

    def outer(statements):
        return f"loop a in 0..given[0] {{\n{statements}\nout[a] = 2\n}}\n"

    plain = (True, 1)
    assert exits(inner) == [plain]
    assert exits(outer(inner + leaves)) == [plain, plain]
    assert exits(outer(f"if given[2] {{\n{inner}}} else {{\nbreak\n}}")) == [plain, plain]
    assert exits(outer(f"if given[2] {{\n{inner}break\n}}")) == [(False, 0), plain]
    assert exits(outer(f"if given[2] {{\nif given[3] {{\nreturn\n}}\n{leaves}}}")) == [(False, 0)]
    assert exits(outer(f"if given[2] {{\n{inner.replace('break', 'return')}}}")) == [(False, 0), plain]
    assert exits(outer(inner.replace("break", "return"))) == [plain, plain]
    once = f"if given[2] {{\n{inner}break\n}} else {{\nout[a] = 3\nbreak\n}}"
    assert exits(outer(once)) == [(False, 2), plain]
    assert exits(outer(f"if given[2] {{\n{inner}break\n}}").replace("out[a] = 2", "break")) == [(False, 2), plain]
