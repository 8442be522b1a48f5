"""Regular expressions: matches beside Python's `re`, asked about every part of the data where it means others."""

import pickle
import re

import numpy as np
import pytest

import vyre
from conftest import refused
from vyre import std
from vyre.errors import ArgumentError
from vyre.std import expressions
from vyre.std._graphs.walks import PIECE
from vyre.std._searching import regex_tables
from vyre.std._searching.regex_positions import bits
from vyre.std._searching.regex_syntax import parse
from wrong_calls import wrong_calls

LENGTH = 16 * PIECE  # bytes of a piece


def earliest(pattern, data):
    """Matches that end first, by asking `re` about every part of the data, so without assertions."""
    whole, at, found = re.compile(pattern).fullmatch, 0, []
    while True:
        spans = ((s, e) for e in range(at + 1, len(data) + 1) for s in range(at, e) if whole(data, s, e))
        span = next(spans, None)
        if span is None:
            return found
        found.append(span)
        at = span[1]


def greedy(pattern, data):
    """The matches of `re`, which are the longest for patterns whose greedy choices never stop early."""
    return [each.span() for each in re.finditer(pattern, data) if each.end() > each.start()]


LONG = [rb"\w+", rb"a[^\n]*b", rb"(aa)*b", rb"[\s\S][\s\S]", rb"[^c]*c"]


@pytest.mark.parametrize("pattern", LONG)
@pytest.mark.parametrize("n", [0, 17, LENGTH, LENGTH + 1, 2 * LENGTH + 7])
def test_longest_matches_around_pieces(target, rng, pattern, n):
    data = bytes(b"ab c\n"[k] for k in rng.integers(0, 5, n))
    assert std.regex(pattern).find(data, **target).tolist() == greedy(pattern, data)


@pytest.mark.parametrize("pattern", LONG)
def test_earliest_matches_around_pieces(target, rng, pattern):
    data = bytes(b"ab c\n"[k] for k in rng.integers(0, 5, LENGTH + 300))
    assert std.regex(pattern).find(data, "earliest", **target).tolist() == earliest(pattern, data)


# Each of their matches is the only one that begins or ends where it does.
ASSERTIONS = [rb"\b\w+\b", rb"(?m)^[^\n]+$", rb"[\w ]+$", rb"(?s)\A.+\Z"]


@pytest.mark.parametrize("pattern", ASSERTIONS)
@pytest.mark.parametrize("n", [16, LENGTH + 1])
def test_assertions_around_pieces(target, rng, pattern, n):
    made = std.regex(pattern.replace(rb"\Z", rb"\z"))
    for end in (b"", b"\n"):
        data = bytes(b"ab c\n"[k] for k in rng.integers(0, 5, n - 1)) + b"a" + end
        for kind in ("leftmost-longest", "earliest"):
            assert made.find(data, kind, **target).tolist() == greedy(pattern, data)


def test_states_that_do_not_meet_are_followed_all(target, rng):
    """Whether bytes stand in even or odd places is only known from the begin of the text."""
    data = rng.integers(0, 256, 2 * LENGTH + 9, dtype=np.uint8).tobytes()
    pairs = [(k, k + 2) for k in range(0, len(data) - 1, 2)]
    made = std.regex(rb"[\x00-\xff]{2}")
    assert made.find(data, **target).tolist() == pairs
    assert made.find(data, "earliest", **target).tolist() == pairs
    assert made.count(data, **target) == len(pairs)


def test_a_match_of_many_pieces(target):
    data = b".." + b"<" + b"x" * (3 * LENGTH) + b">" + b"x" * 40
    for kind in ("leftmost-longest", "earliest"):
        found = std.regex(b"<[^>]*>").find(data, kind, **target)
        assert found.tolist() == [(2, 3 * LENGTH + 4)]
    tail = std.regex(b"x+").find(b"." * 50 + b"x" * 2 * LENGTH, **target)
    assert tail.tolist() == [(50, 50 + 2 * LENGTH)]  # it ends with the text
    begins = std.regex(b"a.*c|ab").find(b"aaab" + b"-" * LENGTH + b"c", "earliest", **target)
    assert begins.tolist() == [(2, 4)]


def test_many_groups_of_pieces(rng):
    data = bytes(b"ab c\n"[k] for k in rng.integers(0, 5, 300_000))
    for pattern in (rb"\w+", rb"[\s\S][\s\S]", rb"(aa)*b"):
        found = std.regex(pattern).find(data, backend="cpu")
        assert found.tolist() == greedy(pattern, data)


def test_pieces_grow_where_the_ends_of_all_would_need_much_memory(rng, monkeypatch):
    monkeypatch.setattr(expressions, "_MOST_ENDS", 64)
    data = bytes(b"ab c\n"[k] for k in rng.integers(0, 5, 20_000))
    for pattern in (rb"\w+", rb"[\s\S][\s\S]"):
        assert std.regex(pattern).find(data, backend="cpu").tolist() == greedy(pattern, data)


def test_pieces_of_long_texts_are_longer(rng, monkeypatch):
    monkeypatch.setattr(expressions, "_ENOUGH", 8)
    data = bytes(b"ab c\n"[k] for k in rng.integers(0, 5, 20_000))
    for pattern in (rb"\w+", rb"a[^\n]*b"):
        assert std.regex(pattern).find(data, backend="cpu").tolist() == greedy(pattern, data)


def test_an_alternative_is_the_longest_and_not_the_first():
    assert std.regex(b"a|ab|abc").find(b"abcab", backend="cpu").tolist() == [(0, 3), (3, 5)]
    assert std.regex(b"abcd|c").find(b"abcd", "earliest", backend="cpu").tolist() == [(2, 3)]


def test_empty_matches_are_none(target):
    made = std.regex(b"a*")
    assert made.find(b"baac", **target).tolist() == [(1, 3)]
    assert made.count(b"", **target) == 0
    for pattern in (b"", b"(|)", b"a{0}", rb"[^\x00-\xff]"):
        assert std.regex(pattern).find(b"aa", **target).tolist() == []
        assert std.regex(pattern).find(b"aa", "earliest", **target).tolist() == []


@pytest.mark.parametrize("kind", ["leftmost-longest", "earliest"])
def test_a_limit_keeps_the_first(target, rng, kind):
    data = bytes(b"ab"[k] for k in rng.integers(0, 2, 2 * LENGTH))
    made = std.regex(b"ab+")
    every = made.find(data, kind, **target)
    for limit in (0, 1, 5, len(every), len(every) + 3):
        found = made.find(data, kind, limit, **target)
        assert found.tolist() == every.tolist()[:limit]
        assert (found.count, found.overflow) == (len(every), limit < len(every))
    resident = made.find(vyre.array(np.frombuffer(data, np.uint8), **target), kind, len(every) + 2)
    assert resident.count.numpy().tolist() == [len(every)]
    assert resident.matches.numpy().tolist() == [*map(list, every.tolist()), [0, 0], [0, 0]]


def test_resident_data(target):
    text = vyre.array(np.frombuffer(b"one two three", np.uint8), **target)
    made = std.regex(rb"\w+")
    assert made.find(text).matches.numpy().tolist() == [[0, 3], [4, 7], [8, 13]]
    count = made.count(text[1:])
    assert isinstance(count, vyre.Array)
    assert count.numpy().tolist() == [3]
    assert std.regex(rb"\A\w+").find(text[4:]).matches.numpy().tolist() == [[0, 3]]  # the slice is the text
    assert std.regex(rb"\w+\z").find(text[:10]).matches.numpy().tolist() == [[8, 10]]


SYNTAX = [
    rb"\x41\n\t\\\.",
    rb"[]a-c^-]",
    rb"[^]]",
    rb"[\w.-]",
    rb"a{x}{",
    rb"a{,}",
    rb"x{2}y",
    rb"[a\]b]",
    rb"\d\D\s\S\W",
    rb"[\b]",
    rb"\0",
]


@pytest.mark.parametrize("pattern", SYNTAX)
def test_syntax_is_that_of_re(pattern, rng):
    data = b"A\n\t\\.]a^-b{x}{,x12y\b1z _" + bytes(range(256)) + rng.integers(0, 256, 1000, dtype=np.uint8).tobytes()
    assert std.regex(pattern).find(data, backend="cpu").tolist() == greedy(pattern, data)


def wrong(problem, at, fix):
    return f"the pattern of vyre.std.regex {problem} at position {at}. Fix: {fix}."


ITSELF = "for the character itself"
LAZY = 'leave its ? out; matches are the longest, or end first with kind="earliest"'
MIDDLE = "has flags in the middle, which could be for all of it or for the rest,"
LEFT_OUT = [
    (rb"(a)\1", "a backreference", 3, "write what it stands for"),
    (rb"(?P=a)", "a backreference", 0, "write what it stands for"),
    (rb"(?=a)", "a lookahead", 0, "match more, and look at the rest on the host"),
    (rb"a(?!a)", "a lookahead", 1, "match more, and look at the rest on the host"),
    (rb"(?<=a)", "a lookbehind", 0, "match more, and look at the rest on the host"),
    (rb"(?<!a)", "a lookbehind", 0, "match more, and look at the rest on the host"),
    (rb"a*?", "a lazy quantifier", 1, LAZY),
    (rb"a+?", "a lazy quantifier", 1, LAZY),
    (rb"a??", "a lazy quantifier", 1, LAZY),
    (rb"a{1,2}?", "a lazy quantifier", 1, LAZY),
    (rb"a*+", "a possessive quantifier", 1, "leave its + out"),
    (rb"a{2}+", "a possessive quantifier", 1, "leave its + out"),
    (rb"(?P<n>a)", "a named group", 0, "write (...)"),
    (rb"(?<n>a)", "a named group", 0, "write (...)"),
    (rb"(?>a)", "an atomic group", 0, "write (...)"),
    (rb"(a)?(?(1)b|c)", "a conditional group", 4, "write the alternatives as (a|b)"),
    (rb"(?#a)", "a comment", 0, "leave it out"),
    (rb"a(?ix:b)", "a flag other than i, m and s", 1, "leave it out, and write what it stands for"),
    (rb"[[:alpha:]]", "a POSIX class", 1, f"write its bytes, as in [a-z], or \\[ {ITSELF}"),
    (rb"\07", "an octal escape", 0, "write \\x and two hexadecimal digits"),
]
WRONG = [
    *((pattern, wrong(f"has {name}, which vyre leaves out,", at, fix)) for pattern, name, at, fix in LEFT_OUT),
    (b"a)", wrong("has a `)` without a `(`", 1, f"write \\) {ITSELF}")),
    (b"a(b(c)", wrong("has a `(` without a `)`", 1, f"write \\( {ITSELF}")),
    (b"a[b", wrong("has a `[` without a `]`", 1, f"write \\[ {ITSELF}")),
    (b"a|*", wrong("has a quantifier with nothing before it", 2, f"write \\ before it {ITSELF}")),
    (b"a**", wrong("has a quantifier behind another one", 2, "write (?:...) around what is repeated")),
    (b"a^*", wrong("has a quantifier behind an assertion", 2, "write (?:...) around the assertion")),
    (
        rb"a\Z",
        wrong(
            "has \\Z, which also matches before a last line feed elsewhere than in Python,",
            1,
            "write \\z for the end alone, or (?-m:$) for both",
        ),
    ),
    (b"a(?i)b", wrong(MIDDLE, 1, "write (?i:...) around what they are for, or (?i) first in the pattern")),
    (b"(?i)((?s)b)", wrong(MIDDLE, 5, "write (?s:...) around what they are for, or (?s) first in the pattern")),
    (b"(?-s)b", wrong(MIDDLE, 0, "write (?-s:...) around what they are for")),
    (b"(?i-i:a)", wrong("turns a flag on and off in one place", 0, "write it once")),
    (b"a(?m-im:a)", wrong("turns a flag on and off in one place", 1, "write it once")),
    (b"(?i-:a)", wrong("has a group of an unknown kind", 0, "write (?:...)")),
    (b"(?|a)", wrong("has a group of an unknown kind", 0, "write (?:...)")),
    (b"a{1001}", wrong("repeats more than 1000 times", 1, "write 1000 or less")),
    (b"a{3,2}", wrong("has a quantifier whose least is above its most", 1, "write the smaller number first")),
    (rb"[b-a]", wrong("has a wrong range", 1, "write the smaller byte first, and no class in a range")),
    (rb"[a-\d]", wrong("has a wrong range", 1, "write the smaller byte first, and no class in a range")),
    (b"a\\", wrong("ends with a backslash", 1, f"write \\\\ {ITSELF}")),
    (rb"\xg0", wrong("has an incomplete \\x", 0, "write two hexadecimal digits, as in \\x0a")),
    (rb"\q", wrong("has an unknown escape \\q", 0, f"write q {ITSELF}")),
    (
        b"(a{1000}){5}",
        "the pattern of vyre.std.regex must have at most 4096 positions with its repetitions written out, got "
        "more. Fix: pass one with at most 4096 positions with its repetitions written out.",
    ),
    (
        b"a" * 10_001,
        "the pattern of vyre.std.regex must have at most 10000 bytes, got 10001. "
        "Fix: pass one with at most 10000 bytes.",
    ),
    (
        b"[ab]*a[ab]{12}",
        "the pattern of vyre.std.regex must have an automaton of at most 2048 states, got more. "
        "Fix: pass one with an automaton of at most 2048 states.",
    ),
    (  # 1,025 states for the way back, 4 kinds of bytes and 1,026 states ahead: more than 2^22 together
        b"[a-z]*a[a-z]{9}x",
        "the pattern of vyre.std.regex must have an automaton of at most 1023 states, got more.",
    ),
]


@pytest.mark.parametrize(("pattern", "wanted"), WRONG)
def test_patterns_that_are_refused(pattern, wanted):
    with refused(ArgumentError, wanted):
        std.regex(pattern)


def test_more_symbols_than_an_entry_holds_are_refused(monkeypatch):
    assert std.regex(b"ab").count(b"ab", backend="cpu") == 1
    monkeypatch.setattr(regex_tables, "_MOST_SYMBOLS", 3)
    problem = "the pattern of vyre.std.regex must have automata with at most 3 symbols between them, got more."
    with refused(ArgumentError, problem):
        std.regex(b"ab")


def test_an_expression_is_pickled_with_its_flags():
    for made in (std.regex(b"a+", "i"), std.regex(b"(?i)a+"), std.regex(b"[aA]+")):
        again = pickle.loads(pickle.dumps(made))
        assert made.find(b"bAa", backend="cpu").tolist() == again.find(b"bAa", backend="cpu").tolist() == [(1, 3)]
        assert repr(again) == repr(made)
    assert repr(std.regex(b"a+", "i")) == "vyre.std.regex(b'a+', 'i')"


def test_groups_nested_deeply():
    found = std.regex(b"(" * 4000 + b"ab" + b")" * 4000).find(b"xabab", backend="cpu")
    assert found.tolist() == [(1, 3), (3, 5)]


test_wrong_calls = wrong_calls("regex", globals())


@pytest.mark.parametrize("count", [1, 7, 8, 9, 40])
def test_positions_before_and_after_are_the_same_pairs(count):
    (made,) = parse(b"(a?b?c)" * count).kinds
    after = {(k, each) for k, mask in enumerate(made.follow) for each in range(3 * count) if mask >> each & 1}
    before = {(each, k) for k, mask in enumerate(made.precede) for each in range(3 * count) if mask >> each & 1}
    inner = {(k, k + 1) for k in range(3 * count - 1)} | {(3 * k, 3 * k + 2) for k in range(count)}
    steps = {(3 * k + 2, 3 * k + 3 + skipped) for k in range(count - 1) for skipped in (1, 2)}
    assert after == before == inner | steps


def test_the_bits_of_a_number_are_found_in_order(rng):
    for size in (0, 1, 15, 16, 17, 64, 4096):
        wanted = sorted(rng.choice(4096, size, replace=False).tolist())
        assert bits(sum(1 << each for each in wanted)) == wanted
