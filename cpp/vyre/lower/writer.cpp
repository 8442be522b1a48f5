#include "vyre/lower/writer.hpp"

#include <array>

#include "vyre/base/assert.hpp"
#include "vyre/lower/straighten.hpp"

namespace vyre::lower {
namespace {

std::array<ValueId, 4> operands(const Instruction& instruction) { return {instruction.a, instruction.b, instruction.c, instruction.d}; }

std::uint64_t pair(ValueId a, ValueId b) { return std::uint64_t{a.index} << 32 | b.index; }

}  // namespace

std::size_t Writer::Hash::operator()(const Instruction& instruction) const noexcept {
  std::uint64_t hash = static_cast<std::uint64_t>(instruction.op) << 32 | instruction.imm;
  for (const ValueId operand : operands(instruction)) hash = (hash ^ operand.index) * 0x9E3779B97F4A7C15u ^ hash >> 29;
  return hash ^ hash >> 32;
}

std::uint32_t Writer::variable(std::uint32_t lanes) {
  kernel_.variables.push_back(static_cast<std::uint8_t>(lanes));
  return static_cast<std::uint32_t>(kernel_.variables.size() - 1);
}

ValueId Writer::leaf(const Instruction& instruction) {
  const auto [known, fresh] = known_leaves_.try_emplace(instruction, ValueId{kLeaf | static_cast<std::uint32_t>(leaves_.size())});
  if (fresh) leaves_.push_back(instruction);
  return known->second;
}

ValueId Writer::zero(std::uint32_t lanes) {
  const ValueId zero = constant(0);
  if (lanes == 1) return zero;
  if (lanes == 2) return leaf({.op = Opcode::Pack, .lanes = 2, .a = zero, .b = zero});
  return leaf({.op = Opcode::Pack, .lanes = 4, .a = zero, .b = zero, .c = zero, .d = zero});
}

ValueId Writer::add(const Instruction& instruction) {
  VYRE_ASSERT(code_.size() < kLeaf);
  code_.push_back(instruction);
  return ValueId{static_cast<std::uint32_t>(code_.size() - 1)};
}

ValueId Writer::once(Opcode op, ValueId a, ValueId b, ValueId c) {
  const Instruction instruction{.op = op, .lanes = 1, .a = a, .b = b, .c = c};
  Made& made = made_[Hash()(instruction) % made_.size()];
  if (made.stretch != stretch_ || made.instruction != instruction) made = {instruction, add(instruction), stretch_};
  return made.value;
}

void Writer::assume_below(ValueId a, ValueId b) {
  assumed_.push_back(pair(a, b));
  ++assumed_count_[pair(a, b)];
}

bool Writer::is_known_below(ValueId a, ValueId b) const {
  const auto count = assumed_count_.find(pair(a, b));
  return count != assumed_count_.end() && count->second > 0;
}

void Writer::forget_assumptions(std::size_t kept) {
  while (assumed_.size() > kept) {
    --assumed_count_[assumed_.back()];
    assumed_.pop_back();
  }
}

std::optional<std::uint32_t> Writer::literal(ValueId value) const {
  const Instruction& instruction = at(value);
  return instruction.op == Opcode::Constant ? std::optional(instruction.imm) : std::nullopt;
}

void Writer::straighten() {
  if (!kernel_.variables.empty()) code_ = lower::straighten(code_, kernel_.variables);
}

Kernel Writer::finish() {
  // Who is needed: whatever has an effect, then what it is made of. A write is needed when some read of its variable is.
  constexpr std::uint32_t kNobody = ~0u;
  std::vector<std::uint32_t> last_write(kernel_.variables.size(), kNobody), write_before(code_.size(), kNobody);
  std::vector<bool> variable_needed(kernel_.variables.size()), code_needed(code_.size()), leaf_needed(leaves_.size());
  std::vector<ValueId> pending;
  const auto need = [&](ValueId value) {
    if (!value.valid()) return;
    auto&& needed = is_leaf(value) ? leaf_needed[value.index & ~kLeaf] : code_needed[value.index];
    if (needed) return;
    needed = true;
    pending.push_back(value);
  };
  for (std::uint32_t index = 0; index < code_.size(); ++index) {
    const Instruction& instruction = code_[index];
    if (instruction.op == Opcode::WriteVariable) {
      write_before[index] = last_write[instruction.imm];
      last_write[instruction.imm] = index;
    } else if (has_effect(instruction.op)) {
      need(ValueId{index});
    }
  }
  while (!pending.empty()) {
    const Instruction instruction = at(pending.back());
    pending.pop_back();
    for (const ValueId operand : operands(instruction)) need(operand);
    if (instruction.op == Opcode::ReadVariable && !variable_needed[instruction.imm]) {
      variable_needed[instruction.imm] = true;
      for (std::uint32_t write = last_write[instruction.imm]; write != kNobody; write = write_before[write]) need(ValueId{write});
    }
  }

  std::vector<std::uint32_t> new_leaf(leaves_.size()), new_code(code_.size()), new_variable(kernel_.variables.size());
  std::vector<std::uint8_t> variables;
  for (std::size_t variable = 0; variable < kernel_.variables.size(); ++variable) {
    new_variable[variable] = static_cast<std::uint32_t>(variables.size());
    if (variable_needed[variable]) variables.push_back(kernel_.variables[variable]);
  }
  kernel_.variables = std::move(variables);
  kernel_.code.clear();
  const auto take = [&](Instruction instruction, std::uint32_t& new_index) {
    for (ValueId* operand : {&instruction.a, &instruction.b, &instruction.c, &instruction.d}) {
      if (!operand->valid()) continue;
      operand->index = is_leaf(*operand) ? new_leaf[operand->index & ~kLeaf] : new_code[operand->index];
    }
    if (instruction.op == Opcode::ReadVariable || instruction.op == Opcode::WriteVariable) instruction.imm = new_variable[instruction.imm];
    new_index = static_cast<std::uint32_t>(kernel_.code.size());
    kernel_.code.push_back(instruction);
  };
  for (std::size_t index = 0; index < leaves_.size(); ++index) {
    if (leaf_needed[index]) take(leaves_[index], new_leaf[index]);
  }
  for (std::size_t index = 0; index < code_.size(); ++index) {
    if (code_needed[index]) take(code_[index], new_code[index]);
  }
  kernel_.partner = partners(kernel_.code);
  return std::move(kernel_);
}

}  // namespace vyre::lower
