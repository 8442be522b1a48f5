// Owns Vulkan's handles, and turns a VkResult into a typed error.
#pragma once

#include <unistd.h>

#include <string_view>
#include <utility>

#include "vyre/run/vulkan/api/loader.hpp"

namespace vyre::run::vulkan {

// Throws DeviceMemoryError, DeviceLostError or DeviceError. `device` is the name of the device, or empty before one is open.
[[noreturn]] void fail(VkResult result, const char* call, std::string_view device);

inline void check(VkResult result, const char* call, std::string_view device) {
  if (result < 0) fail(result, call, device);
}

// Throws DeviceError in any process except the one that opened Vulkan: a driver's threads do not survive a fork.
void check_process(pid_t opened_by);

// Owns one object of a device. The table of functions must outlive it.
template <class T, auto kDestroy>
class Handle {
 public:
  Handle() = default;
  Handle(const DeviceApi& api, T value) : api_(&api), value_(value) {}
  Handle(Handle&& other) noexcept : api_(other.api_), value_(std::exchange(other.value_, T{})) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      api_ = other.api_;
      value_ = std::exchange(other.value_, T{});
    }
    return *this;
  }
  ~Handle() { reset(); }

  T operator*() const { return value_; }
  const T* address() const { return &value_; }
  explicit operator bool() const { return value_ != T{}; }

 private:
  void reset() {
    T value = std::exchange(value_, T{});
    // In a forked process the driver's threads are gone, and destroying the object would wait for them.
    if (value != T{} && api_->process == getpid()) (api_->*kDestroy)(api_->device, value, nullptr);
  }

  const DeviceApi* api_ = nullptr;
  T value_{};
};

using BufferHandle = Handle<VkBuffer, &DeviceApi::vkDestroyBuffer>;
using MemoryHandle = Handle<VkDeviceMemory, &DeviceApi::vkFreeMemory>;
using ShaderModuleHandle = Handle<VkShaderModule, &DeviceApi::vkDestroyShaderModule>;
using SetLayoutHandle = Handle<VkDescriptorSetLayout, &DeviceApi::vkDestroyDescriptorSetLayout>;
using PipelineLayoutHandle = Handle<VkPipelineLayout, &DeviceApi::vkDestroyPipelineLayout>;
using PipelineCacheHandle = Handle<VkPipelineCache, &DeviceApi::vkDestroyPipelineCache>;
using PipelineHandle = Handle<VkPipeline, &DeviceApi::vkDestroyPipeline>;
using DescriptorPoolHandle = Handle<VkDescriptorPool, &DeviceApi::vkDestroyDescriptorPool>;
using CommandPoolHandle = Handle<VkCommandPool, &DeviceApi::vkDestroyCommandPool>;
using SemaphoreHandle = Handle<VkSemaphore, &DeviceApi::vkDestroySemaphore>;
using QueryPoolHandle = Handle<VkQueryPool, &DeviceApi::vkDestroyQueryPool>;

}  // namespace vyre::run::vulkan
