// Allocates host memory for arrays and for the temporary values of programs. It is aligned to cache lines, and large allocations use large
// pages.
#pragma once

#include <cstddef>
#include <memory>

namespace vyre::run {

class HostMemory {
 public:
  static constexpr std::size_t kAlignment = 64;

  // The contents are zeros. data() is null if and only if the allocation failed.
  static HostMemory zeroed(std::size_t bytes) { return HostMemory(bytes, true); }
  // The contents are unspecified.
  static HostMemory uninitialised(std::size_t bytes) { return HostMemory(bytes, false); }

  std::byte* data() const { return data_.get(); }

 private:
  struct Release {
    std::byte* start;    // where the allocator's memory begins
    std::size_t mapped;  // bytes of a mapping; 0 for memory of the allocator
    void operator()(std::byte* bytes) const;
  };
  HostMemory(std::size_t bytes, bool zeroed);

  std::unique_ptr<std::byte, Release> data_;
};

// Asks the system for large pages behind memory that is about to be written for the first time, if it is large. The memory may begin
// anywhere.
void advise_large_pages(std::byte* start, std::size_t bytes);

}  // namespace vyre::run
