// The list of backends, and what the host must check before any of them runs.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "vyre/run/backend.hpp"

namespace vyre::run {

// One of each that this build has, in the order of the list; they live as long as the process.
const std::vector<Backend*>& backends();
// Null when there is none of that name.
Backend* find_backend(std::string_view name);

}  // namespace vyre::run
