#include "vyre/run/vulkan/calls/hazards.hpp"

namespace vyre::run::vulkan {
namespace {

constexpr std::size_t kMaxCompared = 64;

}  // namespace

bool HazardTracker::conflicts_with(const RecordedCall& call) const {
  if (accesses_.size() > kMaxCompared) return true;
  for (const RecordedCall::Access& now : call.accesses()) {
    for (const RecordedCall::Access& before : accesses_) {
      if (now.buffer == before.buffer && now.begin < before.end && before.begin < now.end && (now.written || before.written)) return true;
    }
  }
  return false;
}

void HazardTracker::add(const RecordedCall& call) {
  accesses_.insert(accesses_.end(), call.accesses().begin(), call.accesses().end());
  copies_ = copies_ || call.copies();
}

void HazardTracker::clear() { *this = {}; }

}  // namespace vyre::run::vulkan
