// The same bytes on every Vulkan device here as on the reference: operators and casts at edge values, out-of-bounds accesses,
// barriers, returns, workgroup memory, and loops longer than some drivers run without being told.
//
// Drivers compile slowly, so a program is a table of elements with few memory accesses.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "run/vulkan_fixture.hpp"
#include "support/expected_values.hpp"
#include "support/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/checks.hpp"
#include "vyre/run/reference/reference.hpp"

namespace vyre {
namespace {

using namespace sample;
using run::Grid;
using test::kEdges;
using test::Words;

class VulkanConformance : public test::VulkanTest {
 protected:
  std::vector<Words> run_on(std::size_t device, const validate::ValidProgram& program, std::vector<Words> arrays, Grid grid) {
    std::vector<run::BufferView> views;
    for (std::size_t slot = 0; slot < arrays.size(); ++slot) {
      const std::span<std::byte> bytes = std::as_writable_bytes(std::span(arrays[slot]));
      views.push_back({bytes, run::buffer_length(program.program().buffers()[program.bound()[slot].index], bytes.size())});
    }
    backend_.prepare(program, device)->run(views, grid, {});
    return arrays;
  }

  // What the reference gives, after seeing that every device gives the same.
  std::vector<Words> agreed(const ir::Program& program, const std::vector<Words>& arrays, Grid grid = {}) {
    const validate::ValidProgram checked = test::valid(program);
    const std::vector<Words> expected = test::run_program(*reference_, checked, arrays, grid);
    on_each_device([&](std::size_t device, const test::DeviceInfo&) { EXPECT_EQ(run_on(device, checked, arrays, grid), expected); });
    return expected;
  }

  // A long loop gives the reference's bytes, or DeviceError on a driver that is known to end loops. Never other bytes.
  void agreed_or_refused(const ir::Program& program, const std::vector<Words>& arrays, const std::vector<Words>& expected) {
    const validate::ValidProgram checked = test::valid(program);
    on_each_device([&](std::size_t device, const test::DeviceInfo&) {
      try {
        EXPECT_EQ(run_on(device, checked, arrays, {}), expected);
      } catch (const DeviceError& error) {
        const auto probes = backend_.devices()[device].probes;
        const auto budget = std::find_if(probes.begin(), probes.end(), [](const auto& probe) { return probe.first == "loop_budget"; });
        ASSERT_NE(budget, probes.end());
        EXPECT_NE(budget->second, "none") << error.what();
      }
    });
  }

  std::unique_ptr<run::Backend> reference_ = run::make_reference_backend();
};

ExprHandle bump(ExprHandle value) { return value * u32(1664525) + u32(1013904223); }

// state = bump(state), `turns` times.
std::uint32_t bumped(std::uint32_t state, std::uint32_t turns) {
  for (std::uint32_t turn = 0; turn < turns; ++turn) state = state * 1664525 + 1013904223;
  return state;
}

TEST_F(VulkanConformance, a_loop_of_70000_turns_is_right_or_refused) {
  for (const std::uint32_t size : {1u, 8u, 64u}) {
    const auto program = Sample()
                             .out("out")
                             .size(size)
                             .add({let("x", u32(0)), loop("i", u32(0), load("out", u32(0)), {assign("x", bump(var("x")))}),
                                   if_(bin(BinOp::Eq, gid(0), u32(0)), {store("out", u32(1), var("x"))})})
                             .make();
    for (const std::uint32_t turns : {100u, 65'530u, 65'536u, 65'537u, 70'000u}) {
      SCOPED_TRACE(turns);
      agreed_or_refused(program, {{turns, 7}}, {{turns, bumped(0, turns)}});
    }
  }
}

TEST_F(VulkanConformance, nested_loops_of_300_turns_are_right_or_refused) {
  const auto program =
      Sample()
          .out("out")
          .add({let("x", u32(0)),
                loop("i", u32(0), load("out", u32(0)), {loop("j", u32(0), load("out", u32(0)), {assign("x", bump(var("x")))})}),
                store("out", u32(1), var("x"))})
          .make();
  for (const std::uint32_t turns : {10u, 255u, 256u, 257u, 300u, 1000u}) {
    SCOPED_TRACE(turns);
    agreed_or_refused(program, {{turns, 7}}, {{turns, bumped(0, turns * turns)}});
  }
}

TEST_F(VulkanConformance, two_loops_of_40000_turns_are_right_or_refused) {
  const auto again = [](const char* variable) { return loop(variable, u32(0), load("out", u32(0)), {assign("x", bump(var("x")))}); };
  const auto program = Sample().out("out").add({let("x", u32(0)), again("i"), again("j"), store("out", u32(1), var("x"))}).make();
  agreed_or_refused(program, {{40'000, 7}}, {{40'000, bumped(0, 80'000)}});
}

}  // namespace
}  // namespace vyre
