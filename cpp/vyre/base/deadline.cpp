#include "vyre/base/deadline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vyre/base/assert.hpp"

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
  const auto late = [&](std::string_view problem, std::string_view more) {
    return fmt::format("{} {} s{}. Fix: raise the time-out, or give each dispatch less work.", problem, timeout.count(), more);
  };
  switch (awaited) {
    case Awaited::Access:
      return late("the array was still in use by another call after", "");
    case Awaited::Device:
      return late("the call did not end within", fmt::format(" on device `{}`", where));
    case Awaited::Compiler:
      return late(fmt::format("the driver of device `{}` did not compile the program within", where), ", and goes on");
    case Awaited::Reference:
      return late("the reference did not finish within", "");
    case Awaited::Cpu:
      return late("the cpu backend did not finish within", "");
  }
  VYRE_ASSERT(false);
}

DispatchTimeoutError in_loops(const DispatchTimeoutError& error, std::string_view loops) {
  constexpr std::string_view kLead = "; it loops at ";
  std::string text = error.what();
  if (loops.empty() || text.find(kLead) != std::string::npos) return error;
  return DispatchTimeoutError(text.insert(std::min(text.find(". Fix: "), text.size()), fmt::format("{}{}", kLead, loops)));
}

}  // namespace vyre
