// Makes random programs without regard to sense: any expression under any other, names of every kind, valid or not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/programs/choices.hpp"
#include "vyre/ir/program.hpp"

namespace vyre::test {

// The same program for the same seed, on every machine. `size` is about the number of expressions and of statements.
ir::Program random_program(std::uint64_t seed, std::size_t size);
// The one that the choices lead to.
ir::Program random_program(Choices choices, std::size_t size);

// Names that a form for programs can trip over: empty, keywords, NUL, quotes, line breaks, every length of UTF-8.
const std::vector<std::string>& awkward_names();

}  // namespace vyre::test
