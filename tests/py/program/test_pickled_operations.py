"""Operations of the user's in pickles: they travel with what calls them, and are registered where that arrives."""

from __future__ import annotations

import concurrent.futures
import copy
import io
import itertools
import multiprocessing
import pickle
import subprocess
import sys

import numpy as np
import pytest

import pickled_work
import vyre
from conftest import refused
from vyre import BufferDecl, DataType, Expr, Node, Program, ops
from vyre.ops import OpSignature, OpSpec

U32 = DataType.U32
NUMBERS = itertools.count()
X = np.array([3, 1, 2], np.uint32)
I = Expr.gid_x()  # noqa: E741


def own_op(result, calls=(), version=1, name=None):
    """An operation under an id that no other test has."""
    a = Expr.var("a")
    for each in calls:
        a = Expr.call(each.id, [a])
    spec = OpSpec(
        name or f"pickled.op{next(NUMBERS)}",
        OpSignature([U32], U32),
        parameters=["a"],
        result=result(a),
        version=version,
    )
    return ops.register(spec)


def calling(*specs):
    value = Expr.load("x", I)
    for spec in specs:
        value = Expr.call(spec.id, [value])
    return Program([BufferDecl.read_write("x", 0, U32)], (4, 1, 1), [Node.store("x", I, value)])


@pytest.fixture(scope="module")
def elsewhere():
    """A process that begins anew, as on another machine: this module's operations are not registered in it."""
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        yield lambda *arguments: pool.submit(*arguments).result(timeout=120)


def test_an_operation_travels_with_a_program(elsewhere):
    unused = own_op(lambda a: a + 1000)
    inner = own_op(lambda a: a * 10)
    outer = own_op(lambda a: a + 7, calls=[inner])
    program = calling(outer)
    here = vyre.run(program, {"x": X}, 1, backend="cpu")["x"].tolist()
    there, registered, again = elsewhere(pickled_work.run_there, pickle.dumps(program))
    assert there == here == [37, 17, 27]
    assert {inner.id, outer.id} <= set(registered)
    assert unused.id not in registered
    assert pickle.loads(again) == program


def test_a_pickler_with_a_table_of_its_own_pickles_an_operation():
    class Own(pickle.Pickler):
        dispatch_table = {}  # noqa: RUF012  # it does not look into that of copyreg

    spec = own_op(lambda a: a + 3)
    file = io.BytesIO()
    Own(file).dump(spec)
    assert pickle.loads(file.getvalue()) == spec


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_it_travels_by_every_protocol(elsewhere, protocol):
    program = calling(own_op(lambda a: a ^ 5))
    assert elsewhere(pickled_work.run_there, pickle.dumps(program, protocol))[0] == [6, 4, 7]


def test_it_travels_with_expressions_and_statements(elsewhere):
    one, two = own_op(lambda a: a + 2), own_op(lambda a: a * 3)
    expression = Expr.call(one.id, [Expr.load("x", I)])
    statement = Node.store("x", I, Expr.call(two.id, [Expr.load("x", I)]))
    assert elsewhere(pickled_work.expression_there, expression, statement) == [11, 5, 8]


def test_an_operation_itself_travels(elsewhere):
    @vyre.op(f"pickled.op{next(NUMBERS)}", inputs=[U32], output=U32)
    def thrice(a):
        """Three times."""
        return a * 3

    assert elsewhere(pickled_work.operation_there, thrice) == [9, 3, 6]
    assert pickle.loads(pickle.dumps(thrice)).spec == thrice.spec
    assert copy.deepcopy(thrice) is thrice


@pytest.mark.parametrize("spec", vyre._core._op_all(), ids=lambda spec: f"{spec.id}@{spec.version}")
def test_every_operation_pickles(spec):
    again = pickle.loads(pickle.dumps(spec))
    assert again == spec
    for name in ("id", "version", "signature", "convention", "summary", "parameters", "laws", "examples", "body"):
        assert getattr(again, name) == getattr(spec, name)


def with_statements(name):
    """A body of statements that share an expression with one another, and with the result."""
    a = Expr.var("a")
    shared = a * a + 1
    body = [
        Node.let("low", shared & 0xFF),
        Node.if_(Expr.var("low") > 9, [Node.assign("low", 9)]),
        Node.let("high", shared >> 8),
    ]
    return OpSpec(
        name,
        OpSignature([U32], U32),
        parameters=["a"],
        body=body,
        result=Expr.var("low") + shared * Expr.var("high"),
        summary="Mixes.",
        laws=[],
        examples=[((2,), 5)],
    )


def test_an_operation_of_statements_goes_there_and_back(elsewhere):
    spec = ops.register(with_statements(f"pickled.op{next(NUMBERS)}"))
    program = Program(
        [BufferDecl.read_write("x", 0, U32)], (4, 1, 1), [Node.store("x", I, ops.call(spec.id, Expr.load("x", I)))]
    )
    wanted = vyre.run(program, {"x": X * 50}, 1, backend="cpu")["x"].tolist()
    there, summary, back, called = elsewhere(pickled_work.spec_there, pickle.dumps(spec))
    assert there == wanted
    assert summary == "Mixes."
    assert back == spec
    assert called == program


def test_another_operation_under_the_same_id_is_refused(elsewhere):
    name = f"pickled.op{next(NUMBERS)}"
    pickled = elsewhere(pickled_work.adding_one, name)
    own_op(lambda a: a + 2, name=name)
    with refused(
        vyre.ArgumentError,
        f"operation `{name}` version 1 is registered with a different body",
        "register it under a new version",
    ):
        pickle.loads(pickled)


def test_it_travels_with_a_procedure(elsewhere):
    @vyre.op(f"pickled.op{next(NUMBERS)}", inputs=[U32], output=U32)
    def mixed(a):
        return a * 9 + 4

    @vyre.kernel
    def step(x: vyre.InOut[vyre.u32]):
        i = vyre.gid(0)
        x[i] = mixed(x[i])

    @vyre.procedure
    def steps(x: vyre.InOut[vyre.u32]):
        step(x)
        step(x)

    agrees, registered = elsewhere(pickled_work.compare_procedure, steps.procedure)
    assert agrees
    assert mixed.spec.id in registered


def test_versions_travel_beside_each_other(elsewhere):
    name = f"pickled.op{next(NUMBERS)}"
    own_op(lambda a: a + 1, name=name)
    own_op(lambda a: a + 2, name=name, version=2)
    value = Expr.call(f"{name}@1", [Expr.call(name, [Expr.load("x", I)])])
    program = Program([BufferDecl.read_write("x", 0, U32)], (4, 1, 1), [Node.store("x", I, value)])
    assert elsewhere(pickled_work.run_there, pickle.dumps(program))[0] == [6, 4, 5]


@vyre.kernel
def unrelated(x: vyre.InOut[vyre.u32]):
    x[vyre.gid(0)] += 1


def test_what_calls_no_own_operation_is_pickled_as_before():
    """In a process that has registered one, and in one that has not."""
    own_op(lambda a: a + 1)
    text = "import pickle, vyre; print(pickle.dumps(vyre.parse(input().replace('|', chr(10)))).hex())"
    program = unrelated.program
    done = subprocess.run(
        [sys.executable, "-c", text],
        input=program.to_text().replace("\n", "|"),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.strip() == pickle.dumps(vyre.parse(program.to_text())).hex()
