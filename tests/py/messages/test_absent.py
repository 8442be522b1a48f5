"""Names that are not there: their AttributeError says what to write, and that works."""

import copy
import pickle
import re

import numpy as np
import pytest

import vyre
from conftest import refused
from small_kernels import doubled
from vyre import In, InOut, Out, std, u32
from vyre.errors import ArgumentError, CallError, KernelError

DATA = b"one, two"


@vyre.procedure
def twice(x: In[u32]):
    made = vyre.scratch(u32, x.length)
    doubled(x, made)
    return made


def message_of(owner, name):
    assert not hasattr(owner, name)
    with pytest.raises(AttributeError) as caught:
        getattr(owner, name)
    assert isinstance(caught.value, ArgumentError)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("uint32", "vyre.u32"),
        ("int64", "vyre.u64, which keeps the bits"),
        ("asarray", "vyre.array(values, dtype=vyre.u32)"),
        ("hstack", "vyre.std.concatenate([a, b])"),
        ("copy", "a.copy(), for an array `a`"),
        ("jit", "@vyre.kernel above a function of one invocation"),
        ("sort", "vyre.std.sort"),
        ("to_device", "vyre.array(x), for an array `x` of numpy"),
    ],
)
def test_names_of_numpy_say_what_to_write(name, fix):
    assert message_of(vyre, name) == f"module `vyre` has no attribute `{name}`. Fix: write {fix}."
    written = re.split(r",? for |, which | above ", fix)[0].removeprefix("@")
    given = {"np": np, "vyre": vyre, "values": [1, 2], "x": np.arange(3, dtype=np.uint32), "shape": 3}
    given["a"] = given["b"] = vyre.array(np.eye(2, dtype=np.uint32), backend="cpu")
    eval(written, given)


def test_every_name_of_the_library_is_found_there():
    missing = [name for name in std.__all__ if not hasattr(vyre, name)]
    assert {"sort", "sum", "argsort", "regex", "blake3"} <= {*missing}
    for name in missing:
        assert message_of(vyre, name) == f"module `vyre` has no attribute `{name}`. Fix: write vyre.std.{name}."


def test_a_name_that_is_not_there_is_not_imported_and_not_listed():
    for name in ("sort", "uint32", "nonsense"):
        with pytest.raises(ImportError, match=f"^cannot import name '{name}' from 'vyre' "):
            exec(f"from vyre import {name}")
        assert name not in dir(vyre)


def test_a_kernel_is_told_the_type_and_no_function_of_the_host():
    @vyre.kernel
    def typed(out: Out[u32]):
        out[0] = vyre.uint32(3)

    @vyre.kernel
    def sorting(out: Out[u32]):
        out[0] = vyre.sort(out)

    with pytest.raises(KernelError, match=r"module `vyre` has no attribute `uint32`\. Fix: write vyre\.u32\."):
        typed.program  # noqa: B018
    with pytest.raises(KernelError, match=r"module `vyre` has no attribute `sort`"):
        sorting.program  # noqa: B018


@pytest.mark.parametrize(
    ("written", "fix", "meant"),
    [
        ("i = vyre.grid(1)", "vyre.gid(0)", "i = vyre.gid(0)"),
        ("i = vyre.threadIdx.x", "vyre.lid(0) for `threadIdx.x`", "i = vyre.lid(0)"),
        ("i = vyre.blockIdx.x", "vyre.wid(0) for `blockIdx.x`", "i = vyre.wid(0)"),
        ("i = vyre.gridsize(1) - 1", "vyre.grid_size(0)", "i = vyre.grid_size(0) - 1"),
        ("i = 0; vyre.syncthreads()", "vyre.barrier()", "i = 0; vyre.barrier()"),
        ("i = vyre.atomic.add(out, 0, 0)", "a.atomic_add(i, value), for an array `a`", "i = out.atomic_add(0, 0)"),
    ],
)
def test_a_word_of_cuda_in_a_kernel_says_what_to_write(write_module, written, fix, meant):
    text = "import vyre\n\n@vyre.kernel(workgroup_size=1)\ndef k(out: vyre.Out[vyre.u32]):\n    {}\n    out[i] = 7\n"
    with pytest.raises(KernelError) as caught:
        write_module("cuda_words", text.format(written)).k.program  # noqa: B018
    word = re.search(r"vyre\.(\w+)", written)[1]
    assert f": module `vyre` has no attribute `{word}`. Fix: write {fix}.\n" in str(caught.value)
    mended = write_module("vyre_words", text.format(meant)).k
    assert mended(np.zeros(1, np.uint32), backend="cpu").tolist() == [7]


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("search", "r.find(data, limit=1)"),
        ("match", "r.find(data, limit=1), whose match begins at 0 where the data begins with one"),
        ("fullmatch", "r.find(data, limit=1), whose match is (0, len(data)) where it is all of the data"),
        ("findall", "r.find(data)"),
        ("finditer", "r.find(data)"),
    ],
)
def test_methods_of_re_say_what_to_write(name, fix):
    r = std.regex(b"[a-z]+")
    assert message_of(r, name) == f"a vyre.std.Regex has no attribute `{name}`. Fix: write {fix}, for a Regex `r`."
    for data in (DATA, b"one", b"", b"- one"):
        found = [match.span() for match in re.finditer(rb"[a-z]+", data)]
        limit = None if "limit" not in fix else 1
        given = r.find(data, limit=limit, backend="cpu").tolist()
        assert given == found[:limit]
        if name == "match":
            assert any(start == 0 for start, _ in given) == bool(re.match(rb"[a-z]+", data))
        if name == "fullmatch":
            assert ((0, len(data)) in given) == bool(re.fullmatch(rb"[a-z]+", data))


@pytest.mark.parametrize(
    ("owner", "what", "name", "fix"),
    [
        (twice, "procedure `twice`", "cost", "kernel.cost(...) for each kernel that it calls"),
        (twice, "procedure `twice`", "program", "twice.procedure.programs, because it has several"),
        (doubled, "kernel `doubled`", "forall", "doubled(..., grid=n) for n invocations"),
        (doubled, "kernel `doubled`", "ptx", "doubled.explain()"),
        (doubled, "kernel `doubled`", "py_func", "doubled.__wrapped__"),
    ],
)
def test_names_of_kernels_say_what_to_write(owner, what, name, fix):
    assert message_of(owner, name) == f"{what} has no attribute `{name}`. Fix: write {fix}."
    x = np.arange(3, dtype=np.uint32)
    written = re.split(" for |, because ", fix)[0].replace("...", "x")
    eval(written, {"kernel": doubled, "doubled": doubled, "twice": twice, "x": x, "n": 3})


@pytest.mark.parametrize(
    ("owner", "what", "names"),
    [
        (std.regex(b"a+"), "a vyre.std.Regex", "dir(r), for a Regex `r`"),
        (twice, "procedure `twice`", "dir(twice)"),
        (doubled, "kernel `doubled`", "dir(doubled)"),
    ],
)
def test_other_names_are_missing_too(owner, what, names):
    fix = f"one of the names in {names}"
    assert message_of(owner, "wrong") == f"{what} has no attribute `wrong`. Fix: write {fix}."
    # Python and other packages ask for such names.
    with pytest.raises(AttributeError) as caught:
        owner._wrong  # noqa: B018
    assert not isinstance(caught.value, ArgumentError)
    kind = type(owner).__name__
    assert (str(caught.value), caught.value.name, caught.value.obj) == (
        f"'{kind}' object has no attribute '_wrong'",
        "_wrong",
        owner,
    )
    assert not {"search", "forall"} & {*dir(owner)}


def test_a_regex_is_copied_and_pickled():
    r = std.regex(b"a+")
    for made in (copy.copy(r), copy.deepcopy(r), pickle.loads(pickle.dumps(r))):
        assert made.pattern == r.pattern
        assert made.find(b"baab", backend="cpu").tolist() == [(1, 3)]


def test_a_repetition_in_a_procedure_is_named_by_the_fix():
    @vyre.procedure
    def repeated(x: InOut[u32], n: u32):
        for _ in vyre.repeat(n):
            vyre.clear(x)

    @vyre.procedure
    def mended(x: InOut[u32], n: u32):
        for _ in vyre.times(n):
            vyre.clear(x)

    with refused(
        CallError, "vyre.repeat() has no place in a procedure", "in a procedure, write `for i in vyre.times(n):`"
    ):
        repeated(np.ones(3, np.uint32), 2)
    x = np.ones(3, np.uint32)
    mended(x, 2, backend="cpu")
    assert not x.any()
