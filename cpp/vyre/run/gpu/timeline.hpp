// What the streams of all GPUs know of the work of a device: how far the device has come, which objects it still uses, and which work its
// callers have abandoned, because their calls timed out or were interrupted.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

#include "vyre/base/error.hpp"
#include "vyre/run/gpu/process_end.hpp"
#include "vyre/run/gpu/retired.hpp"
#include "vyre/run/gpu/waiting.hpp"

namespace vyre::run {

// `Stream` derives from this class. It has done(value), which throws DeviceLostError, and wait(value, waiting). `Context` has name() and
// forked(). Any thread may call any function.
template <class Stream, class Context>
class Timeline {
 public:
  explicit Timeline(Context& context) : context_(context) {}
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // Whether the value is known to be past, without asking the device.
  bool is_past(TimelineValue value) const { return past_ >= value; }
  // Destroys the object once the value is past; at once if it is past already. In a forked process the object is leaked, because nothing of
  // the device can be freed there.
  void retire(TimelineValue value, std::unique_ptr<Retired> object) noexcept {
    if (context_.forked()) {
      static_cast<void>(object.release());
      return;
    }
    // If the device is done with the object, it is destroyed on return, without the lock, because its destructor may take long or retire
    // other objects.
    if (is_past(value)) return;
    const std::lock_guard lock(mutex_);
    retired_.add(value, std::move(object));
  }

  // Reports a call that timed out or was interrupted. Calls of host arrays are refused until the device has done it.
  void abandon(TimelineValue value) noexcept { raise(abandoned_, value); }
  // Does so for everything that was submitted so far.
  void abandon_all() { abandon(last()); }
  bool has_abandoned_work() { return !self().done(abandoned_); }
  // Throws DeviceError while the device works on such a call.
  void check_nothing_is_abandoned() {
    if (!has_abandoned_work()) return;
    throw DeviceError(
        fmt::format("device `{}` is still busy with a call that timed out or was interrupted. Fix: call again when that "
                    "program has ended, or use another device.",
                    context_.name()));
  }
  // Waits until the device has done the work of all such calls. Returns false if that takes longer than `time`.
  bool wait_for_abandoned_work(std::chrono::duration<double> time) { return is_past_within(time, abandoned_); }

 protected:
  TimelineValue last() {
    const std::lock_guard lock(mutex_);
    return last_;
  }
  bool is_past_within(std::chrono::duration<double> time, TimelineValue value) {
    RunOptions options;
    options.timeout = time;
    try {
      self().wait(value, Waiting(options));
    } catch (const DispatchTimeoutError&) {
      return false;
    }
    return true;
  }
  // Whether the device has work, which process_end.hpp is told. Called with the mutex held.
  void set_busy(bool busy) noexcept {
    if (busy == busy_) return;
    busy_ = busy;
    if (busy) {
      count_busy();
    } else {
      count_idle();
    }
  }
  bool is_busy() const { return busy_; }

  Context& context_;
  std::atomic<TimelineValue> past_ = 0;
  std::mutex mutex_;        // guards what follows
  TimelineValue last_ = 0;  // of the latest submission
  RetiredList retired_;

 private:
  Stream& self() { return static_cast<Stream&>(*this); }

  std::atomic<TimelineValue> abandoned_ = 0;
  bool busy_ = false;
};

}  // namespace vyre::run
