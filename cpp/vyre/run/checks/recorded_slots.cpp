#include "vyre/run/checks/recorded_slots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/refused.hpp"

namespace vyre::run {

void check_slots(const Recording& recording, std::span<const StorageView> slots) {
  const CallsToRecord& calls = recording.calls();
  const std::vector<bool>& written = recording.written();
  VYRE_ASSERT(slots.size() == calls.slots.size());
  for (std::size_t slot = 0; slot < slots.size(); ++slot) VYRE_ASSERT(slots[slot].bytes == calls.slots[slot].bytes);
  const auto before = [&](std::size_t a, std::size_t b) {
    return std::tuple(slots[a].storage->id(), slots[a].offset, a) < std::tuple(slots[b].storage->id(), slots[b].offset, b);
  };
  std::vector<std::size_t> sorted(slots.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::erase_if(sorted, [&](std::size_t slot) { return slots[slot].bytes == 0; });
  std::sort(sorted.begin(), sorted.end(), before);
  // Among the slots seen so far: the slot that ends last, and the written slot that ends last.
  const std::size_t none = slots.size();
  std::size_t last = none, last_written = none;
  const auto end = [&](std::size_t slot) { return slots[slot].offset + slots[slot].bytes; };
  const auto extends = [&](std::size_t slot, std::size_t than) {
    return than == none || slots[slot].storage->id() != slots[than].storage->id() || end(slot) > end(than);
  };
  for (const std::size_t slot : sorted) {
    const std::size_t other = written[slot] ? last : last_written;
    if (other != none && slots[other].storage->id() == slots[slot].storage->id() && slots[slot].offset < end(other)) {
      const auto [first, second] = std::minmax(slot, other);
      throw overlapping(calls.slots[first].name, calls.slots[second].name);
    }
    if (extends(slot, last)) last = slot;
    if (written[slot] && extends(slot, last_written)) last_written = slot;
  }
}

}  // namespace vyre::run
