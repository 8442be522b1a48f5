#include "vyre/run/gpu/chunks.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>
#include <system_error>

#include "vyre/run/host/processors.hpp"

namespace vyre::run {

Piece piece(std::size_t index, std::size_t bytes) {
  const std::size_t begin = index * kChunkBytes;
  return {begin, std::min(kChunkBytes, bytes - begin)};
}

void in_lanes(std::size_t bytes, const RunOptions& options, const std::function<void(const RunOptions&, const NextChunk&)>& lane) {
  const std::size_t chunks = (bytes + kChunkBytes - 1) / kChunkBytes;
  const std::size_t lanes = std::min({std::size_t{usable_processors()}, kMaxLanes, chunks});
  std::atomic<std::size_t> taken = 0;
  std::atomic<bool> stopped = false;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto next = [&]() -> std::optional<std::size_t> {
    const std::size_t index = taken++;
    if (stopped || index >= chunks) return std::nullopt;
    return index;
  };
  const auto run = [&](const RunOptions& with) {
    try {
      lane(with, next);
    } catch (...) {
      const std::lock_guard lock(mutex);
      // The first exception is the cause; the other lanes stopped because of it.
      if (!stopped) failure = std::current_exception();
      stopped = true;
    }
  };
  {
    // Only the caller's thread may call options.interrupted; the helper threads stop once any lane has failed.
    RunOptions others;
    others.interrupted = [&] { return stopped.load(); };
    std::vector<std::jthread> helpers;
    try {
      helpers.reserve(lanes);
      while (helpers.size() + 1 < lanes) helpers.emplace_back([&] { run(others); });
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
      // The copy also works with fewer threads, but takes longer.
    }
    run(options);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace vyre::run
