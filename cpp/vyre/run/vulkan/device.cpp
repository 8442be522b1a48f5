#include "vyre/run/vulkan/device.hpp"

#include <utility>

namespace vyre::run::vulkan {

std::shared_ptr<Device> Device::open(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, const Options& options) {
  std::shared_ptr<Device> device = owned(new Device(std::move(instance), physical, options));
  device->timing_.belongs_to(device);
  return device;
}

Device::Device(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, const Options& options)
    : context_(std::move(instance), physical, options),
      stream_(context_),
      heap_(context_, stream_),
      timing_(context_, stream_),
      transfers_(context_, stream_, heap_, timing_),
      call_slots_(context_),
      compiler_(context_, stream_, heap_) {}

Device::~Device() {
  // Only an unusable device can still be executing work at this point. The result is ignored: a lost device ends its work in finite time.
  context_.api().vkDeviceWaitIdle(context_.api().device);
  // Retired objects give their memory back to the heap, so they are destroyed before it.
  stream_.finish();
}

}  // namespace vyre::run::vulkan
