// The open registry, and calls as the reference runs them.
#include <gtest/gtest.h>

#include <thread>

#include "support/errors.hpp"
#include "support/run_program.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/ir/text/procedure_parse.hpp"
#include "vyre/ops/body.hpp"
#include "vyre/run/registry.hpp"

namespace vyre::test {
namespace {

using ir::BinOp;
using ir::BufferDecl;
using ir::DataType;
using ir::ExprHandle;
namespace expr = ir::expr;
namespace node = ir::node;

ir::OpSpec spec_of(std::string id, std::vector<ir::NodeHandle> statements, ExprHandle result, std::vector<std::string> parameters = {"x"}) {
  ir::OpSpec spec;
  spec.id = std::move(id);
  spec.function().signature.inputs.assign(parameters.size(), DataType::U32);
  spec.function().parameters = parameters;
  spec.function().body = ops::make_body(parameters, std::move(statements), std::move(result));
  return spec;
}

ExprHandle x_plus(std::uint32_t value) { return expr::binary(BinOp::Add, expr::var("x"), expr::u32(value)); }

std::uint32_t call(const std::string& id, std::uint32_t argument) {
  const ir::NodeHandle body[] = {node::store("out", expr::u32(0), expr::call(id, {expr::load("out", expr::u32(0))}))};
  return run_reference(ir::make_program({BufferDecl::read_write("out", 0, DataType::U32)}, {1, 1, 1}, body), {{argument}})[0][0];
}

std::string refusal(ir::OpSpec spec) {
  return message_of([&] { run::register_op(std::move(spec)); });
}

TEST(Registry, starts_with_the_standard_operations) {
  EXPECT_EQ(run::registered_op("primitive.bitwise.xor")->function().signature.inputs.size(), 2u);
  EXPECT_EQ(run::registered_op("primitive.bitwise.xor@1"), run::registered_op("primitive.bitwise.xor"));
}

TEST(Registry, says_what_to_do_about_an_unknown_operation) {
  EXPECT_EQ(message_of<ArgumentError>([&] { run::registered_op("primitive.bitwise.exor"); }),
            "unknown operation `primitive.bitwise.exor`. Fix: register an Op with id primitive.bitwise.exor before lowering.\n"
            "  In Python: did you mean \"primitive.bitwise.xor\"? vyre.ops.ids() lists all.");
}

TEST(Registry, takes_operations_at_run_time_and_versions_of_them) {
  run::register_op(spec_of("test.versions", {}, x_plus(1)));
  EXPECT_EQ(call("test.versions", 10), 11u);
  ir::OpSpec second = spec_of("test.versions", {}, x_plus(2));
  second.version = 2;
  EXPECT_EQ(run::register_op(second)->version, 2u);
  EXPECT_EQ(call("test.versions", 10), 12u);
  EXPECT_EQ(call("test.versions@1", 10), 11u);
}

TEST(Registry, takes_the_same_operation_again_and_refuses_another_under_its_name) {
  const auto first = run::register_op(spec_of("test.again", {}, x_plus(1)));
  EXPECT_EQ(run::register_op(spec_of("test.again", {}, x_plus(1))), first);
  EXPECT_EQ(refusal(spec_of("test.again", {}, x_plus(2))),
            "operation `test.again` version 1 is registered with a different body. Fix: register it under a new version.");
}

TEST(Registry, refuses_ids_that_are_not_dotted_lower_case_words) {
  for (const char* id :
       {"", "mix", ".mix", "acme.", "acme..mix", "Acme.mix", "acme.Mix", "1acme.mix", "acme.mix@2", "acme mix.x", "acme.\xC3\xA9"}) {
    EXPECT_EQ(
        refusal(spec_of(id, {}, x_plus(1))),
        std::string("operation id `") + id + "` is not made of dotted lower-case words. Fix: use one like acme.mix or acme.hash.mix_2.");
  }
  EXPECT_NO_THROW(run::register_op(spec_of("a_1.2.x_", {}, x_plus(1))));
  ir::OpSpec zero = spec_of("test.zero", {}, x_plus(1));
  zero.version = 0;
  EXPECT_EQ(refusal(zero), "operation `test.zero` has version 0. Fix: count versions from 1.");
}

TEST(Registry, refuses_bodies_that_break_rules_and_keeps_nothing_of_them) {
  try {
    run::register_op(spec_of("test.loads", {}, expr::load("data", expr::var("x"))));
    FAIL();
  } catch (const ValidationError& error) {
    ASSERT_EQ(error.diagnostics().size(), 1u);
    EXPECT_EQ(error.diagnostics()[0].rule, "V034");
    EXPECT_EQ(error.diagnostics()[0].message,
              "vyre IR validation: buffer access in scalar call `test.loads`. Fix: expose the required value as an argument or compose at "
              "Program level.");
  }
  EXPECT_THROW(run::registered_op("test.loads"), ArgumentError);
}

TEST(Registry, reports_recursion_where_a_program_calls) {
  run::register_op(spec_of("test.ping", {}, expr::call("test.pong", {x_plus(1)})));
  run::register_op(spec_of("test.pong", {}, expr::call("test.ping", {x_plus(1)})));
  try {
    call("test.ping", 1);
    FAIL();
  } catch (const ValidationError& error) {
    ASSERT_EQ(error.diagnostics().size(), 1u);
    EXPECT_EQ(error.diagnostics()[0].rule, "V017");
  }
}

// An operation that is a procedure of these declarations, and that asks for a convention.
ir::OpSpec asking(const std::string& id, const std::string& declarations, const std::string& results, ir::Convention asked) {
  ir::OpSpec spec;
  spec.id = id;
  spec.work = ir::parse_procedure("vyre 1\nprocedure \"p\"\n" + declarations + "return " + results + "\n");
  spec.asked = asked;
  return spec;
}

TEST(Registry, refuses_a_convention_that_the_arrays_of_a_procedure_do_not_fit) {
  const std::string one = "number k: u32\ninput x: u32[]\ninput table: u32[]\noutput y: u32[length(x)] zeros\n";
  const std::string two = one + "in_out z: u32[]\n", working = one + "scratch s: u32[4]\n";
  for (const ir::Convention asked : {ir::Convention(ir::ConventionV1{}), ir::Convention(ir::ConventionV2{1})}) {
    const std::string id = "test.v" + std::to_string(ir::version(asked)), text = ir::text(asked);
    EXPECT_EQ(run::register_op(asking(id, one, "y", asked))->convention(), asked);
    EXPECT_EQ(refusal(asking("test.two", two, "y, z", asked)),
              "operation `test.two` asks for " + text +
                  ", and its procedure is Convention.V3(inputs=3, outputs=1, params=1, scratch=0) and writes 2 of its arrays. Fix: leave "
                  "out `convention`.");
    EXPECT_EQ(refusal(asking("test.working", working, "y", asked)),
              "operation `test.working` asks for " + text +
                  ", and its procedure is Convention.V3(inputs=2, outputs=1, params=1, scratch=1) and writes 1 of its arrays. Fix: leave "
                  "out `convention`.");
  }
  for (const std::uint32_t output_or_none : {2u, 3u}) {
    EXPECT_EQ(refusal(asking("test.lookup", one, "y", ir::ConventionV2{output_or_none})),
              "operation `test.lookup` asks for Convention.V2(lookup_binding=" + std::to_string(output_or_none) +
                  "), and its procedure has no input there. Fix: name the position of an input among its arrays, from 0.");
  }
  EXPECT_NO_THROW(run::register_op(asking("test.v3", two, "y, z", ir::ConventionV3{3, 1, 1, 0})));
  EXPECT_EQ(refusal(asking("test.counts", two, "y, z", ir::ConventionV3{3, 1, 0, 0})),
            "operation `test.counts` asks for Convention.V3(inputs=3, outputs=1, params=0, scratch=0), and its procedure is "
            "Convention.V3(inputs=3, outputs=1, params=1, scratch=0) and writes 2 of its arrays. Fix: leave out `convention`.");
}

TEST(Registry, takes_another_convention_under_another_version_only) {
  const std::string one = "input x: u32[]\noutput y: u32[length(x)] zeros\n";
  run::register_op(asking("test.asking", one, "y", ir::ConventionV1{}));
  EXPECT_EQ(run::register_op(asking("test.asking", one, "y", ir::ConventionV1{}))->convention(), ir::Convention(ir::ConventionV1{}));
  EXPECT_EQ(refusal(asking("test.asking", one, "y", ir::ConventionV2{0})),
            "operation `test.asking` version 1 is registered with a different body. Fix: register it under a new version.");
}

TEST(Registry, gives_snapshots) {
  const ir::OpTable before = run::registered_ops();
  run::register_op(spec_of("test.snapshot", {}, x_plus(1)));
  EXPECT_FALSE(before.find("test.snapshot"));
  EXPECT_TRUE(run::registered_ops().find("test.snapshot"));
}

TEST(Registry, counts_generations) {
  run::register_op(spec_of("test.generation", {}, x_plus(1)));
  const std::uint64_t before = run::op_snapshot().generation;
  run::register_op(spec_of("test.generation", {}, x_plus(1)));  // nothing new
  EXPECT_EQ(run::op_snapshot().generation, before);
  run::register_op(spec_of("test.generation_2", {}, x_plus(1)));
  EXPECT_EQ(run::op_snapshot().generation, before + 1);
}

TEST(Registry, is_safe_from_several_threads) {
  std::vector<std::thread> threads;
  for (std::uint32_t k = 0; k < 8; ++k) {
    threads.emplace_back([k] {
      for (std::uint32_t turn = 0; turn < 50; ++turn) run::register_op(spec_of("test.threads_" + std::to_string(k), {}, x_plus(k)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(call("test.threads_7", 1), 8u);
}

TEST(ReferenceCalls, run_32_deep) {
  run::register_op(spec_of("test.deep_32", {}, x_plus(1)));
  for (int depth = 31; depth >= 1; --depth) {
    run::register_op(spec_of("test.deep_" + std::to_string(depth), {}, expr::call("test.deep_" + std::to_string(depth + 1), {x_plus(1)})));
  }
  EXPECT_EQ(call("test.deep_1", 0), 32u);
}

TEST(ReferenceCalls, keep_the_result_of_one_call_while_the_next_runs) {
  // f(1) * 100 + f(f(2)), f(x) = x + 1, with parameters that are assigned, loops and branches inside.
  run::register_op(spec_of(
      "test.successor",
      {node::let("y", expr::var("x")),
       node::if_(expr::binary(BinOp::Lt, expr::var("y"), expr::u32(1000)),
                 {node::loop("k", expr::u32(0), expr::u32(1), {node::assign("y", expr::binary(BinOp::Add, expr::var("y"), expr::u32(1)))})},
                 {node::assign("y", expr::u32(0))})},
      expr::var("y")));
  const auto f = [](ExprHandle x) { return expr::call("test.successor", {std::move(x)}); };
  const ExprHandle sum = expr::binary(BinOp::Add, expr::binary(BinOp::Mul, f(expr::u32(1)), expr::u32(100)), f(f(expr::u32(2))));
  const ir::NodeHandle body[] = {node::store("out", expr::u32(0), sum)};
  EXPECT_EQ(run_reference(ir::make_program({BufferDecl::read_write("out", 0, DataType::U32)}, {1, 1, 1}, body), {{0}})[0][0], 204u);
}

TEST(ReferenceCalls, keep_their_variables_apart_from_the_callers) {
  // Both have x, y and k; a call in a loop, and in each round a new y in the callee.
  run::register_op(spec_of("test.same_names", {node::let("y", x_plus(100))}, expr::var("y")));
  const ir::NodeHandle body[] = {
      node::let("x", expr::u32(1)), node::let("y", expr::u32(2)),
      node::loop("k", expr::u32(0), expr::u32(3), {node::assign("x", expr::call("test.same_names", {expr::var("x")}))}),
      node::store("out", expr::u32(0), expr::binary(BinOp::Add, expr::var("x"), expr::var("y")))};
  EXPECT_EQ(run_reference(ir::make_program({BufferDecl::read_write("out", 0, DataType::U32)}, {1, 1, 1}, body), {{0}})[0][0], 303u);
}

}  // namespace
}  // namespace vyre::test
