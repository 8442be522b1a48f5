// Compares machine code of the cpu backend, for each instruction set of this processor, with the reference.
#pragma once

#if VYRE_NATIVE
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/run/cpu/cpu.hpp"
#include "vyre/run/cpu/native/vectors.hpp"
#include "vyre/run/reference/reference.hpp"

namespace vyre::test {

inline run::Optimize compiled() {
  run::Optimize optimize;
  optimize.everywhere = true;
  return optimize;
}

// Runs on the reference, and as machine code with each instruction set, one thread and three. Three threads store past the caches where the
// program allows it.
inline void expect_same(const ir::Program& program, const std::vector<Words>& arrays, run::Grid grid) {
  const validate::ValidProgram checked = valid(program);
  const std::vector<Words> expected = run_program(*run::make_reference_backend(), checked, arrays, grid);
  for (const run::cpu::native::Vectors vectors : run::cpu::native::available_vectors()) {
    for (const unsigned threads : {1u, 3u}) {
      run::CpuOptions options{.threads = threads, .instructions = std::string(run::cpu::native::name(vectors))};
      if (threads > 1) options.caches = 0;
      const auto cpu = run::make_cpu_backend(options);
      EXPECT_EQ(run_program(*cpu, checked, arrays, grid, {}, compiled()), expected)
          << run::cpu::native::name(vectors) << ", " << threads << " threads, grid " << grid.x << "\n"
          << ir::to_text(program);
    }
  }
}

inline Words numbers(std::size_t count, std::uint32_t factor = 2654435761u) {
  Words words(count);
  for (std::size_t k = 0; k < count; ++k) words[k] = static_cast<std::uint32_t>(k) * factor + 12345;
  return words;
}

}  // namespace vyre::test
#endif
