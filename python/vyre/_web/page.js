"use strict";
// Runs one program with WebGPU and compares the SHA-256 of what it gives with the reference's, which is in the page.
//
// `data` is what vyre.to_html wrote: the WGSL, the buffers, the grid, the limits that the program needs, and the reference's hashes. Every
// outcome ends in one sentence of the status line, which begins with "same", "differs", "cannot run" or "failed".

const data = JSON.parse(document.getElementById("data").textContent);

const show = (state, text) => {
  const line = document.getElementById("status");
  line.dataset.state = state;
  line.textContent = text;
};

const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

// The first 32 bits of the fractional parts of roots of the first primes: `power` is 2 for square roots, 3 for cube roots (FIPS 180-4).
const sha256Constants = (count, power) => {
  const found = [];
  for (let candidate = 2n; found.length < count; candidate++) {
    let prime = true;
    for (let divisor = 2n; divisor * divisor <= candidate; divisor++) if (candidate % divisor === 0n) prime = false;
    if (!prime) continue;
    // The integer root of prime * 2^(32 * power), by bisection.
    let low = 0n;
    let high = 1n << 40n;
    while (high - low > 1n) {
      const middle = (low + high) >> 1n;
      if (middle ** BigInt(power) <= candidate << BigInt(32 * power)) low = middle;
      else high = middle;
    }
    found.push(Number(low & 0xffffffffn));
  }
  return found;
};

// SHA-256 without crypto.subtle, which pages that come over plain http do not have.
const sha256InScript = (message) => {
  const constants = sha256Constants(64, 3);
  const state = Uint32Array.from(sha256Constants(8, 2));
  const padded = new Uint8Array(Math.ceil((message.length + 9) / 64) * 64);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(message.length) * 8n);
  const words = new Uint32Array(64);
  const rotated = (word, by) => (word >>> by) | (word << (32 - by));
  for (let block = 0; block < padded.length; block += 64) {
    for (let t = 0; t < 16; t++) words[t] = view.getUint32(block + 4 * t);
    for (let t = 16; t < 64; t++) {
      const early = words[t - 15];
      const late = words[t - 2];
      const mixedEarly = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
      const mixedLate = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
      words[t] = words[t - 16] + mixedEarly + words[t - 7] + mixedLate;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let t = 0; t < 64; t++) {
      const choice = (e & f) ^ (~e & g);
      const majority = (a & b) ^ (a & c) ^ (b & c);
      const first = (h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + choice + constants[t] + words[t]) | 0;
      const second = ((rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + majority) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, k) => { state[k] += word; });
  }
  const result = new DataView(new ArrayBuffer(32));
  state.forEach((word, k) => result.setUint32(4 * k, word));
  return hexOf(new Uint8Array(result.buffer));
};

const sha256 = async (bytes) =>
  globalThis.crypto?.subtle ? hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))) : sha256InScript(bytes);

// The bytes of a buffer as numpy has them: a bool takes four bytes on a device, and one there.
const asInNumpy = (bytes, buffer) => {
  const own = bytes.subarray(0, buffer.bytes);
  return buffer.dtype === "bool" ? Uint8Array.from({ length: own.length / 4 }, (_, k) => own[4 * k]) : own;
};

const READERS = {
  bool: (view, at) => (view.getUint8(at) ? "True" : "False"),
  uint8: (view, at) => view.getUint8(at),
  int8: (view, at) => view.getInt8(at),
  uint16: (view, at) => view.getUint16(at, true),
  int16: (view, at) => view.getInt16(at, true),
  uint32: (view, at) => view.getUint32(at, true),
  int32: (view, at) => view.getInt32(at, true),
  uint64: (view, at) => view.getBigUint64(at, true),
};

const firstValues = (bytes, buffer) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = Math.min(bytes.length / buffer.itemsize, data.shown);
  const values = Array.from({ length: count }, (_, k) => READERS[buffer.dtype](view, k * buffer.itemsize));
  return values.join(" ") + (bytes.length / buffer.itemsize > count ? " …" : "");
};

// Says what is missing, or nothing when the device has it all.
const whatIsMissing = (limits) => {
  const short = Object.entries(data.limits).find(([name, needed]) => limits[name] < needed);
  return short && `the program needs ${short[0]} = ${short[1]}, and the GPU that this browser offers has ${limits[short[0]]}`;
};

// The grid in parts that fit one dispatch each: the id of the first workgroup of a part, and its counts.
const partsOf = (most) => {
  const [groupsX, groupsY, groupsZ] = data.workgroups;
  const parts = [];
  for (let z = 0; z < groupsZ; z += most) {
    for (let y = 0; y < groupsY; y += most) {
      for (let x = 0; x < groupsX; x += most) {
        const counts = [Math.min(most, groupsX - x), Math.min(most, groupsY - y), Math.min(most, groupsZ - z)];
        parts.push({ first: [x, y, z], counts });
      }
    }
  }
  return parts;
};

const filled = (device, size, usage, content) => {
  const buffer = device.createBuffer({ size, usage, mappedAtCreation: true });
  new Uint8Array(buffer.getMappedRange()).set(content);
  buffer.unmap();
  return buffer;
};

// Runs the program on an open device, and gives the bytes of each output.
const run = async (device) => {
  const module = device.createShaderModule({ code: data.wgsl });
  const wrong = (await module.getCompilationInfo()).messages.find((message) => message.type === "error");
  if (wrong) throw Object.assign(new Error(`the WGSL is refused in line ${wrong.lineNum}: ${wrong.message}`), { isCause: true });
  const storage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC;
  // Buffers are whole vectors for every element type: lengths are given, and the device's own are not asked.
  const buffers = data.buffers.map((each) =>
    filled(device, Math.max(16, Math.ceil(each.bytes / 16) * 16), storage, each.content ? bytesOf(each.content) : []));
  const kinds = [...data.buffers.map((each) => (each.written ? "storage" : "read-only-storage")), "uniform"];
  const layout = device.createBindGroupLayout({
    entries: kinds.map((type, binding) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type } })),
  });
  const pipeline = await device.createComputePipelineAsync({
    layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
    compute: { module, entryPoint: "main" },
  });
  const encoder = device.createCommandEncoder();
  for (const part of partsOf(device.limits.maxComputeWorkgroupsPerDimension)) {
    const words = new Uint32Array(Math.ceil((4 + data.lengths.length) / 4) * 4);
    words.set(part.first);
    words.set(data.lengths, 4);
    const parameters = filled(device, words.byteLength, GPUBufferUsage.UNIFORM, new Uint8Array(words.buffer));
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, device.createBindGroup({
      layout,
      entries: [...buffers, parameters].map((buffer, binding) => ({ binding, resource: { buffer } })),
    }));
    pass.dispatchWorkgroups(...part.counts);
    pass.end();
  }
  const readable = buffers.map((buffer, k) => {
    if (!data.buffers[k].written) return null;
    const copy = device.createBuffer({ size: buffer.size, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
    encoder.copyBufferToBuffer(buffer, 0, copy, 0, buffer.size);
    return copy;
  });
  device.queue.submit([encoder.finish()]);
  const results = [];
  for (const [k, copy] of readable.entries()) {
    if (!copy) continue;
    await copy.mapAsync(GPUMapMode.READ);
    results.push({ buffer: data.buffers[k], bytes: asInNumpy(new Uint8Array(copy.getMappedRange()), data.buffers[k]) });
  }
  return results;
};

// Fills the rows of the table, and gives the names of the buffers that differ from the reference.
const compared = async (results) => {
  const different = [];
  for (const { buffer, bytes } of results) {
    const row = document.getElementById(`output-${buffer.binding}`);
    const hash = await sha256(bytes);
    const same = hash === buffer.sha256;
    if (!same) different.push(buffer.name);
    row.querySelector(".here").textContent = hash;
    row.querySelector(".values").textContent = firstValues(bytes, buffer);
    row.querySelector(".verdict").textContent = same ? "same" : "differs";
    row.dataset.state = same ? "same" : "differs";
  }
  return different;
};

const start = async () => {
  const button = document.getElementById("again");
  button.disabled = true;
  show("running", "running…");
  try {
    if (!navigator.gpu) {
      const why = globalThis.isSecureContext ? "this browser has no WebGPU" : "browsers give no WebGPU to a page that comes over plain http";
      show("cannot", `cannot run: ${why}. The reference's result below holds all the same.`);
      return;
    }
    const adapter = await navigator.gpu.requestAdapter();
    if (!adapter) {
      show("cannot", "cannot run: this browser has WebGPU, and found no GPU for it. The reference's result below holds all the same.");
      return;
    }
    const missing = whatIsMissing(adapter.limits);
    if (missing) {
      show("cannot", `cannot run: ${missing}. The reference's result below holds all the same.`);
      return;
    }
    const device = await adapter.requestDevice({ requiredLimits: data.limits });
    const lost = device.lost.then((info) => { throw new Error(`the GPU was lost: ${info.message || info.reason}`); });
    device.pushErrorScope("validation");
    device.pushErrorScope("out-of-memory");
    const began = performance.now();
    const [results, raised] = await Promise.race([run(device), lost]).then((found) => [found, null], (error) => [null, error]);
    const took = performance.now() - began;
    lost.catch(() => {});
    if (raised?.isCause) throw raised;
    for (const scope of [await device.popErrorScope(), await device.popErrorScope()]) {
      if (scope) throw new Error(scope.message); // what was raised is its consequence
    }
    if (raised) throw raised;
    const different = await compared(results);
    device.destroy();
    const info = adapter.info ?? {};
    const named = [info.vendor, info.architecture, info.description].filter(Boolean).join(" ") || "a GPU without a name";
    document.getElementById("device").textContent = `${named}, ${took.toFixed(1)} ms with compilation and copies`;
    if (different.length) show("differs", `differs: ${different.join(", ")} has other bytes than the reference`);
    else show("same", "same: every byte is the reference's");
  } catch (error) {
    show("failed", `failed: ${error.message || error}`);
  } finally {
    button.disabled = false;
  }
};

document.getElementById("again").addEventListener("click", start);
start();
