// Which elements of its arrays a dispatch certainly writes, and which it may read: what procedures need to know to leave out zeros.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vyre/run/backend.hpp"
#include "vyre/run/reach/index_form.hpp"
#include "vyre/run/reach/values.hpp"
#include "vyre/validate/valid.hpp"

namespace vyre::run {

struct Reach {
  // Some invocation stores to every element in them. In order.
  std::vector<Range> written;
  // No element outside of it is read.
  Range read;
};

// Whether a dispatch stores to all of a buffer of this length and reads none of it, so that what it held before cannot be seen.
bool is_whole(const Reach& reach, std::uint64_t length);

// Returns one for each of `program.bound()`. `grid` is the number of workgroups; if it is not `exact`, there may be fewer. Takes time in
// proportion to the program.
std::vector<Reach> reach_of(const validate::ValidProgram& program, std::span<const ReachedBuffer> buffers, Grid grid, bool exact);

}  // namespace vyre::run
