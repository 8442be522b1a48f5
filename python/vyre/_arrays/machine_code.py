"""The machine code of a program as text, for ``vyre.lower(program, "asm")``.

The core tells the bytes and where their parts begin; capstone, an optional package, tells what instructions the bytes
are. No address is in the text: jumps go to labels, and constants and the function that is called have names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from vyre import _core
from vyre._base.refused import not_installed
from vyre.errors import LoweringError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from types import ModuleType

    from vyre._core import Program

__all__ = ["MISSING", "Instruction", "instructions_of", "listing"]

MISSING = not_installed("machine code as text", "capstone", "asm")

_JUMP = re.compile(r"0x([0-9a-f]+)")
# Offsets up to 9 are written as decimal digits.
_OF_CONSTANT = re.compile(r"\[rip ([+-]) (0x[0-9a-f]+|[0-9])\]")
_OF_CONTEXT = re.compile(r"\[r15(?: \+ (0x[0-9a-f]+|[0-9]))?\]")


class Instruction(NamedTuple):
    offset: int
    size: int
    mnemonic: str
    operands: str

    @property
    def target(self) -> int | None:
        """Where a jump or a call goes, when that is in the code."""
        jumps = self.mnemonic.startswith("j") or self.mnemonic == "call"
        found = _JUMP.fullmatch(self.operands) if jumps else None
        return int(found[1], 16) if found else None


def listing(program: Program, optimize: bool | Collection[str], instructions: str | None) -> str:
    """The text of ``vyre.lower(program, "asm")``."""
    made = _core._machine_code(program, optimize, instructions)
    name, text, width, lanes, code, parts, constants, context = made
    end = constants[0] if constants else len(code)
    found = instructions_of(code[:end])
    names = {offset: f"c{number}" for number, offset in enumerate(constants)}
    labels = _labels(found, {offset: label for offset, _, _, label in parts if label})
    lines = text.splitlines()
    shown = [
        f"; {name}: {width} lanes in a vector, {lanes} at a time; "
        f"{end} bytes of instructions, {len(code) - end} of constants",
        "; r14 is the frame, r13 the first lane of a group; [frame], [b0.words] and so on are at r15",
        ";",
        "; the program as it was lowered:",
        *(f"; {number:>4}  {line}".rstrip() for number, line in enumerate(lines, 1)),
    ]
    at = 0
    for each in found:
        while at < len(parts) and parts[at][0] <= each.offset:
            shown.extend(_heading(parts[at], lines))
            at += 1
        if each.offset in labels:
            shown.append(f"{labels[each.offset]}:")
        shown.append(f"  {each.offset:05x}  {each.mnemonic:<12} {_operands(each, labels, names, context)}".rstrip())
    if constants:
        shown += ["", "; constants", *_constants(code, names)]
    return "\n".join(shown) + "\n"


def instructions_of(code: bytes) -> list[Instruction]:
    """The instructions of all bytes, in order; ``.byte`` for what capstone does not know."""
    capstone = _capstone()
    machine = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    machine.skipdata = True
    return [Instruction(*each) for each in machine.disasm_lite(code, 0)]


def _capstone() -> ModuleType:
    try:
        import capstone
    except ImportError:
        raise LoweringError(MISSING) from None
    found: ModuleType = capstone
    return found


def _labels(found: list[Instruction], known: dict[int, str]) -> dict[int, str]:
    targets = {each.target for each in found} - {None}
    others = sorted(target for target in targets if target is not None and target not in known)
    return {**known, **{offset: f"L{number}" for number, offset in enumerate(others, 1)}}


def _heading(part: tuple[int, str, int, str], lines: list[str]) -> Iterator[str]:
    _, text, line, label = part
    if label or not text.startswith(("%", "rare: ")):
        yield ""
    yield f"; {text}" + (f"   ; line {line}: {lines[line - 1].strip()}" if line else "")


def _operands(each: Instruction, labels: dict[int, str], constants: dict[int, str], context: dict[int, str]) -> str:
    if each.target is not None:
        return labels[each.target]

    def constant(found: re.Match[str]) -> str:
        away = int(found[2], 0)
        return f"[{constants[each.offset + each.size + (away if found[1] == '+' else -away)]}]"

    def member(found: re.Match[str]) -> str:
        name = context.get(int(found[1] or "0", 0))
        return f"[{name}]" if name else found[0]

    return _OF_CONTEXT.sub(member, _OF_CONSTANT.sub(constant, each.operands))


def _constants(code: bytes, names: dict[int, str]) -> Iterator[str]:
    offsets = [*names, len(code)]
    for (offset, name), end in zip(names.items(), offsets[1:], strict=True):
        words = [f"0x{int.from_bytes(code[at : at + 4], 'little'):08x}" for at in range(offset, end, 4)]
        period = next(length for length in (1, 2, 4, 8, 16) if words == words[:length] * (len(words) // length))
        times = len(words) // period
        yield f"  {offset:05x}  {name}: {' '.join(words[:period])}" + (f" x {times}" if times > 1 else "")
