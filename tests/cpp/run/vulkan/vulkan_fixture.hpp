// What the tests of the Vulkan backend share: the devices of this machine.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/words.hpp"
#include "vyre/run/vulkan/vulkan_backend.hpp"

namespace vyre::test {

using run::BufferView;
using run::DeviceInfo;
using run::vulkan::VulkanBackend;

// Arrays are reached by their addresses and not bound.
inline constexpr run::Optimize kByAddress = [] {
  run::Optimize optimize;
  optimize.addresses = true;
  return optimize;
}();

// For a call that may take this long.
inline run::RunOptions at_most(double seconds) {
  run::RunOptions options;
  options.timeout = std::chrono::duration<double>(seconds);
  return options;
}

// The devices to test on: indices of usable ones. None at all is a failure, unless the environment allows it.
class VulkanTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto reasons = backend_.reasons_unavailable();
    if (!reasons.empty()) {
      const char* allowed = std::getenv("VYRE_ALLOW_NO_VULKAN");
      ASSERT_TRUE(allowed != nullptr && std::string(allowed) == "1") << reasons[0];
      GTEST_SKIP() << reasons[0];
    }
    const auto devices = backend_.devices();
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (devices[i].usable) usable_.push_back(i);
    }
  }

  // Runs `check(index, info)` for each device.
  template <class Check>
  void on_each_device(Check check) {
    const auto devices = backend_.devices();
    for (std::size_t i : usable_) {
      SCOPED_TRACE(devices[i].name);
      check(i, devices[i]);
    }
  }

  // One for all tests of a process: after thirty instances or so, NVIDIA's driver is not found any more.
  static VulkanBackend& shared_backend() {
    static VulkanBackend* const backend = new VulkanBackend;
    return *backend;
  }

  VulkanBackend& backend_ = shared_backend();
  std::vector<std::size_t> usable_;
};

}  // namespace vyre::test
