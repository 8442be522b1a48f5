// In which order, how often and where things are reported.
#include <gtest/gtest.h>

#include "../support/found.hpp"
#include "../support/programs/programs.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre {
namespace {

using namespace sample;

Found atomic_on(Sample sample) { return rules(sample.add(let("v", atomic(AtomicOp::Add, "b", u32(0), u32(1)))).make()); }

TEST(Overlaps, of_access_and_element_are_two_causes) {
  EXPECT_EQ(atomic_on(Sample().in("b", DataType::I32)), (Found{"V009", "V014"}));
  EXPECT_EQ(atomic_on(Sample().in("b", DataType::Bytes)), (Found{"V009", "V013"}));
  EXPECT_EQ(atomic_on(Sample().shared("b", 1, DataType::I32)), (Found{"V014", "V025"}));
  EXPECT_EQ(rules(Sample().in("b", DataType::Bytes).add(store("b", u32(0), u32(1))).make()), (Found{"V005", "V013"}));
  EXPECT_EQ(rules(Sample().in("b").add(store("b", u32(0), i32(1))).make()), (Found{"V005", "V028"}));
}
TEST(Overlaps, of_atomics_have_one_id_each) {
  EXPECT_EQ(atomic_on(Sample().in("b")), Found{"V009"});
  EXPECT_EQ(atomic_on(Sample().uniform("b")), Found{"V009"});
  EXPECT_EQ(atomic_on(Sample().shared("b", 1)), Found{"V025"});
  EXPECT_EQ(atomic_on(Sample().out("b", DataType::Bytes)), Found{"V013"});
  EXPECT_EQ(atomic_on(Sample().out("b", DataType::U64)), Found{"V014"});
}
TEST(Overlaps, of_casts_have_one_id_each) {
  EXPECT_EQ(rules(Sample().add(let("v", cast(DataType::Bytes, u64(1)))).make()), Found{"V023"});
  EXPECT_EQ(rules(Sample().add(let("v", cast(DataType::Vec4U32, u64(1)))).make()), Found{"V012"});
}
TEST(Overlaps, of_one_node_go_by_number) {
  EXPECT_EQ(rules(Sample().add(let("v", atomic(AtomicOp::Add, "b", i32(0), i32(1)))).make()), (Found{"V004", "V027", "V031"}));
  EXPECT_EQ(rules(Sample().add(let("k", u32(1))).add(loop("k", i32(0), u32(1), {})).make()), (Found{"V008", "V015"}));
}

TEST(Order, is_that_of_the_program) {
  BufferDecl unmarked = BufferDecl::read("c", 0, DataType::U32);
  unmarked.output = true;
  const ir::Program program = Sample()
                                  .in("a")
                                  .in("a")
                                  .shared("s", 0)
                                  .buffer(unmarked)
                                  .size(0, 1, 0)
                                  .add(store("a", var("x"), i32(1) + var("y")))
                                  .add(if_(gid(9), {let("z", cast(DataType::Bytes, u32(1)))}, {assign("w", load("q", u32(0)))}))
                                  .add(return_())
                                  .add(loop("k", boolean(true), lid(3), {assign("k", u32(1))}))
                                  .make();
  EXPECT_EQ(places(program), (Found{
                                 "V001 at buffers[1]",
                                 "V024 at buffers[2]",
                                 "V002 at buffers[3]",
                                 "V035 at buffers[3]",
                                 "V003 at workgroup_size[0]",
                                 "V003 at workgroup_size[2]",
                                 "V006 at entry[0].index",
                                 "V006 at entry[0].value.right",
                                 "V021 at entry[0].value",
                                 "V005 at entry[0]",
                                 "V007 at entry[1].condition",
                                 "V023 at entry[1].then[0].value",
                                 "V004 at entry[1].otherwise[0].value",
                                 "V006 at entry[1].otherwise[0]",
                                 "V007 at entry[3].to",
                                 "V015 at entry[3]",
                                 "V026 at entry[3]",
                                 "V011 at entry[3].body[0]",
                             }));
}
TEST(Order, of_operands_is_that_of_evaluation) {
  const ir::Program program =
      Sample()
          .out("o")
          .add(let("v", select(var("a"), compare_exchange("o", var("b"), var("c"), var("d")), pack(DataType::U64, {var("e"), var("f")}))))
          .make();
  EXPECT_EQ(places(program),
            (Found{"V006 at entry[0].value.condition", "V006 at entry[0].value.if_true.index", "V006 at entry[0].value.if_true.expected",
                   "V006 at entry[0].value.if_true.value", "V006 at entry[0].value.if_false.lanes[0]",
                   "V006 at entry[0].value.if_false.lanes[1]", "V029 at entry[0].value"}));
}
TEST(Order, has_each_node_of_a_statement_once) {
  const ExprHandle bad = i32(1) + u32(1);
  EXPECT_EQ(places(Sample().out("o").add(store("o", bad, bad + bad)).add(store("o", bad, bad)).make()),
            (Found{"V021 at entry[0].index", "V021 at entry[1].index"}));
}

TEST(Places, name_the_way_to_each_operand) {
  const auto ops = table({op_with("t.op", {DataType::U32, DataType::U32}, DataType::U32, {let("r", u32(1))})});
  auto place = [&](ExprHandle value) {
    const Found found = places(Sample().out("o").add(let("v", std::move(value))).make(), ops);
    return found.empty() ? std::string() : found.front();
  };
  EXPECT_EQ(place(load("o", var("x"))), "V006 at entry[0].value.index");
  EXPECT_EQ(place(un(UnOp::Clz, var("x"))), "V006 at entry[0].value.operand");
  EXPECT_EQ(place(cast(DataType::Bool, var("x"))), "V006 at entry[0].value.value");
  EXPECT_EQ(place(lane(var("x"), 0)), "V006 at entry[0].value.value");
  EXPECT_EQ(place(call("t.op", {u32(1), var("x")})), "V006 at entry[0].value.arguments[1]");
  EXPECT_EQ(place(select(u32(1), u32(1), var("x"))), "V006 at entry[0].value.if_false");
  EXPECT_EQ(place(atomic(AtomicOp::Min, "o", u32(0), var("x"))), "V006 at entry[0].value.value");
}
TEST(Places, of_a_shared_expression_are_those_of_its_first_evaluation) {
  const ExprHandle x = var("x");
  EXPECT_EQ(places(Sample().add(let("v", (u32(1) + x) * x)).make()), Found{"V006 at entry[0].value.left.right"});
}
TEST(Places, of_deep_programs_keep_both_ends) {
  ExprHandle value = var("x");
  for (int k = 0; k < 1000; ++k) value = un(UnOp::Clz, value);
  List body{let("v", value)};
  for (int k = 0; k < 40; ++k) body = {block(body)};
  EXPECT_EQ(places(Sample().add(body).make()), Found{"V006 at entry[0].body[0].body[0].body[0].body[0].body[0].body[0].body[0]..."
                                                     "body[0].body[0].body[0].body[0].body[0].body[0].body[0].body[0]."
                                                     "value.operand.operand.operand.operand.operand.operand.operand..."
                                                     "operand.operand.operand.operand.operand.operand.operand.operand"});
}
TEST(Places, show_the_source_of_the_expression_else_of_the_statement) {
  const ir::SourcePlace here{ir::intern_file("kernel.py"), 12, 5};
  const ir::SourcePlace there{ir::intern_file("kernel.py"), 13, 9};
  const ir::Program program = Sample()
                                  .add(ir::node::let("v", ir::expr::var("x", there), here))
                                  .add(ir::node::let("w", var("y"), here))
                                  .add(ir::node::assign("z", u32(1), here))
                                  .add(let("n", var("u")))
                                  .make();
  const Diagnostics found = validate::validate(program, {}).diagnostics;
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].place, (Place{"entry[0].value", "kernel.py", 13, 9}));
  EXPECT_EQ(found[1].place, (Place{"entry[1].value", "kernel.py", 12, 5}));
  EXPECT_EQ(found[2].place, (Place{"entry[2]", "kernel.py", 12, 5}));
  EXPECT_EQ(found[3].place, (Place{"entry[3].value", "", 0, 0}));
  EXPECT_EQ(to_string(found[2]), said("V006 at entry[2] (kernel.py:12:5):", "assignment to undeclared variable `z`",
                                      "add `let z = ...;` before this assignment"));
}

}  // namespace
}  // namespace vyre
