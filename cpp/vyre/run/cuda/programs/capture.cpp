#include "vyre/run/cuda/programs/capture.hpp"

#include <algorithm>

namespace vyre::run::cuda {

Capture::Capture(Context& context) : context_(context) {
  Branch& first = branches_.front();
  const Api& api = context.api();
  try {
    context.check(api.cuStreamCreate(&first.stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    // The other modes may refuse to make streams and events while the capture goes on.
    context.check(api.cuStreamBeginCapture(first.stream, CU_STREAM_CAPTURE_MODE_RELAXED), "cuStreamBeginCapture");
    capturing_ = true;
    first.forked = true;
    fork_ = new_event();
    record(fork_, first);
  } catch (...) {
    destroy();
    throw;
  }
}

CUevent Capture::new_event() const {
  CUevent event = nullptr;
  context_.check(context_.api().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  return event;
}

void Capture::record(CUevent event, const Branch& branch) const {
  context_.check(context_.api().cuEventRecord(event, branch.stream), "cuEventRecord");
}

void Capture::wait(const Branch& branch, CUevent event) const {
  context_.check(context_.api().cuStreamWaitEvent(branch.stream, event, 0), "cuStreamWaitEvent");
}

void Capture::order(Branch& earlier, Branch& later) {
  std::uint64_t& waited_for = later.waited_for[static_cast<std::size_t>(&earlier - branches_.data())];
  if (waited_for == earlier.calls) return;
  if (earlier.event == nullptr) earlier.event = new_event();
  record(earlier.event, earlier);
  wait(later, earlier.event);
  waited_for = earlier.calls;
}

void Capture::join() {
  Branch& first = branches_.front();
  for (std::size_t index = 1; index < kBranches; ++index) {
    Branch& branch = branches_[index];
    if (branch.forked) order(branch, first);
    branch.forked = false;
    branch.since_join.clear();
  }
  first.since_join.clear();
  record(fork_, first);
}

void Capture::fork(Branch& branch) {
  if (branch.forked) return;
  if (branch.stream == nullptr) context_.check(context_.api().cuStreamCreate(&branch.stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  wait(branch, fork_);
  branch.forked = true;
}

Capture::Branch& Capture::branch_for(std::span<const MemoryAccess> accesses) {
  Branch* chosen = nullptr;
  for (Branch& branch : branches_) {
    if (!branch.since_join.conflicts_with(accesses)) continue;
    if (chosen == nullptr) {
      chosen = &branch;
    } else {
      order(branch, *chosen);
    }
  }
  if (chosen == nullptr) chosen = &*std::ranges::min_element(branches_, {}, &Branch::calls);
  fork(*chosen);
  return *chosen;
}

CUstream Capture::stream_for(std::span<const MemoryAccess> accesses) {
  if (std::ranges::any_of(branches_, [](const Branch& branch) { return branch.since_join.is_full(); })) join();
  Branch& branch = branch_for(accesses);
  branch.since_join.add(accesses);
  ++branch.calls;
  return branch.stream;
}

CUgraph Capture::end() {
  join();
  CUgraph graph = nullptr;
  capturing_ = false;
  context_.check(context_.api().cuStreamEndCapture(branches_.front().stream, &graph), "cuStreamEndCapture");
  return graph;
}

void Capture::destroy() noexcept {
  const Api& api = context_.api();
  CUgraph graph = nullptr;
  if (capturing_ && api.cuStreamEndCapture(branches_.front().stream, &graph) == CUDA_SUCCESS && graph != nullptr) {
    static_cast<void>(api.cuGraphDestroy(graph));
  }
  if (fork_ != nullptr) static_cast<void>(api.cuEventDestroy(fork_));
  for (const Branch& branch : branches_) {
    if (branch.event != nullptr) static_cast<void>(api.cuEventDestroy(branch.event));
    if (branch.stream != nullptr) static_cast<void>(api.cuStreamDestroy(branch.stream));
  }
}

}  // namespace vyre::run::cuda
