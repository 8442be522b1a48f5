#include "vyre/run/cuda/programs/plan.hpp"

#include <chrono>
#include <utility>

#include "vyre/base/assert.hpp"
#include "vyre/run/cuda/calls/storage.hpp"
#include "vyre/run/data_grid.hpp"
#include "vyre/run/profile.hpp"

namespace vyre::run::cuda {
namespace {

std::vector<std::uint32_t> lengths_of(std::span<const StorageView> views) {
  std::vector<std::uint32_t> lengths;
  for (const StorageView& view : buffers_of(views)) lengths.push_back(view.length);
  return lengths;
}

}  // namespace

CudaPlan::CudaPlan(KernelSource::Ready ready, std::span<const StorageView> views, Grid grid)
    : device_(std::move(ready.device)), launch_(device_->context(), std::move(ready.kernels), grid, lengths_of(views)) {
  for (const StorageView& view : views) VYRE_ASSERT(&storage_of(view).device() == device_.get());
}

void CudaPlan::submit(std::span<const StorageView> views, const RunOptions& options) {
  for (const StorageView& view : views) storage_of(view).check_usable();
  if (launch_.launches() == 0) return;
  try {
    submit_call(
        *device_, launch_, cuda::arrays_of(views), [&](TimelineValue value) { use(views, value); }, options);
  } catch (...) {
    fail_written(views, launch_.kernels().plain->source().writable);
    throw;
  }
}

void CudaPlan::add_to(Calls& calls, std::span<const StorageView> views) const {
  calls.device = device_;
  calls.calls.push_back({&launch_, cuda::arrays_of(views)});
  std::vector<bool> written = launch_.kernels().plain->source().writable;
  written.resize(views.size(), false);
  calls.views.insert(calls.views.end(), views.begin(), views.end());
  calls.written.insert(calls.written.end(), written.begin(), written.end());
}

CudaSequence::CudaSequence(std::vector<Step> steps) : steps_(std::move(steps)) {
  for (const Step& step : steps_) static_cast<const Joinable&>(*step.plan).add_to(calls_, step.views);
  if (Graph::pays(calls_.calls)) graph_ = std::make_unique<Graph>(*calls_.device, calls_.calls);
}

CudaSequence::~CudaSequence() { retire(*calls_.device, std::move(graph_)); }

void CudaSequence::submit_steps(const RunOptions& options) {
  for (const Step& step : steps_) step.plan->submit(step.views, options);
}

void CudaSequence::submit(std::uint64_t times, const RunOptions& options) {
  RunOptions all = options;
  if (!all.start) all.start = std::chrono::steady_clock::now();
  for (std::uint64_t turn = 0; turn < times; ++turn) {
    // A profile shows each call separately, so the calls are submitted one by one.
    if (!graph_ || profiling()) {
      submit_steps(all);
      continue;
    }
    for (const StorageView& view : calls_.views) storage_of(view).check_usable();
    try {
      graph_->submit([&](TimelineValue value) { use(calls_.views, value); }, all);
    } catch (...) {
      fail_written(calls_.views, calls_.written);
      throw;
    }
  }
}

}  // namespace vyre::run::cuda
