#include "vyre/ops/body.hpp"

#include <gtest/gtest.h>

namespace vyre::test {
namespace {

std::string_view result_name(const ir::Program& body) {
  const NodeId last{static_cast<std::uint32_t>(body.nodes().size() - 1)};
  return body.text(std::get<ir::Let>(body.node(last)).name);
}

TEST(MakeBody, ends_with_the_result) {
  const std::string parameters[] = {"x"};
  EXPECT_EQ(result_name(ops::make_body(parameters, {}, ir::expr::var("x"))), "result");
}

TEST(MakeBody, picks_another_name_when_a_parameter_or_a_statement_has_it) {
  const std::string parameters[] = {"result"};
  const auto inner = ir::node::let("result_1", ir::expr::u32(1));
  EXPECT_EQ(result_name(ops::make_body(parameters, {ir::node::block({inner})}, ir::expr::var("result"))), "result_2");
}

TEST(MakeBody, survives_a_million_nested_blocks) {
  ir::NodeHandle nested = ir::node::block({});
  for (int depth = 0; depth < 1'000'000; ++depth) nested = ir::node::block({std::move(nested)});
  EXPECT_EQ(result_name(ops::make_body({}, {std::move(nested)}, ir::expr::u32(1))), "result");
}

}  // namespace
}  // namespace vyre::test
