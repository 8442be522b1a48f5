// Says what ir::resolve() found (V039): the sentence, the place, and what to write instead.
#pragma once

#include "vyre/base/diagnostic.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/ir/op_spec.hpp"

namespace vyre::validate {

// In program order. `ops` are the operations that the program's calls mean.
Diagnostics diagnose(const ir::Resolved& resolved, const ir::OpTable& ops);

}  // namespace vyre::validate
