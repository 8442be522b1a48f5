// The hash of everything that is kept or compared beyond one process: the same on every machine and in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace vyre {

// FNV-1a (Fowler, Noll and Vo), over bytes or over words of 64 bits.
class Fnv1a {
 public:
  static constexpr std::uint64_t kBasis = 0xCBF29CE484222325u;

  constexpr explicit Fnv1a(std::uint64_t basis = kBasis) : state_(basis) {}

  constexpr void add(std::uint64_t word) { state_ = (state_ ^ word) * 0x100000001B3u; }
  // The length comes first, so that two texts in a row are not taken for two others with the same letters.
  constexpr void add(std::string_view text) {
    add(text.size());
    for (char c : text) add(static_cast<unsigned char>(c));
  }
  void add_bytes(const void* data, std::size_t count) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < count; ++i) add(bytes[i]);
  }
  constexpr std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_;
};

}  // namespace vyre
