#include <gtest/gtest.h>

#include "../support/found.hpp"
#include "../support/programs/programs.hpp"
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
            Found{said("V005", "store to non-writable buffer `a`", "declare it with BufferAccess::ReadWrite or BufferAccess::Workgroup")});
}
TEST(V005, rejects_a_store_to_a_uniform_buffer) {
  EXPECT_EQ(rules(Sample().uniform("u").add(store("u", u32(0), u32(1))).make()), Found{"V005"});
}

TEST(V009, accepts_atomics_on_read_write_buffers) { EXPECT_EQ(add_to(Sample().out("o"), "o"), Found{}); }
TEST(V009, rejects_atomics_on_read_only_and_uniform_buffers) {
  const Found sentence{said("V009", "atomic on non-writable buffer `b`", "declare it with BufferAccess::ReadWrite")};
  EXPECT_EQ(add_to(Sample().in("b"), "b"), sentence);
  EXPECT_EQ(add_to(Sample().uniform("b"), "b"), sentence);
}

TEST(V013, accepts_buflen_of_bytes) { EXPECT_EQ(found(Sample().in("b", DataType::Bytes).add(let("n", len("b"))).make()), Found{}); }
TEST(V013, rejects_load_store_and_atomic_on_bytes) {
  const Found sentence{said("V013", "operation on buffer `b` with element type `bytes` is not supported", "use a typed buffer")};
  EXPECT_EQ(found(Sample().in("b", DataType::Bytes).add(let("v", load("b", u32(0)))).make()), sentence);
  EXPECT_EQ(found(Sample().out("b", DataType::Bytes).add(store("b", u32(0), u32(1))).make()), sentence);
  EXPECT_EQ(add_to(Sample().out("b", DataType::Bytes), "b"), sentence);
}

TEST(V014, accepts_atomics_on_u32) { EXPECT_EQ(add_to(Sample().out("o", DataType::U32), "o"), Found{}); }
TEST(V014, rejects_atomic_on_i32) {
  EXPECT_EQ(add_to(Sample().out("o", DataType::I32), "o"),
            Found{said("V014", "atomic on buffer `o` with non-u32 element type `i32`", "atomics only support U32 elements")});
}
TEST(V014, rejects_atomics_on_every_other_type) {
  for (const ir::TypeInfo& row : ir::kTypes) {
    if (row.type == DataType::U32 || row.type == DataType::Bytes) continue;
    EXPECT_EQ(add_to(Sample().out("o", row.type), "o"),
              Found{said("V014", "atomic on buffer `o` with non-u32 element type `" + std::string(row.text) + "`",
                         "atomics only support U32 elements")});
  }
}

TEST(V025, accepts_plain_access_to_workgroup_memory) {
  EXPECT_EQ(found(Sample().shared("s", 4).add(store("s", u32(0), load("s", u32(1)))).make()), Found{});
}
TEST(V025, rejects_atomics_on_workgroup_buffers) {
  EXPECT_EQ(add_to(Sample().shared("s", 4), "s"),
            Found{said("V025", "atomic on non-writable buffer `s`", "declare it with BufferAccess::ReadWrite")});
}

TEST(V025, accepts_atomics_on_workgroup_buffers_that_are_declared_atomic) {
  const auto atomic = BufferDecl::workgroup("s", 4, DataType::U32, true);
  EXPECT_EQ(add_to(Sample().buffer(atomic), "s"), Found{});
  EXPECT_EQ(found(Sample().buffer(atomic).add(store("s", u32(0), load("s", u32(1)))).make()), Found{});
}

TEST(V036, accepts_u32) { EXPECT_EQ(found(Sample().buffer(BufferDecl::workgroup("s", 4, DataType::U32, true)).make()), Found{}); }
TEST(V036, rejects_other_elements_at_the_declaration_alone) {
  EXPECT_EQ(add_to(Sample().buffer(BufferDecl::workgroup("s", 4, DataType::I32, true)), "s"),
            Found{said("V036", "buffer `s` is declared atomic with element `i32`", "declare it with DataType::U32")});
  EXPECT_EQ(found(Sample().buffer(BufferDecl::workgroup("s", 4, DataType::Vec2U32, true)).make()),
            Found{said("V036", "buffer `s` is declared atomic with element `vec2<u32>`", "declare it with DataType::U32")});
}

TEST(V037, accepts_private_buffers_of_every_element_up_to_16384_bytes) {
  Sample sample;
  for (const ir::TypeInfo& row : ir::kTypes) {
    if (row.type == DataType::Bytes) continue;
    sample.own(std::string(row.name), 3, row.type).add(store(std::string(row.name), u32(1), load(std::string(row.name), u32(2))));
  }
  EXPECT_EQ(found(sample.make()), Found{});
  EXPECT_EQ(found(Sample().own("p", 4096).make()), Found{});
  EXPECT_EQ(found(Sample().own("p", 2048).own("q", 512, DataType::Vec4U32).make()), Found{});
}
TEST(V037, rejects_atomics_on_private_buffers) {
  const std::string sentence =
      said("V037", "atomic on private buffer `p`", "use a Workgroup buffer declared atomic, or a ReadWrite buffer");
  EXPECT_EQ(add_to(Sample().own("p", 4), "p"), Found{sentence});
  EXPECT_EQ(add_to(Sample().own("p", 4, DataType::I32), "p"),
            (Found{said("V014", "atomic on buffer `p` with non-u32 element type `i32`", "atomics only support U32 elements"), sentence}));
}
TEST(V037, rejects_bytes_at_the_declaration_alone) {
  EXPECT_EQ(found(Sample().own("p", 4, DataType::Bytes).add(let("x", load("p", u32(0)))).make()),
            Found{said("V037", "private buffer `p` cannot hold `bytes`", "declare it with DataType::U8")});
}
TEST(V037, rejects_a_count_of_zero) {
  EXPECT_EQ(found(Sample().own("p", 0).make()),
            Found{said("V037", "private buffer `p` must have a non-zero count", "declare at least one element")});
}
TEST(V037, rejects_more_than_16384_bytes_once_where_they_are_crossed) {
  EXPECT_EQ(found(Sample().own("p", 4097).make()),
            Found{said("V037", "private buffers hold 16388 bytes an invocation", "keep them within 16384 bytes")});
  EXPECT_EQ(found(Sample().own("p", 4096).own("q", 1, DataType::Bool).own("r", 1, DataType::U64).make()),
            Found{said("V037", "private buffers hold 16396 bytes an invocation", "keep them within 16384 bytes")});
  EXPECT_EQ(places(Sample().own("p", 4096).own("q", 1).own("r", 1).make()), Found{"V037 at buffers[1]"});
  EXPECT_EQ(found(Sample().own("p", ~0u, DataType::Vec4U32).own("q", ~0u, DataType::Vec4U32).make()),
            Found{said("V037", "private buffers hold 137438953440 bytes an invocation", "keep them within 16384 bytes")});
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
            Found{said("V031", "atomic value on buffer `o` must be `u32`, got `i32`", "cast or rewrite it to produce U32")});
}
TEST(V031, rejects_expected_values_that_are_not_u32) {
  EXPECT_EQ(found(Sample().out("o").add(let("old", compare_exchange("o", u32(0), boolean(true), u64(1)))).make()),
            (Found{said("V031", "atomic expected value on buffer `o` must be `u32`, got `bool`", "cast or rewrite it to produce U32"),
                   said("V031", "atomic value on buffer `o` must be `u32`, got `u64`", "cast or rewrite it to produce U32")}));
}
TEST(V031, rejects_compare_exchange_without_expected_value) {
  EXPECT_EQ(found(Sample().out("o").add(let("old", atomic(AtomicOp::CompareExchange, "o", u32(0), u32(1)))).make()),
            Found{said("V031", "compare-exchange on buffer `o` has no expected value", "pass the expected value")});
}
TEST(V031, rejects_an_expected_value_of_any_other_atomic) {
  const ExprHandle old = ir::expr::atomic(AtomicOp::Exchange, "o", u32(0), i32(1), u32(2));
  EXPECT_EQ(found(Sample().out("o").add(let("old", old)).make()),
            Found{said("V031", "atomic exchange on buffer `o` takes no expected value", "remove it or use CompareExchange")});
}

}  // namespace
}  // namespace vyre
