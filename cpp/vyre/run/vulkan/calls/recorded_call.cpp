#include "vyre/run/vulkan/calls/recorded_call.hpp"

#include <utility>

#include "vyre/emit/interface.hpp"
#include "vyre/run/vulkan/calls/dispatches.hpp"
#include "vyre/run/vulkan/calls/storage.hpp"

namespace vyre::run::vulkan {

std::vector<RecordedCall::Array> RecordedCall::arrays_of(std::span<const StorageView> views) {
  std::vector<Array> arrays;
  for (const StorageView& view : views) {
    const Block& block = storage_of(view).block();
    // For an index out of bounds, a shader reads element 0 and drops the value, so there must be memory at the offset of an empty array,
    // too. That offset may be the end of its block, so the array is bound at the beginning of the block.
    arrays.push_back({block.buffer(), block.offset() + (view.length == 0 ? 0 : view.offset), view.bytes, view.length});
  }
  return arrays;
}

std::shared_ptr<RecordedCall> RecordedCall::make(std::shared_ptr<Device> device, Kernels kernels, std::vector<Array> arrays, Grid grid) {
  std::unique_ptr<RecordedCall> call(new RecordedCall(*device, std::move(kernels), std::move(arrays), grid));
  return {call.release(), [device = std::move(device)](RecordedCall* last) {
            const TimelineValue until = last->last_use;
            device->stream().retire(until, std::unique_ptr<Retired>(last));
          }};
}

RecordedCall::RecordedCall(Device& device, Kernels kernels, std::vector<Array> arrays, Grid grid)
    : device_(device),
      kernels_(std::move(kernels)),
      arrays_(std::move(arrays)),
      parts_(grid, device.context().max_group_count(), kernels_.coarse != nullptr),
      set_(device.context(), kernels_.plain->set_layout(), kernels_.plain->shader().binding_count()) {
  work_ = {"dispatch", kernels_.program, grid, 0};
  constants_.assign(3, 0);
  std::vector<VkDescriptorBufferInfo> bindings;
  for (const Array& array : arrays_) {
    constants_.push_back(array.length);
    work_.bytes += array.bytes;
    // The bound range is the array, rounded up to whole words, so that robust access catches what lies beyond it.
    VkDescriptorBufferInfo binding{array.buffer, array.offset, device_bytes(array.bytes)};
    add_access(binding, shader().writable[bindings.size()]);
    const VkDeviceSize alignment =
        shader().addressed ? shader().element_bytes[bindings.size()] : device.context().physical().limits.minStorageBufferOffsetAlignment;
    if (binding.offset % alignment != 0) binding = copied(bindings.size(), binding, array.bytes);
    bindings.push_back(binding);
  }
  if (shader().addressed) bindings = {address_table(bindings)};
  if (shader().has_status) {
    status_ = device.heap().allocate(kMinBufferBytes, BufferUse::Host);
    bindings.push_back({status_.buffer(), status_.offset(), kMinBufferBytes});
    add_access(bindings.back(), true);
  }
  set_.bind(device.context(), bindings);
}

VkDescriptorBufferInfo RecordedCall::copied(std::size_t slot, const VkDescriptorBufferInfo& original, VkDeviceSize bytes) {
  const Block& block = copies_.emplace_back(device_.heap().allocate(original.range));
  const VkDescriptorBufferInfo copy{block.buffer(), block.offset(), original.range};
  add_access(copy, true);
  if (bytes > 0) copied_.push_back({original, copy, bytes, static_cast<bool>(shader().writable[slot])});
  return copy;
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
  std::vector<std::uint32_t> constants = constants_;
  if (timestamps != nullptr) timestamps->begin(commands, work_);
  record_parts(commands, kernels_, set_.handle(), constants, parts_, first, end);
  if (timestamps != nullptr) timestamps->end(commands);
  if (end < count()) return;
  if (!copied_.empty()) commands.order(kShader, kTransfer);
  for (const Copied& each : copied_) {
    if (each.back) commands.copy(each.copy.buffer, each.copy.offset, each.original.buffer, each.original.offset, each.bytes);
  }
}

bool RecordedCall::host_reads() const { return device_.context().unified() || shader().has_status; }

}  // namespace vyre::run::vulkan
