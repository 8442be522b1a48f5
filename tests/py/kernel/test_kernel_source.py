"""The definition of a function is found in its file, whatever the layout of its lines."""

from __future__ import annotations

import ast
import importlib.util
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import vyre
import vyre._base.parsing
from threads import in_threads
from vyre._base.parsing import syntax_tree
from vyre._kernel.rewriting.source import definition_of
from vyre.errors import KernelError

LAYOUTS = '''\
def plain(function):
    return function


def one_line(): return 1
def another(): return 2

@plain
@plain(
plain
)
def decorated(
    a,
    b=(1,
2),
):
    text = """
not the end
def nor_this(): pass
    """
    # a comment that is indented
# and one that is not
    both = a \\
+ b
    return [
text,
both
]

# after it
class Holder:
    def method(self):
        """It says so."""
        if self:
            return 1

        pass
    other = 1

    async def coroutine(self):
        return (
    1)
if True:
\tdef by_tabs():
\t\tx = 1
\t\treturn x
\ty = 2
def last():
    x = 1
    return x  # without a newline'''


def loaded(tmp_path, text, name):
    path = tmp_path / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
    return module


@pytest.mark.parametrize("name", ["plain", "one_line", "another", "decorated", "method", "by_tabs", "last"])
def test_a_definition_is_the_one_of_the_whole_file(tmp_path, name):
    text = LAYOUTS.replace("@plain(\nplain\n)", "@plain")
    module = loaded(tmp_path, text, "layouts")
    function = module.Holder.method if name == "method" else getattr(module, name)
    whole = next(each for each in ast.walk(ast.parse(text)) if getattr(each, "name", "") == name)
    found, file = definition_of(function)
    assert file == module.__file__
    assert ast.dump(found, include_attributes=True) == ast.dump(whole, include_attributes=True)


def test_a_definition_with_a_decorator_over_lines_is_found(tmp_path):
    text = LAYOUTS.replace("@plain(\nplain\n)", "@(\nplain\n)")
    whole = next(each for each in ast.walk(ast.parse(text)) if getattr(each, "name", "") == "decorated")
    found, _ = definition_of(loaded(tmp_path, text, "layouts").decorated)
    assert ast.dump(found, include_attributes=True) == ast.dump(whole, include_attributes=True)


def test_each_call_gives_a_tree_of_its_own():
    first, _ = definition_of(loaded)
    second, _ = definition_of(loaded)
    assert first is not second
    assert ast.dump(first) == ast.dump(second)


def test_a_file_that_changed_since_it_was_imported_is_refused(tmp_path):
    text = "import vyre\ndef k(out: vyre.Out[vyre.u32]):\n    out[0] = 1\n"
    module = loaded(tmp_path, text, "changed")
    (tmp_path / "changed.py").write_text("import vyre\nx = 1\ny = 2\n", encoding="utf-8")
    with pytest.raises(KernelError) as caught:
        vyre.kernel(module.k)
    assert caught.value.diagnostics[0].message == (
        "vyre kernel: `k` is no function that begins with `def`, or its file has changed since it was imported. "
        "Fix: write it as `def name(...):`, and import the file anew when it has changed."
    )


def test_what_a_kernel_cannot_have_is_refused_after_its_last_instruction(tmp_path):
    text = "import vyre\ndef k(out: vyre.Out[vyre.u32]):\n    out[0] = 1\n    return\n    out[1] = 2.5\n"
    with pytest.raises(KernelError) as caught:
        vyre.kernel(loaded(tmp_path, text, "unreached").k)
    assert caught.value.diagnostics[0].message == "vyre kernel: a kernel computes with the float 2.5. " + (
        "Fix: use integers: x * p // q is x times the fraction p / q."
    )


def test_threads_that_call_a_kernel_first_at_once_get_its_values():
    @vyre.kernel
    def doubled(x: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]):
        i = vyre.gid(0)
        if i < len(out):
            y = x[i]
            if y > 3:
                y = y * 2
            out[i] = y

    start, found = threading.Barrier(4), []

    def work():
        start.wait()
        found.append(doubled(np.arange(6, dtype=np.uint32), backend="reference").tolist())

    in_threads(lambda _: work(), range(4))
    assert found == [[0, 1, 2, 3, 8, 10]] * 4


WITHOUT_SOURCE = """
@vyre.kernel
def k(a: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]):
    i = vyre.gid(0)
    if i < len(out):
        total = a[i]
        for turn in range(1, 4):
            out[i] = out[i] + total * turn
"""
BUILT = """
p = vyre.Builder(workgroup_size=64)
a, out = p.read("a", vyre.u32), p.output("out", vyre.u32)
i = p.let("i", vyre.gid(0))
with p.if_(i < vyre.Expr.buf_len("out")):
    total = p.let("total", a[i])
    with p.loop("turn", 1, 4) as turn:
        out[i] = out[i] + total * turn
program = p.program()
"""


def test_the_builder_form_that_k006_names_needs_no_source():
    with pytest.raises(KernelError) as error:
        exec(WITHOUT_SOURCE, {"vyre": vyre})
    fix = str(error.value).partition(". Fix: ")[2]
    space: dict[str, object] = {"vyre": vyre}
    exec(BUILT, space)
    for form in ("vyre.Builder(workgroup_size=64)", "p.read", "p.output", "p.let", "p.if_", "p.loop", "p.program()"):
        assert form in fix
        assert form in BUILT
    values = np.arange(100, dtype=np.uint32)
    given = vyre.run(space["program"], {"a": values, "out": 100}, 2, backend="cpu")["out"]
    assert (given == values * 6).all()


def test_a_parse_that_another_thread_disturbs_is_made_again(monkeypatch):
    """CPython 3.11 raised "AST constructor recursion depth mismatch (before=114, after=127)" where six threads
    traced."""
    calls = []

    def disturbed(text):
        calls.append(text)
        if len(calls) < 3:
            raise SystemError("AST constructor recursion depth mismatch (before=114, after=127)")
        return ast.parse(text)

    def failing(text):
        raise SystemError("another one")

    def plain(x: vyre.InOut[vyre.u32]):
        x[0] = 1

    monkeypatch.setattr(vyre._base.parsing, "ast", SimpleNamespace(**{**vars(ast), "parse": disturbed}))
    tree, _ = definition_of(plain)
    assert ast.dump(tree.body[0]) == ast.dump(ast.parse("x[0] = 1").body[0])
    assert calls[0] == calls[1] == calls[2]
    monkeypatch.setattr(vyre._base.parsing, "ast", SimpleNamespace(**{**vars(ast), "parse": failing}))
    with pytest.raises(SystemError, match="another one"):
        definition_of(plain)

    def always(text):
        calls.append(text)
        raise SystemError("AST constructor recursion depth mismatch (before=114, after=127)")

    calls.clear()
    monkeypatch.setattr(vyre._base.parsing, "ast", SimpleNamespace(**{**vars(ast), "parse": always}))
    with pytest.raises(SystemError, match="recursion depth mismatch"):
        syntax_tree("x = 1")
    assert len(calls) == 100


def test_the_librarys_own_parses_take_turns(monkeypatch):
    inside, most = [], []

    def counted(text):
        inside.append(text)
        most.append(len(inside))
        tree = ast.parse(text)
        inside.pop()
        return tree

    monkeypatch.setattr(vyre._base.parsing, "ast", SimpleNamespace(**{**vars(ast), "parse": counted}))
    text = "\n".join(f"x{n} = {n} + 1" for n in range(200))
    threads = [threading.Thread(target=lambda: [syntax_tree(text) for _ in range(20)]) for _ in range(6)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert (max(most), len(most)) == (1, 120)


MARKED = """
import vyre

@vyre.kernel
def k(a: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]):
    i = vyre.gid(0)
    t = -a[i]
    t += 1
    if i < len(out) and not t == 0:
        out[i] = t << 1
"""


def test_what_other_tools_leave_on_nodes_that_trees_share_is_no_part_of_a_kernel(tmp_path):
    """Python gives all trees the same nodes of operators and contexts."""
    tree = ast.parse(MARKED)
    shared = {each for each in ast.walk(tree) if not each._attributes and not each._fields}
    assert len(shared) == 9
    assert shared <= set(ast.walk(ast.parse(MARKED)))
    for each in shared:
        each.parent = tree
    try:
        kernel = loaded(tmp_path, MARKED, "marked").k
        values = np.array([3, 1, 7], np.uint32)
        given = kernel(values, backend="reference")
    finally:
        for each in shared:
            del each.parent
    assert given.tolist() == np.where(values == 1, 0, (1 - values) << 1).tolist()
