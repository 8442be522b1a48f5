#include "vyre/run/vulkan/device.hpp"

#include <chrono>
#include <exception>
#include <mutex>
#include <utility>

namespace vyre::run::vulkan {
namespace {

// How long the last owner of a device waits for work that was submitted and never waited for.
constexpr auto kPatience = std::chrono::seconds(1);

}  // namespace

void Device::keep_until_process_end(Device* device) noexcept {
  // A list through the devices themselves needs no memory, and is not destroyed at the end of the process either.
  static ForkSafeMutex mutex;
  static Device* kept = nullptr;
  const std::lock_guard lock(mutex);
  device->next_kept_ = kept;
  kept = device;
}

std::shared_ptr<Device> Device::open(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, const Options& options) {
  std::shared_ptr<Device> device(new Device(std::move(instance), physical, options), [](Device* last) {
    if (last->context_.forked() || !last->can_be_closed()) {
      keep_until_process_end(last);
    } else {
      delete last;
    }
  });
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
  // Only an unusable device can still be at work here. A lost one ends its work in finite time, whatever this returns.
  context_.api().vkDeviceWaitIdle(context_.api().device);
  // Retired objects give their memory back to the heap, so they are destroyed before it.
  stream_.finish();
}

bool Device::can_be_closed() noexcept {
  if (context_.unusable()) return true;
  try {
    if (stream_.has_abandoned_work()) return false;
  } catch (const std::exception&) {
    return context_.unusable();
  }
  return stream_.idle_within(kPatience) || context_.unusable();
}

}  // namespace vyre::run::vulkan
