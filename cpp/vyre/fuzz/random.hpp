// Draws the random numbers from which programs are generated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "vyre/base/random.hpp"

namespace vyre::fuzz {

class Random {
 public:
  // Neighbouring seeds start far apart.
  explicit Random(std::uint64_t seed) : numbers_(SplitMix64(seed).next()) {}
  // One byte decides one number, so that a fuzzer that changes a byte changes one decision. After the last byte come random ones.
  explicit Random(std::string_view bytes) : numbers_(bytes.size()), bytes_(bytes) {}

  std::uint64_t next() {
    if (bytes_.empty()) return numbers_.next();
    const auto byte = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    return SplitMix64(byte).next();
  }
  std::uint32_t bits() { return static_cast<std::uint32_t>(next() >> 32); }
  // 0 .. limit - 1; limit is above 0.
  std::uint32_t below(std::size_t limit) { return static_cast<std::uint32_t>((next() >> 32) * limit >> 32); }
  bool chance(std::uint32_t percent) { return below(100) < percent; }
  template <class Items>
  decltype(auto) pick(Items&& items) {
    return items[below(std::size(items))];
  }

 private:
  SplitMix64 numbers_;
  std::string_view bytes_;
};

// Where rules have their edges: shifts, signs, the ends of the range, and indices whose byte offset wraps.
inline std::uint32_t edge_u32(Random& random) {
  static constexpr std::uint32_t kEdges[] = {0,          1,          2,          3,          4,          5,          7,
                                             8,          31,         32,         33,         63,         64,         255,
                                             0xFFFF,     0x10000,    0x10000000, 0x20000000, 0x3FFFFFFF, 0x40000000, 0x7FFFFFFF,
                                             0x80000000, 0x80000001, 0xC0000000, 0xFFFFFFFE, 0xFFFFFFFF, 0,          1};
  constexpr std::size_t kCount = sizeof kEdges / sizeof *kEdges;
  return random.chance(60) ? kEdges[random.below(kCount)] : random.bits() >> random.below(32);
}

}  // namespace vyre::fuzz
