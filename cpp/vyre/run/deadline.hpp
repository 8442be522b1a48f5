// The deadline of a call, from what its caller asked for.
#pragma once

#include <chrono>
#include <optional>

#include "vyre/base/deadline.hpp"
#include "vyre/run/backend.hpp"

namespace vyre::run {

// `options` must outlive the deadline.
inline Deadline deadline_of(const RunOptions& options) { return {options.timeout, &options.interrupted, options.start}; }

// The options of a call of several steps: its time limit counts from now unless it counts already. `made` holds the result if it differs
// from `options`.
inline const RunOptions& counting_from_now(const RunOptions& options, std::optional<RunOptions>& made) {
  if (!options.timeout || options.start) return options;
  made = options;
  made->start = std::chrono::steady_clock::now();
  return *made;
}

}  // namespace vyre::run
