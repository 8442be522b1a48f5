// The rule table itself: every rule is tested, named and explained.
#include "vyre/validate/rules.hpp"

#include <gtest/gtest.h>

#include <string>

namespace vyre::validate {
namespace {

bool has_test(std::string_view suite, std::string_view prefix) {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const testing::TestSuite& candidate = *all.GetTestSuite(s);
    if (candidate.name() != suite) continue;
    for (int t = 0; t < candidate.total_test_count(); ++t) {
      if (std::string_view(candidate.GetTestInfo(t)->name()).starts_with(prefix)) return true;
    }
  }
  return false;
}

TEST(Rules, have_accepting_and_rejecting_tests) {
  for (const RuleInfo& row : kRules) {
    EXPECT_TRUE(has_test(row.id, "accepts_")) << row.id << " has no accepts_* test";
    EXPECT_TRUE(has_test(row.id, "rejects_")) << row.id << " has no rejects_* test";
  }
}
TEST(Rules, are_numbered_as_in_the_documents) {
  ASSERT_EQ(kRules.size(), 39u);
  for (std::size_t k = 0; k < kRules.size(); ++k) {
    const std::string number = std::to_string(k + 1);
    EXPECT_EQ(kRules[k].id, "V" + std::string(3 - number.size(), '0') + number);
  }
}
TEST(Rules, have_messages_of_one_form) {
  for (const MessageInfo& row : kMessages) {
    EXPECT_TRUE(row.sentence.starts_with("vyre IR validation: ")) << row.sentence;
    EXPECT_NE(row.sentence.find(". Fix: "), std::string_view::npos) << row.sentence;
    EXPECT_TRUE(row.sentence.ends_with('.')) << row.sentence;
  }
  for (const RuleInfo& row : kRules) {
    bool said = false;
    for (const MessageInfo& message : kMessages) said = said || message.rule == row.rule;
    EXPECT_TRUE(said) << row.id << " has no message";
  }
}
TEST(Rules, can_be_explained) {
  EXPECT_EQ(
      explain(Rule::V006),
      "V006: Variable References Have A Prior Let\n\n"
      "Checks: Every `Var` resolves to a prior `Let` or an in-scope loop variable, at every occurrence. `Assign` also requires an "
      "existing in-scope binding.\n\n"
      "Why: Variables are local SSA-like names with explicit declaration points. Implicit declaration would hide spelling mistakes and "
      "make scope-sensitive lowering ambiguous.\n\n"
      "Messages:\n"
      "  vyre IR validation: reference to undeclared variable `<name>`. Fix: add `let <name> = ...;` before this use.\n"
      "  vyre IR validation: assignment to undeclared variable `<name>`. Fix: add `let <name> = ...;` before this assignment.\n\n"
      "In Python:\n"
      "  write Node.let(<name>, value) before this statement.\n"
      "  write the let of <name><place> before this statement, in its list or one around it, and Node.assign where it is now.\n"
      "  did you mean <name>?\n"
      "  <name> is a buffer: write Expr.load(<name>, index) or Node.store(<name>, index, value).\n");
}
TEST(Rules, have_hints_that_read_like_sentences_and_speak_of_python_alone) {
  for (const HintInfo& row : kHints) {
    EXPECT_TRUE(row.sentence.ends_with('.') || row.sentence.ends_with('?')) << row.sentence;
    for (const char* foreign : {"::", "casts.md", "let <", "Fix:"}) {
      EXPECT_EQ(row.sentence.find(foreign), std::string_view::npos) << row.sentence;
    }
  }
}
TEST(Rules, are_found_by_id) {
  EXPECT_EQ(parse_rule("V014"), Rule::V014);
  EXPECT_EQ(parse_rule("v014"), Rule::V014);
  EXPECT_EQ(parse_rule("V040"), std::nullopt);
  EXPECT_EQ(parse_rule(""), std::nullopt);
}

}  // namespace
}  // namespace vyre::validate
