"""Each wrong procedure of wrong_procedures.txt has exactly its error, and the one that its Fix gives is right."""

import re
from pathlib import Path

import numpy as np
import pytest

import vyre
from conftest import refused
from test_kernel_mistakes import BACKENDS, FILE, defined, read_cases

HEAD = """\
import numpy as np

import vyre
from small_kernels import copied, doubled
from vyre import In, InOut, Out, const, u8, u32


@vyre.kernel
def add(x: InOut[u32], k: u32):
    x[vyre.gid(0)] += k


"""


def whole_source(source: str) -> str:
    """A case's source with the lines that are left out because most have them."""
    if source.startswith("    "):
        source = "def p(x: InOut[u32], n: u32):\n" + source
    return re.sub(
        r"(?m)^(@.*\n)?((?:async )?def p\()", lambda found: (found[1] or "@vyre.procedure\n") + found[2], source
    )


def whole_error(kind: str, message: list[str], _: str) -> str:
    problem, *fix = message
    return f"{kind}: {problem}" + "".join(f". Fix: {each.removeprefix('  ')}." for each in fix)


CASES = read_cases(Path(__file__).with_name("wrong_procedures.txt"), whole_source, whole_error)


def run(source: str, call: str, backend: str) -> object:
    """What a call gives, written as in a case; the procedure runs on the backend."""
    made = defined(source, HEAD)

    def p(*args: object, **options: object) -> object:
        return made["p"](*args, **options, backend=backend)

    def changed(*args: object) -> object:
        """The first array as the call leaves it."""
        p(*args)
        return args[0]

    return eval(call, {"a": np.arange(5, dtype=np.uint32), "np": np, "p": p, "changed": changed})


@pytest.mark.parametrize("name", CASES)
def test_a_wrong_procedure_has_its_error(name):
    with pytest.raises(Exception) as caught:
        run(CASES[name].wrong, CASES[name].wrong_call or "p(a, 3)", "cpu")
    said = f"{caught.type.__name__}: {caught.value}".replace(FILE, "wrong.py").partition("\n    ")[0]  # of source
    assert CASES[name].error in (said, said.partition(". Fix: ")[0])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CASES)
def test_the_procedure_that_the_fix_gives_is_right(name, backend):
    given = run(CASES[name].fixed, CASES[name].call, backend)
    wanted = eval(CASES[name].gives, {"a": np.arange(5, dtype=np.uint32), "np": np})
    np.testing.assert_array_equal(given, wanted)


def test_the_fix_is_general_where_the_source_cannot_be_read():
    names = {"vyre": vyre, "InOut": vyre.InOut, "u32": vyre.u32}
    exec("def made(x: InOut[u32]):\n    assert x.length > 1\n    vyre.clear(x)\n", names)
    with refused(
        vyre.ArgumentError,
        "the size 1 < length(x) decides a branch of Python, and is not known until the procedure is planned",
        "write `with vyre.when(size):`, or vyre.size_select(condition, a, b)",
    ):
        vyre.procedure(names["made"])(np.ones(3, np.uint32))
