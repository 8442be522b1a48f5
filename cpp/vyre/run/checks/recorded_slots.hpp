// Checks the slots of a recording (recording.hpp) before it is submitted.
#pragma once

#include <span>

#include "vyre/run/recording.hpp"

namespace vyre::run {

// Throws BindingError for slots that overlap while a call writes one of them.
void check_slots(const Recording& recording, std::span<const StorageView> slots);

}  // namespace vyre::run
