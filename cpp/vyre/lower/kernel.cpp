#include "vyre/lower/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "vyre/base/assert.hpp"

namespace vyre::lower {
namespace {

template <class Array>
std::uint64_t bytes_of(const std::vector<Array>& arrays) {
  std::uint64_t bytes = 0;
  for (const Array& array : arrays) bytes += std::uint64_t{4} * array.lanes * array.count;
  return bytes;
}

}  // namespace

std::uint64_t Kernel::shared_bytes() const { return bytes_of(shared); }

std::uint64_t Kernel::private_bytes() const { return bytes_of(privates); }

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

namespace {

std::string lanes_text(std::uint32_t lanes) { return fmt::format("{} lane{}", lanes, lanes == 1 ? "" : "s"); }

void append_instruction(std::string& text, const Instruction& instruction, std::size_t at) {
  const auto out = std::back_inserter(text);
  if (instruction.lanes != 0) fmt::format_to(out, "%{} = ", at);
  if (instruction.bounded) text += "bounded ";
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
      fmt::format_to(out, " {}{}", instruction.shared ? 's' : 'b', instruction.imm);
      break;
    case Imm::Shared:
      fmt::format_to(out, " s{}", instruction.imm);
      break;
    case Imm::Private:
      fmt::format_to(out, " p{}", instruction.imm);
      break;
    case Imm::Variable:
      fmt::format_to(out, " v{}", instruction.imm);
      break;
    case Imm::Lane:
      fmt::format_to(out, " {}", instruction.imm);
      break;
  }
  for (const ValueId operand : instruction.operands()) {
    if (operand.valid()) fmt::format_to(out, " %{}", operand.index);
  }
}

}  // namespace

std::string to_text(const Kernel& kernel, std::uint32_t position) {
  std::string text;
  append_instruction(text, kernel.code[position], position);
  return text;
}

std::string to_text(const Kernel& kernel) {
  std::string text;
  const auto out = std::back_inserter(text);
  const ir::WorkgroupSize& size = kernel.workgroup_size;
  fmt::format_to(out, "kernel {} {} {}\n", size[0], size[1], size[2]);
  for (std::size_t slot = 0; slot < kernel.buffers.size(); ++slot) {
    const KernelBuffer& buffer = kernel.buffers[slot];
    const std::string_view sign = buffer.extend == ir::Extend::Sign ? "signed " : "";
    fmt::format_to(out, "buffer b{}: {}{}{}{}{}\n", slot, lanes_text(buffer.lanes),
                   buffer.narrow != 0 ? fmt::format(" of {}{} bits", sign, 8 * buffer.narrow) : "", buffer.packed ? ", packed" : "",
                   buffer.writable ? ", writable" : "", buffer.atomic ? ", atomic" : "");
  }
  for (std::size_t array = 0; array < kernel.shared.size(); ++array) {
    fmt::format_to(out, "shared s{}: {} x {}{}\n", array, kernel.shared[array].count, lanes_text(kernel.shared[array].lanes),
                   kernel.shared[array].atomic ? ", atomic" : "");
  }
  for (std::size_t array = 0; array < kernel.privates.size(); ++array) {
    fmt::format_to(out, "private p{}: {} x {}\n", array, kernel.privates[array].count, lanes_text(kernel.privates[array].lanes));
  }
  for (std::size_t variable = 0; variable < kernel.variables.size(); ++variable) {
    fmt::format_to(out, "variable v{}: {}\n", variable, lanes_text(kernel.variables[variable]));
  }
  // A deep nesting must not make the text quadratic.
  constexpr std::size_t kMaxIndent = 32;
  std::size_t depth = 1;
  for (std::size_t at = 0; at < kernel.code.size(); ++at) {
    const Instruction& instruction = kernel.code[at];
    if (closes(instruction.op)) --depth;
    text.append(2 * std::min(depth, kMaxIndent), ' ');
    append_instruction(text, instruction, at);
    text += '\n';
    if (opens(instruction.op)) ++depth;
  }
  return text;
}

}  // namespace vyre::lower
