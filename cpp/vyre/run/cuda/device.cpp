#include "vyre/run/cuda/device.hpp"

#include <chrono>
#include <exception>
#include <utility>

namespace vyre::run::cuda {
namespace {

// How long the last owner of a device waits for work that was submitted and never waited for.
constexpr auto kPatience = std::chrono::seconds(1);

}  // namespace

std::shared_ptr<Device> Device::open(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, const Options& options) {
  std::shared_ptr<Device> device(new Device(std::move(instance), physical, options), [](Device* last) {
    // A device that cannot be closed is kept: the end of the process frees it.
    if (!last->context_.forked() && last->can_be_closed()) delete last;
  });
  device->timing_.belongs_to(device);
  return device;
}

Device::Device(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, const Options& options)
    : context_(std::move(instance), physical, options),
      stream_(context_),
      pool_(context_, stream_),
      timing_(context_, stream_),
      transfers_(context_, stream_, timing_) {}

bool Device::can_be_closed() noexcept {
  if (context_.unusable()) return true;
  try {
    if (stream_.has_abandoned_work()) return false;
  } catch (const std::exception&) {
    return context_.unusable();
  }
  return stream_.idle_within(kPatience) || context_.unusable();
}

std::shared_ptr<Kernel> Device::kernel(const Source& source, const RunOptions& waiting) {
  return kernels_.made(
      source, [this](const Source& of) { return std::make_shared<Kernel>(context_, stream_, of); }, waiting, name(), shared_from_this());
}

}  // namespace vyre::run::cuda
