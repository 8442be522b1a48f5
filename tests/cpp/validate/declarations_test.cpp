#include <gtest/gtest.h>

#include "../support/found.hpp"
#include "../support/programs/programs.hpp"

namespace vyre {
namespace {

using namespace sample;

TEST(V001, accepts_a_local_named_like_a_buffer) { EXPECT_EQ(found(Sample().in("a").add(let("a", u32(1))).make()), Found{}); }
TEST(V001, rejects_every_later_buffer_of_one_name) {
  const Found sentence{said("V001", "duplicate buffer name `a`", "each buffer must have a unique name")};
  EXPECT_EQ(found(Sample().in("a").out("a").make()), sentence);
  EXPECT_EQ(places(Sample().in("a").out("b").in("a").in("a").make()), (Found{"V001 at buffers[2]", "V001 at buffers[3]"}));
}
TEST(V001, rejects_a_workgroup_buffer_named_like_another) { EXPECT_EQ(rules(Sample().in("a").shared("a", 4).make()), Found{"V001"}); }
TEST(V001, leaves_the_first_declaration_in_force) {
  EXPECT_EQ(rules(Sample().out("a", DataType::I32).in("a").add(store("a", u32(0), i32(1))).make()), Found{"V001"});
}

TEST(V002, accepts_workgroup_buffers_beside_binding_0) { EXPECT_EQ(found(Sample().in("a").shared("s", 4).shared("t", 4).make()), Found{}); }
TEST(V002, accepts_bindings_with_gaps) {
  EXPECT_EQ(
      found(Sample().buffer(BufferDecl::read("a", 4294967295u, DataType::U32)).buffer(BufferDecl::read("b", 7, DataType::U32)).make()),
      Found{});
}
TEST(V002, rejects_a_binding_used_twice) {
  const ir::Program program =
      Sample().buffer(BufferDecl::read("in", 2, DataType::U32)).buffer(BufferDecl::read_write("out", 2, DataType::U32)).make();
  EXPECT_EQ(found(program), Found{said("V002", "duplicate binding slot 2 (buffer `out`)", "each buffer must have a unique binding")});
  EXPECT_EQ(places(program), Found{"V002 at buffers[1]"});
}

TEST(V003, accepts_ones) { EXPECT_EQ(found(Sample().size(1, 1, 1).make()), Found{}); }
TEST(V003, rejects_each_axis_of_0) {
  EXPECT_EQ(found(Sample().size(0, 1, 0).make()), (Found{said("V003", "workgroup_size[0] is 0", "all workgroup dimensions must be >= 1"),
                                                         said("V003", "workgroup_size[2] is 0", "all workgroup dimensions must be >= 1")}));
  EXPECT_EQ(places(Sample().size(64, 0, 1).make()), Found{"V003 at workgroup_size[1]"});
}

TEST(V024, accepts_a_positive_count) { EXPECT_EQ(found(Sample().shared("tile", 1).make()), Found{}); }
TEST(V024, accepts_a_storage_buffer_sized_by_the_host) { EXPECT_EQ(found(Sample().in("a").make()), Found{}); }
TEST(V024, rejects_a_workgroup_buffer_of_count_0) {
  EXPECT_EQ(found(Sample().shared("tile", 0).make()),
            Found{said("V024", "workgroup buffer `tile` has count 0", "declare a positive element count")});
}

TEST(V035, accepts_one_read_write_output) {
  EXPECT_EQ(found(Sample().in("a").buffer(BufferDecl::output_of("out", 9, DataType::U32)).make()), Found{});
}
TEST(V035, rejects_an_output_that_is_not_read_write) {
  BufferDecl decl = BufferDecl::read("result", 0, DataType::U32);
  decl.output = true;
  EXPECT_EQ(found(Sample().buffer(decl).make()),
            Found{said("V035", "buffer `result` is marked output but is not ReadWrite", "declare it with BufferAccess::ReadWrite")});
}
TEST(V035, rejects_every_output_after_the_first) {
  const ir::Program program =
      Sample().buffer(BufferDecl::output_of("a", 0, DataType::U32)).buffer(BufferDecl::output_of("b", 1, DataType::U32)).make();
  EXPECT_EQ(found(program), Found{said("V035", "more than one output buffer (`b`)", "mark one buffer only")});
  EXPECT_EQ(places(program), Found{"V035 at buffers[1]"});
}

}  // namespace
}  // namespace vyre
