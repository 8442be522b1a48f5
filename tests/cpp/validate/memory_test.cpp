#include <gtest/gtest.h>

#include "../support/found.hpp"
#include "../support/programs.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre {
namespace {

using namespace sample;

Found add_to(Sample sample, const std::string& buffer) {
  return found(sample.add(let("old", atomic(AtomicOp::Add, buffer, u32(0), u32(1)))).make());
}

TEST(V005, accepts_stores_to_read_write_and_workgroup_buffers) {
  EXPECT_EQ(found(Sample().out("o").shared("s", 4).add(store("o", u32(0), u32(1))).add(store("s", u32(0), u32(1))).make()), Found{});
}
TEST(V005, rejects_a_store_to_a_read_only_buffer) {
  EXPECT_EQ(found(Sample().in("a").add(store("a", u32(0), u32(1))).make()),
            Found{"V005 vyre IR validation: store to non-writable buffer `a`. Fix: declare it with BufferAccess::ReadWrite or "
                  "BufferAccess::Workgroup."});
}
TEST(V005, rejects_a_store_to_a_uniform_buffer) {
  EXPECT_EQ(rules(Sample().uniform("u").add(store("u", u32(0), u32(1))).make()), Found{"V005"});
}

TEST(V009, accepts_atomics_on_read_write_buffers) { EXPECT_EQ(add_to(Sample().out("o"), "o"), Found{}); }
TEST(V009, rejects_atomics_on_read_only_and_uniform_buffers) {
  const Found sentence{"V009 vyre IR validation: atomic on non-writable buffer `b`. Fix: declare it with BufferAccess::ReadWrite."};
  EXPECT_EQ(add_to(Sample().in("b"), "b"), sentence);
  EXPECT_EQ(add_to(Sample().uniform("b"), "b"), sentence);
}

TEST(V013, accepts_buflen_of_bytes) { EXPECT_EQ(found(Sample().in("b", DataType::Bytes).add(let("n", len("b"))).make()), Found{}); }
TEST(V013, rejects_load_store_and_atomic_on_bytes) {
  const Found sentence{
      "V013 vyre IR validation: operation on buffer `b` with element type `bytes` is not supported. Fix: use a typed buffer."};
  EXPECT_EQ(found(Sample().in("b", DataType::Bytes).add(let("v", load("b", u32(0)))).make()), sentence);
  EXPECT_EQ(found(Sample().out("b", DataType::Bytes).add(store("b", u32(0), u32(1))).make()), sentence);
  EXPECT_EQ(add_to(Sample().out("b", DataType::Bytes), "b"), sentence);
}

TEST(V014, accepts_atomics_on_u32) { EXPECT_EQ(add_to(Sample().out("o", DataType::U32), "o"), Found{}); }
TEST(V014, rejects_atomic_on_i32) {
  EXPECT_EQ(
      add_to(Sample().out("o", DataType::I32), "o"),
      Found{"V014 vyre IR validation: atomic on buffer `o` with non-u32 element type `i32`. Fix: atomics only support U32 elements."});
}
TEST(V014, rejects_atomics_on_every_other_type) {
  for (const ir::TypeInfo& row : ir::kTypes) {
    if (row.type == DataType::U32 || row.type == DataType::Bytes) continue;
    EXPECT_EQ(add_to(Sample().out("o", row.type), "o"), Found{"V014 vyre IR validation: atomic on buffer `o` with non-u32 element type `" +
                                                              std::string(row.text) + "`. Fix: atomics only support U32 elements."});
  }
}

TEST(V025, accepts_plain_access_to_workgroup_memory) {
  EXPECT_EQ(found(Sample().shared("s", 4).add(store("s", u32(0), load("s", u32(1)))).make()), Found{});
}
TEST(V025, rejects_atomics_on_workgroup_buffers) {
  EXPECT_EQ(add_to(Sample().shared("s", 4), "s"),
            Found{"V025 vyre IR validation: atomic on non-writable buffer `s`. Fix: declare it with BufferAccess::ReadWrite."});
}

TEST(V031, accepts_every_atomic) {
  for (const ir::AtomicOpInfo& row : ir::kAtomicOps) {
    const ExprHandle old =
        row.op == AtomicOp::CompareExchange ? compare_exchange("o", u32(0), u32(1), u32(2)) : atomic(row.op, "o", u32(0), u32(1));
    EXPECT_EQ(found(Sample().out("o").add(let("old", old)).make()), Found{}) << row.name;
  }
}
TEST(V031, rejects_values_that_are_not_u32) {
  EXPECT_EQ(found(Sample().out("o").add(let("old", atomic(AtomicOp::Add, "o", u32(0), i32(1)))).make()),
            Found{"V031 vyre IR validation: atomic value on buffer `o` must be `u32`, got `i32`. Fix: cast or rewrite it to produce U32."});
}
TEST(V031, rejects_expected_values_that_are_not_u32) {
  EXPECT_EQ(
      found(Sample().out("o").add(let("old", compare_exchange("o", u32(0), boolean(true), u64(1)))).make()),
      (Found{"V031 vyre IR validation: atomic expected value on buffer `o` must be `u32`, got `bool`. Fix: cast or rewrite it to "
             "produce U32.",
             "V031 vyre IR validation: atomic value on buffer `o` must be `u32`, got `u64`. Fix: cast or rewrite it to produce U32."}));
}
TEST(V031, rejects_compare_exchange_without_expected_value) {
  EXPECT_EQ(found(Sample().out("o").add(let("old", atomic(AtomicOp::CompareExchange, "o", u32(0), u32(1)))).make()),
            Found{"V031 vyre IR validation: compare-exchange on buffer `o` has no expected value. Fix: pass the expected value."});
}
TEST(V031, rejects_an_expected_value_of_any_other_atomic) {
  const ExprHandle old = ir::expr::atomic(AtomicOp::Exchange, "o", u32(0), i32(1), u32(2));
  EXPECT_EQ(
      found(Sample().out("o").add(let("old", old)).make()),
      Found{"V031 vyre IR validation: atomic exchange on buffer `o` takes no expected value. Fix: remove it or use CompareExchange."});
}

}  // namespace
}  // namespace vyre
