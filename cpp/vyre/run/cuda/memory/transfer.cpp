// How it works: a large transfer goes through chunks of pinned memory (gpu/chunks.hpp). A small upload needs no pinned memory: the driver
// has read the host's bytes when its function returns.
#include "vyre/run/cuda/memory/transfer.hpp"

namespace vyre::run::cuda {
namespace {

// Up to this many bytes, the driver copies the host's bytes into the commands of the stream, so the caller need not wait for the device.
constexpr std::size_t kSmall = std::size_t{64} << 10;
// Up to this many bytes are copied into the queue of the submission thread. The copy takes less time than waiting until the thread has
// passed what came before.
constexpr std::size_t kTiny = std::size_t{4} << 10;

}  // namespace

struct Transfers::Chunk final : Retired {
  explicit Chunk(Context& context) : staging(context, kChunkBytes) {}
  std::byte* memory() const { return staging.data(); }
  Pinned staging;
  TimelineValue last_use = 0;
};

Transfers::Transfers(Context& context, Stream& stream, Timing& timing)
    : context_(context), stream_(stream), timing_(timing), chunks_(stream, [&context] { return std::make_unique<Chunk>(context); }) {}

Transfers::~Transfers() = default;

TimelineValue Transfers::copy_in(CUdeviceptr to, const void* from, std::size_t bytes, const Used& used, const RunOptions& options) {
  return timing_.submit_now(
      {"upload", nullptr, {0, 0, 0}, bytes}, 1, options,
      [&](Commands&, CUstream stream) { context_.check(context_.api().cuMemcpyHtoDAsync(to, from, bytes, stream), "cuMemcpyHtoDAsync"); },
      used);
}

TimelineValue Transfers::copy_out(void* to, CUdeviceptr from, std::size_t bytes, const Used& used, const RunOptions& options) {
  return timing_.submit_now(
      {"download", nullptr, {0, 0, 0}, bytes}, 1, options,
      [&](Commands&, CUstream stream) { context_.check(context_.api().cuMemcpyDtoHAsync(to, from, bytes, stream), "cuMemcpyDtoHAsync"); },
      used);
}

void Transfers::upload(std::span<const std::byte> from, CUdeviceptr to, const Used& used, const RunOptions& options) {
  if (from.empty()) return;
  stream_.make_room(Waiting(options));
  if (from.size() <= kTiny) {
    timing_.submit(
        {"upload", nullptr, {0, 0, 0}, from.size()}, 1, options, [&](Commands& commands) { commands.upload(to, from); }, used);
    return;
  }
  if (from.size() <= kSmall) {
    copy_in(to, from.data(), from.size(), used, options);
    return;
  }
  chunks_.upload(from, options, [&](Chunk& chunk, const Piece& part, const RunOptions& with) {
    chunk.last_use = copy_in(to + part.begin, chunk.memory(), part.bytes, used, with);
  });
}

void Transfers::download(CUdeviceptr from, std::span<std::byte> to, const Used& used, const RunOptions& options) {
  if (to.empty()) return;
  stream_.make_room(Waiting(options));
  chunks_.download(to, options, [&](Chunk& chunk, const Piece& part, const RunOptions& with) {
    chunk.last_use = copy_out(chunk.memory(), from + part.begin, part.bytes, used, with);
  });
}

void Transfers::clear(CUdeviceptr to, std::uint64_t bytes, const Used& used) {
  stream_.make_room(Waiting({}));
  stream_.submit(
      1, [&](Commands& commands) { commands.clear(to, bytes); }, used);
}

}  // namespace vyre::run::cuda
