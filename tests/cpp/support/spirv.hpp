// SPIR-V in tests: every module that a test makes is valid.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "vyre/emit/spirv/emit.hpp"

namespace vyre::test {

inline testing::AssertionResult is_valid_spirv(std::span<const std::uint32_t> words) {
  const std::string problem = spirv::validation_error(words);
  if (problem.empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << problem << '\n' << spirv::disassemble(words);
}

// The words of a kernel, found valid with and without tested loops.
inline std::vector<std::uint32_t> valid_words(const lower::Kernel& kernel) {
  const std::vector<std::uint32_t> tested = spirv::emit(kernel, {.check_loops = true});
  EXPECT_TRUE(is_valid_spirv(tested)) << lower::to_text(kernel);
  std::vector<std::uint32_t> words = spirv::emit(kernel);
  EXPECT_TRUE(is_valid_spirv(words)) << lower::to_text(kernel);
  return words;
}

}  // namespace vyre::test
