// Arrays larger than a device can bind are reached by their addresses, others are not; and what no address reaches is refused. The same
// bytes by address are seen by VulkanConformance and PlannedConformance.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "run/vulkan/vulkan_fixture.hpp"
#include "support/errors.hpp"
#include "support/fakes/failing_vulkan.hpp"
#include "support/prepared.hpp"
#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/storage.hpp"

namespace vyre {
namespace {

using namespace sample;
using run::StorageView;
using test::kByAddress;
using test::Words;

constexpr std::uint64_t kRange = 400;

class Addresses : public test::VulkanTest {
 protected:
  run::vulkan::VulkanBackend backend(const run::vulkan::Options& options = {.max_storage_range = kRange}) {
    return run::vulkan::VulkanBackend([this] { return vulkan_.loader(); }, options);
  }
  // Changes what a device says of itself, in the structure of that type.
  template <class Structure>
  void change(const char* function, VkStructureType type, void (*with)(Structure&)) {
    vulkan_.change(function, [type, with](void* first) {
      for (auto* it = static_cast<VkBaseOutStructure*>(first); it != nullptr; it = it->pNext) {
        if (it->sType == type) with(*reinterpret_cast<Structure*>(it));
      }
    });
  }
  template <class Work>
  void expect_refused(const std::string& message, const Work& work) {
    EXPECT_EQ(test::message_of<CapabilityError>([&] { work(); }), message);
  }

  test::FailingVulkan vulkan_;
};

validate::ValidProgram twice() {
  return test::valid(Sample().out("data").size(64).add(store("data", gid(0), load("data", gid(0)) * u32(2))).make());
}

Words doubled(const Words& words) {
  Words result;
  for (const std::uint32_t word : words) result.push_back(word * 2);
  return result;
}

TEST_F(Addresses, are_compiled_for_and_used_with_the_first_array_that_is_too_large) {
  on_each_device([&](std::size_t device, const test::DeviceInfo&) {
    auto backend = this->backend();
    const auto executable = test::prepared(backend, twice(), device);
    const auto expect = [&](std::uint32_t words, int compiled, int asked) {
      SCOPED_TRACE(words);
      vulkan_.forget_calls();
      Words data = test::counted(words, 3);
      const Words expected = doubled(data);
      const run::BufferView views[] = {test::view(data)};
      executable->run(views, {2, 1, 1}, {});
      EXPECT_EQ(data, expected);
      EXPECT_EQ(vulkan_.calls("vkCreateComputePipelines"), compiled);
      EXPECT_EQ(vulkan_.calls("vkGetBufferDeviceAddress"), asked);
    };
    expect(kRange / 4, 0, 0);
    expect(kRange / 4 + 1, 1, 1);
    expect(kRange / 4 + 1, 0, 1);
    expect(1, 0, 0);

    vulkan_.forget_calls();
    const auto storage = backend.allocate(device, kRange + 4, true);
    const Words given = test::counted(kRange / 4 + 1, 5);
    storage->write(0, std::as_bytes(std::span(given)), {});
    const StorageView views[] = {{storage.get(), 0, kRange + 4, kRange / 4 + 1}};
    executable->plan(views, {2, 1, 1})->submit(views, {}, {});
    Words got(given.size());
    storage->read(0, std::as_writable_bytes(std::span(got)), {});
    EXPECT_EQ(got, doubled(given));
    EXPECT_EQ(vulkan_.calls("vkGetBufferDeviceAddress"), 1);
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

TEST_F(Addresses, are_compiled_for_once_more_when_the_device_was_lost) {
  on_each_device([&](std::size_t device, const test::DeviceInfo&) {
    auto backend = this->backend();
    const auto executable = test::prepared(backend, twice(), device);
    const auto run = [&] {
      Words data = test::counted(200, 3);
      const Words expected = doubled(data);
      const run::BufferView views[] = {test::view(data)};
      executable->run(views, {4, 1, 1}, {});
      EXPECT_EQ(data, expected);
    };
    run();
    vulkan_.fail("vkQueueSubmit", 1, VK_ERROR_DEVICE_LOST);
    EXPECT_THROW(run(), DeviceLostError);
    vulkan_.work();
    run();
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

TEST_F(Addresses, of_large_grids_are_used_by_the_kernel_that_does_the_work_of_four) {
  on_each_device([&](std::size_t device, const test::DeviceInfo&) {
    auto backend = this->backend();
    run::Optimize everywhere;
    everywhere.everywhere = true;
    const auto executable = test::prepared(backend, twice(), device, everywhere);
    for (const std::uint32_t count : {64 * 4u, 64 * 5u, 64 * 11u}) {
      Words data = test::counted(count, 3);
      const Words expected = doubled(data);
      const run::BufferView views[] = {test::view(data)};
      executable->run(views, {count / 64, 1, 1}, {});
      EXPECT_EQ(data, expected);
    }
    EXPECT_EQ(vulkan_.calls("vkGetBufferDeviceAddress"), 3);
    vulkan_.forget_calls();
  });
}

// A load out of bounds reads element 0 and drops it, so there must be one to read.
TEST_F(Addresses, of_arrays_without_elements_may_be_read) {
  const validate::ValidProgram program = test::valid(Sample()
                                                         .in("none", DataType::Vec4U32)
                                                         .out("out", DataType::Vec4U32)
                                                         .size(8)
                                                         .add({store("out", gid(0), load("none", gid(0) + u32(0x10000000)))})
                                                         .make());
  on_each_device([&](std::size_t device, const test::DeviceInfo&) {
    const auto executable = test::prepared(backend_, program, device, kByAddress);
    // As large as a block with memory of its own, of which the last words are half an element.
    constexpr std::uint64_t kBytes = std::uint64_t{2} << 20;
    const auto storage = backend_.allocate(device, kBytes, false);
    const Words other(kBytes / 4, 0xDEADBEEF), before(16, 7);
    storage->write(0, std::as_bytes(std::span(other)), {});
    for (const std::uint64_t left : {0, 4, 12}) {
      const auto out = backend_.allocate(device, 64, false);
      out->write(0, std::as_bytes(std::span(before)), {});
      const StorageView views[] = {{storage.get(), kBytes - left, left, 0}, {out.get(), 0, 64, 4}};
      executable->plan(views, {1, 1, 1})->submit(views, {}, {});
      Words got(16, 1);
      out->read(0, std::as_writable_bytes(std::span(got)), {});
      EXPECT_EQ(got, Words(16, 0)) << left;
    }
  });
}

TEST_F(Addresses, that_a_device_lacks_make_a_larger_array_a_typed_error) {
  change<VkPhysicalDeviceVulkan12Features>("vkGetPhysicalDeviceFeatures2", VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                                           [](VkPhysicalDeviceVulkan12Features& features) { features.bufferDeviceAddress = VK_FALSE; });
  on_each_device([&](std::size_t device, const test::DeviceInfo& info) {
    auto backend = this->backend();
    const auto executable = test::prepared(backend, twice(), device, kByAddress);
    Words small = test::counted(kRange / 4, 3), large(kRange / 4 + 1);
    const run::BufferView fits[] = {test::view(small)}, views[] = {test::view(large)};
    executable->run(fits, {2, 1, 1}, {});
    EXPECT_EQ(small, doubled(test::counted(kRange / 4, 3)));
    const std::string message = "404 bytes of buffer `data` exceeds maxStorageBufferRange of device `" + info.name +
                                "`, which allows 400. Fix: pass a smaller array, or use another device.";
    expect_refused(message, [&] { executable->run(views, {2, 1, 1}, {}); });
    const auto storage = backend.allocate(device, kRange + 4, true);
    const StorageView resident[] = {{storage.get(), 0, kRange + 4, kRange / 4 + 1}};
    expect_refused(message, [&] { executable->plan(resident, {2, 1, 1}); });
    EXPECT_EQ(vulkan_.calls("vkGetBufferDeviceAddress"), 0);
  });
}

TEST_F(Addresses, reach_no_array_beyond_what_the_device_gives) {
  change<VkPhysicalDeviceMaintenance4PropertiesKHR>(
      "vkGetPhysicalDeviceProperties2", VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES_KHR,
      [](VkPhysicalDeviceMaintenance4PropertiesKHR& properties) { properties.maxBufferSize = 4096; });
  for (const std::string limit : {"maxBufferSize", "the largest memory heap"}) {
    if (limit != "maxBufferSize") {
      change<VkPhysicalDeviceMaintenance4PropertiesKHR>(
          "vkGetPhysicalDeviceProperties2", VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES_KHR,
          [](VkPhysicalDeviceMaintenance4PropertiesKHR& properties) { properties.maxBufferSize = 0; });
      vulkan_.change("vkGetPhysicalDeviceMemoryProperties", [](void* out) {
        auto* memory = static_cast<VkPhysicalDeviceMemoryProperties*>(out);
        for (std::uint32_t heap = 0; heap < memory->memoryHeapCount; ++heap) memory->memoryHeaps[heap].size = 4096;
      });
    }
    on_each_device([&](std::size_t device, const test::DeviceInfo& info) {
      auto backend = this->backend();
      const auto executable = test::prepared(backend, twice(), device);
      Words most = test::counted(1024, 3), more(1025);
      const run::BufferView fits[] = {test::view(most)}, views[] = {test::view(more)};
      executable->run(fits, {16, 1, 1}, {});
      EXPECT_EQ(most, doubled(test::counted(1024, 3)));
      expect_refused("4100 bytes of buffer `data` exceeds " + limit + " of device `" + info.name +
                         "`, which allows 4096. Fix: pass a smaller array, or use another device.",
                     [&] {
                       executable->run(views, {16, 1, 1}, {});
                     });
      expect_refused("4100 bytes of an array exceeds " + limit + " of device `" + info.name +
                         "`, which allows 4096. Fix: make a smaller array, or use another device.",
                     [&] { backend.allocate(device, 4100, true); });
    });
  }
}

// Vulkan promises maxMemoryAllocationSize; a driver may give more, and has its say.
TEST_F(Addresses, reach_an_array_beyond_what_the_device_promises_where_it_gives_it) {
  change<VkPhysicalDeviceMaintenance3Properties>(
      "vkGetPhysicalDeviceProperties2", VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES,
      [](VkPhysicalDeviceMaintenance3Properties& properties) { properties.maxMemoryAllocationSize = 4096; });
  on_each_device([&](std::size_t device, const test::DeviceInfo& info) {
    auto backend = this->backend();
    constexpr std::uint64_t kBytes = (std::uint64_t{2} << 20) + 4;
    const auto given = backend.allocate(device, kBytes, true);
    EXPECT_EQ(given->bytes(), kBytes);
    // The first failure may be helped by freeing what the probe left for reuse; for the second nothing is left to free.
    std::vector<std::unique_ptr<run::Storage>> helped;
    std::string text;
    for (int turn = 0; turn < 2; ++turn) {
      vulkan_.fail("vkAllocateMemory", 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
      try {
        helped.push_back(backend.allocate(device, kBytes, true));
      } catch (const DeviceMemoryError& error) {
        text = error.what();
      }
    }
    EXPECT_EQ(text, "vkAllocateMemory ran out of memory on device `" + info.name +
                        "` (VK_ERROR_OUT_OF_DEVICE_MEMORY). Fix: pass smaller arrays, or use another device.");
    vulkan_.work();
  });
}

}  // namespace
}  // namespace vyre
