// Finds out which calls must run one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace vyre::run {

// A range of a device's memory that a call reads or writes, in bytes.
struct MemoryAccess {
  std::uint64_t memory;  // the buffer that `begin` and `end` are offsets in, or 0 if they are addresses
  std::uint64_t begin, end;
  bool written;
};

// Records the accesses of calls since the last wait. A call that conflicts with one of them must wait; other calls may run at the same
// time.
class HazardTracker {
 public:
  // Whether there is a hazard between `call` and the recorded accesses: two of them overlap, and at least one writes. Also true when so
  // many accesses were recorded that comparing them would cost more than a wait does.
  bool conflicts_with(std::span<const MemoryAccess> call) const {
    if (is_full()) return true;
    for (const MemoryAccess& now : call) {
      for (const MemoryAccess& before : accesses_) {
        if (now.memory == before.memory && now.begin < before.end && before.begin < now.end && (now.written || before.written)) return true;
      }
    }
    return false;
  }
  void add(std::span<const MemoryAccess> call) { accesses_.insert(accesses_.end(), call.begin(), call.end()); }
  // Whether so many accesses were recorded that every call counts as a conflict.
  bool is_full() const { return accesses_.size() > kMaxCompared; }
  // Forgets all accesses; called after a wait.
  void clear() { accesses_.clear(); }

 private:
  static constexpr std::size_t kMaxCompared = 64;

  std::vector<MemoryAccess> accesses_;
};

}  // namespace vyre::run
