#include "vyre/transform/passes.hpp"

#include <array>

namespace vyre::transform {
namespace {

constexpr std::array kPasses = {
#define PASS(name, meaning) PassInfo{#name, &name, meaning},
#include "vyre/transform/passes.def"
};

// Each pass does all of its work in one run; a round makes work for the next only where, say, a removed branch held the only
// assignment to a variable. A chain of such branches would take a round each: not worth more than linear time.
constexpr int kMaxRounds = 8;

}  // namespace

std::span<const PassInfo> passes() { return kPasses; }

validate::ValidProgram optimize(const validate::ValidProgram& program) {
  validate::ValidProgram result = inline_calls(program);
  for (int round = 0; round < kMaxRounds; ++round) {
    const validate::ValidProgram before = result;
    for (const PassInfo& pass : kPasses) result = pass.run(result);
    // Copies share the program, and a pass without work gives a copy.
    if (&before.program() == &result.program()) break;
  }
  return result;
}

}  // namespace vyre::transform
