// What a profile hears, and how a device's clock is laid beside the host's. What devices do is tested with Vulkan and from Python.

#include "vyre/run/profile.hpp"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <thread>

#include "vyre/base/error.hpp"

namespace vyre::test {
namespace {

using run::ClockFit;
using run::DeviceClock;
using run::fit;
using run::Profile;
using run::ProfileEvent;
using run::ProfileReport;
using run::Span;
using Names = std::vector<std::string>;
using Reading = DeviceClock::Reading;

Names names(const ProfileReport& report) {
  Names list;
  for (const ProfileEvent& event : report.events) list.emplace_back(event.work.name);
  return list;
}

TEST(Profile, that_is_not_open_hears_nothing) {
  { const Span span("before"); }
  const auto profile = Profile::begin(10);
  profile->end({});
  { const Span span("after"); }
  EXPECT_EQ(names(profile->report()), Names());
  EXPECT_TRUE(profile->report().rows.empty());
  EXPECT_FALSE(run::profiling());
}

TEST(Profile, hears_spans_that_began_and_ended_while_it_was_open) {
  std::optional<Span> early(std::in_place, "early");
  const auto profile = Profile::begin(10);
  early.reset();
  std::optional<Span> late(std::in_place, "late");
  {
    const Span outer("outer");
    const Span inner("inner");
  }
  profile->end({});
  late.reset();
  const ProfileReport report = profile->report();
  EXPECT_EQ(names(report), (Names{"inner", "outer"}));
  const ProfileEvent &inner = report.events[0], &outer = report.events[1];
  EXPECT_LE(outer.start, inner.start);
  EXPECT_LE(inner.start + inner.duration, outer.start + outer.duration);
  EXPECT_LE(report.began, outer.start);
  EXPECT_LE(outer.start + outer.duration, report.ended);
}

TEST(Profile, does_not_hear_of_what_began_before_it) {
  const auto outer = Profile::begin(10);
  std::optional<Span> early(std::in_place, "early");
  const auto inner = Profile::begin(10);
  early.reset();
  { const Span span("both"); }
  inner->end({});
  { const Span span("outer alone"); }
  outer->end({});
  EXPECT_EQ(names(inner->report()), (Names{"both"}));
  EXPECT_EQ(names(outer->report()), (Names{"early", "both", "outer alone"}));
}

TEST(Profile, counts_in_its_rows_what_it_does_not_keep) {
  const auto profile = Profile::begin(3);
  for (int k = 0; k < 10; ++k) const Span span(k % 2 == 0 ? "even" : "odd");
  profile->end({});
  const ProfileReport report = profile->report();
  EXPECT_EQ(names(report), (Names{"even", "odd", "even"}));
  EXPECT_EQ(report.left_out, 7u);
  ASSERT_EQ(report.rows.size(), 2u);
  for (const ProfileReport::Row& row : report.rows) {
    EXPECT_EQ(row.calls, 5u);
    EXPECT_LE(row.min, row.max);
    EXPECT_LE(row.max, row.total);
  }
}

TEST(Profile, hears_of_every_thread_by_its_id) {
  const auto profile = Profile::begin(10'000);
  std::map<std::uint64_t, int> wanted, heard;
  std::mutex mutex;
  {
    std::vector<std::jthread> threads;
    for (int k = 1; k <= 4; ++k) {
      threads.emplace_back([&, k] {
        for (int turn = 0; turn < 100 * k; ++turn) const Span span("work");
        const std::lock_guard lock(mutex);
        wanted[run::thread_id()] = 100 * k;
      });
    }
  }
  profile->end({});
  for (const ProfileEvent& event : profile->report().events) ++heard[event.thread];
  EXPECT_EQ(heard, wanted);
}

TEST(Profile, that_is_abandoned_or_ended_twice_stays_closed) {
  const auto profile = Profile::begin(10);
  profile->abandon();
  profile->end({});
  profile->abandon();
  EXPECT_FALSE(run::profiling());
  const auto others = {Profile::begin(1), Profile::begin(1)};
  run::abandon_profiles();
  EXPECT_FALSE(run::profiling());
  for (const auto& other : others) EXPECT_FALSE(other->report().open);
}

// A clock that says what it is told.
class ToldClock final : public DeviceClock {
 public:
  std::optional<Reading> read(const run::RunOptions&) override {
    if (fails) throw DeviceError("the clock stopped. Fix: wind it.");
    return reading;
  }
  std::string method() const override { return "told"; }
  void finish(const run::RunOptions& options) override {
    if (options.interrupted && options.interrupted()) throw Interrupted();
  }
  std::optional<Reading> reading;
  bool fails = false;
};

TEST(Profile, gives_device_times_in_the_time_of_the_host) {
  const auto profile = Profile::begin(10);
  const auto clock = std::make_shared<ToldClock>();
  clock->reading = Reading{1'000'000, 50, 10};
  const auto listed = profile->device({"vulkan", 0, "GPU"}, clock, {});
  EXPECT_TRUE(listed.timed);
  ProfileEvent event;
  event.work.name = "dispatch";
  event.device = listed.index;
  event.start = 150;
  event.duration = 30;
  profile->add(event);
  clock->reading = Reading{1'002'004, 2'050, 10};
  profile->end({});
  const ProfileReport report = profile->report();
  EXPECT_EQ(names(report), (Names{"read clocks", "dispatch"}));
  // Offsets 999,950 and 999,954, 10 off at most: 999,952, and 12 off at most.
  EXPECT_EQ(report.events.back().start, 1'000'102);
  EXPECT_EQ(report.events.back().duration, 30);
  EXPECT_EQ(report.devices[0].error, 12);
  EXPECT_EQ(report.devices[0].clock, "told");
}

TEST(Profile, of_a_device_whose_clock_fails_says_so_and_goes_on) {
  const auto profile = Profile::begin(10);
  const auto clock = std::make_shared<ToldClock>();
  clock->fails = true;
  EXPECT_FALSE(profile->device({"vulkan", 0, "GPU"}, clock, {}).timed);
  profile->end({});
  EXPECT_EQ(profile->report().notes, (Names{"device `GPU` has no times of its own: the clock stopped. Fix: wind it.",
                                            "the last events of a device may be missing: the clock stopped. Fix: wind it."}));
  EXPECT_EQ(profile->report().devices[0].error, std::nullopt);
}

TEST(Profile, whose_end_is_interrupted_is_closed_and_says_so) {
  const auto profile = Profile::begin(10);
  const auto clock = std::make_shared<ToldClock>();
  clock->reading = Reading{1, 1, 1};
  profile->device({"vulkan", 0, "GPU"}, clock, {});
  run::RunOptions options;
  options.interrupted = [] { return true; };
  EXPECT_THROW(profile->end(options), Interrupted);
  EXPECT_FALSE(run::profiling());
  EXPECT_EQ(clock.use_count(), 1) << "the profile holds no device any more";
  EXPECT_EQ(profile->report().notes, (Names{"the wait for the last events of a device was interrupted, and they are missing."}));
}

TEST(ClockFit, of_one_reading_is_an_offset) {
  const ClockFit clock = fit({1'000, 400, 7}, std::nullopt);
  EXPECT_EQ(clock.to_host(400), 1'000);
  EXPECT_EQ(clock.to_host(100), 700);
  EXPECT_EQ(clock.error, 7);
}

TEST(ClockFit, takes_a_difference_within_the_errors_for_one_offset_that_both_readings_allow) {
  // Offsets 600 and 615, 10 off at most: both allow 605 to 610.
  const ClockFit clock = fit({1'000, 400, 10}, Reading{2'015, 1'400, 10});
  EXPECT_EQ(clock.scale, 1);
  EXPECT_EQ(clock.to_host(400), 1'007);
  EXPECT_EQ(clock.error, 18);
}

TEST(ClockFit, follows_a_drift_that_is_larger_than_the_errors) {
  // The device's clock loses one part in a thousand.
  const ClockFit clock = fit({5'000, 0, 10}, Reading{5'000 + 1'001'000, 1'000'000, 20});
  EXPECT_EQ(clock.to_host(0), 5'000);
  EXPECT_EQ(clock.to_host(1'000'000), 1'006'000);
  EXPECT_EQ(clock.to_host(500'000), 505'500);
  EXPECT_EQ(clock.error, 20);
}

TEST(ClockFit, counts_what_was_rounded_between_the_readings_as_an_error_of_the_last_one) {
  // The offsets differ by 100, which is what was rounded since the first reading.
  const ClockFit clock = fit({1'000, 400, 10, 5'000}, Reading{2'100, 1'400, 10, 5'100});
  EXPECT_EQ(clock.scale, 1);
  EXPECT_EQ(clock.to_host(400), 1'000);
  EXPECT_EQ(clock.error, 210) << "100 rounded, 10 of the reading, and the 100 between the offsets";
}

TEST(ClockFit, never_takes_a_clock_back_in_time) {
  for (const std::int64_t drift : {-1'000, -3, 0, 3, 1'000}) {
    const ClockFit clock = fit({0, 0, 2}, Reading{100'000 + drift, 100'000, 2});
    std::int64_t before = clock.to_host(-5);
    for (std::int64_t time = 0; time < 1'000; time += 5) {
      EXPECT_LT(before, clock.to_host(time)) << drift;
      before = clock.to_host(time);
    }
  }
}

}  // namespace
}  // namespace vyre::test
