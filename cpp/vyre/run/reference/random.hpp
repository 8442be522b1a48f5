// Random numbers for schedules.
#pragma once

#include <bit>
#include <cstdint>

#include "vyre/base/random.hpp"

namespace vyre::run::reference {

class Random : public SplitMix64 {
 public:
  using SplitMix64::SplitMix64;

  // Returns 1 with probability 1/2, 2 with probability 1/4, and so on, up to 16.
  std::uint32_t burst() { return 1 + static_cast<std::uint32_t>(std::countr_zero(next() | 1u << 15)); }
};

}  // namespace vyre::run::reference
