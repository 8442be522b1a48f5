// Programs for repetitions that an element ends. The element is known to the device alone, so every turn is recorded, and the calls of a
// turn that is not to run have an empty grid.
//
// The state of a repetition is four words. The first three are the counts of a grid from data (data_grid.hpp) for all of its calls: each is
// the largest number while the repetition goes on, so that a call keeps its own grid, and 0 once it has ended. The fourth one is a mark of
// the last turn that began, or that would have begun where the repetition ended. All of these programs run in one invocation.
#pragma once

#include <array>
#include <cstdint>

#include "vyre/ir/fwd.hpp"
#include "vyre/run/data_grid.hpp"
#include "vyre/run/profile.hpp"

namespace vyre::run {

inline constexpr std::uint64_t kStateBytes = 16;
// The state before the first turn of a repetition that stands in no other one. An inner one begins with the state of the outer one.
inline constexpr std::array<std::uint32_t, 4> kGoingOn = {~0u, ~0u, ~0u, 0};

// Returns the program that copies a state. It binds the state to read and the one to write.
const ProfiledProgram& begin_program();
// Returns the program that begins a turn; `element` is an integer or a boolean. It binds the element, the mark of the turn and the state,
// which it changes. It reads the element only while the repetition goes on.
const ProfiledProgram& turn_program(ir::DataType element);
// Returns the program that gives the counts of a call that has counts of its own. It binds the state, these counts, and those to write.
const ProfiledProgram& counts_program();
// Returns the program that gives counts for what is done only where a repetition ended at a turn with a mark. It binds the state, the mark,
// and the counts to write.
const ProfiledProgram& ended_at_program();

}  // namespace vyre::run
