// Checks the slots of a recording (recording.hpp) before it is submitted.
#pragma once

#include <span>
#include <vector>

#include "vyre/run/recording.hpp"

namespace vyre::run {

// Says for each slot whether a call writes it.
std::vector<bool> written_slots(const CallsToRecord& calls);
// Throws BindingError for slots that overlap while a call writes one of them.
void check_slots(const Recording& recording, std::span<const StorageView> slots);

}  // namespace vyre::run
