// The machine code that the cpu backend runs for a program, as data. For each part of the code, it says where the part begins and which
// instruction of the program it comes from.
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
  // A part of the code, which begins at `offset`. `line` is the line of `program` that the part comes from, or 0 if none is known.
  struct Part {
    std::uint32_t offset;
    std::string text;
    std::uint32_t line = 0;
    std::string label{};  // a name for the place, if it has one
  };
  std::string instructions;  // "sse41", "avx2" or "avx512"
  std::string program;       // the text of what was lowered, after passes and inlining
  int width = 0, lanes = 0;  // the lanes of a vector, and the lanes that are computed at a time
  std::vector<std::byte> code;
  std::vector<Part> parts;               // in order
  std::vector<std::uint32_t> constants;  // the offsets in `code` of the constant vectors behind the instructions
  // Names the data at an offset from r15. The code finds all data through r15, which points to the Context and the buffers' Extents behind
  // it.
  struct Name {
    std::size_t offset;
    std::string text;
  };
  std::vector<Name> context;
};

// Gives the code for the instruction set with this name, which the processor need not have. Without a name, gives the code for the best one
// that the processor has. Throws ArgumentError for an unknown name, and LoweringError where the program or this build has no machine code.
MachineCode machine_code(const validate::ValidProgram& program, const Optimize& optimize, const std::optional<std::string>& instructions);

}  // namespace vyre::run::cpu
