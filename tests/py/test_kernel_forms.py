"""Each form of kernel_forms.txt gives what Python gives, and kernels see what they have captured change."""

from pathlib import Path

import numpy as np
import pytest

import vyre
from kernel_comparison import BACKENDS, compile_source
from kernel_source import HEAD, by_python

START = """\
def k(a: In[u32], b: In[u32], s: u32, out: Out[u32], acc: InOut[u32]):
    i = vyre.gid(0)
    if i >= 16:
        return
"""
A = list(range(16))
B = [3 * k % 7 for k in range(16)]
ACC = [100 + k for k in range(16)]


def read_forms() -> dict[str, str]:
    """The source of each kernel by its name."""
    text = Path(__file__).with_name("kernel_forms.txt").read_text(encoding="utf-8")
    forms = {}
    for each in text.split("\n===== ")[1:]:
        name, _, source = each.partition("\n")
        before, _, body = source.rpartition("---\n")
        assert name not in forms, name
        forms[name] = HEAD + before + START + "".join(f"    {line}\n" for line in body.splitlines())
    return forms


FORMS = read_forms()


@pytest.mark.parametrize("name", FORMS)
def test_a_form_gives_what_python_gives(name):
    numbers = by_python(compile_source(FORMS[name], f"<{name} for Python>"), A, B, 5, ACC)
    wanted = tuple([int(each) & 0xFFFFFFFF for each in part] for part in numbers)
    kernel = vyre.kernel(compile_source(FORMS[name], f"<{name}>")["k"])
    for backend in BACKENDS:
        changed = np.array(ACC, np.uint32)
        out, _ = kernel(np.array(A, np.uint32), np.array(B, np.uint32), 5, acc=changed, backend=backend)
        assert (out.tolist(), changed.tolist()) == wanted, f"on {backend}:\n{kernel.text}"


# The globals of a kernel, the expression that it adds, and the change after its first call.
CHANGES = {
    "an integer": ("n = 3", "n", "n = 5"),
    "a truth": ("n = True", "(1 if n else 2)", "n = False"),
    "a tuple": ("n = (3, 4)", "n[1]", "n = (3, 5)"),
    "a string": ("mode = 'x'", "(1 if mode == 'x' else 2)", "mode = 'y'"),
    "None": ("mode = None", "(1 if mode is None else 2)", "mode = 3"),
    "a list": ("n = [3]", "n[0]", "n = [5]"),
    "a dict": ("n = {'x': 3}", "n['x']", "n = {'x': 5}"),
    "a range": ("n = range(3)", "sum([a[i] * j for j in n])", "n = range(5)"),
    "a table": (
        "import numpy as np\nn = np.array([1, 2, 3, 4], np.uint32)",
        "n[i]",
        "n = np.array([5, 6, 7, 9], np.uint32)",
    ),
    "a builtin": ("f = min", "f(a[i], 2)", "f = max"),
    "a class": ("class C:\n    n = 3", "C.n", "class C:\n    n = 5"),
    "an integer that a helper reads": ("n = 3\ndef h(x):\n    return x + n", "h(1)", "n = 5"),
    "a variable of a closure": (
        "def make():\n    n = 3\n    def h(x):\n        return x + n\n"
        "    def change(v):\n        nonlocal n\n        n = v\n    return h, change\nh, change = make()",
        "h(1)",
        "change(5)",
    ),
    "a function": (
        "def one(x):\n    return x + 1\ndef two(x):\n    return x + 2\nh = one",
        "h(a[i])",
        "h = two",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_kernel_sees_that_what_it_captured_is_another_value(name):
    before, expression, change = CHANGES[name]
    text = (
        f"{HEAD}{before}\n\ndef k(a: In[u32], out: Out[u32]):\n    i = vyre.gid(0)\n    out[i] = a[i] + {expression}\n"
    )
    given = np.arange(4, dtype=np.uint32)
    used = compile_source(text, f"<{name}, used before>")
    kernel = vyre.kernel(used["k"])
    first = kernel(given, backend="cpu").tolist()
    exec(change, used)
    fresh = compile_source(text, f"<{name}, changed first>")
    exec(change, fresh)
    wanted = vyre.kernel(fresh["k"])(given, backend="cpu").tolist()
    assert wanted != first
    assert kernel(given, backend="cpu").tolist() == wanted
