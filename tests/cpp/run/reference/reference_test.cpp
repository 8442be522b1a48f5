// What the reference must do beyond the table of expected values: size, limits, time, and what goes wrong at run time.
#include "vyre/run/reference/reference.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <ctime>
#include <numeric>

#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/programs/sample_programs.hpp"
#include "support/run_program.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/registry.hpp"

namespace vyre::test {
namespace {

using ir::AtomicOp;
using ir::BinOp;
using ir::BufferDecl;
using ir::DataType;
using ir::ExprHandle;
using ir::NodeHandle;
namespace expr = ir::expr;
namespace node = ir::node;

ExprHandle lit(std::uint32_t value) { return expr::u32(value); }
ExprHandle add(ExprHandle a, ExprHandle b) { return expr::binary(BinOp::Add, std::move(a), std::move(b)); }
ExprHandle lt(ExprHandle a, ExprHandle b) { return expr::binary(BinOp::Lt, std::move(a), std::move(b)); }

ir::Program with_out(std::vector<NodeHandle> body, ir::WorkgroupSize size = {1, 1, 1}) {
  return ir::make_program({BufferDecl::read_write("out", 0, DataType::U32)}, size, body);
}

// Of the processor: how busy the machine is does not count.
double seconds(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

TEST(Reference, xors_two_arrays) {
  const ir::Program program = xor_program();
  Words left(100), right(100), expected(100);
  std::iota(left.begin(), left.end(), 5);
  std::iota(right.begin(), right.end(), 1000);
  for (std::size_t k = 0; k < 100; ++k) expected[k] = left[k] ^ right[k];
  const std::uint32_t size = program.workgroup_size()[0];
  EXPECT_EQ(run_reference(program, {left, right, Words(100)}, {(100 + size - 1) / size, 1, 1})[2], expected);
}

TEST(Reference, loops_70000_turns) {
  const ir::Program program =
      with_out({node::let("n", lit(0)), node::loop("k", lit(0), lit(70'000), {node::assign("n", add(expr::var("n"), lit(1)))}),
                node::store("out", lit(0), expr::var("n"))});
  EXPECT_EQ(run_reference(program, {{0}})[0][0], 70'000u);
}

TEST(Reference, loops_300_by_300) {
  const ir::Program program = with_out(
      {node::let("n", lit(0)),
       node::loop("j", lit(0), lit(300), {node::loop("k", lit(0), lit(300), {node::assign("n", add(expr::var("n"), expr::var("k")))})}),
       node::store("out", lit(0), expr::var("n"))});
  EXPECT_EQ(run_reference(program, {{0}})[0][0], 300u * (299u * 300u / 2u));
}

TEST(Reference, loops_twice_40000_turns) {
  const NodeHandle loop = node::loop("k", lit(0), lit(40'000), {node::assign("n", add(expr::var("n"), lit(1)))});
  const ir::Program program = with_out({node::let("n", lit(0)), loop, loop, node::store("out", lit(0), expr::var("n"))});
  EXPECT_EQ(run_reference(program, {{0}})[0][0], 80'000u);
}

TEST(Reference, runs_a_chain_of_99000_nodes) {
  EXPECT_LT(seconds([] { run_reference(chain(98'000), {{0}}); }), 2.0 * patience());
}

TEST(Reference, runs_64_doublings_in_65_steps) {
  EXPECT_LT(seconds([] { run_reference(doublings(64), {{0}}); }), 2.0 * patience());
}

TEST(Reference, sums_a_chain) {
  ExprHandle sum = lit(0);
  const ExprHandle one = expr::load("in", lit(0));
  for (int k = 0; k < 90'000; ++k) sum = add(std::move(sum), one);
  const NodeHandle body[] = {node::store("out", lit(0), sum)};
  const ir::Program program =
      ir::make_program({BufferDecl::read("in", 0, DataType::U32), BufferDecl::read_write("out", 1, DataType::U32)}, {1, 1, 1}, body);
  EXPECT_EQ(run_reference(program, {{3}, {0}})[1][0], 270'000u);
}

TEST(Reference, prepares_wide_programs_in_no_time) {
  const ExprHandle zero = lit(0);
  std::vector<NodeHandle> ifs(50'000, node::if_(zero, {}));
  std::vector<NodeHandle> stores(33'000, node::store("out", zero, zero));
  std::vector<NodeHandle> literals;
  for (std::uint32_t k = 0; k < 49'000; ++k) literals.push_back(node::let("x" + std::to_string(k), lit(k)));
  EXPECT_LT(seconds([&] {
              for (const std::vector<NodeHandle>& body : {ifs, stores, literals}) run_reference(with_out(body), {{0}});
            }),
            2.0 * patience());
}

TEST(Reference, passes_a_million_messages_between_two_invocations) {
  const ExprHandle other = expr::binary(BinOp::BitXor, expr::lid(0), lit(1));
  const ir::Program program =
      ir::make_program({BufferDecl::read_write("mail", 0, DataType::U32), BufferDecl::workgroup("shared", 2, DataType::U32),
                        BufferDecl::read_write("out", 1, DataType::U32)},
                       {2, 1, 1},
                       std::vector{node::let("value", expr::lid(0)),
                                   node::loop("round", lit(0), lit(1'000'000),
                                              {node::store("mail", expr::lid(0), expr::var("value")),
                                               node::store("shared", expr::lid(0), expr::var("value")), node::barrier(),
                                               node::assign("value", add(lit(1), expr::binary(BinOp::BitAnd, expr::load("mail", other),
                                                                                              expr::load("shared", other)))),
                                               node::barrier()}),
                                   node::store("out", expr::lid(0), expr::var("value"))});
  // After an even number of rounds each holds its own first value, counted up once a round.
  EXPECT_EQ(run_reference(program, {{0, 0}, {0, 0}})[1], (Words{1'000'000, 1'000'001}));
}

TEST(Reference, evaluates_an_expression_again_in_each_statement_that_reaches_it) {
  const ExprHandle ticket = expr::atomic(AtomicOp::Add, "out", lit(0), {}, lit(1));
  const ir::Program program = with_out({node::store("out", lit(1), add(ticket, ticket)), node::store("out", lit(2), ticket)});
  EXPECT_EQ(run_reference(program, {{10, 0, 0}})[0], (Words{12, 20, 11}));
}

TEST(Reference, reads_a_shared_variable_in_the_scope_of_each_statement) {
  const ExprHandle x = add(expr::var("x"), lit(1));
  const ir::Program program = with_out({node::block({node::let("x", lit(10)), node::store("out", lit(0), x)}),
                                        node::block({node::let("pad", lit(7)), node::let("x", lit(20)), node::store("out", lit(1), x)})});
  EXPECT_EQ(run_reference(program, {{0, 0}})[0], (Words{11, 21}));
}

TEST(Reference, evaluates_both_branches_of_select) {
  const auto tick = [](std::uint32_t by) { return expr::atomic(AtomicOp::Add, "out", lit(0), {}, lit(by)); };
  const ir::Program program = with_out({node::store("out", lit(1), expr::select(lit(1), tick(1), tick(10)))});
  EXPECT_EQ(run_reference(program, {{0, 99}})[0], (Words{11, 0}));
}

TEST(Reference, evaluates_operands_left_to_right) {
  // compare-exchange: index, then expected, then value.
  const auto ticket = [] { return expr::atomic(AtomicOp::Add, "count", lit(0), {}, lit(1)); };
  const NodeHandle body[] = {node::store("out", ticket(), expr::select(ticket(), ticket(), ticket())),
                             node::let("old", expr::atomic(AtomicOp::CompareExchange, "out", ticket(), ticket(), ticket())),
                             node::store("out", lit(1), expr::var("old"))};
  const ir::Program program = ir::make_program(
      {BufferDecl::read_write("count", 0, DataType::U32), BufferDecl::read_write("out", 1, DataType::U32)}, {1, 1, 1}, body);
  // Tickets 0 (index), 1 (condition, true), 2 (taken), 3; then index 4, expected 5, value 6.
  EXPECT_EQ(run_reference(program, {{0}, {9, 9, 9, 9, 5}})[1], (Words{2, 5, 9, 9, 6}));
}

TEST(Reference, runs_a_grid_of_zero_workgroups) {
  const ir::Program program = with_out({node::store("out", lit(0), lit(1))});
  for (run::Grid grid : {run::Grid{0, 1, 1}, run::Grid{0xFFFFFFFF, 0, 0xFFFFFFFF}, run::Grid{1, 1, 0}}) {
    EXPECT_EQ(run_reference(program, {{7}}, grid)[0][0], 7u);
  }
}

TEST(Reference, leaves_a_trailing_part_of_an_element_alone) {
  // Two and a half elements of two words, at an odd address; BufLen is 2.
  std::vector<std::byte> host(1 + 20, std::byte{0x11});
  const std::span<std::byte> bytes = std::span(host).subspan(1);
  const NodeHandle body[] = {
      node::store("wide", lit(1), expr::pack(DataType::Vec2U32, {expr::buf_len("wide"), expr::lane(expr::load("wide", lit(2)), 0)})),
      node::store("wide", lit(2), expr::pack(DataType::Vec2U32, {lit(1), lit(1)}))};
  const ir::Program program = ir::make_program({BufferDecl::read_write("wide", 0, DataType::Vec2U32)}, {1, 1, 1}, body);
  const run::BufferView views[] = {{bytes, run::buffer_length(program.buffers()[0], bytes.size())}};
  run::make_reference_backend()->prepare(valid(program), std::nullopt)->run(views, {}, {});
  Words words(5);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  EXPECT_EQ(words, (Words{0x11111111, 0x11111111, 2, 0, 0x11111111}));
}

TEST(Reference, counts_bytes_in_padded_words) {
  const NodeHandle body[] = {node::store("out", lit(0), expr::buf_len("bytes")), node::store("out", lit(1), expr::buf_len("more"))};
  const ir::Program program =
      ir::make_program({BufferDecl::read("bytes", 0, DataType::Bytes), BufferDecl::read_write("out", 1, DataType::U32),
                        BufferDecl::read_write("more", 2, DataType::Bytes)},
                       {1, 1, 1}, body);
  std::vector<std::byte> bytes(9, std::byte{5}), more(8, std::byte{6});
  Words out(2);
  const run::BufferView views[] = {{bytes, 3}, {std::as_writable_bytes(std::span(out)), 2}, {more, 2}};
  run::make_reference_backend()->prepare(valid(program), std::nullopt)->run(views, {}, {});
  EXPECT_EQ(out, (Words{3, 2}));
  EXPECT_EQ(more, std::vector<std::byte>(8, std::byte{6}));
}

TEST(Reference, accepts_65536_invocations_and_refuses_more) {
  const auto program = [](std::uint32_t x) {
    return with_out({node::barrier(), node::let("old", expr::atomic(AtomicOp::Add, "out", lit(0), {}, lit(1))), node::barrier(),
                     node::store("out", add(lit(1), expr::gid(0)), expr::var("old"))},
                    {x, 1, 1});
  };
  const Words got = run_reference(program(65'536), {Words(65'537)})[0];
  EXPECT_EQ(got[0], 65'536u);
  EXPECT_EQ(std::accumulate(got.begin() + 1, got.end(), std::uint64_t{0}), std::uint64_t{65'535} * 65'536 / 2);
  EXPECT_EQ(message_of<CapabilityError>([&] { run_reference(program(65'537), {{0}}); }),
            "65537 invocations a workgroup exceeds the limit of invocations of the reference, which allows 65536. Fix: use a smaller "
            "workgroup_size, or use another device.");
  EXPECT_THROW(run_reference(with_out({}, {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}), {{0}}), CapabilityError);
}

TEST(Reference, accepts_256_MiB_of_workgroup_memory_and_refuses_more) {
  const auto program = [](std::uint32_t extra) {
    return ir::make_program(
        {BufferDecl::workgroup("a", (1u << 24) - 1, DataType::Vec4U32), BufferDecl::workgroup("b", 4 + extra, DataType::U32),
         BufferDecl::read_write("out", 0, DataType::U32)},
        {1, 1, 1},
        std::vector{node::store("out", lit(0), expr::lane(expr::load("a", lit((1u << 24) - 2)), 3)), node::store("b", lit(0), lit(1))});
  };
  EXPECT_EQ(run_reference(program(0), {{7}})[0][0], 0u);
  EXPECT_EQ(message_of<CapabilityError>([&] { run_reference(program(1), {{0}}); }),
            "268435460 bytes of workgroup memory exceeds the limit of workgroup memory of the reference, which allows 268435456. Fix: "
            "declare smaller workgroup buffers, or use another device.");
}

TEST(Reference, workgroup_buffers_that_nothing_accesses_take_no_memory) {
  const ir::Program program =
      ir::make_program({BufferDecl::workgroup("large", 0xFFFFFFFF, DataType::Vec4U32), BufferDecl::read_write("out", 0, DataType::U32)},
                       {1, 1, 1}, std::vector{node::store("out", lit(0), expr::buf_len("large"))});
  EXPECT_EQ(run_reference(program, {{7}})[0][0], 0xFFFFFFFFu);
}

// What validation cannot decide is decided at run time.
constexpr validate::Options kChecked{.limits = true, .uniformity = false};

TEST(Reference, finds_a_barrier_that_only_some_invocations_reach) {
  const ir::Program program = with_out({node::let("x", lit(0)), node::if_(lt(expr::lid(0), lit(2)), {node::barrier()})}, {4, 1, 1});
  EXPECT_EQ(
      message_of<DivergentBarrierError>([&] { run_reference(program, {{0}}, {}, kChecked); }),
      "barrier was reached by only part of a workgroup: invocation (0, 0, 0) waits at `entry[1].then[0]`, invocation (2, 0, 0) has run to "
      "the end of the program. Fix: move the barrier to uniform control flow.");
}

TEST(Reference, finds_invocations_that_wait_at_different_barriers) {
  const ir::Program program =
      with_out({node::if_(lt(expr::lid(0), lit(1)), {node::barrier()}, {node::let("x", lit(0)), node::barrier()})}, {2, 2, 1});
  EXPECT_EQ(
      message_of<DivergentBarrierError>([&] { run_reference(program, {{0}}, {}, kChecked); }),
      "barrier was reached by only part of a workgroup: invocation (0, 0, 0) waits at `entry[0].then[0]`, invocation (1, 0, 0) waits at "
      "`entry[0].otherwise[1]`. Fix: move the barrier to uniform control flow.");
}

TEST(Reference, finds_a_return_that_others_wait_for) {
  const ir::Program program =
      with_out({node::loop("k", lit(0), lit(4),
                           {node::if_(expr::binary(BinOp::Eq, expr::var("k"), expr::lid(0)), {node::return_()}), node::barrier()})},
               {3, 1, 1});
  EXPECT_EQ(
      message_of<DivergentBarrierError>([&] { run_reference(program, {{0}}, {}, kChecked); }),
      "barrier was reached by only part of a workgroup: invocation (0, 0, 0) has ended at `entry[0].body[0].then[0]`, invocation (1, 0, 0) "
      "waits at `entry[0].body[1]`. Fix: move the barrier to uniform control flow.");
}

TEST(Reference, accepts_a_barrier_that_all_reach_though_validation_cannot_know) {
  // All invocations load the same word of writable memory.
  const ir::Program program =
      with_out({node::if_(expr::load("out", lit(0)), {node::barrier(), node::store("out", add(lit(1), expr::lid(0)), lit(5))})}, {2, 1, 1});
  EXPECT_THROW(run_reference(program, {{1, 0, 0}}), ValidationError);
  EXPECT_EQ(run_reference(program, {{1, 0, 0}}, {}, kChecked)[0], (Words{1, 5, 5}));
}

TEST(Reference, returns_from_all_invocations_in_one_round) {
  // A uniform return in round 3 of a loop with barriers, and a divergent loop followed by a barrier.
  const ir::Program program =
      with_out({node::loop("k", lit(0), expr::lid(0), {node::store("out", expr::lid(0), add(expr::var("k"), lit(1)))}), node::barrier(),
                node::loop("k", lit(0), lit(8),
                           {node::if_(expr::binary(BinOp::Eq, expr::var("k"), lit(3)), {node::return_()}), node::barrier(),
                            node::store("out", add(expr::lid(0), lit(4)), expr::var("k"))}),
                node::store("out", lit(0), lit(99))},
               {4, 1, 1});
  EXPECT_EQ(run_reference(program, {Words(8)})[0], (Words{0, 1, 2, 3, 2, 2, 2, 2}));
}

TEST(Reference, times_out_and_leaves_the_arrays_alone) {
  const ir::Program program = with_out({node::store("out", lit(0), lit(1)), node::loop("k", lit(0), lit(0xFFFFFFFF), {})});
  Words out{7};
  const run::BufferView views[] = {{std::as_writable_bytes(std::span(out)), 1}};
  run::RunOptions options;
  options.timeout = std::chrono::milliseconds(20);
  const auto executable = run::make_reference_backend()->prepare(valid(program), std::nullopt);
  EXPECT_EQ(message_of<DispatchTimeoutError>([&] { executable->run(views, {}, options); }),
            "the reference did not finish within 0.02 s. Fix: raise the time-out, or give each dispatch less work.");
  EXPECT_EQ(out, Words{7});
}

TEST(Reference, can_be_interrupted_in_a_loop_and_between_invocations) {
  const ir::Program in_loop = with_out({node::store("out", lit(0), lit(1)), node::loop("k", lit(0), lit(0xFFFFFFFF), {})});
  const ir::Program in_grid = with_out({node::store("out", lit(0), lit(1))});
  for (const auto& [program, grid] : {std::pair{in_loop, run::Grid{}}, std::pair{in_grid, run::Grid{1u << 31, 1u << 31, 1}}}) {
    Words out{7};
    const run::BufferView views[] = {{std::as_writable_bytes(std::span(out)), 1}};
    int polls = 0;
    run::RunOptions options;
    options.interrupted = [&] { return ++polls == 3; };
    EXPECT_THROW(run::make_reference_backend()->prepare(valid(program), std::nullopt)->run(views, grid, options), Interrupted);
    EXPECT_EQ(out, Words{7});
  }
}

TEST(Reference, runs_the_same_executable_twice) {
  const ir::Program program = with_out({node::store("out", lit(0), add(expr::load("out", lit(0)), lit(1)))});
  const auto executable = run::make_reference_backend()->prepare(valid(program), 0);
  Words out{7};
  const run::BufferView views[] = {{std::as_writable_bytes(std::span(out)), 1}};
  for (std::uint32_t k = 8; k < 11; ++k) {
    executable->run(views, {}, {});
    EXPECT_EQ(out[0], k);
  }
}

TEST(Reference, has_one_device) { EXPECT_THROW(run::make_reference_backend()->prepare(valid(with_out({})), 1), ArgumentError); }

}  // namespace
}  // namespace vyre::test
