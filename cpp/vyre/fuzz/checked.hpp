// Whether checked execution says about a case what it must, and nothing else.
#pragma once

#include <optional>
#include <string>

#include "vyre/fuzz/case.hpp"
#include "vyre/run/checked.hpp"

namespace vyre::fuzz {

// What a checked run of the case finds. Throws what it throws.
run::Findings check_case(const Case& that, const run::Schedule& schedule = {});

// What is wrong with the findings, in words; nothing when they are right:
//   planted    one finding of the planted defect, at its statements and on its buffer, and none of another kind
//   clean      none
//   otherwise  no race, no divergent barrier and no dependence on order
std::optional<std::string> misjudged(const Case& that, const Options& options, const run::Findings& findings);

}  // namespace vyre::fuzz
