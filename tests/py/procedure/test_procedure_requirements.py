"""vyre.require: a condition on lengths and numbers that a call must meet."""

import pickle

import numpy as np
import pytest

import vyre
from small_kernels import copied
from vyre import In, InOut, u32
from vyre.errors import ArgumentError, ParseError

EVEN = "halves takes arrays of an even length. Fix: pad the array."


@vyre.procedure
def halves(x: In[u32]):
    vyre.require(x.length % 2 == 0, EVEN)
    y = vyre.scratch(u32, x.length // 2)
    copied(x, y)
    return y


@vyre.procedure
def outer(x: In[u32], n: u32):
    vyre.require(n <= x.length, 'n is "too large". Fix: write\\n min(n, len(x)).')
    return halves(x[:n])


def refusal(call):
    with pytest.raises(ArgumentError) as caught:
        call()
    return str(caught.value)


def test_a_call_that_meets_it_runs_and_another_is_refused(place):
    x = vyre.array(np.arange(5, dtype=np.uint32), **place)
    assert halves(x[:4]).numpy().tolist() == [0, 1]
    for _ in range(2):
        assert refusal(lambda: halves(x)) == EVEN
    assert outer(x, 2).numpy().tolist() == [0]
    assert refusal(lambda: outer(x, 3)) == EVEN
    assert refusal(lambda: outer(x, 6)).startswith('n is "too large". Fix: ')
    assert refusal(lambda: halves(np.arange(3, dtype=np.uint32), **place)) == EVEN


def test_nothing_runs_before_it_is_asked(place):
    @vyre.procedure
    def late(x: InOut[u32], n: u32):
        vyre.clear(x)
        for turn in vyre.times(3):
            vyre.require(turn < n, "n is too small. Fix: pass 3.")

    x = vyre.array(np.arange(1, 5, dtype=np.uint32), **place)
    assert refusal(lambda: late(x, 2)) == "n is too small. Fix: pass 3."
    assert x.numpy().tolist() == [1, 2, 3, 4]
    late(x, 3)
    assert x.numpy().tolist() == [0, 0, 0, 0]


def test_it_counts_where_its_branch_is_taken():
    @vyre.procedure
    def branched(x: InOut[u32]):
        with vyre.when(x.length > 2):
            vyre.require(x.length > 3, "three is no length. Fix: pass four.")
        vyre.clear(x)

    for n in (2, 4):
        branched(np.ones(n, np.uint32), backend="cpu")
    assert refusal(lambda: branched(np.ones(3, np.uint32), backend="cpu")) == "three is no length. Fix: pass four."


def test_it_is_part_of_the_value():
    procedure = outer.procedure
    assert vyre.validate(procedure) == []
    assert f'require ((length(x) % 2) == 0) "{EVEN}"' in halves.text
    for copy in (
        vyre.Procedure.parse(procedure.to_text()),
        vyre.Procedure.from_bytes(procedure.to_bytes()),
        pickle.loads(pickle.dumps(procedure)),
    ):
        assert copy == procedure
        assert hash(copy) == hash(procedure)
        assert copy.to_bytes() == procedure.to_bytes()
        assert refusal(lambda copy=copy: vyre.run(copy, {"x": np.zeros(4, np.uint32), "n": 3})) == EVEN
    another = vyre.Procedure.parse(halves.text.replace("even", "odd"))
    assert another != halves.procedure
    without = vyre.Procedure.parse("\n".join(line for line in halves.text.splitlines() if "require" not in line))
    assert without != halves.procedure


def test_checked_execution_asks_it_too():
    assert halves.check(np.zeros(4, np.uint32), checks="race").ok
    assert refusal(lambda: halves.check(np.zeros(3, np.uint32))) == EVEN


def test_what_is_decided_while_the_body_is_recorded_is_no_step():
    @vyre.procedure
    def decided(x: InOut[u32], n: vyre.const):
        vyre.require(n < 3, "n is 3 or more. Fix: pass less.")
        vyre.clear(x)

    assert "require" not in decided.specialize(n=2).to_text()
    assert refusal(lambda: decided.specialize(n=3)) == "n is 3 or more. Fix: pass less."


@pytest.mark.parametrize("message", ["", "no fix", ". Fix: alone.", 3, None])
def test_a_message_has_a_problem_and_a_fix(message):
    @vyre.procedure
    def wrong(x: InOut[u32]):
        vyre.require(x.length > 0, message)
        vyre.clear(x)

    assert refusal(lambda: wrong.procedure).startswith(
        "argument `message` of vyre.require must be a problem with a Fix, got "
    )


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("require (0 < length(x))", "line 4, column 24: expected a message in quotes, found the end of the line. "),
        ('require (0 < length(x)) "no"', "line 4, column 25: the message of a requirement has no Fix. "),
        ('require "p. Fix: f."', "line 4, column 9: unknown number `p. Fix: f.`. "),
    ],
)
def test_a_text_without_a_message_is_refused(line, told):
    with pytest.raises(ParseError) as caught:
        vyre.Procedure.parse(f'vyre 1\nprocedure "p"\nin_out x: u32[]\n{line}\n')
    assert str(caught.value).startswith(told)


def test_bytes_without_a_fix_are_refused():
    with pytest.raises(ParseError, match="the message of a requirement has no Fix"):
        vyre.Procedure.from_bytes(halves.procedure.to_bytes().replace(b". Fix: ", b". fix: "))
