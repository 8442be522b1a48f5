// One function a rule, and the driver that runs them all.
#pragma once

#include <vector>

#include "vyre/validate/gathered.hpp"
#include "vyre/validate/options.hpp"
#include "vyre/validate/report.hpp"

namespace vyre::validate {

#define RULE(id, ...) void check_##id(const Gathered& program, Report& report);
#include "vyre/validate/rules.def"

// What a body breaks is the caller's to know as well: at the Call, under the body's rule.
void check_callees(const Gathered& program, Report& report);

// All rules, in program order. Every callee of `program` must have been examined.
std::vector<Finding> check(const Gathered& program, const Options& options);

}  // namespace vyre::validate
