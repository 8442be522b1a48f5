// Computes how long the value of each instruction must be kept, and which values share the registers of variables.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "vyre/lower/kernel.hpp"
#include "vyre/run/cpu/select.hpp"
#include "vyre/run/cpu/uniformity.hpp"

namespace vyre::run::cpu {

struct LiveRanges {
  static constexpr std::uint32_t kNoVariable = std::numeric_limits<std::uint32_t>::max();

  // By value: the last position at which its registers are read.
  std::vector<std::uint32_t> last_use;
  // By ReadVariable: true if the variable is not written while the value is live, so that the value needs no registers of its own.
  std::vector<bool> is_alias;
  // By value: the variable that the value is written to later, if the value can be computed in that variable's register; else kNoVariable.
  std::vector<std::uint32_t> made_in;
};

// Removes from `selected` the writes of values that are computed in their variable's register.
LiveRanges compute_live_ranges(const lower::Kernel& kernel, const Uniformity& uniformity, std::vector<Selected>& selected);

// Whether each lane of the result depends on the same lane of the operands only, so that the result may take an operand's register.
bool is_elementwise(const lower::Kernel& kernel, const Uniformity& uniformity, std::uint32_t value);

}  // namespace vyre::run::cpu
