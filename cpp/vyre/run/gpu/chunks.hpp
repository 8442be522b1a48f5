// Cuts a large copy between host and device into chunks, which several threads take one after the other.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "vyre/run/backend.hpp"

namespace vyre::run {

// The largest copy of one submission, in bytes. It takes a device as long as some tens of submissions.
inline constexpr std::size_t kChunkBytes = std::size_t{4} << 20;
// The most threads of one copy. One thread copies about a third as fast as the bus does.
inline constexpr std::size_t kMaxLanes = 8;

struct Piece {
  std::size_t begin, bytes;
};
// The chunk of this index in a copy of so many bytes.
Piece piece(std::size_t index, std::size_t bytes);

// The index of the next chunk that nobody took.
using NextChunk = std::function<std::optional<std::size_t>()>;
// Runs `lane` on this thread, and on others when there is enough to do. The first exception ends all lanes and is thrown here.
void in_lanes(std::size_t bytes, const RunOptions& options, const std::function<void(const RunOptions&, const NextChunk&)>& lane);

}  // namespace vyre::run
