"""What test_pickled_operations.py has another process do, which imports this module and none of the tests."""

from __future__ import annotations

import pickle

import numpy as np

import vyre
from vyre import BufferDecl, DataType, Expr, Node, Program, ops
from vyre.ops import OpSignature, OpSpec

U32 = DataType.U32
X = np.array([3, 1, 2], np.uint32)
I = Expr.gid_x()  # noqa: E741


def run_there(pickled):
    """In another process, which has registered nothing: what the program gives, and what is registered then."""
    program = pickle.loads(pickled)
    result = vyre.run(program, {"x": X}, 1, backend="reference")["x"]
    again = pickle.dumps(program)
    return result.tolist(), [id for id in ops.ids() if id.startswith("pickled.")], again


def expression_there(expression, statement):
    program = Program([BufferDecl.read_write("x", 0, U32)], (4, 1, 1), [statement, Node.store("x", I, expression)])
    return vyre.run(program, {"x": X}, 1, backend="reference")["x"].tolist()


def operation_there(operation):
    return vyre.run(
        Program([BufferDecl.read_write("x", 0, U32)], (4, 1, 1), [Node.store("x", I, operation(Expr.load("x", I)))]),
        {"x": X},
        1,
        backend="reference",
    )["x"].tolist()


def spec_there(pickled):
    """What is unpickled, and unpickled and pickled again and again, is one operation."""
    first, second = pickle.loads(pickled), pickle.loads(pickled)
    ops.register(first)
    ops.register(second)
    third = ops.register(pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(first)))))
    a = Expr.load("x", I)
    program = Program([BufferDecl.read_write("x", 0, U32)], (4, 1, 1), [Node.store("x", I, ops.call(third.id, a))])
    return vyre.run(program, {"x": X * 50}, 1, backend="reference")["x"].tolist(), first.summary, first, program


def adding_one(name):
    """A program that calls an operation of this process."""
    spec = OpSpec(name, OpSignature([U32], U32), parameters=["a"], result=Expr.var("a") + 1)
    value = Expr.call(ops.register(spec).id, [Expr.load("x", I)])
    return pickle.dumps(Program([BufferDecl.read_write("x", 0, U32)], (4, 1, 1), [Node.store("x", I, value)]))


def compare_procedure(procedure):
    """Whether two backends run it to the same bytes, and what is registered here."""
    procedure.check()
    return vyre.bisect(procedure, {"x": X}, backend="cpu") is None, ops.ids()
