// Says where the parts of machine code begin, for functions that print it.
#pragma once

#include <cstdint>

namespace vyre::run::cpu::native {

enum class Part : std::uint8_t {
  Entry,        // of the function
  Full,         // the loop over groups of lanes that all exist, and what begins a turn
  Rest,         // the same for the lanes that are left, under masks
  Instruction,  // of the kernel
  Rare,         // what the instruction seldom comes to; placed behind the code
  Next,         // to the next group
  Leave,        // the end of the function
  Poll,         // asks whether to go on
};

struct Mark {
  std::uint32_t offset;
  Part part;
  std::uint32_t position = 0;  // of the kernel's instruction
};

}  // namespace vyre::run::cpu::native
