// Declares the passes. Each maps a valid program to a valid program that gives the same bytes. A pass that is run on its own result changes
// nothing, and returns the very same program.
//
// Passes also keep the order of atomics, of loads of writable memory and of barriers, they keep every Return, and they leave barriers in
// uniform control flow. A statement's atomics and loads of writable memory stay in that statement, or are bound directly in front of it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "vyre/validate/validate.hpp"

namespace vyre::transform {

// Which calls of primitive.u64.div and primitive.u64.mod stay in a program, because lowering has code for them (lower/wide_division.hpp).
enum class Kept : std::uint8_t { None, DivisionsByLiterals, Divisions };

// Expands every Call (docs/semantics.md, Calls) but those that are kept. Throws a LoweringError that names the operation if the result
// would outgrow V018 or V019 with every call expanded. The expansion counts what it adds, and stops at the limit.
validate::ValidProgram inline_calls(const validate::ValidProgram& program, Kept kept = Kept::None);

// Throws the LoweringError that inline_calls would throw. Backends that execute calls without expanding them call this function, so that
// all backends refuse the same programs.
void check_expansion(const validate::ValidProgram& program);

// All passes expect a program without Calls, except those that are kept.
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

// Runs inline_calls, then every pass in order, in rounds until a round changes nothing. The number of rounds is limited; only contrived
// programs reach the limit.
validate::ValidProgram optimize(const validate::ValidProgram& program, Kept kept = Kept::None);

}  // namespace vyre::transform
