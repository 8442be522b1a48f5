#include "vyre/run/vulkan/memory/transfer.hpp"

#include <utility>

namespace vyre::run::vulkan {

// Staging memory, and the command buffer of its copy.
struct Transfers::Chunk final : Retired {
  Chunk(Context& context, Heap& heap) : commands(context), staging(heap.allocate(kChunkBytes, BufferUse::Host)) {}

  std::byte* memory() const { return staging.mapped(); }

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

void Transfers::copy(Chunk& chunk, const Copy& copy, const OnSubmit& on_submit, const RunOptions& options) {
  auto timestamps = timing_.begin_if_profiled(options);
  submit(chunk, on_submit, [&](Commands& commands) {
    if (timestamps) timestamps->begin(commands, {copy.name, nullptr, {0, 0, 0}, copy.bytes});
    commands.copy(copy.from.buffer(), copy.from.offset() + copy.from_offset, copy.to.buffer(), copy.to.offset() + copy.to_offset,
                  copy.bytes);
    if (timestamps) timestamps->end(commands);
    // The host reads mapped memory without submitting commands, so the barrier for these reads must be part of this submission.
    if (copy.to.mapped() != nullptr) commands.order(kTransfer, kHost);
  });
  if (timestamps) timing_.submitted(std::move(timestamps), chunk.last_use);
}

void Transfers::upload(std::span<const std::byte> from, const Block& to, std::uint64_t offset, const OnSubmit& on_submit,
                       const RunOptions& options) {
  chunks_.upload(from, options, [&](Chunk& chunk, const Piece& part, const RunOptions& with) {
    copy(chunk, {"upload", chunk.staging, 0, to, offset + part.begin, part.bytes}, on_submit, with);
  });
}

void Transfers::download(const Block& from, std::uint64_t offset, std::span<std::byte> to, const OnSubmit& on_submit,
                         const RunOptions& options) {
  chunks_.download(to, options, [&](Chunk& chunk, const Piece& part, const RunOptions& with) {
    copy(chunk, {"download", from, offset + part.begin, chunk.staging, 0, part.bytes}, on_submit, with);
  });
}

void Transfers::clear(const Block& block, const OnSubmit& on_submit) {
  Chunks::Lane lane(chunks_);
  Chunk& chunk = lane[0];
  stream_.wait(chunk.last_use, Waiting({}));
  submit(chunk, on_submit, [&](Commands& commands) { commands.zero(block.buffer(), block.offset(), block.bytes()); });
}

}  // namespace vyre::run::vulkan
