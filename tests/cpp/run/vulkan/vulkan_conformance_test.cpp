// The same bytes on every Vulkan device here as on the reference, for what the cases of vyre.conformance do not hold: arrays that are
// reached by their addresses, what a driver folds itself, memory as large as the device has, and loops longer than some drivers run
// without being told.
//
// Drivers compile slowly, so a program is a table of elements with few memory accesses.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "run/vulkan/vulkan_fixture.hpp"
#include "support/conformance.hpp"
#include "support/expected_values.hpp"
#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/base/error.hpp"
#include "vyre/emit/spirv/emit.hpp"
#include "vyre/ir/semantics.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/reference/reference.hpp"

namespace vyre {
namespace {

using namespace sample;
using run::Grid;
using test::kByAddress;
using test::kEdges;
using test::Words;

class VulkanConformance : public test::VulkanTest {
 protected:
  static std::vector<run::BufferView> views_of(const validate::ValidProgram& program, std::vector<Words>& arrays) {
    std::vector<run::BufferView> views;
    for (std::size_t slot = 0; slot < arrays.size(); ++slot) {
      const std::span<std::byte> bytes = std::as_writable_bytes(std::span(arrays[slot]));
      views.push_back({bytes, run::buffer_length(program.program().buffers()[program.bound()[slot].index], bytes.size())});
    }
    return views;
  }
  std::vector<Words> run_on(std::size_t device, const validate::ValidProgram& program, std::vector<Words> arrays, Grid grid,
                            const run::Optimize& options = {}) {
    backend_.prepare(program, device, options)->run(views_of(program, arrays), grid, {});
    return arrays;
  }

  // Leaves to the driver what the optimiser would do before it.
  std::vector<Words> run_unoptimized_on(std::size_t device, const validate::ValidProgram& program, std::vector<Words> arrays) {
    const lower::Kernel kernel = lower::lower(program, {.passes = false});
    run::vulkan::Shader shader;
    shader.words = spirv::emit(kernel);
    shader.workgroup_size = kernel.workgroup_size;
    shader.workgroup_memory_bytes = kernel.shared_bytes();
    shader.buffer_count = static_cast<std::uint32_t>(kernel.buffers.size());
    for (const lower::KernelBuffer& buffer : kernel.buffers) shader.writable.push_back(buffer.writable);
    backend_.prepare_shader(shader, device)->run(views_of(program, arrays), {}, {});
    return arrays;
  }

  // What the reference gives, having seen that every device gives the same: arrays bound, and reached by their addresses.
  std::vector<Words> agreed(const ir::Program& program, const std::vector<Words>& arrays, Grid grid = {}) {
    return agreed(test::valid(program), arrays, grid);
  }
  std::vector<Words> agreed(const validate::ValidProgram& checked, const std::vector<Words>& arrays, Grid grid = {}) {
    const std::vector<Words> expected = test::run_program(*reference_, checked, arrays, grid);
    on_each_device([&](std::size_t device, const test::DeviceInfo&) {
      EXPECT_EQ(run_on(device, checked, arrays, grid), expected);
      EXPECT_EQ(run_on(device, checked, arrays, grid, kByAddress), expected) << "by address";
    });
    return expected;
  }

  // A long loop gives the reference's bytes, or CapabilityError on a driver that is known to end loops. Never other bytes.
  void agreed_or_refused(const ir::Program& program, const std::vector<Words>& arrays, const std::vector<Words>& expected) {
    const validate::ValidProgram checked = test::valid(program);
    on_each_device([&](std::size_t device, const test::DeviceInfo&) {
      try {
        EXPECT_EQ(run_on(device, checked, arrays, {}), expected);
      } catch (const CapabilityError& error) {
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

TEST_F(VulkanConformance, every_case_gives_what_the_documents_say) {
  for (const test::ConformanceCase& one : test::conformance_cases()) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(agreed(one.program, one.given, one.grid), one.expected);
  }
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

// Edge values and then some; `random` gives the same on every machine.
Words interesting_words() {
  Words words(kEdges.begin(), kEdges.end());
  for (const std::uint32_t word : {2u, 30u, 63u, 64u, 0xFFFFu, 0x10000u, 0xAAAAAAAAu, 0x80000001u, 0xFFFFFFFEu}) words.push_back(word);
  std::uint32_t state = 1;
  for (int k = 0; k < 15; ++k) {
    state = bumped(state, 1);
    words.push_back(state >> (k % 8) * 4);
  }
  return words;
}

ExprHandle as(DataType type, ExprHandle value) { return type == DataType::U32 ? value : cast(type, std::move(value)); }

// `op` on two U32 expressions, as U32.
ExprHandle on_words(BinOp op, ExprHandle left, ExprHandle right) {
  const ir::BinOpInfo& row = ir::info(op);
  const ExprHandle value = bin(op, as(row.operands[0], std::move(left)), as(row.operands[1], std::move(right)));
  return row.result == DataType::U32 ? value : cast(DataType::U32, value);
}

// Guards are left out where a literal proves them unneeded.
TEST_F(VulkanConformance, binary_operators_agree_with_a_literal_on_either_side) {
  const Words words = interesting_words();
  const auto count = static_cast<std::uint32_t>(words.size());
  for (const ir::BinOpInfo& row : ir::kBinOps) {
    SCOPED_TRACE(row.name);
    Sample sample;
    sample.in("in").out("out").size(32).add(let("x", load("in", gid(0))));
    for (std::uint32_t k = 0; k < kEdges.size(); ++k) {
      sample.add(store("out", gid(0) + u32(2 * k * count), on_words(row.op, var("x"), u32(kEdges[k]))));
      sample.add(store("out", gid(0) + u32((2 * k + 1) * count), on_words(row.op, u32(kEdges[k]), var("x"))));
    }
    agreed(sample.make(), {words, Words(2 * kEdges.size() * count, 0xDEADBEEF)}, {(count + 31) / 32, 1, 1});
  }
}

// SwiftShader once took the signed minimum of two literals for the unsigned one.
TEST_F(VulkanConformance, drivers_fold_operators_on_literals_as_the_reference_evaluates_them) {
  for (const ir::BinOpInfo& row : ir::kBinOps) {
    SCOPED_TRACE(row.name);
    Sample sample;
    sample.out("out", DataType::Vec4U32);
    for (std::uint32_t k = 0; k < 16; ++k) {
      std::vector<ExprHandle> lanes;
      for (std::uint32_t pair = 4 * k; pair < 4 * k + 4; ++pair) {
        lanes.push_back(on_words(row.op, u32(kEdges[pair / 8]), u32(kEdges[pair % 8])));
      }
      sample.add(store("out", u32(k), pack(DataType::Vec4U32, lanes)));
    }
    const validate::ValidProgram program = test::valid(sample.make());
    const std::vector<Words> expected = test::run_program(*reference_, program, {Words(64)});
    on_each_device(
        [&](std::size_t device, const test::DeviceInfo&) { EXPECT_EQ(run_unoptimized_on(device, program, {Words(64)}), expected); });
  }
}

// Negation of a quotient is not the quotient of a negation, though optimisers are tempted.
TEST_F(VulkanConformance, negations_around_divisions_agree) {
  const Words words = interesting_words();
  const auto count = static_cast<std::uint32_t>(words.size());
  Sample sample;
  sample.in("in").out("out").size(32).add(let("x", load("in", gid(0))));
  std::uint32_t at = 0;
  for (const BinOp op : {BinOp::Div, BinOp::Mod, BinOp::SDiv, BinOp::SMod, BinOp::Mul}) {
    for (const std::uint32_t literal : {2u, 3u, 0xFFFFFFFEu}) {
      sample.add(store("out", gid(0) + u32(count * at++), un(UnOp::Negate, on_words(op, var("x"), u32(literal)))));
      sample.add(store("out", gid(0) + u32(count * at++), on_words(op, un(UnOp::Negate, var("x")), u32(literal))));
    }
  }
  agreed(sample.make(), {words, Words(count * at)});
}

TEST_F(VulkanConformance, ids_agree_where_a_grid_is_run_in_parts) {
  const auto flat = (gid(2) * u32(16) + gid(1)) * u32(16) + gid(0);
  const auto program = Sample().out("out").size(2).add(store("out", flat, (wid(2) * u32(100) + wid(1)) * u32(100) + wid(0))).make();
  Words expected(16 * 16 * 5);
  for (std::uint32_t z = 0; z < 5; ++z) {
    for (std::uint32_t y = 0; y < 7; ++y) {
      for (std::uint32_t x = 0; x < 6; ++x) expected[(z * 16 + y) * 16 + x] = (z * 100 + y) * 100 + x / 2;
    }
  }
  run::vulkan::VulkanBackend parts(run::vulkan::system_loader, {.max_group_count = std::array<std::uint32_t, 3>{2, 3, 4}});
  on_each_device([&](std::size_t device, const test::DeviceInfo&) {
    Words out(expected.size());
    const run::BufferView views[] = {test::view(out)};
    parts.prepare(test::valid(program), device)->run(views, {3, 7, 5}, {});
    EXPECT_EQ(out, expected);
  });
}

// Of arrays with five elements; none is in range twice, so that stores to them do not race.
const std::array<std::uint32_t, 8> kIndices = {0, 4, 5, 6, 1u << 30, (1u << 30) + 1, 1u << 31, 0xFFFFFFFF};

// The number as a value that an element takes.
ExprHandle value_for(DataType element, ExprHandle number) {
  const DataType type = ir::value_type(element);
  return as(type, cast(type == DataType::I32 ? DataType::I32 : DataType::U32, std::move(number)));
}

Words indices() { return Words(kIndices.begin(), kIndices.end()); }

TEST_F(VulkanConformance, loads_out_of_bounds_give_zero) {
  for (const ir::TypeInfo& type : ir::kTypes) {
    if (type.type == DataType::Bytes) continue;
    for (const ir::AccessInfo& access : ir::kAccesses) {
      if (!ir::is_bound(access.access)) continue;
      SCOPED_TRACE(std::string(type.name) + ' ' + std::string(access.name));
      Sample sample;
      sample.in("at").buffer(BufferDecl::storage("in", 7, access.access, type.type)).out("out", type.type).size(8);
      sample.add(store("out", gid(0), load("in", load("at", gid(0)))));
      Words in(5 * type.lanes);
      for (std::size_t k = 0; k < in.size(); ++k) in[k] = 1 + static_cast<std::uint32_t>(k);
      agreed(sample.make(), {indices(), in, Words(8 * type.lanes, 0xDEADBEEF)});
      // A trailing part of an element is out of bounds, and so is all of an empty array.
      if (type.lanes > 1) {
        in.resize(5 * type.lanes - 1);
        agreed(sample.make(), {indices(), in, Words(8 * type.lanes, 0xDEADBEEF)});
      }
      agreed(sample.make(), {indices(), {}, Words(8 * type.lanes, 0xDEADBEEF)});
    }
  }
}

TEST_F(VulkanConformance, stores_out_of_bounds_change_nothing) {
  for (const ir::TypeInfo& type : ir::kTypes) {
    if (type.type == DataType::Bytes) continue;
    SCOPED_TRACE(type.name);
    // Of three buffers, the one in the middle is stored to: its neighbours guard it.
    Sample sample;
    sample.in("at").out("before").out("out", type.type).out("after").size(8);
    sample.add(store("out", load("at", gid(0)), value_for(type.type, gid(0) + u32(1))));
    const Words guard(64, 0xA5A5A5A5);
    for (const std::uint32_t elements : {5u, 1u, 0u}) {
      agreed(sample.make(), {indices(), guard, Words(elements * type.lanes, 0xDEADBEEF), guard});
    }
  }
}

TEST_F(VulkanConformance, workgroup_memory_is_as_large_as_declared_and_no_larger) {
  on_each_device([&](std::size_t device, const test::DeviceInfo& info) {
    const auto limit =
        std::find_if(info.limits.begin(), info.limits.end(), [](const auto& it) { return it.first == "maxComputeSharedMemorySize"; });
    ASSERT_NE(limit, info.limits.end());
    const auto bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(limit->second, 1u << 20));
    // An odd number of words in an array of each width: 1, 2 and 4 lanes.
    const auto program = [&](std::uint32_t more) {
      const std::uint32_t words = bytes / 4 - 4 * 5 - 2 * 7 - 3 + more;
      const auto last = [&] { return u32(words - 1) - lid(0); };
      return Sample()
          .out("out")
          .shared("words", words)
          .shared("wide", 5, DataType::Vec4U32)
          .shared("pairs", 7, DataType::U64)
          .shared("truths", 3, DataType::Bool)
          .size(64)
          .add({store("words", last(), gid(0) + u32(1)), store("truths", u32(2), boolean(true)),
                store("wide", u32(4), cast(DataType::Vec4U32, u32(9))), store("pairs", u32(6), u64(30)), barrier(),
                store("out", gid(0),
                      load("words", last()) + cast(DataType::U32, load("truths", u32(2))) + lane(load("wide", u32(4)), 3) +
                          lane(load("pairs", u32(6)), 0))})
          .make();
    };
    Words expected(128);
    for (std::uint32_t k = 0; k < 128; ++k) expected[k] = k + 1 + 1 + 9 + 30;
    EXPECT_EQ(run_on(device, test::valid(program(0)), {Words(128)}, {2, 1, 1}), std::vector<Words>{expected});
    if (bytes != limit->second) return;
    try {
      run_on(device, test::valid(program(1)), {Words(128)}, {2, 1, 1});
      ADD_FAILURE() << "one word more than there is";
    } catch (const CapabilityError& error) {
      EXPECT_EQ(std::string(error.what()).find(std::to_string(bytes + 4) + " bytes of workgroup memory exceeds maxComputeSharedMemorySize"),
                0u)
          << error.what();
    }
  });
}

TEST_F(VulkanConformance, workgroup_memory_starts_as_zeros_in_every_workgroup) {
  for (const std::uint32_t count : {3u, 64u, 65u, 100u, 2048u, 2500u}) {
    SCOPED_TRACE(count);
    // Each invocation looks at its part, and leaves rubbish there for the next workgroup on the same core.
    const auto program =
        Sample()
            .out("out")
            .shared("cells", count)
            .size(64)
            .add({let("seen", u32(0)),
                  loop("k", u32(0), u32((count + 63) / 64),
                       {assign("seen", bin(BinOp::BitOr, var("seen"), load("cells", var("k") * u32(64) + lid(0))))}),
                  barrier(), loop("k", u32(0), u32((count + 63) / 64), {store("cells", var("k") * u32(64) + lid(0), u32(0xDEADBEEF))}),
                  store("out", gid(0), var("seen"))})
            .make();
    EXPECT_EQ(agreed(program, {Words(64 * 8, 0xDEADBEEF)}, {8, 1, 1})[0], Words(64 * 8, 0));
  }
}

// On an NVIDIA H200 the load of data[0] once moved out of the loop that stores to it.
TEST_F(VulkanConformance, a_load_sees_the_store_before_it) {
  const ExprHandle first = load("data", u32(0));
  const ExprHandle through = select(load("in", bin(BinOp::BitAnd, first, u32(7))), first, first);
  const auto program = Sample()
                           .in("in")
                           .out("data")
                           .out("flag", DataType::Bool)
                           .add(loop("k", bin(BinOp::BitAnd, through, u32(3)), load("in", u32(1)),
                                     {store("data", var("k"), var("k")), store("flag", u32(0), load("flag", through))}))
                           .make();
  agreed(program,
         {{5, 7, 3058133034, 4, 8, 6, 2}, {1967486684, 2, 673996613, 7, 0, 5, 244095187}, {5, 4, 2231057209, 0, 1741388036, 5, 1}});
}

}  // namespace
}  // namespace vyre
