// Group 0: binding k is buffer b<k>, of at least 16 bytes; binding 2 is a uniform buffer:
// params[0].xyz is the id of the first workgroup, words 4 on are the lengths of b0, b1, ... in elements.
@group(0) @binding(0) var<storage, read> b0: array<u32>;
@group(0) @binding(1) var<storage, read_write> b1: array<u32>;
@group(0) @binding(2) var<uniform> params: array<vec4<u32>, 2>;
var<workgroup> s0: array<u32, 64>;

@compute @workgroup_size(64, 1, 1)
fn main(
  @builtin(workgroup_id) workgroup_id: vec3<u32>,
  @builtin(local_invocation_id) local_id: vec3<u32>,
  @builtin(local_invocation_index) local_index: u32,
) {
  for (var k = local_index; k < 64u; k += 64u) { s0[k] = u32(); }
  workgroupBarrier();
  let v0 = local_id.x;
  let v1 = (params[0].x + workgroup_id.x) * 64u + local_id.x;
  let v2 = params[1].x;
  let v3 = 0u;
  let v4 = 6u;
  let v5 = 32u;
  let v6 = 31u;
  let v7 = params[0].x + workgroup_id.x;
  let v8 = params[1].y;
  let v9 = u32(v1 < v2);
  let v10 = select(v3, v1, v9 != 0u);
  let v11 = b0[v10];
  let v12 = select(v3, v11, v9 != 0u);
  s0[v0] = v12;
  storageBarrier();
  workgroupBarrier();
  for (var v15 = v3; v15 < v4; v15 += 1u) {
    let v16 = v15 & v6;
    let v17 = v5 >> v16;
    let v18 = u32(v0 < v17);
    if (v18 != 0u) {
      let v20 = s0[v0];
      let v21 = v0 + v17;
      let v22 = s0[v21];
      let v23 = v20 + v22;
      s0[v0] = v23;
    }
    storageBarrier();
    workgroupBarrier();
  }
  let v28 = u32(v0 == v3);
  if (v28 != 0u) {
    let v30 = u32(v7 < v8);
    let v31 = s0[v3];
    if (v30 != 0u) {
      b1[v7] = v31;
    }
  }
}
