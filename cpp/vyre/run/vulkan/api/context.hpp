// Holds an open VkDevice with its queue, its limits and its error check. Everything that runs on a device uses its Context; Device
// (device.hpp) owns the Context and the objects that are made from it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "vyre/base/fork.hpp"
#include "vyre/run/vulkan/api/handle.hpp"
#include "vyre/run/vulkan/api/instance.hpp"

namespace vyre::run::vulkan {

// Holds the results of the probes (devices/probes.hpp): how a driver was found to behave, which may differ from what it reports.
struct Probes {
  // After an invocation has run this many loop rounds, the driver ends every loop of the shader without an error. Empty if it never does
  // that.
  std::optional<std::uint32_t> loop_budget;
  // Whether storage buffers may have elements of 8 and of 16 bits, and shaders access them correctly.
  bool accesses_8_bits = false, accesses_16_bits = false;
  // Whether shaders multiply and divide integers of 64 bits correctly.
  bool integers_64_bits = false;
};

// Has the settings of the Vulkan backend that tests and tools may change. Users always get the defaults.
struct Options {
  // Lowers the device's limit on the number of workgroups in one dispatch, by axis.
  std::optional<std::array<std::uint32_t, 3>> max_group_count = std::nullopt;
  // Lowers the device's limit on the size of a bound array, in bytes. Shaders reach a larger array by its address.
  std::optional<std::uint64_t> max_storage_range = std::nullopt;
  // The most dispatches of one submission.
  std::size_t dispatches_per_submission = 1024;
  // Whether to copy through staging memory even if the host can reach device memory.
  bool always_stage = false;
  // Whether a thread of the stream (stream.hpp) passes submissions to a busy device. The default is yes for GPUs, no for software devices.
  std::optional<bool> submission_thread = std::nullopt;
  // Whether recorded commands stay valid when other arrays are bound to them (Context::updates_after_bind). The default is true where
  // the device has robust access to such arrays too. True uses the feature even without it, false never.
  std::optional<bool> update_after_bind = std::nullopt;
  // The directory for compiled pipelines, in place of the user's cache directory.
  std::optional<std::filesystem::path> cache_directory = std::nullopt;
};

class Context {
 public:
  // Opens the device. Throws DeviceError and its kinds.
  Context(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, const Options& options);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  // Closes the device. Everything made from it must have been destroyed.
  ~Context();

  const DeviceApi& api() const { return api_; }
  const Instance& instance() const { return *instance_; }
  const PhysicalDevice& physical() const { return physical_; }
  const Options& options() const { return options_; }
  const std::string& name() const { return physical_.info.name; }
  // The position of the device in Instance::devices().
  std::size_t index() const { return static_cast<std::size_t>(&physical_ - instance_->devices().data()); }

  // Throws a typed error if a Vulkan call failed. VK_ERROR_DEVICE_LOST also makes the device unusable.
  void check(VkResult result, const char* call);

  // Whether the device must not be used any more: it was lost, or a submission or a wait failed, so that its state is unknown. The next
  // call opens the device anew.
  bool unusable() const { return unusable_; }
  void mark_unusable() { unusable_ = true; }

  // Passes command buffers to the queue. Any thread may call this.
  void submit(const VkSubmitInfo& submit);

  // Counts the buffers that were destroyed. The driver may give a new buffer the handle of one of them.
  std::uint64_t buffers_destroyed() const { return buffers_destroyed_; }
  void count_destroyed_buffer() { ++buffers_destroyed_; }

  // Whether this process was forked from the one that opened the device. A driver's threads do not survive a fork, so nothing of the
  // device can be used, waited for or freed in such a process.
  bool forked() const { return forks_ != forks_before(); }
  // Throws DeviceError in a forked process.
  void check_process() const {
    if (forked()) vulkan::check_process(api_.process);
  }

  // The results of the probes (devices/probes.hpp), which run right after the device was opened.
  Probes probes;

  // The largest number of workgroups of one dispatch, by axis.
  std::array<std::uint32_t, 3> max_group_count() const;
  // The size in bytes of the largest array that can be bound to a shader. If the device has addresses, shaders reach larger arrays by
  // address.
  std::uint64_t max_storage_range() const;
  // Whether a descriptor set may be updated after commands were recorded with it, while the device does not use the set: the commands then
  // work with the arrays that are bound when they are submitted. All set layouts and pools are made for it, because a pipeline and the sets
  // that it is used with must have been made for the same layout.
  bool updates_after_bind() const { return updates_after_bind_; }
  bool has_addresses() const { return physical_.buffer_addresses; }
  // The hard limit on an array's size in bytes, and the name of the limit for messages. maxMemoryAllocationSize is a promise of the driver
  // and not a limit: an allocation above it may succeed.
  struct Limit {
    std::uint64_t bytes;
    const char* name;
  };
  Limit max_array() const;
  // Whether the host reads and writes device memory as fast as its own, so that calls need no staging copies.
  bool unified() const { return unified_; }
  // The first memory type in the mask `allowed` that has all of the wanted properties.
  std::optional<std::uint32_t> memory_type(std::uint32_t allowed, VkMemoryPropertyFlags wanted) const;

 private:
  void open();

  const std::shared_ptr<Instance> instance_;
  const PhysicalDevice& physical_;  // held by instance_
  const std::uint64_t forks_ = forks_before();
  const Options options_;
  const bool updates_after_bind_;
  DeviceApi api_;
  VkQueue queue_ = VK_NULL_HANDLE;
  bool unified_ = false;
  std::atomic<bool> unusable_ = false;
  std::atomic<std::uint64_t> buffers_destroyed_ = 0;
  std::mutex queue_mutex_;
};

}  // namespace vyre::run::vulkan
