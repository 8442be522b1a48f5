"""``kernel.explain()``: what a kernel became, as an object that prints and draws."""

from __future__ import annotations

import linecache
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vyre import _core
from vyre._base.calls import explain_calls
from vyre._default import place
from vyre._kernel.notes import notes_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from vyre._diagnostics import Diagnostics
    from vyre._kernel.trace import Traced

__all__ = ["DriverFact", "Explanation", "KernelAccess", "explained"]

# Names of opcodes by what they do; the others compute.
_GROUPS = {
    "loads": ("load_buffer", "load_shared", "load_private"),
    "stores": ("store_buffer", "store_shared", "store_private"),
    "barriers": ("barrier",),
    "branches": ("if", "else"),
    "loops": ("loop",),
    "selects": ("select",),
    "divisions": ("div", "mod", "sdiv", "smod"),
}
_NO_WORK = ("constant", "length", "end_if", "end_loop", "return", "break", "read", "write", "lane", "pack")


@dataclass(frozen=True)
class KernelAccess:
    """The loads, stores and atomics of one line of a kernel on one array.

    Attributes:
        buffer: the array's name.
        file, line: where in the source.
        checked: whether the index is compared with the length when it runs; otherwise it is proven to be in range.
        count: how many of them there are: loops over Python sequences are unrolled, and helpers are inlined.
    """

    buffer: str
    file: str
    line: int
    checked: bool
    count: int

    @property
    def source(self) -> str:
        """The line of the source, without the spaces around it; empty where it cannot be read."""
        return linecache.getline(self.file, self.line).strip()


@dataclass(frozen=True)
class DriverFact:
    """A fact that a device's driver tells about a compiled kernel, such as its registers, in the driver's words."""

    part: str
    name: str
    description: str
    value: str


@dataclass(frozen=True, repr=False, eq=False)
class Explanation:
    """The compiled form of a kernel; see ``Kernel.explain``. It prints, and notebooks draw it.

    Attributes:
        kernel: the kernel's name.
        workgroup_size: three counts.
        inlined: the helpers that were inlined, ``(name, file, line, how often)`` each, in the order of the first use.
        operations: the ids of the registered operations that were inlined.
        accesses: a KernelAccess for each line and array, in the order of the program.
        instructions: how many there are by what they do, in the lowered program; leaves such as ids and literals are
            not counted.
        workgroup_bytes: memory of a workgroup.
        private_bytes: memory of an invocation, beside its registers.
        backend, device: where it was compiled; the device's name.
        limits: of that device, by Vulkan's names.
        driver: a DriverFact for everything that its driver tells; none where it tells nothing.
        notes: what is probably not meant.
    """

    kernel: str
    workgroup_size: tuple[int, int, int]
    inlined: tuple[tuple[str, str, int, int], ...]
    operations: tuple[str, ...]
    accesses: tuple[KernelAccess, ...]
    instructions: dict[str, int]
    workgroup_bytes: int
    private_bytes: int
    backend: str
    device: str
    limits: dict[str, int]
    driver: tuple[DriverFact, ...]
    notes: Diagnostics

    def _sections(self) -> list[tuple[str, list[list[str]]]]:
        """Titles, each with rows of cells."""
        size = " x ".join(str(each) for each in self.workgroup_size)
        where = self.device if self.device == self.backend else f"{self.device} ({self.backend})"
        about = [["workgroup size", size], ["runs on", where]]
        about.append(["instructions", _list(_counted(count, name) for name, count in self.instructions.items())])
        limit = self.limits.get("maxComputeSharedMemorySize")
        about.append(["workgroup memory", f"{self.workgroup_bytes} bytes" + (f" of {limit}" if limit else "")])
        about.append(["private memory", f"{self.private_bytes} bytes an invocation"])
        limit = self.limits.get("maxComputeWorkGroupInvocations")
        if limit:
            count = self.workgroup_size[0] * self.workgroup_size[1] * self.workgroup_size[2]
            about.append(["invocations", f"{count} a workgroup of {limit}"])
        sections = [(self.kernel, about)]
        rows = [[name, f"{Path(file).name}:{line}", _times(times)] for name, file, line, times in self.inlined]
        rows += [[each, "operation", ""] for each in self.operations]
        if rows:
            sections.append(("inlined", rows))
        if self.accesses:
            kept = sum(each.count for each in self.accesses if each.checked)
            dropped = sum(each.count for each in self.accesses) - kept
            rows = [
                [
                    str(each.line),
                    f"{each.buffer}{f' ({each.count} times)' if each.count > 1 else ''}",
                    "checked" if each.checked else "proven",
                    each.source,
                ]
                for each in self.accesses
            ]
            sections.append((f"bounds checks: {kept} kept, {dropped} dropped", rows))
        if self.driver:
            rows = [[each.name, each.value, each.description] for each in self.driver]
            sections.append(("the driver tells", rows))
        if self.notes:
            sections.append(("notes", [[note.rule, note.message, note.hint] for note in self.notes]))
        return sections

    def __str__(self) -> str:
        lines = []
        for title, rows in self._sections():
            lines.append(title)
            widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
            for row in rows:
                cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
                lines.append(f"  {'  '.join(cells)}".rstrip())
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<vyre.Explanation of {self.kernel}>"

    def _repr_html_(self) -> str:
        from vyre._html.programs import explanation

        return explanation(self)


def explained(
    name: str,
    traced: Traced,
    backend: str | None,
    device: Any,
    optimize: bool | Collection[str] | None,
    timeout: float | None,
) -> Explanation:
    """Compile a kernel for a device, and collect what is known about the result."""
    from vyre._devices import devices

    program = traced.program
    lowered = _core._lowered(program, optimize)
    facts, where, index = _core._driver_facts(program, *place(backend, device), optimize, timeout)
    listed = next((each for each in devices() if each.backend == where and each.index == index), None)
    inlined = [
        (function.__name__, function.__code__.co_filename, function.__code__.co_firstlineno, times)
        for function, times in traced.inlined.items()
    ]
    return Explanation(
        kernel=name,
        workgroup_size=program.workgroup_size,
        inlined=tuple(inlined),
        operations=tuple(lowered["operations"]),
        accesses=tuple(
            KernelAccess(buffer, file, line, checked, count)
            for (buffer, file, line, checked), count in Counter(lowered["accesses"]).items()
        ),
        instructions=_grouped(lowered["opcodes"]),
        workgroup_bytes=lowered["workgroup_bytes"],
        private_bytes=lowered["private_bytes"],
        backend=where,
        device=listed.name if listed is not None else where,
        limits=dict(listed.limits) if listed is not None else {},
        driver=tuple(DriverFact(*fact) for fact in facts),
        notes=notes_of(program),
    )


def _grouped(opcodes: dict[str, int]) -> dict[str, int]:
    groups = {name: sum(opcodes.get(each, 0) for each in members) for name, members in _GROUPS.items()}
    groups["atomics"] = sum(count for name, count in opcodes.items() if name.startswith("atomic_"))
    ids = ("workgroup_id", "local_id", "invocation_id")
    others = sum(groups.values()) + sum(opcodes.get(each, 0) for each in (*_NO_WORK, *ids))
    computing = {"operations": sum(opcodes.values()) - others}
    return {name: count for name, count in {**computing, **groups}.items() if count}


def _list(items: Any) -> str:
    return ", ".join(items) or "none"


def _counted(count: int, name: str) -> str:
    return f"{count} {name}" if count != 1 else f"1 {'branch' if name == 'branches' else name.removesuffix('s')}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


explain_calls(globals(), "vyre")
