// Checks a program against every rule. Only this makes a ValidProgram, which every later stage takes.
#pragma once

#include <optional>

#include "vyre/base/diagnostic.hpp"
#include "vyre/ir/op_spec.hpp"
#include "vyre/ir/program.hpp"
#include "vyre/validate/options.hpp"
#include "vyre/validate/valid.hpp"

namespace vyre::validate {

struct Verdict {
  Diagnostics diagnostics;  // in program order; empty when valid
  std::optional<ValidProgram> program;
};

Verdict validate(const ir::Program& program, const ir::OpTable& ops, const Options& options = {});
// The program of a verdict. Throws ValidationError if it is not valid.
ValidProgram accepted(Verdict verdict);

// The diagnostics of an operation's body, for registration: "V034" and all rules that hold in programs. `ops` are those it may call.
Diagnostics validate_op(const ir::OpSpec& spec, const ir::OpTable& ops, const Options& options = {});

}  // namespace vyre::validate
