// The Vulkan backend when Vulkan fails: each call of each function, with each error, once.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <set>
#include <utility>

#include "run/vulkan_fixture.hpp"
#include "run/vulkan_shaders.hpp"
#include "support/failing_vulkan.hpp"
#include "support/programs.hpp"
#include "support/run_program.hpp"
#include "support/small_procedure.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/recording.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::test {
namespace {

using run::Executable;
using run::RunOptions;
using run::vulkan::Loader;
using run::vulkan::Options;

class VulkanFailuresTest : public VulkanTest {
 protected:
  VulkanBackend backend(Options options = {}) const {
    return VulkanBackend([this] { return vulkan_.loader(); }, std::move(options));
  }

  FailingVulkan vulkan_;
};

// For a call that must be refused: were it not, it would wait for ever.
RunOptions in_time() {
  RunOptions options;
  options.timeout = std::chrono::seconds(1);
  return options;
}

void expect_busy(const DeviceInfo& info, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE();
  } catch (const DeviceError& error) {
    EXPECT_EQ(std::string(error.what()), "device `" + info.name +
                                             "` is still busy with a call that timed out or was interrupted. Fix: call again when that "
                                             "program has ended, or use another device.");
  }
}

// Which kind of error a failed call must become.
std::string kind_of(const std::exception& error) {
  if (dynamic_cast<const DeviceMemoryError*>(&error) != nullptr) return "memory";
  if (dynamic_cast<const DeviceLostError*>(&error) != nullptr) return "lost";
  if (dynamic_cast<const DispatchTimeoutError*>(&error) != nullptr) return "timeout";
  if (dynamic_cast<const DeviceError*>(&error) != nullptr) return "device";
  if (dynamic_cast<const CapabilityError*>(&error) != nullptr) return "capability";
  return error.what();
}

std::string kind_wanted(VkResult result) {
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

struct Arrays {
  Words a, b, out;
  explicit Arrays(std::uint32_t n) : a(counted(n, 3)), b(counted(n, 5)), out(n, 9) {}
  void run(Executable& executable, const RunOptions& options = {}) {
    const BufferView views[] = {view(a), view(b), view(out)};
    executable.run(views, {(static_cast<std::uint32_t>(a.size()) + 63) / 64, 1, 1}, options);
  }
  bool untouched() const {
    const auto n = static_cast<std::uint32_t>(a.size());
    return a == counted(n, 3) && b == counted(n, 5) && out == Words(n, 9);
  }
  bool right() const { return out == xor_of(a, b); }
};

// The same with arrays on the device, each beginning where no device can bind it, so that it is copied there.
void run_resident(VulkanBackend& backend, std::size_t device, Executable& executable, bool from_data) {
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
  const std::shared_ptr<run::Plan> plan = executable.plan(views, {2, 1, 1});
  plan->submit(views, {});
  backend.sequence({{plan, views}, {plan, views}})->submit(2, {});
  if (from_data) {
    const std::array<std::uint32_t, 3> counts = {2, 1, 1};
    const auto counted = backend.allocate(device, 16, true);
    counted->write(4, std::as_bytes(std::span(counts)), {});
    std::vector<run::StorageView> with_counts = views;
    with_counts.push_back({counted.get(), 4, 12, 3, run::StorageView::Role::Workgroups});
    executable.plan(with_counts, {9, 9, 9})->submit(with_counts, {});
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
  auto executable = backend.prepare_shader(xor_shader(), device);
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
      std::string kind = "none";
      std::string text;
      try {
        use(backend, device, small, large, options.always_stage);
      } catch (const std::exception& error) {
        kind = kind_of(error);
        text = error.what();
      }
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
    std::string kind = "none", text;
    try {
      use(backend, device, small, large);
    } catch (const std::exception& error) {
      kind = kind_of(error);
      text = error.what();
    }
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
  auto executable = backend.prepare_shader(xor_shader(), usable_[0]);
  std::vector<std::unique_ptr<run::Storage>> storages;
  for (int k = 0; k < 5; ++k) storages.push_back(backend.allocate(usable_[0], 400, true));
  using Slots = std::array<std::size_t, 3>;
  const auto barriers = [&](const std::vector<Slots>& calls) {
    std::vector<run::Step> steps;
    for (const Slots& slots : calls) {
      run::Step step;
      for (const std::size_t slot : slots) step.views.push_back({storages[slot].get(), 0, 400, 100});
      step.plan = executable->plan(step.views, {2, 1, 1});
      steps.push_back(std::move(step));
    }
    vulkan_.forget_calls();
    const auto sequence = backend.sequence(std::move(steps));
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
  auto executable = backend.prepare_shader(xor_shader(), usable_[0]);
  std::vector<std::unique_ptr<run::Storage>> storages;
  for (int k = 0; k < 6; ++k) storages.push_back(backend.allocate(usable_[0], 400, true));
  static constexpr std::size_t kNone = 9;
  // Two that are read, one that is written, and the one that has the counts.
  using Slots = std::array<std::size_t, 4>;
  const auto barriers = [&](const std::vector<Slots>& calls) {
    std::vector<run::Step> steps;
    for (const Slots& slots : calls) {
      run::Step step;
      for (std::size_t k = 0; k < 3; ++k) step.views.push_back({storages[slots[k]].get(), 0, 400, 100});
      if (slots[3] != kNone) step.views.push_back({storages[slots[3]].get(), 256, 12, 3, run::StorageView::Role::Workgroups});
      step.plan = executable->plan(step.views, {2, 1, 1});
      steps.push_back(std::move(step));
    }
    vulkan_.forget_calls();
    const auto sequence = backend.sequence(std::move(steps));
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
    executable = backend.prepare(rounds_program(), device, at_once);
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
  void call() const { plan->submit(views(), {}); }
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

  std::unique_ptr<Executable> executable;
  std::unique_ptr<run::Storage> data, rounds;
  std::shared_ptr<run::Plan> plan;
};

TEST_F(VulkanFailuresTest, what_a_driver_tells_about_a_program_is_passed_on) {
  for (const std::size_t device : usable_) {
    auto backend = this->backend();
    const auto executable = backend.prepare_shader(xor_shader(), device);
    const bool none = executable->driver_facts().empty();
    EXPECT_TRUE(none || vulkan_.calls("vkGetPipelineExecutableStatisticsKHR") > 0);
  }
  vulkan_.tell_statistics();
  for (const std::size_t device : usable_) {
    auto backend = this->backend();
    const auto executable = backend.prepare_shader(xor_shader(), device);
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
    backend.prepare_shader(xor_shader(), usable_[0]);  // opens the device, whose probes are compiled too
    vulkan_.fail("vkCreateComputePipelines", 1, VK_ERROR_INITIALIZATION_FAILED);
    std::string kind = "none", said;
    try {
      backend.prepare(program(elements), usable_[0], {});
    } catch (const std::exception& error) {
      kind = kind_of(error);
      said = error.what();
    }
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
        std::string kind = "none";
        try {
          rounds.call();
        } catch (const std::exception& error) {
          kind = kind_of(error);
        }
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
    const auto sequence = backend.sequence({{rounds.plan, rounds.views()}});
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
    sequence->submit(3, {});
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
        auto executable = backend.prepare_shader(xor_shader(), device);
        std::vector<std::unique_ptr<run::Storage>> storages;
        std::vector<run::StorageView> views;
        for (int k = 0; k < 3; ++k) {
          storages.push_back(backend.allocate(device, 400, true));
          views.push_back({storages.back().get(), 0, 400, 100});
        }
        const auto plan = executable->plan(views, {2, 1, 1});
        vulkan_.fail("vkQueueSubmit", nth, result);
        std::string kind = "none", text;
        try {
          // The thread submits many at a time, so nobody knows how many calls it takes.
          for (int turn = 0; turn < 100'000 && !vulkan_.failed(); ++turn) plan->submit(views, {});
          Words got(100);
          storages[2]->read(0, std::as_writable_bytes(std::span(got)), {});
        } catch (const std::exception& error) {
          kind = kind_of(error);
          text = error.what();
        }
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
    auto executable = backend.prepare_shader(xor_shader(), device);
    std::vector<std::unique_ptr<run::Storage>> storages;
    std::vector<run::StorageView> views;
    for (int k = 0; k < 3; ++k) {
      storages.push_back(backend.allocate(device, 400, true));
      views.push_back({storages.back().get(), 0, 400, 100});
    }
    const auto plan = executable->plan(views, {2, 1, 1});
    // The device appears to be busy with the first of these, so the submission thread takes over before the last.
    vulkan_.hold_submissions(true);
    for (int turn = 0; turn < 16; ++turn) plan->submit(views, {});
    vulkan_.hold_calls("vkQueueSubmit");
    plan->submit(views, {});
    vulkan_.wait_for_held_call();
    vulkan_.fail("vkQueueSubmit", 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    RunOptions options;
    options.timeout = std::chrono::seconds(30);  // were the failure not noticed, the wait would last for ever
    // The host asks for the first time when it has stopped spinning.
    options.interrupted = [&] {
      vulkan_.release_calls();
      return false;
    };
    std::string kind = "none";
    try {
      storages[2]->wait(options);
    } catch (const std::exception& error) {
      kind = kind_of(error);
    }
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
    auto executable = backend.prepare_shader(xor_shader(), device);
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

TEST_F(VulkanFailuresTest, a_call_that_timed_out_keeps_its_device_until_it_is_done) {
  on_each_device([&](std::size_t device, const DeviceInfo& info) {
    auto backend = this->backend();
    auto executable = backend.prepare_shader(xor_shader(), device);
    auto other = backend.prepare_shader(xor_shader(), usable_.back() == device ? usable_.front() : usable_.back());

    Arrays arrays(100);
    const BufferView views[] = {view(arrays.a), view(arrays.b), view(arrays.out)};
    RunOptions options;
    // More than a device takes to begin.
    options.timeout = std::chrono::milliseconds(100);
    vulkan_.hold_submissions(true);
    try {
      executable->run(views, {2, 1, 1}, options);
      FAIL();
    } catch (const DispatchTimeoutError& error) {
      EXPECT_EQ(std::string(error.what()), "the call did not end within 0.1 s on device `" + info.name +
                                               "`. Fix: raise the time-out, or give each dispatch less work.");
    }
    EXPECT_TRUE(arrays.untouched());
    vulkan_.hold_submissions(false);

    expect_busy(info, [&] { arrays.run(*executable, in_time()); });
    EXPECT_TRUE(arrays.untouched());
    EXPECT_FALSE(backend.wait_until_idle(device, 0));
    if (usable_.size() > 1) {
      Arrays elsewhere(100);
      elsewhere.run(*other);
      EXPECT_TRUE(elsewhere.right());
    }

    vulkan_.release_submissions();
    EXPECT_TRUE(backend.wait_until_idle(device, 600));
    arrays.run(*executable);
    EXPECT_TRUE(arrays.right());
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

TEST_F(VulkanFailuresTest, a_procedure_that_times_out_refuses_the_next_call_until_it_is_done) {
  on_each_device([&](std::size_t device, const DeviceInfo& info) {
    auto backend = this->backend();
    const std::vector<std::byte> right = increment(backend, device);
    auto executable = backend.prepare_shader(xor_shader(), device);
    Arrays arrays(100);
    RunOptions options;
    options.timeout = std::chrono::milliseconds(100);
    vulkan_.hold_submissions(true);
    EXPECT_THROW(increment(backend, device, options), DispatchTimeoutError);
    vulkan_.hold_submissions(false);
    expect_busy(info, [&] { increment(backend, device, in_time()); });
    expect_busy(info, [&] { arrays.run(*executable, in_time()); });
    EXPECT_TRUE(arrays.untouched());
    vulkan_.release_submissions();
    EXPECT_TRUE(backend.wait_until_idle(device, 600));
    EXPECT_EQ(increment(backend, device), right);
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

TEST_F(VulkanFailuresTest, an_interrupted_wait_keeps_the_device_until_it_is_done) {
  on_each_device([&](std::size_t device, const DeviceInfo& info) {
    auto backend = this->backend();
    auto executable = backend.prepare_shader(xor_shader(), device);
    Arrays arrays(100);
    const BufferView views[] = {view(arrays.a), view(arrays.b), view(arrays.out)};
    int polls = 0;
    RunOptions options;
    options.interrupted = [&] { return ++polls == 5; };
    vulkan_.hold_submissions(true);
    EXPECT_THROW(executable->run(views, {2, 1, 1}, options), Interrupted);
    EXPECT_EQ(polls, 5);
    vulkan_.hold_submissions(false);
    expect_busy(info, [&] { arrays.run(*executable, in_time()); });
    EXPECT_TRUE(arrays.untouched());
    vulkan_.release_submissions();
    EXPECT_TRUE(backend.wait_until_idle(device, 600));
    arrays.run(*executable);
    EXPECT_TRUE(arrays.right());
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

TEST_F(VulkanFailuresTest, a_read_that_timed_out_or_was_interrupted_can_be_made_again) {
  on_each_device([&](std::size_t device, const DeviceInfo& info) {
    auto backend = this->backend();
    auto executable = backend.prepare_shader(xor_shader(), device);
    std::unique_ptr<run::Storage> storages[3];
    std::vector<run::StorageView> views;
    for (std::uint32_t slot = 0; slot < 3; ++slot) {
      const Words given = counted(100, slot + 1);
      storages[slot] = backend.allocate(device, 400, false);
      storages[slot]->write(0, std::as_bytes(std::span(given)), {});
      views.push_back({storages[slot].get(), 0, 400, 100});
    }
    const auto plan = executable->plan(views, {2, 1, 1});
    vulkan_.hold_submissions(true);
    plan->submit(views, {});
    Words got(100, 1);
    RunOptions hasty;
    hasty.timeout = std::chrono::milliseconds(1);
    try {
      storages[2]->read(0, std::as_writable_bytes(std::span(got)), hasty);
      ADD_FAILURE();
    } catch (const DispatchTimeoutError& error) {
      EXPECT_EQ(std::string(error.what()), "the call did not end within 0.001 s on device `" + info.name +
                                               "`. Fix: raise the time-out, or give each dispatch less work.");
    }
    RunOptions interrupted;
    interrupted.interrupted = [] { return true; };
    EXPECT_THROW(storages[2]->wait(interrupted), Interrupted);
    EXPECT_EQ(got, Words(100, 1));
    vulkan_.hold_submissions(false);
    vulkan_.release_submissions();
    storages[2]->read(0, std::as_writable_bytes(std::span(got)), {});
    EXPECT_EQ(got, xor_of(counted(100, 1), counted(100, 2)));
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

TEST_F(VulkanFailuresTest, arrays_of_a_lost_device_say_so_and_new_ones_work) {
  on_each_device([&](std::size_t device, const DeviceInfo& info) {
    auto backend = this->backend();
    auto executable = backend.prepare_shader(xor_shader(), device);
    const Words given = counted(100, 3);
    const auto make = [&] {
      std::vector<std::unique_ptr<run::Storage>> storages;
      for (int slot = 0; slot < 3; ++slot) {
        storages.push_back(backend.allocate(device, 400, true));
        storages.back()->write(0, std::as_bytes(std::span(given)), {});
      }
      return storages;
    };
    const auto views_of = [](const std::vector<std::unique_ptr<run::Storage>>& storages) {
      std::vector<run::StorageView> views;
      for (const auto& storage : storages) views.push_back({storage.get(), 0, 400, 100});
      return views;
    };
    const auto lost = make();
    const auto plan = executable->plan(views_of(lost), {2, 1, 1});
    vulkan_.fail("vkQueueSubmit", 1, VK_ERROR_DEVICE_LOST);
    EXPECT_THROW(plan->submit(views_of(lost), {}), DeviceLostError);
    const std::string text = "device `" + info.name + "` was lost, and the arrays on it with it. Fix: make them anew, and call again.";
    const auto expect_lost = [&](const std::function<void()>& work) {
      try {
        work();
        ADD_FAILURE();
      } catch (const DeviceLostError& error) {
        EXPECT_EQ(error.what(), text);
      }
    };
    Words got(100);
    expect_lost([&] { lost[2]->read(0, std::as_writable_bytes(std::span(got)), {}); });
    expect_lost([&] { lost[2]->write(0, std::as_bytes(std::span(given)), {}); });
    expect_lost([&] { plan->submit(views_of(lost), {}); });
    expect_lost([&] { executable->plan(views_of(lost), {2, 1, 1}); });
    const auto again = make();
    executable->plan(views_of(again), {2, 1, 1})->submit(views_of(again), {});
    again[2]->read(0, std::as_writable_bytes(std::span(got)), {});
    EXPECT_EQ(got, Words(100, 0));
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

TEST_F(VulkanFailuresTest, a_large_call_of_a_device_with_its_own_memory_gives_the_same_bytes) {
  on_each_device([&](std::size_t device, const DeviceInfo& info) {
    auto backend = this->backend({.always_stage = true});
    auto executable = backend.prepare_shader(xor_shader(), device);
    // Chunks of staging memory, and one that is not full.
    for (const std::uint32_t count : {349'525u, 349'526u, 1'048'576u, 3'000'001u}) {
      SCOPED_TRACE(count);
      Arrays arrays(count);
      std::fill(arrays.out.begin(), arrays.out.end(), 0u);
      BufferView views[] = {view(arrays.a), view(arrays.b), view(arrays.out)};
      RunOptions options;
      options.in_place = true;
      for (const bool zeros : {false, true}) {
        views[2].zeros = zeros;
        // The last workgroup is left out, so that some of what came in goes out again.
        executable->run(views, {(count - 1) / 64, 1, 1}, options);
        Words expected = xor_of(arrays.a, arrays.b);
        std::fill(expected.begin() + (count - 1) / 64 * 64, expected.end(), 0u);
        EXPECT_EQ(arrays.out, expected);
        std::fill(arrays.out.begin(), arrays.out.end(), 0u);
      }
    }
    Arrays arrays(1'000'000);
    const BufferView views[] = {view(arrays.a), view(arrays.b), view(arrays.out)};
    RunOptions options;
    options.in_place = true;
    options.timeout = std::chrono::milliseconds(100);
    vulkan_.hold_submissions(true);
    try {
      executable->run(views, {15'625, 1, 1}, options);
      ADD_FAILURE();
    } catch (const DispatchTimeoutError& error) {
      EXPECT_EQ(std::string(error.what()), "the call did not end within 0.1 s on device `" + info.name +
                                               "`. Fix: raise the time-out, or give each dispatch less work.");
    }
    vulkan_.hold_submissions(false);
    vulkan_.release_submissions();
    options.timeout.reset();
    executable->run(views, {15'625, 1, 1}, options);
    EXPECT_TRUE(arrays.right());
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

TEST_F(VulkanFailuresTest, a_device_that_never_ends_its_work_does_not_hold_up_its_owner) {
  {
    auto backend = this->backend();
    auto executable = backend.prepare_shader(xor_shader(), usable_[0]);
    Arrays arrays(100);
    const BufferView views[] = {view(arrays.a), view(arrays.b), view(arrays.out)};
    RunOptions options;
    options.timeout = std::chrono::milliseconds(100);
    vulkan_.hold_submissions(true);
    EXPECT_THROW(executable->run(views, {2, 1, 1}, options), DispatchTimeoutError);
  }
  // Kept on purpose: closing it would wait for ever.
  EXPECT_EQ(vulkan_.calls("vkDestroyDevice"), 0);
}

TEST_F(VulkanFailuresTest, memory_kept_for_reuse_is_freed_before_memory_runs_out) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    auto backend = this->backend();
    auto executable = backend.prepare_shader(xor_shader(), device);
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
      auto executable = backend.prepare_shader(xor_shader(), device);
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

TEST_F(VulkanFailuresTest, calls_are_refused_while_a_call_that_timed_out_is_at_work) {
  for (const bool stage : {false, true}) {
    on_each_device([&](std::size_t device, const DeviceInfo& info) {
      auto backend = this->backend({.always_stage = stage});
      auto executable = backend.prepare_shader(xor_shader(), device);
      Arrays arrays(100);
      const BufferView views[] = {view(arrays.a), view(arrays.b), view(arrays.out)};
      RunOptions hasty;
      hasty.timeout = std::chrono::milliseconds(1);
      vulkan_.hold_submissions(true);
      EXPECT_THROW(executable->run(views, {2, 1, 1}, hasty), DispatchTimeoutError);
      vulkan_.hold_submissions(false);
      vulkan_.forget_calls();
      expect_busy(info, [&] { arrays.run(*executable, in_time()); });
      EXPECT_EQ(vulkan_.calls("vkQueueSubmit"), 0);
      EXPECT_FALSE(backend.wait_until_idle(device, 0.001));
      vulkan_.release_submissions();
      EXPECT_TRUE(backend.wait_until_idle(device, 600));
      arrays.run(*executable);
      EXPECT_TRUE(arrays.right());
    });
  }
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

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
                "the Vulkan loader supports Vulkan 1.0, but 1.2 is needed. Fix: update the Vulkan loader (libvulkan.so.1)."});
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
            std::vector<std::string>{"no Vulkan device was found. Fix: install the driver of the GPU, or a software one, on Debian with "
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

}  // namespace
}  // namespace vyre::test
