// Notes: what is probably not meant in a program that keeps every rule. They never stop a program, and are computed only when asked for.
#pragma once

#include "vyre/advise/noted_call.hpp"
#include "vyre/base/diagnostic.hpp"
#include "vyre/validate/valid.hpp"

namespace vyre::advise {

using namespace validate;

// In program order; at one place by number. Takes time in proportion to the program.
Diagnostics notes(const ValidProgram& program, const NotedCall& call = {});

}  // namespace vyre::advise
