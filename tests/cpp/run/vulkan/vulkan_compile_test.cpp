// A driver's compiler takes as long as it takes; whoever waits for it does not.

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

#include "glslang/SPIRV/spirv.hpp"
#include "run/vulkan/vulkan_fixture.hpp"
#include "run/vulkan/vulkan_shaders.hpp"
#include "support/errors.hpp"
#include "support/fakes/failing_vulkan.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/text/parse.hpp"
#include "vyre/ops/standard.hpp"
#include "vyre/run/vulkan/compile/translate.hpp"

namespace vyre::test {
namespace {

using run::Executable;
using run::RunOptions;

constexpr const char* kCompile = "vkCreateComputePipelines";

class VulkanCompile : public VulkanTest {
 protected:
  // A compile that was left behind calls this Vulkan.
  void TearDown() override {
    vulkan_.release_calls();
    vulkan_.wait_until_all_is_destroyed();
  }
  // The device is open, and has compiled its probe.
  VulkanBackend opened(std::size_t device) {
    VulkanBackend backend([this] { return vulkan_.loader(); });
    backend.prepare_shader(loop_shader(false), device);
    return backend;
  }
  // For a call whose caller leaves once the driver has begun.
  RunOptions until_it_compiles() {
    RunOptions options;
    options.interrupted = [this] { return vulkan_.held_calls() > 0; };
    return options;
  }
  static RunOptions patient() {
    RunOptions options;
    options.interrupted = [] { return false; };
    return options;
  }
  static void expect_xor(Executable& executable) {
    Words a = counted(64, 3), b = counted(64, 5), out(64, 9);
    const BufferView views[] = {view(a), view(b), view(out)};
    executable.run(views, {1, 1, 1}, {});
    EXPECT_EQ(out, xor_of(a, b));
  }

  FailingVulkan vulkan_;
};

TEST(VulkanTranslate, a_branch_that_a_literal_decides_does_not_reach_the_driver) {
  const char* text =
      "vyre 1\nworkgroup_size 4 1 1\nbuffer a: read_write u32 binding 0\n\n"
      "if 1 {\n  if a[gid.x] {\n    return\n  }\n}\nif 2 < 1 {\n  a[0] = 5\n}\na[gid.x] = 7\n";
  const validate::Verdict verdict = validate::validate(ir::parse(text), ops::standard_ops());
  const auto branches = [&](bool passes) {
    run::Optimize optimize;
    optimize.passes = passes;
    const std::vector<std::uint32_t> words = run::vulkan::translate(*verdict.program, {}, optimize).words;
    std::size_t count = 0;
    for (std::size_t at = 5; at < words.size(); at += words[at] >> 16) count += (words[at] & 0xFFFF) == spv::OpBranchConditional;
    return count;
  };
  EXPECT_EQ(branches(false), branches(true));
}

TEST_F(VulkanCompile, a_time_out_holds_while_the_driver_compiles_and_a_later_call_takes_what_it_made) {
  on_each_device([&](std::size_t device, const DeviceInfo& info) {
    VulkanBackend backend = opened(device);
    vulkan_.forget_calls();
    vulkan_.hold_calls(kCompile);
    const Outcome outcome = outcome_of([&] { backend.prepare_shader(xor_shader(), device, at_most(0.05)); });
    EXPECT_EQ(outcome.kind, "timeout");
    EXPECT_EQ(outcome.text,
              "the driver of device `" + info.name +
                  "` did not compile the program within 0.05 s, and goes on. Fix: raise the time-out, or give each dispatch less work.");
    // What the sentence says to do: while it is still compiled, and when it is done.
    auto second = std::async(std::launch::async, [&] { return backend.prepare_shader(xor_shader(), device, patient()); });
    vulkan_.wait_for_held_call();
    vulkan_.release_calls();
    expect_xor(*second.get());
    expect_xor(*backend.prepare_shader(xor_shader(), device, at_most(600)));
    EXPECT_EQ(vulkan_.calls(kCompile), 1);
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

TEST_F(VulkanCompile, an_interruption_holds_while_the_driver_compiles) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    VulkanBackend backend = opened(device);
    vulkan_.hold_calls(kCompile);
    EXPECT_THROW(backend.prepare_shader(xor_shader(), device, until_it_compiles()), Interrupted);
    vulkan_.release_calls();
    expect_xor(*backend.prepare_shader(xor_shader(), device, patient()));
  });
}

// The backend is gone before its driver is done: the device stays until then.
TEST_F(VulkanCompile, a_backend_may_go_while_its_driver_compiles) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    {
      VulkanBackend backend = opened(device);
      vulkan_.hold_calls(kCompile);
      EXPECT_THROW(backend.prepare_shader(xor_shader(), device, until_it_compiles()), Interrupted);
    }
    EXPECT_EQ(vulkan_.held_calls(), 1);
    EXPECT_NE(vulkan_.leaks(), std::vector<std::string>());
    vulkan_.release_calls();
    vulkan_.wait_until_all_is_destroyed();
  });
  EXPECT_EQ(vulkan_.leaks(), std::vector<std::string>());
}

TEST_F(VulkanCompile, another_program_is_compiled_and_run_meanwhile) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    VulkanBackend backend = opened(device);
    auto executable = backend.prepare_shader(xor_shader(), device, patient());
    vulkan_.hold_calls(kCompile);
    EXPECT_THROW(backend.prepare_shader(loop_shader(true), device, until_it_compiles()), Interrupted);
    expect_xor(*executable);
    vulkan_.release_calls();
  });
}

TEST_F(VulkanCompile, what_fails_on_the_compilers_thread_is_the_callers_error) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    VulkanBackend backend = opened(device);
    vulkan_.fail(kCompile, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    EXPECT_THROW(backend.prepare_shader(xor_shader(), device, patient()), DeviceMemoryError);
    EXPECT_TRUE(vulkan_.failed());
    vulkan_.work();
    expect_xor(*backend.prepare_shader(xor_shader(), device, patient()));
  });
  // The compiler's thread may be the last owner of the device.
  vulkan_.wait_until_all_is_destroyed();
}

// Each that is left behind takes memory.
TEST_F(VulkanCompile, only_so_many_compiles_are_left_behind) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    VulkanBackend backend = opened(device);
    vulkan_.hold_calls(kCompile);
    constexpr std::uint32_t kMost = 8;
    for (std::uint32_t k = 0; k < kMost; ++k) {
      RunOptions options;
      options.interrupted = [&] { return vulkan_.held_calls() > static_cast<int>(k); };
      EXPECT_THROW(backend.prepare_shader(count_shader({k + 1, 1, 1}), device, options), Interrupted);
    }
    EXPECT_THROW(backend.prepare_shader(xor_shader(), device, at_most(0.05)), DispatchTimeoutError);
    EXPECT_EQ(vulkan_.held_calls(), static_cast<int>(kMost));
    vulkan_.release_calls();
    expect_xor(*backend.prepare_shader(xor_shader(), device, patient()));
  });
}

}  // namespace
}  // namespace vyre::test
