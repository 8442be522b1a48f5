#include "vyre/base/deadline.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/errors.hpp"
#include "vyre/base/error.hpp"

namespace vyre {
namespace {

using namespace std::chrono_literals;
using Clock = Deadline::Clock;
using End = Deadline::End;
using Seconds = Deadline::Seconds;

constexpr auto kNever = std::chrono::nanoseconds::max();

template <class Thrown>
std::string message_of(const Deadline& deadline, Awaited awaited, std::string_view where = {}) {
  return test::message_of<Thrown>([&] { deadline.check(awaited, where); });
}

TEST(Deadline, never_passes_without_a_time_out) {
  const Deadline deadline(std::nullopt, nullptr, Clock::time_point::min());
  EXPECT_EQ(deadline.reached(), End::None);
  EXPECT_EQ(deadline.remaining(), kNever);
  EXPECT_EQ(deadline.until_next_check(), kNever);
  EXPECT_EQ(deadline.slice(), kPollInterval);
  EXPECT_NO_THROW(deadline.check(Awaited::Cpu));
}

TEST(Deadline, does_not_pass_when_the_clock_cannot_express_it) {
  for (const double seconds : {1e10, 1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    const Deadline deadline{Seconds(seconds)};
    EXPECT_EQ(deadline.reached(), End::None) << seconds;
    EXPECT_EQ(deadline.remaining(), kNever) << seconds;
  }
}

TEST(Deadline, passes_when_its_time_is_over) {
  for (const double seconds : {0.0, -1.0, -1e300}) {
    const Deadline deadline{Seconds(seconds)};
    EXPECT_EQ(deadline.reached(), End::TimedOut) << seconds;
    EXPECT_EQ(deadline.remaining(), 0ns) << seconds;
    EXPECT_EQ(deadline.slice(), 0ns) << seconds;
  }
  EXPECT_EQ(Deadline(Seconds(1000)).reached(), End::None);
}

TEST(Deadline, counts_from_its_start) {
  EXPECT_EQ(Deadline(Seconds(10), nullptr, Clock::now() - 11s).reached(), End::TimedOut);
  const Deadline later(Seconds(10), nullptr, Clock::now() + 1000s);
  EXPECT_EQ(later.reached(), End::None);
  EXPECT_GT(later.remaining(), 1000s);
}

TEST(Deadline, is_asked_often_only_when_it_may_be_interrupted) {
  const std::function<bool()> no = [] { return false; };
  const std::function<bool()> empty;
  EXPECT_EQ(Deadline(std::nullopt, &no, std::nullopt).until_next_check(), kPollInterval);
  EXPECT_EQ(Deadline(std::nullopt, &empty, std::nullopt).until_next_check(), kNever);
  EXPECT_GT(Deadline(Seconds(1000), &empty, std::nullopt).until_next_check(), 900s);
  EXPECT_LE(Deadline(Seconds(0.001), &no, std::nullopt).until_next_check(), 1ms);
}

TEST(Deadline, hears_an_interruption_before_it_looks_at_the_clock) {
  bool wanted = true;
  const std::function<bool()> interrupted = [&] { return !wanted; };
  const Deadline deadline(Seconds(0), &interrupted, std::nullopt);
  EXPECT_EQ(deadline.reached(), End::TimedOut);
  EXPECT_NO_THROW(deadline.check_interrupted());
  wanted = false;
  EXPECT_EQ(deadline.reached(), End::Interrupted);
  EXPECT_THROW(deadline.check_interrupted(), Interrupted);
  EXPECT_EQ(message_of<Interrupted>(deadline, Awaited::Cpu), "the call was interrupted. Fix: run it again, or give it a time-out.");
}

TEST(Deadline, says_what_took_too_long) {
  const Deadline deadline(Seconds(0.5), nullptr, Clock::now() - 1s);
  const auto message = [&](Awaited awaited) { return message_of<DispatchTimeoutError>(deadline, awaited, "Radeon"); };
  EXPECT_EQ(message(Awaited::Access),
            "the array was still in use by another call after 0.5 s. Fix: raise the time-out, or give each dispatch less work.");
  EXPECT_EQ(message(Awaited::Device),
            "the call did not end within 0.5 s on device `Radeon`. Fix: raise the time-out, or give each dispatch less work.");
  EXPECT_EQ(message(Awaited::Compiler),
            "the driver of device `Radeon` did not compile the program within 0.5 s, and goes on. Fix: raise the time-out, or give each "
            "dispatch less work.");
  EXPECT_EQ(message(Awaited::Reference),
            "the reference did not finish within 0.5 s. Fix: raise the time-out, or give each dispatch less work.");
  EXPECT_EQ(message(Awaited::Cpu),
            "the cpu backend did not finish within 0.5 s. Fix: raise the time-out, or give each dispatch less work.");
}

TEST(Deadline, names_the_loops_of_a_call_once) {
  const DispatchTimeoutError late(timed_out(Awaited::Reference, Deadline::Seconds(2), ""));
  const DispatchTimeoutError told = in_loops(late, "a.py:3 and b.py:4");
  const std::string text = told.what();
  EXPECT_TRUE(text.starts_with("the reference did not finish within 2 s; it loops at a.py:3 and b.py:4. ")) << text;
  EXPECT_EQ(in_loops(told, "c.py:5").what(), text);
  EXPECT_STREQ(in_loops(late, "").what(), late.what());
}

}  // namespace
}  // namespace vyre
