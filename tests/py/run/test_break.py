"""Break: in operations and beside a Return, and what is refused; the rest is in vyre.conformance."""

import numpy as np
import pytest

import vyre
from test_software_devices import LLVMPIPE, SWIFTSHADER, answers
from vyre import BufferDecl, DataType, Expr, Node, OpSignature, OpSpec, Program, ops

U32 = DataType.U32
FOREVER = 2**32 - 1
k = Expr.var("k")


@pytest.mark.parametrize("flag", [0, 1])
def test_a_return_that_all_invocations_take_ends_a_loop_of_as_many_turns_as_each_has(target, flag):
    """The condition of the Return is the same everywhere, the bound of the loop is not."""
    program = vyre.parse(
        "vyre 1\nworkgroup_size 32 1 1\nbuffer out: read_write u32 binding 0\nbuffer flag: read u32 binding 1\n"
        "buffer turns: read u32 binding 2\n\nloop i in 0..turns[gid.x] {\n  out[gid.x] = out[gid.x] + 1\n"
        "  if flag[0] == 1 {\n    return\n  }\n}\nout[gid.x] = out[gid.x] + 100\n"
    )
    count = 1 << 17  # enough for the cpu backend to make machine code
    turns = np.arange(count, dtype=np.uint32) % 7
    arrays = {"out": np.zeros(count, np.uint32), "flag": np.array([flag], np.uint32), "turns": turns}
    expected = np.where((turns > 0) & (flag == 1), 1, turns + 100)
    np.testing.assert_array_equal(vyre.run(program, arrays, count // 32, **target)["out"], expected)


def test_an_operation_may_leave_its_loop(target):
    spec = OpSpec(
        "test.integer_sqrt",
        OpSignature([U32], U32),
        parameters=["n"],
        body=[
            Node.let("root", 0),
            Node.loop(
                "k",
                1,
                FOREVER,
                [Node.if_(k * k > Expr.var("n"), [Node.break_()]), Node.assign("root", k)],
            ),
        ],
        result=Expr.var("root"),
    )
    ops.register(spec)
    values = np.arange(200, dtype=np.uint32) * 7
    program = Program(
        [BufferDecl.read("n", 0, U32), BufferDecl.output("out", 1, U32)],
        (64, 1, 1),
        [Node.store("out", Expr.gid_x(), Expr.call("test.integer_sqrt", [Expr.load("n", Expr.gid_x())]))],
    )
    out = vyre.run(program, {"n": values, "out": 200}, 4, **target)["out"]
    np.testing.assert_array_equal(out, np.sqrt(values).astype(np.uint32))


def test_a_variable_may_still_be_called_break():
    """`break` became a statement after the first texts were written: those mean what they meant."""
    head = "vyre 1\nworkgroup_size 1 1 1\nbuffer break: read_write u32 binding 0\n\n"
    text = head + "let break = 1\nbreak = 2\nbreak[0] = break\n"
    program = vyre.parse(text)
    assert program.to_text() == text
    assert vyre.run(program, {"break": 1}, 1, backend="reference")["break"].tolist() == [2]


def test_checked_execution_judges_barriers_that_some_may_miss():
    def meeting(divisor: int) -> Program:
        entry = [Node.loop("k", 0, 4, [Node.if_(Expr.local_x() // divisor > k, [Node.break_()]), Node.barrier()])]
        return Program([BufferDecl.output("out", 0, U32)], (8, 1, 1), entry)

    for divisor, found in ((100, []), (1, [vyre.DivergentBarrierReport])):
        assert [d.rule for d in vyre.validate(meeting(divisor))] == ["V010"]
        result = vyre.check(meeting(divisor), {"out": 1}, 1)
        assert [type(report) for report in result.reports] == found


@pytest.mark.skipif(not (LLVMPIPE and SWIFTSHADER), reason="needs llvmpipe and SwiftShader")
def test_the_turns_that_are_made_count_for_a_driver_that_ends_loops_and_not_the_bound():
    body = """
        k, s = Expr.var("k"), Expr.var("s")
        def turns(bound):
            step = Node.assign("s", s * 3 + 1)
            leave = Node.if_(k >= Expr.load("n", 0), [Node.break_()])
            entry = [Node.let("s", 0), Node.loop("k", 0, bound, [leave, step]), Node.store("out", 0, s)]
            return Program([BufferDecl.read("n", 0, vyre.u32), BufferDecl.output("out", 1, vyre.u32)], (1, 1, 1), entry)
        def on(device, n):
            try:
                return run(turns(2**32 - 1), n=n, device=device) == expected(n)
            except vyre.CapabilityError as error:
                return str(error).split(" of device")[0]
        run(turns(3), n=2)
        index = {d.name.split()[0]: d.index for d in vyre.devices()}
        show(*[on(index[name], n) for name in ("llvmpipe", "SwiftShader") for n in (0, 1000, 65_000, 70_000)],
             where(lambda: run(turns(2**32 - 1), n=5)))
    """
    ended = "more than 65535 loop turns an invocation exceeds loop_budget"
    assert answers(body) == [True, True, True, ended, True, True, True, True, "SwiftShader"]
