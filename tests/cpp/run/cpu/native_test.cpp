// Machine code of the cpu backend gives the reference's bytes at every length, and its pages cannot be written.
#if VYRE_NATIVE
#include "vyre/run/cpu/native/native.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "support/conformance.hpp"
#include "support/native_code.hpp"
#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/run/cpu/cpu.hpp"
#include "vyre/run/cpu/native/code_pages.hpp"
#include "vyre/run/cpu/native/perf_map.hpp"
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

TEST(CodePages, of_anonymous_memory_are_executed_and_are_not_writable) {
  const std::vector<std::byte> code = {std::byte{0xB8}, std::byte{43}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0xC3}};
  const auto pages = CodePages::make(code, run::cpu::native::Backing::Anonymous);
  ASSERT_NE(pages, nullptr);
  EXPECT_EQ(reinterpret_cast<int (*)()>(const_cast<void*>(pages->start()))(), 43);
  const std::string line = mapping_of(pages->start());
  EXPECT_NE(line.find(" r-xp "), std::string::npos) << line;
  EXPECT_EQ(line.find('/'), std::string::npos) << line;
}

// A folder that is gone at the end.
class Folder {
 public:
  Folder() : path_(std::filesystem::path(testing::TempDir()) / ("vyre-perf-" + std::to_string(getpid()))) {
    std::filesystem::create_directory(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(PerfMap, lines_are_appended_to_a_file_of_this_user_alone) {
  using run::cpu::native::append_line;
  const Folder folder;
  const std::string path = folder / "map";
  EXPECT_EQ(append_line(path.c_str(), "one\n"), "");
  EXPECT_EQ(append_line(path.c_str(), "two\n"), "");
  EXPECT_EQ(text_of(path), "one\ntwo\n");
  struct stat found {};
  ASSERT_EQ(stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0600u);
}

TEST(PerfMap, nothing_else_that_lies_at_the_path_is_written) {
  using run::cpu::native::append_line;
  const Folder folder;
  const std::string victim = folder / "victim", link = folder / "link", name = folder / "name", pipe = folder / "pipe";
  std::ofstream(victim) << "kept";
  std::filesystem::create_symlink(victim, link);
  EXPECT_EQ(append_line(link.c_str(), "x\n"), "Too many levels of symbolic links");
  std::filesystem::create_hard_link(victim, name);
  EXPECT_EQ(append_line(name.c_str(), "x\n"), "it has another name too");
  EXPECT_EQ(text_of(victim), "kept");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(append_line(pipe.c_str(), "x\n"), "No such device or address");
  EXPECT_EQ(append_line((folder / "missing/map").c_str(), "x\n"), "No such file or directory");
  if (geteuid() != 0) return;  // nobody else gives files away
  const std::string other = folder / "other";
  std::ofstream(other) << "kept";
  ASSERT_EQ(chown(other.c_str(), 1, 1), 0);
  EXPECT_EQ(append_line(other.c_str(), "x\n"), "it belongs to another user");
  EXPECT_EQ(text_of(other), "kept");
}

TEST(PerfMap, a_line_has_start_and_size_in_hexadecimal_digits_and_the_name) {
  EXPECT_EQ(run::cpu::native::perf_map_line(reinterpret_cast<const void*>(std::uintptr_t{0x7f00abcd}), 31, "vyre:12"),
            "7f00abcd 1f vyre:12\n");
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

// What is shown of a program (machine_code.hpp) is what runs, and its parts begin in the order of the bytes.
TEST(Native, translation_is_the_code_that_runs) {
  for (const Vectors vectors : run::cpu::native::available_vectors()) {
    for (const ConformanceCase& each : conformance_cases()) {
      const lower::Kernel kernel = kernel_of(each.program);
      run::cpu::native::Refusal refusal;
      const auto shown = run::cpu::native::translate(kernel, vectors, refusal);
      const auto runs = run::cpu::native::compile_native(kernel, vectors);
      ASSERT_TRUE(shown) << each.name;
      ASSERT_EQ(shown->code.size(), runs->pages->bytes()) << each.name;
      EXPECT_EQ(std::memcmp(shown->code.data(), runs->pages->start(), shown->code.size()), 0) << each.name;
      EXPECT_TRUE(std::ranges::is_sorted(shown->marks, {}, &run::cpu::native::Mark::offset)) << each.name;
      EXPECT_TRUE(std::ranges::is_sorted(shown->constants)) << each.name;
      EXPECT_EQ(shown->marks.front().offset, 0u);
      EXPECT_LT(shown->marks.back().offset, shown->constants.empty() ? shown->code.size() : shown->constants.front()) << each.name;
    }
  }
}

// With a processor that lacks an instruction set, its code can still be shown.
TEST(Native, every_set_is_translated_on_every_processor) {
  const lower::Kernel kernel = kernel_of(Sample().out("out").size(64).add(store("out", gid(0), u32(1))).make());
  run::cpu::native::Refusal refusal;
  EXPECT_EQ(run::cpu::native::translate(kernel, Vectors::Sse41, refusal)->width, 4);
  EXPECT_EQ(run::cpu::native::translate(kernel, Vectors::Avx2, refusal)->width, 8);
  EXPECT_EQ(run::cpu::native::translate(kernel, Vectors::Avx512, refusal)->width, 16);
}

TEST(Native, a_kernel_that_nests_too_deep_is_refused_with_the_reason) {
  const auto nested = [](std::uint32_t depth) {
    lower::Kernel kernel;
    kernel.code.push_back({.op = lower::Opcode::Constant, .lanes = 1, .imm = 1});
    for (std::uint32_t k = 0; k < depth; ++k) kernel.code.push_back({.op = lower::Opcode::If, .a = lower::ValueId{0}});
    for (std::uint32_t k = 0; k < depth; ++k) kernel.code.push_back({.op = lower::Opcode::EndIf});
    kernel.partner = lower::partners(kernel.code);
    return kernel;
  };
  run::cpu::native::Refusal refusal;
  EXPECT_TRUE(run::cpu::native::translate(nested(64), Vectors::Avx2, refusal));
  EXPECT_EQ(refusal.reason, "");
  EXPECT_FALSE(run::cpu::native::translate(nested(65), Vectors::Avx2, refusal));
  EXPECT_EQ(refusal.reason, "its Ifs and Loops are nested more than 64 deep");
  EXPECT_EQ(refusal.fix, "nest fewer of them");
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
  // From before index 0, which is around 2^32, to beyond the end, and of some lanes only.
  for (const std::uint32_t apart : {2u, 3u, 16u}) {
    const ExprHandle x = load("a", i), at = i * u32(apart) - u32(apart);
    const Program around = Sample()
                               .in("a")
                               .out("all")
                               .out("some")
                               .size(1)
                               .add(store("all", at, x))
                               .add(if_(bin(BinOp::BitAnd, x, u32(8)) < u32(1), {store("some", at + u32(1), x)}))
                               .make();
    for (const std::uint32_t length : {16u, 33u, 64u, 130u}) {
      expect_same(around, {numbers(120), Words(200), Words(2100)}, {length, 1, 1});
    }
  }
}

// Elements of two and four words: one after the other, and at distances at which neighbouring lanes are known to access; within the array,
// beyond its end, around 2^32, and of some lanes only.
TEST(Native, elements_of_several_words_are_read_and_written_at_every_distance) {
  const auto i = gid(0);
  for (const DataType type : {DataType::Vec2U32, DataType::Vec4U32}) {
    const std::size_t words = type == DataType::Vec2U32 ? 2 : 4;
    for (const std::uint32_t apart : {1u, 2u, 4u, 7u}) {
      const ExprHandle at = i * u32(apart), x = load("a", at + u32(1)), y = load("a", at - u32(2 * apart));
      const auto mixed = [&](std::uint32_t k) { return lane(x, k) * u32(3) + lane(y, static_cast<std::uint32_t>(words) - 1 - k); };
      const ExprHandle value = words == 2 ? pack(type, {mixed(0), mixed(1)}) : pack(type, {mixed(0), mixed(1), mixed(2), mixed(3)});
      const Program program = Sample()
                                  .in("a", type)
                                  .out("all", type)
                                  .out("some", type)
                                  .size(1)
                                  .add(store("all", at, value))
                                  .add(if_(bin(BinOp::BitAnd, lane(x, 0), u32(8)) < u32(1), {store("some", at + u32(1), value)}))
                                  .make();
      for (const std::uint32_t length : {1u, 8u, 15u, 16u, 17u, 31u, 33u, 64u, 100u}) {
        expect_same(program, {numbers(words * 90), Words(words * 150), Words(words * 400)}, {length, 1, 1});
        if (HasFailure()) return;
      }
    }
  }
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

// Values that registers and the frame hold at the same time: each is read before the barrier, in a loop too, and again after it. The sizes
// of the workgroups are whole groups of vectors, whole vectors, and neither.
TEST(Native, values_that_live_across_a_barrier_are_the_same_on_both_sides) {
  const auto i = gid(0), l = lid(0);
  for (const std::uint32_t lanes : {64u, 48u, 16u, 37u}) {
    Sample sample;
    sample.in("a").out("before").out("after").shared("s", lanes).size(lanes);
    ExprHandle sum = u32(0);
    for (std::uint32_t k = 0; k < 20; ++k) {
      const std::string name = "v" + std::to_string(k);
      sample.add(let(name, k == 0 ? load("a", i) : load("a", i + u32(k)) * var("v" + std::to_string(k - 1)) + u32(k)));
      sum = sum + var(name);
    }
    sample.add(let("total", sum))
        .add(loop("k", u32(0), bin(BinOp::BitAnd, l, u32(5)), {assign("total", var("total") * var("v3") + var("v19"))}))
        .add(store("before", i, var("total")))
        .add(store("s", l, var("v7")))
        .add(barrier());
    ExprHandle rest = load("s", u32(lanes - 1) - l) + var("total");
    for (std::uint32_t k = 0; k < 20; ++k) rest = rest * u32(3) + var("v" + std::to_string(k));
    expect_same(sample.add(store("after", i, rest)).make(), {numbers(200), Words(3 * lanes), Words(3 * lanes)}, {3, 1, 1});
  }
}

// The operations that are computed in the register of their result, with the constant on each side, with the result in place of an operand,
// and with more values than there are registers.
TEST(Native, words_that_all_lanes_share_are_combined_in_registers_and_memory) {
  const ExprHandle a = load("a", u32(1)), b = load("a", u32(99)), outside = load("a", u32(100));
  Sample sample;
  sample.in("a").out("out").size(1);
  sample.add(let("x", a - b)).add(let("y", u32(7) - var("x")));
  ExprHandle all = outside;
  for (std::uint32_t k = 0; k < 12; ++k) {
    const std::string name = "w" + std::to_string(k);
    sample.add(let(name, bin(BinOp::BitXor, bin(BinOp::Shl, var("x"), u32(k * 3)), bin(BinOp::Shr, var("y"), u32(k + 25)))));
    all = bin(BinOp::BitOr, bin(BinOp::BitAnd, all, u32(0xFFFF0F0F) - u32(k)), var(name)) - var("y");
  }
  for (std::uint32_t k = 0; k < 12; ++k) all = var("w" + std::to_string(11 - k)) - bin(BinOp::RotateLeft, all, u32(k));
  sample.add(store("out", u32(3), all)).add(store("out", u32(4), a)).add(store("out", u32(5), outside));
  expect_same(sample.make(), {numbers(100), Words(5)}, {1, 1, 1});
}

// Lengths around vectors and groups, where the last lanes fail the condition, also where the id wraps around in front of it.
TEST(Native, lanes_below_a_bound_take_the_code_behind_it) {
  const auto i = gid(0);
  for (const std::uint32_t first : {0u, 5u, 0xFFFFFFF0u}) {
    const Program program =
        Sample()
            .in("a")
            .out("out")
            .out("rest")
            .size(1)
            .add(let("k", i + u32(first)))
            .add(let("v", u32(7)))
            .add(if_(var("k") < u32(75), {assign("v", load("a", var("k")) + var("k")),
                                          if_(bin(BinOp::BitAnd, var("v"), u32(1)), {assign("v", var("v") * u32(3))}),
                                          loop("t", u32(0), bin(BinOp::BitAnd, var("v"), u32(3)), {assign("v", var("v") + var("t"))}),
                                          store("out", var("k"), var("v"))}))
            .add(store("rest", i, var("v")))
            .make();
    for (const std::uint32_t length : {1u, 15u, 16u, 64u, 75u, 80u, 130u}) {
      expect_same(program, {numbers(100), Words(140), Words(length)}, {length, 1, 1});
    }
  }
}

// Without caches, all arrays are stored past them, in rows that begin at whole vectors and in rows that do not. Elements of one word are
// here; test_machine_code.py has those of four.
TEST(Native, results_that_outgrow_the_caches_have_every_element) {
  const auto i = gid(0);
  const std::uint32_t length = (1u << 20) + 3;
  const Words given = numbers(length);
  for (const std::uint32_t shift : {0u, 1u}) {
    const Program program =
        Sample().in("a").out("out").size(1).add(if_(i < len("a"), {store("out", i + u32(shift), load("a", i) + u32(1))})).make();
    for (const run::cpu::native::Vectors vectors : run::cpu::native::available_vectors()) {
      const auto cpu = run::make_cpu_backend({.threads = 2, .instructions = std::string(run::cpu::native::name(vectors)), .caches = 0});
      const Words got = run_program(*cpu, valid(program), {given, Words(length)}, {length, 1, 1}, {}, compiled()).back();
      std::uint32_t wrong = 0;
      for (std::uint32_t k = 0; k < length; ++k) wrong += got[k] != (k < shift ? 0 : given[k - shift] + 1);
      EXPECT_EQ(wrong, 0u) << run::cpu::native::name(vectors) << ", from " << shift;
    }
  }
}

TEST(Native, batches_of_a_kernel_without_loops_guess_how_long_they_take) {
  lower::Kernel kernel;
  kernel.workgroup_size = {64, 1, 1};
  run::cpu::native::NativeCode code;
  code.work = 100;
  const auto guess = [&](run::Grid grid) { return run::cpu::native::NativeBatches(code, kernel, grid).estimated_time(); };
  EXPECT_EQ(guess({1000, 1, 1}), std::chrono::microseconds(64));
  EXPECT_EQ(guess({10, 20, 30}), std::chrono::nanoseconds(64 * 10 * 20 * 30));
  EXPECT_GT(guess({~0u, ~0u, ~0u}), std::chrono::years(1)) << "an overflow is no short time";
  code.loops = true;
  EXPECT_EQ(guess({1000, 1, 1}), std::chrono::nanoseconds(0));
}

// A shift rounds down and a division towards zero. 2^31 is no power of two as a signed number, and -8 is none either.
TEST(Native, signed_numbers_are_divided_by_constants) {
  Words given = numbers(100);
  const std::uint32_t edges[] = {0, 1, 7, 8, 9, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFF8, 0xFFFFFFF9, 0xFFFFFFF7};
  std::ranges::copy(edges, given.begin());
  for (std::uint32_t k = 0; k < 34; ++k) {
    const std::uint32_t divisor = k < 32 ? 1u << k : k == 32 ? 0xFFFFFFF8 : 6;
    const ExprHandle x = cast(DataType::I32, load("a", gid(0))), by = cast(DataType::I32, u32(divisor));
    const Program program = Sample()
                                .in("a")
                                .out("quotient")
                                .out("remainder")
                                .size(1)
                                .add(store("quotient", gid(0), cast(DataType::U32, bin(BinOp::SDiv, x, by))))
                                .add(store("remainder", gid(0), cast(DataType::U32, bin(BinOp::SMod, x, by))))
                                .make();
    expect_same(program, {given, Words(100), Words(100)}, {100, 1, 1});
  }
}

}  // namespace
}  // namespace vyre::test
#endif
