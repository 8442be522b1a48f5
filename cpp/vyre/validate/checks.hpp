// One function a rule, and the driver that runs them all.
#pragma once

#include <vector>

#include "vyre/validate/gathered.hpp"
#include "vyre/validate/options.hpp"
#include "vyre/validate/report.hpp"

namespace vyre::validate {

#define RULE(id, ...) void check_##id(const Gathered& program, Report& report);
#include "vyre/validate/rules.def"

// Reports at each Call, under the rule of the body, what the called body breaks.
void check_callees(const Gathered& program, Report& report);

// All rules, in program order. Every callee of `program` must have been examined.
std::vector<Finding> check(const Gathered& program, const Options& options);

}  // namespace vyre::validate
