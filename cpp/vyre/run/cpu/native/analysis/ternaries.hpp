// Finds bitwise expressions of two or three operands that AVX-512 computes by one instruction, vpternlog.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "vyre/lower/kernel.hpp"
#include "vyre/run/cpu/select.hpp"

namespace vyre::run::cpu::native {

// The expression that an And, Or, Xor or Not stands at the root of. Bit 4a + 2b + c of the table is the result for bits a, b and c of the
// operands.
struct Ternary {
  std::array<lower::ValueId, 3> operands;
  std::uint8_t table = 0;
};

class Ternaries {
 public:
  Ternaries() = default;
  // `vectors` has, by position, whether the value is a word that differs from lane to lane.
  Ternaries(const lower::Kernel& kernel, const std::vector<Selected>& selected, const std::vector<bool>& vectors);

  // The expression whose root is at the position, or null. Nothing else uses the values inside of it.
  const Ternary* at(std::uint32_t position) const {
    return position < index_.size() && index_[position] != 0 ? &found_[index_[position] - 1] : nullptr;
  }

 private:
  std::vector<std::uint32_t> index_;  // by position: 0, or 1 + the place in `found_`
  std::vector<Ternary> found_;
};

}  // namespace vyre::run::cpu::native
