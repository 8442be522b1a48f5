#include "vyre/run/vulkan/calls/call_slot.hpp"

#include <utility>

namespace vyre::run::vulkan {
namespace {

// The most unused slots that are kept. This many calls can run at once without making new slots.
constexpr std::size_t kMaxUnused = 4;

}  // namespace

void CallSlot::clear() noexcept {
  kernels = {};
  timestamps.reset();
  status = {};
  // The heap hands out first the block that came back last. So the blocks are destroyed in reverse order: the next call then gets the same
  // blocks in the same order, and its descriptor set needs no update.
  while (!staging.empty()) staging.pop_back();
  while (!arrays.empty()) arrays.pop_back();
}

CallSlots::CallSlots(Context& context) : context_(context) { unused_.reserve(kMaxUnused); }

std::unique_ptr<CallSlot> CallSlots::borrow() {
  {
    const std::lock_guard lock(mutex_);
    if (!unused_.empty()) {
      std::unique_ptr<CallSlot> slot = std::move(unused_.back());
      unused_.pop_back();
      return slot;
    }
  }
  return std::make_unique<CallSlot>(context_);
}

void CallSlots::give_back(std::unique_ptr<CallSlot> slot) noexcept {
  slot->clear();
  const std::lock_guard lock(mutex_);
  if (unused_.size() < kMaxUnused) unused_.push_back(std::move(slot));  // room is reserved
}

}  // namespace vyre::run::vulkan
