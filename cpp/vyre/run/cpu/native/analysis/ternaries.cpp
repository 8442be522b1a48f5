// The search goes from the last instruction to the first, so that a root is met before the values inside of its expression. It replaces an
// operand by the operands of what computes it, the one that adds fewest first, and keeps the largest expression that has three operands at
// most. A majority of three words passes through four operands on the way.
#include "vyre/run/cpu/native/analysis/ternaries.hpp"

#include <algorithm>
#include <optional>

#include "vyre/run/cpu/kernel_reader.hpp"

namespace vyre::run::cpu::native {
namespace {

using lower::Kernel;
using lower::Opcode;
using lower::ValueId;

constexpr std::size_t kOperands = 3, kOnTheWay = 4, kMostInside = 6;
// How many instructions an expression may span. Its operands live until its root, which takes registers.
constexpr std::uint32_t kSpan = 32;

bool works_bit_by_bit(Opcode op) { return op == Opcode::And || op == Opcode::Or || op == Opcode::Xor || op == Opcode::Not; }

std::uint8_t result_of(Opcode op, std::uint8_t a, std::uint8_t b) {
  switch (op) {
    case Opcode::And:
      return a & b;
    case Opcode::Or:
      return a | b;
    case Opcode::Xor:
      return a ^ b;
    default:
      return static_cast<std::uint8_t>(~a);
  }
}

struct Expression {
  std::vector<std::uint32_t> inside;    // the positions of the values that it replaces, in descending order
  std::vector<std::uint32_t> operands;  // positions
};

class Search {
 public:
  Search(const Kernel& kernel, const std::vector<Selected>& selected, const std::vector<bool>& vectors)
      : kernel_(kernel), uses_(kernel.code.size(), 0), blocks_(basic_blocks(kernel)), open_(kernel.code.size(), false) {
    for (std::uint32_t position = 0; position < kernel.code.size(); ++position) {
      const Opcode op = kernel.code[position].op;
      for_each_operand(kernel.code[position], selected[position], [&](std::uint32_t value) { ++uses_[value]; });
      open_[position] = works_bit_by_bit(op) && selected[position] != Selected::Nothing && vectors[position];
    }
  }

  // The largest expression at a root; the values inside of it are no roots any more.
  std::optional<Ternary> at(std::uint32_t root) {
    if (!open_[root] || uses_[root] == 0) return std::nullopt;
    Expression now, best;
    add_operands(root, now.operands);
    while (now.inside.size() < kMostInside && grow(root, now)) {
      if (now.operands.size() <= kOperands) best = now;
    }
    if (best.inside.empty()) return std::nullopt;
    for (const std::uint32_t value : best.inside) open_[value] = false;
    return made(root, best);
  }

 private:
  void add_operands(std::uint32_t position, std::vector<std::uint32_t>& operands) const {
    const lower::Instruction& i = kernel_.code[position];
    for (const ValueId each : {i.a, i.b}) {
      if (each.valid() && std::ranges::count(operands, each.index) == 0) operands.push_back(each.index);
    }
  }

  // Whether all uses of the value are in the expression, and its operands may be read at the root in its place.
  bool may_replace(std::uint32_t root, const Expression& expression, std::uint32_t value) const {
    if (!open_[value] || blocks_[value] != blocks_[root] || root - value > kSpan) return false;
    const auto of = [&](std::uint32_t user) {
      const lower::Instruction& i = kernel_.code[user];
      return static_cast<std::uint32_t>((i.a.valid() && i.a.index == value) + (i.b.valid() && i.b.index == value));
    };
    std::uint32_t seen = of(root);
    for (const std::uint32_t user : expression.inside) seen += of(user);
    return seen == uses_[value];
  }

  // Replaces one operand. Returns false if none can be.
  bool grow(std::uint32_t root, Expression& expression) const {
    std::vector<std::uint32_t> least;
    std::uint32_t chosen = 0;
    for (const std::uint32_t value : expression.operands) {
      if (!may_replace(root, expression, value)) continue;
      std::vector<std::uint32_t> operands;
      std::ranges::copy_if(expression.operands, std::back_inserter(operands), [&](std::uint32_t each) { return each != value; });
      add_operands(value, operands);
      if (operands.size() > kOnTheWay || (!least.empty() && operands.size() >= least.size())) continue;
      least = std::move(operands);
      chosen = value;
    }
    if (least.empty()) return false;
    expression.operands = std::move(least);
    expression.inside.push_back(chosen);
    return true;
  }

  Ternary made(std::uint32_t root, Expression& expression) const {
    constexpr std::uint8_t kPatterns[kOperands] = {0xF0, 0xCC, 0xAA};  // the bits of each operand, for all eight cases
    Ternary result;
    std::vector<std::pair<std::uint32_t, std::uint8_t>> known;
    for (std::size_t k = 0; k < kOperands; ++k) {
      const std::uint32_t operand = expression.operands[std::min(k, expression.operands.size() - 1)];
      result.operands[k] = ValueId{operand};
      known.emplace_back(operand, kPatterns[k]);
    }
    const auto bits = [&](ValueId value) {
      return value.valid() ? std::ranges::find(known, value.index, &std::pair<std::uint32_t, std::uint8_t>::first)->second
                           : std::uint8_t{0};
    };
    std::ranges::sort(expression.inside);
    expression.inside.push_back(root);
    for (const std::uint32_t value : expression.inside) {
      const lower::Instruction& i = kernel_.code[value];
      known.emplace_back(value, result_of(i.op, bits(i.a), bits(i.b)));
    }
    result.table = known.back().second;
    return result;
  }

  const Kernel& kernel_;
  std::vector<std::uint32_t> uses_;
  const std::vector<std::uint32_t> blocks_;
  std::vector<bool> open_;  // may be the root of an expression, or inside of one
};

}  // namespace

Ternaries::Ternaries(const Kernel& kernel, const std::vector<Selected>& selected, const std::vector<bool>& vectors) {
  Search search(kernel, selected, vectors);
  index_.assign(kernel.code.size(), 0);
  for (auto root = static_cast<std::uint32_t>(kernel.code.size()); root-- > 0;) {
    const std::optional<Ternary> found = search.at(root);
    if (!found) continue;
    found_.push_back(*found);
    index_[root] = static_cast<std::uint32_t>(found_.size());
  }
}

}  // namespace vyre::run::cpu::native
