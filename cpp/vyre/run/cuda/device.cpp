#include "vyre/run/cuda/device.hpp"

#include <utility>

namespace vyre::run::cuda {

std::shared_ptr<Device> Device::open(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, const Options& options) {
  std::shared_ptr<Device> device = owned(new Device(std::move(instance), physical, options));
  device->timing_.belongs_to(device);
  return device;
}

Device::Device(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, const Options& options)
    : context_(std::move(instance), physical, options),
      stream_(context_),
      pool_(context_, stream_),
      timing_(context_, stream_),
      transfers_(context_, stream_, timing_) {}

// Retired objects give their memory back to the pool, so they are destroyed before it.
Device::~Device() { stream_.finish(); }

std::shared_ptr<Kernel> Device::kernel(const Source& source, const RunOptions& waiting) {
  return kernels_.made(
      source, [this](const Source& of) { return std::make_shared<Kernel>(context_, stream_, of); }, waiting, name(), shared_from_this());
}

}  // namespace vyre::run::cuda
