// Checks that integers in host memory ascend, in one pass that several threads share and that needs no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace vyre::run {

// Returns the index of the first element that is less than the one before it, or nothing if there is none. T is an integer of 8 to 64 bits.
template <class T>
std::optional<std::size_t> first_descent(std::span<const T> values);

// Describes the byte strings of a buffer that lie between one offset and the next.
struct Spans {
  std::uint32_t starts = 0;    // all starts, combined by bitwise or
  std::uint32_t shortest = 0;  // the least and the greatest length; 0 without strings
  std::uint32_t longest = 0;
};

// Writes the length of each string unless `lengths` is null; it has one element less than `offsets`, which ascend and are not empty.
Spans spans_of(std::span<const std::uint32_t> offsets, std::uint32_t* lengths);

}  // namespace vyre::run
