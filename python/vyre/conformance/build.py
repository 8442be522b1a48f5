"""Programs that many cases need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre import BufferDecl, Expr, Node, Program
from vyre.conformance.values import U32

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre import DataType


def element_wise(
    inputs: Sequence[DataType],
    outputs: Sequence[tuple[DataType, Callable[..., Expr]]],
    *,
    size: int = 64,
) -> Program:
    """out<k>[i] = value_k(in0[i], in1[i], ...) for every i below the length of out0."""
    i = Expr.var("i")
    loads = [Expr.load(f"in{k}", i) for k in range(len(inputs))]
    return Program(
        [
            *(BufferDecl.read(f"in{k}", k, element) for k, element in enumerate(inputs)),
            *(BufferDecl.read_write(f"out{k}", len(inputs) + k, element) for k, (element, _) in enumerate(outputs)),
        ],
        (size, 1, 1),
        [
            Node.let("i", Expr.gid_x()),
            Node.if_(
                i < Expr.buf_len("out0"),
                [Node.store(f"out{k}", i, value(*loads)) for k, (_, value) in enumerate(outputs)],
            ),
        ],
    )


def one_invocation(buffers: Sequence[BufferDecl], *entry: Node) -> Program:
    """A program of one invocation."""
    return Program(buffers, (1, 1, 1), entry)


def out_u32(binding: int = 0, name: str = "out") -> BufferDecl:
    """A ReadWrite buffer of U32."""
    return BufferDecl.read_write(name, binding, U32)
