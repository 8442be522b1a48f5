// Cuts a large copy between host and device into chunks, which several threads take one after the other.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "vyre/run/backend.hpp"
#include "vyre/run/gpu/retired.hpp"

namespace vyre::run {

// The largest copy of one submission, in bytes. Copying this much takes a device as long as some tens of submissions take.
inline constexpr std::size_t kChunkBytes = std::size_t{4} << 20;
// The most threads of one copy. One thread reaches about a third of the bus's bandwidth.
inline constexpr std::size_t kMaxLanes = 8;

struct Piece {
  std::size_t begin, bytes;
};
// Returns the chunk of this index in a copy of `bytes` bytes.
Piece piece(std::size_t index, std::size_t bytes);

// Gives the index of the next chunk that no thread took.
using NextChunk = std::function<std::optional<std::size_t>()>;
// Runs `lane` on this thread, and on others when there is enough to do. The first exception ends all lanes and is thrown here.
void in_lanes(std::size_t bytes, const RunOptions& options, const std::function<void(const RunOptions&, const NextChunk&)>& lane);

// Keeps the staging memory of a device, in chunks. `Chunk` derives from Retired and has `last_use`, the value of the last submission that
// uses the chunk. `Stream` has retire(). Any thread may call any function.
template <class Chunk, class Stream>
class ChunkPool {
 public:
  ChunkPool(Stream& stream, std::function<std::unique_ptr<Chunk>()> make) : stream_(stream), make_(std::move(make)) {
    unused_.reserve(kMaxUnused);
  }

  // The chunks of one thread. The device may still be copying from or to them.
  class Lane {
   public:
    explicit Lane(ChunkPool& pool) : pool_(pool) {}
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;
    ~Lane() {
      for (std::unique_ptr<Chunk>& chunk : chunks_) {
        if (chunk) pool_.give_back(std::move(chunk));
      }
    }

    // Returns one of the two chunks of the lane: one is for even indices, the other for odd ones.
    Chunk& operator[](std::size_t index) {
      std::unique_ptr<Chunk>& chunk = chunks_[index % chunks_.size()];
      if (!chunk) chunk = pool_.borrow();
      return *chunk;
    }

   private:
    ChunkPool& pool_;
    std::array<std::unique_ptr<Chunk>, 2> chunks_;
  };

 private:
  // The most chunks that one transfer takes.
  static constexpr std::size_t kMaxUnused = 2 * kMaxLanes;

  std::unique_ptr<Chunk> borrow() {
    {
      const std::lock_guard lock(mutex_);
      if (!unused_.empty()) {
        // The front chunk was given back first, so the device is done with it first.
        std::unique_ptr<Chunk> chunk = std::move(unused_.front());
        unused_.erase(unused_.begin());
        return chunk;
      }
    }
    return make_();
  }
  void give_back(std::unique_ptr<Chunk> chunk) noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (unused_.size() < kMaxUnused) {
        unused_.push_back(std::move(chunk));  // room is reserved
        return;
      }
    }
    const TimelineValue until = chunk->last_use;
    stream_.retire(until, std::move(chunk));
  }

  Stream& stream_;
  const std::function<std::unique_ptr<Chunk>()> make_;
  std::mutex mutex_;  // guards what follows
  std::vector<std::unique_ptr<Chunk>> unused_;
};

}  // namespace vyre::run
