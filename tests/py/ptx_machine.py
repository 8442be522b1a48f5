"""Interprets the PTX that vyre.lower writes, and checks what a GPU would not: every access lies in its array and is
aligned, every register is written before it is read, divisors are not zero, and all invocations meet at one barrier.

It stands on NVIDIA's description of the instructions, and knows nothing of kernels. All invocations of a workgroup go
through the code together, those that are furthest behind first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

import vyre

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

DTYPES = {"u8": np.uint8, "s8": np.int8, "u16": np.uint16, "s16": np.int16, "u32": np.uint32, "b32": np.uint32}
SHARED, LOCAL = 0x10000000, 0x20000000  # where the blocks of workgroup and private memory begin
DEAD = 2**31 - 1  # the position of an invocation that has returned
MOST_STEPS = 3_000_000


class Fault(Exception):
    """The code does what it must never do."""


@dataclass
class Instruction:
    name: list[str]
    operands: list[str]
    guard: int | None = None
    negated: bool = False
    target: int = -1  # of a branch


@dataclass
class Module:
    """What stands in a text."""

    size: tuple[int, int, int]
    shared_bytes: int
    private_bytes: int
    parameter_bytes: int
    registers: dict[str, int]
    code: list[Instruction] = field(default_factory=list)


def _one(pattern: str, text: str) -> tuple[int, ...]:
    found = re.search(pattern, text)
    return tuple(int(number) for number in found.groups()) if found else (0,) * 3


def parse(text: str) -> Module:
    module = Module(
        size=_one(r"\.reqntid (\d+), (\d+), (\d+)", text),
        shared_bytes=_one(r"Dynamic shared memory: (\d+) bytes", text)[0],
        private_bytes=_one(r"private_memory\[(\d+)\]", text)[0],
        parameter_bytes=_one(r"parameters\[(\d+)\]", text)[0],
        registers={kind: _one(rf"%{kind}<(\d+)>", text)[0] for kind in "pra"},
    )
    labels: dict[str, int] = {}
    branches = []
    for line in text[text.index("{\n") + 2 : text.rindex("}")].splitlines():
        line = line.strip()
        if line.startswith("."):
            continue
        if line.endswith(":"):
            if labels.setdefault(line[:-1], len(module.code)) != len(module.code):
                raise Fault(f"label {line} stands twice")
            continue
        found = re.fullmatch(r"(?:@(!?)%p(\d+) )?([\w.]+)(?: (.*))?;", line)
        if not found:
            raise Fault(f"not an instruction: {line}")
        negated, guard, name, operands = found.groups()
        parts = re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+", operands or "")
        module.code.append(Instruction(name.split("."), parts, int(guard) if guard else None, bool(negated)))
        if name == "bra":
            branches.append(module.code[-1])
    for branch in branches:
        branch.target = labels[branch.operands[0]]
    return module


def _signed(values: np.ndarray) -> np.ndarray:
    return values.astype(np.uint32).view(np.int32).astype(np.int64)


def _bit_count(values: np.ndarray) -> np.ndarray:
    return np.array([int(value).bit_count() for value in values], np.uint32)


def _clz(values: np.ndarray) -> np.ndarray:
    return np.array([32 - int(value).bit_length() for value in values], np.uint32)


def _brev(values: np.ndarray) -> np.ndarray:
    return np.array([int(f"{int(value):032b}"[::-1], 2) for value in values], np.uint32)


def _funnel(shift: Callable[[int, int], int]) -> Callable[..., np.ndarray]:
    def apply(low: np.ndarray, high: np.ndarray, by: np.ndarray) -> np.ndarray:
        pairs = zip(low.tolist(), high.tolist(), by.tolist(), strict=True)
        return np.array([shift(b << 32 | a, c & 31) & 0xFFFFFFFF for a, b, c in pairs], np.uint64)

    return apply


def _divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Towards zero."""
    return np.abs(a) // np.abs(b) * np.sign(a) * np.sign(b)


# By name without its width: what it gives of whole numbers, as 64-bit integers of the sign of its type.
ARITHMETIC: dict[str, Callable[..., np.ndarray]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul.lo": lambda a, b: a * b,
    "mul.hi": lambda a, b: a * b >> 32,
    "mad.lo": lambda a, b, c: a * b + c,
    "div": _divide,
    "rem": lambda a, b: a - _divide(a, b) * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "not": lambda a: ~a,
    "neg": lambda a: -a,
    "shl": lambda a, b: a << b,
    "shr": lambda a, b: a >> b,
    "min": np.minimum,
    "max": np.maximum,
    "popc": _bit_count,
    "clz": _clz,
    "brev": _brev,
    "shf.l.wrap": _funnel(lambda pair, by: pair << by >> 32),
    "shf.r.wrap": _funnel(lambda pair, by: pair >> by),
}
COMPARISONS: dict[str, Callable[..., np.ndarray]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "ge": np.greater_equal,
}
ATOMICS: dict[str, Callable[..., int]] = {
    "add": lambda old, v: old + v,
    "and": lambda old, v: old & v,
    "or": lambda old, v: old | v,
    "xor": lambda old, v: old ^ v,
    "min": min,
    "max": max,
    "exch": lambda old, v: v,
    "cas": lambda old, expected, v: v if old == expected else old,
}


@dataclass
class Array:
    """Memory that begins at an address of its own."""

    data: np.ndarray  # bytes
    writable: bool = True


class Workgroup:
    """One workgroup, from its first instruction to its last."""

    def __init__(
        self,
        module: Module,
        group: Sequence[int],
        parameters: np.ndarray,
        arrays: Mapping[int, Array],
        steps: list[int],
    ) -> None:
        x, y, z = module.size
        index = np.arange(x * y * z, dtype=np.uint32)
        self.module, self.parameters, self.arrays, self.steps = module, parameters, arrays, steps
        self.ids = {"tid.x": index % x, "tid.y": index // x % y, "tid.z": index // (x * y)}
        self.ids |= {f"ctaid.{axis}": np.full_like(index, group[k]) for k, axis in enumerate("xyz")}
        self.count = len(index)
        self.values = {
            "r": np.zeros((module.registers["r"], self.count), np.uint32),
            "p": np.zeros((module.registers["p"], self.count), bool),
            "a": np.zeros((module.registers["a"], self.count), np.uint64),
        }
        self.written = {kind: np.zeros(values.shape, bool) for kind, values in self.values.items()}
        # Neither begins as zeros on a GPU.
        self.shared = np.full(module.shared_bytes, 0xA5, np.uint8)
        self.local = np.full((self.count, module.private_bytes), 0xA5, np.uint8)
        self.at = np.zeros(self.count, np.int64)
        self.waiting = np.zeros(self.count, bool)

    def run(self) -> None:
        while True:
            ready = (self.at != DEAD) & ~self.waiting
            if not ready.any():
                if not self.waiting.any():
                    return
                if not self.waiting.all() or len(set(self.at.tolist())) != 1:
                    raise Fault("not all invocations wait at one barrier")
                self.waiting[:] = False
                continue
            at = int(self.at[ready].min())
            active = ready & (self.at == at)
            behind = ready & ~active
            self._stretch(at, active, int(self.at[behind].min()) if behind.any() else DEAD)

    def _stretch(self, at: int, active: np.ndarray, stop: int) -> None:
        """Run the active invocations until they part, wait, end, or reach those that stand at `stop`."""
        code = self.module.code
        while at < stop:
            self.steps[0] += 1
            if self.steps[0] > MOST_STEPS:
                raise Fault("it takes too many steps")
            instruction = code[at]
            at += 1
            mask = active
            if instruction.guard is not None:
                mask = active & (self._read("p", instruction.guard, active) != instruction.negated)
            if instruction.name[0] == "bra":
                if mask.sum() == active.sum():
                    at = instruction.target
                    if at >= stop or at == DEAD:
                        break
                    continue
                if mask.any():
                    self.at[active] = at
                    self.at[mask] = instruction.target
                    return
                continue
            if instruction.name[0] == "ret":
                if not mask.any():
                    continue
                self.at[active] = at
                self.at[mask] = DEAD
                return
            if instruction.name[0] == "bar":
                self.at[active] = at
                self.waiting[active] = True
                return
            if mask.any():
                self._run(instruction, mask)
        self.at[active] = at

    # --- Operands ---

    def _read(self, kind: str, number: int, mask: np.ndarray) -> np.ndarray:
        if not self.written[kind][number][mask].all():
            raise Fault(f"%{kind}{number} is read before it is written")
        return self.values[kind][number]

    def _write(self, text: str, values: np.ndarray, mask: np.ndarray) -> None:
        kind, number = text[1], int(text[2:])
        np.copyto(self.values[kind][number], values.astype(self.values[kind].dtype), where=mask)
        self.written[kind][number] |= mask

    def _operand(self, text: str, mask: np.ndarray) -> np.ndarray:
        if text[0] != "%":
            symbols = {"workgroup_memory": SHARED, "private_memory": LOCAL}
            return np.full(self.count, symbols[text] if text in symbols else int(text), np.uint64)
        if text[1:] in self.ids:
            return self.ids[text[1:]]
        return self._read(text[1], int(text[2:]), mask)

    def _numbers(self, text: str, mask: np.ndarray, is_signed: bool) -> np.ndarray:
        values = self._operand(text, mask)
        return _signed(values) if is_signed else values.astype(np.uint32).astype(np.int64)

    # --- Instructions ---

    def _run(self, instruction: Instruction, mask: np.ndarray) -> None:
        name, operands = instruction.name, instruction.operands
        kind = name[0]
        if kind in ("ld", "st", "atom"):
            return self._access(instruction, mask)
        if name[-1] == "b64" or (name[-1] == "u64" and kind in ("mul", "div", "rem")):
            return self._wide(instruction, mask)
        if kind in ("mov", "cvta"):
            return self._write(operands[0], self._operand(operands[1], mask), mask)
        if kind == "selp":
            chosen = self._operand(operands[3], mask)
            a, b = (self._operand(operand, mask) for operand in operands[1:3])
            return self._write(operands[0], np.where(chosen, a.astype(np.uint32), b.astype(np.uint32)), mask)
        if name[-1] == "pred":
            truths = [self._operand(operand, mask) for operand in operands[1:]]
            return self._write(operands[0], ~truths[0] if kind == "not" else ARITHMETIC[kind](*truths), mask)
        is_signed = name[-1] == "s32"
        if kind == "mad" and name[1] == "wide":
            a, b, c = (self._operand(operand, mask).astype(np.uint64) for operand in operands[1:])
            return self._write(operands[0], a * b + c, mask)
        numbers = [self._numbers(operand, mask, is_signed) for operand in operands[1:]]
        if kind == "setp":
            return self._write(operands[0], COMPARISONS[name[1]](*numbers), mask)
        if kind in ("div", "rem"):
            if (numbers[1][mask] == 0).any():
                raise Fault("a divisor is zero")
            if is_signed and (numbers[1][mask] == -1).any():
                raise Fault("a divisor is -1")
            numbers[1] = np.where(mask, numbers[1], 1)
        if kind in ("shl", "shr"):
            if (numbers[1][mask] > 31).any():
                raise Fault("a shift is by more than 31")
            numbers[1] = np.where(mask, numbers[1], 0)
        if kind == "mul":  # whole products need 64 bits without a sign
            numbers = [number.astype(np.uint64) for number in numbers]
        values = ARITHMETIC[".".join(name[:-1])](*numbers)
        return self._write(operands[0], values & 0xFFFFFFFF if values.dtype == np.int64 else values, mask)

    def _wide(self, instruction: Instruction, mask: np.ndarray) -> None:
        """An instruction on pairs of words, which stand in braces."""
        kind, (to, *operands) = instruction.name[0], instruction.operands
        words = [self._operand(word, mask).astype(np.uint64) for word in re.findall(r"[%\w]+", ",".join(operands))]
        if kind == "mov" and to[0] == "{":
            for k, word in enumerate(re.findall(r"[%\w]+", to)):
                self._write(word, words[0] >> np.uint64(32 * k) & np.uint64(0xFFFFFFFF), mask)
        elif kind == "mov":
            self._write(to, words[0] | words[1] << np.uint64(32), mask)
        elif kind == "mul":
            whole = [int(a) * int(b) >> 64 for a, b in zip(*words, strict=True)]
            self._write(to, np.array(whole, np.uint64), mask)
        else:
            if (words[1][mask] == 0).any():
                raise Fault("a divisor is zero")
            divisor = np.where(mask, words[1], np.uint64(1))
            self._write(to, words[0] // divisor if kind == "div" else words[0] % divisor, mask)

    def _access(self, instruction: Instruction, mask: np.ndarray) -> None:
        name, operands = instruction.name, instruction.operands
        into = operands[0 if name[0] == "st" else 1]
        found = re.fullmatch(r"\[([%\w]+)(?:\+(\d+))?\]", into)
        assert found, into
        base, offset = found[1], int(found[2] or 0)
        if "param" in name:
            width = 8 if name[-1] == "u64" else 4
            value = int.from_bytes(self.parameters[offset : offset + width].tobytes(), "little")
            if offset % width or offset + width > self.module.parameter_bytes:
                raise Fault("no such parameter")
            return self._write(operands[0], np.full(self.count, value, np.uint64), mask)
        addresses = self._operand(base, mask).astype(np.int64) + offset
        if name[-1] == "u64":
            data = self._array(instruction, addresses, mask)
            words = self._words(data, addresses, np.uint64, 1, mask)
            return self._write(operands[0], words[0], mask)
        dtype = DTYPES[name[-1]]
        if name[0] == "atom":
            return self._atomic(instruction, addresses, mask)
        vector = 4 if "v4" in name else 2 if "v2" in name else 1
        listed = operands[1 if name[0] == "st" else 0].strip("{}").split(", ")
        assert len(listed) == vector
        if name[0] == "st":
            values = [self._operand(operand, mask) for operand in listed]
        if "local" in name:
            for lane in np.flatnonzero(mask):
                part = self._range(self.local[lane], int(addresses[lane]) - LOCAL, dtype, vector)
                for k, operand in enumerate(listed):
                    if name[0] == "st":
                        part[k] = values[k][lane]
                    else:
                        one = np.zeros(self.count, bool)
                        one[lane] = True
                        self._write(operand, np.full(self.count, part[k]), one)
            return None
        data = self._array(instruction, addresses, mask)
        words = self._places(data, addresses, dtype, vector, mask)
        view = data[: len(data) // np.dtype(dtype).itemsize * np.dtype(dtype).itemsize].view(dtype)
        lanes = np.flatnonzero(mask)
        for k, operand in enumerate(listed):
            if name[0] == "st":
                view[words + k] = values[k][lanes].astype(np.uint64).astype(dtype)
            else:
                loaded = np.zeros(self.count, np.int64)
                loaded[lanes] = view[words + k]
                self._write(operand, loaded, mask)
        return None

    def _array(self, instruction: Instruction, addresses: np.ndarray, mask: np.ndarray) -> np.ndarray:
        if "shared" in instruction.name:
            return self.shared
        places = set((addresses[mask] >> 40).tolist())
        if len(places) != 1 or (place := places.pop()) not in self.arrays:
            raise Fault(f"an address of no array: {instruction}")
        array = self.arrays[place]
        if instruction.name[0] != "ld" and not array.writable:
            raise Fault("a store to an array that is only read")
        if "nc" in instruction.name and array.writable:
            raise Fault("a written array is loaded as if nobody wrote to it")
        return array.data

    def _places(
        self, data: np.ndarray, addresses: np.ndarray, dtype: type, vector: int, mask: np.ndarray
    ) -> np.ndarray:
        """The indices of what the active invocations access, checked."""
        width = np.dtype(dtype).itemsize
        offsets = addresses[mask] - SHARED if data is self.shared else addresses[mask] & (1 << 40) - 1
        if (offsets % (width * vector)).any():
            raise Fault("an access is not aligned")
        if (offsets < 0).any() or (offsets + width * vector > len(data)).any():
            raise Fault(f"an access lies outside of its array, at {offsets.max()} of {len(data)} bytes")
        return offsets // width

    def _words(self, data: np.ndarray, addresses: np.ndarray, dtype: type, vector: int, mask: np.ndarray) -> list:
        words = np.zeros(self.count, dtype)
        words[mask] = data.view(dtype)[self._places(data, addresses, dtype, vector, mask)]
        return [words]

    @staticmethod
    def _range(data: np.ndarray, offset: int, dtype: type, vector: int) -> np.ndarray:
        width = np.dtype(dtype).itemsize * vector
        if offset % width or not 0 <= offset <= len(data) - width:
            raise Fault("an access lies outside of private memory, or is not aligned")
        return data[offset : offset + width].view(dtype)

    def _atomic(self, instruction: Instruction, addresses: np.ndarray, mask: np.ndarray) -> None:
        name, operands = instruction.name, instruction.operands
        scope = ["relaxed", "cta", "shared"] if "shared" in name else ["relaxed", "gpu", "global"]
        if name[1:4] != scope:
            raise Fault(f"an atomic of another scope: {name}")
        data = self._array(instruction, addresses, mask)
        places = self._places(data, addresses, np.uint32, 1, mask)
        view = data[: len(data) // 4 * 4].view(np.uint32)
        values = [self._operand(operand, mask) for operand in operands[2:]]
        old = np.zeros(self.count, np.uint32)
        for lane, place in zip(np.flatnonzero(mask).tolist(), places.tolist(), strict=True):
            old[lane] = before = int(view[place])
            view[place] = ATOMICS[name[4]](before, *(int(value[lane]) & 0xFFFFFFFF for value in values)) & 0xFFFFFFFF
        self._write(operands[0], old, mask)


def run(
    program: vyre.Program,
    inputs: Mapping[str, np.ndarray],
    workgroups: tuple[int, int, int],
    *,
    optimize: bool | list[str] = True,
    first_group: tuple[int, int, int] = (0, 0, 0),
    counts: tuple[int, int, int] | None = None,
    ways: int = 1,
) -> dict[str, np.ndarray] | None:
    """``vyre.run`` by way of PTX: the ReadWrite buffers, in the shapes and dtypes given.

    Args:
        counts: the numbers of workgroups as they lie in memory; ``workgroups`` is then what is launched.
        ways: workgroups that are made one; the result is None where they cannot be.
    """
    made = vyre._core._ptx(program, optimize, counts is not None, ways)
    if made is None:
        return None
    module = parse(made[0])
    if module.shared_bytes != made[1]:
        raise Fault("a loader is told another size of workgroup memory")
    inside = (vyre.BufferAccess.Workgroup, vyre.BufferAccess.Private)
    bound = [decl for decl in program.buffers if decl.access not in inside]
    arrays, lengths = {}, []
    for slot, decl in enumerate(bound):
        given = inputs[decl.name]
        content = (given.astype(np.uint32) if given.dtype == np.bool_ else given).tobytes()
        element = decl.element.min_bytes()
        padded = content if element else content.ljust(-(-len(content) // 4) * 4, b"\0")  # Bytes: whole words
        lengths.append(len(content) // element if element else len(padded) // 4)
        writable = decl.access == vyre.BufferAccess.ReadWrite
        arrays[slot + 1] = Array(np.frombuffer(padded, np.uint8).copy(), writable)
    addresses = np.array([(slot + 1) << 40 for slot in range(len(bound))], np.uint64)
    if counts is not None:
        if made[2] != addresses.nbytes:
            raise Fault("a loader is told another place for the counts")
        place = len(bound) + 2
        arrays[place] = Array(np.array(counts, np.uint32).view(np.uint8), writable=False)
        addresses = np.append(addresses, np.uint64(place << 40))
    parameters = np.frombuffer(addresses.tobytes() + np.array([*first_group, *lengths], np.uint32).tobytes(), np.uint8)
    if len(parameters) > 4096:
        place = len(bound) + 1
        arrays[place] = Array(parameters, writable=False)
        parameters = np.frombuffer(np.array([place << 40], np.uint64).tobytes(), np.uint8)
    if len(parameters) != module.parameter_bytes:
        raise Fault("the block of parameters has another size")
    steps = [0]
    for z in range(workgroups[2]):
        for y in range(workgroups[1]):
            for x in range(workgroups[0]):
                Workgroup(module, (x, y, z), parameters, arrays, steps).run()
    result = {}
    for slot, decl in enumerate(bound):
        if decl.access == vyre.BufferAccess.ReadWrite:
            given = inputs[decl.name]
            stored = np.uint32 if given.dtype == np.bool_ else given.dtype
            data = arrays[slot + 1].data[: given.size * np.dtype(stored).itemsize]
            result[decl.name] = data.view(stored).astype(given.dtype).reshape(given.shape)
    return result
