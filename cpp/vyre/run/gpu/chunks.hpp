// Copies large arrays between the host and a device, in chunks and by several threads.
//
// Up to kMaxLanes threads ("lanes") take one chunk of the copy after the other. A lane has two chunks of staging memory, which the host and
// the device both reach: while the device copies one, the thread fills or empties the other. The backend says how its device copies.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "vyre/run/backend.hpp"
#include "vyre/run/gpu/retired.hpp"
#include "vyre/run/gpu/waiting.hpp"

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

// Keeps the staging memory of a device, in chunks, and copies through it. `Chunk` derives from Retired, has memory(), which the host
// reaches, and `last_use`, the value of the last submission that uses the chunk. `Stream` has wait() and retire(). Any thread may call any
// function.
template <class Chunk, class Stream>
class ChunkPool {
 public:
  ChunkPool(Stream& stream, std::function<std::unique_ptr<Chunk>()> make) : stream_(stream), make_(std::move(make)) {
    unused_.reserve(kMaxUnused);
  }

  // Copies `from` to the device, and returns when `from` is no longer needed. `copy(chunk, piece, options)` has the device copy the chunk
  // to where the piece belongs, and sets the chunk's `last_use`.
  template <class Copy>
  void upload(std::span<const std::byte> from, const RunOptions& options, const Copy& copy) {
    in_lanes(from.size(), options, [&](const RunOptions& with, const NextChunk& next) {
      const Waiting waiting(with);
      Lane lane(*this);
      for (std::size_t turn = 0;; ++turn) {
        const auto index = next();
        if (!index) return;
        const Piece part = piece(*index, from.size());
        Chunk& chunk = lane[turn];
        stream_.wait(chunk.last_use, waiting);
        std::memcpy(chunk.memory(), from.data() + part.begin, part.bytes);
        copy(chunk, part, with);
      }
    });
  }
  // Does the opposite, and returns when `to` is complete.
  template <class Copy>
  void download(std::span<std::byte> to, const RunOptions& options, const Copy& copy) {
    in_lanes(to.size(), options, [&](const RunOptions& with, const NextChunk& next) {
      const Waiting waiting(with);
      Lane lane(*this);
      std::optional<Piece> under_way;
      for (std::size_t turn = 0;; ++turn) {
        // The device starts to copy this chunk before the host empties the previous one.
        std::optional<Piece> started;
        if (const auto index = next()) {
          started = piece(*index, to.size());
          Chunk& chunk = lane[turn];
          stream_.wait(chunk.last_use, waiting);
          copy(chunk, *started, with);
        }
        if (under_way) {
          Chunk& chunk = lane[turn + 1];
          stream_.wait(chunk.last_use, waiting);
          std::memcpy(to.data() + under_way->begin, chunk.memory(), under_way->bytes);
        }
        if (!started) return;
        under_way = started;
      }
    });
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
