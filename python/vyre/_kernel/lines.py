"""Which lines of a kernel's source ran in a call: a mark in each line, which the reference stores.

The kernel is rewritten once more with a mark before every statement of its own and of the helpers that it calls. A mark
stores a one into the element of a buffer that stands for its line, so that a line counts as run when an invocation came
by, and not because the kernel was compiled. All invocations store the same, and the reference runs them one by one.
Those beyond the grid do not count, but for kernels with a barrier, which run in whole workgroups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from vyre._core import Array, BufferDecl, DataType, Node
from vyre._kernel.call import call
from vyre._kernel.trace import RECORDS, Traced

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vyre._kernel.kernel import Kernel
    from vyre._kernel.tracer import Tracer

__all__ = ["Line", "Marks", "lines_of_call", "marked"]

Line = tuple[str, int]
"""A file and a line in it."""


class Marks:
    """Stands in the Tracer's place for the rewritten function, and stores where a statement begins."""

    marks_lines: ClassVar[bool] = True

    def __init__(self) -> None:
        self.lines: dict[Line, int] = {}  # each with the element that stands for it

    def begin(self, tracer: Tracer, is_traced: Callable[[object], bool]) -> None:
        self._tracer = tracer
        tracer.view = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tracer, name)

    def line(self, file: str, line: int) -> None:
        if not self._tracer.dead:
            element = self.lines.setdefault((file, line), len(self.lines))
            self._tracer.effect(Node.store(RECORDS, element, 1))

    def buffers(self, binding: int) -> list[BufferDecl]:
        return [BufferDecl.read_write(RECORDS, binding, DataType.U32)]

    def seen(self, words: np.ndarray) -> set[Line]:
        """The lines whose marks were stored."""
        return {line for line, word in zip(self.lines, words.tolist(), strict=False) if word}


def marked(kernel: Kernel, constants: Mapping[str, Any]) -> tuple[Traced, Marks]:
    """The kernel with its marks, whose buffer is the last of the tables."""
    marks = Marks()
    made = kernel._traced_anew(kernel._definition.marked(), constants, marks)
    made.tables[RECORDS] = np.zeros(max(len(marks.lines), 1), np.uint32)
    return made, marks


def lines_of_call(
    kernel: Kernel,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    marked: Callable[[Kernel, dict[str, Any]], tuple[Traced, Marks]] = marked,
) -> set[Line]:
    """The lines that a call of a kernel runs, told by a run on the reference; the arrays stay as they are.

    Args:
        kwargs: as for a call, without ``backend=``, ``device=`` and the like.
        marked: gives the kernel with its marks for its constants.

    Raises: what the call raises for its arguments.
    """
    found: set[Line] = set()

    def traced_for(constants: dict[str, Any]) -> Traced:
        made, marks = marked(kernel, constants)
        made.seen = lambda words: found.update(marks.seen(words))
        return made

    options = {name: _on_host(value) for name, value in kwargs.items()}
    for name in ("grid", "workgroups"):
        if isinstance(kwargs.get(name), Array):
            options[name] = tuple(int(each) for each in options[name])
    call(kernel, [_on_host(each) for each in args], {**options, "backend": "reference"}, traced_for)
    return found


def _on_host(value: Any) -> Any:
    """An argument that the call may write."""
    if isinstance(value, Array):
        return value.numpy()
    return value.copy() if isinstance(value, np.ndarray) else value
