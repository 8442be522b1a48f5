// Says where the parts of machine code begin, for functions that print it.
#pragma once

#include <cstdint>

namespace vyre::run::cpu::native {

enum class Part : std::uint8_t {
  Entry,        // of the function
  Full,         // the loop over full groups of lanes, and the code that begins a turn
  Rest,         // the same for the remaining lanes, under masks
  Instruction,  // of the kernel
  Rare,         // the cold path of an instruction, placed behind the other code
  Next,         // goes on to the next group of lanes
  Leave,        // the end of the function
  Poll,         // the subroutine that asks whether to go on
};

struct Mark {
  std::uint32_t offset;
  Part part;
  std::uint32_t position = 0;  // of the kernel's instruction
};

}  // namespace vyre::run::cpu::native
