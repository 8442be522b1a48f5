#include "vyre/base/deadline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"

namespace vyre {

Deadline::Deadline(std::optional<Seconds> timeout, const std::function<bool()>* interrupted, std::optional<Clock::time_point> start)
    : interrupted_(interrupted) {
  // A century counts as never, and does not overflow the clock.
  constexpr Seconds kNever{3e9};
  if (!timeout || !(*timeout < kNever)) return;
  timeout_ = *timeout;
  at_ = start.value_or(Clock::now()) + std::chrono::duration_cast<Clock::duration>(std::max(timeout_, Seconds(0)));
}

Deadline::End Deadline::reached() const {
  if (interruptible() && (*interrupted_)()) return End::Interrupted;
  return at_ && Clock::now() >= *at_ ? End::TimedOut : End::None;
}

void Deadline::end_with(End end, Awaited awaited, std::string_view where) const {
  if (end == End::Interrupted) throw Interrupted();
  if (end == End::TimedOut) throw DispatchTimeoutError(timed_out(awaited, timeout_, where));
}

void Deadline::check_interrupted() const {
  if (interruptible() && (*interrupted_)()) throw Interrupted();
}

std::chrono::nanoseconds Deadline::remaining() const {
  if (!at_) return std::chrono::nanoseconds::max();
  return std::max<std::chrono::nanoseconds>(*at_ - Clock::now(), std::chrono::nanoseconds(0));
}

std::chrono::nanoseconds Deadline::until_next_check() const { return interruptible() ? slice() : remaining(); }

std::chrono::nanoseconds Deadline::slice() const { return std::min<std::chrono::nanoseconds>(remaining(), kPollInterval); }

std::string timed_out(Awaited awaited, Deadline::Seconds timeout, std::string_view where) {
  const double seconds = timeout.count();
  switch (awaited) {
    case Awaited::Access:
      return fmt::format("the array was still in use by another call after {} s. Fix: raise the time-out, or give each dispatch less work.",
                         seconds);
    case Awaited::Device:
      return fmt::format(
          "the call did not end within {} s on device `{}`. Fix: raise the time-out, or give each "
          "dispatch less work.",
          seconds, where);
    case Awaited::Compiler:
      return fmt::format(
          "the driver of device `{}` did not compile the program within {} s, and goes on. Fix: raise the time-out, or call again "
          "later, which uses what it has made by then.",
          where, seconds);
    case Awaited::Reference:
      return fmt::format(
          "the reference did not finish within {} s. Fix: give a longer time-out, fewer workgroups, or name a faster backend.", seconds);
    case Awaited::Cpu:
      return fmt::format("the cpu backend did not finish within {} s. Fix: give a longer time-out, or fewer workgroups.", seconds);
  }
  VYRE_ASSERT(false);
}

}  // namespace vyre
