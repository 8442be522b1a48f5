// Writes the hint of a finding: the Fix in Python, which may name a declaration or the nearest name.
#pragma once

#include "vyre/validate/gathered.hpp"
#include "vyre/validate/options.hpp"

namespace vyre::advise {

// For validate::Options::advice. Only programs that break a rule come here, so nothing is gathered before a hint is asked for.
validate::Advice hints(const validate::Gathered& gathered);

}  // namespace vyre::advise
