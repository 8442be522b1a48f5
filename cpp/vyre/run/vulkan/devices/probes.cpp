#include "vyre/run/vulkan/devices/probes.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "vyre/base/error.hpp"
#include "vyre/base/fork.hpp"
#include "vyre/emit/spirv/emit.hpp"
#include "vyre/lower/writer.hpp"
#include "vyre/run/vulkan/calls/host_call.hpp"

namespace vyre::run::vulkan {
namespace {

// A little more than 65,535, after which llvmpipe of Mesa 22.3 ends all loops.
constexpr std::uint32_t kTurns = 65600;
constexpr std::uint32_t kFactor = 1664525;
constexpr std::uint32_t kSummand = 1013904223;

// turns = data[0]; state = turns; for (i = 0; i < turns; ++i) { state = state * kFactor + kSummand; ++count; }
// data[1] = count; data[2] = state. The number of turns comes from memory and the state depends on each turn, so that no compiler can
// remove the loop. Programs get their loops from the same emitter, so that the result holds for them too.
Shader loop() {
  using lower::Opcode;
  lower::Writer writer({1, 1, 1});
  writer.kernel().buffers = {{.lanes = 1, .writable = true}};
  const std::uint32_t state = writer.variable(1), count = writer.variable(1);
  const auto read = [&](std::uint32_t variable) { return writer.add({.op = Opcode::ReadVariable, .lanes = 1, .imm = variable}); };
  const auto write = [&](std::uint32_t variable, lower::ValueId value) {
    writer.add({.op = Opcode::WriteVariable, .imm = variable, .a = value});
  };
  const auto combine = [&](Opcode op, lower::ValueId a, std::uint32_t b) {
    return writer.add({.op = op, .lanes = 1, .a = a, .b = writer.constant(b)});
  };
  const auto store = [&](std::uint32_t index, lower::ValueId value) {
    writer.add({.op = Opcode::StoreBuffer, .imm = 0, .a = writer.constant(index), .b = value});
  };

  const lower::ValueId turns = writer.add({.op = Opcode::LoadBuffer, .lanes = 1, .imm = 0, .a = writer.constant(0)});
  write(state, turns);
  write(count, writer.constant(0));
  writer.add({.op = Opcode::Loop, .lanes = 1, .a = writer.constant(0), .b = turns});
  write(state, combine(Opcode::Add, combine(Opcode::Mul, read(state), kFactor), kSummand));
  write(count, combine(Opcode::Add, read(count), 1));
  writer.add({.op = Opcode::EndLoop});
  store(1, read(count));
  store(2, read(state));

  Shader shader;
  shader.words = spirv::emit(writer.finish());
  shader.buffer_count = 1;
  shader.writable = {true};
  shader.names = {"probe"};
  return shader;
}

Probes run_probes(Device& device) {
  std::uint32_t data[] = {kTurns, 0, 0, 0};
  const BufferView view{std::as_writable_bytes(std::span(data)), 4};
  run_host_call(device, {device.pipeline(loop()), nullptr}, {&view, 1}, {}, {});

  std::uint32_t state = kTurns;
  for (std::uint32_t turn = 0; turn < kTurns; ++turn) state = state * kFactor + kSummand;
  if (data[1] == kTurns && data[2] == state) return {};
  if (data[1] < kTurns) return {data[1]};
  throw DeviceError(fmt::format("device `{}` computes a loop of {} rounds wrongly. Fix: update its driver, or use another device.",
                                device.name(), kTurns));
}

struct Seen {
  ForkSafeMutex mutex;
  std::map<std::string, Probes> by_key;
};

// Never destroyed, because another thread may use it while the process ends.
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
  if (auto probes = known(device.context().physical())) return *probes;
  const Probes probes = run_probes(device);
  const std::lock_guard lock(seen().mutex);
  seen().by_key.emplace(device.context().physical().key, probes);
  return probes;
}

std::vector<std::pair<std::string, std::string>> probes_seen(const PhysicalDevice& device) {
  const auto probes = known(device);
  if (!probes) return {};
  return {{"loop_budget", probes->loop_budget ? std::to_string(*probes->loop_budget) : "none"}};
}

}  // namespace vyre::run::vulkan
