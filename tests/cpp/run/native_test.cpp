// Machine code of the cpu backend gives the reference's bytes at every length, and its pages cannot be written.
#if VYRE_NATIVE
#include "vyre/run/cpu/native/native.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "support/conformance.hpp"
#include "support/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/ir/print.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/run/cpu/cpu.hpp"
#include "vyre/run/cpu/native/code_pages.hpp"
#include "vyre/run/reference/reference.hpp"

namespace vyre::test {
namespace {

using namespace ir;
using namespace sample;
using run::cpu::native::CodePages;
using run::cpu::native::Vectors;

lower::Kernel kernel_of(const Program& program, const run::Optimize& options = {}) {
  return lower::lower(valid(program), options, lower::kCpuTarget);
}

run::Optimize compiled() {
  run::Optimize optimize;
  optimize.everywhere = true;
  return optimize;
}

// The line of the memory map of this process that contains the address.
std::string mapping_of(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream text(line);
    std::uintptr_t begin, end;
    char dash;
    text >> std::hex >> begin >> dash >> end;
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    if (begin <= at && at < end) return line;
  }
  return "not mapped";
}

TEST(CodePages, are_executed_and_cannot_be_written) {
  const std::vector<std::byte> code = {std::byte{0xB8}, std::byte{42}, std::byte{0},
                                       std::byte{0},    std::byte{0},  std::byte{0xC3}};  // return 42
  const auto pages = CodePages::make(code);
  ASSERT_NE(pages, nullptr);
  EXPECT_EQ(reinterpret_cast<int (*)()>(const_cast<void*>(pages->start()))(), 42);
  const std::string line = mapping_of(pages->start());
  EXPECT_NE(line.find(" r-xp "), std::string::npos) << line;
  EXPECT_NE(line.find("vyre-code"), std::string::npos) << line;
}

TEST(CodePages, are_given_back) {
  const std::vector<std::byte> code(5000, std::byte{0xC3});
  const void* start = nullptr;
  {
    const auto pages = CodePages::make(code);
    ASSERT_NE(pages, nullptr);
    start = pages->start();
  }
  EXPECT_EQ(mapping_of(start).find("vyre-code"), std::string::npos);
  EXPECT_EQ(CodePages::make({}), nullptr);
}

// What is compared elsewhere must not be the interpreter's work without anybody's knowledge.
TEST(Native, has_code_for_every_conformance_case) {
  for (const Vectors vectors : run::cpu::native::available_vectors()) {
    for (const ConformanceCase& each : conformance_cases()) {
      EXPECT_NE(run::cpu::native::compile_native(kernel_of(each.program), vectors), nullptr) << each.name;
    }
  }
}

TEST(Native, code_is_the_same_each_time) {
  const auto i = gid(0);
  const lower::Kernel kernel = kernel_of(Sample().out("out").size(64).add(store("out", i, i * i)).make());
  for (const Vectors vectors : run::cpu::native::available_vectors()) {
    const auto one = run::cpu::native::compile_native(kernel, vectors), other = run::cpu::native::compile_native(kernel, vectors);
    ASSERT_EQ(one->pages->bytes(), other->pages->bytes());
    EXPECT_EQ(std::memcmp(one->pages->start(), other->pages->start(), one->pages->bytes()), 0);
  }
}

// Runs on the reference, and as machine code with each instruction set, one thread and three.
void expect_same(const Program& program, const std::vector<Words>& arrays, run::Grid grid) {
  const validate::ValidProgram checked = valid(program);
  const std::vector<Words> expected = run_program(*run::make_reference_backend(), checked, arrays, grid);
  for (const Vectors vectors : run::cpu::native::available_vectors()) {
    for (const unsigned threads : {1u, 3u}) {
      const auto cpu = run::make_cpu_backend({.threads = threads, .instructions = std::string(run::cpu::native::name(vectors))});
      EXPECT_EQ(run_program(*cpu, checked, arrays, grid, {}, compiled()), expected)
          << run::cpu::native::name(vectors) << ", " << threads << " threads, grid " << grid.x << "\n"
          << to_text(program);
    }
  }
}

Words numbers(std::size_t count, std::uint32_t factor = 2654435761u) {
  Words words(count);
  for (std::size_t k = 0; k < count; ++k) words[k] = static_cast<std::uint32_t>(k) * factor + 12345;
  return words;
}

// Around the lengths of a vector and of a group of vectors, where whole vectors end and masks begin.
TEST(Native, rows_of_every_length_are_read_and_written) {
  const auto i = gid(0);
  const Program rows = Sample()
                           .in("a")
                           .out("out")
                           .size(1)
                           .add(store("out", i, load("a", i) + load("a", i + u32(3)) * load("a", i - u32(2)) + load("a", u32(5))))
                           .make();
  for (std::uint32_t length = 1; length <= 140; ++length) {
    expect_same(rows, {numbers(length), Words(length)}, {length, 1, 1});
    if (HasFailure()) return;
  }
}

// Indices that pass 2^32 - 1 within a vector: the lanes before are out of range, the ones after begin at 0.
TEST(Native, a_row_that_wraps_around_reads_from_the_beginning) {
  const auto i = gid(0);
  for (const std::uint32_t before : {1u, 7u, 8u, 15u, 16u, 63u}) {
    const Program program = Sample()
                                .in("a")
                                .out("out")
                                .out("other")
                                .size(1)
                                .add(store("out", i, load("a", i - u32(before))))
                                .add(store("other", i - u32(before), i))
                                .make();
    expect_same(program, {numbers(100), Words(100), Words(100)}, {100, 1, 1});
  }
}

TEST(Native, strides_and_scattered_indices_are_read_and_written) {
  const auto i = gid(0);
  const Program program = Sample()
                              .in("a")
                              .out("out")
                              .size(1)
                              .add(store("out", i * u32(3), load("a", i * u32(2)) ^ load("a", bin(BinOp::Mod, i * u32(37), u32(101)))))
                              .make();
  for (const std::uint32_t length : {1u, 5u, 8u, 16u, 33u, 64u, 130u}) expect_same(program, {numbers(120), Words(300)}, {length, 1, 1});
}

// Lanes that return in a loop are not active when the loop goes on.
TEST(Native, a_return_in_a_loop_whose_bounds_differ_ends_the_lane) {
  const auto i = gid(0);
  const Program program =
      Sample()
          .out("out")
          .size(32)
          .add(let("x", u32(0)))
          .add(loop("k", bin(BinOp::BitAnd, i, u32(1)), u32(2), {assign("x", var("x") + u32(1)), store("out", i, var("x")), return_()}))
          .add(store("out", i, u32(99)))
          .make();
  expect_same(program, {Words(96)}, {3, 1, 1});
}

// A variable that all lanes share is written once a workgroup, however many vectors the workgroup has.
TEST(Native, a_shared_variable_changes_once_between_barriers) {
  const auto i = gid(0), l = lid(0);
  const Program program = Sample()
                              .out("out")
                              .shared("s", 256)
                              .size(256)
                              .add(store("s", l, i))
                              .add(let("stride", u32(128)))
                              .add(loop("k", u32(0), u32(8),
                                        {barrier(), if_(l < var("stride"), {store("s", l, load("s", l) + load("s", l + var("stride")))}),
                                         assign("stride", bin(BinOp::Shr, var("stride"), u32(1)))}))
                              .add(barrier())
                              .add(store("out", i, load("s", u32(0)) + var("stride")))
                              .make();
  expect_same(program, {Words(512)}, {2, 1, 1});
}

}  // namespace
}  // namespace vyre::test
#endif
