// Declares the passes. Each maps a valid program to a valid program that gives the same bytes. When it runs again it changes nothing, and
// returns the very same program.
//
// Passes also keep the order of atomics, of loads of writable memory and of barriers, they keep every Return, and they leave barriers in
// uniform control flow. A statement's atomics and loads of writable memory stay in that statement, or are bound directly in front of it.
#pragma once

#include <span>
#include <string_view>

#include "vyre/validate/validate.hpp"

namespace vyre::transform {

// Expands every Call (docs/semantics.md, Calls). Throws a LoweringError that names the operation if the result would outgrow V018 or V019.
// The expansion counts what it adds, and stops at the limit.
validate::ValidProgram inline_calls(const validate::ValidProgram& program);

// Throws what inline_calls would, for backends that run calls as they are: a program that one backend refuses, all refuse.
void check_expansion(const validate::ValidProgram& program);

// All passes expect a program without Calls.
#define PASS(name, meaning) validate::ValidProgram name(const validate::ValidProgram& program);
#include "vyre/transform/passes.def"

using Pass = validate::ValidProgram (*)(const validate::ValidProgram&);
struct PassInfo {
  std::string_view name;
  Pass run;
  std::string_view meaning;
};

// In the order of passes.def.
std::span<const PassInfo> passes();

// inline_calls, then every pass in order until nothing changes (or a number of rounds that only a made-up program needs).
validate::ValidProgram optimize(const validate::ValidProgram& program);

}  // namespace vyre::transform
