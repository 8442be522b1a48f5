// Finds the loops that may have made a call take too long, which the error of that call names.
#pragma once

#include <span>
#include <string>

#include "vyre/base/deadline.hpp"
#include "vyre/ir/program.hpp"

namespace vyre::run {

// The places of up to two loops of these programs that may take long, for in_loops (deadline.hpp); empty if there are none.
std::string long_loops(std::span<const ir::Program* const> programs);

// Calls `work`, which runs the program.
template <class Work>
auto naming_loops(const ir::Program& program, const Work& work) {
  try {
    return work();
  } catch (const DispatchTimeoutError& error) {
    const ir::Program* const programs[] = {&program};
    throw in_loops(error, long_loops(programs));
  }
}

}  // namespace vyre::run
