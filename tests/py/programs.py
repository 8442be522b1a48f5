"""Small programs that many tests need."""

from __future__ import annotations

from vyre import BufferDecl, DataType, Expr, Node, Program

I = Expr.var("i")  # noqa: E741


def element_wise(inputs: list[DataType], output: DataType, value, *, size: int = 64) -> Program:
    """out[i] = value(in0[i], in1[i], ...) for every i below the length of out."""
    loads = [Expr.load(f"in{k}", I) for k in range(len(inputs))]
    return Program(
        [
            *(BufferDecl.read(f"in{k}", k, element) for k, element in enumerate(inputs)),
            BufferDecl.output("out", len(inputs), output),
        ],
        (size, 1, 1),
        [
            Node.let("i", Expr.gid_x()),
            Node.if_(Expr.var("i") < Expr.buf_len("out"), [Node.store("out", I, value(*loads))]),
        ],
    )


def xor() -> Program:
    """out[i] = in0[i] ^ in1[i]."""
    return element_wise([DataType.U32, DataType.U32], DataType.U32, lambda a, b: a ^ b)


def groups(n: int, size: int = 64) -> int:
    """Workgroups of `size` that cover n invocations."""
    return -(-n // size)
