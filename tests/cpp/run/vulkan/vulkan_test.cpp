// The Vulkan backend on every Vulkan device of this machine.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "run/vulkan/vulkan_fixture.hpp"
#include "run/vulkan/vulkan_shaders.hpp"
#include "support/directory.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/vulkan/vulkan_backend.hpp"

namespace vyre::test {
namespace {

using run::Grid;
using run::RunOptions;
using run::vulkan::Options;
using run::vulkan::Shader;

TEST_F(VulkanTest, devices_say_what_they_are) {
  on_each_device([](std::size_t, const DeviceInfo& info) {
    EXPECT_FALSE(info.name.empty());
    EXPECT_FALSE(info.driver.empty());
    EXPECT_TRUE(info.kind == "discrete gpu" || info.kind == "integrated gpu" || info.kind == "software gpu") << info.kind;
    EXPECT_TRUE(info.reasons.empty());
    EXPECT_GT(info.limits.size(), 5u);
  });
}

TEST_F(VulkanTest, xor_gives_the_right_words) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    auto executable = backend_.prepare_shader(xor_shader(), device);
    for (std::uint32_t n : {1u, 63u, 64u, 65u, 1000u, 300000u, 5u}) {
      Words a = counted(n, 3), b = counted(n, 0x10001), out(n, 9);
      const Words a_before = a, expected = xor_of(a, b);
      const BufferView views[] = {view(a), view(b), view(out)};
      executable->run(views, {(n + 63) / 64, 1, 1}, {});
      EXPECT_EQ(out, expected) << n;
      EXPECT_EQ(a, a_before);
    }
  });
}

TEST_F(VulkanTest, staging_copies_give_the_same_words) {
  VulkanBackend staging(run::vulkan::system_loader, {.always_stage = true});
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    auto executable = staging.prepare_shader(xor_shader(), device);
    for (std::uint32_t n : {1u, 1000u, 300000u, 5u}) {
      Words a = counted(n, 3), b = counted(n, 0x10001), out(n, 9);
      const Words expected = xor_of(a, b);
      const BufferView views[] = {view(a), view(b), view(out)};
      executable->run(views, {(n + 63) / 64, 1, 1}, {});
      EXPECT_EQ(out, expected) << n;
    }
  });
}

// A device with its own memory takes a large call in place through chunks of staging memory.
TEST_F(VulkanTest, a_large_call_of_a_device_with_its_own_memory_gives_the_same_words) {
  VulkanBackend staging(run::vulkan::system_loader, {.always_stage = true});
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    auto executable = staging.prepare_shader(xor_shader(), device);
    RunOptions options;
    options.in_place = true;
    // Whole chunks, and one that is not full.
    for (const std::uint32_t count : {349'525u, 349'526u, 1'048'576u, 3'000'001u}) {
      Words a = counted(count, 3), b = counted(count, 5);
      // The last workgroup is left out, so that some of what came in goes out again.
      const std::uint32_t groups = (count - 1) / 64;
      Words expected = xor_of(a, b);
      std::fill(expected.begin() + groups * 64, expected.end(), 0u);
      for (const bool zeros : {false, true}) {
        Words out(count);
        BufferView views[] = {view(a), view(b), view(out)};
        views[2].zeros = zeros;
        executable->run(views, {groups, 1, 1}, options);
        EXPECT_EQ(out, expected) << count << (zeros ? ", zeros" : "");
      }
    }
  });
}

TEST_F(VulkanTest, a_partial_store_leaves_the_other_words_as_they_were) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    Words a = counted(128, 3), b = counted(128, 5), out = counted(128, 11);
    Words expected = xor_of(a, b);
    for (std::size_t i = 64; i < 128; ++i) expected[i] = out[i];
    const BufferView views[] = {view(a), view(b), view(out)};
    backend_.prepare_shader(xor_shader(), device)->run(views, {1, 1, 1}, {});
    EXPECT_EQ(out, expected);
  });
}

TEST_F(VulkanTest, empty_arrays_run) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    Words a, b, out;
    const BufferView views[] = {view(a), view(b), view(out)};
    backend_.prepare_shader(xor_shader(), device)->run(views, {1, 1, 1}, {});
    EXPECT_TRUE(out.empty());
  });
}

TEST_F(VulkanTest, a_program_without_buffers_runs) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    backend_.prepare_shader(assembled(0, false, {1, 1, 1}, ""), device)->run({}, {3, 1, 1}, {});
  });
}

TEST_F(VulkanTest, bytes_that_end_inside_a_word_come_back) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    // Less than the smallest buffer of a device, and more.
    for (const std::size_t bytes : {7u, 23u}) {
      Words a = counted(2, 3), b = counted(2, 5);
      std::vector<std::byte> out(bytes, std::byte{0xEE});
      const BufferView views[] = {view(a), view(b), {out, 1}};
      backend_.prepare_shader(xor_shader(), device)->run(views, {1, 1, 1}, {});
      const std::uint32_t expected = a[0] ^ b[0];
      EXPECT_EQ(std::memcmp(out.data(), &expected, 4), 0);
      for (std::size_t i = 4; i < bytes; ++i) EXPECT_EQ(out[i], std::byte{0xEE});
    }
  });
}

TEST_F(VulkanTest, zero_workgroups_run_nothing) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    auto executable = backend_.prepare_shader(count_shader({1, 1, 1}), device);
    for (Grid grid : {Grid{0, 1, 1}, Grid{1, 0, 1}, Grid{1, 1, 0}, Grid{0, 0, 0}}) {
      Words data(8, 5);
      const BufferView views[] = {view(data)};
      executable->run(views, grid, {});
      EXPECT_EQ(data, Words(8, 5));
    }
  });
}

// Each invocation of a 13 x 7 x 5 grid of workgroups of 1 x 2 x 1 adds its own id once.
void expect_split_grid(VulkanBackend& backend, std::size_t device) {
  Words data(4096, 0), expected(4096, 0);
  for (std::uint32_t z = 0; z < 5; ++z) {
    for (std::uint32_t y = 0; y < 14; ++y) {
      for (std::uint32_t x = 0; x < 13; ++x) expected[x + 16 * y + 256 * z] = x + 16 * y + 256 * z + 1;
    }
  }
  const BufferView views[] = {view(data)};
  backend.prepare_shader(count_shader({1, 2, 1}), device)->run(views, {13, 7, 5}, {});
  EXPECT_EQ(data, expected);
}

TEST_F(VulkanTest, split_grids_keep_their_ids) {
  for (std::array<std::uint32_t, 3> most : {std::array<std::uint32_t, 3>{1, 1, 1}, {4, 3, 2}, {13, 7, 5}, {5, 100, 100}, {100, 100, 1}}) {
    for (std::size_t dispatches : {std::size_t{1}, std::size_t{7}, std::size_t{1024}}) {
      for (bool stage : {false, true}) {
        VulkanBackend backend(run::vulkan::system_loader,
                              {.max_group_count = most, .dispatches_per_submission = dispatches, .always_stage = stage});
        on_each_device([&](std::size_t device, const DeviceInfo&) { expect_split_grid(backend, device); });
      }
    }
  }
}

TEST_F(VulkanTest, a_grid_beyond_the_limit_of_the_device_is_split) {
  on_each_device([&](std::size_t device, const DeviceInfo& info) {
    // Along y, where 65,535 is the usual limit: one element of `out` for each of 70,000 workgroups.
    auto executable = backend_.prepare_shader(assembled(1, false, {1, 1, 1}, invocation_ids() + R"(
%inside = OpULessThan %bool %id_y %length0
OpSelectionMerge %done None
OpBranchConditional %inside %store %done
%store = OpLabel
%p = OpAccessChain %pu32 %buffer0 %c0 %id_y
%old = OpAtomicIAdd %u32 %p %scope %c0 %id_y
OpBranch %done
%done = OpLabel)"),
                                              device);
    Words data(70000, 1), expected(70000);
    std::iota(expected.begin(), expected.end(), 1u);
    const BufferView views[] = {view(data)};
    executable->run(views, {1, 70000, 1}, {});
    EXPECT_EQ(data, expected) << info.name;
  });
}

TEST_F(VulkanTest, several_threads_share_an_executable) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    auto executable = backend_.prepare_shader(xor_shader(), device);
    std::vector<int> right(4, 0);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < right.size(); ++t) {
      threads.emplace_back([&, t] {
        for (std::uint32_t round = 0; round < 25; ++round) {
          Words a = counted(500 + round, static_cast<std::uint32_t>(t) + 1), b = counted(500 + round, round), out(500 + round);
          const BufferView views[] = {view(a), view(b), view(out)};
          executable->run(views, {9, 1, 1}, {});
          right[t] += out == xor_of(a, b) ? 1 : 0;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, std::vector<int>(4, 25));
  });
}

TEST_F(VulkanTest, executables_outlive_their_backend) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    auto backend = std::make_unique<VulkanBackend>();
    auto executable = backend->prepare_shader(xor_shader(), device);
    backend.reset();
    Words a = counted(64, 3), b = counted(64, 5), out(64);
    const BufferView views[] = {view(a), view(b), view(out)};
    executable->run(views, {1, 1, 1}, {});
    EXPECT_EQ(out, xor_of(a, b));
  });
}

TEST_F(VulkanTest, the_probe_tells_which_drivers_end_loops) {
  on_each_device([&](std::size_t device, const DeviceInfo& info) {
    backend_.prepare_shader(xor_shader(), device);
    const auto probes = backend_.devices()[device].probes;
    ASSERT_EQ(probes.size(), 4u);
    EXPECT_EQ(probes[0].first, "loop_budget");
    EXPECT_EQ(probes[1].first, "accesses_8_bits");
    EXPECT_EQ(probes[2].first, "accesses_16_bits");
    EXPECT_EQ(probes[3].first, "integers_64_bits");
    if (info.driver.find("llvmpipe Mesa 22.3") != std::string::npos) {
      EXPECT_EQ(probes[0].second, "65535");
      EXPECT_EQ(probes[3].second, "native");
    }
    if (info.name.find("SwiftShader") != std::string::npos || info.kind == "discrete gpu") {
      EXPECT_EQ(probes[0].second, "none");
    }
  });
}

// Runs the loop with each number of turns. A driver that ends loops after 65,536 turns may refuse more, and must not give other bytes.
void expect_whole_loops(VulkanBackend& backend, std::size_t device, std::initializer_list<std::uint32_t> all_turns) {
  auto executable = backend.prepare_shader(loop_shader(true), device);
  const bool ends_loops = backend.devices()[device].probes[0].second != "none";
  for (const std::uint32_t turns : all_turns) {
    Words data = {turns, 0, 0, 0};
    const BufferView views[] = {view(data)};
    if (ends_loops && turns == 70000) {
      EXPECT_THROW(executable->run(views, {1, 1, 1}, {}), CapabilityError);
      EXPECT_EQ(data, (Words{turns, 0, 0, 0}));
    } else {
      executable->run(views, {1, 1, 1}, {});
      EXPECT_EQ(data, (Words{turns, loop_result(turns), 0, 0}));
    }
  }
}

TEST_F(VulkanTest, loops_of_70000_turns_are_right_or_a_typed_error) {
  on_each_device([&](std::size_t device, const DeviceInfo&) { expect_whole_loops(backend_, device, {0, 1, 65000, 70000}); });
}

// The status word lies in host memory, also where arrays are staged.
TEST_F(VulkanTest, loops_that_a_driver_ends_are_found_in_staged_calls_too) {
  VulkanBackend staging(run::vulkan::system_loader, {.always_stage = true});
  on_each_device([&](std::size_t device, const DeviceInfo&) { expect_whole_loops(staging, device, {65000, 70000, 10}); });
}

TEST_F(VulkanTest, limits_are_named_with_the_wanted_and_the_allowed_value) {
  on_each_device([&](std::size_t device, const DeviceInfo& info) {
    const auto limit = [&](const std::string& name) {
      for (const auto& [key, value] : info.limits) {
        if (key == name) return value;
      }
      ADD_FAILURE() << name;
      return std::uint64_t{0};
    };
    const auto expect = [&](const Shader& shader, std::uint64_t wanted, const std::string& name) {
      try {
        backend_.prepare_shader(shader, device);
        ADD_FAILURE() << name;
      } catch (const CapabilityError& error) {
        const std::string text = error.what();
        EXPECT_EQ(text.rfind(std::to_string(wanted) + " ", 0), 0u) << text;
        EXPECT_NE(text.find(" exceeds " + name + " of device `" + info.name + "`, which allows " + std::to_string(limit(name)) + ". Fix: "),
                  std::string::npos)
            << text;
      }
    };
    for (std::uint32_t axis = 0; axis < 3; ++axis) {
      const std::string name = "maxComputeWorkGroupSize[" + std::to_string(axis) + "]";
      Shader shader = xor_shader();
      shader.workgroup_size = {1, 1, 1};
      shader.workgroup_size[axis] = static_cast<std::uint32_t>(limit(name)) + 1;
      expect(shader, limit(name) + 1, name);
    }
    Shader shader = xor_shader();
    const auto x = static_cast<std::uint32_t>(limit("maxComputeWorkGroupInvocations"));
    shader.workgroup_size = {static_cast<std::uint32_t>(limit("maxComputeWorkGroupSize[0]")), 2, 1};
    if (shader.workgroup_size[0] * 2 > x) expect(shader, shader.workgroup_size[0] * 2, "maxComputeWorkGroupInvocations");
    shader = xor_shader();
    shader.workgroup_memory_bytes = limit("maxComputeSharedMemorySize") + 1;
    expect(shader, shader.workgroup_memory_bytes, "maxComputeSharedMemorySize");
    shader = xor_shader();
    const std::uint64_t stage = limit("maxPerStageDescriptorStorageBuffers");
    if (stage < 100000) {
      shader.buffer_count = static_cast<std::uint32_t>(stage) + 1;
      shader.writable.assign(shader.buffer_count, false);
      expect(shader, stage + 1, "maxPerStageDescriptorStorageBuffers");
    }
    if (stage > limit("maxPushConstantsSize")) {
      shader.buffer_count = static_cast<std::uint32_t>(limit("maxPushConstantsSize"));
      shader.writable.assign(shader.buffer_count, false);
      expect(shader, 12 + 4 * limit("maxPushConstantsSize"), "maxPushConstantsSize");
    }
  });
}

TEST_F(VulkanTest, an_array_beyond_the_storage_range_is_refused) {
  on_each_device([&](std::size_t device, const DeviceInfo& info) {
    std::uint64_t range = 0;
    for (const auto& [key, value] : info.limits) {
      if (key == "maxStorageBufferRange") range = value;
    }
    auto executable = backend_.prepare_shader(xor_shader(), device);
    // The span is never read: nobody gets as far as the copy.
    Words a(1), b(1);
    const BufferView views[] = {view(a), view(b), {std::span(reinterpret_cast<std::byte*>(a.data()), range + 4), 1}};
    try {
      executable->run(views, {1, 1, 1}, {});
      FAIL();
    } catch (const CapabilityError& error) {
      EXPECT_NE(std::string(error.what()).find(" bytes of buffer `out` exceeds maxStorageBufferRange"), std::string::npos) << error.what();
    }
  });
}

TEST_F(VulkanTest, a_device_that_does_not_exist_is_an_argument_error) {
  EXPECT_THROW(backend_.prepare_shader(xor_shader(), backend_.devices().size()), ArgumentError);
}

TEST_F(VulkanTest, the_choice_among_devices_is_the_same_each_time) {
  Words data = {5, 0, 0, 0};
  const BufferView views[] = {view(data)};
  backend_.prepare_shader(loop_shader(false), std::nullopt)->run(views, {1, 1, 1}, {});
  EXPECT_EQ(data[1], loop_result(5));
  run::vulkan::Devices first(run::vulkan::system_loader, {}), second(run::vulkan::system_loader, {});
  EXPECT_EQ(first.choose(), second.choose());
}

TEST_F(VulkanTest, an_interrupted_call_leaves_the_arrays_alone) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    auto executable = backend_.prepare_shader(loop_shader(false), device);
    Words data = {10, 0, 0, 0};
    const BufferView views[] = {view(data)};
    RunOptions options;
    options.interrupted = [] { return true; };
    EXPECT_THROW(executable->run(views, {1, 1, 1}, options), Interrupted);
    EXPECT_EQ(data, (Words{10, 0, 0, 0}));
    executable->run(views, {1, 1, 1}, {});
    EXPECT_EQ(data[1], loop_result(10));
  });
}

// A good part of a second of work for a software device, in workgroups of few enough turns for every driver.
Words long_work() { return {60000, 0, 0, 0}; }
constexpr Grid kLongGrid{4000, 1, 1};

TEST_F(VulkanTest, a_call_that_really_times_out_leaves_the_arrays_alone_and_the_device_recovers) {
  on_each_device([&](std::size_t device, const DeviceInfo& info) {
    if (info.kind != "software gpu") return;  // a GPU may be done in time
    auto executable = backend_.prepare_shader(loop_shader(false), device);
    Words data = long_work();
    const BufferView views[] = {view(data)};
    EXPECT_THROW(executable->run(views, kLongGrid, at_most(0.001)), DispatchTimeoutError);
    EXPECT_EQ(data, long_work());
    EXPECT_TRUE(backend_.wait_until_idle(device, 600));
    data[0] = 10;
    executable->run(views, {1, 1, 1}, {});
    EXPECT_EQ(data[1], loop_result(10));
  });
}

TEST_F(VulkanTest, a_time_out_of_nothing_stops_the_call_before_it_starts) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    auto executable = backend_.prepare_shader(loop_shader(false), device);
    Words data = {10, 0, 0, 0};
    const BufferView views[] = {view(data)};
    EXPECT_THROW(executable->run(views, {1, 1, 1}, at_most(0)), DispatchTimeoutError);
    EXPECT_EQ(data, (Words{10, 0, 0, 0}));
    executable->run(views, {1, 1, 1}, {});
    EXPECT_EQ(data[1], loop_result(10));
  });
}

using VulkanDeathTest = VulkanTest;

TEST_F(VulkanDeathTest, the_process_ends_cleanly_while_devices_are_open_or_busy) {
  on_each_device([&](std::size_t device, const DeviceInfo& info) {
    const auto end_with_open_device = [&] {
      // A backend that lives as long as the process, as the list of backends keeps it.
      static auto& backend = *new VulkanBackend;
      auto executable = backend.prepare_shader(loop_shader(false), device);
      Words data = {10, 0, 0, 0};
      const BufferView views[] = {view(data)};
      executable->run(views, {1, 1, 1}, {});
      if (info.kind == "software gpu") {
        data[0] = long_work()[0];
        EXPECT_THROW(executable->run(views, kLongGrid, at_most(0.001)), DispatchTimeoutError);
      }
      std::exit(data[1] == loop_result(10) ? 0 : 1);
    };
    // The test runs in a process of its own from the start, because drivers do not survive a fork.
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(end_with_open_device(), testing::ExitedWithCode(0), "");
  });
}

TEST_F(VulkanTest, a_forked_child_gets_a_typed_error_and_ends) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    auto executable = backend_.prepare_shader(xor_shader(), device);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int answer = 1;
      try {
        Words a(64), b(64), out(64);
        const BufferView views[] = {view(a), view(b), view(out)};
        executable->run(views, {1, 1, 1}, {});
      } catch (const DeviceError& error) {
        answer = std::string(error.what()).find("forked") != std::string::npos ? 0 : 2;
      }
      // The child's copies must be safe to destroy.
      executable.reset();
      backend_ = VulkanBackend();
      _exit(answer);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  });
}

#if defined(__SSE__)
TEST_F(VulkanTest, the_floating_point_state_of_the_caller_is_kept) {
  const unsigned before = _mm_getcsr();
  constexpr unsigned kFlush = 0x8040;
  _mm_setcsr(before | kFlush);
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    VulkanBackend backend;
    Words data = {5, 0, 0, 0};
    const BufferView views[] = {view(data)};
    backend.prepare_shader(loop_shader(false), device)->run(views, {1, 1, 1}, {});
    EXPECT_EQ(_mm_getcsr() & kFlush, kFlush);
  });
  _mm_setcsr(before);
}
#endif

void expect_xor(const Options& options, std::size_t device) {
  VulkanBackend backend(run::vulkan::system_loader, options);
  Words a = counted(64, 3), b = counted(64, 5), out(64);
  const BufferView views[] = {view(a), view(b), view(out)};
  backend.prepare_shader(xor_shader(), device)->run(views, {1, 1, 1}, {});
  EXPECT_EQ(out, xor_of(a, b));
}

TEST_F(VulkanTest, damaged_pipeline_files_are_passed_over) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    const Directory directory;
    const Options options{.cache_directory = directory.path};
    expect_xor(options, device);
    for (const auto& file : files_below(directory.path)) {
      std::ofstream(file, std::ios::binary | std::ios::trunc) << "not a pipeline";
    }
    expect_xor(options, device);
    for (const auto& file : files_below(directory.path)) std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
    expect_xor(options, device);
  });
}

TEST_F(VulkanTest, a_cache_that_cannot_be_written_is_no_error) {
  on_each_device([&](std::size_t device, const DeviceInfo&) {
    const Directory directory;
    std::ofstream(directory.path / "file") << "a file where a directory is wanted";
    expect_xor({.cache_directory = directory.path / "file"}, device);
  });
}

}  // namespace
}  // namespace vyre::test
