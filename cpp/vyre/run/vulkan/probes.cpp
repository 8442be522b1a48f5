#include "vyre/run/vulkan/probes.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "vyre/base/error.hpp"
#include "vyre/run/vulkan/call.hpp"

namespace vyre::run::vulkan {
namespace {

// A little more than 65,535, where llvmpipe of Mesa 22.3 ends all loops.
constexpr std::uint32_t kTurns = 65600;
constexpr std::uint32_t kFactor = 1664525;
constexpr std::uint32_t kSummand = 1013904223;

// turns = data[0]; state = turns; for (i = 0; i < turns; ++i) state = state * kFactor + kSummand; data[1] = i; data[2] = state;
// The number of turns comes from memory and the state depends on each turn, so that no compiler can do without the loop.
// clang-format off
constexpr std::uint32_t kLoopWords[] = {
    0x07230203, 0x00010500, 0, 32, 0,  // magic, SPIR-V 1.5, generator, bound, schema
    2 << 16 | 17, 1,  // OpCapability Shader
    3 << 16 | 14, 0, 1,  // OpMemoryModel Logical GLSL450
    6 << 16 | 15, 5, 1, 0x6E69616D, 0, 2,  // OpEntryPoint GLCompute %1 "main" %2
    6 << 16 | 16, 1, 17, 1, 1, 1,  // OpExecutionMode %1 LocalSize 1 1 1
    4 << 16 | 71, 3, 6, 4,  // OpDecorate %3 ArrayStride 4
    5 << 16 | 72, 4, 0, 35, 0,  // OpMemberDecorate %4 0 Offset 0
    3 << 16 | 71, 4, 2,  // OpDecorate %4 Block
    4 << 16 | 71, 2, 34, 0,  // OpDecorate %2 DescriptorSet 0
    4 << 16 | 71, 2, 33, 0,  // OpDecorate %2 Binding 0
    2 << 16 | 19, 5,  // %5 = OpTypeVoid
    2 << 16 | 20, 6,  // %6 = OpTypeBool
    4 << 16 | 21, 7, 32, 0,  // %7 = OpTypeInt 32 0
    3 << 16 | 33, 8, 5,  // %8 = OpTypeFunction %5
    3 << 16 | 29, 3, 7,  // %3 = OpTypeRuntimeArray %7
    3 << 16 | 30, 4, 3,  // %4 = OpTypeStruct %3
    4 << 16 | 32, 9, 12, 4,  // %9 = OpTypePointer StorageBuffer %4
    4 << 16 | 32, 10, 12, 7,  // %10 = OpTypePointer StorageBuffer %7
    4 << 16 | 43, 7, 11, 0,  // %11 = OpConstant %7 0
    4 << 16 | 43, 7, 12, 1,  // %12 = OpConstant %7 1
    4 << 16 | 43, 7, 13, 2,  // %13 = OpConstant %7 2
    4 << 16 | 43, 7, 14, kFactor,  // %14 = OpConstant %7 1664525
    4 << 16 | 43, 7, 15, kSummand,  // %15 = OpConstant %7 1013904223
    4 << 16 | 59, 9, 2, 12,  // %2 = OpVariable %9 StorageBuffer
    5 << 16 | 54, 5, 1, 0, 8,  // %1 = OpFunction %5 None %8
    2 << 16 | 248, 16,  // %16 = OpLabel
    6 << 16 | 65, 10, 17, 2, 11, 11,  // %17 = OpAccessChain %10 %2 %11 %11
    4 << 16 | 61, 7, 18, 17,  // %18 = OpLoad %7 %17
    2 << 16 | 249, 19,  // OpBranch %19
    2 << 16 | 248, 19,  // %19 = OpLabel
    7 << 16 | 245, 7, 20, 11, 16, 21, 22,  // %20 = OpPhi %7 %11 %16 %21 %22
    7 << 16 | 245, 7, 23, 18, 16, 24, 22,  // %23 = OpPhi %7 %18 %16 %24 %22
    4 << 16 | 246, 25, 22, 0,  // OpLoopMerge %25 %22 None
    2 << 16 | 249, 26,  // OpBranch %26
    2 << 16 | 248, 26,  // %26 = OpLabel
    5 << 16 | 176, 6, 27, 20, 18,  // %27 = OpULessThan %6 %20 %18
    4 << 16 | 250, 27, 28, 25,  // OpBranchConditional %27 %28 %25
    2 << 16 | 248, 28,  // %28 = OpLabel
    5 << 16 | 132, 7, 29, 23, 14,  // %29 = OpIMul %7 %23 %14
    5 << 16 | 128, 7, 24, 29, 15,  // %24 = OpIAdd %7 %29 %15
    5 << 16 | 128, 7, 21, 20, 12,  // %21 = OpIAdd %7 %20 %12
    2 << 16 | 249, 22,  // OpBranch %22
    2 << 16 | 248, 22,  // %22 = OpLabel
    2 << 16 | 249, 19,  // OpBranch %19
    2 << 16 | 248, 25,  // %25 = OpLabel
    6 << 16 | 65, 10, 30, 2, 11, 12,  // %30 = OpAccessChain %10 %2 %11 %12
    3 << 16 | 62, 30, 20,  // OpStore %30 %20
    6 << 16 | 65, 10, 31, 2, 11, 13,  // %31 = OpAccessChain %10 %2 %11 %13
    3 << 16 | 62, 31, 23,  // OpStore %31 %23
    1 << 16 | 253,  // OpReturn
    1 << 16 | 56,  // OpFunctionEnd
};
// clang-format on

Probes try_out(Device& device) {
  Shader shader;
  shader.words.assign(std::begin(kLoopWords), std::end(kLoopWords));
  shader.buffer_count = 1;
  shader.writable = {true};
  shader.names = {"probe"};
  std::uint32_t data[] = {kTurns, 0, 0, 0};
  const BufferView view{std::as_writable_bytes(std::span(data)), 4};
  run_call(device, device.pipeline(shader), {&view, 1}, {}, {});

  std::uint32_t state = kTurns;
  for (std::uint32_t turn = 0; turn < kTurns; ++turn) state = state * kFactor + kSummand;
  if (data[1] == kTurns && data[2] == state) return {};
  if (data[1] < kTurns) return {data[1]};
  throw DeviceError(fmt::format("device `{}` computes a loop of {} rounds wrongly. Fix: update its driver, or use another device.",
                                device.name(), kTurns));
}

struct Seen {
  std::mutex mutex;
  std::map<std::string, Probes> by_key;
};

// Never destroyed: a thread may still ask while the process ends.
Seen& seen() {
  static Seen* const all = new Seen;
  return *all;
}

std::optional<Probes> known(const PhysicalDevice& device) {
  const std::lock_guard lock(seen().mutex);
  const auto entry = seen().by_key.find(device.key);
  if (entry == seen().by_key.end()) return std::nullopt;
  return entry->second;
}

}  // namespace

Probes probe(Device& device) {
  if (auto probes = known(device.physical())) return *probes;
  const Probes probes = try_out(device);
  const std::lock_guard lock(seen().mutex);
  seen().by_key.emplace(device.physical().key, probes);
  return probes;
}

std::vector<std::pair<std::string, std::string>> probes_seen(const PhysicalDevice& device) {
  const auto probes = known(device);
  if (!probes) return {};
  return {{"loop_budget", probes->loop_budget ? std::to_string(*probes->loop_budget) : "none"}};
}

}  // namespace vyre::run::vulkan
