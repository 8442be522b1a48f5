"""Kernels drawn by a seed: check is silent on the right ones, and tells one planted mistake, at its line."""

from __future__ import annotations

import importlib.util
import random

import numpy as np
import pytest

import vyre

SEED, COUNT = 20261130, 300

# A form: the statements of a body, how it is called, and the mistakes, each of which replaces a text that stands in the
# form once. EXPR and LESS are drawn: an expression of `v`, and a number that is less than the length of every array.
FORMS = {
    "map": (
        "i = vyre.gid(0)\nif i < len(out):\n    v = a[i]\n    out[i] = EXPR",
        {"out": "N", "workgroups": "2"},
        {
            "guard missing": ("if i < len(out):", "if True:", 4),
            "guard too wide": ("i < len(out)", "i < len(out) + LESS", 4),
            "off by one": ("a[i]", "a[i + 1]", 3),
        },
    ),
    "neighbours": (
        "i = vyre.gid(0)\nv = a[i - LESS] if i >= LESS else 7\nv += a.get(i + LESS)\nout[i] = EXPR",
        {"out": "N"},
        {
            "guard missing": ("a[i - LESS] if i >= LESS else 7", "a[i - LESS]", 2),
            "guard short": ("i >= LESS", "i + 1 >= LESS", 2),
            "load that means zero": ("a.get(i + LESS)", "a[i + LESS]", 3),
        },
    ),
    "gather": (
        "i = vyre.gid(0)\nj = b[i] % len(a)\nv = a[j]\nout[i] = EXPR",
        {"out": "N"},
        {
            "index not reduced": ("b[i] % len(a)", "b[i] % len(a) + len(a)", 3),
            "wrong length": ("% len(a)", "% (3 * len(b)) | 1024", 3),
        },
    ),
    "histogram": (
        "i = vyre.gid(0)\nif i < len(a):\n    v = a[i]\n    k = (EXPR) % len(out)\n    out.atomic_add(k, 1)",
        {"out": "8", "grid": "N"},
        {
            "short grid": ("grid=N", "", 2),
            "no atomic": ("out.atomic_add(k, 1)", "out[k] = out[k] + 1", 5),
            "one bin too many": ("% len(out)", "% len(out) + len(out)", 5),
        },
    ),
    "tile": (
        "t, i = vyre.lid(0), vyre.gid(0)\nm = vyre.shared(u32, 32)\nm[t] = a.get(i)\nvyre.barrier()\n"
        "v = m[t ^ 1]\nout[i] = EXPR",
        {"out": "64", "grid": "64"},
        {
            "barrier missing": ("vyre.barrier()", "pass", 5),
            "unwritten read": ("m[t] =", "m[t & 15] =", 5),
            "off by one": ("m[t ^ 1]", "m[t + 1]", 5),
        },
    ),
    "reduction": (
        "t, i = vyre.lid(0), vyre.gid(0)\nm = vyre.shared(u32, 32)\nv = a.get(i)\nm[t] = EXPR\n"
        "for half in (16, 8, 4, 2, 1):\n    vyre.barrier()\n    if t < half:\n        m[t] = m[t] + m[t + half]\n"
        "if t == 0:\n    out[vyre.wid(0)] = m[0]",
        {"out": "2", "grid": "64"},
        {
            "barrier missing": ("    vyre.barrier()", "    pass", 8),
            "guard too wide": ("t < half", "t < half + 1", 8),
            "every invocation stores": ("if t == 0:", "if t < 2:", 10),
        },
    ),
    "private": (
        "i = vyre.gid(0)\nown = vyre.local(u32, 4)\nfor k in range(4):\n    own[k] = a.get(i + k)\n"
        "v = own[i % 4] + own[3]\nout[i] = EXPR",
        {"out": "N"},
        {
            "unwritten read": ("range(4)", "range(3)", 5),
            "off by one": ("own[3]", "own[4]", 5),
            "one turn too many": ("range(4)", "range(5)", 4),
        },
    ),
    "rows": (
        "j, i = vyre.gid(1), vyre.gid(0)\nv = vyre.u32(0)\nfor k in range(c.shape[1]):\n    v += c[j, k] * b.get(k)\n"
        "square[j, i] = EXPR",
        {"square": "(3, 5)"},
        {
            "wrong axis": ("c.shape[1]", "c.shape[1] + 1", 4),
            "rows and columns": ("c[j, k]", "c[k, j]", 4),
        },
    ),
}


def expression(draw):
    value = "v"
    for _ in range(draw.randrange(1, 4)):
        other = draw.choice(["v", "i", str(draw.randrange(1, 1000))])
        value = draw.choice(
            [f"({value} {draw.choice('+-*^&|')} {other})", f"vyre.min({value}, {other})", f"{value}.rotl({other} % 32)"]
        )
    return value


def source(name, number, text):
    """A kernel of a form, with `text` for its body, and the line of its `def`."""
    size = "workgroup_size=32" if name in ("tile", "reduction") else ""
    out = "square: vyre.Out[u32, 2]" if name == "rows" else "out: vyre.InOut[u32]"
    if name in ("private", "tile", "reduction"):
        out = "out: vyre.Out[u32]"
    head = f"@vyre.kernel({size})\ndef kernel_{number}(a: vyre.In[u32], b: vyre.In[u32], c: vyre.In[u32, 2], {out}):\n"
    return head + "".join(f"    {line}\n" for line in text.splitlines())


def drawn(count=COUNT):
    """(form, mistake or None, body, call, line in the body) of each kernel, one right and one wrong after the other."""
    draw = random.Random(SEED)
    for number in range(count):
        name = list(FORMS)[number % len(FORMS)]
        body, call, mistakes = FORMS[name]
        chosen = draw.choice(list(mistakes))
        n, less, value = draw.randrange(20, 60), draw.randrange(2, 9), expression(draw)
        fill = {"EXPR": value, "LESS": str(less)}
        called = ", ".join(f"{key}={each}" for key, each in call.items())
        before, after, line = mistakes[chosen]
        assert (body + called).count(before) == 1, (name, chosen)
        for mistake, text, how in (
            (None, body, called),
            (chosen, body.replace(before, after), called.replace(before, after)),
        ):
            for key, each in fill.items():
                text = text.replace(key, each)
            yield name, mistake, text, how, n, line


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    print(f"seed {SEED}")
    texts, rows = ["import vyre\nfrom vyre import u32\n"], []
    for number, (name, mistake, body, call, n, line) in enumerate(drawn()):
        texts.append(source(name, number, body))
        begins = sum(text.count("\n") for text in texts[:-1]) + 2
        rows.append((name, mistake, call, n, begins + line))
    path = tmp_path_factory.mktemp("generated") / "generated.py"
    path.write_text("".join(texts), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("generated", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [(getattr(module, f"kernel_{number}"), *row) for number, row in enumerate(rows)]


def checked(kernel, call, n):
    """The reports of a call; that of a grid that is refused is its message."""
    draw = np.random.default_rng(n)
    a, b = (draw.integers(0, 2**32, n, dtype=np.uint32) for _ in range(2))
    c = draw.integers(0, 99, (3, 5), dtype=np.uint32)
    given = eval(f"dict({call})", {"N": n})
    for name in given.keys() & {"out", "square"}:
        given[name] = np.zeros(given[name], np.uint32)
    try:
        return kernel.check(a, b, c, **given, checks=["all", "promised_zeros"]).reports
    except vyre.ArgumentError as error:
        return str(error)


def lines_of(report):
    witnesses = [getattr(report, each, None) for each in ("witness", "first", "second")]
    return {each.line for each in witnesses if each is not None}


def test_a_right_kernel_has_no_reports(kernels):
    right = [row for row in kernels if row[2] is None]
    assert len(right) == COUNT
    for kernel, name, _, call, n, _ in right:
        reports = checked(kernel, call, n)
        assert not reports, (name, kernel.__name__, str(reports[0]))


def test_a_planted_mistake_is_told_at_its_line(kernels):
    wrong = [row for row in kernels if row[2] is not None]
    assert {(row[1], row[2]) for row in wrong} == {(name, each) for name, form in FORMS.items() for each in form[2]}
    for kernel, name, mistake, call, n, line in wrong:
        reports = checked(kernel, call, n)
        if mistake == "short grid":
            assert "grid=len(a)" in reports
        else:
            assert reports, (name, mistake, kernel.__name__)
            assert any(line in lines_of(each) for each in reports), (name, mistake, line, [*map(str, reports)])
