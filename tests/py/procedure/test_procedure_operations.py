"""Procedures that are registered as operations: looked up, invoked by their ids, and refused where values are called."""

# ruff: noqa: E501  (messages stand whole)
from __future__ import annotations

import concurrent.futures
import itertools
import json
import multiprocessing
import pickle

import numpy as np
import pytest

import vyre
from conftest import refusals, refused
from small_kernels import evens
from vyre import (
    BufferDecl,
    Convention,
    DataType,
    Expr,
    In,
    InOut,
    Node,
    OpLaw,
    OpSignature,
    OpSpec,
    Program,
    _core,
    conformance,
    ops,
    u32,
)
from vyre.__main__ import main

U32 = DataType.U32
NUMBERS = itertools.count()
X = np.array([3, 0, 2**32 - 1, 7, 9], np.uint32)


@vyre.kernel
def added(x: In[u32], k: u32, y: vyre.Out[u32]):
    i = vyre.gid(0)
    if i < len(y):
        y[i] = x[i] + k


@vyre.procedure
def padded(x: In[u32], k: u32, more: u32):
    """x + k, and `more` elements beyond, which are k."""
    between = vyre.scratch(u32, x.length + more, name="between")
    y = vyre.scratch(u32, x.length + more, name="y")
    added(x, k, between)
    added(between, 0, y)
    return y


@vyre.procedure
def raised(x: InOut[u32], times: u32):
    y = vyre.scratch(u32, x.length, name="y")
    for _ in vyre.times(times):
        added(x, 1, y)
        added(y, 0, x)


def registered(procedure: vyre.Procedure, **others) -> OpSpec:
    """The procedure under an id that no other test has."""
    return ops.register(OpSpec(f"whole.op{next(NUMBERS)}", procedure=procedure, **others))


def expected(x: np.ndarray, k: int, more: int) -> np.ndarray:
    return np.concatenate([x, np.zeros(more, np.uint32)]) + np.uint32(k)


def test_a_procedure_is_looked_up_like_any_operation():
    spec = registered(padded.procedure, summary="Adds a number.", version=3)
    assert ops.get(spec.id) == ops.get(f"{spec.id}@3") == spec
    assert spec.id in ops.ids()
    assert (spec.version, spec.summary, spec.parameters) == (3, "Adds a number.", ("x", "k", "more"))
    assert spec.procedure == padded.procedure
    assert (spec.signature, spec.body, spec.laws, spec.examples, spec.inlinable) == (None, None, (), (), False)
    assert repr(spec) == f"<vyre.OpSpec {spec.id}@3 procedure padded>"
    assert spec._repr_html_()
    assert ops.get("primitive.bitwise.xor").procedure is None


def test_the_convention_of_a_procedure_counts_its_arrays_and_numbers():
    assert registered(padded.procedure).convention == Convention.V3(inputs=1, outputs=1, params=2, scratch=1)
    assert registered(raised.procedure).convention == Convention.V3(inputs=1, outputs=0, params=1, scratch=1)


@vyre.procedure
def plain(x: In[u32], k: u32):
    """x + k: an input, an output and a number, as Convention V1 has them."""
    y = vyre.scratch(u32, x.length, name="y")
    added(x, k, y)
    return y


@pytest.mark.parametrize("asked", [Convention.V1(), Convention.V2(lookup_binding=0)])
def test_an_operation_is_called_by_the_convention_that_it_asks_for(asked):
    spec, own = registered(plain.procedure, convention=asked), registered(plain.procedure)
    assert (ops.get(spec.id).convention, own.convention) == (asked, Convention.V3(1, 1, 1, 0))
    unknown = OpSpec("whole.not_registered", procedure=plain.procedure, convention=asked)
    assert pickle.loads(pickle.dumps(unknown)).convention == asked
    assert registered(plain.procedure, convention=Convention.V3(1, 1, 1, 0)).convention == own.convention
    # A plan has the convention that it was made by, so that each of the two is planned, once.
    longer, before = np.concatenate([X] * (5 + asked.version)), _core._procedure_plans()[1]
    for _ in range(2):
        for each in (spec, own):
            np.testing.assert_array_equal(ops.invoke(each.id, longer, 2, backend="cpu"), longer + np.uint32(2))
            resident = vyre.array(longer, backend="cpu")
            for _ in range(2):  # the second call goes the quick way
                np.testing.assert_array_equal(ops.invoke(each.id, resident, 2).numpy(), longer + np.uint32(2))
    assert _core._procedure_plans()[1] - before == 2


def test_a_convention_that_a_procedure_does_not_fit_is_refused_and_left_out_as_told():
    asking = OpSpec("whole.asking", procedure=padded.procedure, convention=Convention.V1())
    with refused(
        vyre.ArgumentError,
        "operation `whole.asking` asks for Convention.V1(), and its procedure is "
        "Convention.V3(inputs=1, outputs=1, params=2, scratch=1) and writes 1 of its arrays.",
    ):
        ops.register(asking)
    assert "whole.asking" not in ops.ids()
    assert ops.register(OpSpec("whole.asking", procedure=padded.procedure)).convention.version == 3


def test_another_procedure_under_a_known_id_is_refused():
    spec = registered(padded.procedure)
    assert ops.register(OpSpec(spec.id, procedure=vyre.Procedure.parse(padded.text))) == spec
    for other in (
        OpSpec(spec.id, procedure=raised.procedure),
        OpSpec(spec.id, OpSignature([U32], U32), parameters=["a"], result=Expr.var("a")),
    ):
        assert other != spec
        with refused(vyre.ArgumentError, f"operation `{spec.id}` version 1 is registered with a different body."):
            ops.register(other)


def test_a_procedure_that_breaks_a_rule_is_not_registered():
    @vyre.procedure
    def unwritten(x: In[u32]):
        return vyre.scratch(u32, x.length)

    with pytest.raises(vyre.ValidationError) as error:
        ops.register(OpSpec("whole.broken", procedure=unwritten.procedure))
    assert [found.rule for found in error.value.diagnostics] == ["P011"]
    assert "whole.broken" not in ops.ids()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("signature", OpSignature([U32], U32)),
        ("parameters", ["x"]),
        ("body", []),
        ("result", Expr.u32(1)),
        ("laws", [OpLaw.Associative]),
        ("examples", [((1,), 2)]),
    ],
)
def test_what_is_for_values_is_refused_beside_a_procedure(name, value):
    what = f"`{name}`, which is for functions of values: a procedure declares its arrays itself"
    with refused(vyre.ArgumentError, f"OpSpec `whole.mixed` has a procedure and {what}", f"leave out `{name}`"):
        OpSpec("whole.mixed", procedure=padded.procedure, **{name: value})


def test_invoked_by_its_id_it_gives_what_the_function_gives(target):
    spec = registered(padded.procedure)
    np.testing.assert_array_equal(ops.invoke(spec.id, X, 5, 2, **target), expected(X, 5, 2))
    np.testing.assert_array_equal(ops.invoke(spec.id, X, more=2, k=5, **target), expected(X, 5, 2))
    resident = vyre.array(X, **target)
    for _ in range(3):  # the later calls go the quick way
        np.testing.assert_array_equal(ops.invoke(spec.id, resident, 5, 0).numpy(), expected(X, 5, 0))
    out = np.zeros(6, np.uint32)
    assert ops.invoke(f"{spec.id}@1", X, 1, 1, out=out, **target) is out
    np.testing.assert_array_equal(out, expected(X, 1, 1))
    changed = X.copy()
    assert ops.Operation(registered(raised.procedure))(changed, times=3, **target) is None
    np.testing.assert_array_equal(changed, X + np.uint32(3))


def test_a_procedure_invokes_another_one_by_its_id(target):
    twice, up = registered(padded.procedure), registered(raised.procedure)

    @vyre.procedure
    def both(x: In[u32], n: u32):
        y = ops.invoke(twice.id, x, n, 2)
        for turn in vyre.times(n):
            with vyre.when(turn > 0):
                ops.invoke(up.id, y, turn)
        return ops.invoke(twice.id, y, k=y.length, more=1)

    @vyre.procedure
    def by_function(x: In[u32], n: u32):
        y = padded(x, n, 2)
        for turn in vyre.times(n):
            with vyre.when(turn > 0):
                raised(y, turn)
        return padded(y, y.length, 1)

    assert both.procedure.programs == by_function.procedure.programs
    assert both.procedure.procedures == [padded.procedure, raised.procedure]
    first = expected(X, 4, 2) + np.uint32(0 + 1 + 2 + 3)
    np.testing.assert_array_equal(both(X, 4, **target), expected(first, len(first), 1))
    np.testing.assert_array_equal(both(X, 4, **target), by_function(X, 4, **target))
    assert vyre.Procedure.parse(both.text) == both.procedure == vyre.Procedure.from_bytes(both.procedure.to_bytes())


def test_a_value_keeps_the_version_that_it_was_recorded_with_and_a_function_follows():
    spec = registered(padded.procedure)

    @vyre.procedure
    def newest(x: In[u32]):
        return ops.invoke(spec.id, x, 1, 0)

    @vyre.procedure
    def otherwise(x: In[u32], k: u32, more: u32):
        y = vyre.scratch(u32, x.length + more, name="y")
        added(x, k + 100, y)
        return y

    before, value = newest(X, backend="cpu"), newest.procedure
    ops.register(OpSpec(spec.id, procedure=otherwise.procedure, version=2))
    assert ops.get(spec.id).version == 2
    (kept,) = vyre.run(value, {"x": X}, backend="cpu").values()
    np.testing.assert_array_equal(kept, before)
    np.testing.assert_array_equal(newest(X, backend="cpu"), X + np.uint32(101))
    np.testing.assert_array_equal(ops.Operation(spec)(X, 1, 0, backend="cpu"), before)
    np.testing.assert_array_equal(ops.invoke(spec.id, X, 1, 0, backend="cpu"), X + np.uint32(101))


def test_an_expression_that_calls_a_procedure_is_v020():
    spec = registered(padded.procedure)
    program = Program(
        [BufferDecl.output("out", 0, U32)], entry=[Node.store("out", 0, Expr.call(spec.id, [1, 2]) + Expr.u32(1))]
    )
    [found] = vyre.validate(program)
    assert found.rule == "V020"
    assert found.hint == (
        f'it works on whole arrays; call vyre.ops.invoke("{spec.id}", ...) in a function under @vyre.procedure, or beside the '
        "call of this kernel."
    )

    @vyre.kernel
    def calling(x: In[u32], y: vyre.Out[u32]):
        y[0] = vyre.ops.call(spec.id, x[0])

    with pytest.raises(vyre.KernelError) as error:
        calling(X, backend="cpu")
    assert [found.rule for found in error.value.diagnostics] == ["V020"]
    assert error.value.diagnostics[0].hint == found.hint

    @vyre.kernel
    def invoking(x: In[u32], y: vyre.Out[u32]):
        y[0] = ops.invoke(spec.id, x)

    with pytest.raises(vyre.KernelError) as error:
        invoking(X, backend="cpu")
    assert error.value.diagnostics[0].message == (
        "vyre kernel: vyre.ops.invoke calls a procedure, which works on whole arrays, and a kernel is what one invocation "
        "does. Fix: call it beside this kernel, in a function under @vyre.procedure or where the kernel is called."
    )


@vyre.procedure
def of_values(x: In[u32]):
    return ops.invoke("primitive.bitwise.xor", x, x)


PADDED = "whole.misused"


def misused() -> str:
    """An operation of this id, which is registered once."""
    return ops.register(OpSpec(PADDED, procedure=padded.procedure)).id


test_wrong_uses_name_the_operation = refusals(
    [
        (lambda: OpSpec("whole.nothing"), vyre.CallError, "OpSpec() misses argument `signature`", "pass it, or the `procedure` of an operation on whole arrays"),
        (lambda: OpSpec("whole.nothing", procedure=padded), vyre.ArgumentError, "argument `procedure` of OpSpec must be a Procedure, got an object of type ProcedureFunction."),
        (lambda: of_values.procedure, vyre.ArgumentError, "operation `primitive.bitwise.xor` is a function of values, which expressions call, and vyre.ops.invoke calls procedures", 'write vyre.ops.call("primitive.bitwise.xor", ...) in a kernel, and call the kernel here'),
        (lambda: ops.invoke("whole.unknown", X), vyre.ArgumentError, "unknown operation `whole.unknown`."),
        (lambda: ops.invoke(padded, X), vyre.ArgumentError, "argument `id` of vyre.ops.invoke must be the id of a registered procedure, got <vyre.procedure padded(x, k, more)>", "pass the id of a registered procedure"),
        (lambda: ops.invoke(3, X), vyre.ArgumentError, "argument `id` of vyre.ops.invoke must be the id of a registered procedure, got 3", "pass the id of a registered procedure"),
        (lambda: ops.Operation(ops.get("primitive.bitwise.xor"))(a=1, b=2), vyre.CallError, "operation `primitive.bitwise.xor@1` takes expressions by position, got argument `a`", "write them in the order a, b"),
        (lambda: vyre.std.reduce(X, misused(), backend="cpu"), vyre.ArgumentError, f"argument `op` of vyre.std.reduce must be an operation of two DataType.U32 that gives one, got `{PADDED}`, a procedure", "pass an operation of two DataType.U32 that gives one"),
        (lambda: ops.invoke(misused(), X), vyre.CallError, f"procedure `{PADDED}` misses argument `k`", f'write vyre.ops.invoke("{PADDED}", x, k, more)'),
        (lambda: ops.invoke(misused(), X.astype(np.int32), 1, 1), vyre.BindingError, f"argument `x` of procedure `{PADDED}` must be an array of uint32, got one of int32."),
    ]
)  # fmt: skip


def test_a_parameter_may_be_called_id():
    @vyre.procedure
    def named(id: In[u32], k: u32):
        return padded(id, k, 0)

    spec = registered(named.procedure)
    assert ops.invoke(spec.id, id=X, k=2, backend="cpu").tolist() == (X + 2).tolist()


def test_the_defaults_of_functions_may_stand_beside_a_procedure():
    defaults = {
        "signature": None,
        "parameters": (),
        "body": (),
        "result": None,
        "convention": None,
        "laws": (),
        "examples": (),
    }
    assert OpSpec("whole.defaults", procedure=padded.procedure, **defaults).procedure == padded.procedure


def test_checks_look_into_the_steps_of_an_invoked_operation():
    @vyre.procedure
    def forgetful(x: In[u32]):
        y = vyre.scratch(u32, x.length, name="y")
        evens(x, y)
        return y

    spec = registered(forgetful.procedure)

    @vyre.procedure
    def outer(x: In[u32]):
        return ops.invoke(spec.id, x)

    [report] = outer.check(X, checks="uninitialised-read").reports
    assert (report.check, report.index, report.count) == ("uninitialised-read", 1, 2)
    assert vyre.bisect(outer, {"x": X}, backend="cpu") is None


def arrive(data):
    spec, procedure = pickle.loads(data)
    return spec.id in ops.ids(), pickle.dumps(ops.register(spec)), vyre.run(procedure, {"x": X}, backend="reference")


def test_a_registered_procedure_travels_in_pickles():
    value = ops.register(
        OpSpec(f"whole.op{next(NUMBERS)}", OpSignature([U32], U32), parameters=["a"], result=Expr.var("a") * 3)
    )

    @vyre.kernel
    def tripled(x: In[u32], y: vyre.Out[u32]):
        i = vyre.gid(0)
        y[i] = vyre.ops.call(value.id, x[i])

    @vyre.procedure
    def all_tripled(x: In[u32]):
        y = vyre.scratch(u32, x.length, name="y")
        tripled(x, y)
        return y

    spec = registered(all_tripled.procedure, summary="Three times as much.")

    @vyre.procedure
    def outer(x: In[u32]):
        return ops.invoke(spec.id, x)

    assert pickle.loads(pickle.dumps(spec)) == spec
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        known, again, result = pool.submit(arrive, pickle.dumps((spec, outer.procedure))).result(timeout=120)
    assert not known  # the procedure that invokes it has it by value
    assert pickle.loads(again) == spec
    assert pickle.loads(again).summary == "Three times as much."
    [out] = result.values()
    np.testing.assert_array_equal(out, X * np.uint32(3))


def test_certificates_hash_registered_procedures():
    spec = registered(padded.procedure)
    assert not [each for each in conformance.catalogue.registered_cases() if spec.id in each.id]
    other = registered(raised.procedure)
    hashes = conformance.hashes.operation_hashes()
    assert hashes[f"{spec.id}@1"] != hashes[f"{other.id}@1"]
    certificate = conformance.certify_procedure(spec.procedure, [{"x": 10, "k": 1, "more": 2}], seed=1, backend="cpu")
    assert certificate.passed
    assert conformance.verify_procedure(certificate, padded, backend="reference").agrees


def test_the_command_lists_both_kinds(capsys):
    spec = registered(padded.procedure, summary="Adds a number.")
    assert main(["ops", "--json", spec.id]) == 0
    [row] = json.loads(capsys.readouterr().out)["operations"]
    assert row == {
        "id": spec.id,
        "version": 1,
        "parameters": ["x", "k", "more"],
        "inputs": ["U32[]", "U32", "U32"],
        "output": ["U32[]"],
        "summary": "Adds a number.",
        "laws": [],
        "examples": [],
    }
    assert main(["ops", spec.id]) == 0
    assert capsys.readouterr().out == f"{spec.id}(x: U32[], k: U32, more: U32) -> U32[]\n  Adds a number.\n"
    assert main(["ops"]) == 0
    assert f"{spec.id}(x, k, more): Adds a number.\n" in capsys.readouterr().out
