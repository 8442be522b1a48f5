// Takes the times of a device's work for profiles: records events around each piece of work, reported once the device is done.
//
// Profiling never changes results: if an event fails, the call continues, and the profile records a note.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vyre/run/cuda/submit/stream.hpp"
#include "vyre/run/profile.hpp"

namespace vyre::run::cuda {

// Any thread may call any function.
class Timing final : public DeviceClock {
 public:
  Timing(Context& context, Stream& stream) : context_(context), stream_(stream) {}
  ~Timing() override;
  // Profiles keep `owner` alive for as long as they use this clock.
  void belongs_to(std::weak_ptr<void> owner) { owner_ = std::move(owner); }

  // Submits one piece of work with Stream::submit, and takes its times for the open profiles. A profile's first reading of the device's
  // clock may wait as `options` say.
  template <class Enqueue, class Used>
  TimelineValue submit(Work work, std::uint64_t operations, const RunOptions& options, const Enqueue& enqueue, const Used& used) {
    if (!profiling()) return stream_.submit(operations, enqueue, used);
    return submit_timed(
        std::move(work), operations, options, [&](Commands& commands, CUstream) { enqueue(commands); }, used);
  }
  // Does the same with Stream::submit_now.
  template <class Enqueue, class Used>
  TimelineValue submit_now(Work work, std::uint64_t operations, const RunOptions& options, const Enqueue& enqueue, const Used& used) {
    if (!profiling()) return stream_.submit_now(operations, enqueue, used);
    return submit_timed(std::move(work), operations, options, enqueue, used);
  }

  std::optional<Reading> read(const RunOptions& options) override;
  std::string method() const override { return "an event between two readings of the host's clock"; }
  void finish(const RunOptions& options) override;

 private:
  // Describes a piece of work that was submitted, with the events before and after it.
  struct Interval {
    Work work;
    Listeners listeners;
    CUevent events[2] = {nullptr, nullptr};
    bool timed = false;
    std::uint64_t thread = 0;
    std::int64_t submitted = 0;
    TimelineValue value = 0;
  };
  // An event whose time on the device's clock is known, and by how much that time may be wrong. The times of later events are counted from
  // it.
  struct Anchor {
    CUevent event = nullptr;
    std::int64_t time = 0, rounding = 0;
  };

  template <class Enqueue, class Used>
  TimelineValue submit_timed(Work work, std::uint64_t operations, const RunOptions& options, const Enqueue& enqueue, const Used& used) {
    std::unique_ptr<Interval> interval = begin(std::move(work), options);
    TimelineValue value = 0;
    try {
      value = stream_.submit_now(
          operations + 2,
          [&](Commands& commands, CUstream stream) {
            record(*interval, 0, stream);
            enqueue(commands, stream);
            record(*interval, 1, stream);
          },
          used);
    } catch (...) {
      give_back(*interval);
      throw;
    }
    submitted(std::move(interval), value);
    return value;
  }
  std::unique_ptr<Interval> begin(Work work, const RunOptions& options);
  void record(Interval& interval, std::size_t which, CUstream stream) noexcept;
  void submitted(std::unique_ptr<Interval> interval, TimelineValue value) noexcept;
  void collect() noexcept;
  void report(Interval& interval) noexcept;
  // Sets the start and the duration on the device's clock, if the driver tells them.
  void take_times(Interval& interval, ProfileEvent& event);
  void give_back(Interval& interval) noexcept;
  // The rest is called with the mutex held.
  CUevent event();
  void give_back(CUevent event) noexcept;
  // The time from one event to another, in nanoseconds, and by how much it may be wrong.
  struct Elapsed {
    std::int64_t time = 0, rounding = 0;
  };
  Elapsed elapsed(CUevent from, CUevent to) const;
  // Makes `event` the anchor. Returns the event of the previous anchor.
  CUevent move_anchor(CUevent event, Elapsed since_anchor);

  Context& context_;
  Stream& stream_;
  std::weak_ptr<void> owner_;
  std::mutex mutex_;  // guards what follows
  Anchor anchor_;
  std::deque<std::unique_ptr<Interval>> pending_;
  std::vector<CUevent> unused_;
};

}  // namespace vyre::run::cuda
