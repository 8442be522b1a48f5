#include "vyre/transform/passes.hpp"

#include <array>

namespace vyre::transform {
namespace {

constexpr std::array kPasses = {
#define PASS(name, meaning) PassInfo{#name, &name, meaning},
#include "vyre/transform/passes.def"
};

// Each pass does all of its work in one run. A round rarely leaves work for the next one: for example, a removed branch may have held the
// only assignment to a variable. A long chain of such branches would need a round for each branch, so the limit keeps the time linear.
constexpr int kMaxRounds = 8;

}  // namespace

std::span<const PassInfo> passes() { return kPasses; }

validate::ValidProgram optimize(const validate::ValidProgram& program, Kept kept) {
  validate::ValidProgram result = inline_calls(program, kept);
  for (int round = 0; round < kMaxRounds; ++round) {
    const validate::ValidProgram before = result;
    for (const PassInfo& pass : kPasses) result = pass.run(result);
    // A pass that changes nothing returns a copy, and copies share their program: equal addresses mean that the round changed nothing.
    if (&before.program() == &result.program()) break;
  }
  return result;
}

}  // namespace vyre::transform
