#include <gtest/gtest.h>

#include <string>
#include <unordered_set>

#include "support/errors.hpp"
#include "vyre/base/assert.hpp"
#include "vyre/base/diagnostic.hpp"
#include "vyre/base/id.hpp"

namespace vyre {
namespace {

TEST(Id, is_none_until_it_is_given) {
  EXPECT_FALSE(ExprId().valid());
  EXPECT_TRUE(ExprId{0}.valid());
  EXPECT_LT(ExprId{0}, ExprId{1});
  static_assert(!std::is_convertible_v<ExprId, NodeId>);
}

TEST(Id, is_a_key) {
  const std::unordered_set<NameId> ids = {NameId{1}, NameId{2}, NameId{1}};
  EXPECT_EQ(ids.size(), 2u);
}

TEST(IdVector, gives_the_id_of_what_it_takes) {
  IdVector<NameId, std::string> names;
  EXPECT_EQ(names.push_back("a"), NameId{0});
  EXPECT_EQ(names.push_back("b"), NameId{1});
  EXPECT_EQ(names[NameId{1}], "b");
}

TEST(Assert, names_the_condition_and_a_place_below_the_source_root) {
  VYRE_ASSERT(1 + 1 == 2);
  EXPECT_EQ(test::message_of<BugError>([&] { assertion_failed("a == b", "/home/someone/cpp/vyre/ir/builder.cpp", 12); }),
            "internal error: `a == b` does not hold at vyre/ir/builder.cpp:12. Fix: please report it with the program that shows it.");
}

TEST(Diagnostic, is_one_line_with_rule_place_and_sentence) {
  const std::string message = "vyre IR validation: load from unknown buffer `x`.";
  EXPECT_EQ(to_string(Diagnostic{"V004", message, {"entry[0].value", "", 0, 0}}), "V004 at entry[0].value: " + message);
  EXPECT_EQ(to_string(Diagnostic{"V004", message, {"entry[0].value", "kernel.py", 12, 9}}),
            "V004 at entry[0].value (kernel.py:12:9): " + message);
  EXPECT_EQ(to_string(Diagnostic{"V004", message, {"entry[0].value", "kernel.py", 12, 0}}),
            "V004 at entry[0].value (kernel.py:12): " + message);
}
TEST(Diagnostic, shows_its_source_and_its_hint_in_lines_of_their_own) {
  const Diagnostic diagnostic{"V004", "sentence", {"entry[0]", "kernel.py", 12, 9}, "write this."};
  EXPECT_EQ(to_string(diagnostic), "V004 at entry[0] (kernel.py:12:9): sentence\n  In Python: write this.");
  EXPECT_EQ(to_string(diagnostic, "Cell In[3], line 2", "    code"),
            "V004 at entry[0] (Cell In[3], line 2): sentence\n    code\n  In Python: write this.");
}

}  // namespace
}  // namespace vyre
