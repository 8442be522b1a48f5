// Group 0: binding k is buffer b<k>, of at least 16 bytes; binding 3 is a uniform buffer:
// params[0].xyz is the id of the first workgroup, words 4 on are the lengths of b0, b1, ... in elements.
@group(0) @binding(0) var<storage, read> b0: array<u32>;
@group(0) @binding(1) var<storage, read> b1: array<u32>;
@group(0) @binding(2) var<storage, read_write> b2: array<u32>;
@group(0) @binding(3) var<uniform> params: array<vec4<u32>, 2>;

@compute @workgroup_size(64, 1, 1)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(local_invocation_id) local_id: vec3<u32>,
) {
  let v0 = (params[0].x + workgroup_id.x) * 64u + local_id.x;
  let v1 = params[1].z;
  let v2 = params[1].x;
  let v3 = 0u;
  let v4 = params[1].y;
  let v5 = u32(v0 < v1);
  if (v5 != 0u) {
    let v7 = u32(v0 < v2);
    let v8 = select(v3, v0, v7 != 0u);
    let v9 = b0[v8];
    let v10 = select(v3, v9, v7 != 0u);
    let v11 = u32(v0 < v4);
    let v12 = select(v3, v0, v11 != 0u);
    let v13 = b1[v12];
    let v14 = select(v3, v13, v11 != 0u);
    let v15 = v10 ^ v14;
    b2[v0] = v15;
  }
}
