#include "vyre/run/cuda/calls/calls.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "vyre/run/cuda/calls/storage.hpp"
#include "vyre/run/host/host_parts.hpp"

namespace vyre::run::cuda {
namespace {

// The most launches in one submission. Each may need a copy of its parameters; one launch for counts and two events of a profile may be
// added.
constexpr std::uint64_t kLaunchesAtOnce = 28;
static_assert(2 * kLaunchesAtOnce + 1 + 2 <= Stream::kAtOnce);

bool slot_is_aligned(const Source& source, const Arrays& arrays, std::size_t slot) {
  return arrays.sizes[slot] == 0 || arrays.addresses[slot] % source.element_bytes[slot] == 0;
}

// Holds aligned copies of the arrays whose addresses are not a multiple of their element size.
class Aligned {
 public:
  Aligned(Device& device, const Launch& launch, const Arrays& arrays, const Transfers::Used& used)
      : device_(device), source_(launch.kernels().plain->source()), arrays_(arrays), used_(used) {
    for (std::size_t slot = 0; slot < arrays.addresses.size(); ++slot) {
      if (slot_is_aligned(source_, arrays, slot)) continue;
      if (moved_.empty()) addresses_ = arrays.addresses;
      Moved& moved = moved_.emplace_back(Moved{slot, device.pool().allocate(arrays.sizes[slot])});
      addresses_[slot] = moved.block.address();
      copy(addresses_[slot], arrays.addresses[slot], arrays.sizes[slot]);
    }
  }
  std::span<const CUdeviceptr> addresses() const { return moved_.empty() ? arrays_.addresses : addresses_; }
  void write_back() const {
    for (const Moved& moved : moved_) {
      if (source_.writable[moved.slot]) copy(arrays_.addresses[moved.slot], moved.block.address(), arrays_.sizes[moved.slot]);
    }
  }

 private:
  struct Moved {
    std::size_t slot;
    Block block;
  };
  void copy(CUdeviceptr to, CUdeviceptr from, std::uint64_t bytes) const {
    device_.stream().submit(
        1, [&](Commands& commands) { commands.copy(to, from, bytes); }, used_);
  }

  Device& device_;
  const Source& source_;
  const Arrays& arrays_;
  const Transfers::Used& used_;
  std::vector<CUdeviceptr> addresses_;  // empty while no array is moved
  std::vector<Moved> moved_;
};

}  // namespace

Arrays arrays_of(std::span<const StorageView> views) {
  Arrays arrays;
  arrays.addresses.reserve(views.size());
  for (const StorageView& view : views) arrays.add(storage_of(view).address() + view.offset, view.bytes);
  return arrays;
}

bool is_aligned(const Launch& launch, const Arrays& arrays) {
  const Source& source = launch.kernels().plain->source();
  for (std::size_t slot = 0; slot < arrays.addresses.size(); ++slot) {
    if (!slot_is_aligned(source, arrays, slot)) return false;
  }
  return true;
}

void submit_call(Device& device, const Launch& launch, const Arrays& arrays, const Transfers::Used& used, const RunOptions& options) {
  // This memory is freed in stream order when the function returns.
  Block extra;
  if (const std::uint64_t bytes = launch.extra_bytes()) extra = device.pool().allocate(bytes);
  const Waiting waiting(options);
  const Kernels& kernels = launch.kernels();
  const auto on_submit = [&](TimelineValue value) {
    kernels.used_until(value);
    used(value);
  };
  const Aligned aligned(device, launch, arrays, used);
  std::uint64_t bytes = 0;
  for (const std::uint64_t size : arrays.sizes) bytes += size;
  for (std::uint64_t first = 0; first < launch.launches();) {
    device.stream().make_room(waiting);
    const std::uint64_t at = first;
    const std::uint64_t operations = launch.operations(at, kLaunchesAtOnce);
    const auto enqueue = [&](Commands& commands) {
      first = launch.enqueue(commands, aligned.addresses(), arrays.counts, extra.address(), at, kLaunchesAtOnce);
    };
    const Work work{"dispatch", kernels.program, launch.grid(), bytes};
    if (kernels.were_launched()) {
      device.timing().submit(work, operations, options, enqueue, on_submit);
    } else {
      device.timing().submit_now(
          work, operations, options, [&](Commands& commands, CUstream) { enqueue(commands); }, on_submit);
    }
  }
  kernels.launched();
  aligned.write_back();
}

void run_host_call(Device& device, const Kernels& kernels, std::span<const BufferView> buffers, Grid grid, const RunOptions& options) {
  if (is_empty(grid)) return;
  device.stream().check_nothing_is_abandoned();
  // One time limit covers the copies and the run.
  RunOptions steps = options;
  if (!steps.start) steps.start = std::chrono::steady_clock::now();
  const std::vector<bool>& writable = kernels.plain->source().writable;
  TimelineValue last = 0;
  try {
    std::vector<std::unique_ptr<CudaStorage>> storages;
    std::vector<StorageView> views;
    std::vector<std::uint32_t> lengths;
    for (const BufferView& buffer : buffers) {
      storages.push_back(std::make_unique<CudaStorage>(device.shared_from_this(), buffer.bytes.size(), buffer.zeros));
      if (!buffer.zeros) storages.back()->write(0, buffer.bytes, steps);
      views.push_back({storages.back().get(), 0, buffer.bytes.size(), buffer.length});
      lengths.push_back(buffer.length);
    }
    const Launch launch(device.context(), kernels, grid, lengths);
    submit_call(
        device, launch, arrays_of(views), [&](TimelineValue value) { last = value; }, steps);
    device.stream().wait(last, Waiting(steps));
    // Unless the call is in place, results are first copied to temporary memory: if the device is lost meanwhile, no buffer has changed.
    std::vector<std::vector<std::byte>> results(buffers.size());
    for (std::size_t slot = 0; slot < buffers.size(); ++slot) {
      if (!writable[slot]) continue;
      if (!options.in_place) results[slot].resize(buffers[slot].bytes.size());
      storages[slot]->read(0, options.in_place ? buffers[slot].bytes : std::span(results[slot]), steps);
    }
    for (std::size_t slot = 0; slot < buffers.size(); ++slot) {
      if (writable[slot] && !options.in_place) host_copy(buffers[slot].bytes.data(), results[slot].data(), results[slot].size());
    }
  } catch (...) {
    device.stream().abandon(last);
    throw;
  }
}

}  // namespace vyre::run::cuda
