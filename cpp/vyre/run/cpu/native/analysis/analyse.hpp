// Analyses a kernel for its translation to machine code, in steps that have sources of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "vyre/lower/kernel.hpp"
#include "vyre/run/cpu/native/analysis/analysis.hpp"
#include "vyre/run/cpu/native/vectors.hpp"

namespace vyre::run::cpu::native {

// Why a kernel has no native code, and what to change about its program.
struct Refusal {
  std::string_view reason, fix;
};

// Returns nothing if the kernel cannot be translated to native code; `refusal` then says why.
std::optional<Analysis> analyse(const lower::Kernel& kernel, Vectors vectors, Refusal& refusal);

// Gives each word of a value and of a variable a cell.
// Fills in found.cells, whose live ranges are still empty, found.of_value, found.of_variable, found.first_lane and found.guards. `forms`
// has the form of each instruction's value. `found` must have everything else but what find_live_ranges() and find_streamed_buffers() give.
void make_cells(const lower::Kernel& kernel, const std::vector<Form>& forms, Analysis& found);

// Finds how the values of a kernel are represented in vectors: which conditions need no register of their own.
// Returns a form for each instruction. `found` must have the uniformity and the selected instructions.
std::vector<Form> find_forms(const lower::Kernel& kernel, const Analysis& found);

// Tells kernels whose time is the latency of one gather after the other.
// Whether a loop gathers from places that words of another gather decide, as a walk over the table of an automaton does. `analysis` has the
// uniformity and the strides.
bool chains_gathers(const lower::Kernel& kernel, const Analysis& analysis);

// The deepest nesting of blocks that is translated. It is limited because some steps look at all blocks around a position.
inline constexpr std::uint32_t kDeepest = 64;  // the refusal names this number, too

// Finds the Ifs and Loops around each instruction, and the ones that some lanes leave before others.
// Fills in found.around, found.exits, found.returns and found.accesses_in_parted_loop. `found` must have the uniformity. Returns false if
// the nesting is too deep.
bool find_nesting(const lower::Kernel& kernel, Analysis& found);

// Cuts the code at its barriers.
// Fills in found.regions and found.of_workgroup. `found` must have the uniformity and the nesting. Returns false if some lanes may not
// reach a barrier together with the others.
bool find_regions(const lower::Kernel& kernel, Analysis& found);

// Finds the buffers whose stores need not go through the caches.
// Fills in found.streamed and found.waits_for_memory. A buffer is streamed if one store outside of loops writes it and nothing else
// accesses it: each of its elements is in use once.
void find_streamed_buffers(const lower::Kernel& kernel, Analysis& found);

// Finds the values that rise evenly from lane to lane: with them as indices, a vector loads and stores memory without gathering.
// Fills in found.strides. `found` must have the uniformity, and say whether the kernel needs whole workgroups.
void find_strides(const lower::Kernel& kernel, Analysis& found);

// Finds the live ranges of cells, and how often they are accessed.
// Fills in the live ranges and weights of found.cells, and found.divides. `forms` has the form of each instruction's value. `found` must
// have the cells and the regions.
void find_live_ranges(const lower::Kernel& kernel, const std::vector<Form>& forms, Analysis& found);

// Moves values that do not change in a loop to the place before it, in a kernel for which machine code is made.
//
// Lowering makes a value where it is first needed, which is often in a loop although its operands come from outside. Kernels stay as they
// are for everything else: the pass works on a copy.
struct Hoisted {
  lower::Kernel kernel;
  std::vector<std::uint32_t> origin;  // by instruction: its position in the kernel that was given
};

// Nothing when no instruction moves.
std::optional<Hoisted> hoist_loop_invariants(const lower::Kernel& kernel);

}  // namespace vyre::run::cpu::native
