// Waits of the Vulkan backend that time out or are interrupted: the call keeps its device until it is done, and changes no array before.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "run/vulkan_failures_fixture.hpp"
#include "run/vulkan_shaders.hpp"
#include "support/small_procedure.hpp"

namespace vyre::test {
namespace {

TEST_F(VulkanFailuresTest, a_call_that_timed_out_keeps_its_device_until_it_is_done) {
  on_each_device([&](std::size_t device, const DeviceInfo& info) {
    auto backend = this->backend();
    auto executable = backend.prepare_shader(xor_shader(), device);
    auto other = backend.prepare_shader(xor_shader(), usable_.back() == device ? usable_.front() : usable_.back());

    Arrays arrays(100);
    const BufferView views[] = {view(arrays.a), view(arrays.b), view(arrays.out)};
    RunOptions options;
    // More than a device takes to begin.
    options.timeout = std::chrono::milliseconds(100);
    vulkan_.hold_submissions(true);
    try {
      executable->run(views, {2, 1, 1}, options);
      FAIL();
    } catch (const DispatchTimeoutError& error) {
      EXPECT_EQ(std::string(error.what()), "the call did not end within 0.1 s on device `" + info.name +
                                               "`. Fix: raise the time-out, or give each dispatch less work.");
    }
    EXPECT_TRUE(arrays.untouched());
    vulkan_.hold_submissions(false);

    expect_busy(info, [&] { arrays.run(*executable, in_time()); });
    EXPECT_TRUE(arrays.untouched());
    EXPECT_FALSE(backend.wait_until_idle(device, 0));
    if (usable_.size() > 1) {
      Arrays elsewhere(100);
      elsewhere.run(*other);
      EXPECT_TRUE(elsewhere.right());
    }

    vulkan_.release_submissions();
    EXPECT_TRUE(backend.wait_until_idle(device, 600));
    arrays.run(*executable);
    EXPECT_TRUE(arrays.right());
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

TEST_F(VulkanFailuresTest, a_procedure_that_times_out_refuses_the_next_call_until_it_is_done) {
  on_each_device([&](std::size_t device, const DeviceInfo& info) {
    auto backend = this->backend();
    const std::vector<std::byte> right = increment(backend, device);
    auto executable = backend.prepare_shader(xor_shader(), device);
    Arrays arrays(100);
    RunOptions options;
    options.timeout = std::chrono::milliseconds(100);
    vulkan_.hold_submissions(true);
    EXPECT_THROW(increment(backend, device, options), DispatchTimeoutError);
    vulkan_.hold_submissions(false);
    expect_busy(info, [&] { increment(backend, device, in_time()); });
    expect_busy(info, [&] { arrays.run(*executable, in_time()); });
    EXPECT_TRUE(arrays.untouched());
    vulkan_.release_submissions();
    EXPECT_TRUE(backend.wait_until_idle(device, 600));
    EXPECT_EQ(increment(backend, device), right);
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

TEST_F(VulkanFailuresTest, an_interrupted_wait_keeps_the_device_until_it_is_done) {
  on_each_device([&](std::size_t device, const DeviceInfo& info) {
    auto backend = this->backend();
    auto executable = backend.prepare_shader(xor_shader(), device);
    Arrays arrays(100);
    const BufferView views[] = {view(arrays.a), view(arrays.b), view(arrays.out)};
    int polls = 0;
    RunOptions options;
    options.interrupted = [&] { return ++polls == 5; };
    vulkan_.hold_submissions(true);
    EXPECT_THROW(executable->run(views, {2, 1, 1}, options), Interrupted);
    EXPECT_EQ(polls, 5);
    vulkan_.hold_submissions(false);
    expect_busy(info, [&] { arrays.run(*executable, in_time()); });
    EXPECT_TRUE(arrays.untouched());
    vulkan_.release_submissions();
    EXPECT_TRUE(backend.wait_until_idle(device, 600));
    arrays.run(*executable);
    EXPECT_TRUE(arrays.right());
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

TEST_F(VulkanFailuresTest, a_read_that_timed_out_or_was_interrupted_can_be_made_again) {
  on_each_device([&](std::size_t device, const DeviceInfo& info) {
    auto backend = this->backend();
    auto executable = backend.prepare_shader(xor_shader(), device);
    const ResidentArrays arrays(backend, device);
    for (std::uint32_t slot = 0; slot < 3; ++slot) arrays.write(slot, counted(100, slot + 1));
    const auto plan = executable->plan(arrays.views(), {2, 1, 1});
    vulkan_.hold_submissions(true);
    plan->submit(arrays.views(), {});
    Words got(100, 1);
    RunOptions hasty;
    hasty.timeout = std::chrono::milliseconds(1);
    try {
      arrays.read(2, got, hasty);
      ADD_FAILURE();
    } catch (const DispatchTimeoutError& error) {
      EXPECT_EQ(std::string(error.what()), "the call did not end within 0.001 s on device `" + info.name +
                                               "`. Fix: raise the time-out, or give each dispatch less work.");
    }
    RunOptions interrupted;
    interrupted.interrupted = [] { return true; };
    EXPECT_THROW(arrays.storages[2]->wait(interrupted), Interrupted);
    EXPECT_EQ(got, Words(100, 1));
    vulkan_.hold_submissions(false);
    vulkan_.release_submissions();
    arrays.read(2, got);
    EXPECT_EQ(got, xor_of(counted(100, 1), counted(100, 2)));
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

TEST_F(VulkanFailuresTest, a_large_call_of_a_device_with_its_own_memory_gives_the_same_bytes) {
  on_each_device([&](std::size_t device, const DeviceInfo& info) {
    auto backend = this->backend({.always_stage = true});
    auto executable = backend.prepare_shader(xor_shader(), device);
    // Chunks of staging memory, and one that is not full.
    for (const std::uint32_t count : {349'525u, 349'526u, 1'048'576u, 3'000'001u}) {
      SCOPED_TRACE(count);
      Arrays arrays(count);
      std::fill(arrays.out.begin(), arrays.out.end(), 0u);
      BufferView views[] = {view(arrays.a), view(arrays.b), view(arrays.out)};
      RunOptions options;
      options.in_place = true;
      for (const bool zeros : {false, true}) {
        views[2].zeros = zeros;
        // The last workgroup is left out, so that some of what came in goes out again.
        executable->run(views, {(count - 1) / 64, 1, 1}, options);
        Words expected = xor_of(arrays.a, arrays.b);
        std::fill(expected.begin() + (count - 1) / 64 * 64, expected.end(), 0u);
        EXPECT_EQ(arrays.out, expected);
        std::fill(arrays.out.begin(), arrays.out.end(), 0u);
      }
    }
    Arrays arrays(1'000'000);
    const BufferView views[] = {view(arrays.a), view(arrays.b), view(arrays.out)};
    RunOptions options;
    options.in_place = true;
    options.timeout = std::chrono::milliseconds(100);
    vulkan_.hold_submissions(true);
    try {
      executable->run(views, {15'625, 1, 1}, options);
      ADD_FAILURE();
    } catch (const DispatchTimeoutError& error) {
      EXPECT_EQ(std::string(error.what()), "the call did not end within 0.1 s on device `" + info.name +
                                               "`. Fix: raise the time-out, or give each dispatch less work.");
    }
    vulkan_.hold_submissions(false);
    vulkan_.release_submissions();
    options.timeout.reset();
    executable->run(views, {15'625, 1, 1}, options);
    EXPECT_TRUE(arrays.right());
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

TEST_F(VulkanFailuresTest, a_device_that_never_ends_its_work_does_not_hold_up_its_owner) {
  {
    auto backend = this->backend();
    auto executable = backend.prepare_shader(xor_shader(), usable_[0]);
    Arrays arrays(100);
    const BufferView views[] = {view(arrays.a), view(arrays.b), view(arrays.out)};
    RunOptions options;
    options.timeout = std::chrono::milliseconds(100);
    vulkan_.hold_submissions(true);
    EXPECT_THROW(executable->run(views, {2, 1, 1}, options), DispatchTimeoutError);
  }
  // Kept on purpose: closing it would wait for ever.
  EXPECT_EQ(vulkan_.calls("vkDestroyDevice"), 0);
}

TEST_F(VulkanFailuresTest, calls_are_refused_while_a_call_that_timed_out_is_at_work) {
  for (const bool stage : {false, true}) {
    on_each_device([&](std::size_t device, const DeviceInfo& info) {
      auto backend = this->backend({.always_stage = stage});
      auto executable = backend.prepare_shader(xor_shader(), device);
      Arrays arrays(100);
      const BufferView views[] = {view(arrays.a), view(arrays.b), view(arrays.out)};
      RunOptions hasty;
      hasty.timeout = std::chrono::milliseconds(1);
      vulkan_.hold_submissions(true);
      EXPECT_THROW(executable->run(views, {2, 1, 1}, hasty), DispatchTimeoutError);
      vulkan_.hold_submissions(false);
      vulkan_.forget_calls();
      expect_busy(info, [&] { arrays.run(*executable, in_time()); });
      EXPECT_EQ(vulkan_.calls("vkQueueSubmit"), 0);
      EXPECT_FALSE(backend.wait_until_idle(device, 0.001));
      vulkan_.release_submissions();
      EXPECT_TRUE(backend.wait_until_idle(device, 600));
      arrays.run(*executable);
      EXPECT_TRUE(arrays.right());
    });
  }
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

}  // namespace
}  // namespace vyre::test
