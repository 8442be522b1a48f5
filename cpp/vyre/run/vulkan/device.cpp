#include "vyre/run/vulkan/device.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "vyre/base/error.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/vulkan/api/float_state.hpp"
#include "vyre/run/vulkan/api/process_end.hpp"
#include "vyre/run/vulkan/api/waiting.hpp"
#include "vyre/run/vulkan/calls/host_call.hpp"
#include "vyre/run/vulkan/compile/pipeline.hpp"
#include "vyre/run/vulkan/memory/heap.hpp"
#include "vyre/run/vulkan/memory/transfer.hpp"
#include "vyre/run/vulkan/submit/stream.hpp"
#include "vyre/run/vulkan/submit/timestamps.hpp"

namespace vyre::run::vulkan {
namespace {

constexpr std::size_t kMaxPipelines = 256;
constexpr std::size_t kMaxUnusedWorkspaces = 4;
// What one transfer takes at most.
constexpr std::size_t kMaxUnusedChunks = 16;
// A workspace above this many bytes is not worth keeping: the call that needs it spends its time copying.
constexpr VkDeviceSize kMaxKeptBytes = VkDeviceSize{256} << 20;

// For the end of what was submitted and nobody waits for, when a device is closed.
constexpr auto kPatience = std::chrono::seconds(1);

// Callers may leave compiles behind, which take memory; whoever comes then waits for one to end.
constexpr std::size_t kMostCompiles = 8;
// Compilers of drivers recurse over a program. Only what they use of it is ever memory.
constexpr std::size_t kCompilerStack = std::size_t{256} << 20;

constexpr VkMemoryPropertyFlags kUnified = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                           VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

}  // namespace

void Device::keep_for_ever(Device* device) noexcept {
  // Not destroyed at the end of the process either.
  static ForkSafeMutex mutex;
  static Device* kept = nullptr;
  const std::lock_guard lock(mutex);
  device->next_kept_ = kept;
  kept = device;
}

std::shared_ptr<Device> Device::open(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, const Options& options) {
  return std::shared_ptr<Device>(new Device(std::move(instance), physical, options), [](Device* device) {
    // A forked child has none of the driver's threads, so nothing of the device can be waited for or freed there.
    if (device->forked() || !device->idle()) {
      keep_for_ever(device);
    } else {
      delete device;
    }
  });
}

Device::Device(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, const Options& options)
    : instance_(std::move(instance)), physical_(physical), options_(options) {
  const float priority = 1.0f;
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = physical.queue_family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;

  // Robust access is a second defence behind the shader's own checks, so it is taken where it is offered and not asked for.
  VkPhysicalDeviceRobustness2FeaturesEXT robustness2{};
  robustness2.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT;
  robustness2.robustBufferAccess2 = VK_TRUE;
  VkPhysicalDeviceVulkan12Features features12{};
  features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  features12.vulkanMemoryModel = VK_TRUE;
  features12.timelineSemaphore = VK_TRUE;  // Vulkan 1.2 has it always
  features12.bufferDeviceAddress = physical.buffer_addresses ? VK_TRUE : VK_FALSE;
  if (physical.robust_buffer_access2) features12.pNext = &robustness2;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &features12;
  features.features.robustBufferAccess = physical.robust_buffer_access ? VK_TRUE : VK_FALSE;
  std::vector<const char*> extensions;
  if (physical.robust_buffer_access2) extensions.push_back(VK_EXT_ROBUSTNESS_2_EXTENSION_NAME);
  if (physical.calibrated_timestamps) extensions.push_back(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME);

  VkDeviceCreateInfo create{};
  create.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  create.pNext = &features;
  create.queueCreateInfoCount = 1;
  create.pQueueCreateInfos = &queue;
  create.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
  create.ppEnabledExtensionNames = extensions.data();
  const InstanceApi& api = instance_->api();
  VkDevice device = VK_NULL_HANDLE;
  {
    const PlainFloats plain_floats;
    vulkan::check(api.vkCreateDevice(physical.handle, &create, nullptr, &device), "vkCreateDevice", name());
  }
  try {
    api_ = load_device(api, device);
  } catch (...) {
    if (auto destroy = reinterpret_cast<PFN_vkDestroyDevice>(api.vkGetDeviceProcAddr(device, "vkDestroyDevice"))) destroy(device, nullptr);
    throw;
  }
  api_.vkGetDeviceQueue(device, physical.queue_family, 0, &queue_);

  unified_ = !options.always_stage && physical.type != VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU &&
             physical.type != VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU && memory_type(~0u, kUnified).has_value();
  try {
    chunks_.reserve(kMaxUnusedChunks);
    heap_ = std::make_unique<Heap>(*this);
    stream_ = std::make_unique<Stream>(*this);
    timing_ = std::make_unique<Timing>(*this);
  } catch (...) {
    destroy();
    throw;
  }
}

Device::~Device() {
  // Only a condemned device can still be at work here. Lost ones end in finite time, whatever this returns.
  api_.vkDeviceWaitIdle(api_.device);
  for (std::size_t count = abandoned_.size(); count > 0; --count) count_given_back();
  abandoned_.clear();
  unused_.clear();
  chunks_.clear();
  destroy();
}

void Device::destroy() noexcept {
  stream_.reset();
  timing_.reset();  // its commands may have been left to the stream's thread
  heap_.reset();
  pipelines_.clear();
  set_layouts_.clear();
  api_.vkDestroyDevice(api_.device, nullptr);
}

void Device::check(VkResult result, const char* call) {
  if (result == VK_ERROR_DEVICE_LOST) condemn();
  vulkan::check(result, call, name());
}

void Device::submit(const VkSubmitInfo& submit, VkFence fence) {
  const PlainFloats plain_floats;
  const std::lock_guard lock(queue_mutex_);
  check(api_.vkQueueSubmit(queue_, 1, &submit, fence), "vkQueueSubmit");
}

std::unique_ptr<Chunk> Device::borrow_chunk() {
  {
    const std::lock_guard lock(mutex_);
    if (!chunks_.empty()) {
      // The one whose copy was asked for first.
      std::unique_ptr<Chunk> chunk = std::move(chunks_.front());
      chunks_.erase(chunks_.begin());
      return chunk;
    }
  }
  return std::make_unique<Chunk>(*this);
}

void Device::give_back(std::unique_ptr<Chunk> chunk) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (chunks_.size() < kMaxUnusedChunks) {
      chunks_.push_back(std::move(chunk));  // room is reserved
      return;
    }
  }
  const std::uint64_t until = chunk->last_use;
  stream().retire(until, std::move(chunk));
}

std::shared_ptr<Pipeline> Device::pipeline(const Shader& shader, bool warm, const RunOptions& options) {
  std::unique_lock lock(mutex_);
  if (auto pipeline = known(shader)) return pipeline;
  const Span span("compile");
  std::shared_ptr<Compile> mine;
  if (options.interrupted || options.timeout) {
    const Waiting waiting(options);
    for (;;) {
      if (!mine) {
        const auto same = std::ranges::find_if(compiling_, [&](const auto& other) { return other->shader == shader; });
        if (same != compiling_.end()) {
          mine = *same;
        } else if (compiling_.size() < kMostCompiles) {
          mine = compile_beside(shader, warm);
          if (!mine) break;  // there is no thread for it
        }
      }
      if (mine && mine->done) break;
      compiled_.wait_for(lock, kPollInterval);
      if (mine && mine->done) break;
      lock.unlock();
      waiting.stop_compile_if_unwanted(name());
      lock.lock();
      if (!mine) {
        if (auto pipeline = known(shader)) return pipeline;
      }
    }
  }
  if (!mine) {
    lock.unlock();
    return compile(shader, warm);
  }
  if (mine->failure) std::rethrow_exception(mine->failure);
  return mine->pipeline;
}

std::shared_ptr<Pipeline> Device::known(const Shader& shader) {
  const auto found = std::ranges::find_if(pipelines_, [&](const auto& pipeline) { return pipeline->shader() == shader; });
  if (found == pipelines_.end()) return nullptr;
  pipelines_.splice(pipelines_.begin(), pipelines_, found);
  return pipelines_.front();
}

std::shared_ptr<Pipeline> Device::compile(const Shader& shader, bool warm) {
  // With nothing locked, so that calls of other shaders go on. Two threads may compile the same one; both work.
  auto compiled = std::make_shared<Pipeline>(*this, shader);
  if (warm) warm_up(*this, compiled);
  const std::lock_guard lock(mutex_);
  pipelines_.push_front(compiled);
  if (pipelines_.size() > kMaxPipelines) pipelines_.pop_back();
  return compiled;
}

// What the thread of a compile holds: the device lives until it is done.
struct Device::CompileThread {
  std::shared_ptr<Device> device;
  const Shader shader;
  const bool warm;
  std::shared_ptr<Compile> compile{};

  static void* run(void* given) {
    {
      const std::unique_ptr<CompileThread> self(static_cast<CompileThread*>(given));
      std::shared_ptr<Pipeline> pipeline;
      std::exception_ptr failure;
      try {
        pipeline = self->device->compile(self->shader, self->warm);
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(self->device->mutex_);
      self->compile->pipeline = std::move(pipeline);
      self->compile->failure = failure;
      self->compile->done = true;
      self->device->compiling_.remove(self->compile);
      self->device->compiled_.notify_all();
    }
    count_given_back();
    return nullptr;
  }
};

std::shared_ptr<Device::Compile> Device::compile_beside(const Shader& shader, bool warm) {
  auto thread = std::make_unique<CompileThread>(CompileThread{shared_from_this(), shader, warm});
  thread->compile = std::make_shared<Compile>(Compile{thread->shader});
  const std::shared_ptr<Compile> compile = thread->compile;
  compiling_.push_back(compile);
  // A process that ends meanwhile must not take the driver apart.
  count_abandoned();
  pthread_attr_t how;
  pthread_attr_init(&how);
  pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&how, kCompilerStack);
  pthread_t made;
  const bool begun = pthread_create(&made, &how, &CompileThread::run, thread.get()) == 0;
  pthread_attr_destroy(&how);
  if (!begun) {
    count_given_back();
    compiling_.remove(compile);
    return nullptr;
  }
  static_cast<void>(thread.release());  // the thread's
  return compile;
}

VkDescriptorSetLayout Device::set_layout(std::uint32_t binding_count) {
  const std::lock_guard lock(mutex_);
  if (const auto known = set_layouts_.find(binding_count); known != set_layouts_.end()) return *known->second;

  std::vector<VkDescriptorSetLayoutBinding> bindings(binding_count);
  for (std::uint32_t binding = 0; binding < binding_count; ++binding) {
    bindings[binding].binding = binding;
    bindings[binding].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    bindings[binding].descriptorCount = 1;
    bindings[binding].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  }
  VkDescriptorSetLayoutCreateInfo create{};
  create.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
  create.bindingCount = binding_count;
  create.pBindings = bindings.data();
  VkDescriptorSetLayout layout = VK_NULL_HANDLE;
  check(api_.vkCreateDescriptorSetLayout(api_.device, &create, nullptr, &layout), "vkCreateDescriptorSetLayout");
  set_layouts_.emplace(binding_count, SetLayoutHandle(api_, layout));
  return layout;
}

std::list<Workspace> Device::borrow() {
  if (!collect()) {
    throw DeviceError(
        fmt::format("device `{}` is still busy with a call that timed out or was interrupted. Fix: call again when that "
                    "program has ended, or use another device.",
                    name()));
  }
  std::list<Workspace> lent;
  {
    const std::lock_guard lock(mutex_);
    if (!unused_.empty()) lent.splice(lent.begin(), unused_, std::prev(unused_.end()));
  }
  if (lent.empty()) lent.emplace_back(*this);
  return lent;
}

void Device::give_back(std::list<Workspace> workspace) noexcept {
  workspace.front().kernels = {};
  if (workspace.front().bytes() > kMaxKeptBytes) return;
  const std::lock_guard lock(mutex_);
  if (unused_.size() < kMaxUnusedWorkspaces) unused_.splice(unused_.end(), workspace);
}

void Device::abandon(std::list<Workspace> workspace) noexcept {
  const std::lock_guard lock(mutex_);
  abandoned_.splice(abandoned_.end(), workspace);
  count_abandoned();
}

bool Device::collect() {
  std::list<Workspace> done;  // destroyed after the lock is given up
  const std::lock_guard lock(mutex_);
  while (!abandoned_.empty()) {
    const VkResult result = api_.vkGetFenceStatus(api_.device, *abandoned_.back().fence);
    if (result == VK_NOT_READY) return false;
    if (result < 0) condemn();
    check(result, "vkGetFenceStatus");
    done.splice(done.end(), abandoned_, std::prev(abandoned_.end()));
    count_given_back();
  }
  return true;
}

bool Device::idle() noexcept {
  try {
    return condemned() || (collect() && stream_->idle_within(kPatience));
  } catch (const std::exception&) {
    return condemned();
  }
}

bool Device::wait_for_abandoned(double seconds) {
  const Deadline deadline{Deadline::Seconds(seconds)};
  while (!collect()) {
    if (deadline.remaining().count() == 0) return false;
    // Nobody may free the fence meanwhile, so the others are kept waiting, but not for long.
    const std::lock_guard lock(mutex_);
    if (abandoned_.empty()) continue;
    const auto slice = static_cast<std::uint64_t>(deadline.slice().count());
    check(api_.vkWaitForFences(api_.device, 1, abandoned_.back().fence.address(), VK_TRUE, slice), "vkWaitForFences");
  }
  return true;
}

bool Device::free_unused() {
  stream_->collect();
  const bool trimmed = heap_->trim();
  std::list<Workspace> unused;  // destroyed after the lock is given up
  const std::lock_guard lock(mutex_);
  unused.swap(unused_);
  return trimmed || !unused.empty();
}

std::array<std::uint32_t, 3> Device::max_group_count() const {
  std::array<std::uint32_t, 3> counts;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    counts[axis] = physical_.limits.maxComputeWorkGroupCount[axis];
    if (options_.max_group_count) counts[axis] = std::min(counts[axis], (*options_.max_group_count)[axis]);
  }
  return counts;
}

std::uint64_t Device::max_storage_range() const {
  const std::uint64_t range = physical_.limits.maxStorageBufferRange;
  return options_.max_storage_range ? std::min(range, *options_.max_storage_range) : range;
}

Device::Limit Device::max_array() const {
  // Of which Vulkan promises one; arrays lie there.
  Limit limit{0, "the largest memory heap"};
  for (std::uint32_t heap = 0; heap < physical_.memory.memoryHeapCount; ++heap) {
    const VkMemoryHeap& one = physical_.memory.memoryHeaps[heap];
    if ((one.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) limit.bytes = std::max<std::uint64_t>(limit.bytes, one.size);
  }
  if (physical_.max_buffer != 0 && physical_.max_buffer < limit.bytes) limit = {physical_.max_buffer, "maxBufferSize"};
  return limit;
}

std::optional<std::uint32_t> Device::memory_type(std::uint32_t allowed, VkMemoryPropertyFlags wanted) const {
  for (std::uint32_t type = 0; type < physical_.memory.memoryTypeCount; ++type) {
    if ((allowed >> type & 1) != 0 && (physical_.memory.memoryTypes[type].propertyFlags & wanted) == wanted) return type;
  }
  return std::nullopt;
}

}  // namespace vyre::run::vulkan
