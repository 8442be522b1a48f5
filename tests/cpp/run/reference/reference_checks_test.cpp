// What every call is checked for before any backend runs.
#include <gtest/gtest.h>

#include "support/run_program.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/run/checks/checks.hpp"

namespace vyre::test {
namespace {

using ir::BufferDecl;
using ir::DataType;

class CheckCall : public testing::Test {
 protected:
  // A view of `bytes` bytes at `at` of one block of memory.
  run::BufferView view(std::size_t at, std::size_t bytes, std::uint32_t length) { return {std::span(memory_).subspan(at, bytes), length}; }

  static std::string refusal(const std::vector<BufferDecl>& buffers, const std::vector<run::BufferView>& views, run::Grid grid = {},
                             ir::WorkgroupSize size = {1, 1, 1}) {
    try {
      run::check_call(valid(ir::make_program(buffers, size, {})), views, grid);
    } catch (const BindingError& error) {
      return error.what();
    } catch (const ArgumentError& error) {
      return std::string("argument: ") + error.what();
    }
    return "accepted";
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(100'000);
};

TEST_F(CheckCall, wants_one_array_a_buffer) {
  EXPECT_EQ(refusal({BufferDecl::read("a", 0, DataType::U32), BufferDecl::workgroup("w", 4, DataType::U32)}, {}),
            "the program has 1 buffers to bind, got 0. Fix: give one array for each buffer that is neither Workgroup nor Private.");
}

TEST_F(CheckCall, wants_the_length_that_fits_the_bytes) {
  const std::vector<BufferDecl> pairs{BufferDecl::read("a", 0, DataType::U64)};
  EXPECT_EQ(refusal(pairs, {view(0, 16, 2)}), "accepted");
  EXPECT_EQ(refusal(pairs, {view(0, 23, 2)}), "accepted");  // a trailing part is out of bounds
  EXPECT_EQ(refusal(pairs, {view(0, 23, 3)}),
            "buffer `a` is said to have 3 elements, its 23 bytes hold 2. Fix: give the length that fits the bytes.");
  const std::vector<BufferDecl> bytes{BufferDecl::read("b", 0, DataType::Bytes)};
  EXPECT_EQ(refusal(bytes, {view(0, 9, 3)}), "accepted");
  EXPECT_EQ(refusal(bytes, {view(0, 9, 2)}),
            "buffer `b` is said to have 2 elements, its 9 bytes hold 3. Fix: give the length that fits the bytes.");
}

TEST_F(CheckCall, wants_exactly_the_declared_count) {
  BufferDecl fixed = BufferDecl::read_write("a", 0, DataType::U32);
  fixed.count = 4;
  EXPECT_EQ(refusal({fixed}, {view(0, 16, 4)}), "accepted");
  EXPECT_EQ(refusal({fixed}, {view(0, 20, 5)}), "buffer `a` is declared with exactly 4 elements, got 5. Fix: give an array of 4 elements.");
  fixed.count = 1;
  EXPECT_EQ(refusal({fixed}, {view(0, 0, 0)}), "buffer `a` is declared with exactly 1 element, got 0. Fix: give an array of 1 element.");
}

TEST_F(CheckCall, refuses_uniform_data_above_64_KiB) {
  EXPECT_EQ(refusal({BufferDecl::uniform("u", 0, DataType::U32)}, {view(0, 65'536, 16'384)}), "accepted");
  EXPECT_EQ(refusal({BufferDecl::uniform("u", 0, DataType::U32)}, {view(0, 65'540, 16'385)}),
            "uniform buffer `u` has 65540 bytes, at most 65536 are allowed. Fix: declare it with BufferAccess::ReadOnly.");
}

TEST_F(CheckCall, refuses_more_elements_than_an_index_can_name) {
  const BufferDecl words = BufferDecl::read("a", 0, DataType::U32);
  EXPECT_EQ(run::buffer_length(words, std::uint64_t{4} * 0xFFFFFFFF + 3), 0xFFFFFFFFu);
  EXPECT_THROW(run::buffer_length(words, std::uint64_t{4} << 32), BindingError);
  const BufferDecl bytes = BufferDecl::read("b", 0, DataType::Bytes);
  EXPECT_EQ(run::buffer_length(bytes, 0), 0u);
  EXPECT_EQ(run::buffer_length(bytes, 1), 1u);
  EXPECT_EQ(run::buffer_length(bytes, 8), 2u);
}

TEST_F(CheckCall, refuses_arrays_that_overlap_when_one_is_written) {
  const std::vector<BufferDecl> buffers{BufferDecl::read("a", 0, DataType::U32), BufferDecl::read_write("b", 1, DataType::U32),
                                        BufferDecl::read("c", 2, DataType::U32)};
  const char* const message =
      "arrays `a` and `b` overlap in memory, and one of them is written. Fix: give each its own array, for instance a copy.";
  EXPECT_EQ(refusal(buffers, {view(0, 16, 4), view(16, 16, 4), view(0, 16, 4)}), "accepted");  // read-only arrays may be one
  EXPECT_EQ(refusal(buffers, {view(0, 16, 4), view(15, 16, 4), view(32, 16, 4)}), message);    // one byte
  EXPECT_EQ(refusal(buffers, {view(15, 16, 4), view(0, 16, 4), view(32, 16, 4)}), message);    // the other way round
  EXPECT_EQ(refusal(buffers, {view(4, 8, 2), view(0, 16, 4), view(32, 16, 4)}), message);      // inside
  EXPECT_EQ(refusal(buffers, {view(0, 64, 16), view(40, 4, 1), view(8, 8, 2)}), message);      // not a neighbour in order
  EXPECT_EQ(refusal(buffers, {view(8, 0, 0), view(0, 16, 4), view(4, 0, 0)}), "accepted");     // empty arrays never overlap
  EXPECT_EQ(refusal(buffers, {view(0, 16, 4), view(32, 0, 0), view(8, 16, 4)}), "accepted");
}

TEST_F(CheckCall, refuses_more_than_2_to_the_32_invocations_on_an_axis) {
  EXPECT_EQ(refusal({}, {}, {1u << 31, 1, 0xFFFFFFFF}, {2, 1, 1}), "accepted");
  EXPECT_EQ(refusal({}, {}, {1, (1u << 31) + 1, 1}, {1, 2, 1}),
            "argument: 2147483649 workgroups of size 2 on axis 1 are 4294967298 invocations, at most 2^32 are allowed. Fix: use at most "
            "2147483648 workgroups on this axis.");
}

}  // namespace
}  // namespace vyre::test
