// The reasons for which the Vulkan backend or a device is not used: what the loader, the driver or the device lacks.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "run/vulkan/vulkan_failures_fixture.hpp"
#include "run/vulkan/vulkan_shaders.hpp"
#include "vyre/run/vulkan/devices/devices.hpp"

namespace vyre::test {
namespace {

using run::vulkan::Loader;

TEST_F(VulkanFailuresTest, a_missing_loader_is_a_reason) {
  VulkanBackend backend([] { return Loader{nullptr, "nothing here. Fix: bring something."}; });
  EXPECT_EQ(backend.reasons_unavailable(), std::vector<std::string>{"nothing here. Fix: bring something."});
  EXPECT_TRUE(backend.devices().empty());
  EXPECT_THROW(backend.prepare_shader(xor_shader(), std::nullopt), DeviceError);
}

TEST_F(VulkanFailuresTest, an_old_loader_is_a_reason) {
  vulkan_.change("vkEnumerateInstanceVersion", [](void* version) { *static_cast<std::uint32_t*>(version) = VK_API_VERSION_1_1; });
  auto backend = this->backend();
  EXPECT_EQ(backend.reasons_unavailable(),
            std::vector<std::string>{
                "the Vulkan loader supports Vulkan 1.1.0, but 1.2 is needed. Fix: update the Vulkan loader (libvulkan.so.1)."});
  EXPECT_TRUE(backend.devices().empty());
}

TEST_F(VulkanFailuresTest, a_very_old_loader_is_a_reason) {
  vulkan_.hide("vkEnumerateInstanceVersion");
  auto backend = this->backend();
  EXPECT_EQ(backend.reasons_unavailable(),
            std::vector<std::string>{
                "the Vulkan loader supports Vulkan 1.0.0, but 1.2 is needed. Fix: update the Vulkan loader (libvulkan.so.1)."});
}

TEST_F(VulkanFailuresTest, no_driver_is_a_reason) {
  vulkan_.fail("vkCreateInstance", 1, VK_ERROR_INCOMPATIBLE_DRIVER);
  auto backend = this->backend();
  EXPECT_TRUE(backend.devices().empty());
  EXPECT_FALSE(backend.devices().empty()) << "asked again, it looks again";
}

TEST_F(VulkanFailuresTest, no_device_is_a_reason) {
  vulkan_.no_devices();
  auto backend = this->backend();
  EXPECT_TRUE(backend.devices().empty());
  EXPECT_EQ(backend.reasons_unavailable(),
            std::vector<std::string>{"no Vulkan driver was found. Fix: install the driver of the GPU, or a software one, on Debian with "
                                     "`apt-get install mesa-vulkan-drivers`."});
}

TEST_F(VulkanFailuresTest, a_failing_look_for_devices_is_a_reason) {
  auto backend = this->backend();
  vulkan_.fail("vkEnumeratePhysicalDevices", 1, VK_ERROR_INITIALIZATION_FAILED);
  const auto reasons = backend.reasons_unavailable();
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_NE(reasons[0].find("vkEnumeratePhysicalDevices"), std::string::npos);
  EXPECT_TRUE(backend.reasons_unavailable().empty()) << "asked again, it looks again";
}

TEST_F(VulkanFailuresTest, each_missing_function_is_a_typed_error) {
  // The lack of the first tells the version. Without the others nobody could give back what was made, and some drivers crash then.
  const std::set<std::string> left_out = {"vkEnumerateInstanceVersion", "vkDestroyInstance", "vkDestroyDevice"};
  for (const std::string& name : FailingVulkan::all()) {
    // Devices may lack extensions.
    if (left_out.count(name) != 0 || name.ends_with("EXT") || name.ends_with("KHR")) continue;
    SCOPED_TRACE(name);
    vulkan_.show_all();
    vulkan_.hide(name);
    {
      auto backend = this->backend();
      try {
        backend.prepare_shader(xor_shader(), usable_[0]);
        FAIL();
      } catch (const DeviceError& error) {
        EXPECT_EQ("Vulkan has no function `" + name + "` here. Fix: install a Vulkan 1.2 loader and driver.", error.what());
      }
    }
    EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
  }
}

TEST_F(VulkanFailuresTest, a_device_that_cannot_be_opened_is_not_usable_and_another_is_the_default) {
  // Mesa's drivers list a device without hardware, which has a queue and memory types, and no timelines.
  for (const char* lacking : {"vkCreateDevice", "vkCreateSemaphore"}) {
    SCOPED_TRACE(lacking);
    auto backend = this->backend();
    const std::size_t best = backend_.default_device();
    vulkan_.fail(lacking, 1, VK_ERROR_INVALID_EXTERNAL_HANDLE);
    backend.try_devices();
    const std::vector<DeviceInfo> devices = backend.devices();
    EXPECT_FALSE(devices[best].usable);
    EXPECT_FALSE(devices[best].is_default);
    EXPECT_EQ(devices[best].reasons, std::vector<std::string>{std::string(lacking) + " failed on device `" + devices[best].name +
                                                              "` (VkResult -1000072003). Fix: check the driver's installation, "
                                                              "or use another device."});
    if (usable_.size() == 1) {
      EXPECT_EQ(backend.reasons_unavailable(), std::vector<std::string>());
      continue;
    }
    const std::size_t other = backend.default_device();
    EXPECT_NE(other, best);
    EXPECT_TRUE(devices[other].usable && devices[other].is_default);
    EXPECT_TRUE(backend.reasons_unavailable().empty());
    EXPECT_NO_THROW(backend.allocate(std::nullopt, 4, true));
    // The one that failed can be opened by now. That makes it usable again, and does not move calls that name no device.
    EXPECT_NO_THROW(backend.allocate(best, 4, true));
    EXPECT_TRUE(backend.devices()[best].usable);
    EXPECT_EQ(backend.default_device(), other);
  }
}

TEST_F(VulkanFailuresTest, a_device_that_computes_nothing_is_not_usable) {
  // With another version of its driver, the device has to be probed anew.
  vulkan_.change("vkGetPhysicalDeviceProperties2",
                 [](void* properties) { static_cast<VkPhysicalDeviceProperties2*>(properties)->properties.driverVersion ^= 1; });
  auto backend = this->backend();
  const std::size_t best = backend_.default_device();
  vulkan_.fail("vkCmdDispatch", 2, VK_SUCCESS);  // the first one has the driver compile the program
  backend.try_devices();
  const DeviceInfo info = backend.devices()[best];
  EXPECT_FALSE(info.usable);
  EXPECT_EQ(info.reasons,
            std::vector<std::string>{"device `" + info.name +
                                     "` computes a loop of 65600 turns wrongly. Fix: update its driver, or use another device."});
}

class UnfitDevices : public VulkanFailuresTest {
 protected:
  void expect_reasons(const std::string& end) {
    auto backend = this->backend();
    const auto devices = backend.devices();
    ASSERT_FALSE(devices.empty());
    std::vector<std::string> reasons;
    for (const DeviceInfo& device : devices) {
      EXPECT_FALSE(device.usable);
      EXPECT_EQ(device.reasons, std::vector<std::string>{"device `" + device.name + "` " + end});
      reasons.push_back(device.reasons.at(0));
    }
    EXPECT_EQ(backend.reasons_unavailable(), reasons);
    EXPECT_THROW(backend.prepare_shader(xor_shader(), std::nullopt), DeviceError);
    EXPECT_THROW(backend.prepare_shader(xor_shader(), 0), DeviceError);
  }
};

TEST_F(UnfitDevices, of_an_old_version_say_so) {
  vulkan_.change("vkGetPhysicalDeviceProperties",
                 [](void* properties) { static_cast<VkPhysicalDeviceProperties*>(properties)->apiVersion = VK_API_VERSION_1_1; });
  expect_reasons("supports Vulkan 1.1.0, but 1.2 is needed. Fix: update its driver.");
}

TEST_F(UnfitDevices, without_the_memory_model_say_so) {
  vulkan_.change("vkGetPhysicalDeviceFeatures2", [](void* features) {
    auto* next = static_cast<VkBaseOutStructure*>(static_cast<VkPhysicalDeviceFeatures2*>(features)->pNext);
    for (; next != nullptr; next = next->pNext) {
      if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES) {
        reinterpret_cast<VkPhysicalDeviceVulkan12Features*>(next)->vulkanMemoryModel = VK_FALSE;
      }
    }
  });
  expect_reasons("has no vulkanMemoryModel. Fix: update its driver, or use another device.");
}

TEST_F(UnfitDevices, without_a_compute_queue_say_so) {
  vulkan_.change("vkGetPhysicalDeviceQueueFamilyProperties",
                 [](void* family) { static_cast<VkQueueFamilyProperties*>(family)->queueFlags = VK_QUEUE_TRANSFER_BIT; });
  expect_reasons("has no compute queue. Fix: use another device.");
}

TEST_F(VulkanFailuresTest, a_gpu_is_chosen_before_a_software_device) {
  // The device that would be chosen last becomes a GPU, and is then chosen.
  const auto devices = backend_.devices();
  for (const auto& [type, kind] : {std::pair(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, "discrete gpu"),
                                   std::pair(VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU, "integrated gpu")}) {
    for (std::size_t i : usable_) {
      vulkan_.change("vkGetPhysicalDeviceProperties", [&, type = type](void* out) {
        auto* properties = static_cast<VkPhysicalDeviceProperties*>(out);
        properties->deviceType = devices[i].name == properties->deviceName ? type : VK_PHYSICAL_DEVICE_TYPE_CPU;
      });
      run::vulkan::Devices all([this] { return vulkan_.loader(); }, {});
      // Of several alike the first.
      const auto alike = [&](std::size_t other) { return devices[other].name == devices[i].name; };
      EXPECT_EQ(all.choose(), *std::find_if(usable_.begin(), usable_.end(), alike)) << testing::PrintToString(all.infos()[i].reasons);
      EXPECT_EQ(all.infos()[i].kind, kind);
    }
  }
}

TEST_F(VulkanFailuresTest, a_program_of_many_turns_stays_on_the_default_device_where_no_other_opens) {
  run::vulkan::Devices all([this] { return vulkan_.loader(); }, {});
  const std::size_t first = all.choose();
  vulkan_.fail("vkCreateDevice", 1, VK_ERROR_INITIALIZATION_FAILED);
  EXPECT_EQ(all.choose([](std::uint32_t) { return false; }), first);
}

}  // namespace
}  // namespace vyre::test
