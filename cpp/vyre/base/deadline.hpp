// The end of a call's patience: its time-out on the steady clock, if it has one, and its caller's wish to stop (Ctrl-C).
//
// Everything that waits or computes for a caller asks a Deadline between pieces of at most kPollInterval, and ends with the same two
// exceptions. The sentences of time-outs are here as well, one for each thing that can take too long.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "vyre/base/error.hpp"

namespace vyre {

// How long a waiting call sleeps before it asks again whether it is still wanted.
inline constexpr std::chrono::milliseconds kPollInterval{20};

// The thing that a call waited for when its time was over.
enum class Awaited : std::uint8_t {
  Access,     // an array that another call uses
  Device,     // a call on the device `where`
  Compiler,   // the compiler of the driver of device `where`
  Reference,  // the reference interpreter
  Cpu,        // the cpu backend
};

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;

  // A deadline that nothing but its time ends.
  explicit Deadline(Seconds timeout) : Deadline(timeout, nullptr, std::nullopt) {}
  // Without a time-out the deadline never passes. The time counts from `start`, or from now. `interrupted` says whether the caller wants
  // to stop, unless it is null or empty; it must outlive the deadline.
  Deadline(std::optional<Seconds> timeout, const std::function<bool()>* interrupted, std::optional<Clock::time_point> start);

  // Why a call must end.
  enum class End : std::uint8_t { None, Interrupted, TimedOut };
  // Calls `interrupted`, then looks at the clock.
  End reached() const;
  // Throws Interrupted or DispatchTimeoutError, or returns when `end` is None.
  void end_with(End end, Awaited awaited, std::string_view where = {}) const;
  void check(Awaited awaited, std::string_view where = {}) const { end_with(reached(), awaited, where); }
  // For what is too short to be timed: throws Interrupted.
  void check_interrupted() const;

  // Zero when the time-out is over, the largest value when there is none.
  std::chrono::nanoseconds remaining() const;
  // How long a wait may last before the next check: `remaining()`, and at most kPollInterval if the call may be interrupted.
  std::chrono::nanoseconds until_next_check() const;
  // `remaining()`, and at most kPollInterval: for waits that other threads may end without a word, or that cannot express a longer time.
  std::chrono::nanoseconds slice() const;

 private:
  bool interruptible() const { return interrupted_ != nullptr && *interrupted_; }

  const std::function<bool()>* interrupted_;
  Seconds timeout_{std::numeric_limits<double>::infinity()};
  std::optional<Clock::time_point> at_;
};

// The message of the DispatchTimeoutError.
std::string timed_out(Awaited awaited, Deadline::Seconds timeout, std::string_view where);

// The error with the places of loops ("file.py:12 and file.py:15"), unless it has some already or the text is empty.
DispatchTimeoutError in_loops(const DispatchTimeoutError& error, std::string_view loops);

}  // namespace vyre
