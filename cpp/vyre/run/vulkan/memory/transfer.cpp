// How it works: a transfer is cut into chunks of 4 MiB, and up to eight threads ("lanes") take one chunk after the other. A lane has two
// chunks of staging memory: while the device copies one, the thread fills or empties the other.
#include "vyre/run/vulkan/memory/transfer.hpp"

#include <cstring>
#include <optional>

#include "vyre/base/error.hpp"

namespace vyre::run::vulkan {

// Staging memory, and the command buffer of its copy.
struct Transfers::Chunk final : Retired {
  Chunk(Context& context, Heap& heap) : commands(context), staging(heap.allocate(kChunkBytes, BufferUse::Host)) {}

  Commands commands;
  Block staging;
  TimelineValue last_use = 0;
};

Transfers::Transfers(Context& context, Stream& stream, Heap& heap, Timing& timing)
    : stream_(stream), timing_(timing), chunks_(stream, [&context, &heap] { return std::make_unique<Chunk>(context, heap); }) {}

Transfers::~Transfers() = default;

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
    Chunks::Lane lane(chunks_);
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
        // The host reads mapped memory without submitting commands, so the barrier for these reads must be part of this submission.
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
    Chunks::Lane lane(chunks_);
    std::optional<Piece> under_way;
    for (std::size_t turn = 0;; ++turn) {
      // The device starts to copy this chunk before the host empties the previous one.
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
  Chunks::Lane lane(chunks_);
  Chunk& chunk = lane[0];
  stream_.wait(chunk.last_use, Waiting({}));
  submit(chunk, on_submit, [&](Commands& commands) { commands.zero(block.buffer(), block.offset(), block.bytes()); });
}

}  // namespace vyre::run::vulkan
