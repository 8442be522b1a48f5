"""Runs wgpu-py: WGSL on the Vulkan device that vyre is measured on."""

from __future__ import annotations

import numpy as np
import wgpu

from kernel import ROUNDS, Contender, Kernel, Missing

SIZE = 256
# Workgroups along x; WebGPU allows 65,535.
ROW = 1 << 15

SOURCE = """
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
@compute @workgroup_size({size})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
  let i = id.x + id.y * {stride}u;
  if (i >= arrayLength(&out)) {{ return; }}
  {body}
}}
"""
BODIES = {
    "xor": "out[i] = a[i] ^ b[i];",
    "arx": f"""var x = a[i]; var y = b[i];
  for (var k = 0u; k < {ROUNDS}u; k++) {{ x = x + y; let z = y ^ x; y = (z << 7u) | (z >> 25u); }}
  out[i] = x ^ y;""",
}


def start(wanted: str) -> Contender:
    """Starts wgpu on the first Vulkan adapter whose name contains `wanted`, or the first that is no CPU for ""."""
    adapters = [adapter for adapter in wgpu.gpu.enumerate_adapters_sync() if adapter.info["backend_type"] == "Vulkan"]
    chosen = [
        adapter
        for adapter in adapters
        if (wanted in adapter.info["device"] if wanted else adapter.info["adapter_type"] != "CPU")
    ]
    if not chosen:
        raise Missing(f"wgpu found no such Vulkan adapter, but {[adapter.info['device'] for adapter in adapters]}")
    adapter = chosen[0]
    names = ("max-storage-buffer-binding-size", "max-buffer-size")
    device = adapter.request_device_sync(required_limits={name: adapter.limits[name] for name in names})

    def make(workload: str, a: np.ndarray, b: np.ndarray) -> Kernel:
        stride = ROW * SIZE
        shader = device.create_shader_module(code=SOURCE.format(size=SIZE, stride=stride, body=BODIES[workload]))
        pipeline = device.create_compute_pipeline(layout="auto", compute={"module": shader, "entry_point": "main"})
        usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
        buffers = [device.create_buffer(size=a.nbytes, usage=usage) for _ in range(3)]
        device.queue.write_buffer(buffers[0], 0, a)
        device.queue.write_buffer(buffers[1], 0, b)
        entries = [{"binding": k, "resource": {"buffer": buffer}} for k, buffer in enumerate(buffers)]
        group = device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)
        groups = -(-a.size // SIZE)
        grid = (min(groups, ROW), -(-groups // ROW), 1)

        def enqueue() -> None:
            encoder = device.create_command_encoder()
            work = encoder.begin_compute_pass()
            work.set_pipeline(pipeline)
            work.set_bind_group(0, group)
            work.dispatch_workgroups(*grid)
            work.end()
            device.queue.submit([encoder.finish()])

        # on_submitted_work_done_sync() fails in 0.32 (a callback of an older wgpu-native); a read waits as well.
        def wait() -> None:
            device.queue.read_buffer(buffers[2], 0, 4)

        def fetch() -> np.ndarray:
            return np.frombuffer(device.queue.read_buffer(buffers[2]), np.uint32)

        def whole() -> np.ndarray:
            device.queue.write_buffer(buffers[0], 0, a)
            device.queue.write_buffer(buffers[1], 0, b)
            enqueue()
            return fetch()

        return Kernel(enqueue, wait, fetch, whole)

    return Contender(f"wgpu {wgpu.__version__} on {adapter.info['device']}", make)
