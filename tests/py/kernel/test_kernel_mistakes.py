"""Each wrong kernel of wrong_kernels.txt has exactly its error, and the kernel that the Fix gives runs and is right."""

import linecache
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import vyre

BACKENDS = [name for name in vyre.backends() if name in ("reference", "cpu")]
HEAD = """\
import math

import numpy as np

import vyre
from vyre import In, InOut, Out, boolean, const, i32, u32, u64


"""
PLAIN_KERNEL = "def k(a: In[u32], out: Out[u32]):\n    i = vyre.gid(0)\n"
FILE = "/somewhere/wrong.py"


DIAGNOSTIC = re.compile(r"(?P<rule>[KV]\d+) at (?P<where>.+?) \((?P<file>[^:]+):(?P<rest>[^)]*)\): (?P<problem>.*)")
SPEAKERS = {"K": "vyre kernel", "V": "vyre IR validation"}


def whole_message(line: str, remedy: str, source: list[str]) -> str:
    """The text of an error, which shows the line of the source that it is about, and marks the columns."""
    match = DIAGNOSTIC.fullmatch(line)
    if match is None:
        return f"{line}. Fix: {remedy}.\n"
    place, _, end = match["rest"].partition("-")
    where = f"{match['rule']} at {match['where']} ({match['file']}:{place})"
    message = f"{where}: {SPEAKERS[line[0]]}: {match['problem']}. Fix: {remedy}.\n"
    if match["file"] != "wrong.py":
        return message
    number, *columns = map(int, place.split(":"))
    whole = source[number - 1]
    code = whole.lstrip()
    message += f"    {code}\n"
    if end:
        first = columns[0]
        message += " " * (4 + first - 1 - (len(whole) - len(code))) + "^" * (int(end) - first + 1) + "\n"
    return message


def whole_error(kind: str, lines: list[str], wrong: str) -> str:
    """An error's class, and its messages with what each says in further lines."""
    source = (HEAD + wrong).splitlines()
    text = f"{kind}\n"
    while lines:
        line, remedy, *lines = lines
        text += whole_message(line, remedy.removeprefix("  "), source)
        while lines and lines[0].startswith("  "):
            text += lines.pop(0) + "\n"
    return text


def whole_source(source: str) -> str:
    """A case's source with the lines that are left out because most have them."""
    if source.startswith("    "):
        source = PLAIN_KERNEL + source
    head = r"(?m)^(@.*\n)?((?:async )?def k\(|class k\b)"
    return re.sub(head, lambda found: (found[1] or "@vyre.kernel\n") + found[2], source)


class Case(NamedTuple):
    wrong: str
    wrong_call: str
    error: str
    fixed: str
    call: str
    gives: str


def read_case(
    text: str, source_of: Callable[[str], str] = whole_source, error_of: Callable[..., str] = whole_error
) -> Case:
    source, raises, gives = text.strip("\n").split("\n--- ")
    wrong, fixed = (
        source_of("".join(f"{line[2:]}\n" for line in source.split("\n") if not line.startswith(other)))
        for other in ("+", "-")
    )
    said, *message = raises.split("\n")
    wrong_call, kind = re.fullmatch(r"(?:(.*) )?raises (\w+)", said).groups("")
    call, value = re.fullmatch(r"(?:(.*) )?gives (.*)", gives).groups("k(a)")
    return Case(wrong, wrong_call, error_of(kind, message, wrong), fixed, call, value)


def read_cases(table: Path, *how: Callable[..., str]) -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for each in table.read_text(encoding="utf-8").split("\n===== ")[1:]:
        name, _, rest = each.partition("\n")
        assert name not in cases, name
        cases[name] = read_case(rest, *how)
    return cases


CASES = read_cases(Path(__file__).with_name("wrong_kernels.txt"))


def arrays() -> dict[str, np.ndarray]:
    fixed_array = np.array([1, 2, 3], np.uint32)
    fixed_array.setflags(write=False)
    return {
        "a": np.array([5, 0, 7, 3, 1, 9, 4, 3], np.uint32),
        "b": np.array([5, 2, 0, 3, 8, 1, 4, 6], np.uint32),
        "x": np.array([-5, 1, 0, 3, -1, 2**31 - 1, -(2**31), 7], np.int32),
        "y": np.array([0, 1, 2**32, 2**40 + 1, 2**64 - 1, 5, 2**33, 7], np.uint64),
        "m": np.arange(1, 25, dtype=np.uint32).reshape(4, 6),
        "fixed_array": fixed_array,
    }


def defined(source: str, head: str = HEAD) -> dict[str, object]:
    """The globals after the source has run, whose lines Python's tools find."""
    text = head + source
    linecache.cache[FILE] = (len(text), None, text.splitlines(keepends=True), FILE)
    made: dict[str, object] = {"__name__": "wrong"}
    exec(compile(text, FILE, "exec"), made)
    return made


def run(source: str, call: str, backend: str) -> object:
    """What a call gives, written as in a case; the kernel runs on the backend."""
    made = defined(source)
    kernel = made["k"]
    values = {
        **arrays(),
        "np": np,
        "kernel": kernel,
        "k": lambda *args, **kwargs: kernel(*args, **kwargs, backend=backend),
    }
    return eval(call, values)


def run_wrong(case: Case) -> None:
    """The call that fails, or for a case without one the compilation."""
    if case.wrong_call:
        run(case.wrong, case.wrong_call, "reference")
    else:
        defined(case.wrong)["k"].program.check()  # type: ignore[attr-defined]


def error_of(case: Case) -> str:
    """The class and the whole text of the error, in which the file stands without its folder."""
    with pytest.raises(vyre.VyreError) as caught:
        run_wrong(case)
    return f"{type(caught.value).__name__}\n{caught.value}".replace(FILE, "wrong.py").rstrip("\n") + "\n"


def test_there_are_a_hundred_and_fifty_cases_and_more():
    assert len(CASES) >= 150


@pytest.mark.parametrize("name", CASES)
def test_a_wrong_kernel_has_its_error(name):
    assert error_of(CASES[name]) == CASES[name].error


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CASES)
def test_the_kernel_that_the_fix_gives_is_right(name, backend):
    case = CASES[name]
    given = run(case.fixed, case.call, backend)
    wanted = eval(case.gives, {**arrays(), "np": np, "math": math})
    if isinstance(given, np.ndarray):
        wanted = np.array(wanted).astype(given.dtype)
        assert (given.shape, given.tolist()) == (wanted.shape, wanted.tolist())
    else:
        assert given == wanted


@pytest.mark.parametrize("place", ["k", "helper"])
def test_an_expression_deeper_than_the_stack_is_refused_and_its_parts_run(place):
    def source(body: list[str]) -> str:
        lines = [f"    {line}" for line in body]
        if place == "k":
            return "\n".join(["@vyre.kernel", "def k(v: In[u32], out: Out[u32]):", *lines, "    out[0] = r\n"])
        helper = ["def helper(v):", *lines, "    return r", "", ""]
        return "\n".join([*helper, "@vyre.kernel", "def k(a: In[u32], out: Out[u32]):", "    out[0] = helper(a)\n"])

    deep = 700
    with pytest.raises(vyre.KernelError) as error:
        run(source([f"r = {'~' * deep}v[0]"]), "k(a)", "cpu")
    assert (
        f"vyre kernel: an expression of `{place}` is nested deeper than Python's stack. "
        "Fix: compute parts of it in statements of their own, as in `x = a[i] + b[i]`.\n"
    ) in str(error.value)
    parts = ["r = v[0]", *[f"r = {'~' * 100}r"] * (deep // 100)]
    assert run(source(parts), "k(a)", "cpu")[0] == arrays()["a"][0]  # type: ignore[index]
