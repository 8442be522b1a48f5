// Lays out scratch arrays in memory: arrays that are in use at different times share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace vyre::run {

// An array is in use from step `first` to step `last`.
struct ScratchArray {
  std::uint64_t bytes = 0;
  std::size_t first = 0, last = 0;
};

struct Workspace {
  // Every array begins at a multiple of this many bytes, the largest alignment that a device may ask for.
  static constexpr std::uint64_t kAlignment = 256;

  struct Location {
    std::uint32_t block = 0;
    std::uint64_t offset = 0;
  };
  std::vector<Location> locations;    // of each array
  std::vector<std::uint64_t> blocks;  // the bytes of each block
};

// A block is at most `most_bytes` large, unless it has one array only.
Workspace lay_out(std::span<const ScratchArray> arrays, std::uint64_t most_bytes);

}  // namespace vyre::run
