// Every operation of the standard library keeps the rules and says what it does. That its examples, its laws and a model of it hold is
// seen by vyre.conformance, on every backend.
#include "vyre/ops/standard.hpp"

#include <gtest/gtest.h>

#include "vyre/validate/validate.hpp"

namespace vyre::test {
namespace {

TEST(StandardOps, have_valid_bodies_and_say_what_they_do) {
  for (const ir::OpTable::Spec& op : ops::standard_ops().all()) {
    SCOPED_TRACE(op->id);
    const Diagnostics found = validate::validate_op(*op, ops::standard_ops());
    EXPECT_TRUE(found.empty()) << to_string(found.front());
    EXPECT_TRUE(op->summary.ends_with('.'));
    EXPECT_FALSE(op->function().examples.empty());
  }
}

}  // namespace
}  // namespace vyre::test
