// A large grid is run by a kernel of which an invocation does the work of four, and what is left over by the plain one: with the same
// bytes, on grids of every length, and only where that pays.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "run/vulkan/vulkan_fixture.hpp"
#include "support/fakes/failing_vulkan.hpp"
#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/fuzz/compare.hpp"
#include "vyre/fuzz/generate.hpp"
#include "vyre/fuzz/operations.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/run/gpu/grid_parts.hpp"

namespace vyre {
namespace {

using namespace sample;
using run::Grid;
using run::GridPart;
using run::GridParts;
using run::kCoarseFactor;
using test::Words;

using VulkanCoarse = test::VulkanTest;

// Every combination of what lowering does for speed, where it applies.
std::vector<run::Optimize> combinations() {
  std::vector<run::Optimize> result;
  for (std::uint32_t bits = 0; bits < 1u << run::kSpeedups.size(); ++bits) {
    run::Optimize options;
    options.everywhere = true;
    for (std::size_t row = 0; row < run::kSpeedups.size(); ++row) options.*run::kSpeedups[row].chosen = (bits >> row & 1) != 0;
    result.push_back(options);
  }
  return result;
}

TEST(GridParts, cover_each_workgroup_once) {
  for (const std::array<std::uint32_t, 3>& most : {std::array<std::uint32_t, 3>{2, 3, 4}, {1, 1, 1}, {65535, 65535, 65535}}) {
    for (const Grid grid : {Grid{1, 1, 1}, {3, 2, 2}, {4, 1, 1}, {5, 4, 2}, {17, 2, 5}, {16, 3, 1}, {0, 1, 1}, {5, 0, 1}}) {
      for (const bool coarse : {false, true}) {
        std::vector<int> seen(grid.x * grid.y * grid.z);
        const GridParts parts(grid, most, coarse);
        for (std::uint64_t index = 0; index < parts.count(); ++index) {
          const GridPart part = parts[index];
          const std::uint32_t ways = part.coarse ? kCoarseFactor : 1;
          for (std::size_t axis = 0; axis < 3; ++axis) EXPECT_LE(part.groups[axis], most[axis]);
          for (std::uint32_t z = 0; z < part.groups[2]; ++z) {
            for (std::uint32_t y = 0; y < part.groups[1]; ++y) {
              for (std::uint32_t x = 0; x < part.groups[0] * ways; ++x) {
                ++seen.at(((part.first[2] + z) * grid.y + part.first[1] + y) * grid.x + part.first[0] * ways + x);
              }
            }
          }
        }
        EXPECT_EQ(seen, std::vector<int>(seen.size(), 1)) << grid.x << " x " << grid.y << " x " << grid.z;
      }
    }
  }
}

TEST_F(VulkanCoarse, ids_agree_on_grids_of_every_length) {
  const auto flat = (gid(2) * u32(4) + gid(1)) * u32(64) + gid(0);
  const ir::Program program =
      Sample().out("out").size(3, 2).add(store("out", flat, ((wid(1) * u32(100) + wid(0)) * u32(100) + lid(0)) * u32(100) + gid(2))).make();
  const validate::ValidProgram checked = test::valid(program);
  run::vulkan::VulkanBackend in_parts(run::vulkan::system_loader,
                                      {.max_group_count = std::array<std::uint32_t, 3>{2, 1, 4}, .dispatches_per_submission = 2});
  on_each_device([&](std::size_t device, const test::DeviceInfo&) {
    run::Optimize everywhere;
    everywhere.everywhere = true;
    for (run::vulkan::VulkanBackend* backend : {&backend_, &in_parts}) {
      const auto executable = backend->prepare(checked, device, everywhere);
      for (std::uint32_t x : {1u, 3u, 4u, 5u, 8u, 11u, 19u}) {
        const Grid grid{x, 2, 2};
        Words out(64 * 4 * 2);
        const std::vector<Words> expected = test::run_reference(program, {out}, grid);
        const run::BufferView views[] = {test::view(out)};
        executable->run(views, grid, {});
        EXPECT_EQ(out, expected[0]) << x << " workgroups along x";
      }
    }
  });
}

// What every combination must agree on: guards at the edge of an array, indices far outside, division by zero, a Return in front, loops,
// data that decides, arrays that are empty.
TEST_F(VulkanCoarse, every_combination_gives_the_bytes_of_the_reference) {
  const auto in_range = [] { return gid(0) < len("out"); };
  const auto div = [](ExprHandle a, ExprHandle b) { return bin(BinOp::Div, std::move(a), std::move(b)); };
  const std::vector<List> bodies = {
      {store("out", gid(0), load("a", gid(0)) ^ load("n", gid(0)))},
      {if_(in_range(), {store("out", gid(0), div(load("a", gid(0)), load("n", gid(0) + u32(0x40000000))))},
           {store("out", gid(0) + u32(0xC0000000), u32(5))})},
      {if_(bin(BinOp::Ge, gid(0), len("out")), {return_()}), let("v", load("a", gid(0))),
       if_(var("v"), {store("out", gid(0), div(u32(1000), var("v")))}, {store("out", gid(0), u32(3))})},
      {let("sum", u32(0)), loop("k", u32(0), load("n", u32(1)), {assign("sum", var("sum") + load("a", gid(0) + var("k")))}),
       store("out", gid(0), var("sum")), assign("sum", load("out", gid(0) + u32(0))), store("out", gid(0), var("sum") * var("sum"))},
  };
  for (const List& body : bodies) {
    const ir::Program program = Sample().in("a").uniform("n").out("out").size(4).add(body).make();
    const validate::ValidProgram checked = test::valid(program);
    for (const std::uint32_t length : {0u, 1u, 31u, 36u}) {
      const std::vector<Words> given = {test::counted(length / 2, 0x9E3779B9), {2, 5, 0, 1}, test::counted(length, 3)};
      const Grid grid{9, 1, 1};
      const std::vector<Words> expected = test::run_reference(program, given, grid);
      on_each_device([&](std::size_t device, const test::DeviceInfo&) {
        for (const run::Optimize& options : combinations()) {
          std::vector<Words> arrays = given;
          std::vector<run::BufferView> views;
          for (Words& array : arrays) views.push_back(test::view(array));
          backend_.prepare(checked, device, options)->run(views, grid, {});
          EXPECT_EQ(arrays, expected) << ir::to_text(program);
        }
      });
    }
  }
}

TEST_F(VulkanCoarse, random_programs_give_the_bytes_of_the_reference_in_some_combination) {
  constexpr std::uint64_t kFirst = 4'000'000, kSeeds = 48;
  fuzz::Options options;
  options.statements = 12;
  const std::vector<run::Optimize> combinations = vyre::combinations();
  for (std::uint64_t seed = kFirst; seed < kFirst + kSeeds; ++seed) {
    options.independent = seed < kFirst + kSeeds / 2;  // most of these are coarsened
    const fuzz::Case that = fuzz::generate(seed, options);
    std::vector<fuzz::Way> ways;
    for (const std::size_t device : usable_) ways.push_back({&backend_, device, {}, combinations[seed % combinations.size()]});
    const fuzz::Judgement judgement = fuzz::judge(that, ways, fuzz::op_table());
    ASSERT_TRUE(judgement.kind == fuzz::Judgement::Kind::Agrees || judgement.kind == fuzz::Judgement::Kind::Refused)
        << "seed " << seed << ", " << judgement.way << ": " << judgement.message << "\n"
        << ir::to_text(that.program);
  }
}

class WhereItPays : public VulkanCoarse {
 protected:
  // How many pipelines a call compiles, after one of a single workgroup.
  int compiled(std::size_t device, const ir::Program& program, Grid grid, const run::Optimize& options = {}) {
    run::vulkan::VulkanBackend backend([this] { return vulkan_.loader(); });
    const auto executable = backend.prepare(test::valid(program), device, options);
    Words out(1);
    const run::BufferView views[] = {test::view(out)};
    executable->run(views, {}, {});
    vulkan_.forget_calls();
    executable->run(views, grid, {});
    const int first = vulkan_.calls("vkCreateComputePipelines");
    executable->run(views, grid, {});
    EXPECT_EQ(vulkan_.calls("vkCreateComputePipelines"), first) << "once a program";
    return first;
  }
  void take_devices_for(VkPhysicalDeviceType type) {
    vulkan_.change("vkGetPhysicalDeviceProperties",
                   [type](void* out) { static_cast<VkPhysicalDeviceProperties*>(out)->deviceType = type; });
  }

  test::FailingVulkan vulkan_;
};

constexpr Grid kLarge{(1u << 20) / 64, 1, 1}, kAlmost{(1u << 20) / 64 - 1, 1, 1};

TEST_F(WhereItPays, a_large_grid_of_a_gpu_is_coarsened_and_no_other) {
  const ir::Program program = Sample().out("out").size(64).add(store("out", gid(0), gid(0))).make();
  const std::size_t device = usable_.front();
  take_devices_for(VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU);
  EXPECT_EQ(compiled(device, program, kLarge), 1);
  EXPECT_EQ(compiled(device, program, {kLarge.x / 4, 2, 2}), 1);
  EXPECT_EQ(compiled(device, program, kAlmost), 0);
  EXPECT_EQ(compiled(device, program, {1, kLarge.x, 1}), 0) << "there is nothing to take together along x";
  EXPECT_EQ(compiled(device, program, {kLarge.x, 0, 1}), 0);
  run::Optimize off;
  off.coarsening = false;
  EXPECT_EQ(compiled(device, program, kLarge, off), 0);
  take_devices_for(VK_PHYSICAL_DEVICE_TYPE_CPU);
  EXPECT_EQ(compiled(device, program, kLarge), 0);
  run::Optimize everywhere;
  everywhere.everywhere = true;
  EXPECT_EQ(compiled(device, program, {4, 1, 1}, everywhere), 1);
  EXPECT_EQ(compiled(device, program, {3, 1, 1}, everywhere), 0);
}

TEST_F(WhereItPays, a_program_that_cannot_be_coarsened_is_tried_once) {
  const ir::Program program = Sample().out("out").size(64).add(let("old", atomic(AtomicOp::Add, "out", gid(0), u32(1)))).make();
  run::Optimize everywhere;
  everywhere.everywhere = true;
  EXPECT_EQ(compiled(usable_.front(), program, {8, 1, 1}, everywhere), 0);
}

// An invocation that did the loops of four would meet the end of what such a driver allows four times as early.
TEST_F(WhereItPays, no_loops_are_taken_together_where_the_driver_ends_them) {
  // No invocation of the grid below comes to the loop.
  const auto program = [](std::uint32_t turns) {
    const NodeHandle rounds = loop("k", u32(0), u32(turns), {store("out", gid(0), var("k"))});
    return Sample().out("out").size(64).add(if_(bin(BinOp::Eq, gid(0), u32(9999)), {rounds})).make();
  };
  run::Optimize everywhere;
  everywhere.everywhere = true;
  on_each_device([&](std::size_t device, const test::DeviceInfo&) {
    // What all copies need together is proven to be few enough.
    EXPECT_EQ(compiled(device, program(1000), {8, 1, 1}, everywhere), 1);
    const auto probes = backend_.devices()[device].probes;
    const bool ends_loops =
        std::ranges::any_of(probes, [](const auto& probe) { return probe.first == "loop_budget" && probe.second != "none"; });
    // Here only what one needs is, and here not even that.
    EXPECT_EQ(compiled(device, program(60000), {8, 1, 1}, everywhere), ends_loops ? 0 : 1);
    EXPECT_EQ(compiled(device, program(70000), {8, 1, 1}, everywhere), ends_loops ? 0 : 1);
  });
}

}  // namespace
}  // namespace vyre
