// Judges whether checked execution reports exactly what it must about a case.
#pragma once

#include <optional>
#include <string>

#include "vyre/fuzz/case.hpp"
#include "vyre/run/checks/checked.hpp"

namespace vyre::fuzz {

// Runs the case checked and gives the findings. Throws what the run throws.
run::Findings check_case(const Case& that, const run::Schedule& schedule = {});

// Says in words what is wrong with the findings; nothing when they are right:
//   planted    one finding of the planted defect, at its statements and on its buffer, and none of another kind
//   clean      none
//   otherwise  no race, no divergent barrier and no dependence on order
std::optional<std::string> misjudged(const Case& that, const Options& options, const run::Findings& findings);

}  // namespace vyre::fuzz
