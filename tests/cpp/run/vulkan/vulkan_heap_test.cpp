// Memory that comes back is kept for the next array of its size, up to a limit: what nobody has wanted for longest gives way.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "run/vulkan/vulkan_fixture.hpp"
#include "run/vulkan/vulkan_shaders.hpp"
#include "support/fakes/failing_vulkan.hpp"
#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
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
  run::vulkan::VulkanBackend backend(run::vulkan::Options options = {}) {
    return run::vulkan::VulkanBackend([this] { return vulkan_.loader(); }, std::move(options));
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

// The first copy of a call with arrays of the host is not ordered after earlier submissions.
TEST_F(VulkanHeap, a_call_gets_no_memory_that_the_device_still_uses) {
  constexpr std::uint32_t kWords = 2 * kMiB / 4;
  on_each_device([&](std::size_t device, const test::DeviceInfo&) {
    for (const bool known_to_be_done : {false, true}) {
      auto backend = this->backend({.always_stage = true});
      const auto executable = backend.prepare_shader(test::xor_shader(), device);
      vulkan_.only_waiting_tells(true);
      backend.allocate(device, 2 * kMiB, true);  // is given back while the device clears it
      if (known_to_be_done) backend.allocate(device, 4, true)->wait({});
      test::Words a = test::counted(kWords, 3), b = test::counted(kWords, 5), out(kWords);
      const run::BufferView views[] = {test::view(a), test::view(b), test::view(out)};
      vulkan_.forget_calls();
      executable->run(views, {kWords / 64, 1, 1}, {});
      // Each of the three arrays has a block of the device and one of the host, and each of these a buffer of its own.
      EXPECT_EQ(vulkan_.calls("vkAllocateMemory"), known_to_be_done ? 5 : 6);
      EXPECT_EQ(out, test::xor_of(a, b));
    }
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

// The driver may give a new buffer the handle of one that was destroyed.
TEST_F(VulkanHeap, that_frees_memory_leaves_no_call_bound_to_it) {
  using namespace sample;
  constexpr std::uint32_t kMany = 2 * kMiB / 4;  // the words of an array that has a buffer of its own
  const ir::Program touch = Sample().out("x").size(64).add(store("x", gid(0), load("x", gid(0)) + u32(1))).make();
  on_each_device([&](std::size_t device, const test::DeviceInfo&) {
    auto backend = this->backend();
    const auto executable = backend.prepare(test::valid(touch), device);
    const auto run = [&](std::uint32_t word) {
      test::Words x(kMany, word);
      const test::BufferView views[] = {test::view(x)};
      executable->run(views, {kMany / 64, 1, 1}, {});
      EXPECT_EQ(x, test::Words(kMany, word + 1));
    };
    run(1);
    for (std::uint32_t turn = 1; turn <= 3; ++turn) {
      // For memory of another size, the heap frees what the calls have left.
      vulkan_.fail("vkAllocateMemory", 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
      backend.allocate(device, (2 + turn) * kMiB, false);
      ASSERT_TRUE(vulkan_.failed());
      vulkan_.work();
      vulkan_.forget_calls();
      run(turn);
      EXPECT_EQ(vulkan_.calls("vkUpdateDescriptorSets"), 1) << turn;
      run(5 * turn);
      EXPECT_EQ(vulkan_.calls("vkUpdateDescriptorSets"), 1) << turn;
    }
  });
}

}  // namespace
}  // namespace vyre
