"""Arrays larger than a device can bind at once: every element is its own, and nothing beyond the end is touched.

Everywhere a little larger than that (llvmpipe binds 128 MiB; SwiftShader binds as much as it ever allocates, so nothing
is to be tried there). The slow ones are for a GPU: larger than 4 GiB, where offsets of 32 bits end.
"""

from types import SimpleNamespace

import numpy as np
import pytest

import vyre
from vyre import BufferDecl, DataType, Expr, Node, Program

INDEX = Expr.gid_x()
GROUP = 256
GIB = 1 << 30
FEW = 1 << 29  # bytes; a software device needs less than a second for so many


def cases(devices):
    """(device, bytes): one for each size of array that is worth the time on a device."""
    for device in devices:
        if not device.usable:
            continue
        name = device.name.split("(")[0].strip().replace(" ", "-")
        limits = device.limits
        # A device that takes arrays by their addresses has no such limit.
        bound = limits.get("maxStorageBufferRange", FEW)
        if bound < min(FEW, limits.get("maxBufferSize", bound)):
            yield pytest.param(device, (bound + 4096) // 16 * 16, id=f"{name}-beyond-what-is-bound")
        if device.kind != "software gpu":
            for size in (5 * GIB, 8 * GIB + 16, 4 * (2**32 - 1), 16 * (2**32 - 1)):
                yield pytest.param(device, size, id=f"{name}-{size}-bytes", marks=pytest.mark.slow)


CASES = list(cases(vyre.devices())) or [
    pytest.param(None, 0, marks=pytest.mark.skip("no device here binds less than it allocates, and none is a GPU"))
]
LANES = {DataType.U32: 1, DataType.U64: 2, DataType.Vec2U32: 2, DataType.Vec4U32: 4}
NUMPY = {DataType.U64: np.uint64}
big = pytest.mark.parametrize(("device", "size"), CASES)
few_types = pytest.mark.parametrize("element", [DataType.U32, DataType.U64, DataType.Vec4U32], ids=lambda it: it.name)


def test_a_device_without_a_limit_of_what_is_bound_is_tried_beyond_4_gib():
    unlimited = SimpleNamespace(usable=True, name="Fake (0)", kind="discrete gpu", limits={"memory": 80 * GIB})
    bounded = SimpleNamespace(usable=True, name="Soft", kind="software gpu", limits={"maxStorageBufferRange": 1 << 27})
    bounded.limits["maxBufferSize"] = 1 << 30
    unusable = SimpleNamespace(usable=False, name="Old", kind="discrete gpu", limits={})
    found = [(case.values[0].name, case.values[1]) for case in cases([unlimited, bounded, unusable])]
    sizes = [5 * GIB, 8 * GIB + 16, 4 * (2**32 - 1), 16 * (2**32 - 1)]
    assert found == [*(("Fake (0)", size) for size in sizes), ("Soft", (1 << 27) + 4096)]


def empty(device, shape, dtype=np.uint32):
    """Zeros on the device, or a skipped test where it has no memory for them."""
    try:
        return vyre.empty(shape, dtype, device=device)
    except (vyre.DeviceMemoryError, vyre.CapabilityError) as error:
        pytest.skip(f"no memory for it: {error}")


def shape_of(element, size):
    count = min(size // (4 * LANES[element]), 2**32 - 1)
    return (count, LANES[element]) if element in (DataType.Vec2U32, DataType.Vec4U32) else (count,)


def scrambled(index, lane=0):
    """The value of element `index`, in Python and in a Program."""
    return (index * 2654435761 + lane) ^ (index >> 7)


def expected(element, indices):
    wide = indices.astype(np.uint64)
    lanes = [(((wide * 2654435761 + k) ^ (wide >> 7)) & 0xFFFFFFFF).astype(np.uint32) for k in range(LANES[element])]
    words = np.stack(lanes, axis=-1)
    if element is DataType.U64:
        return words.view(np.uint64).reshape(-1)
    return words.reshape(-1) if LANES[element] == 1 else words


def made(element):
    lanes = [scrambled(INDEX, k) for k in range(LANES[element])]
    return lanes[0] if len(lanes) == 1 else Expr.pack(element, lanes)


def filled(device, element, size):
    """An array whose elements are all as scrambled() says, each written by an invocation of its own."""
    shape = shape_of(element, size)
    data = empty(device, shape, NUMPY.get(element, np.uint32))
    program = Program(
        [BufferDecl.read_write("data", 0, element)], (GROUP, 1, 1), [Node.store("data", INDEX, made(element))]
    )
    program(data, workgroups=-(-shape[0] // GROUP))
    return data


def windows(count, rng):
    """The indices to look at: both ends, ends of offsets of 30, 31 and 32 bits for every element size, and others."""
    edges = [0, count, *(1 << k for k in range(24, 33))]
    places = [*edges, *rng.integers(count, size=40).tolist()]
    for place in places:
        begin, end = max(place - 2000, 0), min(place + 2000, count)
        if begin < end:
            yield slice(begin, end)


def assert_untouched(data, element, rng, changed=()):
    for window in windows(data.shape[0], rng):
        wanted = expected(element, np.arange(window.start, window.stop, dtype=np.uint64))
        for index, value in changed:
            if window.start <= index < window.stop:
                wanted[index - window.start] = value
        np.testing.assert_array_equal(data[window].numpy(), wanted, str(window))


@big
@few_types
def test_each_element_is_its_own(device, size, element, rng):
    assert_untouched(filled(device, element, size), element, rng)


@big
def test_all_elements_are_read_and_written_by_one_grid(device, size, rng):
    data = filled(device, DataType.U32, size)
    count = data.shape[0]
    program = Program(
        [BufferDecl.read_write("data", 0, vyre.u32), BufferDecl.output("sum", 1, vyre.u32)],
        (GROUP, 1, 1),
        [
            Node.let("old", Expr.load("data", INDEX)),
            Node.store("data", INDEX, Expr.var("old") + INDEX),
            # A number for each 2^16 elements, which a few invocations leave out.
            Node.if_(INDEX < Expr.buf_len("data"), [Node.let("_", Expr.atomic_add("sum", INDEX >> 16, 1))]),
        ],
    )
    sums = vyre.empty((count >> 16) + 1, device=device)
    program(data, sums, workgroups=-(-count // GROUP))
    for window in windows(count, rng):
        indices = np.arange(window.start, window.stop, dtype=np.uint64)
        wanted = expected(DataType.U32, indices) + indices.astype(np.uint32)
        np.testing.assert_array_equal(data[window].numpy(), wanted, str(window))
    counts = np.full((count >> 16) + 1, 1 << 16, np.uint32)
    counts[-1] = count & 0xFFFF
    np.testing.assert_array_equal(sums.numpy(), counts)


@big
@few_types
def test_nothing_beyond_the_end_is_read_or_written(device, size, element, rng):
    data = filled(device, element, size)
    count = data.shape[0]
    # Indices of which bytes * index is another element's offset in 32 bits are among them.
    beyond = {count, count + 1, 2**32 - 1, *((count + (1 << k)) % 2**32 for k in range(20, 32))}
    beyond = sorted(index for index in beyond if count <= index < 2**32)
    inside = [0, 1, count // 2, count - 2, count - 1, *(1 << k for k in range(25, 32) if 1 << k < count - 2)]
    at = np.array([*beyond, *inside], np.uint32)
    one = expected(element, np.array([5]))[0]
    made_one = (
        Expr.u32(int(one))
        if element is DataType.U32
        else Expr.pack(element, [scrambled(Expr.u32(5), k) for k in range(LANES[element])])
    )
    program = Program(
        [
            BufferDecl.read("at", 0, vyre.u32),
            BufferDecl.read_write("data", 1, element),
            BufferDecl.output("seen", 2, element),
        ],
        (32, 1, 1),
        [
            Node.store("seen", INDEX, Expr.load("data", Expr.load("at", INDEX))),
            Node.if_(INDEX < Expr.buf_len("at"), [Node.store("data", Expr.load("at", INDEX), made_one)]),
        ],
    )
    seen = vyre.empty((len(at), *data.shape[1:]), data.dtype, device=device)
    program(vyre.array(at, device=device), data, seen, workgroups=-(-len(at) // 32))
    wanted = expected(element, at.astype(np.uint64))
    wanted[: len(beyond)] = 0
    np.testing.assert_array_equal(seen.numpy(), wanted)
    assert_untouched(data, element, rng, changed=[(index, one) for index in inside])


@big
def test_atomics_happen_inside_and_nowhere_else(device, size, rng):
    data = filled(device, DataType.U32, size)
    count = data.shape[0]
    beyond = {count, 2**32 - 1, *((count + (1 << k)) % 2**32 for k in range(20, 32))}
    beyond = sorted(index for index in beyond if count <= index < 2**32)
    inside = [0, count - 1, *(1 << k for k in range(25, 32) if 1 << k < count - 1)]
    at = np.array([*beyond, *inside], np.uint32)
    program = Program(
        [
            BufferDecl.read("at", 0, vyre.u32),
            BufferDecl.read_write("data", 1, vyre.u32),
            BufferDecl.output("old", 2, vyre.u32),
        ],
        (32, 1, 1),
        [
            Node.if_(
                INDEX < Expr.buf_len("at"),
                [Node.store("old", INDEX, Expr.atomic_add("data", Expr.load("at", INDEX), 1000))],
            )
        ],
    )
    old = vyre.empty(len(at), device=device)
    program(vyre.array(at, device=device), data, old, workgroups=-(-len(at) // 32))
    before = expected(DataType.U32, at.astype(np.uint64))
    before[: len(beyond)] = 0
    np.testing.assert_array_equal(old.numpy(), before)
    changed = [(index, value + np.uint32(1000)) for index, value in zip(inside, before[len(beyond) :], strict=True)]
    assert_untouched(data, DataType.U32, rng, changed)


@big
def test_a_part_of_an_array_is_an_array(device, size, rng):
    data = filled(device, DataType.U32, size)
    count = data.shape[0]
    # It begins where no device binds an array.
    part = data[7:]
    program = Program(
        [BufferDecl.read("part", 0, vyre.u32), BufferDecl.output("ends", 1, vyre.u32)],
        (4, 1, 1),
        [
            Node.store("ends", INDEX, Expr.load("part", INDEX * (count - 8))),
            Node.store("ends", INDEX + 4, Expr.load("part", Expr.buf_len("part") - INDEX)),
        ],
    )
    ends = vyre.empty(8, device=device)
    program(part, ends, workgroups=1)
    inside = [(k * (count - 8)) % 2**32 for k in range(4)]
    wanted = [expected(DataType.U32, np.array([7 + at]))[0] if at < count - 7 else 0 for at in inside]
    wanted += [0, *expected(DataType.U32, np.array([count - 1, count - 2, count - 3]))]
    np.testing.assert_array_equal(ends.numpy(), wanted)


@big
def test_recorded_calls_see_what_the_calls_before_them_wrote(device, size, rng):
    data = empty(device, shape_of(DataType.U32, size))
    count = data.shape[0]
    step = Program(
        [BufferDecl.read_write("data", 0, vyre.u32)],
        (GROUP, 1, 1),
        [Node.store("data", INDEX, Expr.load("data", INDEX) * 3 + INDEX)],
    )
    with vyre.graph() as graph:
        step(data, workgroups=-(-count // GROUP))
        # It begins where no device binds an array.
        step(data[5:], workgroups=-(-count // GROUP))
    graph.replay(2)
    for window in windows(count, rng):
        index = np.arange(window.start, window.stop, dtype=np.uint64).astype(np.uint32)
        wanted = np.zeros_like(index)
        for _ in range(2):
            wanted = wanted * np.uint32(3) + index
            wanted = np.where(index < 5, wanted, wanted * np.uint32(3) + index - np.uint32(5))
        np.testing.assert_array_equal(data[window].numpy(), wanted, str(window))


# One size beyond 4 GiB is enough for the copies.
@pytest.mark.parametrize(("device", "size"), [case for case in CASES if case.values[1] <= 5 * GIB])
def test_arrays_of_the_host_may_be_as_large(device, size):
    count = size // 4
    given = np.arange(count, dtype=np.uint32)
    program = Program(
        [BufferDecl.read("given", 0, vyre.u32), BufferDecl.output("out", 1, vyre.u32)],
        (GROUP, 1, 1),
        [Node.store("out", INDEX, Expr.load("given", INDEX) * 3)],
    )
    empty(device, count)  # or nothing can be seen here
    out = vyre.run(program, {"given": given, "out": count}, -(-count // GROUP), device=device)["out"]
    given *= np.uint32(3)
    assert np.array_equal(out, given)


@pytest.mark.parametrize("device", [device for device in vyre.devices() if device.usable], ids=lambda it: it.name)
def test_an_array_that_the_device_never_gives_is_a_capability_error(device):
    program = Program([BufferDecl.read_write("data", 0, vyre.u32)], (1, 1, 1), [])
    with pytest.raises(vyre.CapabilityError) as error:
        vyre.empty(2**47, device=device)
    words = rf"{2**49} bytes of an array exceeds (maxBufferSize|the largest memory heap|the memory) of device `"
    assert error.match(words)
    assert error.match(r"`, which allows \d+. Fix: make a smaller array, or use another device.$")
    assert program(vyre.empty(4, device=device), workgroups=1).numpy().tolist() == [0, 0, 0, 0]
