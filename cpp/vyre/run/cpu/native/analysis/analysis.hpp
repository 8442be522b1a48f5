// Analyses a kernel before registers are assigned to it: which values are uniform, where barriers cut the code into regions, which
// comparisons are computed by the instruction that uses them, and the live range of each cell.
//
// A cell is one word of a value or of a variable. Lane and Pack instructions make no cells; they name the cells of their operands.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "vyre/lower/kernel.hpp"
#include "vyre/run/cpu/native/analysis/ternaries.hpp"
#include "vyre/run/cpu/native/vectors.hpp"
#include "vyre/run/cpu/select.hpp"
#include "vyre/run/cpu/uniformity.hpp"

namespace vyre::run::cpu::native {

using lower::Instruction;
using lower::Kernel;
using lower::Opcode;
using lower::ValueId;

using CellId = std::uint32_t;
inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// How a varying cell is represented in a vector.
enum class Form : std::uint8_t {
  Word,
  Ones,    // a condition, as ~0 or 0
  Folded,  // a comparison, or a combination of comparisons, that its only user makes itself; the cell has no home
};

struct Cell {
  std::uint32_t value = kNone;  // the instruction that makes it; kNone for a variable
  bool varying = false;
  bool of_group = false;  // uniform within a group of vectors: the value of the group's first lane
  bool constant = false;
  Form form = Form::Word;
  // The live range, in half positions: the instruction at position p reads its operands at 2p and makes its value at 2p + 1.
  std::uint32_t begin = 0, end = 0;
  bool crosses = false;         // it lives in more than one region
  bool read_as_vector = false;  // a uniform cell that vector instructions read
  float weight = 0;             // the number of reads and writes, where accesses in loops count more
  // For a value that crosses a barrier: the end of its live range in the region that computes it, and the weight of its accesses there.
  std::uint32_t near_end = 0;
  float near_weight = 0;
};

// A stretch of code without a barrier. It runs for one group of vectors after the other.
struct Region {
  std::uint32_t begin, end;
};

struct Analysis {
  Uniformity uniformity;
  std::vector<Selected> selected;
  Ternaries ternaries;  // with AVX-512 alone, which has such an instruction
  bool whole_workgroups = false;
  // By instruction: the innermost If or Loop around it, or kNone. The instructions that open and close a block lie outside of it, so
  // `around` leads from the start of each block to the next outer one.
  std::vector<std::uint32_t> around;
  std::vector<Cell> cells;
  std::vector<std::array<CellId, 4>> of_value;     // by instruction: the cells of its lanes
  std::vector<std::array<CellId, 4>> of_variable;  // by variable
  // By instruction: how much its value rises from each lane of a vector to the next, if that is known. Only values of one word have one.
  std::vector<std::optional<std::uint32_t>> strides;
  // By instruction whose value rises by one from lane to lane of a group: a uniform cell with the value of the first lane; else kNone.
  // Accesses to memory use this cell as the index. The vectors of the value are computed from it where they are needed.
  std::vector<CellId> first_lane;
  // By instruction: an If, Else, EndIf, Loop, EndLoop, Barrier, Return or Break that all lanes of the workgroup take together.
  std::vector<bool> of_workgroup;
  std::vector<Region> regions;
  bool returns = false;                  // some lanes may return before others
  bool divides = false;                  // a division is done in floating point
  bool accesses_in_parted_loop = false;  // memory is accessed in a loop of which lanes may take different numbers of turns
  bool chains_gathers = false;           // a loop gathers from places that another gather decides
  bool has_exit(std::uint32_t block) const { return exits[block]; }
  // Whether the instruction has code of its own.
  bool is_selected(std::uint32_t position) const { return selected[position] != Selected::Nothing; }
  // By instruction: an If without an Else and exits whose condition is that a value which rises from lane to lane is below a uniform one.
  std::vector<bool> guards;
  std::vector<bool> streamed;  // by buffer: rows may be stored past the caches, because nothing else accesses the buffer
  // There is little to compute between the accesses to memory. One vector at a time reads each array from line to line, which processors
  // fetch ahead best: 2^22 words of `a ^ b` take 1.7 ms so, and 2.2 ms by four vectors at a time.
  bool waits_for_memory = false;
  std::vector<bool> exits;  // by If and Loop: lanes may return or break in it while others go on
};

}  // namespace vyre::run::cpu::native
