// Estimates how much a kernel computes, and when machine code of it pays.
//
// The unit of work is a word: one instruction over one lane. The interpreter computes a word in about 0.04 ns with AVX-512.
// `bench/cpu_compiles.py` measures the times behind the constants below.
#pragma once

#include <cstdint>

#include "vyre/lower/kernel.hpp"
#include "vyre/run/backend.hpp"

namespace vyre::run::cpu {

// The time in which the interpreter dispatches an instruction, in words.
constexpr std::uint64_t kDispatchWords = 64;

// The time that a call takes in addition to its instructions, in words: about 1.4 us.
constexpr std::uint64_t kWordsOfCall = std::uint64_t{1} << 15;

// Estimates how many instructions an invocation runs: at least 1, and less than 2^48. A loop with constant bounds counts with its turns,
// but with at most `unknown_turns` if it may be left early. Any other loop counts with `unknown_turns`.
std::uint64_t work_of(const lower::Kernel& kernel, std::uint64_t unknown_turns);

// Estimates the words that the interpreter computes in a call, with batches of `batch` lanes: less than 2^62. `work` is from work_of().
std::uint64_t words_of_call(std::uint64_t work, Grid grid, const ir::WorkgroupSize& size, std::uint64_t batch);

// Estimates the time to translate a kernel of `instructions` instructions to machine code, in words.
std::uint64_t words_of_compiling(std::uint64_t instructions);

}  // namespace vyre::run::cpu
