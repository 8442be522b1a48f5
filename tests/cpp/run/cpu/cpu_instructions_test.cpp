// What is said about instructions that the environment asks for and the processor lacks. A processor that has all shows the rest in Python.
#include <gtest/gtest.h>

#include <array>
#include <string_view>

#include "vyre/run/cpu/lanes.hpp"

namespace vyre::run::cpu {
namespace {

#if defined(__x86_64__)
TEST(CpuInstructions, a_known_set_is_told_to_be_one_that_the_processor_lacks) {
  constexpr std::array<std::string_view, 2> available = {"baseline", "sse41"};
  EXPECT_EQ(refusal_of_instructions("avx512", available),
            "this processor has no instructions `avx512`, which the environment variable `VYRE_INSTRUCTIONS` names. "
            "Fix: write one of baseline, sse41; unset it for the best one.");
}
#endif

}  // namespace
}  // namespace vyre::run::cpu
