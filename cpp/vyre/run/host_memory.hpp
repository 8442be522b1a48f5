// Memory of this process for arrays and for what programs compute with: aligned to cache lines, and large pages where it is large.
#pragma once

#include <cstddef>
#include <memory>

namespace vyre::run {

class HostMemory {
 public:
  static constexpr std::size_t kAlignment = 64;

  // Zeros. data() is null when there is no memory, and never otherwise.
  static HostMemory zeroed(std::size_t bytes) { return HostMemory(bytes, true); }
  // Anything.
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

}  // namespace vyre::run
