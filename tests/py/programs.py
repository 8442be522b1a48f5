"""Small programs that many tests need."""

from __future__ import annotations

import numpy as np

import vyre.conformance
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


def conformance_programs() -> list[Program]:
    return list({step.program: None for case in vyre.conformance.cases() for step in case.steps if not case.skip})


def by_powers_of_two(element: DataType) -> tuple[Program, dict[str, np.ndarray], tuple[int, int, int], dict]:
    """Products, quotients and remainders by literal powers of two: program, inputs, workgroups, what is right."""
    bits, dtype, literal = (32, np.uint32, Expr.u32) if element == DataType.U32 else (64, np.uint64, Expr.u64)
    powers = [power for power in (0, 1, 7, 16, 30, 31, 32, 33, 50, 63) if power < bits]
    numbers = [0, 1, 2**bits - 1, 2 ** (bits - 1), 0x9E37_79B9_7F4A_7C15 % 2**bits, 12345]
    operators = {
        "product": (lambda a, c: a * c, lambda a, c: a * c % 2**bits),
        "turned": (lambda a, c: c * a, lambda a, c: a * c % 2**bits),
        "quotient": (lambda a, c: a // c, lambda a, c: a // c),
        "rest": (lambda a, c: a % c, lambda a, c: a % c),
    }
    buffers = [BufferDecl.read("a", 0, element)]
    buffers += [BufferDecl.read_write(name, k + 1, element) for k, name in enumerate(operators)]
    x = Expr.gid_x()
    stores = [
        Node.store(name, x * len(powers) + k, build(Expr.load("a", x), literal(2**power)))
        for name, (build, _) in operators.items()
        for k, power in enumerate(powers)
    ]
    inputs = {"a": np.array(numbers, dtype)}
    inputs |= {name: np.zeros(len(numbers) * len(powers), dtype) for name in operators}
    expected = {
        name: np.array([model(a, 2**power) for a in numbers for power in powers], dtype)
        for name, (_, model) in operators.items()
    }
    return Program(buffers, (2, 1, 1), stores), inputs, (len(numbers) // 2, 1, 1), expected


# Programs whose lowered texts were reviewed, and are kept in golden.
REVIEWED = {
    "xor": """
workgroup_size 64 1 1
buffer left: read u32 binding 0
buffer right: read u32 binding 1
buffer out: read_write u32 binding 2 output

let i = gid.x
if i < len(out) {
  out[i] = left[i] ^ right[i]
}
""",
    "histogram": """
workgroup_size 256 1 1
buffer data: read u32 binding 0
buffer bins: read_write u32 binding 1 output

let i = gid.x
if i >= len(data) {
  return
}
let old = atomic_add(bins, data[i] % len(bins), 1)
""",
    "workgroup_sum": """
workgroup_size 64 1 1
buffer data: read u32 binding 0
buffer sums: read_write u32 binding 1 output
buffer part: workgroup u32 count 64

part[lid.x] = data[gid.x]
barrier
loop k in 0..6 {
  let half = 32 >> k
  if lid.x < half {
    part[lid.x] = part[lid.x] + part[lid.x + half]
  }
  barrier
}
if lid.x == 0 {
  sums[wid.x] = part[0]
}
""",
}
