// What native code needs to know of a kernel before a register is assigned: which values lanes share, where barriers cut the code, which
// comparisons are made where they are used, and how long each word of a value or of a variable lives.
//
// A cell is one word of a value or of a variable. Taking a lane of a value and packing lanes make no cells: they name the cells of others.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "vyre/lower/kernel.hpp"
#include "vyre/run/cpu/select.hpp"
#include "vyre/run/cpu/uniformity.hpp"

namespace vyre::run::cpu::native {

using CellId = std::uint32_t;
inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// How a cell of varying lanes stands in a vector.
enum class Form : std::uint8_t {
  Word,
  Ones,    // a truth as ~0 or 0
  Folded,  // a comparison, or a combination of comparisons, that its only user makes itself; the cell has no home
};

struct Cell {
  std::uint32_t value = kNone;  // the instruction that makes it; kNone for a variable
  bool varying = false;
  bool of_group = false;  // uniform, but for one group of vectors: the value of its first lane
  bool constant = false;
  Form form = Form::Word;
  // Twice the positions in the code: an instruction reads its operands at 2p, and makes its value at 2p + 1.
  std::uint32_t begin = 0, end = 0;
  bool crosses = false;         // it lives in more than one region
  bool read_as_vector = false;  // of a uniform cell
  float weight = 0;             // reads and writes, where those in loops count more
};

// A run of code without a barrier, which is done for one vector of lanes after the other.
struct Region {
  std::uint32_t begin, end;
};

struct Analysis {
  Uniformity uniformity;
  std::vector<Selected> selected;
  bool whole_workgroups = false;
  std::vector<Cell> cells;
  std::vector<std::array<CellId, 4>> of_value;     // by instruction: the cells of its lanes
  std::vector<std::array<CellId, 4>> of_variable;  // by variable
  // By instruction: the difference of its value between neighbouring lanes of a vector, where it is known; of values of one lane.
  std::vector<std::optional<std::uint32_t>> strides;
  // By instruction whose value rises by one from lane to lane through all of a group: a uniform cell with the value of the first lane.
  // Accesses use it in place of the lanes' own values, and those are made of it where they are needed.
  std::vector<CellId> first_lane;
  // By instruction: an If, Else, EndIf, Loop, EndLoop, Barrier, Return or Break that the whole workgroup does at once.
  std::vector<bool> of_workgroup;
  std::vector<Region> regions;
  bool returns = false;                  // some lanes may return before others
  bool divides = false;                  // a division is done in floating point
  bool accesses_in_parted_loop = false;  // memory is accessed in a loop of which lanes may take different numbers of turns
  bool has_exit(std::uint32_t block) const { return exits[block]; }
  std::vector<bool> exits;  // by If and Loop: lanes may return or break in it while others go on
};

// Why a kernel has no native code, and what to change about its program.
struct Refusal {
  std::string_view reason, fix;
};

// Nothing when native code cannot do the kernel; `refusal` then says why.
std::optional<Analysis> analyse(const lower::Kernel& kernel, Refusal& refusal);

}  // namespace vyre::run::cpu::native
