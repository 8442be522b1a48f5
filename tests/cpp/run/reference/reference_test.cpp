// What the reference must do beyond the cases of vyre.conformance: size, limits, time, and what goes wrong at run time.
#include "vyre/run/reference/reference.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <ctime>
#include <numeric>

#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/programs/programs.hpp"
#include "support/programs/sample_programs.hpp"
#include "support/run_program.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/registry.hpp"

namespace vyre::test {
namespace {

using namespace sample;

ir::Program with_out(const List& body, ir::WorkgroupSize size = {1, 1, 1}) {
  return Sample().out("out").size(size[0], size[1], size[2]).add(body).make();
}

// Of the processor: how busy the machine is does not count.
double seconds(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

TEST(Reference, runs_a_chain_of_99000_nodes) {
  EXPECT_LT(seconds([] { run_reference(chain(98'000), {{0}}); }), 2.0 * patience());
}

TEST(Reference, prepares_wide_programs_in_no_time) {
  const ExprHandle zero = u32(0);
  std::vector<NodeHandle> ifs(50'000, if_(zero, {}));
  std::vector<NodeHandle> stores(33'000, store("out", zero, zero));
  std::vector<NodeHandle> literals;
  for (std::uint32_t k = 0; k < 49'000; ++k) literals.push_back(let("x" + std::to_string(k), u32(k)));
  EXPECT_LT(seconds([&] {
              for (const std::vector<NodeHandle>& body : {ifs, stores, literals}) run_reference(with_out(body), {{0}});
            }),
            2.0 * patience());
}

TEST(Reference, passes_a_million_messages_between_two_invocations) {
  const ExprHandle other = bin(BinOp::BitXor, lid(0), u32(1));
  const ir::Program program =
      Sample()
          .out("mail")
          .shared("shared", 2)
          .out("out")
          .size(2)
          .add({let("value", lid(0)),
                loop("round", u32(0), u32(1'000'000),
                     {store("mail", lid(0), var("value")), store("shared", lid(0), var("value")), barrier(),
                      assign("value", u32(1) + bin(BinOp::BitAnd, load("mail", other), load("shared", other))), barrier()}),
                store("out", lid(0), var("value"))})
          .make();
  // After an even number of rounds each holds its own first value, counted up once a round.
  EXPECT_EQ(run_reference(program, {{0, 0}, {0, 0}})[1], (Words{1'000'000, 1'000'001}));
}

TEST(Reference, reads_a_shared_variable_in_the_scope_of_each_statement) {
  const ExprHandle x = var("x") + u32(1);
  const ir::Program program = with_out(
      {block({let("x", u32(10)), store("out", u32(0), x)}), block({let("pad", u32(7)), let("x", u32(20)), store("out", u32(1), x)})});
  EXPECT_EQ(run_reference(program, {{0, 0}})[0], (Words{11, 21}));
}

TEST(Reference, runs_a_grid_of_zero_workgroups) {
  const ir::Program program = with_out({store("out", u32(0), u32(1))});
  for (run::Grid grid : {run::Grid{0, 1, 1}, run::Grid{0xFFFFFFFF, 0, 0xFFFFFFFF}, run::Grid{1, 1, 0}}) {
    EXPECT_EQ(run_reference(program, {{7}}, grid)[0][0], 7u);
  }
}

TEST(Reference, leaves_a_trailing_part_of_an_element_alone) {
  // Two and a half elements of two words, at an odd address; BufLen is 2.
  std::vector<std::byte> host(1 + 20, std::byte{0x11});
  const std::span<std::byte> bytes = std::span(host).subspan(1);
  const ir::Program program = Sample()
                                  .out("wide", DataType::Vec2U32)
                                  .add({store("wide", u32(1), pack(DataType::Vec2U32, {len("wide"), lane(load("wide", u32(2)), 0)})),
                                        store("wide", u32(2), pack(DataType::Vec2U32, {u32(1), u32(1)}))})
                                  .make();
  const run::BufferView views[] = {{bytes, run::buffer_length(program.buffers()[0], bytes.size())}};
  run::make_reference_backend()->prepare(valid(program), std::nullopt)->run(views, {}, {});
  Words words(5);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  EXPECT_EQ(words, (Words{0x11111111, 0x11111111, 2, 0, 0x11111111}));
}

TEST(Reference, counts_bytes_in_padded_words) {
  const ir::Program program = Sample()
                                  .in("bytes", DataType::Bytes)
                                  .out("out")
                                  .out("more", DataType::Bytes)
                                  .add({store("out", u32(0), len("bytes")), store("out", u32(1), len("more"))})
                                  .make();
  std::vector<std::byte> bytes(9, std::byte{5}), more(8, std::byte{6});
  Words out(2);
  const run::BufferView views[] = {{bytes, 3}, {std::as_writable_bytes(std::span(out)), 2}, {more, 2}};
  run::make_reference_backend()->prepare(valid(program), std::nullopt)->run(views, {}, {});
  EXPECT_EQ(out, (Words{3, 2}));
  EXPECT_EQ(more, std::vector<std::byte>(8, std::byte{6}));
}

TEST(Reference, accepts_65536_invocations_and_refuses_more) {
  const auto program = [](std::uint32_t x) {
    return with_out(
        {barrier(), let("old", atomic(AtomicOp::Add, "out", u32(0), u32(1))), barrier(), store("out", u32(1) + gid(0), var("old"))},
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
    return Sample()
        .shared("a", (1u << 24) - 1, DataType::Vec4U32)
        .shared("b", 4 + extra)
        .out("out")
        .add({store("out", u32(0), lane(load("a", u32((1u << 24) - 2)), 3)), store("b", u32(0), u32(1))})
        .make();
  };
  EXPECT_EQ(run_reference(program(0), {{7}})[0][0], 0u);
  EXPECT_EQ(message_of<CapabilityError>([&] { run_reference(program(1), {{0}}); }),
            "268435460 bytes of workgroup memory exceeds the limit of workgroup memory of the reference, which allows 268435456. Fix: "
            "declare smaller workgroup buffers, or use another device.");
}

TEST(Reference, workgroup_buffers_that_nothing_accesses_take_no_memory) {
  const ir::Program program =
      Sample().shared("large", 0xFFFFFFFF, DataType::Vec4U32).out("out").add(store("out", u32(0), len("large"))).make();
  EXPECT_EQ(run_reference(program, {{7}})[0][0], 0xFFFFFFFFu);
}

// What validation cannot decide is decided at run time.
constexpr validate::Options kChecked{.limits = true, .uniformity = false};

TEST(Reference, finds_a_barrier_that_only_some_invocations_reach) {
  const ir::Program program = with_out({let("x", u32(0)), if_(lid(0) < u32(2), {barrier()})}, {4, 1, 1});
  EXPECT_EQ(
      message_of<DivergentBarrierError>([&] { run_reference(program, {{0}}, {}, kChecked); }),
      "barrier was reached by only part of a workgroup: invocation (0, 0, 0) waits at `entry[1].then[0]`, invocation (2, 0, 0) has run to "
      "the end of the program. Fix: move the barrier to uniform control flow.");
}

TEST(Reference, finds_invocations_that_wait_at_different_barriers) {
  const ir::Program program = with_out({if_(lid(0) < u32(1), {barrier()}, {let("x", u32(0)), barrier()})}, {2, 2, 1});
  EXPECT_EQ(
      message_of<DivergentBarrierError>([&] { run_reference(program, {{0}}, {}, kChecked); }),
      "barrier was reached by only part of a workgroup: invocation (0, 0, 0) waits at `entry[0].then[0]`, invocation (1, 0, 0) waits at "
      "`entry[0].otherwise[1]`. Fix: move the barrier to uniform control flow.");
}

TEST(Reference, finds_a_return_that_others_wait_for) {
  const ir::Program program =
      with_out({loop("k", u32(0), u32(4), {if_(bin(BinOp::Eq, var("k"), lid(0)), {return_()}), barrier()})}, {3, 1, 1});
  EXPECT_EQ(
      message_of<DivergentBarrierError>([&] { run_reference(program, {{0}}, {}, kChecked); }),
      "barrier was reached by only part of a workgroup: invocation (0, 0, 0) has ended at `entry[0].body[0].then[0]`, invocation (1, 0, 0) "
      "waits at `entry[0].body[1]`. Fix: move the barrier to uniform control flow.");
}

TEST(Reference, accepts_a_barrier_that_all_reach_though_validation_cannot_know) {
  // All invocations load the same word of writable memory.
  const ir::Program program = with_out({if_(load("out", u32(0)), {barrier(), store("out", u32(1) + lid(0), u32(5))})}, {2, 1, 1});
  EXPECT_THROW(run_reference(program, {{1, 0, 0}}), ValidationError);
  EXPECT_EQ(run_reference(program, {{1, 0, 0}}, {}, kChecked)[0], (Words{1, 5, 5}));
}

TEST(Reference, returns_from_all_invocations_in_one_round) {
  // A uniform return in round 3 of a loop with barriers, and a divergent loop followed by a barrier.
  const ir::Program program = with_out(
      {loop("k", u32(0), lid(0), {store("out", lid(0), var("k") + u32(1))}), barrier(),
       loop("k", u32(0), u32(8), {if_(bin(BinOp::Eq, var("k"), u32(3)), {return_()}), barrier(), store("out", lid(0) + u32(4), var("k"))}),
       store("out", u32(0), u32(99))},
      {4, 1, 1});
  EXPECT_EQ(run_reference(program, {Words(8)})[0], (Words{0, 1, 2, 3, 2, 2, 2, 2}));
}

TEST(Reference, times_out_and_leaves_the_arrays_alone) {
  const ir::Program program = with_out({store("out", u32(0), u32(1)), loop("k", u32(0), u32(0xFFFFFFFF), {})});
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
  const ir::Program in_loop = with_out({store("out", u32(0), u32(1)), loop("k", u32(0), u32(0xFFFFFFFF), {})});
  const ir::Program in_grid = with_out({store("out", u32(0), u32(1))});
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
  const ir::Program program = with_out({store("out", u32(0), load("out", u32(0)) + u32(1))});
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
