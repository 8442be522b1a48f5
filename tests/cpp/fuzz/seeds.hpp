// The first corpus: sample and random programs in the form that a target reads, made when a target starts, so that no file of
// bytes in the repository can fall behind the format.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "support/random_program.hpp"
#include "support/sample_programs.hpp"

namespace vyre::test {

// Into the first folder on libFuzzer's command line, which is where it puts what it finds.
template <class Save>
void write_seeds(int argc, char** argv, const std::string& extension, Save&& save) {
  for (int index = 1; index < argc; ++index) {
    if (std::string_view(argv[index]).starts_with('-') || !std::filesystem::is_directory(argv[index])) continue;
    const std::filesystem::path folder = argv[index];
    const auto write = [&](const std::string& name, const ir::Program& program) {
      std::ofstream(folder / ("seed_" + name + "." + extension), std::ios::binary) << save(program);
    };
    for (const SampleProgram& sample : sample_programs()) write(sample.name, sample.program);
    for (std::uint64_t seed = 0; seed < 50; ++seed) write(std::to_string(seed), random_program(seed, 1 + seed / 3));
    return;
  }
}

}  // namespace vyre::test
