"""Runs WGSL text with the wgpu package, whose naga is an outside parser, on a software GPU if there is one."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import numpy as np
import wgpu

import vyre

PARAMETERS_FIRST_LENGTH = 4  # words 0 to 2 are the id of the first workgroup
MIN_BUFFER_BYTES = 16


@functools.cache
def device() -> wgpu.GPUDevice | None:
    """A device of Vulkan's, a software one if there is a choice; None when there is none."""
    adapters = [a for a in wgpu.gpu.enumerate_adapters_sync() if a.info["backend_type"] == "Vulkan"]
    if not adapters:
        return None
    adapter = min(adapters, key=lambda a: a.info["adapter_type"] != "CPU")
    wanted = ("max-storage-buffers-per-shader-stage", "max-compute-workgroup-storage-size")
    return adapter.request_device_sync(required_limits={name: adapter.limits[name] for name in wanted})


def check(text: str) -> None:
    """Raises what naga has to say against the text."""
    device().create_shader_module(code=text)


def run_text(
    text: str,
    slots: Sequence[bytes],
    lengths: Sequence[int],
    writable: Sequence[bool],
    workgroups: tuple[int, int, int],
    first_group: tuple[int, int, int] = (0, 0, 0),
) -> list[bytes]:
    """Dispatches once.

    Args:
        slots: the bytes of each buffer, by slot; lengths: in elements; writable: which of them are ReadWrite.
        first_group: the id of the first workgroup, as when a grid is split.
    Returns: the bytes of each buffer afterwards.
    """
    gpu = device()
    parameters = np.array([*first_group, 0, *lengths], np.uint32)
    parameters.resize(-(-len(parameters) // 4) * 4)
    buffers, layout, entries = [], [], []
    for slot, content in enumerate([*slots, parameters.tobytes()]):
        is_parameters = slot == len(slots)
        # Whole vectors, whatever the element: lengths are given, the target's own are not asked.
        padded = content.ljust(max(MIN_BUFFER_BYTES, -(-len(content) // 16) * 16), b"\0")
        usage = wgpu.BufferUsage.UNIFORM if is_parameters else wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC
        buffers.append(gpu.create_buffer_with_data(data=padded, usage=usage))
        kind = "uniform" if is_parameters else "storage" if writable[slot] else "read-only-storage"
        layout.append({"binding": slot, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": kind}})
        entries.append({"binding": slot, "resource": {"buffer": buffers[-1], "offset": 0, "size": len(padded)}})
    group_layout = gpu.create_bind_group_layout(entries=layout)
    pipeline = gpu.create_compute_pipeline(
        layout=gpu.create_pipeline_layout(bind_group_layouts=[group_layout]),
        compute={"module": gpu.create_shader_module(code=text), "entry_point": "main"},
    )
    encoder = gpu.create_command_encoder()
    compute = encoder.begin_compute_pass()
    compute.set_pipeline(pipeline)
    compute.set_bind_group(0, gpu.create_bind_group(layout=group_layout, entries=entries))
    compute.dispatch_workgroups(*workgroups)
    compute.end()
    gpu.queue.submit([encoder.finish()])
    return [
        bytes(gpu.queue.read_buffer(buffer))[: len(content)] for buffer, content in zip(buffers, slots, strict=False)
    ]


def run(
    program: vyre.Program, inputs: Mapping[str, np.ndarray], workgroups: tuple[int, int, int], *, optimize: bool = True
) -> dict[str, np.ndarray]:
    """`vyre.run` by way of WGSL: the ReadWrite buffers, in the shapes and dtypes given."""
    bound = [decl for decl in program.buffers if decl.access != vyre.BufferAccess.Workgroup]
    contents, lengths = [], []
    for decl in bound:
        array = inputs[decl.name]
        if array.dtype == np.bool_:
            array = array.astype(np.uint32)
        content = array.tobytes()
        contents.append(content.ljust(-(-len(content) // 4) * 4, b"\0"))
        element = decl.element.min_bytes() or 4  # Bytes: whole words
        lengths.append(len(contents[-1]) // element)
    writable = [decl.access == vyre.BufferAccess.ReadWrite for decl in bound]
    after = run_text(vyre.lower(program, target="wgsl", optimize=optimize), contents, lengths, writable, workgroups)
    result = {}
    for decl, content, is_writable in zip(bound, after, writable, strict=True):
        if is_writable:
            given = inputs[decl.name]
            stored = np.uint32 if given.dtype == np.bool_ else given.dtype
            result[decl.name] = np.frombuffer(content, stored).astype(given.dtype).reshape(given.shape)
    return result
