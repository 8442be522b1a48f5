#include "vyre/run/vulkan/calls/host_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <list>

#include "vyre/base/error.hpp"
#include "vyre/emit/interface.hpp"
#include "vyre/run/host_copy.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/vulkan/api/waiting.hpp"

namespace vyre::run::vulkan {
namespace {

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

// Submits what was recorded, and waits for it.
class Runner {
 public:
  Runner(Device& device, Workspace& workspace, const RunOptions& options) : device_(device), workspace_(workspace), waiting_(options) {}

  void begin() {
    workspace_.commands.begin();
    workspace_.timestamps = device_.timing().begin_if_profiled(waiting_.options());
  }

  // What `record` records is `work`, for a profile.
  template <class Record>
  void timed(const Work& work, const Record& record) {
    if (workspace_.timestamps) workspace_.timestamps->begin(workspace_.commands, work);
    record();
    if (workspace_.timestamps) workspace_.timestamps->end(workspace_.commands);
  }

  void submit_and_wait() {
    workspace_.commands.end();
    const DeviceApi& api = device_.api();
    device_.check(api.vkResetFences(api.device, 1, workspace_.fence.address()), "vkResetFences");
    // A submission that is over time before it starts never has to be abandoned.
    waiting_.stop_if_unwanted(device_.name());
    const VkCommandBuffer commands = workspace_.commands.handle();
    VkSubmitInfo submit{};
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    const std::int64_t submitted = workspace_.timestamps ? host_now() : 0;
    {
      const Span span("submit");
      device_.submit(submit, *workspace_.fence);
    }
    workspace_.in_flight = true;
    wait();
    workspace_.in_flight = false;
    if (workspace_.timestamps) device_.timing().done(std::move(workspace_.timestamps), submitted);
  }

 private:
  void wait() {
    const DeviceApi& api = device_.api();
    const Span span("wait");
    waiting_.wait(
        device_.name(), [&] { return finished(api.vkGetFenceStatus(api.device, *workspace_.fence), "vkGetFenceStatus"); },
        [&](std::uint64_t nanoseconds) {
          return finished(api.vkWaitForFences(api.device, 1, workspace_.fence.address(), VK_TRUE, nanoseconds), "vkWaitForFences");
        });
  }

  // True when the fence has signalled. A wait that fails, fails for good: nothing is known of the device any more.
  bool finished(VkResult result, const char* call) {
    if (result < 0) {
      device_.condemn();
      device_.check(result, call);
    }
    return result == VK_SUCCESS;
  }

  Device& device_;
  Workspace& workspace_;
  const Waiting waiting_;
};

std::string describe_buffer(const Shader& shader, std::size_t index) {
  return index < shader.names.size() ? fmt::format("buffer `{}`", shader.names[index]) : fmt::format("buffer {}", index);
}

void copy_in(std::span<const std::byte> from, const Buffer& to) {
  host_copy(to.mapped(), from.data(), from.size());
  const std::size_t whole = static_cast<std::size_t>(device_bytes(from.size()));
  std::memset(to.mapped() + from.size(), 0, whole - from.size());
}

}  // namespace

VkDeviceSize device_bytes(std::uint64_t host_bytes) {
  // Whole words: a Bytes buffer may end inside one.
  return std::max(kMinBufferBytes, (host_bytes + 3) / 4 * 4);
}

void check_sizes(const Device& device, const Shader& shader, std::span<const std::uint64_t> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto at_most = [&](const Device::Limit& limit, const char* why) {
      const std::uint64_t wanted = device_bytes(bytes[i]);
      if (wanted <= limit.bytes) return;
      throw CapabilityError(
          fmt::format("{} of {} bytes exceeds {} of device `{}`, which allows {}{}. Fix: pass a smaller array, or use another "
                      "device.",
                      describe_buffer(shader, i), wanted, limit.name, device.name(), limit.bytes, why));
    };
    if (!shader.addressed) {
      at_most({device.max_storage_range(), "maxStorageBufferRange"}, device.has_addresses() ? "" : " and has no bufferDeviceAddress");
    }
    at_most(device.max_array(), "");
  }
}

void check_call(const Device& device, const Shader& shader, std::span<const BufferView> buffers) {
  VYRE_ASSERT(buffers.size() == shader.buffer_count);
  std::vector<std::uint64_t> sizes;
  for (const BufferView& buffer : buffers) sizes.push_back(buffer.bytes.size());
  check_sizes(device, shader, sizes);
}

void check_status(const Device& device, const Buffer& status) {
  std::uint32_t word = 0;
  std::memcpy(&word, status.mapped(), sizeof(word));
  if (word == 0) return;
  const std::uint32_t budget = device.loop_budget.value_or(0);
  throw CapabilityError(
      fmt::format("more than {} loop rounds an invocation exceeds loop_budget of device `{}`, whose driver ends loops after {} in all. "
                  "Fix: use backend `cpu` or a device whose loop_budget is none, or run fewer rounds a dispatch and keep the state in a "
                  "buffer.",
                  budget, device.name(), budget));
}

void append_address(std::vector<std::uint32_t>& words, std::uint64_t address) {
  words.push_back(static_cast<std::uint32_t>(address));
  words.push_back(static_cast<std::uint32_t>(address >> 32));
}

void record_parts(Commands& commands, const Kernels& kernels, VkDescriptorSet set, std::span<std::uint32_t> constants, const Parts& parts,
                  std::uint64_t first, std::uint64_t end) {
  for (std::uint64_t index = first; index < end; ++index) {
    const Part part = parts[index];
    const Pipeline& pipeline = kernels.of(part.coarse);
    // Atomics of one location keep their one order across parts. A program with a coarsened kernel has none.
    if (index > 0 && kernels.coarse == nullptr) commands.order(kShader, kShader);
    std::copy(part.first.begin(), part.first.end(), constants.begin());
    if (index == first || part.coarse != parts[index - 1].coarse) {
      commands.bind(pipeline.handle(), pipeline.layout(), set);
      commands.push(pipeline.layout(), constants);
    } else {
      commands.push(pipeline.layout(), constants.first(3));
    }
    commands.dispatch(part.groups);
  }
}

Workspace::Workspace(Device& device) : commands(device) {
  const DeviceApi& api = device.api();
  VkFenceCreateInfo fence_create{};
  fence_create.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  VkFence fence_value = VK_NULL_HANDLE;
  device.check(api.vkCreateFence(api.device, &fence_create, nullptr, &fence_value), "vkCreateFence");
  fence = FenceHandle(api, fence_value);
}

void Workspace::fit(Device& device, std::span<const VkDeviceSize> bytes, std::size_t first_bound, bool staged) {
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
  bind(device, bytes.subspan(first_bound), first_bound);
}

void Workspace::bind(Device& device, std::span<const VkDeviceSize> bytes, std::size_t first) {
  const auto count = static_cast<std::uint32_t>(bytes.size());
  if (!bindings || bindings->count() != count) {
    bindings.reset();
    bound_.clear();
    bindings.emplace(device, count);
  }
  if (first_bound_ == first && std::equal(bound_.begin(), bound_.end(), bytes.begin(), bytes.end())) return;

  // The exact range, not the whole buffer: robust access then ends where the host's array does.
  std::vector<VkDescriptorBufferInfo> infos;
  for (std::uint32_t i = 0; i < count; ++i) infos.push_back({buffers[first + i].handle(), 0, bytes[i]});
  bindings->update(device, infos);
  bound_.assign(bytes.begin(), bytes.end());
  first_bound_ = first;
}

VkDeviceSize Workspace::bytes() const {
  VkDeviceSize sum = 0;
  for (const Buffer& buffer : buffers) sum += buffer.bytes();
  for (const Buffer& buffer : staging) sum += buffer.bytes();
  return sum;
}

void run_call(Device& device, const Kernels& kernels, std::span<const BufferView> buffers, Grid grid, const RunOptions& options) {
  const Shader& shader = kernels.plain->shader();
  check_call(device, shader, buffers);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;

  Loan loan(device);
  Workspace& workspace = *loan;
  Runner runner(device, workspace, options);
  workspace.kernels = kernels;
  std::vector<VkDeviceSize> bytes;
  for (const BufferView& buffer : buffers) bytes.push_back(device_bytes(buffer.bytes.size()));
  const std::size_t first_bound = shader.addressed ? buffers.size() : 0;
  if (shader.addressed) bytes.push_back(device_bytes(8 * buffers.size()));
  const std::size_t status = bytes.size();
  if (shader.has_status) bytes.push_back(kMinBufferBytes);
  const bool staged = !device.unified();
  workspace.fit(device, bytes, first_bound, staged);

  // What the host writes to and reads from.
  const std::vector<Buffer>& reachable = staged ? workspace.staging : workspace.buffers;
  std::uint64_t bound = 0;
  for (const BufferView& buffer : buffers) bound += buffer.bytes.size();
  {
    Span span("upload");
    if (span) span.work().bytes = bound;
    for (std::size_t i = 0; i < buffers.size(); ++i) copy_in(buffers[i].bytes, reachable[i]);
  }
  if (shader.addressed) {
    std::vector<std::uint32_t> addresses;
    for (std::size_t i = 0; i < buffers.size(); ++i) append_address(addresses, address_of(device, workspace.buffers[i].handle()));
    copy_in(std::as_bytes(std::span(addresses)), reachable[buffers.size()]);
  }
  if (shader.has_status) copy_in({}, reachable[status]);

  std::vector<std::uint32_t> constants(3, 0);
  for (const BufferView& buffer : buffers) constants.push_back(buffer.length);

  Commands& commands = workspace.commands;
  runner.begin();
  if (staged) {
    runner.timed({"upload", nullptr, {0, 0, 0}, bound}, [&] {
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        commands.copy(workspace.staging[i].handle(), 0, workspace.buffers[i].handle(), 0, bytes[i]);
      }
    });
    commands.order(kTransfer, kShader);
  }

  const Parts parts(grid, device.max_group_count(), kernels.coarse != nullptr);
  const std::uint64_t most = device.options().dispatches_per_submission;
  for (std::uint64_t first = 0; first < parts.count(); first += most) {
    if (first > 0) {
      runner.submit_and_wait();
      runner.begin();
    }
    runner.timed({"dispatch", kernels.program, grid, bound}, [&] {
      record_parts(commands, kernels, workspace.bindings->handle(), constants, parts, first, std::min(parts.count(), first + most));
    });
  }

  const auto returned = [&](std::size_t i) { return i < buffers.size() ? bool{shader.writable[i]} : i == status; };
  std::uint64_t given_back = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i) given_back += shader.writable[i] ? buffers[i].bytes.size() : 0;
  if (staged) {
    commands.order(kShader, kTransfer);
    runner.timed({"download", nullptr, {0, 0, 0}, given_back}, [&] {
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (returned(i)) commands.copy(workspace.buffers[i].handle(), 0, workspace.staging[i].handle(), 0, bytes[i]);
      }
    });
    commands.order(kTransfer, kHost);
  } else {
    commands.order(kShader, kHost);
  }
  runner.submit_and_wait();

  if (shader.has_status) check_status(device, reachable[status]);
  // Nothing can fail from here on, so the host's arrays change all or not at all.
  Span span("download");
  if (span) span.work().bytes = given_back;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (shader.writable[i]) host_copy(buffers[i].bytes.data(), reachable[i].mapped(), buffers[i].bytes.size());
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
  workspace.fit(device, bytes, 0, false);
  const std::vector<std::uint32_t> constants(3 + pipeline->shader().buffer_count, 0);
  workspace.commands.begin();
  workspace.commands.bind(pipeline->handle(), pipeline->layout(), workspace.bindings->handle());
  workspace.commands.push(pipeline->layout(), constants);
  workspace.commands.dispatch({0, 0, 0});
  runner.submit_and_wait();
  loan.end();
}

}  // namespace vyre::run::vulkan
