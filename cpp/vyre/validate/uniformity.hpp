// Which values and which control flow are the same for a whole workgroup (semantics, section 6).
#pragma once

#include <vector>

#include "vyre/validate/gather.hpp"

namespace vyre::validate {

// The barriers that only a part of a workgroup may reach, in program order.
std::vector<NodeId> divergent_barriers(const Gathered& program);

}  // namespace vyre::validate
