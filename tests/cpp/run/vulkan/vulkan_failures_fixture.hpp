// Tests in which Vulkan fails on command share the backend on such a driver, the kind of error that each failure must become, and the
// arrays of a call of the xor shader on the device.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "run/vulkan/vulkan_fixture.hpp"
#include "support/errors.hpp"
#include "support/fakes/failing_vulkan.hpp"
#include "support/xor_arrays.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::test {

using run::Executable;
using run::RunOptions;
using run::vulkan::Options;

class VulkanFailuresTest : public VulkanTest {
 protected:
  VulkanBackend backend(Options options = {}) const {
    return VulkanBackend([this] { return vulkan_.loader(); }, std::move(options));
  }

  FailingVulkan vulkan_;
};

// For a call that must be refused: were it not, it would wait for ever.
inline RunOptions in_time() { return at_most(1); }

inline void expect_busy(const DeviceInfo& info, const std::function<void()>& call) {
  EXPECT_EQ(outcome_of(call).text, "device `" + info.name +
                                       "` is still busy with a call that timed out or was interrupted. Fix: call again when that "
                                       "program has ended, or use another device.");
}

// Which kind of error a failed call must become.
inline std::string kind_wanted(VkResult result) {
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return "memory";
    case VK_ERROR_DEVICE_LOST:
      return "lost";
    default:
      return "device";
  }
}

// Two arrays that are read and one that is written, of 100 words each, on a device; all are zeros at first.
struct ResidentArrays {
  ResidentArrays(VulkanBackend& backend, std::size_t device) {
    for (auto& storage : storages) storage = backend.allocate(device, 400, true);
  }
  std::vector<run::StorageView> views() const {
    std::vector<run::StorageView> made;
    for (const auto& storage : storages) made.push_back({storage.get(), 0, 400, 100});
    return made;
  }
  void write(std::size_t slot, const Words& words) const { storages[slot]->write(0, std::as_bytes(std::span(words)), {}); }
  void read(std::size_t slot, Words& words, const RunOptions& options = {}) const {
    storages[slot]->read(0, std::as_writable_bytes(std::span(words)), options);
  }

  std::array<std::unique_ptr<run::Storage>, 3> storages;
};

}  // namespace vyre::test
