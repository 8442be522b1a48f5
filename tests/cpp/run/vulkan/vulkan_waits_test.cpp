// Waits of the Vulkan backend that time out or are interrupted: the call keeps its device until it is done, and changes no array before.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "run/vulkan/vulkan_failures_fixture.hpp"
#include "run/vulkan/vulkan_shaders.hpp"
#include "support/programs/small_procedure.hpp"

namespace vyre::test {
namespace {

// Calls of out = a ^ b whose work the device holds: it does none of it before a test says so.
class VulkanWaitsTest : public VulkanFailuresTest {
 protected:
  // One device, as a backend of its own sees it, and out = a ^ b for it.
  struct OwnDevice {
    const std::size_t device;
    const DeviceInfo info;
    VulkanBackend backend;
    const std::unique_ptr<Prepared> executable = prepared_xor(backend, device);
  };
  // Runs `check(own)` for each device, and expects that nothing is left of its backend afterwards.
  template <class Check>
  void on_each_own(const Options& options, const Check& check) {
    on_each_device([&](std::size_t device, const DeviceInfo& info) {
      OwnDevice own{device, info, backend(options)};
      check(own);
    });
    EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
  }
  template <class Check>
  void on_each_own(const Check& check) {
    on_each_own(Options(), check);
  }

  // What becomes of a call whose work the device holds from now on. Work that comes after the call is not held.
  Outcome held(const std::function<void()>& call) {
    vulkan_.hold_submissions(true);
    Outcome outcome = outcome_of(call);
    vulkan_.hold_submissions(false);
    return outcome;
  }
  // The device does what it holds.
  void finish(OwnDevice& own) {
    vulkan_.release_submissions();
    EXPECT_TRUE(own.backend.wait_until_idle(own.device, 600));
  }
  // While the device holds the work of a call, another call is refused and changes no array. It runs once the work is done.
  void expect_busy_until_done(OwnDevice& own, Arrays& arrays) {
    expect_busy(own.info, [&] { arrays.run(*own.executable, in_time()); });
    EXPECT_TRUE(arrays.untouched());
    EXPECT_FALSE(own.backend.wait_until_idle(own.device, 0.001));
    finish(own);
    arrays.run(*own.executable);
    EXPECT_TRUE(arrays.right());
  }
  static std::string timed_out(const std::string& seconds, const DeviceInfo& info) {
    return "the call did not end within " + seconds + " s on device `" + info.name +
           "`. Fix: raise the time-out, or give each dispatch less work.";
  }
};

TEST_F(VulkanWaitsTest, a_call_that_timed_out_keeps_its_device_until_it_is_done) {
  for (const bool stage : {false, true}) {
    on_each_own({.always_stage = stage}, [&](OwnDevice& own) {
      auto elsewhere = own.backend.prepare_shader(xor_shader(), usable_.back() == own.device ? usable_.front() : usable_.back());
      Arrays arrays(100);
      // More than a device takes to begin.
      EXPECT_EQ(held([&] { arrays.run(*own.executable, at_most(0.1)); }).text, timed_out("0.1", own.info));
      EXPECT_TRUE(arrays.untouched());
      if (usable_.size() > 1) {
        Arrays others(100);
        others.run(*elsewhere);
        EXPECT_TRUE(others.right());
      }
      vulkan_.forget_calls();
      expect_busy(own.info, [&] { arrays.run(*own.executable, in_time()); });
      EXPECT_EQ(vulkan_.calls("vkQueueSubmit"), 0);
      expect_busy_until_done(own, arrays);
    });
  }
}

TEST_F(VulkanWaitsTest, a_procedure_that_times_out_refuses_the_next_call_until_it_is_done) {
  on_each_own([&](OwnDevice& own) {
    const std::vector<std::byte> right = increment(own.backend, own.device);
    EXPECT_EQ(held([&] { increment(own.backend, own.device, at_most(0.1)); }).kind, "timeout");
    expect_busy(own.info, [&] { increment(own.backend, own.device, in_time()); });
    Arrays arrays(100);
    expect_busy_until_done(own, arrays);
    EXPECT_EQ(increment(own.backend, own.device), right);
  });
}

TEST_F(VulkanWaitsTest, an_interrupted_wait_keeps_the_device_until_it_is_done) {
  on_each_own([&](OwnDevice& own) {
    Arrays arrays(100);
    int polls = 0;
    RunOptions options;
    options.interrupted = [&] { return ++polls == 5; };
    EXPECT_EQ(held([&] { arrays.run(*own.executable, options); }).kind, "interrupted");
    EXPECT_EQ(polls, 5);
    expect_busy_until_done(own, arrays);
  });
}

TEST_F(VulkanWaitsTest, a_read_that_timed_out_or_was_interrupted_can_be_made_again) {
  on_each_own([&](OwnDevice& own) {
    const ResidentArrays arrays(own.backend, own.device);
    for (std::uint32_t slot = 0; slot < 3; ++slot) arrays.write(slot, counted(100, slot + 1));
    const auto plan = own.executable->plan(arrays.views(), {2, 1, 1});
    Words got(100, 1);
    const Outcome hasty = held([&] {
      plan->submit(arrays.views(), {}, {});
      arrays.read(2, got, at_most(0.001));
    });
    EXPECT_EQ(hasty.text, timed_out("0.001", own.info));
    RunOptions interrupted;
    interrupted.interrupted = [] { return true; };
    EXPECT_THROW(arrays.storages[2]->wait(interrupted), Interrupted);
    EXPECT_EQ(got, Words(100, 1));
    vulkan_.release_submissions();
    arrays.read(2, got);
    EXPECT_EQ(got, xor_of(counted(100, 1), counted(100, 2)));
  });
}

TEST_F(VulkanWaitsTest, a_large_call_that_timed_out_can_be_made_again) {
  on_each_own({.always_stage = true}, [&](OwnDevice& own) {
    Arrays arrays(1'000'000);
    RunOptions options = at_most(0.1);
    options.in_place = true;
    EXPECT_EQ(held([&] { arrays.run(*own.executable, options); }).text, timed_out("0.1", own.info));
    vulkan_.release_submissions();
    options.timeout.reset();
    arrays.run(*own.executable, options);
    EXPECT_TRUE(arrays.right());
  });
}

TEST_F(VulkanWaitsTest, a_device_that_never_ends_its_work_does_not_hold_up_its_owner) {
  {
    OwnDevice own{usable_[0], backend_.devices()[usable_[0]], backend()};
    Arrays arrays(100);
    EXPECT_EQ(held([&] { arrays.run(*own.executable, at_most(0.1)); }).kind, "timeout");
  }
  // The device stays open on purpose: closing it would wait for ever.
  EXPECT_EQ(vulkan_.calls("vkDestroyDevice"), 0);
}

}  // namespace
}  // namespace vyre::test
