// Group 0: binding k is buffer b<k>, of at least 16 bytes; binding 2 is a uniform buffer:
// params[0].xyz is the id of the first workgroup, words 4 on are the lengths of b0, b1, ... in elements.
@group(0) @binding(0) var<storage, read> b0: array<u32>;
@group(0) @binding(1) var<storage, read_write> b1: array<atomic<u32>>;
@group(0) @binding(2) var<uniform> params: array<vec4<u32>, 2>;

@compute @workgroup_size(256, 1, 1)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(local_invocation_id) local_id: vec3<u32>,
) {
  let v0 = params[1].x;
  let v1 = (params[0].x + workgroup_id.x) * 256u + local_id.x;
  let v2 = params[1].y;
  let v3 = 0u;
  let v4 = 1u;
  let v5 = u32(v0 <= v1);
  if (v5 != 0u) {
    return;
  }
  let v9 = b0[v1];
  let v10 = u32(v2 == v3);
  let v11 = select(v2, v4, v10 != 0u);
  let v12 = v9 % v11;
  let v13 = u32(v12 < v2);
  if (v13 != 0u) {
    let v15 = atomicAdd(&b1[v12], v4);
  }
}
