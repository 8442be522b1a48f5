// Recorded commands that other arrays are bound to: recorded once where descriptor sets may be updated afterwards, anew elsewhere, and the
// same words in both cases.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "run/vulkan/vulkan_fixture.hpp"
#include "support/fakes/failing_vulkan.hpp"
#include "support/programs/programs.hpp"
#include "support/programs/small_procedure.hpp"
#include "support/run_program.hpp"
#include "support/words.hpp"
#include "vyre/run/data_grid.hpp"
#include "vyre/run/recording.hpp"
#include "vyre/run/storage.hpp"
#include "vyre/run/vulkan/api/instance.hpp"

namespace vyre::test {
namespace {

using namespace sample;
using run::RecordedArray;
using run::StorageView;
using run::vulkan::Options;
using In = RecordedArray::In;

constexpr std::uint32_t kWords = 1000;
constexpr std::uint64_t kBytes = 4 * kWords;
constexpr std::uint32_t kSets = 12;

template <class Struct>
Struct* in_chain(void* first, VkStructureType type) {
  auto* each = static_cast<VkBaseOutStructure*>(first);
  while (each != nullptr && each->sType != type) each = each->pNext;
  return reinterpret_cast<Struct*>(each);
}

// An array of a device, with these words.
struct Memory {
  Memory(VulkanBackend& backend, std::size_t device, const Words& words)
      : storage(backend.allocate(device, 4 * words.size(), true)),
        view{storage.get(), 0, 4 * words.size(), static_cast<std::uint32_t>(words.size())} {
    storage->write(0, bytes_of(words), {});
  }
  Words read() const {
    Words words(view.length);
    storage->read(0, std::as_writable_bytes(std::span(words)), {});
    return words;
  }
  std::shared_ptr<run::Storage> storage;
  StorageView view;
};

RecordedArray array(In in, std::uint32_t index, std::uint64_t bytes = kBytes) {
  return {in, index, 0, bytes, static_cast<std::uint32_t>(bytes / 4)};
}

run::CallToRecord call(VulkanBackend& backend, std::size_t device, const ir::Program& program, std::vector<RecordedArray> arrays) {
  const auto checked = std::make_shared<const validate::ValidProgram>(valid(program));
  return {checked, backend.prepare(*checked, device), {16, 1, 1}, std::move(arrays)};
}

ir::Program reversed() { return Sample().in("a").out("b").size(64).add(store("b", gid(0), load("a", len("a") - u32(1) - gid(0)))).make(); }
ir::Program added() {
  return Sample().in("a").in("b").out("c").size(64).add(store("c", gid(0), load("a", gid(0)) + load("b", gid(0)))).make();
}

// sum = a + the reversed a, by way of a kept array.
std::shared_ptr<run::Recording> palindrome(VulkanBackend& backend, std::size_t device) {
  run::CallsToRecord calls;
  calls.slots = {{"a", kBytes}, {"sum", kBytes}};
  calls.kept = {backend.allocate(device, kBytes, false)};
  calls.calls.push_back(call(backend, device, reversed(), {array(In::Slot, 0), array(In::Kept, 0)}));
  calls.calls.push_back(call(backend, device, added(), {array(In::Slot, 0), array(In::Kept, 0), array(In::Slot, 1)}));
  calls.order = {0, 1};
  return backend.record(std::move(calls));
}

Words palindrome_of(const Words& a) {
  Words sum(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) sum[k] = a[k] + a[a.size() - 1 - k];
  return sum;
}

class VulkanRebind : public VulkanTest {
 protected:
  VulkanBackend backend(Options options = {}) const {
    return VulkanBackend([this] { return vulkan_.loader(); }, std::move(options));
  }
  // Devices say from now on whether robust access holds for bindings that are updated after recording.
  void say_robust(bool robust) {
    vulkan_.change("vkGetPhysicalDeviceProperties2", [robust](void* properties) {
      in_chain<VkPhysicalDeviceDescriptorIndexingProperties>(properties, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_PROPERTIES)
          ->robustBufferAccessUpdateAfterBind = robust ? VK_TRUE : VK_FALSE;
    });
  }
  void say_no_feature() {
    vulkan_.change("vkGetPhysicalDeviceFeatures2", [](void* features) {
      in_chain<VkPhysicalDeviceVulkan12Features>(features, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)
          ->descriptorBindingStorageBufferUpdateAfterBind = VK_FALSE;
    });
  }
  void say_few_bindings() {
    vulkan_.change("vkGetPhysicalDeviceProperties2", [](void* properties) {
      auto* const indexing = in_chain<VkPhysicalDeviceDescriptorIndexingProperties>(
          properties, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_PROPERTIES);
      indexing->robustBufferAccessUpdateAfterBind = VK_TRUE;
      indexing->maxPerStageDescriptorUpdateAfterBindStorageBuffers = 3;
    });
  }
  // Whether bindings of the device can be updated after recording at all, as its driver says.
  bool offers(std::size_t device) const {
    run::vulkan::Instance instance(run::vulkan::system_loader());
    return instance.devices()[device].update_after_bind;
  }
  bool has_addresses(std::size_t device) const {
    run::vulkan::Instance instance(run::vulkan::system_loader());
    return instance.devices()[device].buffer_addresses;
  }
  // Submits for kSets sets of new arrays, each after the one before it is done. Returns how often the commands were recorded.
  std::uint64_t recorded_for_new_arrays(VulkanBackend& backend, std::size_t device) {
    const auto recording = palindrome(backend, device);
    std::vector<Memory> kept;  // memory that came back would be known to the recording
    for (std::uint32_t k = 0; k < kSets; ++k) {
      const Memory& a = kept.emplace_back(backend, device, counted(kWords, k));
      const Memory sum(backend, device, Words(kWords));
      const std::array<StorageView, 2> slots = {a.view, sum.view};
      recording->submit(slots, {}, {});
      EXPECT_EQ(sum.read(), palindrome_of(counted(kWords, k))) << k;
    }
    return recording->times_recorded();
  }

  FailingVulkan vulkan_;
};

TEST_F(VulkanRebind, records_once_for_arrays_that_come_new) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    say_robust(true);
    auto backend = this->backend();
    EXPECT_EQ(recorded_for_new_arrays(backend, device), offers(device) ? 1u : kSets);
  });
}

TEST_F(VulkanRebind, lets_the_plan_of_a_procedure_record_once) {
  const validate::ProcedureVerdict verdict = validate::validate(ir::parse_procedure(kIncrement), run::registered_ops());
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    say_robust(true);
    auto backend = this->backend();
    const std::array<run::Shape, 1> shapes = {run::Shape{kWords}};
    const auto plan = run::plan(*verdict.procedure, shapes, {}, backend, device);
    std::vector<Memory> kept;
    for (std::uint32_t k = 0; k < kSets; ++k) {
      const Memory& z = kept.emplace_back(backend, device, Words(kWords, k));
      plan->submit(std::array{z.view}, {}, {});
      EXPECT_EQ(z.read(), Words(kWords, k + 1));
    }
    EXPECT_EQ(plan->times_recorded(), offers(device) ? 1u : kSets);
  });
}

TEST_F(VulkanRebind, asks_the_driver_for_no_commands_of_new_arrays) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    say_robust(true);
    auto backend = this->backend();
    const auto recording = palindrome(backend, device);
    std::vector<Memory> kept;
    for (std::uint32_t k = 0; k < kSets; ++k) {
      const Memory& a = kept.emplace_back(backend, device, counted(kWords, k));
      const Memory& sum = kept.emplace_back(backend, device, Words(kWords));
      const std::array<StorageView, 2> slots = {a.view, sum.view};
      vulkan_.forget_calls();
      recording->submit(slots, {}, {});
      // The second submission records the commands for an idle device.
      if (k > 1) {
        EXPECT_EQ(vulkan_.calls("vkBeginCommandBuffer") == 0, offers(device)) << k;
      }
      EXPECT_GT(vulkan_.calls("vkUpdateDescriptorSets"), 0) << k;
      EXPECT_EQ(sum.read(), palindrome_of(counted(kWords, k))) << k;
    }
  });
}

TEST_F(VulkanRebind, records_anew_where_robust_access_would_be_lost) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    say_robust(false);
    auto backend = this->backend();
    EXPECT_EQ(recorded_for_new_arrays(backend, device), kSets);
  });
}

TEST_F(VulkanRebind, records_anew_on_a_device_that_does_not_offer_it) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    say_robust(true);
    say_no_feature();
    auto without = this->backend({.update_after_bind = true});
    EXPECT_EQ(recorded_for_new_arrays(without, device), kSets);
    vulkan_.change("vkGetPhysicalDeviceFeatures2", [](void*) {});
    say_few_bindings();
    auto few = this->backend({.update_after_bind = true});
    EXPECT_EQ(recorded_for_new_arrays(few, device), kSets);
  });
}

TEST_F(VulkanRebind, takes_no_descriptor_set_that_the_device_may_still_use) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    auto backend = this->backend({.update_after_bind = true});
    const auto recording = palindrome(backend, device);
    std::vector<Memory> a, sums;
    for (std::uint32_t k = 0; k < kSets; ++k) {
      a.emplace_back(backend, device, counted(kWords, k));
      sums.emplace_back(backend, device, Words(kWords));
    }
    vulkan_.only_waiting_tells(true);
    constexpr std::uint32_t kMostAtOnce = 8;
    for (std::uint32_t k = 0; k < kMostAtOnce; ++k) {
      const std::array<StorageView, 2> slots = {a[k].view, sums[k].view};
      recording->submit(slots, {}, {});
    }
    EXPECT_EQ(recording->times_recorded(), kMostAtOnce);
    for (std::uint32_t k = kMostAtOnce; k < kSets; ++k) {
      const std::array<StorageView, 2> slots = {a[k].view, sums[k].view};
      recording->submit(slots, {}, {});
    }
    vulkan_.only_waiting_tells(false);
    EXPECT_EQ(recording->times_recorded(), offers(device) ? kMostAtOnce : kSets);
    for (std::uint32_t k = 0; k < kSets; ++k) EXPECT_EQ(sums[k].read(), palindrome_of(counted(kWords, k))) << k;
  });
}

TEST_F(VulkanRebind, keeps_what_it_recorded_for_arrays_by_address_that_are_used_often) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    auto backend = this->backend({.max_storage_range = 0, .update_after_bind = true});
    const auto recording = palindrome(backend, device);
    const Memory often(backend, device, counted(kWords, 1)), out(backend, device, Words(kWords));
    std::vector<Memory> kept;
    const auto submit = [&](const Memory& a, const Memory& sum) {
      const std::array<StorageView, 2> slots = {a.view, sum.view};
      recording->submit(slots, {}, {});
      EXPECT_EQ(sum.read(), palindrome_of(a.read()));
    };
    for (std::uint32_t k = 0; k < kSets; ++k) {
      submit(kept.emplace_back(backend, device, counted(kWords, k)), Memory(backend, device, Words(kWords)));
      submit(often, out);
    }
    // Commands name the addresses, so each set of arrays that comes new needs its own; a device without addresses binds them.
    EXPECT_EQ(recording->times_recorded(), has_addresses(device) || !offers(device) ? kSets + 1 : 1u);
  });
}

TEST_F(VulkanRebind, reads_the_counts_of_a_grid_from_arrays_that_come_new) {
  const ir::Program touch = Sample().out("seen").size(64).add(store("seen", gid(0), load("seen", gid(0)) + u32(1))).make();
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    auto backend = this->backend({.update_after_bind = true});
    run::CallsToRecord calls;
    calls.slots = {{"counts", run::kCountsBytes}, {"seen", kBytes}};
    RecordedArray counts = array(In::Slot, 0, run::kCountsBytes);
    counts.role = StorageView::Role::Workgroups;
    calls.calls.push_back(call(backend, device, touch, {array(In::Slot, 1), counts}));
    calls.order = {0};
    const auto recording = backend.record(std::move(calls));
    std::vector<Memory> kept;
    for (std::uint32_t groups = 0; groups < kSets; ++groups) {
      const Memory& given = kept.emplace_back(backend, device, Words{groups, 1, 1});
      const Memory seen(backend, device, Words(kWords));
      const std::array<StorageView, 2> slots = {given.view, seen.view};
      recording->submit(slots, {}, {});
      Words expected(kWords);
      std::fill_n(expected.begin(), 64 * groups, 1);
      EXPECT_EQ(seen.read(), expected) << groups;
    }
    EXPECT_EQ(recording->times_recorded(), offers(device) ? 1u : kSets);
  });
}

}  // namespace
}  // namespace vyre::test
