// How it works: the device's clock begins at the first event that a profile reads. The driver tells the time between two events in
// milliseconds as a float, which is exact to a nanosecond below 16 ms only. So the duration of a piece of work is the time between its own
// two events, and its start is counted from the event at the end of the piece that was reported before it. If more time lies between two
// pieces, the driver rounds it. These rounding errors are summed up, and are part of the error that a profile reports.
#include "vyre/run/cuda/submit/timing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "vyre/base/error.hpp"

namespace vyre::run::cuda {
namespace {

// Once this many pieces of work wait for their report, each new piece checks whether the device has done them.
constexpr std::size_t kCollectAt = 64;
constexpr std::size_t kMaxUnused = 256;
// How often both clocks are read for one reading.
constexpr int kReadings = 5;

}  // namespace

Timing::~Timing() {
  free_in(context_, [this](const Api& api) {
    for (const auto& interval : pending_) unused_.insert(unused_.end(), std::begin(interval->events), std::end(interval->events));
    unused_.push_back(anchor_.event);
    for (CUevent event : unused_) {
      if (event != nullptr) static_cast<void>(api.cuEventDestroy(event));
    }
  });
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

void Timing::give_back(CUevent event) noexcept {
  if (event == nullptr) return;
  if (unused_.size() < kMaxUnused) {
    try {
      unused_.push_back(event);
      return;
    } catch (const std::bad_alloc&) {
      // The event is destroyed below, like an event beyond kMaxUnused.
    }
  }
  static_cast<void>(context_.api().cuEventDestroy(event));
}

void Timing::give_back(Interval& interval) noexcept {
  free_in(context_, [&](const Api&) {
    const std::lock_guard lock(mutex_);
    for (CUevent& each : interval.events) give_back(std::exchange(each, nullptr));
  });
}

std::unique_ptr<Timing::Interval> Timing::begin(Work work, const RunOptions& options) {
  auto interval = std::make_unique<Interval>();
  interval->work = std::move(work);
  const std::shared_ptr<DeviceClock> clock(owner_.lock(), this);
  interval->listeners = Listeners({"cuda", context_.index(), context_.name()}, clock, options);
  interval->timed = interval->listeners.timed();
  interval->thread = thread_id();
  interval->submitted = host_now();
  try {
    const Current current(context_);
    const std::lock_guard lock(mutex_);
    for (CUevent& each : interval->events) each = event();
  } catch (const DeviceError& error) {
    interval->timed = false;
    interval->listeners.note(error);
  }
  return interval;
}

void Timing::record(Interval& interval, std::size_t which, CUstream stream) noexcept {
  if (interval.timed && context_.api().cuEventRecord(interval.events[which], stream) != CUDA_SUCCESS) interval.timed = false;
}

void Timing::submitted(std::unique_ptr<Interval> interval, TimelineValue value) noexcept {
  interval->value = value;
  bool look = false;
  try {
    const std::lock_guard lock(mutex_);
    // For work without times of its own, the profile takes the time at which the host sees that the work is done, so the host looks at
    // once.
    look = pending_.size() >= kCollectAt || !interval->timed;
    pending_.push_back(std::move(interval));
  } catch (const std::bad_alloc&) {
    give_back(*interval);
    return;
  }
  if (look) collect();
}

void Timing::collect() noexcept {
  for (;;) {
    std::unique_ptr<Interval> first;
    try {
      const std::lock_guard lock(mutex_);
      if (pending_.empty() || !stream_.done(pending_.front()->value)) return;
      first = std::move(pending_.front());
      pending_.pop_front();
    } catch (const std::exception&) {
      return;  // the next call that waits for the device reports the failure
    }
    const Span span("read times");
    report(*first);
    give_back(*first);
  }
}

Timing::Elapsed Timing::elapsed(CUevent from, CUevent to) const {
  float milliseconds = 0;
  context_.check(context_.api().cuEventElapsedTime(&milliseconds, from, to), "cuEventElapsedTime");
  const float size = std::abs(milliseconds);
  const double step = (static_cast<double>(std::nextafter(size, std::numeric_limits<float>::infinity())) - size) * 1e6;
  return {std::llround(static_cast<double>(milliseconds) * 1e6), step < 1 ? 0 : std::llround(std::ceil(step / 2))};
}

CUevent Timing::move_anchor(CUevent event, Elapsed since_anchor) {
  return std::exchange(anchor_, {event, anchor_.time + since_anchor.time, anchor_.rounding + since_anchor.rounding}).event;
}

void Timing::take_times(Interval& interval, ProfileEvent& event) {
  const Current current(context_);
  const std::lock_guard lock(mutex_);
  if (!interval.timed || anchor_.event == nullptr) return;
  const Elapsed duration = elapsed(interval.events[0], interval.events[1]);
  const Elapsed start = elapsed(anchor_.event, interval.events[0]);
  event.start = anchor_.time + start.time;
  event.duration = std::max<std::int64_t>(0, duration.time);
  event.observed = false;
  interval.events[1] = move_anchor(interval.events[1], {start.time + duration.time, start.rounding + duration.rounding});
}

void Timing::report(Interval& interval) noexcept {
  try {
    ProfileEvent event;
    event.work = std::move(interval.work);
    event.thread = interval.thread;
    event.submitted = event.start = interval.submitted;
    event.duration = host_now() - interval.submitted;
    event.observed = true;
    try {
      take_times(interval, event);
    } catch (const DeviceError& error) {
      interval.listeners.note(error);
    }
    interval.listeners.add(std::move(event));
  } catch (const std::bad_alloc&) {
    // Without memory the profile loses an event; the call continues.
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
    Interval one;
    {
      const std::lock_guard lock(mutex_);
      one.events[0] = event();
    }
    CUevent& now = one.events[0];
    try {
      const std::int64_t before = host_now();
      const TimelineValue value = stream_.submit_now(
          1, [&](Commands&, CUstream stream) { context_.check(context_.api().cuEventRecord(now, stream), "cuEventRecord"); },
          [](TimelineValue) {});
      stream_.wait(value, waiting);
      const std::int64_t after = host_now();
      const std::lock_guard lock(mutex_);
      now = move_anchor(now, anchor_.event == nullptr ? Elapsed{} : elapsed(anchor_.event, now));
      const std::int64_t error = (after - before + 1) / 2;
      if (error < best.error) best = {before + (after - before) / 2, anchor_.time, error, anchor_.rounding};
    } catch (...) {
      give_back(one);
      throw;
    }
    give_back(one);
  }
  return best;
}

}  // namespace vyre::run::cuda
