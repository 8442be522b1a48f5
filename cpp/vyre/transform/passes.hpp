// The passes: each maps a valid program to a valid program with the same bytes, and changes nothing when run again.
#pragma once

#include <span>
#include <string_view>

#include "vyre/validate/validate.hpp"

namespace vyre::transform {

// Expands every Call (semantics, section 8). Throws LoweringError naming the operation when the result would outgrow V018 or V019;
// that is found by counting, before anything is expanded.
validate::ValidProgram inline_calls(const validate::ValidProgram& program);

using Pass = validate::ValidProgram (*)(const validate::ValidProgram&);
struct PassInfo {
  std::string_view name;
  Pass run;
  std::string_view meaning;
};

// In the order of passes.def. All of them expect a program without Calls.
std::span<const PassInfo> passes();

// inline_calls, then every pass in order until nothing changes.
validate::ValidProgram optimize(const validate::ValidProgram& program);

}  // namespace vyre::transform
