// Estimates how much a kernel computes, and when machine code of it pays.
//
// The unit is a word: what the interpreter takes for one instruction over one lane, about 0.04 ns with AVX-512. `bench/cpu_compiles.py`
// measures what the constants here stand for.
#pragma once

#include <cstdint>

#include "vyre/lower/kernel.hpp"
#include "vyre/run/backend.hpp"

namespace vyre::run::cpu {

// The interpreter dispatches an instruction in the time in which it computes this many words.
constexpr std::uint64_t kDispatchWords = 64;

// In the time that a call takes beside its instructions, about 1.4 us, the interpreter computes this many words.
constexpr std::uint64_t kWordsOfCall = std::uint64_t{1} << 15;

// About how many instructions an invocation runs; at least 1, and less than 2^48. Loops between constants count with their turns, others
// with `unknown_turns` each.
std::uint64_t work_of(const lower::Kernel& kernel, std::uint64_t unknown_turns);

// The words that the interpreter computes in a call, in batches of so many lanes; less than 2^62. `work` is an invocation's.
std::uint64_t words_of_call(std::uint64_t work, Grid grid, const ir::WorkgroupSize& size, std::uint64_t batch);

// The words that the interpreter computes in the time that machine code of so many instructions takes to make.
std::uint64_t words_of_compiling(std::uint64_t instructions);

}  // namespace vyre::run::cpu
