// Assigns a home to each cell of a kernel: a register for its whole live range, or a place in memory. A value that crosses a barrier has a
// place in memory, and where there is one a register too, for the region that makes it.
#pragma once

#include <cstdint>
#include <vector>

#include "vyre/run/cpu/native/analysis/analysis.hpp"

namespace vyre::run::cpu::native {

// The registers that cells may have.
struct RegisterFile {
  int vectors;                // how many varying cells fit into the vector registers
  std::vector<int> generals;  // by number
};

struct Home {
  std::int16_t reg = -1;  // of a varying cell: the number of its group of vector registers; of a uniform one: a general register
  std::int32_t slot =
      -1;  // a byte offset: in `crossing` if the cell crosses a barrier and is not the same for all lanes, else in the frame
};

struct Homes {
  std::vector<Home> of;              // by cell
  std::uint32_t frame_bytes = 0;     // the size of all slots in the frame
  std::uint32_t crossing_cells = 0;  // the number of cells that lie in `crossing`
};

// The register pressure: the largest number of varying cells that are live at one time and do not cross a barrier.
std::uint32_t pressure(const Analysis& analysis);

// `vector_bytes` is the size of a varying cell in the frame; a cell that crosses takes `crossing_bytes`.
Homes assign_homes(const Analysis& analysis, const RegisterFile& file, std::uint32_t vector_bytes, std::uint32_t crossing_bytes);

}  // namespace vyre::run::cpu::native
