// Thread coarsening: one invocation does the work of several that stand a workgroup apart along x. Memory is busiest when each
// invocation has several accesses on their way, and those of one copy stay side by side over the invocations of a workgroup.
//
// The result is unchanged. Each copy does what its invocation did, in its order, and in a program without atomics and barriers nothing
// orders the invocations of different workgroups (semantics, section 6): doing them in turns is one of the orders that the program allows.
//
// The copies take turns expression by expression, and what is stored is known for all of them before any of them stores it, so that a
// device finds their loads with no store in between. What is the same for all copies is done once: bounds of loops, uniform
// conditions. A condition that comes from ids, like that on an index, is asked of all copies at once; where they disagree, and
// under conditions that come from data, each copy runs alone.
#pragma once

#include <cstdint>
#include <optional>

#include "vyre/validate/validate.hpp"

namespace vyre::transform {

// A program without Calls. Workgroup g of the result does the work of workgroups ways * g to ways * g + ways - 1 along x, so a grid of n *
// ways workgroups along x becomes one of n, with the same bytes. Gives nothing where that is not certain, or where nothing is gained:
// with barriers, workgroup memory or atomics; a Return that some invocations reach and others do not, unless it leaves an If at the
// end of which the program goes on without them; loops whose bounds differ between copies that take turns; no access to memory in turns;
// more than a few hundred expressions and statements.
std::optional<validate::ValidProgram> coarsen(const validate::ValidProgram& program, std::uint32_t ways);

}  // namespace vyre::transform
