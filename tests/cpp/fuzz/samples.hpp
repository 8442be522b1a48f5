// What a fuzz target begins with: the sample programs in every form, and some made by chance.
#pragma once

#include <map>
#include <string>

#include "fuzz/targets.hpp"
#include "support/programs/random_procedure.hpp"
#include "support/programs/sample_programs.hpp"

namespace vyre::test::fuzz {

// By name. Larger ones make a fuzzer slow.
inline std::map<std::string, std::string> samples_of(std::string_view target) {
  constexpr std::size_t kMostBytes = 12000;
  std::map<std::string, std::string> samples;
  const auto add = [&](const std::string& name, std::string bytes) {
    if (bytes.size() <= kMostBytes) samples.emplace(name, std::move(bytes));
  };
  const auto tagged = [](Form form, const std::string& bytes) { return std::string(1, static_cast<char>(form)) + bytes; };
  const auto add_program = [&](const std::string& name, const ir::Program& program) {
    const std::string text = ir::to_text(program), bytes = ir::to_bytes(program);
    if (target == "parse") add(name, text);
    if (target == "from_bytes") add(name, bytes);
    if (target == "validate") add(name, tagged(Form::Bytes, bytes));
    if (target == "whole_path") add(name, tagged(Form::Text, text));
  };
  if (target == "procedure") {
    const auto add_procedure = [&](const std::string& name, const ir::Procedure& procedure) {
      add(name + "_text", tagged(Form::Text, ir::to_text(procedure)));
      add(name + "_bytes", tagged(Form::Bytes, procedure.bytes()));
    };
    add_procedure("sample", sample_procedure());
    for (std::uint64_t seed = 0; seed < 6; ++seed) add_procedure("random_" + std::to_string(seed), random_procedure(seed, 4 + 2 * seed));
    return samples;
  }
  for (const SampleProgram& sample : sample_programs()) add_program(sample.name, sample.program);
  for (std::uint64_t seed = 0; seed < 4; ++seed) add_program("random_" + std::to_string(seed), random_program(seed, 10 + 10 * seed));
  if (target == "validate" || target == "whole_path") {
    const Form form = target == "validate" ? Form::AnyProgram : Form::ValidProgram;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      vyre::fuzz::Random random(seed);
      std::string bytes;
      while (bytes.size() < 100 * (seed + 1)) bytes += static_cast<char>(random.below(256));
      add("choices_" + std::to_string(seed), tagged(form, bytes));
    }
  }
  return samples;
}

}  // namespace vyre::test::fuzz
