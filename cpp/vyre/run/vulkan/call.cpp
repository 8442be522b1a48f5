#include "vyre/run/vulkan/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <list>

#include "vyre/base/error.hpp"
#include "vyre/emit/interface.hpp"
#include "vyre/run/vulkan/parts.hpp"

namespace vyre::run::vulkan {
namespace {

using Clock = std::chrono::steady_clock;

// Waiting for a fence puts the thread to sleep, which costs more than most small programs take.
constexpr auto kSpin = std::chrono::microseconds(50);
// How often a waiting call asks whether it is still wanted.
constexpr auto kSlice = std::chrono::milliseconds(20);

std::optional<Clock::time_point> deadline_of(const RunOptions& options) {
  // A century is for ever, and does not overflow the clock.
  constexpr double kForEver = 3e9;
  if (!options.timeout || !(options.timeout->count() < kForEver)) return std::nullopt;
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::max(*options.timeout, std::chrono::duration<double>(0)));
}

VkDeviceSize device_bytes(std::size_t host_bytes) {
  // Whole words: a Bytes buffer may end inside one.
  return std::max(kMinBufferBytes, (VkDeviceSize{host_bytes} + 3) / 4 * 4);
}

void barrier(const DeviceApi& api, VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags written, VkPipelineStageFlags to,
             VkAccessFlags used) {
  VkMemoryBarrier memory{};
  memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  memory.srcAccessMask = written;
  memory.dstAccessMask = used;
  api.vkCmdPipelineBarrier(commands, from, to, 0, 1, &memory, 0, nullptr, 0, nullptr);
}

constexpr VkAccessFlags kShaderAccess = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;

// A workspace while a call has it. It goes back to the device's unused ones after success only; what the device may still be
// working with is abandoned to it, and the rest is freed, because a failed call leaves it half made.
class Loan {
 public:
  explicit Loan(Device& device) : device_(device), workspace_(device.borrow()) {}
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() {
    if (!workspace_.empty() && workspace_.front().in_flight) device_.abandon(std::move(workspace_));
  }
  void end() { device_.give_back(std::move(workspace_)); }
  Workspace& operator*() { return workspace_.front(); }

 private:
  Device& device_;
  std::list<Workspace> workspace_;  // of one
};

// Records, submits and waits; as often as the grid needs.
class Runner {
 public:
  Runner(Device& device, Workspace& workspace, const RunOptions& options)
      : device_(device), api_(device.api()), workspace_(workspace), options_(options), deadline_(deadline_of(options)) {}

  void begin() {
    device_.check(api_.vkResetCommandPool(api_.device, *workspace_.command_pool, 0), "vkResetCommandPool");
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    device_.check(api_.vkBeginCommandBuffer(workspace_.commands, &begin), "vkBeginCommandBuffer");
  }

  void bind(const Pipeline& pipeline, std::span<const std::uint32_t> constants) {
    api_.vkCmdBindPipeline(workspace_.commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle());
    api_.vkCmdBindDescriptorSets(workspace_.commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout(), 0, 1, &workspace_.set, 0, nullptr);
    push(pipeline, constants);
  }

  void push(const Pipeline& pipeline, std::span<const std::uint32_t> constants) {
    api_.vkCmdPushConstants(workspace_.commands, pipeline.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                            static_cast<std::uint32_t>(constants.size_bytes()), constants.data());
  }

  void dispatch(const std::array<std::uint32_t, 3>& groups) { api_.vkCmdDispatch(workspace_.commands, groups[0], groups[1], groups[2]); }

  void copy(const Buffer& from, const Buffer& to, VkDeviceSize bytes) {
    const VkBufferCopy region{0, 0, bytes};
    api_.vkCmdCopyBuffer(workspace_.commands, from.handle(), to.handle(), 1, &region);
  }

  void order(VkPipelineStageFlags from, VkAccessFlags written, VkPipelineStageFlags to, VkAccessFlags used) {
    barrier(api_, workspace_.commands, from, written, to, used);
  }

  void submit_and_wait() {
    device_.check(api_.vkEndCommandBuffer(workspace_.commands), "vkEndCommandBuffer");
    device_.check(api_.vkResetFences(api_.device, 1, workspace_.fence.address()), "vkResetFences");
    // A submission that is over time before it starts never has to be abandoned.
    stop_if_unwanted();
    device_.submit(workspace_.commands, *workspace_.fence);
    workspace_.in_flight = true;
    wait();
    workspace_.in_flight = false;
  }

 private:
  void stop_if_unwanted() {
    if (options_.interrupted && options_.interrupted()) throw Interrupted();
    if (deadline_ && Clock::now() >= *deadline_) {
      throw DispatchTimeoutError(
          fmt::format("the call did not end within {} s on device `{}`. Fix: raise the time-out, or give each "
                      "dispatch less work.",
                      options_.timeout->count(), device_.name()));
    }
  }

  // True when the fence has signalled. A wait that fails, fails for good: nothing is known of the device any more.
  bool finished(VkResult result, const char* call) {
    if (result < 0) {
      device_.condemn();
      device_.check(result, call);
    }
    return result == VK_SUCCESS;
  }

  void wait() {
    const auto start = Clock::now();
    do {
      if (finished(api_.vkGetFenceStatus(api_.device, *workspace_.fence), "vkGetFenceStatus")) return;
    } while (Clock::now() - start < kSpin);
    for (;;) {
      stop_if_unwanted();
      std::chrono::nanoseconds slice = options_.interrupted ? std::chrono::nanoseconds(kSlice) : std::chrono::nanoseconds::max();
      if (deadline_) slice = std::min<std::chrono::nanoseconds>(slice, std::max(*deadline_ - Clock::now(), Clock::duration(0)));
      if (finished(api_.vkWaitForFences(api_.device, 1, workspace_.fence.address(), VK_TRUE, static_cast<std::uint64_t>(slice.count())),
                   "vkWaitForFences")) {
        return;
      }
    }
  }

  Device& device_;
  const DeviceApi& api_;
  Workspace& workspace_;
  const RunOptions& options_;
  const std::optional<Clock::time_point> deadline_;
};

std::string describe_buffer(const Shader& shader, std::size_t index) {
  return index < shader.names.size() ? fmt::format("buffer `{}`", shader.names[index]) : fmt::format("buffer {}", index);
}

void check_call(const Device& device, const Shader& shader, std::span<const BufferView> buffers, Grid grid) {
  if (buffers.size() != shader.buffer_count) {
    throw BindingError(
        fmt::format("the program has {} buffers, got {}. Fix: pass one array for each buffer.", shader.buffer_count, buffers.size()));
  }
  const std::uint32_t groups[] = {grid.x, grid.y, grid.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::uint64_t invocations = std::uint64_t{groups[axis]} * shader.workgroup_size[axis];
    if (invocations > std::uint64_t{1} << 32) {
      throw BindingError(
          fmt::format("{} workgroups of {} invocations along axis {} are {} invocations, more than 4294967296. Fix: use fewer "
                      "workgroups, or spread them over the other axes.",
                      groups[axis], shader.workgroup_size[axis], axis, invocations));
    }
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const auto at_most = [&](std::uint64_t allowed, const char* limit) {
      const std::uint64_t wanted = device_bytes(buffers[i].bytes.size());
      if (wanted <= allowed) return;
      throw CapabilityError(
          fmt::format("{} of {} bytes exceeds {} of device `{}`, which allows {}. Fix: pass a smaller array, or use another "
                      "device.",
                      describe_buffer(shader, i), wanted, limit, device.name(), allowed));
    };
    at_most(device.physical().limits.maxStorageBufferRange, "maxStorageBufferRange");
    at_most(device.physical().max_memory_allocation, "maxMemoryAllocationSize");
  }
}

void copy_in(std::span<const std::byte> from, const Buffer& to) {
  if (!from.empty()) std::memcpy(to.mapped(), from.data(), from.size());
  const std::size_t whole = static_cast<std::size_t>(device_bytes(from.size()));
  std::memset(to.mapped() + from.size(), 0, whole - from.size());
}

}  // namespace

Workspace::Workspace(Device& device) {
  const DeviceApi& api = device.api();
  VkCommandPoolCreateInfo pool_create{};
  pool_create.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool_create.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
  pool_create.queueFamilyIndex = device.physical().queue_family;
  VkCommandPool pool = VK_NULL_HANDLE;
  device.check(api.vkCreateCommandPool(api.device, &pool_create, nullptr, &pool), "vkCreateCommandPool");
  command_pool = CommandPoolHandle(api, pool);

  VkCommandBufferAllocateInfo allocate{};
  allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  allocate.commandPool = pool;
  allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  allocate.commandBufferCount = 1;
  device.check(api.vkAllocateCommandBuffers(api.device, &allocate, &commands), "vkAllocateCommandBuffers");

  VkFenceCreateInfo fence_create{};
  fence_create.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  VkFence fence_value = VK_NULL_HANDLE;
  device.check(api.vkCreateFence(api.device, &fence_create, nullptr, &fence_value), "vkCreateFence");
  fence = FenceHandle(api, fence_value);
}

void Workspace::fit(Device& device, std::span<const VkDeviceSize> bytes, bool staged) {
  const auto fit_all = [&](std::vector<Buffer>& list, std::size_t count, BufferUse use) {
    list.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      // A much larger buffer than needed is memory that other calls lack.
      const bool fits = list[i].bytes() >= bytes[i] && list[i].bytes() <= std::max<VkDeviceSize>(4 * bytes[i], 1u << 20);
      if (fits) continue;
      bound_.clear();
      list[i] = Buffer();
      list[i] = Buffer(device, bytes[i], use);
    }
  };
  fit_all(buffers, bytes.size(), BufferUse::Device);
  fit_all(staging, staged ? bytes.size() : 0, BufferUse::Staging);
  bind(device, bytes);
}

void Workspace::bind(Device& device, std::span<const VkDeviceSize> bytes) {
  const DeviceApi& api = device.api();
  const auto count = static_cast<std::uint32_t>(bytes.size());
  if (set == VK_NULL_HANDLE || set_bindings_ != count) {
    set = VK_NULL_HANDLE;
    bound_.clear();
    // A pool must have room for something, also when the program has no buffers.
    const VkDescriptorPoolSize room{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, std::max(count, 1u)};
    VkDescriptorPoolCreateInfo create{};
    create.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    create.maxSets = 1;
    create.poolSizeCount = 1;
    create.pPoolSizes = &room;
    VkDescriptorPool pool = VK_NULL_HANDLE;
    device.check(api.vkCreateDescriptorPool(api.device, &create, nullptr, &pool), "vkCreateDescriptorPool");
    descriptor_pool_ = DescriptorPoolHandle(api, pool);

    const VkDescriptorSetLayout layout = device.set_layout(count);
    VkDescriptorSetAllocateInfo allocate{};
    allocate.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
    allocate.descriptorPool = pool;
    allocate.descriptorSetCount = 1;
    allocate.pSetLayouts = &layout;
    device.check(api.vkAllocateDescriptorSets(api.device, &allocate, &set), "vkAllocateDescriptorSets");
    set_bindings_ = count;
  }
  if (count == 0 || std::equal(bound_.begin(), bound_.end(), bytes.begin(), bytes.end())) return;

  std::vector<VkDescriptorBufferInfo> infos(count);
  std::vector<VkWriteDescriptorSet> writes(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    // The exact range, not the whole buffer: robust access then ends where the host's array does.
    infos[i] = {buffers[i].handle(), 0, bytes[i]};
    writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    writes[i].dstSet = set;
    writes[i].dstBinding = i;
    writes[i].descriptorCount = 1;
    writes[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    writes[i].pBufferInfo = &infos[i];
  }
  api.vkUpdateDescriptorSets(api.device, count, writes.data(), 0, nullptr);
  bound_.assign(bytes.begin(), bytes.end());
}

VkDeviceSize Workspace::bytes() const {
  VkDeviceSize sum = 0;
  for (const Buffer& buffer : buffers) sum += buffer.bytes();
  for (const Buffer& buffer : staging) sum += buffer.bytes();
  return sum;
}

void run_call(Device& device, const Kernels& kernels, std::span<const BufferView> buffers, Grid grid, const RunOptions& options) {
  const Shader& shader = kernels.plain->shader();
  check_call(device, shader, buffers, grid);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;

  Loan loan(device);
  Workspace& workspace = *loan;
  Runner runner(device, workspace, options);
  workspace.kernels = kernels;
  std::vector<VkDeviceSize> bytes(shader.binding_count(), kMinBufferBytes);
  for (std::size_t i = 0; i < buffers.size(); ++i) bytes[i] = device_bytes(buffers[i].bytes.size());
  const bool staged = !device.unified();
  workspace.fit(device, bytes, staged);

  // What the host writes to and reads from.
  const std::vector<Buffer>& reachable = staged ? workspace.staging : workspace.buffers;
  for (std::size_t i = 0; i < buffers.size(); ++i) copy_in(buffers[i].bytes, reachable[i]);
  if (shader.has_status) copy_in({}, reachable[shader.buffer_count]);

  std::vector<std::uint32_t> constants(3, 0);
  for (const BufferView& buffer : buffers) constants.push_back(buffer.length);

  runner.begin();
  if (staged) {
    for (std::size_t i = 0; i < bytes.size(); ++i) runner.copy(workspace.staging[i], workspace.buffers[i], bytes[i]);
    runner.order(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, kShaderAccess);
  }

  // The grid in parts that the device takes; each part is told the workgroup that it begins with.
  const Parts parts(grid, device.max_group_count(), kernels.coarse != nullptr);
  std::size_t recorded = 0;
  for (std::uint64_t index = 0; index < parts.count(); ++index) {
    if (recorded == device.options().dispatches_per_submission) {
      runner.submit_and_wait();
      runner.begin();
      recorded = 0;
    }
    const Part part = parts[index];
    const Pipeline& pipeline = kernels.of(part.coarse);
    // Atomics of one location keep their one order across parts. A program with a coarsened kernel has none.
    if (index > 0 && kernels.coarse == nullptr) {
      runner.order(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, kShaderAccess);
    }
    std::copy(part.first.begin(), part.first.end(), constants.begin());
    if (recorded == 0 || part.coarse != parts[index - 1].coarse) {
      runner.bind(pipeline, constants);
    } else {
      runner.push(pipeline, std::span(constants).first(3));
    }
    runner.dispatch(part.groups);
    ++recorded;
  }

  const auto returned = [&](std::size_t i) { return i >= shader.buffer_count || shader.writable[i]; };
  if (staged) {
    runner.order(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                 VK_ACCESS_TRANSFER_READ_BIT);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (returned(i)) runner.copy(workspace.buffers[i], workspace.staging[i], bytes[i]);
    }
    runner.order(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  } else {
    runner.order(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  }
  runner.submit_and_wait();

  if (shader.has_status) {
    std::uint32_t status = 0;
    std::memcpy(&status, reachable[shader.buffer_count].mapped(), sizeof(status));
    if (status != 0) {
      throw DeviceError(
          fmt::format("the driver of device `{}` ends loops after {} rounds in all, and this call needs more. Fix: use a device "
                      "without that limit, or run fewer rounds a dispatch and keep the state in a buffer.",
                      device.name(), device.loop_budget.value_or(0)));
    }
  }
  // Nothing can fail from here on, so the host's arrays change all or not at all.
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (shader.writable[i] && !buffers[i].bytes.empty())
      std::memcpy(buffers[i].bytes.data(), reachable[i].mapped(), buffers[i].bytes.size());
  }
  loan.end();
}

void warm_up(Device& device, const std::shared_ptr<Pipeline>& pipeline) {
  Loan loan(device);
  Workspace& workspace = *loan;
  const RunOptions options;
  Runner runner(device, workspace, options);
  workspace.kernels.plain = pipeline;
  const std::vector<VkDeviceSize> bytes(pipeline->shader().binding_count(), kMinBufferBytes);
  workspace.fit(device, bytes, false);
  const std::vector<std::uint32_t> constants(3 + pipeline->shader().buffer_count, 0);
  runner.begin();
  runner.bind(*pipeline, constants);
  runner.dispatch({0, 0, 0});
  runner.submit_and_wait();
  loan.end();
}

}  // namespace vyre::run::vulkan
