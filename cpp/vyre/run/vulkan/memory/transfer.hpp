// Copies between the host and device memory that the host cannot reach, through chunks of staging memory and by several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "vyre/run/backend.hpp"
#include "vyre/run/gpu/chunks.hpp"
#include "vyre/run/vulkan/memory/heap.hpp"
#include "vyre/run/vulkan/submit/commands.hpp"
#include "vyre/run/vulkan/submit/stream.hpp"
#include "vyre/run/vulkan/submit/timestamps.hpp"

namespace vyre::run::vulkan {

// Any thread may call any function.
class Transfers {
 public:
  Transfers(Context& context, Stream& stream, Heap& heap, Timing& timing);
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;
  ~Transfers();

  // Called in the order of the stream with the value of each submission that uses the block.
  using OnSubmit = std::function<void(TimelineValue)>;
  // Returns when `from` is no longer needed; the device may copy later. Offsets are in bytes, within the block.
  void upload(std::span<const std::byte> from, const Block& to, std::uint64_t offset, const OnSubmit& on_submit, const RunOptions& options);
  // Returns when `to` is complete.
  void download(const Block& from, std::uint64_t offset, std::span<std::byte> to, const OnSubmit& on_submit, const RunOptions& options);
  // Has the device fill the block with zeros.
  void clear(const Block& block, const OnSubmit& on_submit);

 private:
  struct Chunk;
  using Chunks = ChunkPool<Chunk, Stream>;
  // A copy on the device, which a profile shows by its name.
  struct Copy {
    const char* name;
    const Block& from;
    std::uint64_t from_offset;
    const Block& to;
    std::uint64_t to_offset, bytes;
  };
  // Has the device copy from or to the chunk.
  void copy(Chunk& chunk, const Copy& copy, const OnSubmit& on_submit, const RunOptions& options);
  // Records one copy or fill with `record`, and submits it.
  template <class Record>
  void submit(Chunk& chunk, const OnSubmit& on_submit, const Record& record);

  Stream& stream_;
  Timing& timing_;
  Chunks chunks_;
};

}  // namespace vyre::run::vulkan
