// A driver runs a workgroup in groups of lanes, and the last group may have lanes that belong to no invocation. llvmpipe (Mesa 22.3) runs
// loops in these lanes too, and loads give 0 there. Where they take more turns through a loop with a barrier than the invocations do,
// their group is left waiting at the barrier, and what its invocations store after the loop is lost. So they must not enter such a loop.
// The groups lie along x, so that in a workgroup of several axes each row can end in such lanes, whose local index may be that of an
// invocation of the next row. Their x tells them apart. It is taken from the local index, because a driver makes 0 of the local id's x
// where the workgroup is one invocation wide.
#pragma once

#include <vector>

#include "vyre/lower/kernel.hpp"

namespace vyre::emit {

// Returns for each instruction whether it is a loop with a barrier that lanes of no invocation could enter. The list is empty if there is
// none.
std::vector<bool> loops_closed_to_unused_lanes(const lower::Kernel& kernel);

}  // namespace vyre::emit
