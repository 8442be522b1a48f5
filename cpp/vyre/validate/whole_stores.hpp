// Finds the buffers that a program stores to as a whole, so that what they held before cannot be seen.
#pragma once

#include <cstdint>
#include <vector>

#include "vyre/validate/valid.hpp"

namespace vyre::validate {

// Element k of the buffer is stored by an invocation whose id along the axis is k, if there is one and k is below the lengths of `below`.
struct WholeStore {
  BufferId buffer;
  std::uint8_t axis = 0;
  std::vector<BufferId> below;
};

// Returns at most one for each buffer, and none for a buffer that the program reads. Takes time in proportion to the program, except for
// programs that store to many buffers in many blocks.
std::vector<WholeStore> whole_stores(const ValidProgram& program);

}  // namespace vyre::validate
