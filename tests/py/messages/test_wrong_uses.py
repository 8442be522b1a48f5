"""Wrong uses of the package, each with its exact error, the line that is at fault, and the Fix applied: it runs and gives the right bytes.

A row is a wrong snippet and the mended one. A snippet without an assignment to `result` is an expression, which is stored for each of four
invocations; the line at fault ends in `# here`, else it is the only one. Rows whose error is a ValidationError compare the first diagnostic's
message and place.
"""

# ruff: noqa: E501  (messages stand whole)
from __future__ import annotations

import math
import traceback
from typing import NamedTuple

import numpy as np
import pytest

import vyre
from vyre import ArgumentError, BindingError, BufferDecl, CallError, Expr, Node, Program, ValidationError

TOP = 2**32
U32, I32 = "`u32` (0 to 4294967295)", "`i32` (-2147483648 to 2147483647)"
VALUE = "must be an Expr, an integer from 0 to 4294967295 or a bool, got"
PASS = "pass an Expr, an integer from 0 to 4294967295 or a bool"
NO_TRUTH = "an expression, which has no value before it runs, does not take bool()"
TRUTH = "write Node.if_, Expr.select, vyre.min and max, or Expr.logical_and, logical_or and logical_not"


class Row(NamedTuple):
    name: str
    wrong: str
    problem: str
    fix: str
    mended: str
    expected: list[int]
    error: type[Exception] = ArgumentError


EXPRESSIONS = [
    Row("a negative mask", "x & -4", f"literal -4 does not fit {U32}", "write an integer of that range", "x & 4294967292", [4, 4, 4, 8], ValidationError),
    Row("an array plus an expression", "data + i", f"the left operand of `+` {VALUE} an array of uint32 with shape (4,)", PASS, 'Expr.load("a", i) + i', [5, 7, 9, 11]),
    Row("an expression plus an array", "i + data", f"the right operand of `+` {VALUE} an array of uint32 with shape (4,)", PASS, 'i + Expr.load("a", i)', [5, 7, 9, 11]),
    Row("an expression compared with an array", "data > i", f"the right operand of `<` {VALUE} an array of uint32 with shape (4,)", PASS, 'i < Expr.load("a", i)', [1] * 4),
    Row("an expression plus a resident array", "i + resident", f"the right operand of `+` {VALUE} an object of type Array", PASS, 'i + Expr.load("a", i)', [5, 7, 9, 11]),
    Row("an expression plus a list", "i + [1, 2]", f"the right operand of `+` {VALUE} an object of type list", PASS, 'i + Expr.load("a", i)', [5, 7, 9, 11]),
    Row("a fraction", "i * 1.5", f"the right operand of `*` {VALUE} 1.5 (float)", PASS, "i * 3 // 2", [0, 1, 3, 4]),
    Row("a whole float", "2.0 + i", f"the left operand of `+` {VALUE} 2.0 (float)", PASS, "2 + i", [2, 3, 4, 5]),
    Row("division", "i / 2", "an expression, which has no value before it runs, does not take `/`", "write //, which truncates", "i // 2", [0, 0, 1, 1]),
    Row("a power of two", "2 ** i", "an expression, which has no value before it runs, does not take `**`", "write a product, or 1 << n for a power of two", "1 << i", [1, 2, 4, 8]),
    Row("divmod", "divmod(x, 3)[1]", "an expression, which has no value before it runs, does not take divmod()", "write x // y and x % y", "x % 3", [2, 0, 1, 2]),
    Row("unary plus", "+i", "an expression, which has no value before it runs, does not take `+` before it", "write the expression itself", "i", [0, 1, 2, 3]),
    Row("rounded", "round(i)", "an expression, which has no value before it runs, does not take round()", "write the expression itself, which is an integer", "i", [0, 1, 2, 3]),
    Row("rounded to digits", "round(i, 2)", "an expression, which has no value before it runs, does not take round()", "write the expression itself, which is an integer", "i", [0, 1, 2, 3]),
    Row("rounded down", "math.floor(i)", "an expression, which has no value before it runs, does not take math.floor()", "write the expression itself, which is an integer", "i", [0, 1, 2, 3]),
    Row("in hexadecimal", "i + len(f'{i:08x}')", "an expression, which has no value before it runs, does not take a format", "write {x} without one", "i + len(f'{i}') - len(str(i))", [0, 1, 2, 3]),
    Row("int", "int(i)", "an expression, which has no value before it runs, does not take int()", "write Expr.cast(DataType.U32, value)", "Expr.cast(DataType.U32, i)", [0, 1, 2, 3]),
    Row("float", "float(i)", "an expression, which has no value before it runs, does not take float()", "write the expression itself, which is an integer", "i", [0, 1, 2, 3]),
    Row("a Python list at an expression", "[5, 6, 7, 8][i]", "an expression, which has no value before it runs, does not take an integer value", "write Node.loop(var, 0, n, body) for range(n), or Expr.load(buffer, index)", 'Expr.load("a", i)', [5, 6, 7, 8]),
    Row("an element of an expression", "x[0]", "an expression, which has no value before it runs, does not take an index", "write Expr.load(buffer, index) or Expr.lane(value, k)", 'Expr.load("a", 0)', [5] * 4),
    Row("the length of an expression", "i + len(x)", "an expression, which has no value before it runs, does not take len()", "write Expr.buf_len(buffer)", 'i + Expr.buf_len("a")', [4, 5, 6, 7]),
    Row("a conditional expression", "7 if i < 2 else 9", NO_TRUTH, TRUTH, "Expr.select(i < 2, 7, 9)", [7, 7, 9, 9]),
    Row("a chain", "0 < i < 3", NO_TRUTH, TRUTH, "(0 < i) & (i < 3)", [0, 1, 1, 0]),
    Row("~ for not", "~(i < 2)", "operator `~` flips the bits of a truth value", "use logical_not for the truth or bitnot for the bits", "Expr.logical_not(i < 2)", [0, 0, 1, 1], ValidationError),
    Row("a declaration's element", "a[i]", "a BufferDecl has no elements", "write Expr.load('a', index)", "Expr.load('a', i)", [5, 6, 7, 8]),
    Row("a declaration's length", "i + len(a)", "a BufferDecl has no elements", "write Expr.buf_len('a')", "i + Expr.buf_len('a')", [4, 5, 6, 7]),
    Row("a declaration as a value", "a + i", f"the left operand of `+` {VALUE} an object of type BufferDecl", PASS, "Expr.load('a', i) + i", [5, 7, 9, 11]),
    Row("a declaration for a name", "Expr.load(a, i)", "argument `buffer` of Expr.load must be a str, got an object of type BufferDecl", "pass a str", "Expr.load('a', i)", [5, 6, 7, 8]),
    Row("a load without an index", 'Expr.load("a")', "Expr.load() misses argument `index`", "write Expr.load(buffer, index)", 'Expr.load("a", i)', [5, 6, 7, 8], CallError),
    Row("the last element", 'Expr.load("a", -1)', f"argument `index` of Expr.load {VALUE} -1 (int)", PASS, "Expr.load('a', Expr.buf_len('a') - 1)", [8] * 4),
    Row("an id not called", "1 + vyre.add(1, Expr.gid_x)", f"argument `right` of add {VALUE} an object of type builtin_function_or_method", PASS, "1 + vyre.add(1, Expr.gid_x())", [2, 3, 4, 5]),
    Row("an expression as a constant", "Expr.u32(i)", "argument `value` of Expr.u32 must be an integer, got Expr(invocation_id(0)) (Expr)", "pass an integer", "Expr.cast(DataType.U32, i)", [0, 1, 2, 3]),
    Row("a statement as a value", 'i + Node.let("k", 1)', f"the right operand of `+` {VALUE} Node(let k = 1) (Node)", PASS, "i + Expr.var('k')", [9, 10, 11, 12]),
    Row("a type in its text form", 'Expr.cast("u32", i)', "argument `target` of Expr.cast must be a vyre.DataType, got 'u32' (str)", "pass a vyre.DataType", "Expr.cast(DataType.U32, i)", [0, 1, 2, 3]),
]  # fmt: skip

STATEMENTS = [
    Row(
        "if",
        "entry = []\nif i < 2:  # here\n    entry.append(Node.store('out', i, 7))\nresult = ran(entry)",
        NO_TRUTH,
        TRUTH,
        "result = ran([Node.if_(i < 2, [Node.store('out', i, 7)])])",
        [7, 7, 0, 0],
    ),
    Row(
        "range of an expression",
        "entry = []\nfor k in range(Expr.buf_len('out')):  # here\n    entry.append(Node.store('out', k, k))\nresult = ran(entry)",
        "an expression, which has no value before it runs, does not take an integer value",
        "write Node.loop(var, 0, n, body) for range(n), or Expr.load(buffer, index)",
        "k = Expr.var('k')\nresult = ran([Node.loop('k', 0, Expr.buf_len('out'), [Node.store('out', k, k)])])",
        [0, 1, 2, 3],
    ),
    Row(
        "for over an expression",
        "entry = []\nfor k in Expr.buf_len('out'):  # here\n    entry.append(Node.store('out', k, k))\nresult = ran(entry)",
        "an expression, which has no value before it runs, does not take iteration",
        "write Node.loop(var, from_, to, body)",
        "k = Expr.var('k')\nresult = ran([Node.loop('k', 0, Expr.buf_len('out'), [Node.store('out', k, k)])])",
        [0, 1, 2, 3],
    ),
    Row(
        "a declaration's element assigned",
        "out[i] = 7  # here\nresult = ran([])",
        "a BufferDecl has no elements",
        "write Node.store('out', index, value)",
        "result = ran([Node.store('out', i, 7)])",
        [7] * 4,
    ),
    Row(
        "an expression's element assigned",
        "x[0] = 7  # here\nresult = ran([])",
        "an expression, which has no value before it runs, does not take an index",
        "write Node.store(buffer, index, value)",
        "result = ran([Node.store('out', 0, 7)])",
        [7, 0, 0, 0],
    ),
    Row(
        "a store at the end",
        "result = ran([Node.store('out', -1, 7)])",
        f"argument `index` of Node.store {VALUE} -1 (int)",
        PASS,
        "result = ran([Node.store('out', Expr.buf_len('out') - 1, 7)])",
        [0, 0, 0, 7],
    ),
    Row(
        "a negative stored",
        "result = ran([Node.store('out', i, -1)])",
        f"literal -1 does not fit {U32}",
        "write an integer of that range",
        "result = ran([Node.store('out', i, 4294967295)])",
        [TOP - 1] * 4,
        ValidationError,
    ),
    Row(
        "a loop without its start",
        "result = ran([Node.loop('k', 4, [Node.store('out', Expr.var('k'), 7)])])",
        "Node.loop() misses argument `body`",
        "write Node.loop(var, from_, to, body)",
        "result = ran([Node.loop('k', 0, 4, [Node.store('out', Expr.var('k'), 7)])])",
        [7] * 4,
        CallError,
    ),
    Row(
        "a declaration without its binding",
        "result = ran([Node.store('out', i, x)], BufferDecl.read('a', vyre.u32))",
        "BufferDecl.read() misses argument `element`",
        "write BufferDecl.read(name, binding, element, count=0)",
        "result = ran([Node.store('out', i, x)], BufferDecl.read('a', 0, DataType.U32))",
        [5, 6, 7, 8],
        CallError,
    ),
    Row(
        "workgroup memory with its arguments swapped",
        "result = ran([Node.store('tile', 0, 7), Node.store('out', i, Expr.load('tile', 0))], BufferDecl.workgroup('tile', vyre.u32, 64))",
        "argument `element` of BufferDecl.workgroup must be a vyre.DataType, got 64 (int)",
        "pass a vyre.DataType",
        "result = ran([Node.store('tile', 0, 7), Node.store('out', i, Expr.load('tile', 0))], BufferDecl.workgroup('tile', 64, DataType.U32))",
        [7] * 4,
    ),
]

PROGRAMS = [
    Row(
        "one declaration for a list",
        "result = vyre.run(Program(out, (4, 1, 1), [Node.store('out', i, i)]), {'out': 4}, 1)['out']",
        "argument `buffers` of Program must be a list of BufferDecls, got an object of type BufferDecl",
        "pass a list of BufferDecls",
        "result = vyre.run(Program([out], (4, 1, 1), [Node.store('out', i, i)]), {'out': 4}, 1)['out']",
        [0, 1, 2, 3],
    ),
    Row(
        "one statement for a list",
        "result = vyre.run(Program([out], (4, 1, 1), Node.store('out', i, i)), {'out': 4}, 1)['out']",
        "argument `entry` of Program must be a list of Nodes, got Node(out[invocation_id(0)] = invocation_id(0)) (Node)",
        "pass a list of Nodes",
        "result = vyre.run(Program([out], (4, 1, 1), [Node.store('out', i, i)]), {'out': 4}, 1)['out']",
        [0, 1, 2, 3],
    ),
    Row(
        "a workgroup size of two axes",
        "result = vyre.run(Program([out], (2, 2), [Node.store('out', Expr.gid_y() * 2 + i, i)]), {'out': 4}, 1)['out']",
        "argument `workgroup_size` of Program must be three integers, got 2 of them",
        "pass three integers",
        "result = vyre.run(Program([out], (2, 2, 1), [Node.store('out', Expr.gid_y() * 2 + i, i)]), {'out': 4}, 1)['out']",
        [0, 1, 0, 1],
    ),
    Row(
        "a workgroup size of four axes, the last of which is 1",
        "result = vyre.run(Program([out], (2, 1, 2, 1), [Node.store('out', Expr.gid_z() * 2 + i, i)]), {'out': 4}, 1)['out']",
        "argument `workgroup_size` of Program must be three integers, got 4 of them",
        "pass three integers",
        "result = vyre.run(Program([out], (2, 1, 2), [Node.store('out', Expr.gid_z() * 2 + i, i)]), {'out': 4}, 1)['out']",
        [0, 1, 0, 1],
    ),
    Row(
        "a loop that starts below 0",
        "k = Expr.var('k')\nresult = ran([Node.loop('k', -1, 3, [Node.store('out', k + 1, k)])])  # here",
        f"argument `from_` of Node.loop {VALUE} -1 (int)",
        PASS,
        "k = Expr.cast(DataType.U32, Expr.cast(DataType.I32, Expr.var('k') - 1))\nresult = ran([Node.loop('k', 0, 4, [Node.store('out', k + 1, k)])])",
        [TOP - 1, 0, 1, 2],
    ),
    Row(
        "a loop to below 0",
        "k = Expr.var('k')\nresult = ran([Node.loop('k', 0, -1, [Node.store('out', k, 7)])])  # here",
        f"argument `to` of Node.loop {VALUE} -1 (int)",
        PASS,
        "k = Expr.var('k')\nresult = ran([Node.loop('k', 0, 0, [Node.store('out', k, 7)])])",
        [0] * 4,
    ),
    Row(
        "a loop of more rounds than there are",
        "k = Expr.var('k')\nresult = ran([Node.loop('k', 0, 2**33, [Node.store('out', k, k)])])  # here",
        f"argument `to` of Node.loop {VALUE} 8589934592 (int)",
        PASS,
        "k = Expr.var('k')\nresult = ran([Node.loop('j', 0, 2, [Node.loop('k', 0, 4, [Node.store('out', k, k)])])])",
        [0, 1, 2, 3],
    ),
]

CALLS = [
    Row(
        "no workgroups",
        "result = vyre.run(scaled, {'a': data, 'n': 3, 'out': 4})['out']",
        "vyre.run needs argument `workgroups`: counts along x, y, z",
        "write workgroups=-(-n // size), which covers n elements with workgroups of `size` invocations",
        "result = vyre.run(scaled, {'a': data, 'n': 3, 'out': 4}, workgroups=-(-4 // 4))['out']",
        [15, 18, 21, 24],
    ),
    Row(
        "workgroups divided with /",
        "result = vyre.run(scaled, {'a': data, 'n': 3, 'out': 4}, workgroups=4 / 4)['out']",
        "argument `workgroups` of vyre.run must be an integer or a tuple of one to three integers, got 1.0 (float)",
        "pass an integer or a tuple of one to three integers",
        "result = vyre.run(scaled, {'a': data, 'n': 3, 'out': 4}, workgroups=-(-4 // 4))['out']",
        [15, 18, 21, 24],
    ),
    Row(
        "a float for a Uniform buffer",
        "result = vyre.run(scaled, {'a': data, 'n': 3.0, 'out': 4}, 1)['out']",
        "buffer `n` (u32) wants an integer from 0 to 4294967295, or a numpy array of uint32, got 3.0 (float)",
        "pass an integer from 0 to 4294967295, or a numpy array of uint32",
        "result = vyre.run(scaled, {'a': data, 'n': int(3.0), 'out': 4}, 1)['out']",
        [15, 18, 21, 24],
        BindingError,
    ),
    Row(
        "a number for a ReadOnly buffer",
        "result = vyre.run(scaled, {'a': 7, 'n': 3, 'out': 4}, 1)['out']",
        "buffer `a` (u32) wants a numpy array of uint32, got 7 (int)",
        "pass a numpy array of uint32",
        "result = vyre.run(scaled, {'a': np.array([7], np.uint32), 'n': 3, 'out': 4}, 1)['out']",
        [21, 0, 0, 0],
        BindingError,
    ),
    Row(
        "a numpy array for a resident one",
        "result = scaled(data, 3, 4, workgroups=1).numpy()",
        "buffer `a` (u32) wants a vyre.Array, got an array of uint32 with shape (4,)",
        "pass a vyre.Array",
        "result = scaled(vyre.array(data), 3, 4, workgroups=1).numpy()",
        [15, 18, 21, 24],
        BindingError,
    ),
    Row(
        "a list for an array",
        "result = vyre.run(scaled, {'a': [5, 6, 7, 8], 'n': 3, 'out': 4}, 1)['out']",
        "buffer `a` (u32) wants a numpy array of uint32, got an object of type list",
        "pass a numpy array of uint32",
        "result = vyre.run(scaled, {'a': np.array([5, 6, 7, 8], dtype=np.uint32), 'n': 3, 'out': 4}, 1)['out']",
        [15, 18, 21, 24],
        BindingError,
    ),
    Row(
        "a text for words",
        "result = vyre.run(scaled, {'a': 'abcde', 'n': 1, 'out': 4}, 1)['out']",
        "buffer `a` (u32) wants a numpy array of uint32, got 'abcde' (str)",
        "pass a numpy array of uint32",
        "result = vyre.run(scaled, {'a': vyre.pack_bytes('abcde'.encode()), 'n': 1, 'out': 4}, 1)['out']",
        [0x64636261, 0x65, 0, 0],
        BindingError,
    ),
    Row(
        "numpy's default integers",
        "result = vyre.run(scaled, {'a': np.array([5, 6, 7, 8]), 'n': 3, 'out': 4}, 1)['out']",
        "buffer `a` (u32) wants a numpy array of uint32, got an array of int64 with shape (4,)",
        "pass a numpy array of uint32",
        "result = vyre.run(scaled, {'a': np.array([5, 6, 7, 8]).astype(np.uint32), 'n': 3, 'out': 4}, 1)['out']",
        [15, 18, 21, 24],
        BindingError,
    ),
    Row(
        "bytes for words",
        "result = vyre.run(scaled, {'a': bytearray([5, 0, 0, 0, 6]), 'n': 3, 'out': 4}, 1)['out']",
        "buffer `a` (u32) wants a numpy array of uint32, got an object of type bytearray",
        "pass a numpy array of uint32",
        "result = vyre.run(scaled, {'a': vyre.pack_bytes(bytearray([5, 0, 0, 0, 6])), 'n': 3, 'out': 4}, 1)['out']",
        [15, 18, 0, 0],
        BindingError,
    ),
    Row(
        "a device by a name",
        "result = vyre.run(scaled, {'a': data, 'n': 3, 'out': 4}, 1, device='gpu')['out']",
        "argument `device` of vyre.run must be an index into vyre.devices(), or one of its elements, got 'gpu' (str)",
        "pass an index into vyre.devices(), or one of its elements",
        "result = vyre.run(scaled, {'a': data, 'n': 3, 'out': 4}, 1)['out']",
        [15, 18, 21, 24],
    ),
]

ARRAYS = [
    Row(
        "floats assigned",
        "resident[0:3] = [1.5, 2, 3]  # here\nresult = resident.numpy()",
        "argument `values` of Array.write must be integers for uint32, got 1.5 at [0]",
        "pass integers for uint32",
        "resident[0:3] = np.asarray([1.5, 2, 3]).astype(np.uint32)\nresult = resident.numpy()",
        [1, 2, 3, 8],
    ),
    Row(
        "an array without a dtype",
        "result = vyre.array([1, 2]).numpy()",
        "argument `values` of vyre.array must be an array, or values beside dtype=, such as dtype=vyre.u32, got list",
        "pass an array, or values beside dtype=, such as dtype=vyre.u32",
        "result = vyre.array([1, 2], dtype=vyre.u32).numpy()",
        [1, 2],
    ),
    Row(
        "an array of another dtype",
        "result = vyre.array(np.int64([0, 0, 0])).numpy()",
        "argument `values` of vyre.array must be an array of uint32, int32, uint64, bool, uint8, int8, uint16 or int16, got an array of int64 with shape (3,)",
        "pass an array of uint32, int32, uint64, bool, uint8, int8, uint16 or int16",
        "result = vyre.array(np.int64([0, 0, 0]), dtype=vyre.u32).numpy()",
        [0, 0, 0],
    ),
    Row(
        "the truth of an array",
        "result = np.uint32([1 if resident else 0])",
        "a vyre.Array of uint32 with shape (4,) has no truth value of its own",
        "write array.numpy().any() or array.numpy().all()",
        "result = np.uint32([1 if resident.numpy().any() else 0])",
        [1],
    ),
    Row(
        "a negative number added to an array",
        "result = (resident + 2 + -1).numpy()",
        "operator `+` has a vyre.Array of uint32 and -1, which is not an integer from 0 to 4294967295",
        "write an integer from 0 to 4294967295",
        "result = (resident + 2 - 1).numpy()",
        [6, 7, 8, 9],
    ),
    Row(
        "iterating over an array",
        "result = np.uint32([value for value in resident])",
        "a vyre.Array is not iterable: each element would be a read of its own",
        "write array.numpy()",
        "result = np.uint32([value for value in resident.numpy()])",
        [5, 6, 7, 8],
        TypeError,
    ),
    Row(
        "every second element of an array",
        "result = resident[::2].numpy()",
        "a slice of a vyre.Array has the step 2, and a part of an array has its elements side by side",
        "leave the step out, or slice array.numpy(), which is a copy on the host",
        "result = resident.numpy()[::2]",
        [5, 7],
    ),
    Row(
        "round of an array",
        "result = round(resident)",
        "operator `round` is not defined on a vyre.Array",
        "leave it out: the elements are integers",
        "result = resident.numpy()",
        [5, 6, 7, 8],
    ),
    Row(
        "a matrix for one axis",
        "x = np.uint32([[2, 1]]).view(np.matrix)\nresult = vyre.std.sort(x)  # here",
        "argument `x` of vyre.std.sort must have 1 axis, got a numpy.matrix, which has 2",
        "pass np.asarray(x).ravel() in place of `x`",
        "x = np.uint32([[2, 1]]).view(np.matrix)\nresult = vyre.std.sort(np.asarray(x).ravel())",
        [1, 2],
        vyre.BindingError,
    ),
    Row(
        "int of several elements",
        "result = np.uint32([int(resident)])",
        "int() takes a vyre.Array of one element, got a vyre.Array of uint32 with shape (4,)",
        "write int(array[k]), or array.numpy()",
        "result = np.uint32([int(resident[0])])",
        [5],
    ),
]

ROWS = [*EXPRESSIONS, *STATEMENTS, *PROGRAMS, *CALLS, *ARRAYS]


def names() -> dict[str, object]:
    """The names that snippets find: a program's parts, arrays, and ways to run statements."""
    data = np.array([5, 6, 7, 8], np.uint32)
    i = Expr.gid_x()
    a, out = BufferDecl.read("a", 0, vyre.u32), BufferDecl.output("out", 1, vyre.u32)

    def ran(entry: list[Node], *others: BufferDecl) -> np.ndarray:
        declared = [a] if "a" not in [decl.name for decl in others] else []
        program = Program([*declared, *others, out], (4, 1, 1), entry)
        results = [
            vyre.run(program, {"a": data, "out": 4}, 1, backend=backend)["out"] for backend in ("reference", "cpu")
        ]
        np.testing.assert_array_equal(*results)
        return results[0]

    def stored(value: object) -> np.ndarray:
        return ran([Node.let("k", 9), Node.store("out", i, value)])

    n = BufferDecl.uniform("n", 1, vyre.u32)
    scaled = Program(
        [a, n, BufferDecl.output("out", 2, vyre.u32)],
        (4, 1, 1),
        [Node.store("out", i, Expr.load("a", i) * Expr.load("n", 0))],
    )
    measured = Program(
        [BufferDecl.read("a", 0, vyre.DataType.Bytes), BufferDecl.output("out", 1, vyre.u32)],
        entry=[Node.store("out", 0, Expr.buf_len("a"))],
    )
    return {
        **{name: getattr(vyre, name) for name in ("BufferDecl", "DataType", "Expr", "Node", "Program")},
        **{"vyre": vyre, "np": np, "math": math, "i": i, "x": Expr.load("a", i), "a": a, "out": out, "data": data},
        **{"ran": ran, "stored": stored, "scaled": scaled, "measured": measured, "resident": vyre.array(data)},
    }


def run(snippet: str) -> np.ndarray:
    source = snippet if "result = " in snippet else f"result = stored({snippet})"
    found = names()
    exec(compile(source, "<snippet>", "exec"), found)
    return found["result"]


def line_at_fault(snippet: str) -> int:
    marked = [number for number, line in enumerate(snippet.splitlines(), 1) if line.endswith("# here")]
    assert len(marked) == 1 or "\n" not in snippet
    return marked[0] if marked else 1


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_wrong_use_is_told(row):
    with pytest.raises(row.error) as raised:
        run(row.wrong)
    error, text = raised.value, f"{row.problem}. Fix: {row.fix}."
    assert type(error) is row.error
    if isinstance(error, vyre.ValidationError):
        first = error.diagnostics[0]
        assert first.message == f"vyre IR validation: {text}"
        assert first.place.line == line_at_fault(row.wrong)
        return
    assert str(error) == text
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<snippet>"]
    assert lines == [line_at_fault(row.wrong)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_fix_gives_the_right_bytes(row):
    result = run(row.mended)
    assert result.tobytes() == np.array(row.expected, dtype=np.uint32).tobytes()
    assert result.dtype == np.uint32


def test_the_table_is_long_enough_and_names_each_row_once():
    assert len(ROWS) >= 40
    assert len({row.name for row in ROWS}) == len(ROWS)


def test_every_message_has_one_fix():
    assert not [row.name for row in ROWS for part in (row.problem, row.fix) if "Fix: " in part or part.endswith(".")]


def test_operators_of_the_table_are_methods_of_their_first_operand():
    """Compared with Python's own integers, on the values that the invocations have."""
    shown = {
        "i.rotl(31)": lambda k: (k << 31 | k >> 1) % TOP,
        "i.rotr(1)": lambda k: (k << 31 | k >> 1) % TOP,
        "i.min(2)": lambda k: min(k, 2),
        "i.max(2)": lambda k: max(k, 2),
        "i.abs_diff(2)": lambda k: abs(k - 2),
        "i.add(np.uint64(5))": lambda k: k + 5,
        "i.popcount()": lambda k: k.bit_count(),
        "i.clz()": lambda k: 32 - k.bit_length(),
        "i.logical_not()": lambda k: int(k == 0),
        "(i < 2).select(7, 9)": lambda k: 7 if k < 2 else 9,
        "Expr.u64(2**40 + 3).lane(0) + i": lambda k: 3 + k,
        "Expr.rotl(1, i)": lambda k: 1 << k,
        "Expr.add(left=1, right=i)": lambda k: 1 + k,
    }
    for snippet, value in shown.items():
        assert run(snippet).tolist() == [value(k) for k in range(4)], snippet
    for row in (*vyre._core._tables["binary"], *vyre._core._tables["unary"]):
        assert not isinstance(vars(Expr)[row[1]], staticmethod), row[1]
