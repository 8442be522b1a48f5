// Copies host memory, with several threads where one thread does not reach the memory's bandwidth.
#pragma once

#include <cstddef>

namespace vyre::run {

// Copies like memcpy; `bytes` may be 0 with null pointers.
void host_copy(void* to, const void* from, std::size_t bytes);

}  // namespace vyre::run
