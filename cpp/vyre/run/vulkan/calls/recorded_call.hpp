// Prepares one call on arrays that stay on the device, and records it into any number of command buffers, as often as wanted.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "vyre/run/gpu/grid_parts.hpp"
#include "vyre/run/gpu/hazards.hpp"
#include "vyre/run/storage.hpp"
#include "vyre/run/vulkan/calls/dispatches.hpp"
#include "vyre/run/vulkan/compile/pipeline.hpp"
#include "vyre/run/vulkan/device.hpp"
#include "vyre/run/vulkan/memory/heap.hpp"
#include "vyre/run/vulkan/submit/commands.hpp"
#include "vyre/run/vulkan/submit/descriptor_set.hpp"
#include "vyre/run/vulkan/submit/stream.hpp"
#include "vyre/run/vulkan/submit/timestamps.hpp"

namespace vyre::run::vulkan {

class RecordedCall final : public Retired {
 public:
  // An array of the call: a part of a buffer.
  struct Array {
    VkBuffer buffer;
    VkDeviceSize offset;
    std::uint64_t bytes;
    std::uint32_t length;
  };
  static Array array_of(const StorageView& view);
  static std::vector<Array> arrays_of(std::span<const StorageView> views);
  // The workgroups that the call runs. If `counts` is set, the grid comes from data (run/data_grid.hpp): `grid` is the largest grid, and
  // the array `counts` holds the actual counts.
  struct Groups {
    Grid grid;
    std::optional<Array> counts = std::nullopt;
    std::array<std::uint32_t, 3> counted_by = {1, 1, 1};

    // The grid by which kernels are chosen. A grid from data gets no coarsened kernel, because the workgroup at which the plain kernel
    // would take over from it depends on the counts.
    Grid for_kernels() const { return counts ? Grid{0, 0, 0} : grid; }
  };
  // When the last owner drops the call, it is retired to the stream, because the device may still use it. Throws CapabilityError for a grid
  // from data that needs too many dispatches.
  static std::shared_ptr<RecordedCall> make(std::shared_ptr<Device> device, Kernels kernels, std::vector<Array> arrays,
                                            const Groups& groups);

  // Binds other arrays of the same sizes and lengths; `counts` is the array of a grid from data, if there is one. The device must not be
  // executing the call. Its commands must be recorded anew afterwards (Batch::record_again), unless Context::updates_after_bind: the
  // commands name no array, and the barriers between calls stay right as long as the same arrays overlap as before. Returns false, having
  // done nothing, if the call uses addresses, or if one of the old or new arrays needs a copy because it lies where the device cannot bind
  // it: such commands name the arrays.
  bool rebind(std::vector<Array> arrays, std::optional<Array> counts);

  const Shader& shader() const { return kernels_.plain->shader(); }
  const std::vector<Array>& arrays() const { return arrays_; }
  const Groups& groups() const { return groups_; }
  // The number of dispatches.
  std::uint64_t count() const { return parts_.count(); }
  // Records the dispatches from `first` up to, but not including, `end`. Copies that the call needs are recorded before its first dispatch
  // and after its last one. A profile sees the dispatches as one interval.
  void record(Commands& commands, std::uint64_t first, std::uint64_t end, Timestamps* timestamps = nullptr) const;
  // Whether the host reads memory that the call writes, so that the last command buffer of the call must end with order(kDevice, kHost).
  bool host_reads() const;
  const std::vector<MemoryAccess>& accesses() const { return accesses_; }
  // Whether the call has copies in addition to its dispatches.
  bool copies() const { return !copied_.empty() || !addresses_.empty(); }
  // The status word, in which a shader with has_status reports that the driver ended a loop early.
  std::byte* status() { return status_.mapped(); }

  // The last submission that uses the call.
  std::atomic<TimelineValue> last_use = 0;
  // Locked while the status word is in use.
  std::mutex status_in_use;

 private:
  RecordedCall(Device& device, Kernels kernels, std::vector<Array> arrays, const Groups& groups);

  // An array at an offset where the device cannot bind it. The dispatches use a copy, which is copied back afterwards if they write it.
  struct Copied {
    VkDescriptorBufferInfo original, copy;
    VkDeviceSize bytes;
    bool back;
  };
  // The array of this slot can be used in place if its offset is a multiple of the result, in bytes.
  VkDeviceSize alignment_of(std::size_t slot) const;
  // Returns where the shader accesses an array: in place, or in a copy if the array's offset is not aligned. Adds the accesses to
  // accesses_.
  VkDescriptorBufferInfo placed(const Array& array, VkDeviceSize alignment, bool written);
  void read_counts();
  // Makes the table of the addresses of these arrays, and returns where the table lies.
  VkDescriptorBufferInfo address_table(std::span<const VkDescriptorBufferInfo> arrays);
  static MemoryAccess access_of(const VkDescriptorBufferInfo& part, bool written) {
    return {std::bit_cast<std::uint64_t>(part.buffer), part.offset, part.offset + part.range, written};
  }
  void add_access(const VkDescriptorBufferInfo& part, bool written) { accesses_.push_back(access_of(part, written)); }

  Device& device_;
  const Kernels kernels_;
  std::vector<Array> arrays_;
  Groups groups_;
  const GridParts parts_;
  DescriptorSet set_;
  Block status_;
  std::vector<std::uint32_t> constants_;
  Work work_;
  std::vector<Block> copies_;
  std::vector<Copied> copied_;
  std::vector<std::uint32_t> addresses_;
  Block address_block_;
  std::optional<DispatchCounts> counts_;
  std::vector<MemoryAccess> accesses_;
};

}  // namespace vyre::run::vulkan
