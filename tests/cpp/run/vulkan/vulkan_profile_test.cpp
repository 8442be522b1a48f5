// Timestamps of Vulkan devices: that they are there, wrap, and are never invented.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "run/vulkan/vulkan_fixture.hpp"
#include "run/vulkan/vulkan_shaders.hpp"
#include "support/fakes/failing_vulkan.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/storage.hpp"
#include "vyre/run/vulkan/submit/timestamps.hpp"

namespace vyre::test {
namespace {

using run::Profile;
using run::ProfileEvent;
using run::ProfileReport;
using run::vulkan::unwrapped;

TEST(Timestamp, that_wraps_is_the_one_nearest_to_what_is_expected) {
  EXPECT_EQ(unwrapped(5, 0x1'0000'0000, 32), 0x1'0000'0005u);
  EXPECT_EQ(unwrapped(0xFFFF'FFF0, 0x1'0000'0000, 32), 0xFFFF'FFF0u);
  EXPECT_EQ(unwrapped(0x10, 0x1'FFFF'FFF0, 32), 0x2'0000'0010u);
  EXPECT_EQ(unwrapped(~std::uint64_t{0}, 5, 64), ~std::uint64_t{0});
  EXPECT_EQ(unwrapped(7, 3, 64), 7u);
  for (std::uint32_t bits : {1u, 8u, 31u, 36u, 60u}) {
    const std::uint64_t turn = std::uint64_t{1} << bits;
    for (std::uint64_t near : {turn, 3 * turn + turn / 3, 5 * turn - 1}) {
      for (std::uint64_t wanted : {near - (turn / 2 - 1), near, near + (turn / 2 - 1)}) {
        EXPECT_EQ(unwrapped(wanted & (turn - 1), near, bits), wanted) << bits << " bits near " << near;
      }
    }
  }
}

class VulkanProfile : public VulkanTest {
 protected:
  VulkanBackend backend(run::vulkan::Options options = {}) const {
    return VulkanBackend([this] { return vulkan_.loader(); }, std::move(options));
  }

  // Calls with arrays that stay, and one with host arrays.
  ProfileReport profiled(VulkanBackend& backend, std::size_t device, int calls = 3) const {
    auto executable = prepared_xor(backend, device);
    const Words given = counted(kCount, 3);
    std::vector<std::unique_ptr<run::Storage>> storages;
    std::vector<run::StorageView> views;
    for (int slot = 0; slot < 3; ++slot) {
      storages.push_back(backend.allocate(device, 4 * kCount, false));
      storages.back()->write(0, std::as_bytes(std::span(given)), {});
      views.push_back({storages.back().get(), 0, 4 * kCount, kCount});
    }
    const auto plan = executable->plan(views, {kCount / 64, 1, 1});
    Words a = given, b = counted(kCount, 5), out(kCount);
    const BufferView arrays[] = {view(a), view(b), view(out)};
    const auto profile = Profile::begin(100'000);
    for (int k = 0; k < calls; ++k) plan->submit(views, {}, {});
    executable->run(arrays, {kCount / 64, 1, 1}, {});
    profile->end({});
    Words got(kCount, 1);
    storages[2]->read(0, std::as_writable_bytes(std::span(got)), {});
    EXPECT_EQ(got, Words(kCount, 0));
    EXPECT_EQ(out, xor_of(a, b));
    return profile->report();
  }

  static std::vector<ProfileEvent> dispatches(const ProfileReport& report) {
    std::vector<ProfileEvent> list;
    for (const ProfileEvent& event : report.events) {
      if (event.device != ProfileEvent::kHost && std::string(event.work.name) == "dispatch") list.push_back(event);
    }
    return list;
  }

  static constexpr std::uint32_t kCount = 6400;
  FailingVulkan vulkan_;
};

TEST_F(VulkanProfile, has_one_event_a_call_in_the_order_of_the_queue) {
  on_each_device([&](std::size_t device, const DeviceInfo& info) {
    auto backend = this->backend();
    const ProfileReport report = profiled(backend, device, 300);
    const auto events = dispatches(report);
    ASSERT_EQ(events.size(), 301u);
    EXPECT_EQ(report.notes, std::vector<std::string>());
    ASSERT_EQ(report.devices.size(), 1u);
    EXPECT_EQ(report.devices[0].label.name, info.name);
    ASSERT_TRUE(report.devices[0].error.has_value());
    // The call of host arrays is told at once, the others when somebody looks.
    auto in_order = events;
    std::sort(in_order.begin(), in_order.end(), [](const auto& one, const auto& other) { return one.start < other.start; });
    for (std::size_t k = 0; k < events.size(); ++k) {
      EXPECT_FALSE(events[k].observed);
      EXPECT_GT(events[k].duration, 0);
      EXPECT_GE(events[k].start + *report.devices[0].error, events[k].submitted);
      EXPECT_EQ(events[k].work.grid.x, kCount / 64);
      EXPECT_EQ(events[k].work.bytes, 3u * 4 * kCount);
    }
    for (std::size_t k = 1; k < events.size(); ++k) EXPECT_GE(in_order[k].start, in_order[k - 1].start + in_order[k - 1].duration);
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

TEST_F(VulkanProfile, of_timestamps_that_wrap_is_the_same) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    // Of nanoseconds, 28 bits wrap four times a second.
    vulkan_.change("vkGetPhysicalDeviceQueueFamilyProperties",
                   [](void* family) { static_cast<VkQueueFamilyProperties*>(family)->timestampValidBits = 28; });
    auto backend = this->backend();
    const std::int64_t begin = run::host_now();
    for (int turn = 0; turn < 3 || run::host_now() - begin < 300'000'000; ++turn) {
      const ProfileReport report = profiled(backend, device);
      const auto events = dispatches(report);
      ASSERT_EQ(events.size(), 4u);
      for (const ProfileEvent& event : events) {
        EXPECT_GE(event.start + *report.devices[0].error, event.submitted);
        EXPECT_GT(event.duration, 0);
        EXPECT_LE(event.start + event.duration - *report.devices[0].error, run::host_now());
      }
    }
  });
}

TEST_F(VulkanProfile, of_a_queue_without_timestamps_says_so_and_gives_what_the_host_saw) {
  on_each_device([&](std::size_t device, const DeviceInfo& info) {
    vulkan_.change("vkGetPhysicalDeviceQueueFamilyProperties",
                   [](void* family) { static_cast<VkQueueFamilyProperties*>(family)->timestampValidBits = 0; });
    vulkan_.forget_calls();
    auto backend = this->backend();
    const ProfileReport report = profiled(backend, device);
    EXPECT_EQ(report.notes,
              (std::vector<std::string>{"device `" + info.name +
                                        "` has no timestamps: its times are from the submission until the host saw the end."}));
    const auto events = dispatches(report);
    ASSERT_EQ(events.size(), 4u);
    for (const ProfileEvent& event : events) {
      EXPECT_TRUE(event.observed);
      EXPECT_EQ(event.start, event.submitted);
      EXPECT_GT(event.duration, 0);
    }
    EXPECT_EQ(report.devices[0].error, std::nullopt);
    for (const char* function : {"vkCmdWriteTimestamp", "vkCreateQueryPool", "vkGetCalibratedTimestampsEXT"}) {
      EXPECT_EQ(vulkan_.calls(function), 0) << function;
    }
  });
}

TEST_F(VulkanProfile, without_the_extension_reads_the_clock_around_a_submission) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    vulkan_.change("vkEnumerateDeviceExtensionProperties", [](void* extension) {
      auto* name = static_cast<VkExtensionProperties*>(extension)->extensionName;
      if (std::strcmp(name, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME) == 0) std::strcpy(name, "VK_EXT_none");
    });
    auto backend = this->backend();
    const ProfileReport report = profiled(backend, device);
    EXPECT_EQ(report.devices[0].clock, "a submission between two readings of the host's clock");
    EXPECT_EQ(vulkan_.calls("vkGetCalibratedTimestampsEXT"), 0);
    const auto events = dispatches(report);
    ASSERT_EQ(events.size(), 4u);
    for (const ProfileEvent& event : events) {
      EXPECT_FALSE(event.observed);
      EXPECT_GE(event.start + *report.devices[0].error, event.submitted);
    }
  });
}

TEST_F(VulkanProfile, of_a_call_in_several_submissions_has_an_event_for_each) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    auto backend = this->backend({.max_group_count = std::array{10u, 10u, 10u}, .dispatches_per_submission = 4});
    const ProfileReport report = profiled(backend, device, 2);
    // Ten dispatches a call: three submissions.
    EXPECT_EQ(dispatches(report).size(), 9u);
    EXPECT_EQ(report.notes, std::vector<std::string>());
  });
}

}  // namespace
}  // namespace vyre::test
