#include "vyre/lower/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "vyre/base/assert.hpp"

namespace vyre::lower {
namespace {

// How an instruction's `imm` is written; nothing when it has none.
enum class Imm : std::uint8_t { None, Bits, Axis, Buffer, Shared, Variable, Lane };

struct OpcodeInfo {
  std::string_view name;
  Imm imm;
};

// In the order of the enumerators.
// clang-format off
constexpr OpcodeInfo kOpcodes[] = {
    {"constant", Imm::Bits},
    {"workgroup_id", Imm::Axis}, {"local_id", Imm::Axis}, {"invocation_id", Imm::Axis},
    {"length", Imm::Buffer},
    {"add", Imm::None}, {"sub", Imm::None}, {"mul", Imm::None}, {"mul_high", Imm::None},
    {"div", Imm::None}, {"mod", Imm::None},
    {"sdiv", Imm::None}, {"smod", Imm::None},
    {"and", Imm::None}, {"or", Imm::None}, {"xor", Imm::None}, {"not", Imm::None}, {"neg", Imm::None},
    {"shl", Imm::None}, {"shr", Imm::None}, {"sshr", Imm::None},
    {"min", Imm::None}, {"max", Imm::None}, {"smin", Imm::None}, {"smax", Imm::None},
    {"eq", Imm::None}, {"ne", Imm::None}, {"lt", Imm::None}, {"le", Imm::None}, {"slt", Imm::None}, {"sle", Imm::None},
    {"popcount", Imm::None}, {"reverse_bits", Imm::None},
    {"clz", Imm::None}, {"ctz", Imm::None},
    {"select", Imm::None},
    {"lane", Imm::Lane},
    {"pack", Imm::None},
    {"read", Imm::Variable}, {"write", Imm::Variable},
    {"load_buffer", Imm::Buffer}, {"store_buffer", Imm::Buffer},
    {"load_shared", Imm::Shared}, {"store_shared", Imm::Shared},
    {"atomic_add", Imm::Buffer}, {"atomic_and", Imm::Buffer}, {"atomic_or", Imm::Buffer}, {"atomic_xor", Imm::Buffer},
    {"atomic_min", Imm::Buffer}, {"atomic_max", Imm::Buffer}, {"atomic_exchange", Imm::Buffer},
    {"atomic_compare_exchange", Imm::Buffer},
    {"if", Imm::None}, {"else", Imm::None}, {"end_if", Imm::None},
    {"loop", Imm::None}, {"end_loop", Imm::None},
    {"barrier", Imm::None}, {"return", Imm::None},
};
// clang-format on
static_assert(std::size(kOpcodes) == kOpcodeCount);

const OpcodeInfo& info(Opcode op) { return kOpcodes[static_cast<std::size_t>(op)]; }

bool opens(Opcode op) { return op == Opcode::If || op == Opcode::Else || op == Opcode::Loop; }
bool closes(Opcode op) { return op == Opcode::Else || op == Opcode::EndIf || op == Opcode::EndLoop; }

}  // namespace

std::string_view name(Opcode op) { return info(op).name; }

std::uint64_t Kernel::shared_bytes() const {
  std::uint64_t bytes = 0;
  for (const SharedArray& array : shared) bytes += std::uint64_t{4} * array.lanes * array.count;
  return bytes;
}

std::vector<std::uint32_t> partners(const std::vector<Instruction>& code) {
  std::vector<std::uint32_t> partner(code.size());
  std::vector<std::uint32_t> open;
  for (std::uint32_t at = 0; at < code.size(); ++at) {
    const Opcode op = code[at].op;
    partner[at] = at;
    if (closes(op)) {
      VYRE_ASSERT(!open.empty());
      partner[open.back()] = at;
      if (op == Opcode::EndLoop) partner[at] = open.back();
      open.pop_back();
    }
    if (opens(op)) open.push_back(at);
  }
  VYRE_ASSERT(open.empty());
  return partner;
}

std::string to_text(const Kernel& kernel) {
  std::string text;
  const auto out = std::back_inserter(text);
  const ir::WorkgroupSize& size = kernel.workgroup_size;
  fmt::format_to(out, "kernel {} {} {}\n", size[0], size[1], size[2]);
  for (std::size_t slot = 0; slot < kernel.buffers.size(); ++slot) {
    const KernelBuffer& buffer = kernel.buffers[slot];
    fmt::format_to(out, "buffer b{}: {} lane{}{}{}\n", slot, buffer.lanes, buffer.lanes == 1 ? "" : "s",
                   buffer.writable ? ", writable" : "", buffer.atomic ? ", atomic" : "");
  }
  for (std::size_t array = 0; array < kernel.shared.size(); ++array) {
    fmt::format_to(out, "shared s{}: {} x {} lane{}\n", array, kernel.shared[array].count, kernel.shared[array].lanes,
                   kernel.shared[array].lanes == 1 ? "" : "s");
  }
  for (std::size_t variable = 0; variable < kernel.variables.size(); ++variable) {
    fmt::format_to(out, "variable v{}: {} lane{}\n", variable, kernel.variables[variable], kernel.variables[variable] == 1 ? "" : "s");
  }
  // A deep nesting must not make the text quadratic.
  constexpr std::size_t kMaxIndent = 32;
  std::size_t depth = 1;
  for (std::size_t at = 0; at < kernel.code.size(); ++at) {
    const Instruction& instruction = kernel.code[at];
    if (closes(instruction.op)) --depth;
    text.append(2 * std::min(depth, kMaxIndent), ' ');
    if (instruction.lanes != 0) fmt::format_to(out, "%{} = ", at);
    text += name(instruction.op);
    switch (info(instruction.op).imm) {
      case Imm::None:
        break;
      case Imm::Bits:
        fmt::format_to(out, " {}", instruction.imm);
        break;
      case Imm::Axis:
        fmt::format_to(out, " {}", "xyz"[instruction.imm]);
        break;
      case Imm::Buffer:
        fmt::format_to(out, " b{}", instruction.imm);
        break;
      case Imm::Shared:
        fmt::format_to(out, " s{}", instruction.imm);
        break;
      case Imm::Variable:
        fmt::format_to(out, " v{}", instruction.imm);
        break;
      case Imm::Lane:
        fmt::format_to(out, " {}", instruction.imm);
        break;
    }
    for (const ValueId operand : {instruction.a, instruction.b, instruction.c, instruction.d}) {
      if (operand.valid()) fmt::format_to(out, " %{}", operand.index);
    }
    text += '\n';
    if (opens(instruction.op)) ++depth;
  }
  return text;
}

}  // namespace vyre::lower
