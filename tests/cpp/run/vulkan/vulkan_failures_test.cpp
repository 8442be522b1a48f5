// The Vulkan backend when Vulkan fails: each call of each function, with each error, once.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <set>
#include <utility>

#include "run/vulkan/vulkan_failures_fixture.hpp"
#include "run/vulkan/vulkan_shaders.hpp"
#include "support/errors.hpp"
#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/recording.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::test {
namespace {

// Runs the xor shader on arrays that lie on the device. Each begins where no device can bind it, so that it is copied.
void run_resident(VulkanBackend& backend, std::size_t device, Prepared& executable, bool from_data) {
  constexpr std::uint32_t kWords = 100;
  const Words given[] = {counted(kWords, 3), counted(kWords, 5)};
  std::unique_ptr<run::Storage> storages[3];
  std::vector<run::StorageView> views;
  for (std::size_t slot = 0; slot < 3; ++slot) {
    storages[slot] = backend.allocate(device, 4 + 4 * kWords, slot == 2);
    if (slot < 2) storages[slot]->write(4, std::as_bytes(std::span(given[slot])), {});
    views.push_back({storages[slot].get(), 4, 4 * kWords, kWords});
  }
  // On its own, and twice as a sequence.
  const std::shared_ptr<run::Recording> plan = executable.plan(views, {2, 1, 1});
  plan->submit(views, {}, {});
  joined(backend, {{plan, views}, {plan, views}}).submit(2, {});
  if (from_data) {
    const std::array<std::uint32_t, 3> counts = {2, 1, 1};
    const auto counted = backend.allocate(device, 16, true);
    counted->write(4, std::as_bytes(std::span(counts)), {});
    std::vector<run::StorageView> with_counts = views;
    with_counts.push_back({counted.get(), 4, 12, 3, run::StorageView::Role::Workgroups});
    executable.plan(with_counts, {9, 9, 9})->submit(with_counts, {}, {});
  }
  Words got(kWords);
  storages[2]->read(4, std::as_writable_bytes(std::span(got)), {});
  EXPECT_EQ(got, xor_of(given[0], given[1]));
}

// A recorded call, for two sets of arrays and with words that are copied to the device.
void run_recorded(VulkanBackend& backend, std::size_t device) {
  using In = run::RecordedArray::In;
  using namespace sample;
  const ir::Program sum =
      Sample().in("a").uniform("b").out("out").size(64).add(store("out", gid(0), load("a", gid(0)) + load("b", u32(0)))).make();
  const auto program = std::make_shared<const validate::ValidProgram>(valid(sum));
  constexpr std::uint64_t kBytes = 400;
  run::CallsToRecord calls;
  calls.slots = {{"a", kBytes}, {"out", kBytes}};
  calls.words_bytes = 4;
  calls.calls.push_back({program, backend.prepare(*program, device), {2, 1, 1}, {}});
  calls.calls[0].arrays = {{In::Slot, 0, 0, kBytes, 100}, {In::Words, 0, 0, 4, 1}, {In::Slot, 1, 0, kBytes, 100}};
  calls.order = {0};
  const auto recording = backend.record(std::move(calls));
  const auto a = backend.allocate(device, kBytes, true), b = backend.allocate(device, kBytes, true);
  std::uint32_t word = 5;
  for (const auto& [from, to] : {std::pair(a.get(), b.get()), std::pair(b.get(), a.get())}) {
    const run::StorageView slots[] = {{from, 0, kBytes, 100}, {to, 0, kBytes, 100}};
    recording->submit(slots, std::as_bytes(std::span(&word, 1)), {});
    word += 2;
  }
  Words got(100);
  a->read(0, std::as_writable_bytes(std::span(got)), {});
  EXPECT_EQ(got, Words(100, 12));
}

// Prepares and runs twice, the second time with other sizes, which makes other buffers; then with arrays that stay, and
// with `from_data` on a grid from data, and recorded.
void use(VulkanBackend& backend, std::size_t device, Arrays& small, Arrays& large, bool from_data = false) {
  auto executable = prepared_xor(backend, device);
  small.run(*executable);
  run_resident(backend, device, *executable, from_data);
  if (from_data) run_recorded(backend, device);
  large.run(*executable);
}

// How often these are asked depends on the device's speed; the first answer is as good as any.
const std::set<std::string> kAskedAgain = {"vkGetSemaphoreCounterValue"};

// What may fail without the caller's noticing: a compiled pipeline that cannot be kept is compiled again, and a device that is
// waited for before it is closed is closed all the same.
const std::set<std::string> kTolerated = {"vkGetPipelineCacheData", "vkDeviceWaitIdle"};

// What only profiles call. They look on: when one fails, calls go on, and the profile says what is missing.
const std::set<std::string> kOfProfiles = {"vkGetPhysicalDeviceCalibrateableTimeDomainsEXT", "vkGetCalibratedTimestampsEXT",
                                           "vkCreateQueryPool", "vkGetQueryPoolResults"};

// What only explanations of kernels call, on drivers that tell about what they compiled.
const std::set<std::string> kOfExplanations = {"vkGetPipelineExecutablePropertiesKHR", "vkGetPipelineExecutableStatisticsKHR"};

class EveryFunction : public VulkanFailuresTest {
 protected:
  void fail_each_call(const Options& options, std::size_t device) {
    for (const std::string& function : FailingVulkan::fallible()) {
      if (kOfProfiles.count(function) != 0 || kOfExplanations.count(function) != 0) continue;
      SCOPED_TRACE(function);
      vulkan_.only_waiting_tells(kAskedAgain.count(function) == 0);
      vulkan_.forget_calls();
      {
        auto backend = this->backend(options);
        Arrays small(100), large(300000);
        use(backend, device, small, large, options.always_stage);
      }
      const int calls = kAskedAgain.count(function) != 0 ? 1 : vulkan_.calls(function);
      EXPECT_GT(calls, 0) << "no longer called: take it out of functions.def";
      for (int nth = 1; nth <= calls; ++nth) {
        for (VkResult result :
             {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_DEVICE_LOST, VK_ERROR_INITIALIZATION_FAILED}) {
          SCOPED_TRACE("call " + std::to_string(nth) + " gives " + std::to_string(result));
          fail_one(options, device, function, nth, result);
          if (HasFailure()) return;
        }
      }
    }
  }

  void fail_one(const Options& options, std::size_t device, const std::string& function, int nth, VkResult result) {
    {
      auto backend = this->backend(options);
      Arrays small(100), large(300000);
      vulkan_.fail(function, nth, result);
      const auto [kind, text] = outcome_of([&] { use(backend, device, small, large, options.always_stage); });
      vulkan_.work();
      // Memory that is kept for reuse is freed before a call goes without, so the call may succeed yet.
      const bool freed = function == "vkAllocateMemory" && result == VK_ERROR_OUT_OF_DEVICE_MEMORY && kind == "none";
      if (kTolerated.count(function) != 0) {
        EXPECT_EQ(kind, "none") << text;
      } else if (freed) {
        EXPECT_TRUE(vulkan_.failed());
      } else {
        EXPECT_TRUE(vulkan_.failed());
        EXPECT_EQ(kind, kind_wanted(result)) << text;
        EXPECT_NE(text.find(function), std::string::npos) << text;
        EXPECT_NE(text.find(". Fix: "), std::string::npos) << text;
      }
      EXPECT_TRUE(small.untouched() || small.right());
      EXPECT_TRUE(kind == "none" ? large.right() : large.untouched());

      Arrays small_again(100), large_again(300000);
      use(backend, device, small_again, large_again, options.always_stage);
      EXPECT_TRUE(small_again.right());
      EXPECT_TRUE(large_again.right());
    }
    EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
  }
};

TEST_F(EveryFunction, that_fails_while_a_profile_is_open_is_a_typed_error_or_a_note_of_the_profile) {
  const auto profiled = [](VulkanBackend& backend, std::size_t device, Arrays& small, Arrays& large) {
    const auto profile = run::Profile::begin(1000);
    const auto [kind, text] = outcome_of([&] { use(backend, device, small, large); });
    profile->end({});
    return std::tuple(kind, text, profile->report());
  };
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    for (const std::string& function : FailingVulkan::fallible()) {
      const bool of_profiles = kOfProfiles.count(function) != 0;
      // The others are tried on all devices without a profile.
      if (!of_profiles && device != usable_.back()) continue;
      SCOPED_TRACE(function);
      vulkan_.only_waiting_tells(kAskedAgain.count(function) == 0);
      vulkan_.forget_calls();
      {
        auto backend = this->backend();
        Arrays small(100), large(300000);
        EXPECT_EQ(std::get<2>(profiled(backend, device, small, large)).notes, std::vector<std::string>());
      }
      const int calls = kAskedAgain.count(function) != 0 ? 1 : vulkan_.calls(function);
      for (int nth = 1; nth <= calls; ++nth) {
        for (VkResult result : {VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_DEVICE_LOST}) {
          if (!of_profiles && (nth % 2 == 0) != (result == VK_ERROR_DEVICE_LOST)) continue;
          SCOPED_TRACE("call " + std::to_string(nth) + " gives " + std::to_string(result));
          {
            auto backend = this->backend();
            Arrays small(100), large(300000);
            vulkan_.fail(function, nth, result);
            const auto [kind, text, report] = profiled(backend, device, small, large);
            vulkan_.work();
            std::string told = text;
            for (const std::string& note : report.notes) told += "\n" + note;
            if (of_profiles) {
              EXPECT_EQ(kind, "none") << text;
            } else {
              EXPECT_TRUE(kind == "none" || kind == kind_wanted(result)) << text;
            }
            if (function.ends_with("EXT")) {
              ASSERT_EQ(report.devices.size(), 1u);
              EXPECT_EQ(report.devices[0].clock, "a submission between two readings of the host's clock");
            } else if (vulkan_.failed() && kTolerated.count(function) == 0 && function != "vkAllocateMemory" && kind != "lost") {
              EXPECT_NE(told.find(function), std::string::npos) << told;
              EXPECT_NE(told.find(". Fix: "), std::string::npos) << told;
            }
            EXPECT_TRUE(small.untouched() || small.right());
            EXPECT_TRUE(kind == "none" ? large.right() : large.untouched());
            Arrays small_again(100), large_again(300000);
            use(backend, device, small_again, large_again);
            EXPECT_TRUE(small_again.right() && large_again.right());
          }
          EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
          if (HasFailure()) return;
        }
      }
    }
  });
}

TEST_F(EveryFunction, that_fails_is_a_typed_error_and_leaves_nothing_behind) {
  on_each_device([&](std::size_t device, const DeviceInfo&) { fail_each_call({}, device); });
}

TEST_F(EveryFunction, that_fails_while_staging_is_a_typed_error_too) { fail_each_call({.always_stage = true}, usable_[0]); }

// A driver's own order hides what a missing one would do, so they are counted.
TEST_F(VulkanFailuresTest, the_calls_of_a_sequence_wait_for_each_other_only_where_they_share_what_one_writes) {
  auto backend = this->backend();
  auto executable = prepared_xor(backend, usable_[0]);
  std::vector<std::unique_ptr<run::Storage>> storages;
  for (int k = 0; k < 5; ++k) storages.push_back(backend.allocate(usable_[0], 400, true));
  using Slots = std::array<std::size_t, 3>;
  const auto barriers = [&](const std::vector<Slots>& calls) {
    std::vector<run::Step> steps;
    for (const Slots& slots : calls) {
      run::Step step;
      for (const std::size_t slot : slots) step.slots.push_back({storages[slot].get(), 0, 400, 100});
      step.recording = executable->plan(step.slots, {2, 1, 1});
      steps.push_back(std::move(step));
    }
    vulkan_.forget_calls();
    const auto sequence = joined(backend, std::move(steps));
    return vulkan_.calls("vkCmdPipelineBarrier");
  };
  // The first two are read, the last is written.
  const int one = barriers({{0, 1, 2}});
  EXPECT_EQ(barriers({{0, 1, 2}, {0, 1, 3}}), one) << "both read";
  EXPECT_EQ(barriers({{0, 1, 2}, {2, 1, 3}}), one + 1) << "read what was written";
  EXPECT_EQ(barriers({{0, 1, 2}, {3, 4, 0}}), one + 1) << "written what was read";
  EXPECT_EQ(barriers({{0, 1, 2}, {3, 4, 2}}), one + 1) << "written twice";
  EXPECT_EQ(barriers({{0, 1, 2}, {2, 1, 3}, {0, 1, 4}}), one + 1) << "the last call shares nothing with the one after the barrier";
  EXPECT_EQ(barriers(std::vector<Slots>(10, {0, 1, 2})), one + 9);
}

TEST_F(VulkanFailuresTest, a_call_reads_the_array_of_its_grid_as_it_reads_any_other) {
  auto backend = this->backend();
  auto executable = prepared_xor(backend, usable_[0]);
  std::vector<std::unique_ptr<run::Storage>> storages;
  for (int k = 0; k < 6; ++k) storages.push_back(backend.allocate(usable_[0], 400, true));
  static constexpr std::size_t kNone = 9;
  // Two that are read, one that is written, and the one that has the counts.
  using Slots = std::array<std::size_t, 4>;
  const auto barriers = [&](const std::vector<Slots>& calls) {
    std::vector<run::Step> steps;
    for (const Slots& slots : calls) {
      run::Step step;
      for (std::size_t k = 0; k < 3; ++k) step.slots.push_back({storages[slots[k]].get(), 0, 400, 100});
      if (slots[3] != kNone) step.slots.push_back({storages[slots[3]].get(), 256, 12, 3, run::StorageView::Role::Workgroups});
      step.recording = executable->plan(step.slots, {2, 1, 1});
      steps.push_back(std::move(step));
    }
    vulkan_.forget_calls();
    const auto sequence = joined(backend, std::move(steps));
    EXPECT_EQ(vulkan_.calls("vkCmdDispatchIndirect"), std::ranges::count_if(calls, [](const Slots& slots) { return slots[3] != kNone; }));
    return vulkan_.calls("vkCmdPipelineBarrier");
  };
  const int one = barriers({{0, 1, 2, kNone}});
  EXPECT_EQ(barriers({{0, 1, 2, 5}}), one + 1) << "the dispatch waits for its counts";
  EXPECT_EQ(barriers({{0, 1, 2, 5}, {0, 1, 3, 5}}), one + 2) << "both read the same counts";
  EXPECT_EQ(barriers({{0, 1, 5, kNone}, {0, 1, 3, 5}}), one + 2) << "counts are read that were written";
  EXPECT_EQ(barriers({{0, 1, 3, 5}, {0, 1, 5, kNone}}), one + 2) << "counts are written that were read";
  EXPECT_EQ(barriers({{0, 1, 4, kNone}, {0, 1, 3, 5}}), one + 1) << "they share nothing that is written";
  EXPECT_EQ(barriers(std::vector<Slots>(10, {0, 1, 2, 5})), one + 10 + 9);
}

// Where bindings are updated after recording, the descriptors of all pools of a device are limited.
TEST_F(VulkanFailuresTest, a_device_without_room_for_descriptors_says_so_and_has_room_again) {
  for (const std::string function : {"vkCreateDescriptorPool", "vkAllocateDescriptorSets"}) {
    for (const VkResult result : {VK_ERROR_FRAGMENTATION, VK_ERROR_FRAGMENTED_POOL, VK_ERROR_OUT_OF_POOL_MEMORY}) {
      SCOPED_TRACE(function + " gives " + std::to_string(result));
      auto backend = this->backend();
      auto executable = prepared_xor(backend, usable_[0]);
      const ResidentArrays arrays(backend, usable_[0]);
      vulkan_.fail(function, 1, result);
      const auto [kind, said] = outcome_of([&] { executable->plan(arrays.views(), {2, 1, 1}); });
      vulkan_.work();
      EXPECT_EQ(kind, "memory");
      EXPECT_EQ(said, "device `" + backend.devices()[usable_[0]].name +
                          "` has no room for more recorded calls. Fix: drop graphs, or record fewer calls.");
      executable->plan(arrays.views(), {2, 1, 1})->submit(arrays.views(), {}, {});
    }
  }
}

// As many rounds as a word says, over 64 words.
validate::ValidProgram rounds_program() {
  using namespace sample;
  return valid(Sample()
                   .out("data")
                   .uniform("rounds")
                   .size(64)
                   .add(loop("k", u32(0), load("rounds", u32(0)), {store("data", gid(0), load("data", gid(0)) * u32(3) + var("k"))}))
                   .make());
}

// Its arrays on a device, and the call that is compiled for their words at once.
struct Rounds {
  Rounds(VulkanBackend& backend, std::size_t device) {
    run::Optimize at_once;
    at_once.everywhere = true;
    executable = prepared(backend, rounds_program(), device, at_once);
    data = backend.allocate(device, 256, false);
    rounds = backend.allocate(device, 4, false);
    write(2);
    clear();
    plan = executable->plan(views(), {1, 1, 1});
  }
  std::vector<run::StorageView> views() const { return {{data.get(), 0, 256, 64}, {rounds.get(), 0, 4, 1}}; }
  void write(std::uint32_t value) const { rounds->write(0, std::as_bytes(std::span(&value, 1)), {}); }
  void clear() const {
    const Words words(64, 7);
    data->write(0, std::as_bytes(std::span(words)), {});
  }
  void call() const { plan->submit(views(), {}, {}); }
  Words read() const {
    Words words(64);
    data->read(0, std::as_writable_bytes(std::span(words)), {});
    return words;
  }
  static Words after(std::uint32_t rounds, int calls = 1) {
    std::uint32_t word = 7;
    for (; calls > 0; --calls) {
      for (std::uint32_t k = 0; k < rounds; ++k) word = word * 3 + k;
    }
    return Words(64, word);
  }

  std::unique_ptr<Prepared> executable;
  std::unique_ptr<run::Storage> data, rounds;
  std::shared_ptr<run::Recording> plan;
};

TEST_F(VulkanFailuresTest, what_a_driver_tells_about_a_program_is_passed_on) {
  for (const std::size_t device : usable_) {
    auto backend = this->backend();
    const auto executable = prepared_xor(backend, device);
    const bool none = executable->driver_facts().empty();
    EXPECT_TRUE(none || vulkan_.calls("vkGetPipelineExecutableStatisticsKHR") > 0);
  }
  vulkan_.tell_statistics();
  for (const std::size_t device : usable_) {
    auto backend = this->backend();
    const auto executable = prepared_xor(backend, device);
    std::string told;
    for (const run::DriverFact& fact : executable->driver_facts()) told += fact.part + ' ' + fact.name + '=' + fact.value + "; ";
    EXPECT_EQ(told, "main Registers=40; main Spills=0.5; main Occupancy=true; main Ratio=-3; ");
    for (const std::string& function : kOfExplanations) {
      vulkan_.fail(function, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
      EXPECT_THROW(executable->driver_facts(), DeviceMemoryError) << function;
      vulkan_.work();
      EXPECT_EQ(executable->driver_facts().size(), 4u);
    }
  }
}

// The limit is the driver's, and no query tells it.
TEST_F(VulkanFailuresTest, a_driver_that_does_not_compile_much_private_memory_is_a_limit) {
  const auto program = [](std::uint32_t elements) {
    using namespace sample;
    return valid(
        Sample().out("out").own("mine", elements).add({store("mine", gid(0), u32(1)), store("out", u32(0), load("mine", gid(1)))}).make());
  };
  for (const auto& [elements, wanted] : {std::pair{4096u, "capability"}, {1024u, "device"}}) {
    SCOPED_TRACE(elements);
    auto backend = this->backend();
    prepared_xor(backend, usable_[0]);  // opens the device, whose probes are compiled too
    vulkan_.fail("vkCreateComputePipelines", 1, VK_ERROR_INITIALIZATION_FAILED);
    const validate::ValidProgram tried = program(elements);
    const auto [kind, said] = outcome_of([&] { backend.prepare(tried, usable_[0], {}); });
    EXPECT_EQ(kind, wanted) << said;
    vulkan_.work();
    if (elements == 4096) {
      EXPECT_EQ(said, "the driver of device `" + backend.devices()[usable_[0]].name +
                          "` does not compile a program with 16384 bytes of private memory an invocation; it does not tell how many it "
                          "allows. Fix: declare smaller private buffers, or use another device.");
    }
  }
}

TEST_F(VulkanFailuresTest, a_program_that_cannot_be_compiled_for_its_words_runs_as_it_is) {
  for (const std::string function : {"vkCreateShaderModule", "vkCreateComputePipelines"}) {
    for (const VkResult result : {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_INITIALIZATION_FAILED, VK_ERROR_DEVICE_LOST}) {
      SCOPED_TRACE(function + " gives " + std::to_string(result));
      {
        auto backend = this->backend();
        const Rounds rounds(backend, usable_[0]);
        vulkan_.fail(function, 1, result);
        const std::string kind = outcome_of([&] { rounds.call(); }).kind;
        EXPECT_TRUE(vulkan_.failed());
        vulkan_.work();
        EXPECT_EQ(kind, result == VK_ERROR_DEVICE_LOST ? "lost" : "none");
        if (result != VK_ERROR_DEVICE_LOST) {
          EXPECT_EQ(rounds.read(), Rounds::after(2));
          // It is not tried again, and other words are.
          vulkan_.forget_calls();
          rounds.clear();
          rounds.call();
          EXPECT_EQ(rounds.read(), Rounds::after(2));
          EXPECT_EQ(vulkan_.calls(function), 0);
          rounds.clear();
          rounds.write(3);
          rounds.call();
          EXPECT_GE(vulkan_.calls(function), 1);
          EXPECT_EQ(rounds.read(), Rounds::after(3));
        }
      }
      EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
    }
  }
}

// What another thread may write between the look at the words and the submission, a hook in the driver writes here.
TEST_F(VulkanFailuresTest, words_that_change_while_a_call_is_compiled_for_them_are_seen_by_the_call) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    auto backend = this->backend();
    const Rounds rounds(backend, device);
    const auto sequence = joined(backend, {{rounds.plan, rounds.views()}});
    std::uint32_t then = 0;
    bool wrote = false;
    vulkan_.change("vkCreateShaderModule", [&](void*) {
      if (!std::exchange(wrote, true)) rounds.write(then);
    });
    then = 5;
    rounds.call();
    EXPECT_TRUE(wrote);
    EXPECT_EQ(rounds.read(), Rounds::after(5));
    rounds.clear();
    rounds.write(4);
    wrote = false;
    then = 1;
    sequence.submit(3, {});
    EXPECT_TRUE(wrote);
    EXPECT_EQ(rounds.read(), Rounds::after(1, 3));
    vulkan_.change("vkCreateShaderModule", [](void*) {});
  });
}

// The first calls are submitted by the caller, those after them by a thread of the stream's own.
TEST_F(VulkanFailuresTest, a_submission_that_fails_beside_the_caller_is_told_to_whoever_reads) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    for (const VkResult result : {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_DEVICE_LOST}) {
      for (int nth = 1; nth <= 8; ++nth) {
        SCOPED_TRACE("submission " + std::to_string(nth) + " gives " + std::to_string(result));
        auto backend = this->backend({.submission_thread = true});
        auto executable = prepared_xor(backend, device);
        const ResidentArrays arrays(backend, device);
        const auto plan = executable->plan(arrays.views(), {2, 1, 1});
        vulkan_.fail("vkQueueSubmit", nth, result);
        const auto [kind, text] = outcome_of([&] {
          // The thread submits many at a time, so nobody knows how many calls it takes.
          for (int turn = 0; turn < 100'000 && !vulkan_.failed(); ++turn) plan->submit(arrays.views(), {}, {});
          Words got(100);
          arrays.read(2, got);
        });
        EXPECT_TRUE(vulkan_.failed());
        vulkan_.work();
        EXPECT_EQ(kind, kind_wanted(result)) << text;
        // A lost device may be noticed before it is known what lost it.
        if (result != VK_ERROR_DEVICE_LOST) {
          EXPECT_NE(text.find("vkQueueSubmit"), std::string::npos) << text;
        }
        Arrays again(100);
        again.run(*executable);
        EXPECT_TRUE(again.right());
      }
    }
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

// A value that was never submitted is never signalled, so a wait that already sleeps must ask whether the thread has failed.
TEST_F(VulkanFailuresTest, a_wait_that_sleeps_ends_when_the_submission_thread_fails) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    auto backend = this->backend({.submission_thread = true});
    auto executable = prepared_xor(backend, device);
    const ResidentArrays arrays(backend, device);
    const auto plan = executable->plan(arrays.views(), {2, 1, 1});
    // The device appears to be busy with the first of these, so the submission thread takes over before the last.
    vulkan_.hold_submissions(true);
    for (int turn = 0; turn < 16; ++turn) plan->submit(arrays.views(), {}, {});
    vulkan_.hold_calls("vkQueueSubmit");
    plan->submit(arrays.views(), {}, {});
    vulkan_.wait_for_held_call();
    vulkan_.fail("vkQueueSubmit", 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    RunOptions options;
    options.timeout = std::chrono::seconds(30);  // were the failure not noticed, the wait would last for ever
    // The host asks for the first time when it has stopped spinning.
    options.interrupted = [&] {
      vulkan_.release_calls();
      return false;
    };
    const std::string kind = outcome_of([&] { arrays.storages[2]->wait(options); }).kind;
    EXPECT_EQ(kind, "memory");
    vulkan_.work();
    vulkan_.hold_submissions(false);
    vulkan_.release_submissions();
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

TEST_F(VulkanFailuresTest, an_executable_goes_on_after_its_device_was_lost) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    auto backend = this->backend();
    auto executable = prepared_xor(backend, device);
    for (const char* function : {"vkQueueSubmit", "vkWaitSemaphores", "vkResetCommandPool", "vkAllocateMemory"}) {
      SCOPED_TRACE(function);
      vulkan_.only_waiting_tells(true);
      vulkan_.fail(function, 1, VK_ERROR_DEVICE_LOST);
      Arrays arrays(700000), again(64);
      EXPECT_THROW(arrays.run(*executable), DeviceLostError);
      EXPECT_TRUE(arrays.untouched());
      again.run(*executable);
      EXPECT_TRUE(again.right());
    }
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

TEST_F(VulkanFailuresTest, arrays_of_a_lost_device_say_so_and_new_ones_work) {
  on_each_device([&](std::size_t device, const DeviceInfo& info) {
    auto backend = this->backend();
    auto executable = prepared_xor(backend, device);
    const Words given = counted(100, 3);
    const auto make = [&] {
      ResidentArrays arrays(backend, device);
      for (std::size_t slot = 0; slot < 3; ++slot) arrays.write(slot, given);
      return arrays;
    };
    const ResidentArrays lost = make();
    const auto plan = executable->plan(lost.views(), {2, 1, 1});
    vulkan_.fail("vkQueueSubmit", 1, VK_ERROR_DEVICE_LOST);
    EXPECT_THROW(plan->submit(lost.views(), {}, {}), DeviceLostError);
    const std::string text = "device `" + info.name + "` was lost, and the arrays on it with it. Fix: make them anew, and call again.";
    const auto expect_lost = [&](const std::function<void()>& work) { EXPECT_EQ(message_of<DeviceLostError>([&] { work(); }), text); };
    Words got(100);
    expect_lost([&] { lost.read(2, got); });
    expect_lost([&] { lost.write(2, given); });
    expect_lost([&] { plan->submit(lost.views(), {}, {}); });
    expect_lost([&] { executable->plan(lost.views(), {2, 1, 1}); });
    const ResidentArrays again = make();
    executable->plan(again.views(), {2, 1, 1})->submit(again.views(), {}, {});
    again.read(2, got);
    EXPECT_EQ(got, Words(100, 0));
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

TEST_F(VulkanFailuresTest, memory_kept_for_reuse_is_freed_before_memory_runs_out) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    auto backend = this->backend();
    auto executable = prepared_xor(backend, device);
    // A call within a call needs a workspace beside the first one's, so that two are left for reuse.
    vulkan_.only_waiting_tells(true);
    Arrays outer(100), inner(100), large(300000);
    const BufferView views[] = {view(outer.a), view(outer.b), view(outer.out)};
    int polls = 0;
    RunOptions options;
    options.interrupted = [&] {
      if (++polls == 1) inner.run(*executable);
      return false;
    };
    executable->run(views, {2, 1, 1}, options);
    EXPECT_TRUE(outer.right() && inner.right());

    vulkan_.fail("vkAllocateMemory", 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    large.run(*executable);
    EXPECT_TRUE(vulkan_.failed());
    EXPECT_TRUE(large.right());
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

TEST_F(VulkanFailuresTest, a_call_like_the_one_before_makes_and_binds_nothing) {
  for (const bool stage : {false, true}) {
    on_each_device([&](std::size_t device, const DeviceInfo&) {
      auto backend = this->backend({.always_stage = stage});
      auto executable = prepared_xor(backend, device);
      Arrays first(100), second(100), other(200);
      first.run(*executable);
      vulkan_.forget_calls();
      second.run(*executable);
      EXPECT_TRUE(first.right() && second.right());
      for (const char* function : {"vkAllocateMemory", "vkCreateBuffer", "vkCreateCommandPool", "vkCreateDescriptorPool",
                                   "vkUpdateDescriptorSets", "vkCreateSemaphore"}) {
        EXPECT_EQ(vulkan_.calls(function), 0) << function;
      }
      EXPECT_EQ(vulkan_.calls("vkQueueSubmit"), 1);
      // Of another size it is bound anew.
      other.run(*executable);
      EXPECT_TRUE(other.right());
      EXPECT_EQ(vulkan_.calls("vkUpdateDescriptorSets"), 1);
    });
  }
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

}  // namespace
}  // namespace vyre::test
