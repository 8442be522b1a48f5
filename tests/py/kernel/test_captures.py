"""Whatever is taken by name is followed when the name means something else, or refused by name: each kind of thing that
can be captured, by each kind of work that captures it.

Each row first gives 3 and after its change 5, and what captures it multiplies an array by that.
"""

from __future__ import annotations

import importlib
import itertools
import linecache
import re
import sys

import numpy as np
import pytest

import vyre
from conftest import refused
from vyre import DataType, Expr, OpLaw, OpSignature, OpSpec, ops, u32
from vyre.std._scanning.operators import operator_of
from vyre.std._scanning.reductions import reducer

HEAD = """\
import sys
import types

import numpy as np

import vyre
from vyre import In, Out, u32


@vyre.kernel
def times(x: In[u32], factor: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] * factor[0]


def table(value):
    return value if isinstance(value, np.ndarray) else np.array([value], np.uint32)


@vyre.kernel
def three(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] * 3


@vyre.kernel
def five(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] * 5


"""

# What is captured -> (globals, an expression, a change of it). In a kernel `i` is an invocation.
VALUES = {
    "a number": ("n = 3", "n", "n = 5"),
    "a truth": ("n = True", "(3 if n else 5)", "n = False"),
    "a string": ("mode = 'x'", "(3 if mode == 'x' else 5)", "mode = 'y'"),
    "None": ("mode = None", "(3 if mode is None else 5)", "mode = 3"),
    "a float of another type": ("n = 1", "(3 if type(n) is int else 5)", "n = 1.0"),
    "a tuple": ("n = (3, 4)", "n[0]", "n = (5, 4)"),
    "a range": ("n = range(3)", "sum([1 for _ in n])", "n = range(5)"),
    "a list that is changed": ("n = [3, [4]]", "n[0]", "n[0] = 5"),
    "a list in a list that is changed": ("n = [[3]]", "n[0][0]", "n[0][0] = 5"),
    "a dict that is changed": ("n = {'x': 3}", "n['x']", "n['x'] = 5"),
    "a number of a class": ("class C:\n    n = 3", "C.n", "C.n = 5"),
    "a number of an object": ("c = types.SimpleNamespace(n=3)", "c.n", "c.n = 5"),
    "a number of an object with slots": ("class C:\n    __slots__ = ('n',)\nc = C()\nc.n = 3", "c.n", "c.n = 5"),
    "a number of a module": ("m = types.ModuleType('m')\nm.n = 3", "m.n", "m.n = 5"),
    "a module": ("m, other = types.ModuleType('m'), types.ModuleType('m')\nm.n, other.n = 3, 5", "m.n", "m = other"),
    "a function of Python": ("f = min", "f(3, 5)", "f = max"),
    "a function of vyre": ("f = vyre.min", "(3 if f is vyre.min else 5)", "f = vyre.max"),
    "a name of Python": ("", "min(3, 5)", "min = max"),
    "a helper": ("def h():\n    return 3", "h()", "def h():\n    return 5"),
    "a helper of a class": ("class C:\n    def h(self):\n        return 3\nc = C()", "c.h()", "C.h = lambda self: 5"),
    "a number that a method reads of its object": (
        "class C:\n    n = 3\n    def h(self):\n        return self.n\nc = C()",
        "c.h()",
        "c.n = 5",
    ),
    "a number that a method's method reads of its class": (
        "class C:\n    n = 3\n    def g(self):\n        return self.n\n"
        "    def h(self):\n        return self.g()\nc = C()",
        "c.h()",
        "C.n = 5",
    ),
    "a number that a method reads of its object, by a name of the method": (
        "class C:\n    n = 3\n    def h(self):\n        return self.n\nc = C()\nh = c.h",
        "h()",
        "c.n = 5",
    ),
    "a number that a class method reads": (
        "class C:\n    n = 3\n    @classmethod\n    def h(cls):\n        return cls.n",
        "C.h()",
        "C.n = 5",
    ),
    "a lambda": ("h = lambda: 3", "h()", "h = lambda: 5"),
    "the code of a helper, as modules are reloaded": (
        "def h():\n    return 3\ndef g():\n    return 5",
        "h()",
        "h.__code__ = g.__code__",
    ),
    "the default of a helper": ("def h(n=3):\n    return n", "h()", "h.__defaults__ = (5,)"),
    "the list in the default of a helper": ("def h(n=[3]):\n    return n[0]", "h()", "h.__defaults__[0][0] = 5"),
    "the keyword default of a helper": ("def h(*, n=3):\n    return n", "h()", "h.__kwdefaults__['n'] = 5"),
    "a number that a helper reads": ("n = 3\ndef h():\n    return n", "h()", "n = 5"),
    "a number that a helper's helper reads": (
        "n = 3\ndef g():\n    return n\ndef h():\n    return g()",
        "h()",
        "n = 5",
    ),
    "a number that a lambda's helper reads": ("n = 3\ndef g():\n    return n\nh = lambda: g()", "h()", "n = 5"),
    "a number that a method reads": ("n = 3\nclass C:\n    def h(self):\n        return n\nc = C()", "c.h()", "n = 5"),
    "a number that a class reads": ("n = 3\nclass C:\n    def __init__(self):\n        self.n = n", "C().n", "n = 5"),
    "a number that a partial helper reads": (
        "import functools\nn = 3\ndef g(k):\n    return n\nh = functools.partial(g, 1)",
        "h()",
        "n = 5",
    ),
    "a helper in a list": (
        "def g():\n    return 3\ndef h():\n    return 5\nhelpers = [g]",
        "helpers[0]()",
        "helpers[0] = h",
    ),
    "a number that a helper in a tuple reads": (
        "n = 3\ndef g():\n    return n\nhelpers = (g,)",
        "helpers[0]()",
        "n = 5",
    ),
    "a variable of a closure": (
        "def make():\n    n = 3\n    def h():\n        return n\n"
        "    def change(v):\n        nonlocal n\n        n = v\n    return h, change\nh, change = make()",
        "h()",
        "change(5)",
    ),
    "a table": ("t = np.array([3], np.uint32)", "t[i - i]", "t = np.array([5], np.uint32)"),
    "a table in a dict": ("t = {'x': np.array([3], np.uint32)}", "t['x'][i - i]", "t['x'] = np.array([5], np.uint32)"),
    "an object by another name": ("c = types.SimpleNamespace(n=3)", "a = c; a.n", "c.n = 5"),
    "an object of an object": (
        "c = types.SimpleNamespace(d=types.SimpleNamespace(n=3))",
        "a = c.d; getattr(a, 'n')",
        "c.d.n = 5",
    ),
    "an attribute that is not there yet": (
        "c = types.SimpleNamespace()",
        "getattr(c, 'n', 3)",
        "c.n = 5",
    ),
    "an object that a helper is given": (
        "def h(c):\n    return c.n\nc = types.SimpleNamespace(n=3)",
        "h(c)",
        "c.n = 5",
    ),
    "an object that a method gives to a helper": (
        "def g(c):\n    return c.n\nclass C:\n    n = 3\n    def h(self):\n        return g(self)\nc = C()",
        "c.h()",
        "c.n = 5",
    ),
    "a number that an inherited method reads": (
        "class B:\n    def h(self):\n        return self.n\nclass C(B):\n    n = 3\n"
        "    def g(self):\n        return super().h()\nc = C()",
        "c.g()",
        "C.n = 5",
    ),
    "one of two equal objects": (
        "class C:\n    pass\nc, d = C(), C()\nmode = c",
        "(3 if mode is c else 5)",
        "mode = d",
    ),
    "an object in a list": ("c = [types.SimpleNamespace(n=3)]", "c[0].n", "c[0].n = 5"),
    "an object in a dict": ("c = {'k': types.SimpleNamespace(n=3)}", "c['k'].n", "c['k'].n = 5"),
    "an object in the default of a helper": (
        "c = types.SimpleNamespace(n=3)\ndef h(c=c):\n    return c.n",
        "h()",
        "c.n = 5",
    ),
    "an object in a partial helper": (
        "import functools\nc = types.SimpleNamespace(n=3)\ndef g(c):\n    return c.n\nh = functools.partial(g, c)",
        "h()",
        "c.n = 5",
    ),
    "a class by another name": ("class C:\n    n = 3", "a = C; a.n", "C.n = 5"),
    "a number of a class of classes": (
        "class M(type):\n    n = 3\nclass C(metaclass=M):\n    pass",
        "C.n",
        "M.n = 5",
    ),
    "a module by another name": ("m = types.ModuleType('m')\nm.n = 3", "a = m; a.n", "m.n = 5"),
    "a property": (
        "n = 3\nclass C:\n    @property\n    def p(self):\n        return n\nc = C()",
        "c.p",
        "n = 5",
    ),
    "an object that finds its attributes": (
        "class C:\n    def __getattr__(self, name):\n        return self.held[name]\nc = C()\nc.held = {'n': 3}",
        "c.n",
        "c.held['n'] = 5",
    ),
    **{
        f"an object with {method}": (
            f"class C:\n    def {method}(self, *_):\n        return self.n\nc = C()\nc.n = 3",
            use,
            "c.n = 5",
        )
        for method, use in {
            "__getitem__": "c[0]",
            "__int__": "int(c)",
            "__index__": "(0, 0, 0, 3, 0, 5)[c]",
            "__len__": "len(c)",
        }.items()
    },
    "a global of an object's own items": (
        "n = 3\nclass C:\n    def __getitem__(self, k):\n        return n\nc = C()",
        "c[0]",
        "n = 5",
    ),
    "a deque": ("import collections\nq = collections.deque([3])", "q[0]", "q[0] = 5"),
    "a method of a deque": (
        "import collections\nq = collections.deque([3])",
        "(3 if q.count(3) else 5)",
        "q[0] = 5",
    ),
    "a bytearray": ("b = bytearray([3])", "b[0]", "b[0] = 5"),
    "an array of Python": ("import array\nb = array.array('I', [3])", "b[0]", "b[0] = 5"),
    "a view of a dict": ("d = {'n': 3}\nn = types.MappingProxyType(d)", "n['n']", "d['n'] = 5"),
    "a set": ("s = {4}", "(5 if 9 in s else 3)", "s.add(9)"),
    "a list of a class of its own": (
        "class L(list):\n    pass\nn = L([4])\nn.k = 3",
        "getattr(n, 'k')",
        "n.k = 5",
    ),
    "a tuple of many numbers": ("n = (3,) * 20_000", "n[7]", "n = (5,) * 20_000"),
    "an import in the body": (
        "sys.modules['captured'] = types.ModuleType('captured')\nsys.modules['captured'].n = 3",
        "import captured as m; m.n",
        "sys.modules['captured'].n = 5",
    ),
    "a name of an import in the body": (
        "sys.modules['captured'] = types.ModuleType('captured')\nsys.modules['captured'].n = 3",
        "from captured import n; n",
        "sys.modules['captured'].n = 5",
    ),
}

IN_A_KERNEL = """
@vyre.kernel
def who(x: In[u32], y: Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] * {}
"""
IN_A_PROCEDURE = """
@vyre.procedure
def who(x: In[u32]):
    return times(x, table({}))
"""
# Who captures it -> the source, where {} stands for the expression.
BY = {
    "a kernel": IN_A_KERNEL,
    "a procedure": IN_A_PROCEDURE,
    "a procedure that calls the kernel": IN_A_KERNEL.replace("who", "inner")
    + "\n@vyre.procedure\ndef who(x: In[u32]):\n    return inner(x)\n",
    "a procedure in a procedure": IN_A_PROCEDURE.replace("who", "inner")
    + "\n@vyre.procedure\ndef outer(x: In[u32]):\n    return inner(x)\n"
    + "\n@vyre.procedure\ndef who(x: In[u32]):\n    return outer(x)\n",
    "a function that a procedure calls": "\ndef part(x):\n    return times(x, table({}))\n"
    + "\n@vyre.procedure\ndef who(x: In[u32]):\n    return part(x)\n",
}
# What works on whole arrays -> (globals, an expression, a change of it, what a kernel is told that calls it).
OF_A_KERNEL = "K004: kernel `three` is called in a kernel"
OF_A_PROCEDURE = "K004: procedure `p` is called in a kernel, and works on whole arrays"
WHOLE = {
    "a kernel": ("k = three", "k(x)", "k = five", OF_A_KERNEL),
    "a kernel of a module": ("m = types.ModuleType('m')\nm.k = three", "m.k(x)", "m.k = five", OF_A_KERNEL),
    "a kernel in a dict": ("kernels = {'x': three}", "kernels['x'](x)", "kernels['x'] = five", OF_A_KERNEL),
    "a procedure": (
        "def p(x: In[u32]):\n    return three(x)\np = vyre.procedure(p)",
        "p(x)",
        "def p(x: In[u32]):\n    return five(x)\np = vyre.procedure(p)",
        OF_A_PROCEDURE,
    ),
    "a kernel that a procedure calls": (
        "k = three\n@vyre.procedure\ndef p(x: In[u32]):\n    return k(x)",
        "p(x)",
        "k = five",
        OF_A_PROCEDURE,
    ),
    "a number that a kernel of a constant reads": (
        "n = 3\n@vyre.kernel\ndef k(x: In[u32], c: vyre.const, y: Out[u32]):\n    i = vyre.gid(0)\n"
        "    y[i] = x[i] * (n + c)",
        "k(x, 0)",
        "n = 5",
        "K004: kernel `k` is called in a kernel",
    ),
    "a number that the procedure of a constant reads": (
        "n = 3\n@vyre.procedure\ndef p(x: In[u32], c: vyre.const):\n    return times(x, table(n + c))",
        "p(x, 0)",
        "n = 5",
        OF_A_PROCEDURE,
    ),
    "a number that a helper reads which is a constant": (
        "n = 3\ndef h():\n    return n\n@vyre.procedure\ndef p(x: In[u32], c: vyre.const):\n"
        "    return times(x, table(c()))",
        "p(x, h)",
        "n = 5",
        OF_A_PROCEDURE,
    ),
}
X = np.arange(1, 5, dtype=np.uint32)
NUMBERS = itertools.count()


def run(source: str, space: dict) -> None:
    """Run source with lines that Python's tools find, as in a notebook's cell."""
    name = f"<captures {next(NUMBERS)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), space)


def made(before: str, by: str, use: str) -> dict:
    space: dict = {"__name__": "captures"}
    in_kernel = by.partition("@")[2].startswith("vyre.kernel")
    *statements, use = (use if in_kernel else use.replace("[i - i]", "")).split("; ")
    by = re.sub(r"^( +)(?=.*\{\})", "".join([r"\1", *(f"{each}; " for each in statements)]), by, flags=re.M)
    run(f"{HEAD}{before}\n\n{by.format(use)}", space)
    return space


def factors(who, order: str) -> list[float]:
    """What calls multiply by: of numpy's arrays (h), and of resident ones (r), whose second call takes a short way."""
    resident = vyre.array(X, backend="cpu")
    found = [who(X, backend="cpu") if kind == "h" else who(resident).numpy() for kind in order]
    return [float((each / X).mean()) for each in found]


# A kernel has no `import` and no `super()`.
PAIRS = [
    (name, by)
    for name, by in itertools.product(VALUES, BY)
    if not ("kernel" in by and re.search(r"import .*;|super\(\)", ";".join(VALUES[name])))
]
WHOLE_BY = {name: source.replace("times(x, table({}))", "{}") for name, source in BY.items() if "kernel" not in name}


EACH = pytest.mark.parametrize(("name", "by"), [*PAIRS, *itertools.product(WHOLE, WHOLE_BY)])


def captured(name, by):
    """The globals of a function that captures what is named, and a change of that."""
    before, use, change = {**VALUES, **WHOLE}[name][:3]
    return made(before, WHOLE_BY[by] if name in WHOLE else BY[by], use), change


@pytest.mark.parametrize("order", ["hhr", "rrh"])
@EACH
def test_a_value_is_followed(name, by, order):
    space, change = captured(name, by)
    assert factors(space["who"], "hhrrr") == [3] * 5
    run(change, space)
    assert factors(space["who"], order) == [5] * 3


@pytest.mark.parametrize("name", WHOLE)
def test_a_kernel_calls_no_kernel_and_no_procedure(name):
    before, use, _, refusal = WHOLE[name]
    space = made(before, IN_A_KERNEL, use)
    with pytest.raises(vyre.KernelError) as error:
        space["who"](X, backend="cpu")
    diagnostic = error.value.diagnostics[0]
    assert f"{diagnostic.rule}: {diagnostic.message}".replace("vyre kernel: ", "").startswith(refusal)


# The first that has changed, as the refusal of a graph names it.
TOLD = {
    "a module": "value of `m`",
    "a helper": "value of `h`",
    "the code of a helper, as modules are reloaded": "definition of `h`",
    "the default of a helper": "definition of `h`",
    "the list in the default of a helper": "definition of `h`",
    "the keyword default of a helper": "definition of `h`",
    "a number that a helper reads": "value of `n`, which `h` reads",
    "a number that a helper's helper reads": "value of `n`, which `g` reads",
}


@EACH
def test_a_graph_refuses_by_name(name, by):
    space, change = captured(name, by)
    x, who = vyre.array(X, backend="cpu"), space["who"]
    with vyre.graph() as graph:
        y = who(x)
    with vyre.graph() as outer:
        graph.replay()
    outer.replay()
    assert y.numpy().tolist() == (X * 3).tolist()
    run(change, space)
    for each in (graph, outer):
        with pytest.raises(vyre.ArgumentError) as error:
            each.replay()
        assert TOLD.get(name, "") in str(error.value)
        assert re.fullmatch(
            r"the graph was recorded with another (value of `[\w.]+`, which `\w+` reads|definition of `\w+`)\. "
            r"Fix: record the calls in a new vyre\.graph\(\)\.",
            str(error.value),
        )
    with vyre.graph() as graph:
        y = who(x)
    graph.replay()
    assert y.numpy().tolist() == (X * 5).tolist()


# What is captured -> (what it is, its use, and what becomes of both as the Fix says).
TOO_MUCH = {
    "a list": ("n = [3] * 20_000", "n[7]", "n = tuple(n)", "n[7]"),
    "a dict": ("n = dict.fromkeys(range(20_000), 3)", "n[7]", "seven = n[7]", "seven"),
    "objects": ("n = [types.SimpleNamespace(n=3) for _ in range(5000)]", "n[7].n", "seven = n[7].n", "seven"),
    "a bytearray": (
        "n = bytearray([3]) * 20_000",
        "n[7]",
        "n = np.frombuffer(n, np.uint8)",
        "int(n[7])",
    ),
}


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("name", TOO_MUCH)
def test_what_holds_too_much_is_refused_at_its_line(name, by):
    before, use, fix, other_use = TOO_MUCH[name]
    with pytest.raises((vyre.KernelError, vyre.ArgumentError)) as error:
        made(before, BY[by], use)["who"](X, backend="cpu")
    problem = r"`n`, which `\w+` reads, holds more than 10,000 values"
    fixes = r"\. Fix: make it a tuple of numbers or a numpy array, or read what is needed of it into a name outside\."
    if "kernel" in by:
        diagnostic = error.value.diagnostics[0]
        assert diagnostic.rule == "K010"
        assert re.fullmatch(f"vyre kernel: {problem}{fixes}", diagnostic.message)
        file, line = diagnostic.place.file, diagnostic.place.line
    else:
        found = re.fullmatch(rf"{problem} at line (\d+) of (<.*>){fixes}", str(error.value))
        line, file = int(found[1]), found[2]
    assert use in linecache.getline(file, line)
    assert factors(made(f"{before}\n{fix}", BY[by], other_use)["who"], "hr") == [3] * 2


@pytest.mark.parametrize("by", BY)
def test_a_table_that_is_changed_in_place_stays_as_it_was_first_seen(by):
    space = made("n = 1\nt = np.array([3], np.uint32)", BY[by], "(t[i - i] if n else 0)")
    assert factors(space["who"], "hrr") == [3] * 3
    space["t"][0] = 5
    assert factors(space["who"], "hrr") == [3] * 3
    space["n"] = 2  # it is traced or recorded anew, for another reason
    assert factors(space["who"], "hrr") == [3] * 3
    space["t"] = np.array([5], np.uint32)
    assert factors(space["who"], "hrr") == [5] * 3


def test_a_table_that_the_body_fills_anew_has_what_each_step_was_given():
    space = made(
        "",
        "t = np.array([0], np.uint32)\n@vyre.procedure\ndef who(x: In[u32]):\n    for k in (2, 3):\n"
        "        t[0] = k\n        x = times(x, t)\n    return x",
        "",
    )
    assert factors(space["who"], "hr") == [6] * 2


def register(id: str, version: int, value: int) -> None:
    """An operation that gives the value, whatever it is given."""
    laws = [OpLaw.Associative, OpLaw.Commutative]
    signature = OpSignature([DataType.U32] * 2, DataType.U32)
    ops.register(OpSpec(id, signature, parameters=["a", "b"], result=Expr.u32(value), version=version, laws=laws))


def register_procedure(id: str, version: int, value: int) -> None:
    space = made("", f"@vyre.procedure\ndef who(x: In[u32]):\n    return times(x, table({value}))\n", "")
    ops.register(OpSpec(id, procedure=space["who"].procedure, version=version))


IN_A_BODY = "@vyre.procedure\ndef who(x: In[u32]):\n    return {}\n"
KERNEL_OF_OPERATION = (
    "@vyre.kernel\ndef who(x: In[u32], y: Out[u32]):\n    y[vyre.gid(0)] = vyre.ops.call(ID, x[0], 0)\n"
)
# What takes an operation by its id -> the source of a function of x; the last element that it gives tells the version.
TAKEN = {
    "a kernel": KERNEL_OF_OPERATION,
    "a helper": "def h(v):\n    return vyre.ops.call(ID, v, 0)\n"
    + KERNEL_OF_OPERATION.replace("vyre.ops.call(ID, x[0], 0)", "h(x[0])"),
    "a kernel that asks for the version": KERNEL_OF_OPERATION.replace(
        "vyre.ops.call(ID, x[0], 0)", "vyre.ops.get(ID).version"
    ),
    "a procedure that calls the kernel": KERNEL_OF_OPERATION.replace("who", "k") + IN_A_BODY.format("k(x)"),
    "a procedure that reduces": IN_A_BODY.format("vyre.std.reduce(x, ID)"),
    "a procedure in a procedure that reduces": IN_A_BODY.format("vyre.std.reduce(x, ID)").replace("who", "p")
    + IN_A_BODY.format("p(x)"),
    "reduce": "who = lambda x, **where: vyre.std.reduce(x, ID, **where)",
    "scan": "who = lambda x, **where: vyre.std.scan(x, ID, **where)",
    "segmented_reduce": "who = lambda x, **where: vyre.std.segmented_reduce(x, SEGMENTS(x), ID, **where)",
    "segmented_scan": "who = lambda x, **where: vyre.std.segmented_scan(x, SEGMENTS(x), ID, **where)",
}
INVOKED = {
    "invoke": "who = lambda x, **where: vyre.ops.invoke(ID, x, **where)",
    "a procedure that invokes": IN_A_BODY.format("vyre.ops.invoke(ID, x)"),
    "a procedure in a procedure that invokes": IN_A_BODY.format("vyre.ops.invoke(ID, x)").replace("who", "p")
    + IN_A_BODY.format("p(x)"),
}


def segments(x):
    offsets = np.array([0, len(X)], np.uint32)
    return offsets if isinstance(x, np.ndarray) else vyre.array(offsets, backend="cpu")


def taking(source: str, id: str):
    space = made(f"ID = {id!r}", source.replace("{", "{{").replace("}", "}}"), "")
    space["SEGMENTS"] = segments
    return space["who"]


def last(who, order: str) -> list[int]:
    resident = vyre.array([1, 1, 1, 1], dtype=u32, backend="cpu")
    found = [who(np.ones(4, np.uint32), backend="cpu") if kind == "h" else who(resident).numpy() for kind in order]
    return [int(np.ravel(each)[-1]) for each in found]


@pytest.mark.parametrize("name", {**TAKEN, **INVOKED})
def test_the_highest_version_of_an_operation_is_followed(name):
    id = f"test.captured_{next(NUMBERS)}"
    add = register_procedure if name in INVOKED else register
    add(id, 1, 1 if "version" in name else 3)
    source = {**TAKEN, **INVOKED}[name]
    who, first = taking(source, id), taking(source, f"{id}@1")
    before = last(who, "hrrr")
    assert before == last(first, "hrrr") == [1 if "version" in name else 3] * 4
    x = vyre.array([1, 1, 1, 1], dtype=u32, backend="cpu")
    with vyre.graph() as graph:
        who(x)
    with vyre.graph() as of_first:
        first(x)
    register(f"{id}.unrelated", 1, 0)
    graph.replay()
    add(id, 2, 2 if "version" in name else 5)
    assert last(who, "rhr") == [2 if "version" in name else 5] * 3
    assert last(first, "rhr") == before[:3]
    of_first.replay()
    with refused(
        vyre.ArgumentError,
        f"the graph was recorded with another version of operation `{id}`",
        "record the calls in a new vyre.graph()",
    ):
        graph.replay()


def test_a_graph_sees_another_version_that_an_operation_calls():
    inner, outer = (f"test.captured_{next(NUMBERS)}" for _ in range(2))
    register(inner, 1, 3)
    call = Expr.call(inner, [Expr.var("a"), 0])
    ops.register(OpSpec(outer, OpSignature([DataType.U32] * 2, DataType.U32), parameters=["a", "b"], result=call))
    who, x = taking(TAKEN["a kernel"], f"{outer}@1"), vyre.array([1, 1], dtype=u32, backend="cpu")
    with vyre.graph() as graph:
        who(x)
    graph.replay()
    register(inner, 2, 5)
    with pytest.raises(vyre.ArgumentError, match=f"another version of operation `{inner}`"):
        graph.replay()


@pytest.mark.parametrize("name", ["a helper", "a lambda", "a number"])
def test_a_library_call_takes_operations_by_id_alone(name):
    space = made(VALUES[name][0], "", "")
    with pytest.raises(vyre.ArgumentError, match=r"argument `op` of vyre\.std\.reduce must be a str, got "):
        vyre.std.reduce(X, space.get("h", 3), backend="cpu")


def test_arguments_of_library_calls_are_those_of_each_call():
    table, at = np.array([3, 4], np.uint32), np.zeros(2, np.uint32)
    for op, wanted in (("max", 4), ("min", 1)):
        assert vyre.std.reduce(X, op, backend="cpu") == wanted
    assert vyre.std.gather(table, at, backend="cpu").tolist() == [3, 3]
    table[0] = 5
    assert vyre.std.gather(table, at, backend="cpu").tolist() == [5, 5]


def test_constants_are_told_apart_and_follow_together():
    space = made(
        "n = 3", "@vyre.procedure\ndef who(x: In[u32], c: vyre.const):\n    return times(x, table(n * c))\n", ""
    )
    who = space["who"]
    for space["n"] in (3, 5, 3):
        for c in (1, 2, 1):
            assert (who(X, c, backend="cpu") == X * np.uint32(space["n"] * c)).all()
            assert who.specialize(c=c) == who.specialize(c=c)
    text = who.specialize(c=1).to_text()
    space["n"] = 4
    assert who.specialize(c=1).to_text() != text


def test_a_helper_of_a_module_that_is_reloaded_is_read_anew(write_module, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    module = write_module("captured_helpers", "def h():\n    return 3\n")
    spaces = [made("import captured_helpers as m", by, "m.h()") for by in BY.values()]
    for each in spaces:
        assert factors(each["who"], "hrr") == [3] * 3
    write_module("captured_helpers", "# A line more.\ndef h():\n    return 5\n")
    importlib.reload(module)
    for each in spaces:
        assert factors(each["who"], "hrr") == [5] * 3


def test_a_method_of_objects_that_hold_one_another_is_followed(write_module):
    text = HEAD + (
        "class C:\n    n = 3\n\n    def h(self, k):\n        return self.n if k == 0 else self.me.h(k - 1)\n\n\n"
        "c = C()\nc.me = c\n"
    )
    module = write_module("ring", text + IN_A_PROCEDURE.format("c.h(2)"))
    assert module.who(np.ones(1, np.uint32)).tolist() == [3]
    module.c.n = 5
    assert module.who(np.ones(1, np.uint32)).tolist() == [5]


def test_nothing_is_recorded_anew_for_equal_values(monkeypatch):
    recorded = []
    record = vyre.ProcedureFunction._record
    monkeypatch.setattr(
        vyre.ProcedureFunction, "_record", lambda self, *given: recorded.append(self) or record(self, *given)
    )
    space = made("n, t, mode = 1000, (7, 8), 'x' * 3", BY["a procedure"], "n * t[0] * len(mode)")
    for _ in range(3):
        assert factors(space["who"], "hrr") == [21000] * 3
        run("n, t, mode = int('1000'), tuple([7, 8]), 'x' + 'xx'", space)
    assert len(recorded) == 1


def test_an_object_that_does_not_show_what_it_holds_is_left_alone():
    """As the request of a web framework is, outside of one."""
    source = """
class Proxy:
    @property
    def __dict__(self):
        raise RuntimeError("there is no request")
    __class__ = __dict__
proxy, is_asked = Proxy(), False
@vyre.procedure
def who(x: In[u32]):
    return three(x) if not is_asked else proxy.chosen(x)
"""
    space = {}
    run(HEAD + source, space)
    assert space["who"](np.array([1, 2], np.uint32)).tolist() == [3, 6]


def test_the_library_compares_nothing_at_its_calls():
    vyre.std.sum(X, backend="cpu")
    assert reducer(operator_of("add", u32, None, ""))._recorded({}).captured.all == ()
