"""Each form of kernel_forms.txt gives what Python gives."""

from pathlib import Path

import numpy as np
import pytest

import vyre
from kernel_comparison import BACKENDS, Array, by_python, compile_source
from kernel_source import HEAD, PLAIN_KERNEL

START = PLAIN_KERNEL.removesuffix("    z = 0\n")
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
    arrays = {key: Array((16,), "u32", data) for key, data in (("a", A), ("b", B), ("out", None), ("acc", ACC))}
    numbers = by_python(FORMS[name], {**arrays, "s": 5})
    wanted = (numbers["out"], numbers["acc"])
    kernel = vyre.kernel(compile_source(FORMS[name], f"<{name}>")["k"])
    for backend in BACKENDS:
        changed = np.array(ACC, np.uint32)
        out, _ = kernel(np.array(A, np.uint32), np.array(B, np.uint32), 5, acc=changed, backend=backend)
        assert (out.tolist(), changed.tolist()) == wanted, f"on {backend}:\n{kernel.text}"
