"""Runs programs as WGSL with the wgpu package, whose naga is an outside parser, on a software GPU if there is one."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre._base.refused import not_installed
from vyre._tools.bound_buffers import bound_buffers
from vyre.errors import CapabilityError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MIN_BUFFER_BYTES = 16
MISSING = not_installed("WGSL", "wgpu", "fuzz")


@functools.cache
def gpu() -> Any:
    """A wgpu device of Vulkan's, a software one if there is a choice; None when there is none.

    Raises: CapabilityError when wgpu is not installed.
    """
    try:
        import wgpu
    except ImportError:
        raise CapabilityError(MISSING) from None
    adapters = [a for a in wgpu.gpu.enumerate_adapters_sync() if a.info["backend_type"] == "Vulkan"]
    if not adapters:
        return None
    adapter = min(adapters, key=lambda a: a.info["adapter_type"] != "CPU")
    wanted = ("max-storage-buffers-per-shader-stage", "max-compute-workgroup-storage-size")
    return adapter.request_device_sync(required_limits={name: adapter.limits[name] for name in wanted})


def describe() -> str:
    """The device that programs run on. Raises CapabilityError when there is none."""
    if gpu() is None:
        raise CapabilityError(
            "wgpu finds no Vulkan device here. Fix: install a driver; `vyre doctor` shows what is there."
        )
    import wgpu

    info = gpu().adapter.info
    return ", ".join(text for text in (info["device"], info["description"], f"wgpu {wgpu.__version__}") if text)


def check(text: str) -> None:
    """Raises what naga has to say against the text."""
    gpu().create_shader_module(code=text)


def run_text(
    text: str,
    slots: Sequence[bytes],
    lengths: Sequence[int],
    writable: Sequence[bool],
    workgroups: tuple[int, int, int],
    first_group: tuple[int, int, int] = (0, 0, 0),
) -> list[bytes]:
    """Dispatch once.

    Args:
        slots: the bytes of each buffer, by slot; lengths: in elements; writable: which of them are ReadWrite.
        first_group: the id of the first workgroup, as when a grid is split.

    Returns: the bytes of each buffer afterwards.
    """
    import wgpu

    opened = gpu()
    parameters = np.array([*first_group, 0, *lengths], np.uint32)
    parameters.resize(-(-len(parameters) // 4) * 4)
    buffers, layout, entries = [], [], []
    for slot, content in enumerate([*slots, parameters.tobytes()]):
        is_parameters = slot == len(slots)
        # Buffers are whole vectors for every element type: lengths are given, and the target's own are not asked.
        padded = content.ljust(max(MIN_BUFFER_BYTES, -(-len(content) // 16) * 16), b"\0")
        usage = wgpu.BufferUsage.UNIFORM if is_parameters else wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC
        buffers.append(opened.create_buffer_with_data(data=padded, usage=usage))
        kind = "uniform" if is_parameters else "storage" if writable[slot] else "read-only-storage"
        layout.append({"binding": slot, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": kind}})
        entries.append({"binding": slot, "resource": {"buffer": buffers[-1], "offset": 0, "size": len(padded)}})
    group_layout = opened.create_bind_group_layout(entries=layout)
    pipeline = opened.create_compute_pipeline(
        layout=opened.create_pipeline_layout(bind_group_layouts=[group_layout]),
        compute={"module": opened.create_shader_module(code=text), "entry_point": "main"},
    )
    encoder = opened.create_command_encoder()
    compute = encoder.begin_compute_pass()
    compute.set_pipeline(pipeline)
    compute.set_bind_group(0, opened.create_bind_group(layout=group_layout, entries=entries))
    compute.dispatch_workgroups(*workgroups)
    compute.end()
    opened.queue.submit([encoder.finish()])
    return [
        bytes(opened.queue.read_buffer(buffer))[: len(content)] for buffer, content in zip(buffers, slots, strict=False)
    ]


def run(
    program: vyre.Program,
    inputs: Mapping[str, np.ndarray],
    workgroups: tuple[int, int, int],
    *,
    device: int | None = None,
    optimize: bool = True,
) -> dict[str, np.ndarray]:
    """``vyre.run`` by way of WGSL: the ReadWrite buffers, in the shapes and dtypes given.

    Args:
        device: must be None; wgpu numbers devices in a way of its own.

    Raises: CapabilityError without wgpu or a device of Vulkan's.
    """
    if device is not None:
        raise CapabilityError("WGSL runs on the device that wgpu finds. Fix: leave the device out.")
    describe()
    bound = bound_buffers(program, inputs)
    after = run_text(
        vyre.lower(program, target="wgsl", optimize=optimize),
        [each.content for each in bound],
        [each.length for each in bound],
        [each.is_written for each in bound],
        workgroups,
    )
    result = {}
    for each, content in zip(bound, after, strict=True):
        if each.is_written:
            given = inputs[each.decl.name]
            stored = np.uint32 if given.dtype == np.bool_ else given.dtype
            size = given.size * np.dtype(stored).itemsize
            result[each.decl.name] = np.frombuffer(content[:size], stored).astype(given.dtype).reshape(given.shape)
    return result
