// Works on parts of host memory with several threads, where one thread does not reach the memory's bandwidth.
#pragma once

#include <cstddef>
#include <functional>

namespace vyre::run {

// The fewest bytes for one thread: with fewer, waking the thread takes longer than it saves.
inline constexpr std::size_t kLeastPartBytes = std::size_t{2} << 20;

// Calls `work(begin, end)` for parts that together are the indices below `count`, perhaps on several threads. All parts but the last have
// at least `least` indices, and each begins at a multiple of `granule`. `work` must not throw.
void in_parts(std::size_t count, std::size_t least, std::size_t granule, const std::function<void(std::size_t, std::size_t)>& work);

// Copies like memcpy, in such parts; `bytes` may be 0 with null pointers.
void host_copy(void* to, const void* from, std::size_t bytes);

}  // namespace vyre::run
