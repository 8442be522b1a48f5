// Generates random programs that keep every rule and have one right answer, because their invocations may run in any order (see
// memory.hpp).
#pragma once

#include "vyre/fuzz/case.hpp"

namespace vyre::fuzz {

// Returns the same case for the same seed and options, on every machine. Its program may call operations of op_table(), and takes at most
// some 10,000 rounds of loops in each invocation, because one driver ends loops after 65,535.
Case generate(std::uint64_t seed, const Options& options = {});
// Returns the case that the bytes of a fuzzer lead to.
Case generate(std::string_view bytes, const Options& options = {});

}  // namespace vyre::fuzz
