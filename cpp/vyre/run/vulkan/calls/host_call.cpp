// How it works: a call borrows a slot and takes a block of the heap for each array. If the host reaches device memory, it writes and reads
// these blocks. Otherwise each block has a staging block in host memory, and the command buffer copies between the two. The call submits
// the command buffer to the stream and waits. A call with very many dispatches makes several submissions and waits for each, so that it can
// be interrupted between them. A call that ends early abandons its slot to the stream.
#include "vyre/run/vulkan/calls/host_call.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "vyre/emit/interface.hpp"
#include "vyre/run/host/host_parts.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/vulkan/calls/batch.hpp"
#include "vyre/run/vulkan/calls/call_checks.hpp"
#include "vyre/run/vulkan/calls/call_slot.hpp"
#include "vyre/run/vulkan/calls/dispatches.hpp"
#include "vyre/run/vulkan/calls/recorded_call.hpp"
#include "vyre/run/vulkan/calls/storage.hpp"

namespace vyre::run::vulkan {
namespace {

// Copies bytes into a block that the host reaches, and pads the last word with zeros.
void copy_in(std::span<const std::byte> from, const Block& to) {
  host_copy(to.mapped(), from.data(), from.size());
  const std::size_t whole = static_cast<std::size_t>(device_bytes(from.size()));
  std::memset(to.mapped() + from.size(), 0, whole - from.size());
}

class HostCall {
 public:
  HostCall(Device& device, const Kernels& kernels, std::span<const BufferView> buffers, Grid grid, const RunOptions& options)
      : device_(device),
        shader_(kernels.plain->shader()),
        buffers_(buffers),
        parts_(grid, device.context().max_group_count(), kernels.coarse != nullptr),
        staged_(!device.context().unified()),
        work_{"dispatch", kernels.program, grid, 0},
        waiting_(options),
        slot_(device.call_slots().borrow()) {
    slot_->kernels = kernels;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      work_.bytes += buffers[i].bytes.size();
      if (shader_.writable[i]) returned_bytes_ += buffers[i].bytes.size();
    }
  }
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;
  // The slot of a failed call may be set up only in part, so it is not given back for reuse. If the device still uses the slot, the stream
  // keeps it alive.
  ~HostCall() {
    if (!slot_ || in_flight_ == 0) return;
    device_.stream().abandon(in_flight_);
    device_.stream().retire(in_flight_, std::move(slot_));
  }

  void run() {
    take_memory();
    upload();
    bind();
    begin();
    if (staged_) record_upload();
    dispatch();
    record_download();
    submit_and_wait();
    if (shader_.has_status) check_status(device_.context(), slot_->status.mapped());
    // Nothing fails from here on, so either all of the host's arrays change or none does.
    download();
    device_.call_slots().give_back(std::move(slot_));
  }

 private:
  // The blocks that the host writes and reads.
  const std::vector<Block>& reachable() const { return staged_ ? slot_->staging : slot_->arrays; }
  // The bytes of an array on the device, in whole words.
  VkDeviceSize bytes_of(std::size_t array) const {
    return device_bytes(array < buffers_.size() ? buffers_[array].bytes.size() : 8 * buffers_.size());
  }

  void take_memory() {
    Heap& heap = device_.heap();
    const std::size_t arrays = buffers_.size() + (shader_.addressed ? 1 : 0);
    for (std::size_t i = 0; i < arrays; ++i) slot_->arrays.push_back(heap.allocate(bytes_of(i)));
    for (std::size_t i = 0; staged_ && i < arrays; ++i) slot_->staging.push_back(heap.allocate(bytes_of(i), BufferUse::Host));
    if (shader_.has_status) slot_->status = heap.allocate(kMinBufferBytes, BufferUse::Host);
  }

  void upload() {
    {
      Span span("upload");
      if (span) span.work().bytes = work_.bytes;
      for (std::size_t i = 0; i < buffers_.size(); ++i) copy_in(buffers_[i].bytes, reachable()[i]);
    }
    if (shader_.addressed) {
      std::vector<std::uint32_t> addresses;
      for (std::size_t i = 0; i < buffers_.size(); ++i) {
        append_address(addresses, address_of(device_.context(), slot_->arrays[i].buffer()) + slot_->arrays[i].offset());
      }
      copy_in(std::as_bytes(std::span(addresses)), reachable().back());
    }
    if (shader_.has_status) copy_in({}, slot_->status);
  }

  void bind() {
    std::vector<VkDescriptorBufferInfo> bindings;
    // Only the array is bound, in whole words, and not its whole block, so that robust access catches what lies beyond the array.
    for (std::size_t i = shader_.addressed ? buffers_.size() : 0; i < slot_->arrays.size(); ++i) {
      bindings.push_back({slot_->arrays[i].buffer(), slot_->arrays[i].offset(), bytes_of(i)});
    }
    if (shader_.has_status) bindings.push_back({slot_->status.buffer(), slot_->status.offset(), kMinBufferBytes});
    const VkDescriptorSetLayout layout = slot_->kernels.plain->set_layout();
    if (!slot_->set || slot_->set->layout() != layout) {
      slot_->set.reset();
      slot_->set.emplace(device_.context(), layout, static_cast<std::uint32_t>(bindings.size()));
    }
    slot_->set->bind(device_.context(), bindings);
  }

  void begin() {
    slot_->commands.begin();
    slot_->timestamps = device_.timing().begin_if_profiled(waiting_.options());
  }

  // Runs `record`, which records commands. If a profile is open, timestamps around these commands report them as `work`.
  template <class Record>
  void timed(const Work& work, const Record& record) {
    if (slot_->timestamps) slot_->timestamps->begin(slot_->commands, work);
    record();
    if (slot_->timestamps) slot_->timestamps->end(slot_->commands);
  }

  void record_upload() {
    timed({"upload", nullptr, {0, 0, 0}, work_.bytes}, [&] {
      for (std::size_t i = 0; i < slot_->arrays.size(); ++i) copy(slot_->staging[i], slot_->arrays[i], bytes_of(i));
    });
    slot_->commands.order(kTransfer, kShader);
  }

  // Submits all dispatches except the last ones, which stay recorded for the final submission.
  void dispatch() {
    std::vector<std::uint32_t> constants(3, 0);
    for (const BufferView& buffer : buffers_) constants.push_back(buffer.length);
    const std::uint64_t most = device_.context().options().dispatches_per_submission;
    for (std::uint64_t first = 0; first < parts_.count(); first += most) {
      if (first > 0) {
        submit_and_wait();
        begin();
      }
      const std::uint64_t end = std::min(parts_.count(), first + most);
      timed(work_, [&] { record_parts(slot_->commands, slot_->kernels, slot_->set->handle(), constants, parts_, first, end); });
    }
  }

  void record_download() {
    if (staged_) {
      slot_->commands.order(kShader, kTransfer);
      timed({"download", nullptr, {0, 0, 0}, returned_bytes_}, [&] {
        for (std::size_t i = 0; i < buffers_.size(); ++i) {
          if (shader_.writable[i]) copy(slot_->arrays[i], slot_->staging[i], bytes_of(i));
        }
      });
    }
    // The shader writes the status directly into host memory, so the host must also wait for the shader's writes.
    slot_->commands.order(!staged_ ? kShader : shader_.has_status ? kDevice : kTransfer, kHost);
  }

  void copy(const Block& from, const Block& to, VkDeviceSize bytes) {
    slot_->commands.copy(from.buffer(), from.offset(), to.buffer(), to.offset(), bytes);
  }

  void submit_and_wait() {
    slot_->commands.end();
    // If the call is out of time or interrupted, it ends before the submission, so that there is nothing to abandon.
    waiting_.stop_if_unwanted(device_.name());
    const VkCommandBuffer commands = slot_->commands.handle();
    const std::int64_t submitted = slot_->timestamps ? host_now() : 0;
    {
      const Span span("submit");
      in_flight_ = device_.stream().submit({.commands = {&commands, 1}});
    }
    device_.stream().wait(in_flight_, waiting_);
    in_flight_ = 0;
    if (slot_->timestamps) device_.timing().done(std::move(slot_->timestamps), submitted);
  }

  void download() {
    Span span("download");
    if (span) span.work().bytes = returned_bytes_;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (shader_.writable[i]) host_copy(buffers_[i].bytes.data(), reachable()[i].mapped(), buffers_[i].bytes.size());
    }
  }

  Device& device_;
  const Shader& shader_;
  const std::span<const BufferView> buffers_;
  const GridParts parts_;
  const bool staged_;
  Work work_;
  std::uint64_t returned_bytes_ = 0;
  const Waiting waiting_;
  std::unique_ptr<CallSlot> slot_;
  TimelineValue in_flight_ = 0;  // 0: the device does not use the slot
};

// A call is large if its arrays have at least this many bytes in all. For smaller calls, recording and submitting several copies costs more
// than copying on one thread.
constexpr std::uint64_t kLargeBytes = std::uint64_t{4} << 20;

bool is_large_call(const Device& device, std::span<const BufferView> buffers, const RunOptions& options) {
  // Results are copied back in chunks. If the device is lost between two chunks, a part of the host's arrays has changed already, and only
  // a call in place allows that.
  if (!options.in_place || device.context().unified()) return false;
  std::uint64_t bytes = 0;
  for (const BufferView& buffer : buffers) bytes += buffer.bytes.size();
  return bytes >= kLargeBytes;
}

// Several threads copy the arrays in chunks.
void run_large(const std::shared_ptr<Device>& device, const Kernels& kernels, std::span<const BufferView> buffers, Grid grid,
               const RunOptions& options) {
  // One time limit covers the copies and the run.
  RunOptions steps = options;
  steps.start = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<VulkanStorage>> storages;
  std::vector<StorageView> views;
  for (const BufferView& buffer : buffers) {
    storages.push_back(std::make_unique<VulkanStorage>(device, buffer.bytes.size(), buffer.zeros));
    if (!buffer.zeros) storages.back()->write(0, buffer.bytes, steps);
    views.push_back({storages.back().get(), 0, buffer.bytes.size(), buffer.length});
  }
  const std::vector<bool>& writable = kernels.plain->shader().writable;
  const auto call = RecordedCall::make(device, kernels, RecordedCall::arrays_of(views), {grid});
  Batch(device, {call}).submit({views, writable, kAlwaysValid}, 1, steps);
  for (std::size_t slot = 0; slot < buffers.size(); ++slot) {
    if (writable[slot]) storages[slot]->read(0, buffers[slot].bytes, steps);
  }
}

}  // namespace

void run_host_call(Device& device, const Kernels& kernels, std::span<const BufferView> buffers, Grid grid, const RunOptions& options) {
  check_host_call(device.context(), kernels.plain->shader(), buffers);
  if (is_empty(grid)) return;
  if (is_large_call(device, buffers, options)) return run_large(device.shared_from_this(), kernels, buffers, grid, options);
  device.stream().check_nothing_is_abandoned();
  HostCall(device, kernels, buffers, grid, options).run();
}

}  // namespace vyre::run::vulkan
