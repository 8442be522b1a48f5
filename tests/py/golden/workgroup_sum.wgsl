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
  let v7 = 64u;
  let v8 = params[0].x + workgroup_id.x;
  let v9 = params[1].y;
  let v10 = u32(v1 < v2);
  let v11 = select(v3, v1, v10 != 0u);
  let v12 = b0[v11];
  let v13 = select(v3, v12, v10 != 0u);
  s0[v0] = v13;
  storageBarrier();
  workgroupBarrier();
  for (var v16 = v3; v16 < v4; v16 += 1u) {
    let v17 = v16 & v6;
    let v18 = v5 >> v17;
    let v19 = u32(v0 < v18);
    if (v19 != 0u) {
      let v21 = s0[v0];
      let v22 = v0 + v18;
      let v23 = u32(v22 < v7);
      let v24 = select(v3, v22, v23 != 0u);
      let v25 = s0[v24];
      let v26 = select(v3, v25, v23 != 0u);
      let v27 = v21 + v26;
      s0[v0] = v27;
    }
    storageBarrier();
    workgroupBarrier();
  }
  let v32 = u32(v0 == v3);
  if (v32 != 0u) {
    let v34 = u32(v8 < v9);
    let v35 = s0[v3];
    if (v34 != 0u) {
      b1[v8] = v35;
    }
  }
}
