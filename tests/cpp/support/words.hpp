// Makes arrays of u32 words on the host, which tests of backends pass to calls and compare with the results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vyre/run/backend.hpp"

namespace vyre::test {

using Words = std::vector<std::uint32_t>;

inline std::span<const std::byte> bytes_of(const Words& words) { return std::as_bytes(std::span(words)); }

// The words as the array of a call.
inline run::BufferView view(Words& words) { return {std::as_writable_bytes(std::span(words)), static_cast<std::uint32_t>(words.size())}; }

// The words 7, 7 + factor, 7 + 2 * factor and so on.
inline Words counted(std::size_t count, std::uint32_t factor) {
  Words words(count);
  for (std::size_t k = 0; k < count; ++k) words[k] = static_cast<std::uint32_t>(k) * factor + 7;
  return words;
}

inline Words xor_of(const Words& a, const Words& b) {
  Words result(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) result[k] = a[k] ^ b[k];
  return result;
}

}  // namespace vyre::test
