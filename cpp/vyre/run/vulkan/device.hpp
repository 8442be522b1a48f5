// An open device: its one queue, its pipelines, and the workspaces that calls borrow.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "vyre/base/fork.hpp"
#include "vyre/run/vulkan/api/handle.hpp"
#include "vyre/run/vulkan/api/instance.hpp"
#include "vyre/run/vulkan/api/options.hpp"
#include "vyre/run/vulkan/compile/shader.hpp"

namespace vyre::run::vulkan {

class Chunk;
class Timing;
class Heap;
class Pipeline;
class Stream;
class Workspace;

class Device : public std::enable_shared_from_this<Device> {
 public:
  // Opened devices are shared: by the backend, and by every executable prepared for them. A device that still works on a call
  // that nobody waits for is never closed, because closing would wait for it; it is kept until the process ends.
  static std::shared_ptr<Device> open(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, const Options& options);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  const DeviceApi& api() const { return api_; }
  const Instance& instance() const { return *instance_; }
  const PhysicalDevice& physical() const { return physical_; }
  const Options& options() const { return options_; }
  const std::string& name() const { return physical_.info.name; }

  // Turns a failed call into a typed error, and remembers a lost device.
  void check(VkResult result, const char* call);

  // Whether the device is beyond use, so that the next call should open it anew.
  bool condemned() const { return condemned_; }
  void condemn() { condemned_ = true; }

  // Set once the device was tried out, before anybody else has it; see probes.hpp.
  std::optional<std::uint32_t> loop_budget;

  void submit(const VkSubmitInfo& submit, VkFence fence);

  // What storages lie in, and the order of what happens to them.
  Heap& heap() { return *heap_; }
  Stream& stream() { return *stream_; }
  // For profiles.
  Timing& timing() { return *timing_; }
  // Among those of its instance.
  std::size_t index() const { return static_cast<std::size_t>(&physical_ - instance_->devices().data()); }
  // Staging memory that nobody else uses; its last copy may still be under way.
  std::unique_ptr<Chunk> borrow_chunk();
  void give_back(std::unique_ptr<Chunk> chunk) noexcept;

  // Whether this is another process than the one that opened the device: the driver's threads do not survive a fork.
  bool forked() const { return forks_ != forks_before(); }
  // Throws DeviceError if so.
  void check_process() const {
    if (forked()) vulkan::check_process(api_.process);
  }

  // The pipeline of a shader, compiled on first use and kept among the most recently used. Throws CapabilityError when the
  // shader exceeds a limit of the device.
  // `warm`: has the driver compile it now, once the device has done what was submitted; else with its first call.
  // Nothing stops a driver's compiler. So for a caller that may be interrupted or has a time-out, it runs on a thread of its own, and goes
  // on when the caller has left; a later call waits for the same one, or finds what it made.
  std::shared_ptr<Pipeline> pipeline(const Shader& shader, bool warm = true, const RunOptions& waiting = {});
  VkDescriptorSetLayout set_layout(std::uint32_t binding_count);

  // A list of one workspace, which no other call uses. Throws DeviceError while a call that timed out is still running.
  // These are lists so that a lent workspace can be returned without allocating memory.
  std::list<Workspace> borrow();
  void give_back(std::list<Workspace> workspace) noexcept;
  // Takes a workspace whose submission nobody waits for any more, and keeps it until the device is done with it.
  void abandon(std::list<Workspace> workspace) noexcept;
  // Waits for what abandon() was given; false when `seconds` were not enough.
  bool wait_for_abandoned(double seconds);
  // Frees the workspaces that nobody uses; whether there were any.
  bool free_unused();

  // The largest number of workgroups of one dispatch, by axis.
  std::array<std::uint32_t, 3> max_group_count() const;
  // The largest array that a shader can have bound, in bytes. A larger one is reached by its address, where the device has addresses.
  std::uint64_t max_storage_range() const;
  bool has_addresses() const { return physical_.buffer_addresses; }
  // The size limit of an array, however it is accessed, and the limit's name. maxMemoryAllocationSize is not such a limit: it is what a
  // driver promises, and a driver may allow more.
  struct Limit {
    std::uint64_t bytes;
    const char* name;
  };
  Limit max_array() const;
  // Whether the host can write and read device memory as fast as its own, so that copies through staging memory are idle work.
  bool unified() const { return unified_; }
  std::optional<std::uint32_t> memory_type(std::uint32_t allowed, VkMemoryPropertyFlags wanted) const;

 private:
  Device(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, const Options& options);
  // One run of the driver's compiler beside its callers. Guarded by mutex_.
  struct Compile {
    const Shader& shader;
    bool done = false;
    std::shared_ptr<Pipeline> pipeline{};
    std::exception_ptr failure{};
  };
  struct CompileThread;
  // With the mutex held.
  std::shared_ptr<Pipeline> known(const Shader& shader);
  std::shared_ptr<Compile> compile_beside(const Shader& shader, bool warm);
  std::shared_ptr<Pipeline> compile(const Shader& shader, bool warm);
  // What the device has made, and then the device.
  void destroy() noexcept;
  // Frees the abandoned workspaces that the device is done with; whether none is left.
  bool collect();
  bool idle() noexcept;
  // For a device that nobody uses any more but that never stopped working: it stays until the process ends.
  static void keep_for_ever(Device* device) noexcept;

  std::shared_ptr<Instance> instance_;
  const PhysicalDevice& physical_;  // instance_ holds it
  const std::uint64_t forks_ = forks_before();
  Options options_;
  DeviceApi api_;
  VkQueue queue_ = VK_NULL_HANDLE;
  bool unified_ = false;
  std::atomic<bool> condemned_ = false;

  std::mutex queue_mutex_;
  std::mutex mutex_;  // guards what follows
  std::map<std::uint32_t, SetLayoutHandle> set_layouts_;
  std::list<std::shared_ptr<Pipeline>> pipelines_;  // most recently used first
  std::list<std::shared_ptr<Compile>> compiling_;
  std::condition_variable compiled_;
  std::list<Workspace> unused_;
  std::list<Workspace> abandoned_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::unique_ptr<Heap> heap_;
  std::unique_ptr<Stream> stream_;  // what it holds goes back to the heap
  std::unique_ptr<Timing> timing_;
  Device* next_kept_ = nullptr;
};

}  // namespace vyre::run::vulkan
