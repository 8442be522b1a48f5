#include "vyre/run/vulkan/plan.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/emit/interface.hpp"
#include "vyre/run/vulkan/bindings.hpp"
#include "vyre/run/vulkan/call.hpp"
#include "vyre/run/vulkan/commands.hpp"

namespace vyre::run::vulkan {
namespace {

VulkanStorage& storage_of(const StorageView& view) { return static_cast<VulkanStorage&>(*view.storage); }

}  // namespace

// What the device works with, besides the arrays.
class VulkanPlan::Recording final : public Retired {
 public:
  Recording(Device& device, Kernels kernels, std::span<const StorageView> views, Grid grid)
      : device_(device),
        kernels_(std::move(kernels)),
        parts_(grid, device.max_group_count(), kernels_.coarse != nullptr),
        bindings_(device, kernels_.plain->shader().binding_count()) {
    const Shader& shader = this->shader();
    constants_.assign(3, 0);
    const VkDeviceSize alignment = device.physical().limits.minStorageBufferOffsetAlignment;
    std::vector<VkDescriptorBufferInfo> infos;
    for (const StorageView& view : views) {
      constants_.push_back(view.length);
      const Block& block = storage_of(view).block();
      // Robust access ends where the array does, in whole words.
      VkDescriptorBufferInfo info{block.buffer->handle(), block.offset + view.offset, device_bytes(view.bytes)};
      if (info.offset % alignment != 0) info = copied(infos.size(), info, view.bytes);
      infos.push_back(info);
    }
    if (shader.has_status) {
      status_ = Buffer(device, kMinBufferBytes, BufferUse::Status);
      infos.push_back({status_.handle(), 0, kMinBufferBytes});
    }
    bindings_.update(device, infos);
    // One command buffer for all parts, unless there are very many of them: those are recorded while the first ones run.
    const std::uint64_t most = device.options().dispatches_per_submission;
    if (parts_.count() > most) return;
    commands_.emplace(device);
    record(*commands_, 0, parts_.count(), true);
  }
  ~Recording() override {
    for (std::list<Block>& block : copies_) device_.heap().give_back(std::move(block));
  }

  const Shader& shader() const { return kernels_.plain->shader(); }
  Buffer& status() { return status_; }

  // `used(moment)` hears of each submission at once: a later one may fail, and the device works with everything all the same.
  template <class Used>
  void submit(const Used& used, const Waiting& waiting) {
    if (commands_) {
      const VkCommandBuffer commands = commands_->handle();
      return used(device_.stream().submit({&commands, 1}));
    }
    const std::uint64_t most = device_.options().dispatches_per_submission;
    // Two in turn: the device works on one while the other is recorded.
    std::array<std::unique_ptr<InTurn>, 2> turns = {std::make_unique<InTurn>(device_), std::make_unique<InTurn>(device_)};
    const Retire retire{device_, turns};
    for (std::uint64_t first = 0, turn = 0; first < parts_.count(); first += most, ++turn) {
      InTurn& now = *turns[turn % turns.size()];
      device_.stream().wait(now.last_use, waiting);
      record(now.commands, first, std::min(parts_.count(), first + most), false);
      const VkCommandBuffer commands = now.commands.handle();
      now.last_use = device_.stream().submit({&commands, 1});
      used(now.last_use);
    }
  }

 private:
  struct InTurn final : Retired {
    explicit InTurn(Device& device) : commands(device) {}
    Commands commands;
    std::uint64_t last_use = 0;
  };
  struct Retire {
    Device& device;
    std::array<std::unique_ptr<InTurn>, 2>& turns;
    ~Retire() {
      for (std::unique_ptr<InTurn>& turn : turns) {
        const std::uint64_t until = turn->last_use;
        device.stream().retire(until, std::move(turn));
      }
    }
  };

  // An array that begins where the device cannot bind it: a copy of it, made before the dispatch and put back after it.
  struct Copied {
    VkDescriptorBufferInfo original, copy;
    VkDeviceSize bytes;
    bool back;
  };
  VkDescriptorBufferInfo copied(std::size_t slot, const VkDescriptorBufferInfo& original, VkDeviceSize bytes) {
    copies_.push_back(device_.heap().allocate(original.range));
    const Block& block = copies_.back().front();
    const VkDescriptorBufferInfo copy{block.buffer->handle(), block.offset, original.range};
    if (bytes > 0) copied_.push_back({original, copy, bytes, static_cast<bool>(shader().writable[slot])});
    return copy;
  }

  // Parts `first` to `end`.
  void record(Commands& commands, std::uint64_t first, std::uint64_t end, bool again) {
    commands.begin(again);
    // After all that was submitted before.
    commands.order(kDevice, kDevice);
    if (first == 0 && !copied_.empty()) {
      for (const Copied& each : copied_) {
        commands.copy(each.original.buffer, each.original.offset, each.copy.buffer, each.copy.offset, each.bytes);
      }
      commands.order(kTransfer, kShader);
    }
    std::vector<std::uint32_t> constants = constants_;
    record_parts(commands, kernels_, bindings_.handle(), constants, parts_, first, end);
    if (end == parts_.count()) {
      if (!copied_.empty()) commands.order(kShader, kTransfer);
      for (const Copied& each : copied_) {
        if (each.back) commands.copy(each.copy.buffer, each.copy.offset, each.original.buffer, each.original.offset, each.bytes);
      }
      // Where the host reads device memory itself.
      if (device_.unified() || shader().has_status) commands.order(kDevice, kHost);
    }
    commands.end();
  }

  Device& device_;
  const Kernels kernels_;
  const Parts parts_;
  Bindings bindings_;
  Buffer status_;
  std::vector<std::uint32_t> constants_;
  std::vector<std::list<Block>> copies_;
  std::vector<Copied> copied_;
  std::optional<Commands> commands_;
};

VulkanPlan::VulkanPlan(std::shared_ptr<Device> device, Kernels kernels, std::span<const StorageView> views, Grid grid)
    : device_(std::move(device)) {
  std::vector<std::uint64_t> sizes;
  for (const StorageView& view : views) {
    VYRE_ASSERT(&storage_of(view).device() == device_.get());
    sizes.push_back(view.bytes);
  }
  check_sizes(*device_, kernels.plain->shader(), sizes);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  recording_ = std::make_unique<Recording>(*device_, std::move(kernels), views, grid);
}

VulkanPlan::~VulkanPlan() {
  if (recording_) device_->stream().retire(last_use_, std::move(recording_));
}

void VulkanPlan::submit(std::span<const StorageView> views, const RunOptions& options) {
  for (const StorageView& view : views) storage_of(view).check_usable();
  if (!recording_) return;
  const Waiting waiting(options);
  device_->stream().make_room(waiting);
  try {
    if (recording_->shader().has_status) {
      submit_checked(views, waiting);
    } else {
      submit_recorded(views, waiting);
    }
  } catch (...) {
    for (std::size_t slot = 0; slot < views.size(); ++slot) {
      if (recording_->shader().writable[slot]) views[slot].storage->fail(std::current_exception());
    }
    throw;
  }
}

void VulkanPlan::submit_recorded(std::span<const StorageView> views, const Waiting& waiting) {
  const auto used = [&](std::uint64_t moment) {
    raise(last_use_, moment);
    for (const StorageView& view : views) storage_of(view).used_until(moment);
  };
  recording_->submit(used, waiting);
}

// On a driver that ends loops early, what the call wrote may be wrong: it is not let out before the status word says otherwise.
void VulkanPlan::submit_checked(std::span<const StorageView> views, const Waiting& waiting) {
  const std::lock_guard lock(checked_);
  device_->stream().wait(last_use_, waiting);
  std::memset(recording_->status().mapped(), 0, kMinBufferBytes);
  submit_recorded(views, waiting);
  device_->stream().wait(last_use_, waiting);
  check_status(*device_, recording_->status());
}

}  // namespace vyre::run::vulkan
