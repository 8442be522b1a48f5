// Makes nonsense of generated programs: any expression under any other, names of every kind, statements that nothing reaches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vyre/fuzz/random.hpp"
#include "vyre/ir/program.hpp"

namespace vyre::test {

// The same program for the same seed, on every machine; mostly not valid. It has `size` expressions and more.
ir::Program random_program(std::uint64_t seed, std::size_t size);
// The one that these numbers lead to.
ir::Program random_program(fuzz::Random random, std::size_t size);

// Names that a form for programs can trip over: empty, keywords, NUL, quotes, line breaks, every length of UTF-8.
const std::vector<std::string>& awkward_names();

}  // namespace vyre::test
