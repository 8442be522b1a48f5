"""``to_html``: a page that runs a program in a browser, with WebGPU, and compares its bytes with the reference's.

The page is one file without anything from elsewhere: ``page.html`` with ``page.css``, ``page.js`` and, as JSON, what
the script binds. A content security policy in it lets nothing but these run or load.
"""

from __future__ import annotations

import base64
import hashlib
import html
import inspect
import json
import textwrap
from functools import cache
from importlib import resources
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import _core
from vyre._arrays import inputs as _inputs
from vyre._base.calls import explain_calls
from vyre._base.refused import must_be, must_have, no_place
from vyre._base.text import shown, type_of
from vyre._base.types import NUMPY
from vyre._core import BufferAccess, Program
from vyre._kernel.call import host_call
from vyre._kernel.kernel import Kernel, Specialized
from vyre._run import lower
from vyre._tools.bound_buffers import bound_buffers
from vyre.errors import ArgumentError, CapabilityError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre._tools.bound_buffers import BoundBuffer

__all__ = ["to_html"]

_OWNER = "vyre.to_html"
_MOST_BYTES = 1 << 26  # of inputs that are not zeros: a page of some hundred megabytes opens nowhere
_SHOWN = 8  # elements of each output


def to_html(
    kernel: Kernel | Program,
    inputs: Mapping[str, Any],
    workgroups: int | Sequence[int] | None = None,
    *,
    grid: int | Sequence[int] | None = None,
    title: str | None = None,
    timeout: float | None = None,
) -> str:
    """Make a page that runs one call in a browser, by WebGPU, and compares the bytes with the reference's.

    The page is one file that works from a disk and without a network: the program as WGSL, the inputs, and the SHA-256
    of what the reference gives. It shows both hashes of each output, and says in one sentence whether they are the
    same, or why the browser cannot run the program: it has no WebGPU, found no GPU, or its GPU lacks a limit.

    Args:
        kernel: a kernel, what its ``specialize`` gives, or a Program.
        inputs: the arguments of the call by name, as the kernel or ``vyre.run`` takes them; those that ``specialize``
            has chosen are left out. At most 64 MiB that are not zeros, because the page holds them.
        workgroups, grid: as for the call; a Program has no ``grid``.
        title: the heading. None takes the kernel's name.
        timeout: seconds that the run on the reference may take.

    Returns: the text of the page. Everything that comes from the program or the inputs is escaped in it.

    Raises: what the call raises for its arguments, ArgumentError, CapabilityError for larger inputs, LoweringError.

    >>> import numpy as np
    >>> import vyre
    >>> @vyre.kernel
    ... def squares(a: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]):
    ...     i = vyre.gid(0)
    ...     out[i] = a[i] * a[i]
    >>> page = to_html(squares, {"a": np.arange(100, dtype=np.uint32)})
    >>> hashlib.sha256((np.arange(100, dtype=np.uint32) ** 2).tobytes()).hexdigest() in page
    True
    """
    named = _inputs.named(inputs, _OWNER)
    if isinstance(kernel, Specialized):
        _refuse_constants(kernel, named)
    program, arguments, counts = _call(kernel, named, workgroups, grid)
    groups = _core._grid(counts, _OWNER)
    # A run of no workgroups gives the written buffers as they begin, and refuses inputs that do not fit.
    before = _core._run(program, arguments, (0, 1, 1), "reference", None, None, None, None, _OWNER)
    bound = bound_buffers(program, {**_read_only(program, arguments), **before})
    size = sum(len(each.content) for each in bound if any(each.content))
    if size > _MOST_BYTES:
        raise must_have(
            f"the inputs of {_OWNER}", f"at most {_MOST_BYTES} bytes that are not zeros", size, CapabilityError
        )
    if not before:
        raise ArgumentError(
            f"argument `kernel` of {_OWNER} must write a buffer: the page compares what is written. "
            "Fix: write a result to an Out array."
        )
    wgsl = lower(program, "wgsl")
    after = _core._run(program, arguments, groups, "reference", None, timeout, None, None, _OWNER)
    name = getattr(kernel, "__name__", None) or "a program"
    heading = name if title is None else title
    if not isinstance(heading, str):
        raise must_be(f"argument `title` of {_OWNER}", "a str or None", shown(title))
    page = _page(heading, kernel, program, bound, after, groups, wgsl)
    # A lone surrogate, of a title or a docstring, is no character that a file can hold.
    return page.encode("utf-8", "backslashreplace").decode()


def _refuse_constants(specialized: Specialized, inputs: dict[str, Any]) -> None:
    """Refuse arguments that have their values already."""
    for name in specialized._chosen_constants:
        if name in inputs:
            raise no_place(f"input `{name}` of {_OWNER}", "beside its value from specialize")


def _call(
    kernel: Any, inputs: dict[str, Any], workgroups: Any, grid: Any
) -> tuple[Program, Mapping[str, Any], int | Sequence[int] | None]:
    """The program, its buffers by name, and the workgroups."""
    if isinstance(kernel, Kernel):
        options = {name: value for name, value in (("workgroups", workgroups), ("grid", grid)) if value is not None}
        traced, buffers, counts = host_call(kernel, (), {**inputs, **options})
        return traced.program, buffers, counts
    if not isinstance(kernel, Program):
        raise must_be(f"argument `kernel` of {_OWNER}", "a kernel or a Program", type_of(kernel))
    if grid is not None:
        raise no_place(f"argument `grid` of {_OWNER}", "for a Program")
    return kernel, inputs, workgroups


def _read_only(program: Program, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The arrays of the buffers that are read alone, which a run has accepted."""
    found = {}
    for decl in program.buffers:
        if decl.access in (BufferAccess.ReadOnly, BufferAccess.Uniform):
            value = inputs[decl.name]
            if isinstance(value, _core.Array):
                value = value.numpy()
            elif isinstance(value, (bytes, bytearray)):
                value = np.frombuffer(value, np.uint8)
            elif not isinstance(value, np.ndarray):  # the value of a Uniform buffer
                value = np.array([value], NUMPY[decl.element][0])
            found[decl.name] = value
    return found


def _limits(program: Program, bound: list[BoundBuffer]) -> dict[str, int]:
    """Return the limits that a WebGPU device must have, by WebGPU's names."""
    x, y, z = program.workgroup_size
    largest = max([16, *(-(-len(each.content) // 16) * 16 for each in bound)])
    shared = sum(
        max(decl.count, 1) * max(decl.element.min_bytes(), 4)
        for decl in program.buffers
        if decl.access == BufferAccess.Workgroup
    )
    return {
        "maxComputeInvocationsPerWorkgroup": x * y * z,
        "maxComputeWorkgroupSizeX": x,
        "maxComputeWorkgroupSizeY": y,
        "maxComputeWorkgroupSizeZ": z,
        "maxComputeWorkgroupStorageSize": shared,
        "maxStorageBuffersPerShaderStage": len(bound),
        "maxStorageBufferBindingSize": largest,
        "maxBufferSize": largest,
    }


@cache
def _part(name: str) -> str:
    return resources.files("vyre._web").joinpath(name).read_text(encoding="utf-8")


def _policy_hash(text: str) -> str:
    """How a content security policy names a script or a style that stands in the page."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _page(
    heading: str,
    kernel: Any,
    program: Program,
    bound: list[BoundBuffer],
    after: Mapping[str, np.ndarray],
    groups: tuple[int, int, int],
    wgsl: str,
) -> str:
    hashes = {name: hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest() for name, array in after.items()}
    buffers = []
    for slot, each in enumerate(bound):
        row: dict[str, Any] = {"name": each.decl.name, "bytes": len(each.content), "written": each.is_written}
        row["content"] = base64.b64encode(each.content).decode() if any(each.content) else ""
        if each.is_written:
            array = after[each.decl.name]
            # An element of bytes is filled up to words: what numpy has may be less.
            stored = array.size * 4 if array.dtype == np.bool_ else array.nbytes
            row |= {"binding": slot, "dtype": array.dtype.name, "itemsize": array.dtype.itemsize, "bytes": stored}
            row["sha256"] = hashes[each.decl.name]
        buffers.append(row)
    data = {
        "wgsl": wgsl,
        "buffers": buffers,
        "lengths": [each.length for each in bound],
        "workgroups": groups,
        "limits": _limits(program, bound),
        "shown": _SHOWN,
    }
    # Within a script element nothing is unescaped by the browser; "<" is what could end it.
    written = json.dumps(data).replace("<", "\\u003c")
    script, style = _part("page.js"), _part("page.css")
    x, y, z = groups
    return Template(_part("page.html")).substitute(
        title=html.escape(heading),
        summary=html.escape(_summary(kernel)),
        version=html.escape(_core.__version__),
        outputs="\n".join(_output(slot, each, after, hashes) for slot, each in enumerate(bound) if each.is_written),
        buffers="\n".join(_buffer(each) for each in bound),
        grid=f"{x:,} × {y:,} × {z:,} workgroups of {' × '.join(map(str, program.workgroup_size))} invocations",
        sources="\n".join(_source(name, text) for name, text in _sources(kernel, program, wgsl)),
        data=written,
        script=script,
        style=style,
        script_hash=_policy_hash(script),
        style_hash=_policy_hash(style),
    )


def _summary(kernel: Any) -> str:
    described = inspect.getdoc(kernel) if isinstance(kernel, Kernel) else None
    return (described or "").strip().partition("\n")[
        0
    ] or "One call of a compute program, with inputs that the page holds."


def _output(slot: int, buffer: BoundBuffer, after: Mapping[str, np.ndarray], hashes: Mapping[str, str]) -> str:
    name = buffer.decl.name
    flat = after[name].reshape(-1)
    values = " ".join(str(value) for value in flat[:_SHOWN].tolist()) + (" …" if flat.size > _SHOWN else "")
    return (
        f'<tbody>\n<tr><th rowspan="2" scope="rowgroup">{html.escape(name)}</th><td>the reference</td>'
        f'<td class="hash">{hashes[name]}</td><td>{html.escape(values)}</td></tr>\n'
        f'<tr id="output-{slot}"><td>this browser <span class="verdict"></span></td><td class="hash here">—</td>'
        '<td class="values">—</td></tr>\n</tbody>'
    )


def _buffer(buffer: BoundBuffer) -> str:
    decl = buffer.decl
    cells = (decl.name, decl.access.name, f"{buffer.length:,} × {decl.element.name}", f"{len(buffer.content):,} B")
    return "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>"


def _sources(kernel: Any, program: Program, wgsl: str) -> list[tuple[str, str]]:
    found = [("program", program.to_text()), ("WGSL", wgsl)]
    if isinstance(kernel, Kernel):
        try:
            found.insert(0, ("kernel", textwrap.dedent(inspect.getsource(kernel.__wrapped__))))  # type: ignore[attr-defined]
        except (OSError, TypeError):  # it was typed where no source is kept
            pass
    return found


def _source(name: str, text: str) -> str:
    return f"<details><summary>{name}</summary><pre>{html.escape(text)}</pre></details>"


explain_calls(globals(), "vyre")
