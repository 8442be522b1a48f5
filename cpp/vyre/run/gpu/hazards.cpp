#include "vyre/run/gpu/hazards.hpp"

#include <cstddef>

namespace vyre::run {
namespace {

constexpr std::size_t kMaxCompared = 64;

}  // namespace

bool HazardTracker::is_full() const { return accesses_.size() > kMaxCompared; }

bool HazardTracker::conflicts_with(std::span<const MemoryAccess> call) const {
  if (is_full()) return true;
  for (const MemoryAccess& now : call) {
    for (const MemoryAccess& before : accesses_) {
      if (now.memory == before.memory && now.begin < before.end && before.begin < now.end && (now.written || before.written)) return true;
    }
  }
  return false;
}

void HazardTracker::add(std::span<const MemoryAccess> call) { accesses_.insert(accesses_.end(), call.begin(), call.end()); }

void HazardTracker::clear() { accesses_.clear(); }

}  // namespace vyre::run
