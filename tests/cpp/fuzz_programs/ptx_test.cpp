// Random programs as PTX, in every form that a loader asks for: text that is whole. tests/py has such text assembled, and interprets it.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "vyre/emit/ptx/emit.hpp"
#include "vyre/fuzz/generate.hpp"
#include "vyre/fuzz/operations.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/lower/lower.hpp"

namespace vyre::fuzz {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1))
    lines.push_back(text.substr(0, end));
  return lines;
}

std::uint64_t number_at(std::string_view text, std::size_t at) {
  std::uint64_t number = 0;
  std::from_chars(text.data() + at, text.data() + text.size(), number);
  return number;
}

// What is wrong with the text: labels that are missing or stand twice, registers and parameters beyond what is declared.
std::optional<std::string> problem(std::string_view text) {
  std::map<char, std::uint64_t> declared;  // registers of a kind
  std::set<std::string_view> labels, targets;
  std::uint64_t parameter_bytes = 0;
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with("//")) continue;
    if (line.ends_with(':') && !labels.insert(line.substr(0, line.size() - 1)).second) return "a label stands twice";
    if (const auto at = line.find(".b8 parameters["); at != line.npos) parameter_bytes = number_at(line, at + 15);
    if (const auto at = line.find("[parameters+"); at != line.npos && number_at(line, at + 12) + 4 > parameter_bytes)
      return "no such parameter";
    if (const auto at = line.find("bra "); at != line.npos) targets.insert(line.substr(at + 4, line.size() - at - 5));
    for (std::size_t at = line.find('%'); at != line.npos; at = line.find('%', at + 1)) {
      const char kind = line[at + 1];
      if (line.starts_with("  .reg")) {
        declared[kind] = number_at(line, at + 3);
      } else if (line[at + 2] >= '0' && line[at + 2] <= '9' && number_at(line, at + 2) >= declared[kind]) {
        return "a register that is not declared: " + std::string(line);
      }
    }
  }
  if (!std::ranges::includes(labels, targets)) return "a branch leads nowhere";
  return std::nullopt;
}

TEST(PtxPrograms, random_programs_give_whole_text_in_every_form) {
  constexpr std::uint64_t kFirst = 5'000'000, kSeeds = 300;
  std::size_t coarsened = 0;
  for (std::uint64_t seed = kFirst; seed < kFirst + kSeeds; ++seed) {
    const Case that = generate(seed);
    const validate::Verdict verdict = validate::validate(that.program, op_table());
    ASSERT_TRUE(verdict.program.has_value()) << "seed " << seed;
    std::vector<lower::Kernel> kernels;
    for (const lower::Options& options : {lower::Options{}, {.passes = false}, {.proofs = false}, {.straightening = false}}) {
      kernels.push_back(lower::lower(*verdict.program, options, lower::kPtxTarget));
    }
    if (auto coarse = lower::lower_coarsened(*verdict.program, 4, {}, lower::kPtxTarget)) {
      kernels.push_back(*std::move(coarse));
      ++coarsened;
    }
    for (const lower::Kernel& kernel : kernels) {
      for (const bool counted_grid : {false, true}) {
        const ptx::Code code = ptx::emit(kernel, {.counted_grid = counted_grid});
        ASSERT_EQ(problem(code.text), std::nullopt) << "seed " << seed << "\n" << ir::to_text(that.program) << code.text;
        EXPECT_EQ(code.text, ptx::emit(kernel, {.counted_grid = counted_grid}).text);
      }
    }
  }
  EXPECT_GT(coarsened, 0u);
}

TEST(PtxPrograms, text_that_is_not_whole_is_found) {
  const std::string_view head = ".param .align 8 .b8 parameters[8]\n  .reg .b32 %r<2>;\n";
  const auto found = [&](std::string_view rest) { return problem(std::string(head) + std::string(rest)); };
  EXPECT_EQ(found("  mov.u32 %r1, %tid.x;\nX1:\n  bra X1;\n"), std::nullopt);
  EXPECT_NE(found("  mov.u32 %r2, 0;\n"), std::nullopt);
  EXPECT_NE(found("  @%p0 bra X1;\nX1:\n"), std::nullopt);
  EXPECT_NE(found("  bra X1;\n"), std::nullopt);
  EXPECT_NE(found("X1:\nX1:\n"), std::nullopt);
  EXPECT_NE(found("  ld.param.u32 %r0, [parameters+8];\n"), std::nullopt);
}

}  // namespace
}  // namespace vyre::fuzz
