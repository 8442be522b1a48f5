// Finds out which calls of a sequence must be separated by a barrier.
#pragma once

#include <vector>

#include "vyre/run/vulkan/calls/recorded_call.hpp"

namespace vyre::run::vulkan {

// The reads and writes recorded since the last barrier. A call that conflicts with them must wait for them; other calls may run at once.
class HazardTracker {
 public:
  // Whether one of the two writes what the other reads or writes. Also true when so much was recorded that comparing would cost more than a
  // barrier does.
  bool conflicts_with(const RecordedCall& call) const;
  void add(const RecordedCall& call);
  // After a barrier.
  void clear();
  // Whether a call since the last barrier has copies, so that the barrier must cover transfers too.
  bool copies() const { return copies_; }

 private:
  std::vector<RecordedCall::Access> accesses_;
  bool copies_ = false;
};

}  // namespace vyre::run::vulkan
