// The kernels in CUDA C++, built by nvcc when the benchmarks run: what a programmer without any library would write.
#include <cuda_runtime.h>

#include <cstdint>

namespace {
constexpr int kRounds = 256, kSize = 256;
std::uint32_t *left, *right, *out;
std::uint32_t length;

__global__ void xor_one(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* out, std::uint32_t n) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] ^ b[i];
}
__global__ void xor_four(const uint4* a, const uint4* b, uint4* out, std::uint32_t n) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uint4 x = a[i], y = b[i];
  out[i] = make_uint4(x.x ^ y.x, x.y ^ y.y, x.z ^ y.z, x.w ^ y.w);
}
__global__ void arx(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* out, std::uint32_t n) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  std::uint32_t x = a[i], y = b[i];
  for (int k = 0; k < kRounds; ++k) {
    x += y;
    const std::uint32_t z = y ^ x;
    y = (z << 7) | (z >> 25);
  }
  out[i] = x ^ y;
}
cudaGraphExec_t recorded;
unsigned blocks(std::uint32_t n) { return (n + kSize - 1) / kSize; }
}  // namespace

extern "C" {
// `n` words each; a multiple of four. Each returns CUDA's error, 0 for none.
int start(const void* a, const void* b, std::uint32_t n) {
  const std::size_t bytes = std::size_t{n} * 4;
  for (std::uint32_t** p : {&left, &right, &out}) {
    cudaFree(*p);
    if (const int error = cudaMalloc(p, bytes)) return error;
  }
  length = n;
  cudaMemcpy(left, a, bytes, cudaMemcpyHostToDevice);
  return cudaMemcpy(right, b, bytes, cudaMemcpyHostToDevice);
}
int run_xor_one() { return xor_one<<<blocks(length), kSize>>>(left, right, out, length), cudaGetLastError(); }
int run_xor_four() {
  xor_four<<<blocks(length / 4), kSize>>>(reinterpret_cast<const uint4*>(left), reinterpret_cast<const uint4*>(right),
                                          reinterpret_cast<uint4*>(out), length / 4);
  return cudaGetLastError();
}
int run_arx() { return arx<<<blocks(length), kSize>>>(left, right, out, length), cudaGetLastError(); }
int record_xor(int count) {
  cudaStream_t stream;
  cudaGraph_t graph;
  if (const int error = cudaStreamCreate(&stream)) return error;
  if (const int error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal)) return error;
  for (int k = 0; k < count; ++k) xor_one<<<blocks(length), kSize, 0, stream>>>(left, right, out, length);
  if (const int error = cudaStreamEndCapture(stream, &graph)) return error;
  return cudaGraphInstantiate(&recorded, graph, 0);
}
int replay() { return cudaGraphLaunch(recorded, nullptr); }
int finish() { return cudaDeviceSynchronize(); }
int give(const void* a, const void* b) {
  cudaMemcpy(left, a, std::size_t{length} * 4, cudaMemcpyHostToDevice);
  return cudaMemcpy(right, b, std::size_t{length} * 4, cudaMemcpyHostToDevice);
}
int take(void* result) { return cudaMemcpy(result, out, std::size_t{length} * 4, cudaMemcpyDeviceToHost); }
}
