"""Random calls of every public name, with arguments that fit the signature and arguments that must be refused.

A call is made from a seed and a number alone, so that one of a hundred thousand can be repeated by itself:

    PYTHONPATH=tests/py python -c "import calls; print(calls.call(SEED, NUMBER))"

`call_targets.py` lists what is called, `call_arguments.py` makes the arguments, and this module judges the errors.
"""

from __future__ import annotations

import pathlib
import random
import re

import vyre
from call_arguments import Hostile, arguments, itself
from call_targets import Target, find, targets
from vyre import Expr

TARGETS = targets()


class Unexpected(AssertionError):
    """A call that failed with an undocumented error."""


# Errors of Python's own, by their words: a call that Python itself refuses, and operations that a class does not have.
PYTHONS_OWN = re.compile(
    r"missing \d+ required|takes (no|from|exactly|at most|\d+)|unexpected keyword argument|multiple values for"
    r"|positional(-only)? argument|keywords must be strings|expected (at most|at least|exactly)? ?\d+ argument"
    r"|wrapper expected"
    r"|no attribute|has no setter|not supported between instances|unhashable type|cannot assign to field"
    r"|object is not callable|descriptor '.*' (for|requires)"
)
# numpy reads a sequence of the user's own class to its end, which it may not have; SECURITY.md says so.
READ_BY_NUMPY = {"array", "Array.write", "Array.__setitem__"}
# What vyre gives as results and nothing else makes: their constructors take what is right.
RESULTS = {f"{name}{rest}" for name in ("Cost", "Debugging", "Trace") for rest in ("", ".__init__")}
WRITES = {"CheckResult.save", "Profile.to_perfetto", "replay", "fuzz.Case.run"}


# Errors of objects that object.__new__ made without __init__; a class written in Python cannot prevent that.
UNFINISHED = re.compile(r"'(Graph|Profile|Operation|DataType)' object has no attribute '(_\w+|spec|__name__)'$")

# vyre.fuzz is a tool for developers of backends: what its dataclasses hold is not checked by anybody.
TOOLS = (TypeError, AttributeError, ValueError, LookupError, SystemExit)


def _within_vyre(error: BaseException) -> bool:
    """Whether Python raised it in the middle of the package, and not because of the call itself."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    package = pathlib.Path(vyre.__file__).parent
    return trace is not None and pathlib.Path(trace.tb_frame.f_code.co_filename).is_relative_to(package)


COMPARISONS = {f"Array.__{name}__" for name in ("eq", "ne", "lt", "le", "gt", "ge")}


def judged(target: Target, error: BaseException) -> str:
    """Say what is wrong with the error that a call raised; empty when the error is acceptable."""
    if isinstance(error, Hostile):
        return ""
    try:
        text = str(error)
    except Hostile:
        return ""
    if isinstance(error, vyre.InternalError):
        return f"is a bug: {text}"
    if isinstance(error, vyre.VyreError):
        if "Fix: " not in text:
            return "has no Fix"
        return f"has {len(text)} characters" if len(text) > 20_000 else ""
    if isinstance(error, (TypeError, IndexError)) and ". Fix: " in text:
        return ""
    if target.name in COMPARISONS and isinstance(error, (TypeError, ValueError, MemoryError)):
        return ""  # numpy's, which compares the elements
    if target.name.startswith("Diagnostics") and isinstance(error, (TypeError, ValueError, LookupError, MemoryError)):
        return ""  # a list's own
    if isinstance(error, (TypeError, AttributeError)) and PYTHONS_OWN.search(text) and not _within_vyre(error):
        return ""
    if isinstance(error, AttributeError) and UNFINISHED.search(text):
        return ""
    if target.name.startswith("_core.") and not isinstance(error, SystemError):
        return ""  # a function that the package alone calls; its end or a hang would still be found
    if target.name in RESULTS and isinstance(error, TOOLS):
        return ""
    if target.name.startswith("fuzz.") and isinstance(error, TOOLS):
        return ""
    if isinstance(error, MemoryError) and target.name in READ_BY_NUMPY:
        return ""
    if isinstance(error, OSError) and target.name in WRITES:
        return ""
    return "is none of ours"


def call(seed: int, number: int) -> str:
    """Make one call; says what it was and what became of it. Raises Unexpected."""
    rng = random.Random(f"{seed} {number}")
    target = TARGETS[number % len(TARGETS)]
    told = f"call({seed}, {number}) of {target.name}"
    owner = itself(target.owner, rng) if target.owner else None
    args, named = arguments(target, rng)
    try:
        if target.kind == "property":
            value = getattr(owner, target.name.rpartition(".")[2])
        elif target.kind == "method":
            value = getattr(owner, target.name.rpartition(".")[2])(*args, **named)
        else:
            value = find(target.name)(*args, **named)
    except BaseException as error:
        wrong = judged(target, error)
        if not wrong:
            return f"{told}: {type(error).__name__}"
        raise Unexpected(f"{told}: {type(error).__name__}({_told(error)}) {wrong}") from error
    if type(type(value)) is type(Expr):
        repr(value)
    return f"{told}: {type(value).__name__}"


def _told(error: BaseException) -> str:
    text = str(error)
    return text if len(text) < 400 else f"{text[:300]} ... {text[-90:]}"
