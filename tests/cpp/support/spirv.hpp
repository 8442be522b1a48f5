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

// The words of a kernel, found valid with and without tested loops, and with all buffers reached by address.
inline std::vector<std::uint32_t> valid_words(const lower::Kernel& kernel) {
  for (const spirv::Options options :
       {spirv::Options{.check_loops = true}, {.addresses = true}, {.check_loops = true, .addresses = true}}) {
    EXPECT_TRUE(is_valid_spirv(spirv::emit(kernel, options))) << lower::to_text(kernel);
  }
  std::vector<std::uint32_t> words = spirv::emit(kernel);
  EXPECT_TRUE(is_valid_spirv(words)) << lower::to_text(kernel);
  return words;
}

}  // namespace vyre::test
