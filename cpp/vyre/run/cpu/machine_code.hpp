// The machine code of a program as data: what the cpu backend runs, with where its parts begin and what they come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vyre/run/optimize.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::run::cpu {

struct MachineCode {
  // What begins at an offset. A line of the program's text is 0 where none is known.
  struct Part {
    std::uint32_t offset;
    std::string text;
    std::uint32_t line = 0;
    std::string label{};  // a name for the place, if it has one
  };
  std::string instructions;  // "avx2" or "avx512"
  std::string program;       // the text of what was lowered, after passes and inlining
  int width = 0, lanes = 0;  // of a vector, and of those that are computed at a time
  std::vector<std::byte> code;
  std::vector<Part> parts;               // in order
  std::vector<std::uint32_t> constants;  // the offsets of vectors behind the instructions
  // What lies at the offsets from r15, through which the code finds everything: the Context and the buffers' places behind it.
  struct Name {
    std::size_t offset;
    std::string text;
  };
  std::vector<Name> context;
};

// Of the instruction set with this name, which the processor need not have; without a name, of the best one here. Throws ArgumentError for
// another name, and LoweringError where the program or this build has no machine code.
MachineCode machine_code(const validate::ValidProgram& program, const Optimize& optimize, const std::optional<std::string>& instructions);

}  // namespace vyre::run::cpu
