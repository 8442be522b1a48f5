#include "vyre/lower/rounds.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

namespace vyre::lower {
namespace {

constexpr std::uint32_t kAny = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kForEver = std::numeric_limits<std::uint64_t>::max();

std::uint64_t add(std::uint64_t a, std::uint64_t b) { return a > kForEver - b ? kForEver : a + b; }
std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) { return b != 0 && a > kForEver / b ? kForEver : a * b; }

// An upper bound of an instruction's value, computed from the bounds of its operands; kAny where there is no rule.
std::uint32_t most(const Kernel& kernel, const Instruction& it, const std::vector<std::uint32_t>& known) {
  const auto of = [&](ValueId value) -> std::uint64_t { return known[value.index]; };
  const auto fits = [](std::uint64_t value) { return value > kAny ? kAny : static_cast<std::uint32_t>(value); };
  if (it.lanes != 1) return kAny;
  switch (it.op) {
    case Opcode::Constant:
      return it.imm;
    case Opcode::LocalId:
      return kernel.workgroup_size[it.imm] - 1;
    case Opcode::Add:
      return fits(of(it.a) + of(it.b));
    case Opcode::Mul:
      return fits(of(it.a) * of(it.b));
    case Opcode::Div: {
      const Instruction& divisor = kernel.code[it.b.index];
      return divisor.op == Opcode::Constant ? known[it.a.index] / divisor.imm : known[it.a.index];
    }
    case Opcode::Mod:
      return std::min(known[it.a.index], known[it.b.index] - 1);
    case Opcode::And:
    case Opcode::Min:
      return std::min(known[it.a.index], known[it.b.index]);
    case Opcode::Or:
    case Opcode::Xor: {
      const int bits = std::bit_width(known[it.a.index] | known[it.b.index]);
      return bits == 32 ? kAny : (std::uint32_t{1} << bits) - 1;
    }
    case Opcode::Max:
      return std::max(known[it.a.index], known[it.b.index]);
    case Opcode::Shl: {
      const Instruction& amount = kernel.code[it.b.index];
      return amount.op == Opcode::Constant ? fits(of(it.a) << amount.imm) : kAny;
    }
    case Opcode::Shr: {
      const Instruction& amount = kernel.code[it.b.index];
      return amount.op == Opcode::Constant ? known[it.a.index] >> amount.imm : known[it.a.index];
    }
    case Opcode::Eq:
    case Opcode::Ne:
    case Opcode::Lt:
    case Opcode::Le:
    case Opcode::SLt:
    case Opcode::SLe:
      return 1;
    case Opcode::Popcount:
    case Opcode::Clz:
    case Opcode::Ctz:
      return 32;
    case Opcode::Select:
      return std::max(known[it.b.index], known[it.c.index]);
    case Opcode::Loop:
      // The loop variable exists only in the body, where it is below the end.
      return known[it.b.index] == 0 ? 0 : known[it.b.index] - 1;
    default:
      return kAny;
  }
}

}  // namespace

std::uint64_t most_rounds(const Kernel& kernel) {
  std::vector<std::uint32_t> known(kernel.code.size(), kAny);
  struct Open {
    std::uint64_t turns;   // of the body
    std::uint64_t before;  // rounds of the code before the loop
  };
  std::vector<Open> open;
  std::uint64_t rounds = 0;
  for (std::size_t at = 0; at < kernel.code.size(); ++at) {
    const Instruction& it = kernel.code[at];
    known[at] = most(kernel, it, known);
    if (it.op == Opcode::Loop) {
      const Instruction& from = kernel.code[it.a.index];
      const std::uint32_t least = from.op == Opcode::Constant ? from.imm : 0;
      const std::uint32_t end = known[it.b.index];
      open.push_back({end > least ? end - least : 0, rounds});
      rounds = 0;
    } else if (it.op == Opcode::EndLoop) {
      const Open loop = open.back();
      open.pop_back();
      rounds = add(loop.before, add(1, saturating_multiply(loop.turns, add(1, rounds))));
    }
  }
  return rounds;
}

}  // namespace vyre::lower
