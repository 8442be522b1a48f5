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
  let v6 = params[0].x + workgroup_id.x;
  let v7 = params[1].y;
  let v8 = u32(v1 < v2);
  let v9 = select(v3, v1, v8 != 0u);
  let v10 = b0[v9];
  let v11 = select(v3, v10, v8 != 0u);
  s0[v0] = v11;
  storageBarrier();
  workgroupBarrier();
  for (var v14 = v3; v14 < v4; v14 += 1u) {
    let v15 = v5 >> v14;
    let v16 = u32(v0 < v15);
    if (v16 != 0u) {
      let v18 = s0[v0];
      let v19 = v0 + v15;
      let v20 = s0[v19];
      let v21 = v18 + v20;
      s0[v0] = v21;
    }
    storageBarrier();
    workgroupBarrier();
  }
  let v26 = u32(v0 == v3);
  if (v26 != 0u) {
    let v28 = u32(v6 < v7);
    let v29 = s0[v3];
    if (v28 != 0u) {
      b1[v6] = v29;
    }
  }
}
