// The cpu backend gives the reference's bytes with every instruction set that the processor has, alone and with helpers.
#include "vyre/run/cpu/cpu.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "vyre/fuzz/compare.hpp"
#include "vyre/fuzz/generate.hpp"
#include "vyre/fuzz/operations.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/run/cpu/lanes.hpp"

namespace vyre::fuzz {
namespace {

TEST(Cpu, programs_agree_on_every_instruction_set) {
  std::vector<std::unique_ptr<run::Backend>> backends;
  std::vector<Way> ways;
  for (const run::cpu::Lanes* lanes : run::cpu::available_lanes()) {
    run::CpuOptions options;
    options.instructions = std::string(lanes->name);
    options.threads = 1 + ways.size() % 3;
    backends.push_back(run::make_cpu_backend(options));
    run::Optimize compiled = run::all_off(), everything;
    compiled.compilation = compiled.everywhere = everything.everywhere = true;
    for (const run::Optimize& optimize : {run::all_off(), run::Optimize(), compiled, everything}) {
      ways.push_back({backends.back().get(), {}, {}, optimize});
    }
  }
  constexpr std::uint64_t kFirst = 2'000'000, kSeeds = 400;
  for (std::uint64_t seed = kFirst; seed < kFirst + kSeeds; ++seed) {
    const Case that = generate(seed);
    const Judgement judgement = judge(that, ways, op_table());
    ASSERT_EQ(judgement.kind, Judgement::Kind::Agrees)
        << "seed " << seed << ", way " << *judgement.index << ": " << judgement.message << "\n"
        << ir::to_text(that.program);
  }
}

}  // namespace
}  // namespace vyre::fuzz
