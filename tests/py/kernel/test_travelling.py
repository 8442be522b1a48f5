"""Kernels and procedures in pickles: they travel by value, with what they read, and say what cannot."""

from __future__ import annotations

import concurrent.futures
import copy
import linecache
import logging
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import cloudpickle
import numpy as np
import pytest

import vyre
from conftest import message, refused
from vyre import In, Out, u32

X = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.uint32)


def run_script(text, folder):
    done = subprocess.run([sys.executable, "-c", text], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


ARRIVE = """
import pickle
import numpy as np, vyre
x = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.uint32)
for name, pickles in pickle.load(open("data", "rb")).items():
    for data in pickles:
        kernel = pickle.loads(data)
        assert pickle.loads(data) is kernel
        try:
            for each in (kernel, pickle.loads(pickle.dumps(kernel))):
                a = x.astype(np.uint64) if "another type" in name else x
                print(*(each(a, backend=backend).tolist() for backend in ("reference", "cpu")))
        except vyre.KernelError as error:
            print(error)
"""


def captured(x):
    return ((x + 3) * 7 + np.array([1, 10, 100, 1000])[np.arange(len(x)) & 3] + 1) * 2


WANTED = [
    captured(X),
    X * 6,
    X.astype(np.uint64) * 2**33,
    X * 3,
    X * 3,
    (X ^ 6) + 1 + (X ^ 1) + 1,
    captured(X + 5) * 2,
]


def test_what_a_script_has_made_travels_to_spawned_processes_and_those_that_lack_its_file(tmp_path):
    (tmp_path / "home").mkdir()
    script = tmp_path / "home" / "script.py"
    script.write_text(Path(__file__).with_name("travelling.py").read_text(encoding="utf-8"), encoding="utf-8")
    command = [sys.executable, script, tmp_path / "data"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True).stdout
    block = np.arange(4, dtype=np.uint32)
    *mistake, one, other = said.splitlines(keepends=True)
    mistake = "".join(mistake)
    assert one + other == f"{block * 7}\n{captured(block + 5) * 2}\n"
    assert f"{script}:" in mistake
    assert "    y[i] = x[i] + missing  # noqa: F821\n" in mistake
    script.unlink()
    values = [each.tolist() for each in WANTED]
    printed = run_script(ARRIVE, tmp_path)
    assert printed == "".join(f"{each} {each}\n" * 4 for each in values) + mistake * 2


def test_a_kernel_of_a_notebook_travels_with_its_cell(tmp_path):
    text = """
import pickle, sys, vyre
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell("import vyre\\nfrom vyre import In, Out, u32", store_history=True)
shell.run_cell("def twice(x):\\n    return x * 2", store_history=True)
shell.run_cell('''
@vyre.kernel
def good(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    y[i] = twice(x[i])

@vyre.kernel
def bad(x: In[u32], y: Out[u32]):
    y[vyre.gid(0)] = print(x[0])
''', store_history=True)
names = shell.user_ns
pickle.dump((names["good"], names["bad"]), open("data", "wb"))
try:
    names["bad"].program
except vyre.KernelError as error:
    print(error)
"""
    said = run_script(text, tmp_path)
    assert "Cell In[3], line 8" in said
    text = f"""
import pickle, numpy as np, vyre
good, bad = pickle.load(open("data", "rb"))
assert good(np.array({X.tolist()}, np.uint32), backend="cpu").tolist() == {(X * 2).tolist()}
try:
    bad.program
except vyre.KernelError as error:
    print(error)
"""
    assert run_script(text, tmp_path) == said


# --- in one process ---


@vyre.kernel
def doubled(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    y[i] = x[i] * 2


@vyre.procedure
def quadrupled(x: In[u32]):
    a, b = vyre.scratch(u32, x.length), vyre.scratch(u32, x.length)
    doubled(x, a)
    doubled(a, b)
    return b


def made_for(factor):
    @vyre.kernel
    def made(x: In[u32], y: Out[u32]):
        i = vyre.gid(0)
        y[i] = x[i] * factor

    return made


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("value", [doubled, quadrupled], ids=["kernel", "procedure"])
def test_a_process_that_has_the_same_one_under_its_name_gives_that(value, protocol):
    assert pickle.loads(pickle.dumps(value, protocol)) is value
    assert cloudpickle.loads(cloudpickle.dumps(value)) is value
    assert copy.copy(value) is copy.deepcopy(value) is value


def test_the_library_is_pickled_by_name():
    from vyre.std import counter_random

    kernel = next(each for each in vars(counter_random).values() if isinstance(each, vyre.Kernel))
    assert pickle.loads(pickle.dumps(kernel)) is kernel
    assert len(pickle.dumps(kernel)) < 200


def test_the_values_are_those_of_when_it_was_pickled(monkeypatch):
    data = pickle.dumps(quadrupled)
    monkeypatch.setitem(globals(), "doubled", made_for(5))
    again = pickle.loads(data)
    assert again is not quadrupled
    assert again(X, backend="cpu").tolist() == (X * 4).tolist()
    assert quadrupled(X, backend="cpu").tolist() == (X * 25).tolist()


def test_a_table_stays_as_it_was_first_seen():
    @vyre.kernel
    def made(x: In[u32], y: Out[u32]):
        i = vyre.gid(0)
        y[i] = x[i] + table[i] + 0 * factor

    factor, table = 1, X.copy()
    assert made(X, backend="cpu").tolist() == (X * 2).tolist()
    table[:], factor = 0, 2
    assert made(X, backend="cpu").tolist() == (X * 2).tolist()
    assert pickle.loads(pickle.dumps(made))(X, backend="cpu").tolist() == (X * 2).tolist()


def test_a_pickle_that_comes_again_is_traced_once(caplog):
    data = pickle.dumps(made_for(13))
    with caplog.at_level(logging.DEBUG, "vyre"):
        for _ in range(3):
            assert pickle.loads(data)(X, backend="cpu").tolist() == (X * 13).tolist()
    assert len([each for each in caplog.messages if each.startswith("kernel `made` was traced")]) == 1


def test_threads_that_read_a_pickle_at_once_get_one_kernel(fast_switching):
    for factor in range(20, 25):
        data, start = pickle.dumps(made_for(factor)), threading.Barrier(4)

        def read(_, data=data, start=start):
            start.wait()
            return pickle.loads(data)

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            assert len({id(each) for each in [*pool.map(read, range(4))]}) == 1


def test_dask_gives_equal_kernels_one_name():
    base = pytest.importorskip("dask.base")
    assert base.tokenize(made_for(3)) == base.tokenize(made_for(3)) != base.tokenize(made_for(4))


# --- sources ---


def defined(text, file="<travelling>", **names):
    """The kernel `k` of a text that only `linecache` knows."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names |= {"vyre": vyre, "In": In, "Out": Out, "u32": u32, "__name__": "travelling.nowhere"}
    exec(compile(text, file, "exec"), names)
    return names["k"]


KERNEL = "@vyre.kernel\ndef k(x: In[u32], y: Out[u32]):\n    i = vyre.gid(0)\n"


@pytest.mark.parametrize("is_here", [True, False])
def test_a_file_of_the_same_name_is_not_taken_for_the_source(is_here):
    file = f"<other {is_here}>"
    texts = [f"{KERNEL}    y[i] = x[i] + unknown_{k}\n" for k in range(2)]
    pickles = [pickle.dumps(defined(text, file=file)) for text in texts]
    del linecache.cache[file]
    if is_here:
        defined(f"# Another first line.\n{KERNEL}    y[i] = x[i]\n", file=file)
    for number, data in enumerate(pickles):
        kernel = pickle.loads(data)
        told = message(lambda kernel=kernel: kernel.program, vyre.KernelError)
        assert f"    y[i] = x[i] + unknown_{number}\n" in told
        assert (f"{file} (pickled " in told) == (is_here or number == 1)


def test_a_source_that_has_changed_since_travels_as_it_was():
    kernel = defined(f"{KERNEL}    y[i] = x[i] + 1\n")
    defined(f"{KERNEL}    y[i] = x[i] + 2\n")
    assert pickle.loads(pickle.dumps(kernel))(X, backend="cpu").tolist() == (X + 1).tolist()


# --- what cannot travel ---


def test_what_cannot_be_pickled_is_named_with_its_reader():
    class Refusing:
        def __reduce__(self):
            raise RuntimeError("it is\nsecret.")

    fix = "make it a tuple of numbers or a numpy array, or read what is needed of it into a name outside"
    rows = [
        (threading.Lock(), "cannot pickle '_thread.lock' object"),
        ({"a": [threading.Lock()]}, "cannot pickle '_thread.lock' object"),
        (vyre.array(X, backend="cpu"), "a vyre.Array is memory of a device, which is not copied or pickled"),
        (Refusing(), "it is secret"),
    ]
    helper = "def helper(x):\n    return x if held is None else x + 1\n\n\n"
    for value, why in rows:
        kernel = defined(f"{helper}{KERNEL}    y[i] = helper(x[i])\n", held=value)
        told = f"`k` cannot be pickled, because of the value of `held`, which `helper` reads: {why}"
        with refused(vyre.ArgumentError, told, fix):
            pickle.dumps(kernel)
    told = "`k` cannot be pickled, because of its options, its defaults or what it reads: "
    fix = "use numbers, texts or arrays of numpy"
    with refused(vyre.ArgumentError, f"{told}cannot pickle '_thread.lock' object", fix):
        pickle.dumps(defined(KERNEL.replace(")", ", c: vyre.const)", 1)).specialize(c=threading.Lock()))
    kernel = defined(f"{KERNEL}    y[i] = x[i] + held[i]\n", held=vyre.array(X, backend="cpu").numpy())
    assert pickle.loads(pickle.dumps(kernel))(X, backend="cpu").tolist() == (X * 2).tolist()


def test_helpers_that_are_too_deep_for_python_are_told():
    text = "".join(f"def f{n}(x):\n    return f{n + 1}(x)\n" for n in range(1500))
    told = (
        "`k` cannot be pickled, because of the value of `f0`, which `k` reads: it is nested deeper than Python's stack"
    )
    with refused(vyre.ArgumentError, told, "put it into a module, and read it as an attribute of that"):
        pickle.dumps(defined(f"{text}{KERNEL}    y[i] = f0(x[i])\n"))


def test_a_pickle_of_another_python_says_so():
    function, (python, *rest) = made_for(3).__reduce__()
    with refused(
        vyre.ArgumentError,
        f"`made_for.<locals>.made` was pickled by cpython 3.9, whose code {python} does not run",
        "use one version of Python in both processes, or send the bytes of its program",
    ):
        function("cpython 3.9", *rest)
