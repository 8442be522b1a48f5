// Assigns registers to the values of a kernel while its code is written from the first instruction to the last.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "vyre/run/cpu/code.hpp"

namespace vyre::run::cpu {

// A value of several lanes has as many consecutive registers, and is named by the first one. Vector registers are reused after the last use
// of their values. A scalar register is never reused, because it takes only one word.
class Registers {
 public:
  Registers(Code& code, std::size_t positions) : code_(code), register_of_(positions, kNone), expiring_(positions) {}

  // Takes free registers, or new ones.
  std::uint32_t take_vector(std::uint32_t lanes);
  std::uint32_t new_vector(std::uint32_t lanes);  // registers that no value has had before
  std::uint32_t new_scalar(std::uint32_t lanes);
  std::uint32_t constant(Word value);

  // The registers become free when expire() comes to the position.
  void free_after(std::uint32_t position, std::uint32_t reg, std::uint32_t lanes) { expiring_[position].push_back({reg, lanes}); }
  void expire(std::uint32_t position);

  std::uint32_t assign(std::uint32_t value, std::uint32_t reg) { return register_of_[value] = reg; }
  std::uint32_t of(std::uint32_t value) const;
  // 0 for an operand that an instruction does not have.
  std::uint32_t of(lower::ValueId value) const { return value.valid() ? of(value.index) : 0; }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t kMaxLanes = 4;
  struct Expiring {
    std::uint32_t reg, lanes;
  };

  Code& code_;
  std::vector<std::uint32_t> register_of_;                                // by value
  std::array<std::vector<std::uint32_t>, kMaxLanes + 1> free_registers_;  // by lanes
  std::vector<std::vector<Expiring>> expiring_;                           // by position
};

}  // namespace vyre::run::cpu
