// Accesses out of bounds touch nothing: arrays lie against pages that cannot be read or written, at both of their ends, and calls work
// in place. A wrong access is a fault here and not another byte.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "support/programs/programs.hpp"
#include "support/run_program.hpp"
#include "vyre/base/assert.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/run/cpu/cpu.hpp"
#include "vyre/run/cpu/lanes.hpp"
#include "vyre/run/reference/reference.hpp"

namespace vyre::test {
namespace {

using namespace sample;

enum class At { Begin, End };  // the end of the array that touches the forbidden page

// Bytes between two forbidden pages.
class Guarded {
 public:
  Guarded(const std::vector<std::byte>& bytes, At at) : size_(bytes.size()) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t within = (std::max<std::size_t>(size_, 1) + page - 1) / page * page;
    mapped_ = within + 2 * page;
    void* const all = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    VYRE_ASSERT(all != MAP_FAILED);
    start_ = static_cast<std::byte*>(all);
    VYRE_ASSERT(mprotect(start_ + page, within, PROT_READ | PROT_WRITE) == 0);
    begin_ = start_ + page + (at == At::Begin ? 0 : within - size_);
    if (size_ != 0) std::memcpy(begin_, bytes.data(), size_);
  }
  ~Guarded() { munmap(start_, mapped_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  std::span<std::byte> bytes() const { return {begin_, size_}; }

 private:
  std::size_t size_, mapped_;
  std::byte *start_, *begin_;
};

using Bytes = std::vector<std::byte>;

Bytes some_bytes(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t k = 0; k < count; ++k) bytes[k] = static_cast<std::byte>(k * 167 + 13);
  return bytes;
}

struct Array {
  Bytes bytes;
  std::uint32_t length;
};

Array array_of(DataType type, std::uint32_t length) {
  Array made{some_bytes(std::size_t{length} * ir::min_bytes(type)), length};
  if (type == DataType::Bool) {  // of words that are 0 or 1
    for (std::size_t k = 0; k < made.bytes.size(); ++k) made.bytes[k] = static_cast<std::byte>(k % 4 == 0 && k % 3 == 0);
  }
  return made;
}

std::vector<Bytes> call(run::Executable& executable, const std::vector<Array>& arrays, run::Grid grid, At at) {
  std::vector<std::unique_ptr<Guarded>> memory;
  std::vector<run::BufferView> views;
  for (const Array& each : arrays) {
    memory.push_back(std::make_unique<Guarded>(each.bytes, at));
    views.push_back({memory.back()->bytes(), each.length});
  }
  run::RunOptions options;
  options.in_place = true;
  executable.run(views, grid, options);
  std::vector<Bytes> result;
  for (const auto& each : memory) result.emplace_back(each->bytes().begin(), each->bytes().end());
  return result;
}

// Expects the reference's bytes from the interpreter and from machine code, with every instruction set that this processor has.
void expect_same_within_guards(const ir::Program& program, const std::vector<Array>& arrays, run::Grid grid) {
  const validate::ValidProgram checked = valid(program);
  const std::vector<Bytes> expected = call(*run::make_reference_backend()->prepare(checked, std::nullopt), arrays, grid, At::End);
  run::Optimize compiled;
  compiled.everywhere = true;
  run::Optimize interpreted;
  interpreted.compilation = false;
  for (const run::cpu::Lanes* lanes : run::cpu::available_lanes()) {
    const auto cpu = run::make_cpu_backend({.threads = 1, .instructions = std::string(lanes->name)});
    for (const run::Optimize& optimize : {compiled, interpreted}) {
      const auto executable = cpu->prepare(checked, std::nullopt, optimize);
      for (const At at : {At::Begin, At::End}) {
        EXPECT_EQ(call(*executable, arrays, grid, at), expected)
            << lanes->name << (optimize.compilation ? ", machine code" : ", interpreted") << (at == At::Begin ? ", begin" : ", end") << "\n"
            << ir::to_text(program);
      }
    }
  }
}

constexpr DataType kElements[] = {DataType::U32,  DataType::I32, DataType::U64, DataType::Vec2U32, DataType::Vec4U32,
                                  DataType::Bool, DataType::U8,  DataType::I8,  DataType::U16,     DataType::I16};
// Around those of vectors and of groups of vectors; the least has 16 bytes in each type, below which arrays are copied.
constexpr std::uint32_t kLengths[] = {16, 17, 31, 64, 101};

// Returns indices that run forwards across the end, from before the beginning, spread, backwards and scattered, and some whose byte offsets
// wrap. Each names another element in each invocation, so that no two store into one.
std::vector<ExprHandle> indices(const ExprHandle& i) {
  return {i,
          i - u32(5),
          i * u32(3),
          u32(70) - i,
          i * u32(2654435761u),
          i + u32(0x3FFFFFF0),
          i + u32(0x7FFFFFF8),
          i + u32(0xFFFFFFC0),
          bin(BinOp::BitXor, i, u32(37))};
}

class CpuGuards : public testing::TestWithParam<DataType> {};

TEST_P(CpuGuards, loads_and_stores_out_of_bounds_touch_nothing) {
  const DataType type = GetParam();
  for (const ExprHandle& index : indices(gid(0))) {
    const ir::Program program = Sample()
                                    .in("a", type)
                                    .out("loaded", type)
                                    .out("stored", type)
                                    .size(64)
                                    .add(store("loaded", gid(0), load("a", index)))
                                    .add(store("stored", index, load("a", gid(0))))
                                    .make();
    for (const std::uint32_t length : kLengths) {
      expect_same_within_guards(program, {array_of(type, length), array_of(type, length), array_of(type, length)}, {2, 1, 1});
      if (HasFailure()) return;
    }
  }
}

TEST_P(CpuGuards, one_index_of_all_invocations_out_of_bounds_touches_nothing) {
  const DataType type = GetParam();
  for (const std::uint32_t index : {0u, 15u, 16u, 17u, 0x40000000u, 0x80000000u, 0xFFFFFFFFu}) {
    const ir::Program program = Sample()
                                    .in("a", type)
                                    .out("loaded", type)
                                    .out("stored", type)
                                    .size(64)
                                    .add(store("loaded", gid(0), load("a", u32(index))))
                                    .add(store("stored", u32(index), load("a", u32(3))))
                                    .make();
    expect_same_within_guards(program, {array_of(type, 16), array_of(type, 16), array_of(type, 16)}, {1, 1, 1});
  }
}

TEST_P(CpuGuards, parted_invocations_and_barriers_touch_nothing) {
  const DataType type = GetParam();
  for (const ExprHandle& index : indices(gid(0))) {
    const ir::Program program = Sample()
                                    .in("a", type)
                                    .out("stored", type)
                                    .shared("s", 50)
                                    .size(64)
                                    .add(store("s", index, gid(0)))
                                    .add(barrier())
                                    .add(if_(bin(BinOp::Eq, bin(BinOp::BitAnd, load("s", lid(0)), u32(1)), u32(0)),
                                             {store("stored", index, load("a", index + u32(2)))}))
                                    .make();
    for (const std::uint32_t length : kLengths) {
      expect_same_within_guards(program, {array_of(type, length), array_of(type, length)}, {1, 1, 1});
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Elements, CpuGuards, testing::ValuesIn(kElements),
                         [](const auto& param) { return "type_" + std::to_string(static_cast<int>(param.param)); });

TEST(CpuGuarded, atomics_out_of_bounds_touch_nothing) {
  for (const ExprHandle& index : indices(gid(0))) {
    for (const AtomicOp op : {AtomicOp::Add, AtomicOp::Max, AtomicOp::Xor, AtomicOp::Exchange}) {
      const ir::Program program = Sample()
                                      .out("cells")
                                      .out("before")
                                      .size(64)
                                      .add(let("old", atomic(op, "cells", index, gid(0) + u32(1))))
                                      .add(store("before", gid(0), var("old")))
                                      .make();
      for (const std::uint32_t length : kLengths) {
        expect_same_within_guards(program, {array_of(DataType::U32, length), array_of(DataType::U32, length)}, {2, 1, 1});
        if (HasFailure()) return;
      }
    }
  }
}

// An array without elements has not a byte that may be touched.
TEST(CpuGuarded, empty_arrays_are_not_touched) {
  for (const DataType type : kElements) {
    const ir::Program program = Sample().in("a", type).out("out", type).size(64).add(store("out", gid(0), load("a", gid(0)))).make();
    expect_same_within_guards(program, {array_of(type, 0), array_of(type, 0)}, {2, 1, 1});
  }
}

}  // namespace
}  // namespace vyre::test
