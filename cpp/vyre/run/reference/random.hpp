// Numbers for schedules: the same for a seed on every machine, which the distributions of <random> are not.
#pragma once

#include <bit>
#include <cstdint>

namespace vyre::run::reference {

// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  // Below `limit`, which is not 0; as even as a schedule needs.
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>((next() >> 32) * limit >> 32); }
  // 1 half of the time, 2 a quarter of it, and so on up to 16.
  std::uint32_t burst() { return 1 + static_cast<std::uint32_t>(std::countr_zero(next() | 1u << 15)); }

 private:
  std::uint64_t state_;
};

}  // namespace vyre::run::reference
