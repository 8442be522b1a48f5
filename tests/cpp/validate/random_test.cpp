// Validation answers random programs, whatever they are, in the order of their statements and with sentences of the table.
#include <gtest/gtest.h>

#include <set>

#include "../support/programs/programs.hpp"
#include "../support/programs/random_program.hpp"
#include "vyre/ir/text/parse.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/validate/rules.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre {
namespace {

// Whether `message` is `sentence` with its `<...>` filled. A filled name may hold anything, so parts are looked for in order.
bool fits(std::string_view message, std::string_view sentence) {
  while (true) {
    const std::size_t open = sentence.find('<');
    const std::string_view part = sentence.substr(0, open);
    if (open == std::string_view::npos) return message.ends_with(part);
    const std::size_t at = message.find(part);
    if (at == std::string_view::npos) return false;
    message.remove_prefix(at + part.size());
    sentence.remove_prefix(sentence.find('>', open) + 1);
  }
}

bool is_sentence_of(const Diagnostic& diagnostic) {
  for (const validate::MessageInfo& row : validate::kMessages) {
    if (validate::id(row.rule) == diagnostic.rule && fits(diagnostic.message, row.sentence)) return true;
  }
  return false;
}

TEST(RandomPrograms, get_an_answer) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ir::Program program = test::random_program(seed, 1 + seed % 60);
    const validate::Verdict verdict = validate::validate(program, {});
    EXPECT_EQ(verdict.program.has_value(), verdict.diagnostics.empty());
    for (const Diagnostic& diagnostic : verdict.diagnostics) {
      seen.insert(diagnostic.rule);
      EXPECT_TRUE(is_sentence_of(diagnostic)) << to_string(diagnostic);
      EXPECT_EQ(diagnostic.message.find('\0'), std::string::npos);
      EXPECT_FALSE(diagnostic.place.path.empty());
    }
    // What is found belongs to the program, not to the handles or the builder that it came from.
    EXPECT_EQ(validate::validate(ir::parse(ir::to_text(program)), {}).diagnostics, verdict.diagnostics);

    ir::OpSpec op;
    op.id = "t.random";
    op.function().body = program;
    for (const Diagnostic& diagnostic : validate::validate_op(op, {})) EXPECT_TRUE(is_sentence_of(diagnostic)) << to_string(diagnostic);
  }
  // Nearly every rule can be met this way.
  EXPECT_GT(seen.size(), 20u);
}

}  // namespace
}  // namespace vyre
