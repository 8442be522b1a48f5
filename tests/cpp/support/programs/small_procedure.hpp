// A procedure of one dispatch, for tests of what happens around a call.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "vyre/ir/text/procedure_parse.hpp"
#include "vyre/run/procedures/procedure_call.hpp"
#include "vyre/run/registry.hpp"

namespace vyre::test {

inline constexpr std::string_view kIncrement = R"(vyre 1
procedure "increment"
in_out z: u32[]
program 0 {
  vyre 1
  workgroup_size 64 1 1
  buffer z: read_write u32 binding 0
  z[gid.x] = z[gid.x] + 1
}
dispatch add program 0 (z) workgroups (ceil_div(length(z), 64), 1, 1)
return z
)";

// Adds one to 100 zeros, as a call of host arrays.
inline std::vector<std::byte> increment(run::Backend& backend, std::size_t device, const run::RunOptions& options = {}) {
  const validate::ProcedureVerdict verdict = validate::validate(ir::parse_procedure(kIncrement), run::registered_ops());
  const std::vector<run::HostArray> given{{{100}, std::vector<std::byte>(400)}};
  return run::run(*verdict.procedure, given, {}, backend, device, options).front().bytes;
}

}  // namespace vyre::test
