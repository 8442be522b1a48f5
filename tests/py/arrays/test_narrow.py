"""Elements of 8 and 16 bits: on every backend, in every form, in kernels, in resident arrays, and what is refused."""

import pickle
import re

import numpy as np
import pytest

import vyre
from conftest import message, problem
from vyre import BufferDecl, DataType, Expr, Node, Program

U32, I32 = DataType.U32, DataType.I32
# The dtype of each narrow element, and the type of the values that it loads as.
NARROW = {
    DataType.U8: (np.uint8, U32),
    DataType.I8: (np.int8, I32),
    DataType.U16: (np.uint16, U32),
    DataType.I16: (np.int16, I32),
}
by_element = pytest.mark.parametrize("element", NARROW, ids=lambda element: element.name)
# Native accesses where the device has them, and words everywhere.
both_ways = pytest.mark.parametrize("optimize", [["narrow"], []], ids=["native", "words"])
i = Expr.gid_x()


def plus_seven(element: DataType) -> Program:
    """out[i] += 7, with the guard that a tail needs."""
    load, value = Expr.load("out", i), NARROW[element][1]
    total = load + (Expr.i32(7) if value is I32 else 7)
    return Program(
        [BufferDecl.output("out", 0, element)],
        (8, 1, 1),
        [Node.if_(Expr.lt(i, Expr.buf_len("out")), [Node.store("out", i, total)])],
    )


@by_element
@both_ways
def test_arithmetic_wraps_as_numpy_does(target, element, optimize, rng):
    dtype, _ = NARROW[element]
    for count in (1, 2, 3, 4, 5, 63, 64, 65, 257):
        limits = np.iinfo(dtype)
        data = rng.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True)
        got = vyre.run(plus_seven(element), {"out": data}, -(-count // 8), optimize=optimize, **target)["out"]
        assert got.dtype == dtype
        assert np.array_equal(got, data + dtype(7))


@by_element
@both_ways
def test_a_slice_begins_and_ends_at_any_element_and_its_neighbours_keep_their_bytes(target, element, optimize):
    dtype, _ = NARROW[element]
    data = (np.arange(40) * 37 + 100).astype(dtype)
    for begin in range(9):
        for count in (0, 1, 2, 3, 5, 8):
            array = vyre.array(data, **target)
            plus_seven(element)(array[begin : begin + count], workgroups=2, optimize=optimize)
            wanted = data.copy()
            wanted[begin : begin + count] += dtype(7)
            assert np.array_equal(array.numpy(), wanted), (begin, count)


@by_element
def test_neighbouring_slices_are_written_in_one_call(target, element):
    dtype, value = NARROW[element]
    program = Program(
        [BufferDecl.read_write("a", 0, element), BufferDecl.read_write("b", 1, element)],
        (4, 1, 1),
        [Node.store("a", i, Expr.cast(value, i + 1)), Node.store("b", i, Expr.cast(value, i + 101))],
    )
    array = vyre.array(np.full(9, 77, dtype), **target)
    program(array[1:4], array[4:6], workgroups=1)
    assert array.numpy().tolist() == [77, 1, 2, 3, 101, 102, 77, 77, 77]


def test_arrays_of_every_dtype_come_back_as_they_were(target):
    for dtype, _ in NARROW.values():
        limits = np.iinfo(dtype)
        data = np.array([limits.min, limits.max, 0, 1, 5], dtype)
        array = vyre.array(data, **target)
        assert array.dtype == dtype
        assert array.numpy().tolist() == data.tolist()
        assert int(array[1]) == limits.max
        assert np.array_equal(np.from_dlpack(array), data)
        array[2:4].write([limits.max, limits.min])
        assert array.numpy().tolist() == [limits.min, limits.max, limits.max, limits.min, 5]
        assert vyre.empty(3, dtype=dtype, **target).numpy().tolist() == [0, 0, 0]


def test_bytes_are_arrays_of_u8(target):
    program = Program(
        [BufferDecl.read("text", 0, DataType.U8), BufferDecl.output("out", 1, DataType.U8)],
        (1, 1, 1),
        [Node.store("out", i, Expr.load("text", Expr.buf_len("text") - 1 - i))],
    )
    assert vyre.run(program, {"text": b"stressed", "out": 8}, 8, **target)["out"].tobytes() == b"desserts"


@by_element
def test_a_uniform_element_takes_a_value(target, element):
    _, value = NARROW[element]
    program = Program(
        [BufferDecl.uniform("k", 0, element), BufferDecl.output("out", 1, value)],
        (1, 1, 1),
        [Node.store("out", 0, Expr.load("k", 0))],
    )
    least, greatest = int(np.iinfo(NARROW[element][0]).min), int(np.iinfo(NARROW[element][0]).max)
    for given in (least, 0, 1, greatest):
        assert vyre.run(program, {"k": given, "out": 1}, 1, **target)["out"].tolist() == [given]
        out = vyre.empty(1, dtype=value, **target)
        for _ in range(12):  # enough calls for a kernel of their own
            program(given, out, workgroups=1)
        assert out.numpy().tolist() == [given]
    name = np.dtype(NARROW[element][0]).name
    bytes_too = ", or bytes" if element is DataType.U8 else ""
    wants = f"wants an integer from {least} to {greatest}, or a numpy array of {name}{bytes_too}"
    said = problem(lambda: vyre.run(program, {"k": greatest + 1, "out": 1}, 1, **target), vyre.BindingError)
    assert said == f"buffer `k` ({element.name.lower()}) {wants}, got {greatest + 1} (int)."


@by_element
def test_every_form_of_a_program_keeps_them(element):
    program = Program(
        [
            BufferDecl.read("a", 0, element),
            BufferDecl.output("out", 1, element, count=9),
            BufferDecl.workgroup("shared", 4, element),
            BufferDecl.private("mine", 3, element),
        ],
        (4, 1, 1),
        [Node.store("mine", i, Expr.load("a", i)), Node.store("out", i, Expr.load("mine", i))],
    )
    assert f"buffer mine: private {element.name.lower()} count 3" in program.to_text()
    assert vyre.parse(program.to_text()) == program
    assert Program.from_bytes(program.to_bytes()) == program
    assert pickle.loads(pickle.dumps(program)) == program
    assert vyre.validate(program) == []
    assert element.min_bytes() == np.dtype(NARROW[element][0]).itemsize


def refused(nodes, declared=()):
    """The diagnostics of a program on a U8 and an I16 buffer, each as (rule and problem, hint)."""
    buffers = [BufferDecl.output("o", 0, DataType.U8), BufferDecl.read_write("a", 1, DataType.I16), *declared]
    try:
        found = vyre.validate(Program(buffers, (1, 1, 1), nodes))
    except vyre.ValidationError as error:
        found = error.diagnostics
    problems = [each.message.removeprefix("vyre IR validation: ").partition(". Fix: ")[0] for each in found]
    return [(f"{each.rule} {problem}", each.hint) for each, problem in zip(found, problems, strict=True)]


def test_mistakes_name_the_types_of_values():
    load = Expr.load("a", 0)
    assert refused([Node.store("o", 0, load)]) == [
        (
            "V028 store to buffer `o` must be `u32`, got `i32`",
            "write Expr.cast(DataType.U32, value).",
        )
    ]
    assert refused([Node.let("x", Expr.cast(DataType.U8, load))]) == [
        (
            "V012 unsupported cast from `i32` to `u8`",
            "no value has the type U8: a store to a buffer of U8 keeps the low bits.",
        )
    ]
    assert refused([Node.let("x", Expr.atomic_add("o", 0, 1))]) == [
        (
            "V014 atomic on buffer `o` with non-u32 element type `u8`",
            'declare it as BufferDecl.output("o", 0, DataType.U32).',
        )
    ]
    assert refused([], [BufferDecl.workgroup("w", 4, DataType.U8, atomic=True)]) == [
        (
            "V036 buffer `w` is declared atomic with element `u8`",
            'declare it as BufferDecl.workgroup("w", 4, DataType.U32, atomic=True).',
        )
    ]
    # Each element counts as a word.
    assert refused([], [BufferDecl.private("p", 4096, DataType.U8)]) == []
    assert [message for message, _ in refused([], [BufferDecl.private("p", 4097, DataType.U8)])] == [
        "V037 private buffers hold 16388 bytes an invocation"
    ]


I16 = "`i16` (-32768 to 32767)"


@pytest.mark.parametrize(
    ("buffer", "given", "kind"), [("o", 300, "`u8` (0 to 255)"), ("o", -1, "`u8` (0 to 255)"), ("a", 40000, I16)]
)
def test_an_integer_that_does_not_fit_is_refused(buffer, given, kind):
    said = f"V039 literal {given} does not fit {kind}"
    assert refused([Node.store(buffer, 0, given)]) == [(said, "")]


def test_no_value_and_no_operation_has_a_narrow_type():
    for call, said in {
        lambda: vyre.u8(5): "vyre.u8 is the type of elements of arrays, and no value has it. Fix: write "
        "vyre.u32(x) & 0xFF for the low 8 bits; a store into such an array keeps them by itself.",
        lambda: vyre.i16(i): "vyre.i16 is the type of elements of arrays, and no value has it. Fix: write "
        "vyre.i32(x) << 16 >> 16 for the low 16 bits; a store into such an array keeps them by itself.",
        lambda: vyre.OpSignature([U32, DataType.U16], U32): "an operation takes and gives values, and no value has the "
        "type U16, which only elements of buffers have. Fix: write DataType.U32, which such elements load as.",
        lambda: vyre.OpSignature([U32], DataType.I8): "an operation takes and gives values, and no value has the type "
        "I8, which only elements of buffers have. Fix: write DataType.I32, which such elements load as.",
    }.items():
        assert message(call, vyre.ArgumentError) == said
    x = Expr.cast(I32, Expr.load("a", 0))
    program = Program(
        [BufferDecl.read("a", 0, U32), BufferDecl.output("out", 1, I32)],
        (1, 1, 1),
        [Node.store("out", 0, x << 16 >> 16)],
    )
    out = vyre.run(program, {"a": np.array([0x1234FFFE], np.uint32), "out": 1}, 1, backend="reference")["out"]
    assert out.tolist() == [-2]


@by_element
def test_a_race_is_about_an_element_and_not_about_its_word(element):
    value = NARROW[element][1]
    own = Program([BufferDecl.output("out", 0, element)], (8, 1, 1), [Node.store("out", i, Expr.cast(value, i))])
    assert vyre.check(own, {"out": 64}, 8).reports == ()
    same = Program([BufferDecl.output("out", 0, element)], (8, 1, 1), [Node.store("out", i // 2, Expr.cast(value, i))])
    (found,) = vyre.check(same, {"out": 64}, 1).reports
    assert isinstance(found, vyre.RaceReport)
    assert (found.buffer, found.index) == ("out", 0)


def test_a_report_shows_the_element_as_it_is_stored():
    program = Program(
        [BufferDecl.output("out", 0, DataType.I8), BufferDecl.workgroup("s", 4, DataType.I8)],
        (2, 1, 1),
        [Node.store("s", 0, Expr.cast(I32, i + 0x1FE)), Node.store("out", i, Expr.load("s", 0))],
    )
    reports = vyre.check(program, {"out": 2}, 1).reports
    first = next(each for each in reports if isinstance(each, vyre.RaceReport))
    assert (first.buffer, first.first.value, first.second.value) == ("s", -2, -1)


# Kernels.


def test_kernels_read_and_write_bytes(target):
    @vyre.kernel
    def upper(text: vyre.In[vyre.u8], out: vyre.Out[vyre.u8]):
        k = vyre.gid(0)
        if k < len(text):
            c = text[k]
            out[k] = c - 32 if 97 <= c <= 122 else c

    text = bytes(range(256)) + b"some more"
    assert upper(text, **target).tobytes() == text.upper()
    assert upper(vyre.array(text, **target)).numpy().tobytes() == text.upper()


def test_kernels_have_shared_and_local_arrays_and_tables_of_them(target):
    table = np.array([3, -1, 100, -128], np.int8)

    @vyre.kernel(workgroup_size=16)
    def mixed(a: vyre.In[vyre.i16], out: vyre.Out[vyre.i16]):
        k = vyre.gid(0)
        tile = vyre.shared(vyre.u8, 16)
        mine = vyre.local(vyre.i16, [-5, 6])
        tile[vyre.lid(0)] = vyre.u32(a[k])
        vyre.barrier()
        mine[1] = mine[1] + table[vyre.lid(0) % 4]
        out[k] = vyre.i32(tile[15 - vyre.lid(0)]) + mine[0] + mine[1]

    a = (np.arange(64) * 1003 - 30000).astype(np.int16)
    lid = np.arange(64) % 16
    tile = a.astype(np.uint8).reshape(4, 16)[:, ::-1].ravel().astype(np.int64)
    mine = (6 + table[lid % 4].astype(np.int64)).astype(np.int16).astype(np.int64)
    assert np.array_equal(mixed(a, **target), (tile - 5 + mine).astype(np.int16))


def test_a_kernel_counts_bytes_into_words(target, rng):
    @vyre.kernel(workgroup_size=64)
    def histogram(data: vyre.In[vyre.u8], bins: vyre.InOut[vyre.u32]):
        k = vyre.gid(0)
        if k < len(data):
            bins.atomic_add(data[k], 1)

    data = rng.integers(0, 256, 5000, dtype=np.uint8)
    got = histogram(data, np.zeros(256, np.uint32), grid=len(data), **target)
    assert np.array_equal(got, np.bincount(data, minlength=256))


def test_wgsl_reads_and_writes_the_words():
    text = vyre.lower(plus_seven(DataType.I8), target="wgsl")
    assert re.search(r"var<storage, read_write> b0: array<atomic<u32>>;", text)
    assert re.search(r"atomicAnd\(&b0\[v\d+\]", text)
    assert re.search(r"atomicOr\(&b0\[v\d+\]", text)


def test_workgroup_memory_counts_each_element_as_a_word():
    def made(count):
        return Program(
            [BufferDecl.workgroup("s", count, DataType.U8), BufferDecl.output("out", 0, U32)],
            (1, 1, 1),
            [Node.store("out", 0, Expr.load("s", 0))],
        )

    said = message(lambda: vyre.run(made(2**26 + 1), {"out": 1}, 1, backend="reference"), vyre.CapabilityError)
    assert "268435460 bytes of workgroup memory exceeds the limit of workgroup memory of the reference" in said
