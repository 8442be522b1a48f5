#include "vyre/run/vulkan/memory/transfer.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "vyre/base/error.hpp"
#include "vyre/run/processors.hpp"
#include "vyre/run/vulkan/calls/storage.hpp"
#include "vyre/run/vulkan/device.hpp"
#include "vyre/run/vulkan/submit/timestamps.hpp"

namespace vyre::run::vulkan {
namespace {

// One costs the device as long as some tens of submissions.
constexpr std::size_t kChunk = std::size_t{4} << 20;
static_assert(kChunk >= Contents::kMostBytes);
// One thread copies a third as fast as the bus does.
constexpr std::size_t kMostLanes = 8;

// Chunks lent to one thread: while the device copies one, the thread fills or empties the other.
class Lane {
 public:
  explicit Lane(Device& device) : device_(device) {}
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane() {
    for (std::unique_ptr<Chunk>& chunk : chunks_) {
      if (chunk) device_.give_back(std::move(chunk));
    }
  }

  Chunk& operator[](std::size_t index) {
    std::unique_ptr<Chunk>& chunk = chunks_[index % chunks_.size()];
    if (!chunk) chunk = device_.borrow_chunk();
    return *chunk;
  }

 private:
  Device& device_;
  std::array<std::unique_ptr<Chunk>, 2> chunks_;
};

// Runs `lane(options, next)` on this thread, and on others when there is enough to do; `next()` gives each chunk's index once. The first
// exception ends all lanes and is thrown here.
void in_lanes(std::size_t bytes, const RunOptions& options,
              const std::function<void(const RunOptions&, const std::function<std::optional<std::size_t>()>&)>& lane) {
  const std::size_t chunks = (bytes + kChunk - 1) / kChunk;
  const std::size_t lanes = std::min({std::size_t{usable_processors()}, kMostLanes, chunks});
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
      // The first one is the reason; the others stopped because of it.
      if (!stopped) failure = std::current_exception();
      stopped = true;
    }
  };
  {
    // Only the caller's thread may ask whether the call is still wanted; the others ask whether it goes on.
    RunOptions others;
    others.interrupted = [&] { return stopped.load(); };
    std::vector<std::jthread> helpers;
    try {
      helpers.reserve(lanes);
      while (helpers.size() + 1 < lanes) helpers.emplace_back([&] { run(others); });
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
      // With fewer threads it takes longer.
    }
    run(options);
  }
  if (failure) std::rethrow_exception(failure);
}

struct Piece {
  std::size_t begin, bytes;
};

Piece piece(std::size_t index, std::size_t bytes) { return {index * kChunk, std::min(kChunk, bytes - index * kChunk)}; }

}  // namespace

Chunk::Chunk(Device& device) : commands(device), staging(device, kChunk, BufferUse::Staging) {}

void upload(Device& device, std::span<const std::byte> from, VulkanStorage& to, std::uint64_t offset, const RunOptions& options) {
  const Block& block = to.block();
  in_lanes(from.size(), options, [&](const RunOptions& with, const auto& next) {
    const Waiting waiting(with);
    Lane lane(device);
    for (std::size_t turn = 0;; ++turn) {
      const auto index = next();
      if (!index) return;
      const Piece part = piece(*index, from.size());
      Chunk& chunk = lane[turn];
      device.stream().wait(chunk.last_use, waiting);
      std::memcpy(chunk.staging.mapped(), from.data() + part.begin, part.bytes);
      chunk.commands.begin();
      chunk.commands.order(kDevice, kTransfer);
      auto timestamps = device.timing().begin_if_profiled(with);
      if (timestamps) timestamps->begin(chunk.commands, {"upload", nullptr, {0, 0, 0}, part.bytes});
      chunk.commands.copy(chunk.staging.handle(), 0, block.buffer->handle(), block.offset + offset + part.begin, part.bytes);
      if (timestamps) timestamps->end(chunk.commands);
      // Whoever reads it may do so where it lies.
      if (block.mapped() != nullptr) chunk.commands.order(kTransfer, kHost);
      chunk.commands.end();
      const VkCommandBuffer commands = chunk.commands.handle();
      const auto then = [&](std::uint64_t moment) {
        to.used_until(moment);
        // Small enough for that, it is one chunk.
        if (to.contents() != nullptr) to.contents()->written_by_host(offset, from);
      };
      chunk.last_use = device.stream().submit({.commands = {&commands, 1}, .then = std::cref(then)});
      if (timestamps) device.timing().submitted(std::move(timestamps), chunk.last_use);
    }
  });
}

void download(Device& device, VulkanStorage& from, std::uint64_t offset, std::span<std::byte> to, const RunOptions& options) {
  const Block& block = from.block();
  in_lanes(to.size(), options, [&](const RunOptions& with, const auto& next) {
    const Waiting waiting(with);
    Lane lane(device);
    std::optional<Piece> under_way;
    for (std::size_t turn = 0;; ++turn) {
      // The next chunk is on its way before the last one is emptied.
      std::optional<Piece> started;
      if (const auto index = next()) {
        started = piece(*index, to.size());
        Chunk& chunk = lane[turn];
        device.stream().wait(chunk.last_use, waiting);
        chunk.commands.begin();
        chunk.commands.order(kDevice, kTransfer);
        auto timestamps = device.timing().begin_if_profiled(with);
        if (timestamps) timestamps->begin(chunk.commands, {"download", nullptr, {0, 0, 0}, started->bytes});
        chunk.commands.copy(block.buffer->handle(), block.offset + offset + started->begin, chunk.staging.handle(), 0, started->bytes);
        if (timestamps) timestamps->end(chunk.commands);
        chunk.commands.order(kTransfer, kHost);
        chunk.commands.end();
        const VkCommandBuffer commands = chunk.commands.handle();
        const auto then = [&](std::uint64_t moment) { from.used_until(moment); };
        chunk.last_use = device.stream().submit({.commands = {&commands, 1}, .then = std::cref(then)});
        if (timestamps) device.timing().submitted(std::move(timestamps), chunk.last_use);
      }
      if (under_way) {
        Chunk& chunk = lane[turn + 1];
        device.stream().wait(chunk.last_use, waiting);
        std::memcpy(to.data() + under_way->begin, chunk.staging.mapped(), under_way->bytes);
      }
      if (!started) return;
      under_way = started;
    }
  });
}

void clear(Device& device, VulkanStorage& storage) {
  const Block& block = storage.block();
  Lane lane(device);
  Chunk& chunk = lane[0];
  device.stream().wait(chunk.last_use, Waiting({}));
  chunk.commands.begin();
  chunk.commands.order(kDevice, kTransfer);
  chunk.commands.zero(block.buffer->handle(), block.offset, block.bytes);
  chunk.commands.end();
  const VkCommandBuffer commands = chunk.commands.handle();
  const auto then = [&](std::uint64_t moment) { storage.used_until(moment); };
  chunk.last_use = device.stream().submit({.commands = {&commands, 1}, .then = std::cref(then)});
}

}  // namespace vyre::run::vulkan
