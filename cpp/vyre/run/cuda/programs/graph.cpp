#include "vyre/run/cuda/programs/graph.hpp"

#include <algorithm>
#include <limits>

#include "vyre/run/cuda/programs/capture.hpp"
#include "vyre/run/data_grid.hpp"

namespace vyre::run::cuda {
namespace {

// Fewer than kFewest launches are submitted as fast one by one. With more than kMost, the driver takes too long to make the graph.
constexpr std::uint64_t kFewest = 2, kMost = std::uint64_t{1} << 16;
// Submitting a graph counts as this many of the pending operations that Stream::make_room limits.
constexpr std::uint64_t kOperations = 8;

std::vector<MemoryAccess> accesses_of(const Bound& call) {
  std::vector<MemoryAccess> accesses;
  const std::vector<bool>& writable = call.launch->kernels().plain->source().writable;
  for (std::size_t slot = 0; slot < call.arrays.addresses.size(); ++slot) {
    const CUdeviceptr begin = call.arrays.addresses[slot];
    // Arrays of bytes are accessed by whole words.
    const std::uint64_t bytes = (call.arrays.sizes[slot] + 3) / 4 * 4;
    if (bytes > 0) accesses.push_back({0, begin, begin + bytes, writable[slot]});
  }
  if (call.arrays.counts != 0) accesses.push_back({0, call.arrays.counts, call.arrays.counts + kCountsBytes, false});
  return accesses;
}

}  // namespace

bool Graph::pays(std::span<const Bound> calls) {
  std::uint64_t launches = 0;
  for (const Bound& call : calls) {
    launches += call.launch->launches();
    if (!call.launch->is_only_launches() || !is_aligned(*call.launch, call.arrays)) return false;
  }
  return launches >= kFewest && launches <= kMost;
}

Graph::Graph(Device& device, std::span<const Bound> calls) : device_(device) {
  Context& context = device.context();
  // The driver allocates nothing for a thread that captures.
  for (const Bound& call : calls) {
    const std::uint64_t bytes = call.launch->extra_bytes();
    extra_.push_back(bytes == 0 ? Block() : device.pool().allocate(bytes));
  }
  const Current current(context);
  Capture capture(context);
  for (std::size_t index = 0; index < calls.size(); ++index) {
    const Bound& call = calls[index];
    if (call.launch->launches() == 0) continue;
    Commands commands(context, capture.stream_for(accesses_of(call)));
    call.launch->enqueue(commands, call.arrays.addresses, call.arrays.counts, extra_[index].address(), 0,
                         std::numeric_limits<std::uint64_t>::max());
    kernels_.push_back(&call.launch->kernels());
  }
  // The graph of a loop has the same few calls again and again.
  std::sort(kernels_.begin(), kernels_.end());
  kernels_.erase(std::unique(kernels_.begin(), kernels_.end()), kernels_.end());
  CUgraph graph = capture.end();
  const CUresult made = context.api().cuGraphInstantiate(&exec_, graph, 0);
  static_cast<void>(context.api().cuGraphDestroy(graph));
  context.check(made, "cuGraphInstantiate");
}

Graph::~Graph() {
  free_in(device_.context(), [this](const Api& api) { static_cast<void>(api.cuGraphExecDestroy(exec_)); });
}

TimelineValue Graph::submit(const Transfers::Used& used, const RunOptions& options) {
  device_.stream().make_room(Waiting(options));
  const auto on_submit = [&](TimelineValue value) {
    raise(last_use_, value);
    for (const Kernels* kernels : kernels_) kernels->used_until(value);
    used(value);
  };
  if (was_launched_) {
    return device_.stream().submit(
        kOperations, [&](Commands& commands) { commands.launch(exec_); }, on_submit);
  }
  // The driver may need memory for the first launch and refuse it, so this launch is passed at once and its error reaches the caller.
  const TimelineValue value = device_.stream().submit_now(
      kOperations, [&](Commands& commands, CUstream) { commands.launch(exec_); }, on_submit);
  was_launched_ = true;
  return value;
}

void retire(Device& device, std::unique_ptr<Graph> graph) {
  if (!graph) return;
  const TimelineValue until = graph->last_use();
  device.stream().retire(until, std::move(graph));
}

}  // namespace vyre::run::cuda
