// The deadline of a call, from what its caller asked for.
#pragma once

#include "vyre/base/deadline.hpp"
#include "vyre/run/backend.hpp"

namespace vyre::run {

// `options` must outlive the deadline.
inline Deadline deadline_of(const RunOptions& options) { return {options.timeout, &options.interrupted, options.start}; }

}  // namespace vyre::run
