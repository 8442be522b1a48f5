// How it works: the device's clock begins at the first event that a profile reads. The driver tells the time between two events in
// milliseconds as a float, which is exact to a microsecond for some seconds only; so every reading of the clock leaves a new event that
// later ones are counted from.
#include "vyre/run/cuda/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "vyre/base/error.hpp"

namespace vyre::run::cuda {
namespace {

// So many pieces of work wait for their report before the next one looks whether the device has done them.
constexpr std::size_t kCollectAt = 64;
constexpr std::size_t kMaxUnused = 256;
// How often both clocks are read for one reading.
constexpr int kReadings = 5;

}  // namespace

Timing::~Timing() {
  if (!context_.alive()) return;
  try {
    const Current current(context_);
    for (const auto& interval : pending_) unused_.insert(unused_.end(), std::begin(interval->events), std::end(interval->events));
    unused_.push_back(anchor_.event);
    for (CUevent event : unused_) {
      if (event != nullptr) static_cast<void>(context_.api().cuEventDestroy(event));
    }
  } catch (const std::exception&) {
    // The context is lost, and the events with it.
  }
}

CUevent Timing::event() {
  CUevent event = nullptr;
  if (!unused_.empty()) {
    event = unused_.back();
    unused_.pop_back();
  } else {
    context_.check(context_.api().cuEventCreate(&event, CU_EVENT_DEFAULT), "cuEventCreate");
  }
  return event;
}

std::unique_ptr<Timing::Interval> Timing::begin(Work work, const RunOptions& options) {
  auto interval = std::make_unique<Interval>();
  interval->work = std::move(work);
  const DeviceLabel label{"cuda", context_.index(), context_.name()};
  const std::shared_ptr<DeviceClock> clock(owner_.lock(), this);
  for (const std::shared_ptr<Profile>& profile : open_profiles()) {
    const Profile::Listed listed = profile->device(label, clock, options);
    interval->listeners.push_back({profile, listed.index});
    interval->timed = interval->timed && listed.timed;
  }
  interval->thread = thread_id();
  interval->submitted = host_now();
  try {
    const Current current(context_);
    const std::lock_guard lock(mutex_);
    for (CUevent& each : interval->events) each = event();
  } catch (const DeviceError& error) {
    interval->timed = false;
    for (const Listener& each : interval->listeners) {
      each.profile->note(fmt::format("some work of a device has no times of its own: {}", error.what()));
    }
  }
  return interval;
}

void Timing::record(Interval& interval, std::size_t which, CUstream stream) noexcept {
  if (interval.timed && context_.api().cuEventRecord(interval.events[which], stream) != CUDA_SUCCESS) interval.timed = false;
}

void Timing::submitted(std::unique_ptr<Interval> interval, TimelineValue value) {
  interval->value = value;
  bool look = false;
  {
    const std::lock_guard lock(mutex_);
    // Work without times of its own ends for the profile when the host sees that it is done.
    look = pending_.size() >= kCollectAt || !interval->timed;
    pending_.push_back(std::move(interval));
  }
  if (look) collect();
}

void Timing::collect() {
  for (;;) {
    std::unique_ptr<Interval> first;
    {
      const std::lock_guard lock(mutex_);
      if (pending_.empty() || !stream_.done(pending_.front()->value)) return;
      first = std::move(pending_.front());
      pending_.pop_front();
    }
    const Span span("read times");
    report(*first);
  }
}

std::int64_t Timing::time_of(CUevent event) const {
  float milliseconds = 0;
  context_.check(context_.api().cuEventElapsedTime(&milliseconds, anchor_.event, event), "cuEventElapsedTime");
  return anchor_.time + std::llround(static_cast<double>(milliseconds) * 1e6);
}

void Timing::report(Interval& interval) {
  ProfileEvent event;
  event.work = std::move(interval.work);
  event.thread = interval.thread;
  event.submitted = event.start = interval.submitted;
  event.duration = host_now() - interval.submitted;
  event.observed = true;
  const Current current(context_);
  const std::lock_guard lock(mutex_);
  if (interval.timed && anchor_.event != nullptr) {
    event.start = time_of(interval.events[0]);
    event.duration = std::max<std::int64_t>(0, time_of(interval.events[1]) - event.start);
    event.observed = false;
  }
  for (const Listener& each : interval.listeners) {
    event.device = each.device;
    each.profile->add(event);
  }
  for (CUevent each : interval.events) {
    if (each == nullptr) continue;
    if (unused_.size() < kMaxUnused) {
      unused_.push_back(each);
    } else {
      static_cast<void>(context_.api().cuEventDestroy(each));
    }
  }
}

void Timing::finish(const RunOptions& options) {
  if (!context_.alive()) return;
  TimelineValue last = 0;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& each : pending_) last = std::max(last, each->value);
  }
  if (last > 0) stream_.wait(last, Waiting(options));
  collect();
}

std::optional<DeviceClock::Reading> Timing::read(const RunOptions& options) {
  if (!context_.alive()) return std::nullopt;
  const Waiting waiting(options);
  const Current current(context_);
  Reading best{0, 0, std::numeric_limits<std::int64_t>::max()};
  // The first event waits for all earlier work, so its error is large.
  for (int k = 0; k < kReadings; ++k) {
    CUevent now = nullptr;
    {
      const std::lock_guard lock(mutex_);
      now = event();
    }
    const std::int64_t before = host_now();
    const TimelineValue value = stream_.submit_now(
        1, [&](Commands&, CUstream stream) { context_.check(context_.api().cuEventRecord(now, stream), "cuEventRecord"); },
        [](TimelineValue) {});
    stream_.wait(value, waiting);
    const std::int64_t after = host_now();
    const std::lock_guard lock(mutex_);
    const std::int64_t time = anchor_.event == nullptr ? 0 : time_of(now);
    if (anchor_.event != nullptr) unused_.push_back(anchor_.event);
    anchor_ = {now, time};
    if (const std::int64_t error = (after - before + 1) / 2; error < best.error) best = {before + (after - before) / 2, time, error};
  }
  return best;
}

}  // namespace vyre::run::cuda
