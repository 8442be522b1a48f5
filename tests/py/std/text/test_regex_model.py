"""Regular expressions from random trees, beside a model of trees that Python's `re` checks."""

import random
import re
from functools import cache

import pytest

from conftest import SEED
from vyre import std

# A tree is a class of bytes, an assertion, or one of ("seq", a, b), ("or", a, b), ("flags", "i-m", a) and
# ("repeat", "{1,2}", 1, 2, a).
CLASSES = [b"a", b"b", b"A", b".", b"[ab]", b"[^a]", rb"\n", rb"\w", rb"\W", b"", b"[^B\n]", rb"\xe9", b"_"]
ASSERTIONS = [b"^", b"$", rb"\A", rb"\z", rb"\b", rb"\B"]
REPEATS = {
    b"*": (0, None),
    b"+": (1, None),
    b"?": (0, 1),
    b"{2}": (2, 2),
    b"{,2}": (0, 2),
    b"{1,3}": (1, 3),
    b"{0}": (0, 0),
}
FLAGS = ["i", "m", "s", "-m", "im", "s-i", "-ims"]


def random_tree(rng, depth):
    kind = rng.randrange(8) if depth else rng.randrange(2)
    if kind < 2:
        return rng.choice(ASSERTIONS if kind else CLASSES)
    if kind == 2:
        return "or", random_tree(rng, depth - 1), random_tree(rng, depth - 1)
    if kind == 3:
        return "flags", rng.choice(FLAGS), random_tree(rng, depth - 1)
    if kind == 4:
        return "repeat", rng.choice([*REPEATS]), random_tree(rng, depth - 1)
    return "seq", random_tree(rng, depth - 1), random_tree(rng, depth - 1)


def spelled(tree):
    """The pattern of a tree."""
    if isinstance(tree, bytes):
        return tree
    kind, *parts = tree
    if kind == "flags":
        return b"(?%b:%b)" % (parts[0].encode(), spelled(parts[1]))
    if kind == "repeat":
        return b"(?:%b)%b" % (spelled(parts[1]), parts[0])
    return {"or": b"(%b|%b)", "seq": b"%b%b"}[kind] % (spelled(parts[0]), spelled(parts[1]))


@cache
def members(of, flags):
    """The bytes of a class, by `re`."""
    flags = sum((getattr(re, each.upper()) for each in flags), re.ASCII)
    return {k for k in range(256) if re.fullmatch(of, bytes([k]), flags)}


def holds(assertion, text, at, flags):
    before, behind = ({*text[max(k, 0) : k + 1]} & members(rb"\w", "") for k in (at - 1, at))
    return {
        rb"\A": at == 0,
        rb"\z": at == len(text),
        rb"\b": bool(before) != bool(behind),
        rb"\B": bool(before) == bool(behind),
        b"^": at == 0 or ("m" in flags and text[at - 1] == 10),
        b"$": at == len(text) or (text[at] == 10 and ("m" in flags or at == len(text) - 1)),
    }[assertion]


@cache
def ends(tree, text, at, flags):
    """Where the matches of a tree end that begin here."""
    if tree in ASSERTIONS:
        return {at} if holds(tree, text, at, flags) else set()
    if tree == b"":
        return {at}
    if isinstance(tree, bytes):
        return {at + 1} if {*text[at : at + 1]} & members(tree, flags) else set()
    kind, first, second = tree
    if kind == "flags":
        on, _, off = first.partition("-")
        return ends(second, text, at, "".join(sorted({*flags, *on} - {*off})))
    if kind == "or":
        return ends(first, text, at, flags) | ends(second, text, at, flags)
    if kind == "seq":
        return {e for k in ends(first, text, at, flags) for e in ends(second, text, k, flags)}
    least, most = REPEATS[first]
    reached, found = {at}, set()
    for turn in range((len(text) + 2 if most is None else most) + 1):
        found |= reached if turn >= least else set()
        reached = {e for k in reached for e in ends(second, text, k, flags)}
    return found


def wanted(tree, text, flags, earliest):
    """The matches that do not overlap and are not empty, from left to right."""
    n, at, found = len(text), 0, []
    while True:
        spans = [(s, e) for s in range(at, n) for e in ends(tree, text, s, flags) if e > s]
        if not spans:
            return found
        found.append(min(spans, key=lambda span: (span[earliest], span[0], -span[1])))
        at = found[-1][1]


def check_model(tree, pattern, text, flags):
    """`re` finds a match from the same places as the model, and it is one of the model's."""
    made = re.compile(pattern.replace(rb"\z", rb"\Z"), sum((getattr(re, each.upper()) for each in flags), re.ASCII))
    if not text and rb"\B" in pattern:  # does not hold in an empty text before Python 3.14
        return
    for at in range(len(text) + 1):
        match, ours = made.match(text, at), ends(tree, text, at, flags)
        assert match.end() in ours if match else not ours, (pattern, text, flags, at)


@pytest.mark.parametrize("part", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 20))])
def test_every_pattern_of_the_subset(part):
    rng, matches = random.Random(f"{SEED} {part}"), 0
    for _ in range(1000):
        tree, flags = random_tree(rng, 4), rng.choice(["", "", "i", "m", "ims"])
        pattern = spelled(tree)
        made = std.regex(pattern, flags)
        for size in (rng.randrange(3), rng.randrange(3, 12)):
            text = bytes(rng.choices(b"aabA_\n \xe9", k=size))
            check_model(tree, pattern, text, flags)
            for earliest, kind in enumerate(("leftmost-longest", "earliest")):
                found = made.find(text, kind, backend="cpu").tolist()
                assert found == wanted(tree, text, flags, earliest), (pattern, text, flags, kind)
                matches += len(found)
        ends.cache_clear()
    assert matches > 1000
