// Says what ir::resolve() found (V039): the sentence, the place, and what to write instead.
#pragma once

#include <string>

#include "vyre/base/diagnostic.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/ir/op_spec.hpp"
#include "vyre/validate/gathered.hpp"

namespace vyre::validate {

// Returns how to compute a value of the wrong type as one of another type, where a cast would come too late: a shift has lost the bits
// beyond its 32 by then, and `~` of a truth is never zero. Returns the empty string where a cast gives what is meant.
std::string computed_as(const Gathered& gathered, const Step& value, ir::DataType want);

// In program order. `ops` are the operations that the program's calls mean.
Diagnostics diagnose(const ir::Resolved& resolved, const ir::OpTable& ops);

}  // namespace vyre::validate
