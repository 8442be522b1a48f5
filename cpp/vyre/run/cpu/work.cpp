#include "vyre/run/cpu/work.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace vyre::run::cpu {
namespace {

using lower::Opcode;

constexpr std::uint64_t kMostWork = (std::uint64_t{1} << 48) - 1;
constexpr std::uint64_t kMostWords = (std::uint64_t{1} << 62) - 1;

// Machine code takes about 90 us to make, and 0.7 us more for each instruction.
constexpr std::uint64_t kWordsToCompile = std::uint64_t{1} << 21;
constexpr std::uint64_t kWordsToCompileOne = std::uint64_t{1} << 14;

std::uint64_t bounded_product(std::uint64_t a, std::uint64_t b, std::uint64_t most) {
  std::uint64_t result;
  return __builtin_mul_overflow(a, b, &result) ? most : std::min(result, most);
}

// Returns, by position, the Loops that a Break or a Return leaves early. A `while` is a Loop of 2^32 - 1 turns with a Break.
std::vector<bool> loops_left_early(const lower::Kernel& kernel) {
  std::vector<bool> left(kernel.code.size());
  std::vector<std::size_t> open;
  std::size_t returned = 0;  // how many of the open loops, from the outermost one on, contain a Return
  for (std::size_t position = 0; position < kernel.code.size(); ++position) {
    const Opcode op = kernel.code[position].op;
    if (op == Opcode::Loop) open.push_back(position);
    if (op == Opcode::Break) left[open.back()] = true;
    if (op == Opcode::Return) returned = open.size();
    if (op != Opcode::EndLoop) continue;
    if (returned >= open.size()) {
      left[open.back()] = true;
      returned = open.size() - 1;
    }
    open.pop_back();
  }
  return left;
}

// Returns what the value is at most, if it is a literal or the smaller of one and another value.
std::optional<std::uint32_t> most_of(const lower::Kernel& kernel, lower::ValueId value) {
  const lower::Instruction& i = kernel.code[value.index];
  if (i.op == Opcode::Constant) return i.imm;
  if (i.op != Opcode::Min) return std::nullopt;
  for (const lower::ValueId operand : {i.a, i.b}) {
    if (kernel.code[operand.index].op == Opcode::Constant) return kernel.code[operand.index].imm;
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t work_of(const lower::Kernel& kernel, std::uint64_t unknown_turns) {
  const std::vector<bool> left = loops_left_early(kernel);
  const auto turns = [&](std::size_t loop) {
    const lower::Instruction& from = kernel.code[kernel.code[loop].a.index];
    const std::optional<std::uint32_t> to = most_of(kernel, kernel.code[loop].b);
    if (from.op != Opcode::Constant || !to) return unknown_turns;
    const std::uint64_t most = *to > from.imm ? *to - from.imm : 0;
    return left[loop] ? std::min(most, unknown_turns) : most;
  };
  std::uint64_t work = 1;
  std::vector<std::uint64_t> times = {1};  // how often the instructions in each open loop run
  for (std::size_t position = 0; position < kernel.code.size(); ++position) {
    const Opcode op = kernel.code[position].op;
    if (op == Opcode::EndLoop) times.pop_back();
    work = std::min(work + times.back(), kMostWork);
    if (op == Opcode::Loop) times.push_back(bounded_product(times.back(), turns(position), kMostWork));
  }
  return work;
}

std::uint64_t words_of_call(std::uint64_t work, Grid grid, const ir::WorkgroupSize& size, std::uint64_t batch) {
  std::uint64_t lanes = 1;
  for (const std::uint64_t extent : {grid.x, grid.y, grid.z, size[0], size[1], size[2]})
    lanes = bounded_product(lanes, extent, kMostWords / 128);
  const std::uint64_t dispatched = (lanes / std::max<std::uint64_t>(batch, 1) + 1) * kDispatchWords;
  return bounded_product(work, lanes + dispatched, kMostWords - kWordsOfCall) + kWordsOfCall;
}

std::uint64_t words_of_compiling(std::uint64_t instructions) { return kWordsToCompile + kWordsToCompileOne * instructions; }

}  // namespace vyre::run::cpu
