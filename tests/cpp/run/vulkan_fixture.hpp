// What the tests of the Vulkan backend share: the devices of this machine, and arrays of words.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "vyre/run/vulkan/vulkan_backend.hpp"

namespace vyre::test {

using run::BufferView;
using run::DeviceInfo;
using run::vulkan::VulkanBackend;

using Words = std::vector<std::uint32_t>;

// Arrays are reached by their addresses and not bound.
inline constexpr run::Optimize kByAddress = [] {
  run::Optimize optimize;
  optimize.addresses = true;
  return optimize;
}();

inline BufferView view(Words& words) { return {std::as_writable_bytes(std::span(words)), static_cast<std::uint32_t>(words.size())}; }

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

inline Words xor_of(const Words& a, const Words& b) {
  Words result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = a[i] ^ b[i];
  return result;
}

inline Words counted(std::uint32_t n, std::uint32_t factor) {
  Words words(n);
  for (std::uint32_t i = 0; i < n; ++i) words[i] = i * factor + 7;
  return words;
}

}  // namespace vyre::test
