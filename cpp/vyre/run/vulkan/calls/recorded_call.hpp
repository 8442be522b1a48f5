// A call made ready for its arrays: what a command buffer needs to have it done, as often and in as many command buffers as wanted.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "vyre/run/storage.hpp"
#include "vyre/run/vulkan/compile/pipeline.hpp"
#include "vyre/run/vulkan/memory/buffer.hpp"
#include "vyre/run/vulkan/memory/heap.hpp"
#include "vyre/run/vulkan/submit/commands.hpp"
#include "vyre/run/vulkan/submit/descriptor_set.hpp"
#include "vyre/run/vulkan/submit/grid_parts.hpp"
#include "vyre/run/vulkan/submit/stream.hpp"
#include "vyre/run/vulkan/submit/timestamps.hpp"

namespace vyre::run::vulkan {

class Recording final : public Retired {
 public:
  // An array of the call: part of a buffer.
  struct Array {
    VkBuffer buffer;
    VkDeviceSize offset;
    std::uint64_t bytes;
    std::uint32_t length;
  };
  static std::vector<Array> arrays_of(std::span<const StorageView> views);
  // The last one to let go of it may do so while the device still works with it.
  static std::shared_ptr<Recording> make(std::shared_ptr<Device> device, Kernels kernels, std::vector<Array> arrays, Grid grid);
  ~Recording() override;

  const Shader& shader() const { return kernels_.plain->shader(); }
  const std::vector<Array>& arrays() const { return arrays_; }
  Grid grid() const { return work_.grid; }
  // Dispatches.
  std::uint64_t count() const { return parts_.count(); }
  // Commands for dispatches `first` to `end`, with all that comes before the first and after the last one of them. Of a profile, the
  // dispatches are one interval.
  void record(Commands& commands, std::uint64_t first, std::uint64_t end, Timestamps* timestamps = nullptr) const;
  // Whether the host reads something when it is done, so that a command buffer must end with order(kDevice, kHost).
  bool host_reads() const;
  // What it reads and writes, in bytes of buffers.
  struct Touch {
    VkBuffer buffer;
    VkDeviceSize begin, end;
    bool written;
  };
  const std::vector<Touch>& touches() const { return touches_; }
  // Whether it does more than dispatch.
  bool copies() const { return !copied_.empty() || !addresses_.empty(); }
  // Where the shader says that the driver ended a loop early.
  Buffer& status() { return status_; }

  // Of the last submission.
  std::atomic<std::uint64_t> last_use = 0;
  // Held while the status word is in use.
  std::mutex checked;

 private:
  Recording(Device& device, Kernels kernels, std::vector<Array> arrays, Grid grid);

  // An array that begins where the device cannot bind it: a copy of it, made before the dispatch and put back after it.
  struct Copied {
    VkDescriptorBufferInfo original, copy;
    VkDeviceSize bytes;
    bool back;
  };
  VkDescriptorBufferInfo copied(std::size_t slot, const VkDescriptorBufferInfo& original, VkDeviceSize bytes);
  // Where the addresses of these will be.
  VkDescriptorBufferInfo addresses_of(std::span<const VkDescriptorBufferInfo> arrays);
  void touch(const VkDescriptorBufferInfo& part, bool written) {
    touches_.push_back({part.buffer, part.offset, part.offset + part.range, written});
  }

  Device& device_;
  const Kernels kernels_;
  const std::vector<Array> arrays_;
  const Parts parts_;
  Bindings bindings_;
  Buffer status_;
  std::vector<std::uint32_t> constants_;
  Work work_;
  std::vector<std::list<Block>> copies_;
  std::vector<Copied> copied_;
  std::vector<std::uint32_t> addresses_;
  std::list<Block> addresses_block_;
  std::vector<Touch> touches_;
};

}  // namespace vyre::run::vulkan
