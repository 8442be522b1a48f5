// How it works: a transfer is cut into chunks of 4 MiB, and up to eight threads ("lanes") take one chunk after the other. A lane has two
// chunks of staging memory: while the device copies one, the thread fills or empties the other.
#include "vyre/run/vulkan/memory/transfer.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "vyre/base/error.hpp"
#include "vyre/run/processors.hpp"

namespace vyre::run::vulkan {
namespace {

// One thread copies about a third as fast as the bus does.
constexpr std::size_t kMaxLanes = 8;
// The chunks of one transfer.
constexpr std::size_t kMaxUnusedChunks = 2 * kMaxLanes;

// Runs `lane(options, next)` on this thread, and on others when there is enough to do; `next()` gives the index of each chunk once. The
// first exception ends all lanes and is thrown here.
void in_lanes(std::size_t bytes, const RunOptions& options,
              const std::function<void(const RunOptions&, const std::function<std::optional<std::size_t>()>&)>& lane) {
  const std::size_t chunks = (bytes + Transfers::kChunkBytes - 1) / Transfers::kChunkBytes;
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
    // Only the caller's thread may call options.interrupted; the others stop when a lane stopped.
    RunOptions others;
    others.interrupted = [&] { return stopped.load(); };
    std::vector<std::jthread> helpers;
    try {
      helpers.reserve(lanes);
      while (helpers.size() + 1 < lanes) helpers.emplace_back([&] { run(others); });
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
      // Fewer threads do it too, in more time.
    }
    run(options);
  }
  if (failure) std::rethrow_exception(failure);
}

struct Piece {
  std::size_t begin, bytes;
};

Piece piece(std::size_t index, std::size_t bytes) {
  const std::size_t begin = index * Transfers::kChunkBytes;
  return {begin, std::min(Transfers::kChunkBytes, bytes - begin)};
}

}  // namespace

// Staging memory, and the command buffer of its copy.
struct Transfers::Chunk final : Retired {
  Chunk(Context& context, Heap& heap) : commands(context), staging(heap.allocate(kChunkBytes, BufferUse::Host)) {}

  Commands commands;
  Block staging;
  TimelineValue last_use = 0;
};

// The chunks of one thread.
class Transfers::Lane {
 public:
  explicit Lane(Transfers& transfers) : transfers_(transfers) {}
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane() {
    for (std::unique_ptr<Chunk>& chunk : chunks_) {
      if (chunk) transfers_.give_back(std::move(chunk));
    }
  }

  Chunk& operator[](std::size_t index) {
    std::unique_ptr<Chunk>& chunk = chunks_[index % chunks_.size()];
    if (!chunk) chunk = transfers_.borrow();
    return *chunk;
  }

 private:
  Transfers& transfers_;
  std::array<std::unique_ptr<Chunk>, 2> chunks_;
};

Transfers::Transfers(Context& context, Stream& stream, Heap& heap, Timing& timing)
    : context_(context), stream_(stream), heap_(heap), timing_(timing) {
  unused_.reserve(kMaxUnusedChunks);
}

Transfers::~Transfers() = default;

std::unique_ptr<Transfers::Chunk> Transfers::borrow() {
  {
    const std::lock_guard lock(mutex_);
    if (!unused_.empty()) {
      // The first one was submitted first, so it is the first to be free.
      std::unique_ptr<Chunk> chunk = std::move(unused_.front());
      unused_.erase(unused_.begin());
      return chunk;
    }
  }
  return std::make_unique<Chunk>(context_, heap_);
}

void Transfers::give_back(std::unique_ptr<Chunk> chunk) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (unused_.size() < kMaxUnusedChunks) {
      unused_.push_back(std::move(chunk));  // room is reserved
      return;
    }
  }
  const TimelineValue until = chunk->last_use;
  stream_.retire(until, std::move(chunk));
}

template <class Record>
void Transfers::submit(Chunk& chunk, const OnSubmit& on_submit, const Record& record) {
  chunk.commands.begin();
  chunk.commands.order(kDevice, kTransfer);
  record(chunk.commands);
  chunk.commands.end();
  const VkCommandBuffer commands = chunk.commands.handle();
  chunk.last_use = stream_.submit({.commands = {&commands, 1}, .on_submit = std::cref(on_submit)});
}

void Transfers::upload(std::span<const std::byte> from, const Block& to, std::uint64_t offset, const OnSubmit& on_submit,
                       const RunOptions& options) {
  in_lanes(from.size(), options, [&](const RunOptions& with, const auto& next) {
    const Waiting waiting(with);
    Lane lane(*this);
    for (std::size_t turn = 0;; ++turn) {
      const auto index = next();
      if (!index) return;
      const Piece part = piece(*index, from.size());
      Chunk& chunk = lane[turn];
      stream_.wait(chunk.last_use, waiting);
      std::memcpy(chunk.staging.mapped(), from.data() + part.begin, part.bytes);
      auto timestamps = timing_.begin_if_profiled(with);
      submit(chunk, on_submit, [&](Commands& commands) {
        if (timestamps) timestamps->begin(commands, {"upload", nullptr, {0, 0, 0}, part.bytes});
        commands.copy(chunk.staging.buffer(), chunk.staging.offset(), to.buffer(), to.offset() + offset + part.begin, part.bytes);
        if (timestamps) timestamps->end(commands);
        // A read of mapped memory does not pass a barrier of its own.
        if (to.mapped() != nullptr) commands.order(kTransfer, kHost);
      });
      if (timestamps) timing_.submitted(std::move(timestamps), chunk.last_use);
    }
  });
}

void Transfers::download(const Block& from, std::uint64_t offset, std::span<std::byte> to, const OnSubmit& on_submit,
                         const RunOptions& options) {
  in_lanes(to.size(), options, [&](const RunOptions& with, const auto& next) {
    const Waiting waiting(with);
    Lane lane(*this);
    std::optional<Piece> under_way;
    for (std::size_t turn = 0;; ++turn) {
      // The copy of the next chunk starts before the last one is emptied.
      std::optional<Piece> started;
      if (const auto index = next()) {
        started = piece(*index, to.size());
        Chunk& chunk = lane[turn];
        stream_.wait(chunk.last_use, waiting);
        auto timestamps = timing_.begin_if_profiled(with);
        submit(chunk, on_submit, [&](Commands& commands) {
          if (timestamps) timestamps->begin(commands, {"download", nullptr, {0, 0, 0}, started->bytes});
          commands.copy(from.buffer(), from.offset() + offset + started->begin, chunk.staging.buffer(), chunk.staging.offset(),
                        started->bytes);
          if (timestamps) timestamps->end(commands);
          commands.order(kTransfer, kHost);
        });
        if (timestamps) timing_.submitted(std::move(timestamps), chunk.last_use);
      }
      if (under_way) {
        Chunk& chunk = lane[turn + 1];
        stream_.wait(chunk.last_use, waiting);
        std::memcpy(to.data() + under_way->begin, chunk.staging.mapped(), under_way->bytes);
      }
      if (!started) return;
      under_way = started;
    }
  });
}

void Transfers::clear(const Block& block, const OnSubmit& on_submit) {
  Lane lane(*this);
  Chunk& chunk = lane[0];
  stream_.wait(chunk.last_use, Waiting({}));
  submit(chunk, on_submit, [&](Commands& commands) { commands.zero(block.buffer(), block.offset(), block.bytes()); });
}

}  // namespace vyre::run::vulkan
