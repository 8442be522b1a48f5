#include "vyre/run/vulkan/calls/recorded_call.hpp"

#include <fmt/format.h>

#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/emit/interface.hpp"
#include "vyre/run/gpu/limits.hpp"
#include "vyre/run/vulkan/calls/storage.hpp"

namespace vyre::run::vulkan {
namespace {

// The bound range is the array, rounded up to whole words, so that robust access catches what lies beyond it.
VkDescriptorBufferInfo array_range(const RecordedCall::Array& array) { return {array.buffer, array.offset, device_bytes(array.bytes)}; }

}  // namespace

RecordedCall::Array RecordedCall::array_of(const StorageView& view) {
  const Block& block = storage_of(view).block();
  // For an index out of bounds, a shader reads element 0 and drops the value, so an empty array needs memory at its offset, too. The
  // offset of an empty array may be the end of its block, so it is bound at the beginning of the block.
  return {block.buffer(), block.offset() + (view.length == 0 ? 0 : view.offset), view.bytes, view.length};
}

std::vector<RecordedCall::Array> RecordedCall::arrays_of(std::span<const StorageView> views) {
  std::vector<Array> arrays;
  arrays.reserve(views.size());
  for (const StorageView& view : views) arrays.push_back(array_of(view));
  return arrays;
}

std::shared_ptr<RecordedCall> RecordedCall::make(std::shared_ptr<Device> device, Kernels kernels, std::vector<Array> arrays,
                                                 const Groups& groups) {
  std::unique_ptr<RecordedCall> call(new RecordedCall(*device, std::move(kernels), std::move(arrays), groups));
  return {call.release(), [device = std::move(device)](RecordedCall* last) {
            const TimelineValue until = last->last_use;
            device->stream().retire(until, std::unique_ptr<Retired>(last));
          }};
}

RecordedCall::RecordedCall(Device& device, Kernels kernels, std::vector<Array> arrays, const Groups& groups)
    : device_(device),
      kernels_(std::move(kernels)),
      arrays_(std::move(arrays)),
      groups_(groups),
      parts_(groups.grid, device.context().max_group_count(), kernels_.coarse != nullptr),
      set_(device.context(), kernels_.plain->set_layout(), kernels_.plain->shader().binding_count()) {
  work_ = {"dispatch", kernels_.program, groups.grid, 0};
  constants_.assign(3, 0);
  std::vector<VkDescriptorBufferInfo> bindings;
  for (const Array& array : arrays_) {
    constants_.push_back(array.length);
    work_.bytes += array.bytes;
    bindings.push_back(placed(array, alignment_of(bindings.size()), shader().writable[bindings.size()]));
  }
  if (shader().addressed) bindings = {address_table(bindings)};
  if (shader().has_status) {
    status_ = device.heap().allocate(kMinBufferBytes, BufferUse::Host);
    bindings.push_back({status_.buffer(), status_.offset(), kMinBufferBytes});
    add_access(bindings.back(), true);
  }
  set_.bind(device.context(), bindings);
  if (groups_.counts) read_counts();
}

bool RecordedCall::rebind(std::vector<Array> arrays, std::optional<Array> counts) {
  VYRE_ASSERT(arrays.size() == arrays_.size() && counts.has_value() == groups_.counts.has_value());
  if (copies()) return false;
  if (counts && counts->offset % device_.context().physical().limits.minStorageBufferOffsetAlignment != 0) return false;
  for (std::size_t slot = 0; slot < arrays.size(); ++slot) {
    VYRE_ASSERT(arrays[slot].bytes == arrays_[slot].bytes && arrays[slot].length == arrays_[slot].length);
    if (arrays[slot].offset % alignment_of(slot) != 0) return false;
  }
  arrays_ = std::move(arrays);
  std::vector<VkDescriptorBufferInfo> bindings;
  for (std::size_t slot = 0; slot < arrays_.size(); ++slot) {
    const VkDescriptorBufferInfo& bound = bindings.emplace_back(array_range(arrays_[slot]));
    // A call without copies has one access for each slot, and these come first in accesses_.
    accesses_[slot] = access_of(bound, accesses_[slot].written);
  }
  if (shader().has_status) bindings.push_back({status_.buffer(), status_.offset(), kMinBufferBytes});
  set_.bind(device_.context(), bindings);
  if (counts) {
    // The accesses to the array of the counts, and to the counts of the dispatches, come last.
    const VkDescriptorBufferInfo given = array_range(*counts);
    accesses_[accesses_.size() - 2] = access_of(given, false);
    counts_->rebind(device_.context(), given);
    groups_.counts = counts;
  }
  return true;
}

VkDeviceSize RecordedCall::alignment_of(std::size_t slot) const {
  return shader().addressed ? shader().element_bytes[slot] : device_.context().physical().limits.minStorageBufferOffsetAlignment;
}

VkDescriptorBufferInfo RecordedCall::placed(const Array& array, VkDeviceSize alignment, bool written) {
  const VkDescriptorBufferInfo original = array_range(array);
  add_access(original, written);
  if (original.offset % alignment == 0) return original;
  const Block& block = copies_.emplace_back(device_.heap().allocate(original.range));
  const VkDescriptorBufferInfo copy{block.buffer(), block.offset(), original.range};
  add_access(copy, true);
  if (array.bytes > 0) copied_.push_back({original, copy, array.bytes, written});
  return copy;
}

void RecordedCall::read_counts() {
  Limits(device_.name()).at_most(count(), DispatchCounts::kMost, "the limit", "dispatches of a grid from data", "give a smaller at_most");
  const VkDeviceSize alignment = device_.context().physical().limits.minStorageBufferOffsetAlignment;
  const VkDescriptorBufferInfo given = placed(*groups_.counts, alignment, false);
  counts_.emplace(device_, given, groups_.counted_by, parts_);
  add_access(counts_->range(), true);
}

VkDescriptorBufferInfo RecordedCall::address_table(std::span<const VkDescriptorBufferInfo> arrays) {
  for (const VkDescriptorBufferInfo& array : arrays) append_address(addresses_, address_of(device_.context(), array.buffer) + array.offset);
  const VkDeviceSize bytes = device_bytes(4 * addresses_.size());
  address_block_ = device_.heap().allocate(bytes);
  const VkDescriptorBufferInfo table{address_block_.buffer(), address_block_.offset(), bytes};
  add_access(table, true);
  return table;
}

void RecordedCall::record(Commands& commands, std::uint64_t first, std::uint64_t end, Timestamps* timestamps) const {
  if (first == 0 && copies()) {
    for (const Copied& each : copied_) {
      commands.copy(each.original.buffer, each.original.offset, each.copy.buffer, each.copy.offset, each.bytes);
    }
    if (!addresses_.empty()) commands.update(address_block_.buffer(), address_block_.offset(), addresses_);
    commands.order(kTransfer, kShader);
  }
  if (first == 0 && counts_) counts_->record(commands);
  std::vector<std::uint32_t> constants = constants_;
  if (timestamps != nullptr) timestamps->begin(commands, work_);
  record_parts(commands, kernels_, set_.handle(), constants, parts_, first, end, counts_ ? &*counts_ : nullptr);
  if (timestamps != nullptr) timestamps->end(commands);
  if (end < count()) return;
  if (!copied_.empty()) commands.order(kShader, kTransfer);
  for (const Copied& each : copied_) {
    if (each.back) commands.copy(each.copy.buffer, each.copy.offset, each.original.buffer, each.original.offset, each.bytes);
  }
}

bool RecordedCall::host_reads() const { return device_.context().unified() || shader().has_status; }

}  // namespace vyre::run::vulkan
