// Copies between the host and the device. The driver copies small arrays directly. Several threads copy large arrays through chunks of
// pinned memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "vyre/run/backend.hpp"
#include "vyre/run/cuda/memory/pool.hpp"
#include "vyre/run/cuda/submit/stream.hpp"
#include "vyre/run/cuda/submit/timing.hpp"
#include "vyre/run/gpu/chunks.hpp"

namespace vyre::run::cuda {

// Any thread may call any function.
class Transfers {
 public:
  Transfers(Context& context, Stream& stream, Timing& timing);
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;
  ~Transfers();

  // Called in the order of the stream with the value of each submission that uses the memory.
  using Used = std::function<void(TimelineValue)>;
  // Returns when `from` is no longer needed; the device may copy later.
  void upload(std::span<const std::byte> from, CUdeviceptr to, const Used& used, const RunOptions& options);
  // Returns when `to` is complete. The caller must have waited for the work that writes the memory at `from`.
  void download(CUdeviceptr from, std::span<std::byte> to, const Used& used, const RunOptions& options);
  // Has the device fill the memory with zeros.
  void clear(CUdeviceptr to, std::uint64_t bytes, const Used& used);

 private:
  struct Chunk;
  using Chunks = ChunkPool<Chunk, Stream>;
  TimelineValue copy_in(CUdeviceptr to, const void* from, std::size_t bytes, const Used& used, const RunOptions& options);
  TimelineValue copy_out(void* to, CUdeviceptr from, std::size_t bytes, const Used& used, const RunOptions& options);

  Context& context_;
  Stream& stream_;
  Timing& timing_;
  Chunks chunks_;
};

}  // namespace vyre::run::cuda
