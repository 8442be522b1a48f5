// What coarsening makes of a program, and which programs it leaves alone. That bytes stay the same is shown on random programs,
// in tests/cpp/fuzz_programs.
#include "vyre/transform/coarsen.hpp"

#include <gtest/gtest.h>

#include <string>

#include "vyre/ir/text/parse.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/ops/standard.hpp"

namespace vyre::transform {
namespace {

validate::ValidProgram valid(const std::string& text) {
  const validate::Verdict verdict = validate::validate(ir::parse(text), ops::standard_ops());
  for (const Diagnostic& diagnostic : verdict.diagnostics) ADD_FAILURE() << to_string(diagnostic);
  return verdict.program.value();
}

constexpr const char* kHead = R"(vyre 1
workgroup_size 64 2 1
buffer a: read u32 binding 0
buffer n: uniform u32 binding 1
buffer out: read_write u32 binding 2 output

)";

// The statements alone.
std::string coarsened(const std::string& body, std::uint32_t ways = 2) {
  const std::optional<validate::ValidProgram> result = coarsen(valid(kHead + body), ways);
  if (!result) return "left alone\n";
  const std::string text = ir::to_text(result->program());
  EXPECT_EQ(text.substr(0, std::string(kHead).size()), kHead);
  return text.substr(std::string(kHead).size());
}

TEST(Coarsen, loads_of_all_copies_come_before_their_stores) {
  EXPECT_EQ(coarsened("out[gid.x] = a[gid.x] ^ a[gid.x + 1]\n"), R"(let __copy_0 = (wid.x * 128) + lid.x
%0 = __copy_0
let __copy_1 = %0 + 64
let __copy_2 = a[%0]
%1 = __copy_1
let __copy_3 = a[%1]
%2 = 1
let __copy_4 = %0 + %2
let __copy_5 = %1 + %2
let __copy_6 = a[__copy_4]
let __copy_7 = a[__copy_5]
let __copy_8 = __copy_2 ^ __copy_6
let __copy_9 = __copy_3 ^ __copy_7
out[%0] = __copy_8
out[%1] = __copy_9
)");
}

TEST(Coarsen, a_condition_on_an_index_is_asked_of_all_copies_at_once) {
  EXPECT_EQ(coarsened(R"(if gid.x < len(out) {
  out[gid.x] = 7
} else {
  out[0] = gid.x
}
)"),
            R"(let __copy_0 = (wid.x * 128) + lid.x
%0 = __copy_0
let __copy_1 = %0 + 64
%1 = len(out)
let __copy_2 = %0 < %1
%2 = __copy_1
let __copy_3 = %2 < %1
%3 = __copy_2
%4 = __copy_3
if logical_and(%3, %4) {
  %5 = 7
  out[%0] = %5
  out[%2] = %5
} else {
  if %3 {
    out[%0] = 7
  } else {
    out[0] = %0
  }
  if %4 {
    out[%2] = 7
  } else {
    out[0] = %2
  }
}
)");
}

TEST(Coarsen, under_a_condition_on_data_each_copy_runs_alone) {
  EXPECT_EQ(coarsened(R"(let v = a[gid.x]
if v {
  out[gid.x] = v
}
)"),
            R"(let __copy_0 = (wid.x * 128) + lid.x
%0 = __copy_0
let __copy_1 = %0 + 64
let __copy0_v = a[%0]
%1 = __copy_1
let __copy1_v = a[%1]
if __copy0_v {
  out[%0] = __copy0_v
}
if __copy1_v {
  out[%1] = __copy1_v
}
)");
}

TEST(Coarsen, what_is_the_same_for_all_copies_is_done_once) {
  EXPECT_EQ(coarsened(R"(let end = n[gid.y]
let sum = 0
loop k in 0..end {
  sum = sum + a[gid.x + k]
}
if end {
  out[wid.x] = sum
}
)"),
            R"(let __copy_0 = (wid.x * 128) + lid.x
%0 = __copy_0
let __copy_1 = %0 + 64
let __copy_2 = wid.x * 2
%1 = __copy_2
let __copy_3 = %1 + 1
let end = n[gid.y]
%2 = 0
let __copy0_sum = %2
let __copy1_sum = %2
loop k in 0..end {
  %3 = k
  let __copy_4 = %0 + %3
  let __copy_5 = __copy_1 + %3
  let __copy_6 = a[__copy_4]
  let __copy_7 = a[__copy_5]
  __copy0_sum = __copy0_sum + __copy_6
  __copy1_sum = __copy1_sum + __copy_7
}
if end {
  out[%1] = __copy0_sum
  out[__copy_3] = __copy1_sum
}
)");
}

TEST(Coarsen, what_follows_a_return_runs_for_those_who_are_left) {
  EXPECT_EQ(coarsened(R"(if gid.x >= len(out) {
  return
}
let v = a[gid.x]
if v {
  return
}
out[gid.x] = v
)"),
            R"(let __copy_0 = (wid.x * 128) + lid.x
%0 = __copy_0
let __copy_1 = %0 + 64
%1 = len(out)
let __copy_2 = %0 >= %1
%2 = __copy_1
let __copy_3 = %2 >= %1
let __copy_4 = logical_not(__copy_2)
let __copy_5 = logical_not(__copy_3)
%3 = __copy_4
%4 = __copy_5
if logical_and(%3, %4) {
  let __copy0_v = a[%0]
  let __copy1_v = a[%2]
  let __copy_6 = logical_not(__copy0_v)
  let __copy_7 = logical_not(__copy1_v)
  if __copy_6 {
    out[%0] = __copy0_v
  }
  if __copy_7 {
    out[%2] = __copy1_v
  }
} else {
  if %3 {
    let __copy0_v = a[%0]
    let __copy_8 = logical_not(__copy0_v)
    if __copy_8 {
      out[%0] = __copy0_v
    }
  }
  if %4 {
    let __copy1_v = a[%2]
    let __copy_9 = logical_not(__copy1_v)
    if __copy_9 {
      out[%2] = __copy1_v
    }
  }
}
)");
}

TEST(Coarsen, names_of_its_own_are_nobody_elses) {
  const std::string text = coarsened("let __copy_0 = gid.x\nlet __copy0_v = a[__copy_0]\nout[__copy_0] = __copy0_v\n");
  EXPECT_NE(text.find("let __copy__0___copy0_v = "), std::string::npos) << text;
}

// Ids wrap as they do in a grid of 2^32 invocations.
TEST(Coarsen, ids_are_made_modulo_2_to_the_32) {
  std::string text = kHead + std::string("out[gid.x] = wid.x\n");
  text.replace(text.find("64 2 1"), 6, "1073741825 1 1");
  const std::string result = ir::to_text(coarsen(valid(text), 4).value().program());
  EXPECT_NE(result.find("(wid.x * 4) + lid.x"), std::string::npos) << result;
  EXPECT_NE(result.find(" + 2147483650\n"), std::string::npos) << result;
}

TEST(Coarsen, a_program_whose_invocations_meet_is_left_alone) {
  const auto left_alone = [](const std::string& text) { return !coarsen(valid(text), 2); };
  const std::string rest = "out[gid.x] = a[gid.x]\n";
  EXPECT_FALSE(left_alone(kHead + rest));
  EXPECT_TRUE(left_alone(kHead + rest + "barrier\n"));
  EXPECT_TRUE(left_alone(kHead + rest + "let old = atomic_add(out, gid.x, 1)\n"));
  EXPECT_TRUE(left_alone(kHead + std::string("out[gid.x] = atomic_max(out, gid.x, 1)\n")));
  std::string shared = kHead + rest;
  shared.insert(shared.find("\n\n"), "\nbuffer s: workgroup u32 count 1");
  EXPECT_TRUE(left_alone(shared));
}

TEST(Coarsen, a_return_that_only_some_copies_reach_is_left_alone_unless_it_stands_first) {
  const std::string rest = "out[gid.x] = 1\n";
  EXPECT_EQ(coarsened("block {\n  if gid.x > 9 {\n    return\n  }\n}\n" + rest), "left alone\n");
  EXPECT_EQ(coarsened("if gid.x > 9 {\n  out[0] = 1\n  return\n}\n" + rest), "left alone\n");
  EXPECT_EQ(coarsened("if gid.x > 9 {\n  return\n} else {\n  out[0] = 1\n}\n" + rest), "left alone\n");
  EXPECT_EQ(coarsened("if gid.x > 9 {\n  return\n}\n" + rest + "return\n"), "left alone\n");
  EXPECT_EQ(coarsened("loop k in 0..gid.x {\n  return\n}\n" + rest), "left alone\n");
  // All of them return, or none.
  EXPECT_NE(coarsened("loop k in 0..gid.y {\n  if n[k] {\n    return\n  }\n}\n" + rest), "left alone\n");
  EXPECT_NE(coarsened(rest + "return\n"), "left alone\n");
}

TEST(Coarsen, loops_that_turn_differently_are_left_alone_unless_each_copy_is_alone) {
  const std::string loop = "loop k in 0..gid.x {\n  out[gid.x] = k\n}\n";
  EXPECT_EQ(coarsened(loop), "left alone\n");
  EXPECT_EQ(coarsened("if gid.x < 9 {\n" + loop + "}\n"), "left alone\n");
  EXPECT_NE(coarsened("if a[gid.x] {\n" + loop + "}\n"), "left alone\n");
  // What another invocation may write is not the same for all, and what is assigned under a condition neither.
  EXPECT_EQ(coarsened("loop k in 0..out[0] {\n  out[gid.x] = k\n}\n"), "left alone\n");
  EXPECT_EQ(coarsened("let end = 1\nif gid.x < 9 {\n  end = 2\n}\nloop k in 0..end {\n  out[gid.x] = k\n}\n"), "left alone\n");
  EXPECT_EQ(
      coarsened(
          "let end = 1\nif gid.x < 9 {\n  return\n}\nend = 2\nloop k in 0..end {\n  end = 3\n}\nloop k in 0..end {\n  out[k] = 1\n}\n"),
      "left alone\n");
}

TEST(Coarsen, without_an_access_in_turns_nothing_is_gained) {
  EXPECT_EQ(coarsened(""), "left alone\n");
  EXPECT_EQ(coarsened("let x = gid.x * 3\n"), "left alone\n");
  EXPECT_EQ(coarsened("if n[0] {\n  return\n}\n"), "left alone\n");
}

TEST(Coarsen, a_program_grows_by_twice_the_copies_at_the_most_and_a_large_one_is_left_alone) {
  std::string body, end;
  for (int k = 0; k < 12; ++k) {
    body += "out[gid.x] = 1\nif gid.x < " + std::to_string(k) + " {\n";
    end += "}\n";
  }
  const auto size = [](const validate::ValidProgram& program) { return program.program().nodes().size() + program.facts().steps.size(); };
  const validate::ValidProgram before = valid(kHead + body + "out[gid.x] = 1\n" + end);
  // Names make a statement and an expression of what was an expression.
  EXPECT_LE(size(coarsen(before, 4).value()), 3 * 2 * 4 * size(before));
  std::string many;
  for (int k = 0; k < 200; ++k) many += "out[gid.x] = 1\n";
  EXPECT_EQ(coarsened(many), "left alone\n");
}

}  // namespace
}  // namespace vyre::transform
