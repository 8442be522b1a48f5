#include "vyre/run/vulkan/calls/recorded_call.hpp"

#include <utility>

#include "vyre/emit/interface.hpp"
#include "vyre/run/vulkan/calls/host_call.hpp"
#include "vyre/run/vulkan/calls/storage.hpp"
#include "vyre/run/vulkan/device.hpp"

namespace vyre::run::vulkan {

std::vector<Recording::Array> Recording::arrays_of(std::span<const StorageView> views) {
  std::vector<Array> arrays;
  for (const StorageView& view : views) {
    const Block& block = static_cast<VulkanStorage&>(*view.storage).block();
    // A load out of bounds reads element 0 and drops it. An array that has none may begin where its memory ends, so another place is read.
    arrays.push_back({block.buffer->handle(), block.offset + (view.length == 0 ? 0 : view.offset), view.bytes, view.length});
  }
  return arrays;
}

std::shared_ptr<Recording> Recording::make(std::shared_ptr<Device> device, Kernels kernels, std::vector<Array> arrays, Grid grid) {
  std::unique_ptr<Recording> recording(new Recording(*device, std::move(kernels), std::move(arrays), grid));
  return {recording.release(), [device = std::move(device)](Recording* last) {
            const std::uint64_t until = last->last_use;
            device->stream().retire(until, std::unique_ptr<Retired>(last));
          }};
}

Recording::Recording(Device& device, Kernels kernels, std::vector<Array> arrays, Grid grid)
    : device_(device),
      kernels_(std::move(kernels)),
      arrays_(std::move(arrays)),
      parts_(grid, device.max_group_count(), kernels_.coarse != nullptr),
      bindings_(device, kernels_.plain->shader().binding_count()) {
  work_ = {"dispatch", kernels_.program, grid, 0};
  constants_.assign(3, 0);
  std::vector<VkDescriptorBufferInfo> infos;
  for (const Array& array : arrays_) {
    constants_.push_back(array.length);
    work_.bytes += array.bytes;
    // Robust access ends where the array does, in whole words.
    VkDescriptorBufferInfo info{array.buffer, array.offset, device_bytes(array.bytes)};
    touch(info, shader().writable[infos.size()]);
    const VkDeviceSize alignment =
        shader().addressed ? shader().element_bytes[infos.size()] : device.physical().limits.minStorageBufferOffsetAlignment;
    if (info.offset % alignment != 0) info = copied(infos.size(), info, array.bytes);
    infos.push_back(info);
  }
  if (shader().addressed) infos = {addresses_of(infos)};
  if (shader().has_status) {
    status_ = Buffer(device, kMinBufferBytes, BufferUse::Status);
    infos.push_back({status_.handle(), 0, kMinBufferBytes});
    touch(infos.back(), true);
  }
  bindings_.update(device, infos);
}

Recording::~Recording() {
  for (std::list<Block>& block : copies_) device_.heap().give_back(std::move(block));
  if (!addresses_block_.empty()) device_.heap().give_back(std::move(addresses_block_));
}

VkDescriptorBufferInfo Recording::copied(std::size_t slot, const VkDescriptorBufferInfo& original, VkDeviceSize bytes) {
  copies_.push_back(device_.heap().allocate(original.range));
  const Block& block = copies_.back().front();
  const VkDescriptorBufferInfo copy{block.buffer->handle(), block.offset, original.range};
  touch(copy, true);
  if (bytes > 0) copied_.push_back({original, copy, bytes, static_cast<bool>(shader().writable[slot])});
  return copy;
}

VkDescriptorBufferInfo Recording::addresses_of(std::span<const VkDescriptorBufferInfo> arrays) {
  for (const VkDescriptorBufferInfo& array : arrays) append_address(addresses_, address_of(device_, array.buffer) + array.offset);
  const VkDeviceSize bytes = device_bytes(4 * addresses_.size());
  addresses_block_ = device_.heap().allocate(bytes);
  const Block& block = addresses_block_.front();
  const VkDescriptorBufferInfo info{block.buffer->handle(), block.offset, bytes};
  touch(info, true);
  return info;
}

void Recording::record(Commands& commands, std::uint64_t first, std::uint64_t end, Timestamps* timestamps) const {
  if (first == 0 && copies()) {
    for (const Copied& each : copied_) {
      commands.copy(each.original.buffer, each.original.offset, each.copy.buffer, each.copy.offset, each.bytes);
    }
    if (!addresses_.empty()) {
      const Block& block = addresses_block_.front();
      commands.update(block.buffer->handle(), block.offset, addresses_);
    }
    commands.order(kTransfer, kShader);
  }
  std::vector<std::uint32_t> constants = constants_;
  if (timestamps != nullptr) timestamps->begin(commands, work_);
  record_parts(commands, kernels_, bindings_.handle(), constants, parts_, first, end);
  if (timestamps != nullptr) timestamps->end(commands);
  if (end < count()) return;
  if (!copied_.empty()) commands.order(kShader, kTransfer);
  for (const Copied& each : copied_) {
    if (each.back) commands.copy(each.copy.buffer, each.copy.offset, each.original.buffer, each.original.offset, each.bytes);
  }
}

bool Recording::host_reads() const { return device_.unified() || shader().has_status; }

}  // namespace vyre::run::vulkan
