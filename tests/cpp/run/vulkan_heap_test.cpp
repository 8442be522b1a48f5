// Memory that comes back is kept for the next array of its size, up to a limit: what nobody has wanted for longest gives way.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "run/vulkan_fixture.hpp"
#include "support/failing_vulkan.hpp"
#include "vyre/run/storage.hpp"

namespace vyre {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

class VulkanHeap : public test::VulkanTest {
 protected:
  VulkanHeap() {
    // An eighth of it is less than what is kept at least, 256 MiB.
    vulkan_.change("vkGetPhysicalDeviceMemoryProperties", [](void* out) {
      auto* memory = static_cast<VkPhysicalDeviceMemoryProperties*>(out);
      for (std::uint32_t heap = 0; heap < memory->memoryHeapCount; ++heap) memory->memoryHeaps[heap].size = 512 * kMiB;
    });
  }
  run::vulkan::VulkanBackend backend() {
    return run::vulkan::VulkanBackend([this] { return vulkan_.loader(); }, {});
  }
  // How often the driver was asked for memory for an array that is dropped again.
  int asked_for(run::vulkan::VulkanBackend& backend, std::size_t device, std::uint64_t bytes) {
    vulkan_.forget_calls();
    backend.allocate(device, bytes, false);
    return vulkan_.calls("vkAllocateMemory");
  }

  test::FailingVulkan vulkan_;
};

TEST_F(VulkanHeap, keeps_the_sizes_that_were_wanted_last) {
  on_each_device([&](std::size_t device, const test::DeviceInfo&) {
    auto backend = this->backend();
    backend.allocate(device, 4, false);  // opens the device, which asks for memory of its own
    EXPECT_EQ(asked_for(backend, device, 128 * kMiB), 1);
    EXPECT_EQ(asked_for(backend, device, 96 * kMiB), 1);
    EXPECT_EQ(asked_for(backend, device, 128 * kMiB), 0);
    // 160 MiB more are beyond the limit: the 96 MiB, which came back first, go, and then the 128.
    EXPECT_EQ(asked_for(backend, device, 160 * kMiB), 1);
    EXPECT_EQ(asked_for(backend, device, 160 * kMiB), 0);
    EXPECT_EQ(asked_for(backend, device, 96 * kMiB), 1);
    EXPECT_EQ(asked_for(backend, device, 160 * kMiB), 0);
    EXPECT_EQ(asked_for(backend, device, 96 * kMiB), 0);
    EXPECT_EQ(asked_for(backend, device, 128 * kMiB), 1);
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

TEST_F(VulkanHeap, keeps_nothing_larger_than_its_limit) {
  on_each_device([&](std::size_t device, const test::DeviceInfo&) {
    auto backend = this->backend();
    backend.allocate(device, 4, false);  // opens the device, which asks for memory of its own
    EXPECT_EQ(asked_for(backend, device, 128 * kMiB), 1);
    EXPECT_EQ(asked_for(backend, device, 320 * kMiB), 1);
    EXPECT_EQ(asked_for(backend, device, 320 * kMiB), 1);
    EXPECT_EQ(asked_for(backend, device, 128 * kMiB), 0);
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

}  // namespace
}  // namespace vyre
