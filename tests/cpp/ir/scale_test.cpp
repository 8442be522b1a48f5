// What a user can make long must be quick and never recurse: every step under two seconds, on a small stack.
#include <gtest/gtest.h>

#include <ctime>

#include "support/patience.hpp"
#include "support/programs/sample_programs.hpp"
#include "support/small_stack.hpp"
#include "vyre/ir/bytes/wire.hpp"
#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/ir/text/parse.hpp"
#include "vyre/ir/text/print.hpp"

namespace vyre::ir {
namespace {

// Of this thread, so that a busy machine fails no test.
double seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Work>
auto timed(const char* step, Work&& work) {
  struct Timer {
    const char* step;
    double start = seconds();
    ~Timer() { EXPECT_LT(seconds() - start, 2 * test::patience()) << step; }
  } timer{step};
  return work();
}

template <class Build>
void every_step_is_quick(Build&& build) {
  test::on_small_stack([&] {
    Program program = timed("build", build);
    const std::string text = timed("print", [&] { return to_text(program); });
    Program parsed = timed("parse", [&] { return parse(text); });
    timed("compare", [&] { EXPECT_TRUE(parsed == program); });
    const std::string bytes = timed("to bytes", [&] { return to_bytes(program); });
    Program loaded = timed("from bytes", [&] { return from_bytes(std::as_bytes(std::span(bytes))); });
    EXPECT_TRUE(loaded == program);
    timed("hash", [&] { EXPECT_EQ(loaded.hash(), program.hash()); });
    std::vector<NodeHandle> handles = timed("take apart", [&] { return entry_handles(program); });
    Program again = timed("make", [&] { return make_program(program.buffers(), program.workgroup_size(), handles); });
    EXPECT_TRUE(again == program);
    timed("copy", [&] { return std::vector(handles); });
    timed("drop", [&] {
      handles.clear();
      program = parsed = loaded = again = Program();
    });
  });
}

TEST(Scale, chain_of_99000) {
  every_step_is_quick([] { return test::chain(99000); });
}
TEST(Scale, doublings_64) {
  every_step_is_quick([] { return test::doublings(64); });
}
TEST(Scale, doublings_100000) {
  every_step_is_quick([] { return test::doublings(100000); });
}
TEST(Scale, nested_blocks_1000000) {
  every_step_is_quick([] { return test::nested_blocks(1000000); });
}
TEST(Scale, wide_200000) {
  every_step_is_quick([] { return test::wide_program(200000); });
}
TEST(Scale, call_with_200000_arguments) {
  every_step_is_quick([] {
    std::vector<ExprHandle> arguments;
    for (std::uint32_t value = 0; value < 200000; ++value) arguments.push_back(expr::u32(value));
    return make_program({}, {1, 1, 1}, std::vector{node::let("x", expr::call("f", std::move(arguments)))});
  });
}
TEST(Scale, names_100000) {
  every_step_is_quick([] {
    std::vector<NodeHandle> entry;
    for (std::uint32_t value = 0; value < 100000; ++value) entry.push_back(node::let("v" + std::to_string(value), expr::u32(value)));
    return make_program({}, {1, 1, 1}, entry);
  });
}

}  // namespace
}  // namespace vyre::ir
