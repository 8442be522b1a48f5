// Finds out which calls must run one after the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vyre::run {

// A range of a device's memory that a call reads or writes, in bytes.
struct MemoryAccess {
  std::uint64_t memory;  // identifies what the range counts from: a buffer, or 0 for addresses
  std::uint64_t begin, end;
  bool written;
};

// What calls read and write since they were last waited for. A call that conflicts with them must wait for them; other calls may run at
// once.
class HazardTracker {
 public:
  // Whether one of the two writes what the other reads or writes. Also true when so much was recorded that comparing would cost more than
  // a wait does.
  bool conflicts_with(std::span<const MemoryAccess> call) const;
  void add(std::span<const MemoryAccess> call);
  // Whether so much was recorded that all calls conflict with it.
  bool is_full() const;
  // After a wait.
  void clear();

 private:
  std::vector<MemoryAccess> accesses_;
};

}  // namespace vyre::run
