// Which rules a validation leaves out, and what it says of the others besides their sentences.
#pragma once

#include <functional>
#include <string>

#include "vyre/base/id.hpp"

namespace vyre::validate {

struct Finding;
struct Gathered;

// Returns the hint of a finding, or the empty string. The NodeId is the statement that the finding is in; invalid when it is in none.
using Advice = std::function<std::string(const Finding&, NodeId)>;

struct Options {
  // V018 and V019 judge what a user wrote; our own passes validate their results without them.
  bool limits = true;
  // Checked execution decides divergence at run time: V010 is left out.
  bool uniformity = true;
  // advise::hints for diagnostics that a user of Python reads.
  Advice (*advice)(const Gathered&) = nullptr;
};

}  // namespace vyre::validate
