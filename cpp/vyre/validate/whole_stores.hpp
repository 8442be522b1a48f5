// Which buffers a program stores to as a whole, so that nobody sees what they held before.
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

// At most one a buffer. A buffer that the program reads is none of them. Takes time in proportion to the program, but for programs that
// store to many buffers in many blocks.
std::vector<WholeStore> whole_stores(const ValidProgram& program);

}  // namespace vyre::validate
