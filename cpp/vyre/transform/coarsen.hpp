// Coarsens threads: one invocation does the work of several invocations, its copies, that are a workgroup apart along x. Memory is used
// best when each invocation has several accesses in flight, and when the accesses of one copy stay adjacent across the invocations of a
// workgroup.
//
// The result is unchanged. Each copy does what its invocation did, in its order, and in a program without atomics and barriers nothing
// orders the invocations of different workgroups (docs/semantics.md, Memory, atomics, barriers): doing them in turns is one of the orders
// that the program allows.
//
// The copies take turns expression by expression. The values to store are computed for all copies before the first of them is stored, so
// that no store stands between their loads. Work that is the same for all copies, such as loop bounds and uniform conditions, is done once.
// A condition that depends on ids, such as the bounds check of an index, is tested for all copies at once. Where the copies disagree, and
// under conditions that depend on data, each copy runs alone.
#pragma once

#include <cstdint>
#include <optional>

#include "vyre/validate/validate.hpp"

namespace vyre::transform {

// Takes a program without Calls. Workgroup g of the result does the work of workgroups ways * g to ways * g + ways - 1 along x, so a grid
// of n * ways workgroups along x becomes one of n workgroups and gives the same bytes. Returns nothing for a program
//   - with barriers, atomics, or workgroup or private memory;
//   - with a Return under a condition that differs between copies, except for an If(condition) { Return } that is in no other block;
//   - with a Loop that the copies would run together, if its bounds differ between copies, or if some copies may leave it by a Break while
//     others go on;
//   - in which copies never access memory in turns, so that nothing is gained;
//   - of more than a few hundred expressions and statements.
std::optional<validate::ValidProgram> coarsen(const validate::ValidProgram& program, std::uint32_t ways);

}  // namespace vyre::transform
