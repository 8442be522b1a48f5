"""No public call ends the process, hangs, or takes memory without bound: each point in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import vyre
from hostile import Outcome, outcomes

PROGRAM = """
import copy, importlib, itertools, pickle, sys, weakref
import numpy as np
import vyre
from vyre import *
import hostile
_core = vyre._core

class Liar:
    "Says to be of another class."
    def __init__(self, kind): object.__setattr__(self, "kind", kind)
    @property
    def __class__(self): return self.kind

def objects():
    "One of each class of the C++ module, by name."
    program = Program(entry=[Node.let("a", 1)])
    wrong = vyre.validate(Program(workgroup_size=(0, 1, 1)))[0]
    profile = vyre.profile()
    profile.__enter__()
    made = {
        "Array": vyre.empty(3, backend="cpu"),
        "BufferDecl": BufferDecl.read("a", 0, vyre.u32),
        "Convention": Convention.V1(),
        "Diagnostic": wrong,
        "Expr": Expr.u32(1),
        "Node": Node.barrier(),
        "OpSignature": OpSignature([vyre.u32], vyre.u32),
        "OpSpec": vyre.ops.get("primitive.bitwise.xor"),
        "Place": wrong.place,
        "Procedure": _core._ProcedureBuilder("empty").finish(),
        "Program": program,
        "_ProcedureBuilder": _core._ProcedureBuilder("empty"),
        "_Graph": _core._Graph(),
        "_Profile": profile._handle,
    }
    here = {name for name, value in vars(_core).items() if type(value) is type(Expr)}
    assert set(made) == here, here ^ set(made)
    return made

def run(case):
    names = dict(globals())
    exec(case, names)
    return repr(names["result"]) if "result" in names else None

hostile.serve(run)
"""


def sentence(problem: str, fix: str) -> str:
    return f"{problem}. Fix: {fix}."


def check(cases: dict[str, tuple[str, ...] | str | None]) -> None:
    """Each case against a value's repr (a str), an error, or no error (None).

    An error is the problem and what to do of an ArgumentError, behind the name of its class where that is another one.
    """
    found = outcomes(PROGRAM, [textwrap.dedent(case) for case in cases])
    wrong = []
    for (case, wanted), outcome in zip(cases.items(), found, strict=True):
        if wanted is None:
            good = outcome.kind == "value"
        elif isinstance(wanted, str):
            good = outcome == Outcome("value", (), wanted)
        else:
            *kind, problem, fix = wanted
            told = (*(kind or ["ArgumentError"]), sentence(problem, fix))
            good = outcome.kind == "error" and told == (outcome.type[0], outcome.text)
        if not good:
            wrong.append(f"{case}\n    wanted {wanted}\n    got    {outcome}")
    assert not wrong, "\n".join(wrong)


CLASSES = [name for name, value in vars(vyre._core).items() if type(value) is type(vyre.Expr)]


@pytest.fixture(scope="module")
def abuses() -> dict[str, Outcome]:
    """The answer of each class of the C++ module to each abuse of it."""
    ways = {
        "new": "T.__new__(T)",
        "new of object": "object.__new__(T)",
        "new of the base": "T.__base__.__new__(T)",
        "call of the base": "T.__base__()",
        "subclass": "type(T)('Sub', (T,), {})",
        "subclass in words": "class Sub(T): pass",
        "subclass of the base": "class Sub(T.__base__): pass",
        "class of the metaclass": "type(T)('Sub', (), {})",
        "new of the metaclass": "type.__new__(type(T), 'Sub', (), {})",
        "init": "x.__init__(); T.__init__(x, 1, a=2); result = type(x).__name__ + repr(x)[:0]",
        "setstate": "x.__setstate__(3)",
        "class of x": "x.__class__ = Program if T is not Program else Node",
        "class to x": "class Own: pass\nOwn().__class__ = T",
        "attribute of x": "x.attribute = 1",
        "attribute of T": "T.attribute = 1",
        "repr of T": "T.__repr__ = None",
        "del of T": "del T.__repr__",
        "attribute of the base": "T.__base__.attribute = 1",
        "weakref": "result = type(weakref.ref(x)()).__name__",
        "copy": "result = type(copy.copy(x)).__name__",
        "deepcopy": "result = type(copy.deepcopy(x)).__name__",
        "reduce of object": "object.__reduce__(x)",
        "reduce of the class": "object.__reduce__(T)",
    } | {
        f"pickle {protocol}": f"result = type(pickle.loads(pickle.dumps(x, {protocol}))).__name__"
        for protocol in range(6)
    }
    cases = {
        f"{name}: {way}": f"x = objects()[{name!r}]; T = type(x)\n{code}"
        for name in CLASSES
        for way, code in ways.items()
    }
    return dict(zip(cases, outcomes(PROGRAM, list(cases.values())), strict=True))


def test_a_case_that_hangs_is_the_one_that_is_reported():
    """Seen: the outcomes of finished cases lay in a buffer, and the first of them counted as hung."""
    program = """
import hostile
def run(case):
    while case == 5:
        pass
    return str(case)
hostile.serve(run)
"""
    found = outcomes(program, list(range(1, 9)), patience=5.0)
    assert found == [Outcome("hung") if case == 5 else Outcome("value", text=str(case)) for case in range(1, 9)]


def test_every_class_answers_every_abuse_with_a_value_or_an_error(abuses):
    assert {name: outcome for name, outcome in abuses.items() if outcome.kind not in ("value", "error")} == {}


NO_SUBCLASSES = ("the classes of vyre have no subclasses", "keep an object of theirs in an attribute of your own class")


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_makes_no_empty_objects_and_stays_as_it_is(name, abuses):
    shown = f"vyre._core.{name}"
    base = "pybind11_builtins.pybind11_object" if sys.version_info >= (3, 12) else "pybind11_object"
    wanted = {
        "new of object": ("TypeError", f"object.__new__({shown}) is not safe, use {shown}.__new__()"),
        "new of the base": ("TypeError", f"{base}.__new__({shown}) is not safe, use {shown}.__new__()"),
        "call of the base": (
            "TypeError",
            sentence("pybind11_object makes no objects", "use the functions that vyre shows"),
        ),
        "subclass": ("TypeError", sentence(*NO_SUBCLASSES)),
        "subclass in words": ("TypeError", sentence(*NO_SUBCLASSES)),
        "subclass of the base": ("TypeError", sentence(*NO_SUBCLASSES)),
        "class of the metaclass": ("TypeError", sentence(*NO_SUBCLASSES)),
        "attribute of T": ("TypeError", f"cannot set 'attribute' attribute of immutable type '{shown}'"),
        "repr of T": ("TypeError", f"cannot set '__repr__' attribute of immutable type '{shown}'"),
        "del of T": ("TypeError", f"cannot set '__repr__' attribute of immutable type '{shown}'"),
        "class of x": (
            "TypeError",
            "__class__ assignment only supported for heap types or ModuleType subclasses"
            if sys.version_info < (3, 11)
            else "__class__ assignment only supported for mutable types or ModuleType subclasses",
        ),
    }
    wanted["class to x"] = wanted["class of x"]
    found = {way: abuses[f"{name}: {way}"] for way in wanted}
    assert {way: (outcome.type[0], outcome.text) for way, outcome in found.items()} == wanted
    assert abuses[f"{name}: init"] == Outcome("value", (), repr(name))
    assert abuses[f"{name}: weakref"] == Outcome("value", (), repr(name))


DEVICE_MEMORY = "memory of a device, which is not copied or pickled"
NOT_PICKLED = {
    "Array": (f"a vyre.Array is {DEVICE_MEMORY}", "write array.numpy(), and vyre.array there"),
    "_Graph": ("a vyre.Graph is not copied or pickled", "make it anew there"),
    "_ProcedureBuilder": ("a builder is not copied or pickled", "make it anew there"),
    "_Profile": ("a profile that still records is not copied or pickled", "make it anew there"),
}


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("protocol", range(6))
def test_an_object_is_pickled_by_every_protocol_or_says_what_to_do(name, protocol, abuses):
    outcome = abuses[f"{name}: pickle {protocol}"]
    if name in NOT_PICKLED:
        assert (outcome.type[:2], outcome.text) == (("ArgumentError", "VyreError"), sentence(*NOT_PICKLED[name]))
    else:
        assert outcome == Outcome("value", (), repr(name))


def test_python_classes_that_hold_objects_of_cpp_are_pickled_or_say_what_to_do():
    operation = "result = pickle.loads(pickle.dumps(Operation(ops.get('primitive.bitwise.xor')), {})).spec.id"
    graph = (f"a vyre.Graph works with {DEVICE_MEMORY}", "record it again there")
    cases: dict[str, tuple[str, ...] | str | None] = {}
    for protocol in range(6):
        cases |= {
            operation.replace("{}", str(protocol)): "'primitive.bitwise.xor'",
            f"pickle.dumps(vyre.graph(), {protocol})": graph,
            f"with vyre.profile() as p: pickle.dumps(p, {protocol})": NOT_PICKLED["_Profile"],
            f"p = vyre.profile()\nwith p: pass\nresult = pickle.loads(pickle.dumps(p, {protocol})).events": "[]",
        }
    cases["x = Operation(ops.get('primitive.bitwise.xor')); result = copy.copy(x) is x is copy.deepcopy(x)"] = "True"
    check(cases)


def test_what_says_to_be_of_a_class_of_ours_is_judged_by_what_it_is():
    wanted = "must be an Expr, an integer from 0 to 4294967295 or a bool"
    check(
        {
            "vyre.add(Liar(Expr), 1)": (
                f"argument `left` of add {wanted}, got an object of type Liar",
                "pass an Expr, an integer from 0 to 4294967295 or a bool",
            ),
            "Node.block([Liar(Node)])": (
                "element 0 of argument `body` of Node.block must be a Node, got an object of type Liar",
                "pass a Node",
            ),
            "vyre.validate(Liar(Program))": (
                "argument `program` of vyre.validate must be a vyre.Program, got an object of type Liar",
                "pass a vyre.Program",
            ),
            "ops.register(Liar(OpSpec))": (
                "argument `spec` of vyre.ops.register must be an OpSpec, got an object of type Liar",
                "pass an OpSpec",
            ),
            "result = Program() == Liar(Program)": "False",
            "x = vyre.u32; x._value_ = 77; BufferDecl.read('a', 0, x)": (
                "argument `element` of BufferDecl.read must be a vyre.DataType, got DataType.U32 (DataType)",
                "pass a vyre.DataType",
            ),
            "x = BufferAccess.Uniform; x._value_ = 9; _core._buffer_decl_from_state(b'a', 0, x, vyre.u32, 0, False)": (
                "the access of a pickled BufferDecl must be a vyre.BufferAccess, got BufferAccess.Uniform "
                "(BufferAccess)",
                "pass a vyre.BufferAccess",
            ),
            "x = vyre.BinOp.Add; x._value_ = 'Add'; Expr.binop(x, 1, 2)": (
                "argument `op` of Expr.binop must be a vyre.BinOp, got BinOp.Add (BinOp)",
                "pass a vyre.BinOp",
            ),
            "x = object.__new__(vyre.UnOp); x._value_ = -1; Expr.unop(x, 2)": (
                "argument `op` of Expr.unop must be a vyre.UnOp, got an object of type UnOp",
                "pass a vyre.UnOp",
            ),
        }
    )


def test_what_lies_behind_the_functions_ends_no_process():
    check(
        {
            "type(vyre.add.__self__)()": (
                "TypeError",
                "pybind11_builtins."
                + type(vyre.add.__self__).__name__[: 100 - len("pybind11_builtins.")]
                + " makes no objects",
                "use the functions that vyre shows",
            ),
            "vyre.add.__self__.__init__()": None,
            "result = pickle.loads(pickle.dumps(vyre.add)) is vyre.add": "True",
            "result = importlib.reload(_core) is _core and importlib.reload(vyre) is vyre": "True",
            # The module stays although it is removed from sys.modules.
            """
            for name in [name for name in sys.modules if name.startswith("vyre")]:
                del sys.modules[name]
            import vyre as again
            result = again._core is _core and again.Expr is Expr and again is not vyre
            """: "True",
        }
    )


SUBINTERPRETER = """
try:
    import _interpreters
    run, create = _interpreters.exec, _interpreters.create
except ImportError:
    import _xxsubinterpreters as _interpreters
    run, create = _interpreters.run_string, _interpreters.create
code = '''
try:
    import vyre
except ImportError as error:
    print(error)
'''
failed = run(create(), code)
assert failed is None, failed
import vyre
print(vyre.Expr.u32(1))
"""


def test_a_subinterpreter_is_told_that_it_cannot_import_vyre():
    done = subprocess.run([sys.executable, "-c", SUBINTERPRETER], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode) == (
        "vyre cannot be imported in a subinterpreter: it works in the main interpreter of a process alone. "
        "Fix: import it in the main interpreter, or start a process with multiprocessing.\nExpr(1)\n",
        0,
    ), done.stderr


def test_indices_of_statements_and_expressions_are_checked():
    one = "Program(entry=[Node.let('a', 1)])"
    check(
        {
            "_core._statement_at(Program(), 7, None, False)": (
                "argument `statement` must be a number below 0, as many as the program has, got 7 (int)",
                "pass a number below 0, as many as the program has",
            ),
            f"_core._statement_at({one}, 0, 99, False)": (
                "argument `expr` must be a number below 1, as many as the program has, got 99 (int)",
                "pass a number below 1, as many as the program has",
            ),
            f"_core._trace({one}, 0, 5, [])": (
                "argument `detail` must be a number below 1, as many as the program has, got 5 (int)",
                "pass a number below 1, as many as the program has",
            ),
            f"_core._trace({one}, 9, None, [])": (
                "argument `density` must be an integer from 0 to 3, got 9 (int)",
                "pass an integer from 0 to 3",
            ),
            f"_core._statement_at({one}, 0, None, True)": (
                "argument `effect` is for stores and atomics, and this is neither",
                "pass effect=False",
            ),
            f"result = _core._statement_at({one}, 0, 0, False)[:2]": "('let a = 1', '1')",
        }
    )


def test_iterables_are_looked_at_element_by_element():
    endless = "got more than 1000000 elements"
    two = f"element 0 of argument `inputs` of OpSignature must be a vyre.DataType, got {np.uint32(0)!r} (uint32)"
    check(
        {
            "Program(itertools.repeat(3))": (
                "element 0 of argument `buffers` of Program must be a BufferDecl, got 3 (int)",
                "pass a BufferDecl",
            ),
            "Program(entry=itertools.repeat(Node.barrier()))": (
                f"argument `entry` of Program must be a list of Nodes, {endless}",
                "pass a list of Nodes",
            ),
            "Node.block(itertools.repeat(Node.barrier()))": (
                f"argument `body` of Node.block must be a list of Nodes, {endless}",
                "pass a list of Nodes",
            ),
            "vyre.call('a.b', itertools.repeat(1))": (
                f"argument `args` of Expr.call must be a list of expressions, {endless}",
                "pass a list of expressions",
            ),
            "OpSignature(np.broadcast_to(np.uint32(0), 2**40), vyre.u32)": (two, "pass a vyre.DataType"),
            "OpSignature(itertools.repeat(vyre.u32), vyre.u32)": (
                f"argument `inputs` of OpSignature must be a list of DataTypes, {endless}",
                "pass a list of DataTypes",
            ),
            "vyre.run(Program(), {}, itertools.repeat(1))": (
                "argument `workgroups` of vyre.run must be an integer or a tuple of one to three integers, got "
                "more than 1000 elements",
                "pass an integer or a tuple of one to three integers",
            ),
            "Program(workgroup_size=np.broadcast_to(np.uint32(0), 2**40))": (
                "argument `workgroup_size` of Program must be three integers, got more than 1000 elements",
                "pass three integers",
            ),
            "vyre.check(Program(), {}, 1, checks=itertools.repeat('race'))": (
                'argument `checks` of vyre.check must be "all", or names out of "race", "uninitialised-read", '
                '"out-of-bounds", "divergent-barrier", "order-dependence", "promised_zeros", got more than '
                "1000 elements",
                'pass "all", or names out of "race", "uninitialised-read", "out-of-bounds", "divergent-barrier", '
                '"order-dependence", "promised_zeros"',
            ),
            "result = vyre.check(Program(), {}, 1, checks=iter(['race'])).checks": "('race',)",
            """
            class Endless(dict):
                def keys(self): return itertools.repeat("a")
                def __getitem__(self, key): return 3
            vyre.run(Program(), Endless(), 1)
            """: (
                "the keys of argument `inputs` of vyre.run must be names, got more than 1000000 elements",
                "pass names",
            ),
            "vyre.ValidationError(itertools.repeat(1))": (
                "CallError",
                "ValidationError takes a list of Diagnostics, got an object of type repeat",
                "pass what vyre.validate gave",
            ),
        }
    )


def test_files_are_read_up_to_a_bound():
    check(
        {
            "vyre.replay('/dev/zero')": (
                "ParseError",
                "replay file '/dev/zero' is not JSON (it does not begin with `{`)",
                "write it anew with CheckResult.save",
            ),
            """
            from vyre._arrays import replay as _replay
            _replay._MOST = 5000
            with open("long.json", "w") as file: file.write("{" + " " * 5000)
            vyre.replay("long.json")
            """: (
                "ParseError",
                "replay file 'long.json' is longer than 5,000 bytes",
                "check a smaller case, and save that",
            ),
            "vyre.replay('a\\0b')": (
                "argument `path` of vyre.replay must be a path, got 'a\\x00b'",
                "pass a path",
            ),
            "vyre.replay('\\ud800')": (
                "argument `path` of vyre.replay must be a path, got '\\ud800'",
                "pass a path",
            ),
        }
    )


def test_a_call_that_fits_no_signature_is_a_type_error_of_ours():
    check(
        {
            "vyre.add()": ("CallError", "vyre.add() misses argument `left`", "write vyre.add(left, right)"),
            "Expr.u32(1, 2, x='a')": (
                "CallError",
                "Expr.u32() takes 1 argument by place, got 2",
                "write Expr.u32(value)",
            ),
            "Expr.u32(**{'\\ud800' * 100: 1})": (
                "CallError",
                "Expr.u32() has no argument '" + "\\ud800" * 100 + "'",
                "write Expr.u32(value)",
            ),
            "Program().to_text(3)": (
                "CallError",
                "Program.to_text takes (), got (int)",
                "write x.to_text(), where x is of type Program",
            ),
            "Node.if_(*[1] * 40)": (
                "CallError",
                "Node.if_() takes 3 arguments by place, got 40",
                "write Node.if_(cond, then, otherwise=())",
            ),
            "_core._fuzz_generate('seed', 1, 1, False, False, None)": (
                "CallError",
                "vyre._core._fuzz_generate takes (seed: typing.SupportsInt | typing.SupportsIndex, statements: "
                "typing.SupportsInt | typing.SupportsIndex, work: typing.SupportsInt | typing.SupportsIndex, "
                "clean: bool, independent: bool, plant: str | None), got (str, int, int, bool, bool, NoneType)",
                "write vyre._core._fuzz_generate(seed: typing.SupportsInt | typing.SupportsIndex, statements: "
                "typing.SupportsInt | typing.SupportsIndex, work: typing.SupportsInt | typing.SupportsIndex, "
                "clean: bool, independent: bool, plant: str | None)",
            ),
            # A TypeError of a function that the user passed is theirs.
            "class Own: __index__ = lambda self: 'x' + 1\nvyre.graph().replay(Own())": (
                "argument `times` of Graph.replay must be a count from 0 to 2^63 - 1, got an object of type Own",
                "pass a count from 0 to 2^63 - 1",
            ),
        }
    )


def test_what_was_untyped_or_misleading():
    dtype = "must be a numpy dtype or a vyre.DataType, got"
    check(
        {
            "vyre.array([1], dtype='junk')": (
                f"argument `dtype` of vyre.array {dtype} 'junk'",
                "pass a numpy dtype or a vyre.DataType",
            ),
            "vyre.empty(5, dtype={1: 2})": (
                f"argument `dtype` of vyre.empty {dtype} {{1: 2}}",
                "pass a numpy dtype or a vyre.DataType",
            ),
            "vyre.empty((1,) * 40)": (
                "argument `shape` of vyre.empty must have at most 32 axes, got more",
                "pass one with at most 32 axes",
            ),
            "vyre.empty(3, backend='cpu').__array__(copy=slice(3))": (
                "argument `copy` of Array.__array__ must be True or False, got an object of type slice",
                "pass True or False",
            ),
            "vyre.array(np.broadcast_to(np.uint8(1), 2**40), backend='cpu')": (
                "DeviceMemoryError",
                "the host has no memory for the values of vyre.array: Unable to allocate 1.00 TiB for an array "
                "with shape (1099511627776,) and data type uint8",
                "use fewer elements",
            ),
            "vyre.unpack_bytes(np.broadcast_to(np.uint32(1), 2**40))": (
                "DeviceMemoryError",
                "the host has no memory for the bytes of argument `words` of unpack_bytes: Unable to allocate "
                "4.00 TiB for an array with shape (1099511627776,) and data type uint32",
                "use fewer elements",
            ),
            "class Own(list): __iter__ = lambda self: itertools.repeat(1)\nvyre.empty(Own())": (
                "argument `shape` of vyre.empty must have at most 32 axes, got more",
                "pass one with at most 32 axes",
            ),
            "vyre.graph().replay(1, progress=np.array([1, 2]))": (
                "argument `progress` of Graph.replay must be True, False or a function, got array([1, 2])",
                "pass True, False or a function",
            ),
            "vyre.profile(keep=np.array([1, 2]))": (
                "argument `keep` of vyre.profile must be a count of events, got array([1, 2])",
                "pass a count of events",
            ),
            "vyre.devices(np.array([1, 2]))": (
                "argument `backend` of vyre.devices must be one of "
                f"{', '.join([*vyre.backends(), *vyre.backends().unavailable()])}, got array([1, 2])",
                "write one of these",
            ),
            "vyre.run(Program(), {}, 1, backend=np.array([1, 2]), check='all')": (
                "argument `backend` of vyre.run must be the reference beside `check`, got array([1, 2])",
                "pass the reference beside `check`",
            ),
            "p = vyre.profile()\nwith p: pass\np.__exit__(None, None, None)": (
                "a profile is closed once, after it was opened",
                "write `with vyre.profile() as prof:`",
            ),
            "result = vyre.array(memoryview(np.arange(4, dtype=np.uint8).reshape(2, 2)), backend='cpu').numpy()": (
                "array([[0, 1],\n       [2, 3]], dtype=uint8)"
            ),
            "result = vyre.array(memoryview(np.arange(6, dtype=np.uint32))[::2], backend='cpu').numpy()": (
                "array([0, 2, 4], dtype=uint32)"
            ),
            "m = memoryview(b'abc'); m.release(); vyre.pack_bytes(m)": (
                "argument `data` of pack_bytes must be bytes, got a memoryview that was released",
                "pass bytes",
            ),
            """
            class Speaks:
                def __dlpack__(self, **how): return np.arange(3, dtype=np.uint32).__dlpack__()
                def __dlpack_device__(self): return (1, 0)
            result = vyre.array(Speaks(), backend='cpu').numpy()
            """: "array([0, 1, 2], dtype=uint32)",
            """
            class Speaks:
                def __dlpack__(self, **how): return 5
                def __dlpack_device__(self): return (1, 0)
            vyre.array(Speaks(), dtype='uint32', backend='cpu')
            """: (
                "argument `values` of vyre.array cannot be read through DLPack: PyCapsule_GetPointer called "
                "with invalid PyCapsule object",
                "pass a numpy array of its elements",
            ),
        }
    )


def test_a_name_of_a_megabyte_is_shortened_where_it_is_said():
    ends = "a" * 100 + "..." + "a" * 100
    shown = "'" + "a" * 37 + "..." + "a" * 38 + "'"
    check(
        {
            "ops.get('a' * 1_000_000)": (
                f"unknown operation `{ends[:-1]}`",
                f"register an Op with id {'a' * 70}...{'a' * 83} before lowering",
            ),
            "vyre.devices('a' * 1_000_000)": (
                "argument `backend` of vyre.devices must be one of "
                f"{', '.join([*vyre.backends(), *vyre.backends().unavailable()])}, got {shown}",
                "write one of these",
            ),
            "try: ops.get('`' * 1_000_000)\nexcept vyre.ArgumentError as e: result = len(str(e)), ' Fix: ' in str(e)": (
                "(10006, True)"
            ),
            "ops.get('a\\0b')": (
                "argument `id` of vyre.ops.get must be an id without NUL, got 'a\\x00b' (str)",
                "pass an id without NUL",
            ),
            "Program([BufferDecl.read_write('a\\0b', 0, vyre.u32)])(workgroups=1)": (
                "ValidationError",
                "V033 at buffers[0] (<string>:1:10): vyre IR validation: name `a\\0b` contains NUL",
                "remove the NUL byte",
            ),
            # In whole characters.
            "ops.get('\u00e9' * 1_000_000)": (
                f"unknown operation `{'é' * 50}...{'é' * 49}`",
                f"register an Op with id {'é' * 35}...{'é' * 41} before lowering",
            ),
            """
            try:
                vyre.run(Program([BufferDecl.read_write(f"b{k}", k, vyre.u32) for k in range(30_000)]), {"z": 1}, 1)
            except vyre.BindingError as error:
                text = str(error)
            whole = "the program has no buffer 'z'. Fix: use one of `b0`, `b1`"
            result = len(text) <= 10_003 and text.startswith(whole)
            """: "True",
            "vyre.run(Program([BufferDecl.read_write('a' * 1_000_000, 0, vyre.u32)]), {}, 1)": (
                "BindingError",
                f"buffer `{ends[:-1]}` (u32) has no array",
                "add it to `inputs`: a numpy array of uint32, or a number or a shape of zero elements",
            ),
        }
    )


def test_a_graph_that_another_thread_drops_while_it_records_is_no_longer_recorded():
    check(
        {
            """
            import threading
            double = Program([BufferDecl.read_write("data", 0, vyre.u32)], (4, 1, 1),
                             [Node.store("data", Expr.gid_x(), Expr.load("data", Expr.gid_x()) * 2)])
            data = vyre.array(np.ones(4, np.uint32), backend="cpu")
            graphs, recording, dropped = [_core._Graph()], threading.Event(), threading.Event()
            def record():
                graphs[0].begin()
                recording.set()
                dropped.wait()
                double(data, workgroups=1)
            thread = threading.Thread(target=record)
            thread.start()
            recording.wait()
            graphs.clear()
            dropped.set()
            thread.join()
            result = data.numpy().tolist()
            """: "[2, 2, 2, 2]"
        }
    )


def test_a_backend_of_the_users_own_that_gives_no_buffers_is_told_so():
    double = "vyre.parse('vyre 1\\nworkgroup_size 1 1 1\\nbuffer data: read_write u32 binding 0\\n\\ndata[0] = 2\\n')"
    wanted = "must give a dict of name -> array, got an object of type NoneType"
    check(
        {
            f"vyre.repeat({double}, {{'data': 1}}, 1, backend=lambda *call: None)": (
                f"the function `<lambda>` in argument `backend` of vyre.repeat {wanted}",
                "return what vyre.run gave",
            ),
            f"vyre.repeat({double}, np.ones(3), 1, backend=lambda *call: None)": (
                "BindingError",
                "argument `inputs` of vyre.repeat must be a dict of name -> array, got an array of float64 "
                "with shape (3,)",
                "pass a dict of name -> array",
            ),
            f"vyre.bisect({double}, {{'data': 1}}, 1, backend=lambda *call: None)": (
                f"the function `<lambda>` in argument `backend` of vyre.bisect {wanted}",
                "return what vyre.run gave",
            ),
        }
    )


def test_memory_of_others_is_written_only_where_it_holds_numbers():
    wanted = "argument `progress` must be 16 bytes of memory that can be written, at a multiple of 8, got"
    case = "from vyre import fuzz; case, ways = fuzz.generate(7, statements=5, work=500), fuzz.ways_of('cpu')"
    judge = f"{case}; result = fuzz.judge(case, ways, progress={{}}).kind"
    check(
        {
            judge.format("bytearray(16)"): "'agrees'",
            judge.format("np.array([None] * 4)"): (
                f"{wanted} an array of object with shape (4,)",
                "pass 16 bytes of memory that can be written, at a multiple of 8",
            ),
            judge.format("memoryview(bytearray(16))[::-1]"): (
                f"{wanted} an object of type memoryview",
                "pass 16 bytes of memory that can be written, at a multiple of 8",
            ),
            judge.format("bytes(16)"): (
                f"{wanted} {bytes(16)!r} (bytes)",
                "pass 16 bytes of memory that can be written, at a multiple of 8",
            ),
            judge.format("True"): (
                f"{wanted} True (bool)",
                "pass 16 bytes of memory that can be written, at a multiple of 8",
            ),
        }
    )
