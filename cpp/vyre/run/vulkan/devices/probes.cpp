#include "vyre/run/vulkan/devices/probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

// Accesses narrow elements of `bytes` bytes. Buffer 0 has unsigned elements and is read and written, buffer 1 has signed elements and is
// read, and buffer 2 has words.
//   words[0] = narrow[0]; words[1] = signed[1]; words[2] = signed[2]; narrow[1] = words[3]
Shader narrow_accesses(std::uint32_t bytes) {
  using lower::Opcode;
  lower::Writer writer({1, 1, 1});
  writer.kernel().buffers = {{.writable = true, .narrow = bytes}, {.narrow = bytes, .extend = ir::Extend::Sign}, {.writable = true}};
  const auto load = [&](std::uint32_t buffer, std::uint32_t index) {
    return writer.add({.op = Opcode::LoadBuffer, .lanes = 1, .imm = buffer, .a = writer.constant(index)});
  };
  const auto store = [&](std::uint32_t buffer, std::uint32_t index, lower::ValueId value) {
    writer.add({.op = Opcode::StoreBuffer, .imm = buffer, .a = writer.constant(index), .b = value});
  };
  store(2, 0, load(0, 0));
  store(2, 1, load(1, 1));
  store(2, 2, load(1, 2));
  store(0, 1, load(2, 3));

  Shader shader;
  shader.words = spirv::emit(writer.finish());
  shader.buffer_count = 3;
  shader.writable = {true, false, true};
  shader.names = {"narrow", "signed", "words"};
  return shader;
}

template <class Unsigned, class Signed>
bool accesses_right(Device& device) {
  constexpr std::size_t kCount = kMinBufferBytes / sizeof(Unsigned);
  constexpr Unsigned kOnes = static_cast<Unsigned>(~Unsigned{0});
  std::array<Unsigned, kCount> narrow;
  narrow.fill(kOnes);
  narrow[0] = static_cast<Unsigned>(kOnes - 1);
  std::array<Signed, kCount> with_sign{0, -2, 3};
  std::uint32_t words[] = {0, 0, 0, 0xFFFFFF5Au};
  std::array<Unsigned, kCount> wanted = narrow;
  wanted[1] = static_cast<Unsigned>(words[3]);
  const std::array<BufferView, 3> views{BufferView{std::as_writable_bytes(std::span(narrow)), kCount},
                                        BufferView{std::as_writable_bytes(std::span(with_sign)), kCount},
                                        BufferView{std::as_writable_bytes(std::span(words)), 4}};
  run_host_call(device, {device.pipeline(narrow_accesses(sizeof(Unsigned))), nullptr}, views, {}, {});
  return narrow == wanted && words[0] == wanted[0] && words[1] == 0xFFFFFFFEu && words[2] == 3;
}

// Operands of 64 bits: the second one of each pair is a divisor.
constexpr std::array<std::uint64_t, 8> kWide = {~std::uint64_t{0}, 3, 0x123456789ABCDEF0, 0xFEDCBA987, 0xFFFFFFFF00000000,
                                                0xFFFFFFFF,        7, 0x8000000000000001};

// For each pair: wide[8 + 3 * pair] = high half of the product, then quotient, then remainder.
Shader wide_integers() {
  using lower::Opcode;
  lower::Writer writer({1, 1, 1});
  writer.kernel().buffers = {{.lanes = 2, .writable = true}};
  const auto load = [&](std::uint32_t index) {
    return writer.add({.op = Opcode::LoadBuffer, .lanes = 2, .imm = 0, .a = writer.constant(index)});
  };
  for (std::uint32_t pair = 0; pair < kWide.size() / 2; ++pair) {
    const lower::ValueId a = load(2 * pair), b = load(2 * pair + 1);
    std::uint32_t at = static_cast<std::uint32_t>(kWide.size()) + 3 * pair;
    for (const Opcode op : {Opcode::WideMulHigh, Opcode::WideDiv, Opcode::WideMod}) {
      const lower::ValueId value = writer.add({.op = op, .lanes = 2, .a = a, .b = b});
      writer.add({.op = Opcode::StoreBuffer, .imm = 0, .a = writer.constant(at++), .b = value});
    }
  }

  Shader shader;
  shader.words = spirv::emit(writer.finish());
  shader.buffer_count = 1;
  shader.writable = {true};
  shader.names = {"wide"};
  return shader;
}

bool divides_right(Device& device) {
  __extension__ using Wide = unsigned __int128;
  std::array<std::uint64_t, kWide.size() / 2 * 5> wide{};
  std::ranges::copy(kWide, wide.begin());
  std::array wanted = wide;
  std::size_t at = kWide.size();
  for (std::size_t k = 0; k < kWide.size(); k += 2) {
    const std::uint64_t a = kWide[k], b = kWide[k + 1];
    for (const std::uint64_t value : {static_cast<std::uint64_t>(Wide{a} * b >> 64), a / b, a % b}) wanted[at++] = value;
  }
  const BufferView view{std::as_writable_bytes(std::span(wide)), wide.size()};
  run_host_call(device, {device.pipeline(wide_integers()), nullptr}, {&view, 1}, {}, {});
  return wide == wanted;
}

// Whether the device does right what its driver reports. Where it does not, shaders do with words instead.
template <class Try>
bool is_right(bool reported, const Try& attempt) {
  if (!reported) return false;
  try {
    return attempt();
  } catch (const DeviceLostError&) {
    throw;
  } catch (const DeviceError&) {
    return false;
  }
}

std::optional<std::uint32_t> loop_budget(Device& device) {
  std::uint32_t data[] = {kTurns, 0, 0, 0};
  const BufferView view{std::as_writable_bytes(std::span(data)), 4};
  run_host_call(device, {device.pipeline(loop()), nullptr}, {&view, 1}, {}, {});

  const std::uint32_t turns = data[1];
  std::uint32_t state = kTurns;
  for (std::uint32_t turn = 0; turn < std::min(turns, kTurns); ++turn) state = state * kFactor + kSummand;
  if (turns == kTurns && data[2] == state) return std::nullopt;
  if (turns > 0 && turns < kTurns && data[2] == state) return turns;
  throw DeviceError(fmt::format("device `{}` computes a loop of {} turns wrongly. Fix: update its driver, or use another device.",
                                device.name(), kTurns));
}

Probes run_probes(Device& device) {
  const PhysicalDevice& physical = device.context().physical();
  return {.loop_budget = loop_budget(device),
          .accesses_8_bits = is_right(physical.storage_8_bits, [&] { return accesses_right<std::uint8_t, std::int8_t>(device); }),
          .accesses_16_bits = is_right(physical.storage_16_bits, [&] { return accesses_right<std::uint16_t, std::int16_t>(device); }),
          .integers_64_bits = is_right(physical.integers_64_bits, [&] { return divides_right(device); })};
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
  return {{"loop_budget", probes->loop_budget ? std::to_string(*probes->loop_budget) : "none"},
          {"accesses_8_bits", probes->accesses_8_bits ? "native" : "words"},
          {"accesses_16_bits", probes->accesses_16_bits ? "native" : "words"},
          {"integers_64_bits", probes->integers_64_bits ? "native" : "words"}};
}

}  // namespace vyre::run::vulkan
