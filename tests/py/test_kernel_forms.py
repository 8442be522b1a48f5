"""Each form of kernel_forms.txt gives what Python gives."""

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
