// The text form of procedures: what it looks like, that it comes back exactly, and what is said about mistakes.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/errors.hpp"
#include "support/programs/random_procedure.hpp"
#include "support/programs/sample_programs.hpp"
#include "support/small_stack.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/ir/text/parse.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/ir/text/procedure_parse.hpp"
#include "vyre/ir/text/procedure_print.hpp"

namespace vyre::ir {
namespace {

void expect_round_trip(const Procedure& procedure) {
  const std::string text = to_text(procedure);
  const Procedure back = parse_procedure(text);
  EXPECT_EQ(back.bytes(), procedure.bytes()) << text;
  EXPECT_EQ(back.hash(), procedure.hash());
  EXPECT_EQ(to_text(back), text);
  EXPECT_EQ(procedure_from_bytes(std::as_bytes(std::span(procedure.bytes()))), procedure);
}

std::string indented(std::string_view text) {
  std::string result;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    result += (end > at ? "  " : "") + std::string(text.substr(at, end - at)) + "\n";
  }
  return result;
}

TEST(ProcedureText, of_the_sample_is_readable) {
  EXPECT_EQ(to_text(test::sample_procedure()),
            "vyre 1\n"
            "procedure \"sample\"\n"
            "number k: u32\n"
            "number \"turn7\": u64\n"
            "input x: u32[]\n"
            "in_out \"an image\": vec4<u32>[, ]\n"
            "%0 = ceil_div(length(x), 2)\n"
            "output y: u32[%0, length(\"an image\", 1)] zeros\n"
            "scratch a: u32[%0]\n"
            "table narrow: u16[9] {\n"
            "  1f1f 1f1f 1f1f 1f1f 1f1f 1f1f 1f1f 1f1f\n"
            "  1f1f\n"
            "}\n"
            "table opaque: bytes[18] {\n"
            "  1f 1f 1f 1f 1f 1f 1f 1f\n"
            "  1f 1f 1f 1f 1f 1f 1f 1f\n"
            "  1f 1f\n"
            "}\n"
            "program 0 {\n" +
                indented(to_text(test::xor_program())) +
                "}\n"
                "program 1 {\n" +
                indented(to_text(test::chain(3))) +
                "}\n"
                "procedure 0 {\n"
                "  vyre 1\n"
                "  procedure \"inner one\"\n"
                "  number from: u32\n"
                "  in_out z: u32[]\n"
                "  clear z[from + 1]\n"
                "}\n"
                "dispatch xor program 0 (x, words(k, \"turn7\"), y[%0 + (length(x) - %0)] as u64) "
                "workgroups (select((k < length(x)), %0, 1), 1, 1)\n"
                "dispatch \"if\" program 0 () invocations a[0 + 3] as u32 at most (limit(workgroup_memory), 1, 1)\n"
                "dispatch \"\" program 1 (narrow, opaque) workgroups a[0 + 3] as u32 at most (1, 1, 1)\n"
                "repeat turn0 in 0..(k + 1) {\n"
                "  when (turn0 == %0) {\n"
                "    swap a, a\n"
                "  } otherwise {\n"
                "    clear y\n"
                "  }\n"
                "}\n"
                "invoke \"inner one\" procedure 0 (a; ceil_log2(\"turn7\"))\n"
                "return y, \"an image\"\n");
}

TEST(ProcedureText, comes_back_exactly) {
  expect_round_trip(Procedure());
  expect_round_trip(test::sample_procedure());
  for (std::uint64_t seed = 0; seed < 400; ++seed) expect_round_trip(test::random_procedure(seed, 1 + seed % 40));
}

TEST(ProcedureText, and_bytes_do_not_depend_on_the_order_in_which_the_builder_heard_of_things) {
  const auto made = [](bool other_order) {
    ProcedureBuilder b("p");
    const ArrayId x = b.array({"x", ArrayRole::InOut, DataType::U32, 1, {}, false, nullptr});
    if (other_order) b.apply(SizeOp::Add, b.literal(99), b.length(x, 0));  // used by nothing
    if (other_order) b.program(test::chain(2)), b.program(test::chain(9)), b.program(test::chain(1));
    if (other_order) b.procedure(test::random_procedure(1, 3));
    const SizeId one = b.literal(1), n = b.length(x, 0);
    b.dispatch({"a", b.program(test::chain(1)), {}, {{n, one, one}, {}, other_order}});
    b.dispatch({"b", b.program(test::chain(2)), {}, {{one, one, n}, {}, false}});
    return b.finish();
  };
  EXPECT_EQ(made(false).bytes(), made(true).bytes());
  expect_round_trip(made(true));
}

TEST(ProcedureText, gives_sizes_of_several_places_and_large_ones_a_line) {
  ProcedureBuilder b("p");
  const ArrayId x = b.array({"x", ArrayRole::InOut, DataType::U32, 1, {}, false, nullptr});
  SizeId size = b.length(x, 0);
  for (int k = 0; k < 1000; ++k) size = b.apply(SizeOp::Add, size, b.literal(1));
  SizeId wide = b.length(x, 0);
  for (int k = 0; k < 7; ++k) {
    wide = b.apply(SizeOp::Mul, wide,
                   b.apply(SizeOp::Min, b.apply(SizeOp::Add, b.length(x, 0), b.literal(static_cast<std::uint64_t>(k))),
                           b.apply(SizeOp::Sub, b.literal(static_cast<std::uint64_t>(k) + 9), b.length(x, 0))));
  }
  b.clear({x, {}, size, wide});
  b.clear({x, {}, wide, size});
  const Procedure procedure = b.finish();
  const std::string text = to_text(procedure);
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = text.find('\n', at);
    EXPECT_LT(end - at, 500u);
  }
  expect_round_trip(procedure);
}

TEST(ProcedureText, reads_what_people_write) {
  const Procedure read = parse_procedure(
      "\xEF\xBB\xBF# made by hand\r\n"
      "\r\n"
      "vyre 1 # the version\r\n"
      "procedure by_hand\n"
      "  input x: u32 [ ]\n"
      "number n: u32\n"
      "%7 = length(x) + n\n"
      "scratch a: u32[%7 * 2,\n"
      "  0x10] zeros\n"
      "table t: i8[3] { 01 02\n"
      "  03 # the last\n"
      "}\n"
      "when n < 3 { clear a[1 +\n 2] } otherwise { when 1 {} }\n"
      "repeat turn9 in 0..n { clear a[turn9 + 1] as u8 }\n"
      "return x\n");
  EXPECT_EQ(to_text(read),
            "vyre 1\n"
            "procedure \"by_hand\"\n"
            "number n: u32\n"
            "input x: u32[]\n"
            "scratch a: u32[((length(x) + n) * 2), 16] zeros\n"
            "table t: i8[3] {\n"
            "  01 02 03\n"
            "}\n"
            "when (n < 3) {\n"
            "  clear a[1 + 2]\n"
            "} otherwise {\n"
            "  when 1 {\n"
            "  }\n"
            "}\n"
            "repeat turn0 in 0..n {\n"
            "  clear a[turn0 + 1] as u8\n"
            "}\n"
            "return x\n");
  EXPECT_EQ(parse_procedure(to_text(read)), read);
}

// --- Mistakes ---

constexpr std::string_view kHead = "vyre 1\nprocedure \"p\"\n";

std::string refusal(std::string_view text) {
  return test::message_of<ParseError>([&] { parse_procedure(text); });
}
void expect_refused(const std::vector<test::Refused>& rows) {
  for (const test::Refused& row : rows) EXPECT_EQ(refusal(row.text), row.sentence());
}

TEST(ProcedureText, says_where_a_header_is_wrong) {
  expect_refused({
      {"", "line 1, column 1: expected `vyre` and the version of the text form, found the end of the text",
       "start the text with the line `vyre 1`"},
      {"vyre 2\n", "line 1, column 6: unknown version 2 of the text form", "use a vyre that knows it, or write version 1"},
      {"vyre 1\nworkgroup_size 1 1 1", "line 2, column 1: this is the text of a program", "read it with vyre.parse"},
      {"vyre 1\nprogram", "line 2, column 1: expected `procedure`, found `program`",
       "write the line `procedure \"<name>\"` before anything else"},
      {"\xFF", "line 1, column 1: the byte 0xff is not valid UTF-8", "save the text as UTF-8"},
  });
  const test::Refused other{std::string(kHead), "line 2, column 1: this is the text of a procedure", "read it with Procedure.parse"};
  EXPECT_EQ(test::message_of<ParseError>([&] { parse(other.text); }), other.sentence());
}

struct Mistake : test::Refused {
  std::string repaired;
};

// What follows the head; `line 3` is its first line. The repaired text is what the Fix says.
const std::vector<Mistake>& mistakes() {
  static const std::string program = "program 0 {\nvyre 1\nworkgroup_size 1 1 1\n}\n";
  static const std::string inner = "procedure 0 {\nvyre 1\nprocedure \"q r\"\n}\n";
  static const std::vector<Mistake> all = {
      {"input x: u32[]\nclaer x", "line 4, column 1: expected a step or a declaration, found `claer`",
       "begin the line with dispatch, invoke, repeat, when, swap, clear, require, return, number, input, in_out, output, scratch, table, "
       "program, procedure or `%<number> =`",
       "input x: u32[]\nclear x"},
      {"number n: u8", "line 3, column 11: a number of type `u8`", "use one of u32, i32, u64, bool", "number n: u32"},
      {"number n: u32\nnumber n: u32", "line 4, column 8: two numbers are called `n`", "give each a name of its own",
       "number n: u32\nnumber m: u32"},
      {"input x: u32[]\nscratch x: u32[1]", "line 4, column 9: two arrays are called `x`", "give each a name of its own",
       "input x: u32[]\nscratch y: u32[1]"},
      {"input if: u32[]", "line 3, column 7: `if` is a keyword", "write the name in quotes: \"if\"", "input \"if\": u32[]"},
      {"input x: u32", "line 3, column 13: expected `[`, found the end of the text",
       "write the axes behind the type, like u32[] or u32[4, 4]", "input x: u32[]"},
      {"input x: u32[4, 4]", "line 3, column 14: input `x` has a size, which a call gives",
       "leave the size out: [] for one axis, [,] for two", "input x: u32[,]"},
      {"scratch a: u32[4, ]", "line 3, column 19: expected a size of `a`, found `]`", "write a size for each axis", "scratch a: u32[4, 1]"},
      {"scratch a: u32[1, 2, 3, 4]", "line 3, column 24: `a` has more than three axes", "declare one to three", "scratch a: u32[1, 2, 3]"},
      {"scratch a: u33[1]", "line 3, column 12: unknown type `u33`",
       "use one of u32, i32, u64, vec2<u32>, vec4<u32>, bool, bytes, u8, i8, u16, i16", "scratch a: u32[1]"},
      {"table t: u32[1]", "line 3, column 16: expected `{`, found the end of the text",
       "write the contents of a table in braces, as words in hexadecimal", "table t: u32[1] { 00000001 }"},
      {"table t: u32[1] { 1 }", "line 3, column 19: 1 hexadecimal digits, where each word of u32 has 8",
       "write 8 digits; the last word alone may have fewer, two for each byte", "table t: u32[1] { 00000001 }"},
      {"table t: u16[2] { 01 0002 }", "line 3, column 22: 4 hexadecimal digits, where each word of u16 has 4",
       "write 4 digits; the last word alone may have fewer, two for each byte", "table t: u16[2] { 0001 0002 }"},
      {"table t: u32[1] { 0000000g }", "line 3, column 26: expected a word of hexadecimal digits, or `}`, found `g`",
       "write digits from 0 to 9 and a to f", "table t: u32[1] { 0000000f }"},
      {"table t: u32[1] { 00000000", "line 3, column 17: this `{` is never closed", "add a `}` on a line of its own",
       "table t: u32[1] { 00000000\n}"},
      {"in_out x: u32[]\nclear x\nscratch a: u32[1]", "line 5, column 1: this is declared after the first step",
       "move the declaration up, above the steps", "in_out x: u32[]\nscratch a: u32[1]\nclear x"},
      {"in_out x: u32[]\nreturn x\nclear x", "line 5, column 1: a line stands behind `return`", "write `return` as the last line",
       "in_out x: u32[]\nclear x\nreturn x"},
      {"in_out x: u32[]\nwhen 1 {\nreturn x\n}", "line 5, column 1: `return` stands in a block",
       "write it as the last line, outside of all blocks", "in_out x: u32[]\nwhen 1 {\n}\nreturn x"},
      {"when 1 {\n", "line 3, column 8: this `{` is never closed", "add a `}` on a line of its own", "when 1 {\n\n}"},
      {"when 1", "line 3, column 7: expected `{`, found the end of the text", "open the block with `{` on this line", "when 1 {}"},
      {"}", "line 3, column 1: this `}` closes nothing", "remove it, or open a block before it", ""},
      {"repeat turn0 in 0..2 {\n} otherwise {\n}", "line 4, column 3: expected the end of the statement, found `otherwise`",
       "write one statement a line", "repeat turn0 in 0..2 {\n}"},
      {"otherwise {", "line 3, column 1: `otherwise` without a `when` before it", "write it after the `}` that closes the `when`",
       "when 1 {\n} otherwise {\n}"},
      {"repeat i in 0..2 {}", "line 3, column 8: expected a turn, found `i`", "write `repeat turn<number> in 0..<size> {`",
       "repeat turn0 in 0..2 {}"},
      {"repeat turn0 in 1..2 {}", "line 3, column 17: expected `0`, found `1`", "write `repeat turn<number> in 0..<size> {`",
       "repeat turn0 in 0..2 {}"},
      {"repeat turn0 in 0..1 + 1 {}", "line 3, column 22: a count with an operator needs parentheses",
       "write `repeat turn<number> in 0..(<a> + <b>) {`", "repeat turn0 in 0..(1 + 1) {}"},
      {"repeat turn0 in 0..1 {}\nrepeat turn0 in 0..1 {}", "line 4, column 8: turn0 is the turn of two repetitions",
       "give each repetition a turn of its own", "repeat turn0 in 0..1 {}\nrepeat turn1 in 0..1 {}"},
      {"repeat turn99999999999 in 0..1 {}", "line 3, column 8: the number of `turn99999999999` does not fit into 32 bits",
       "number the turns from 0", "repeat turn0 in 0..1 {}"},
      {"when turn1 {}", "line 3, column 6: turn1 is the turn of no repetition above", "write `repeat turn1 in 0..<size> {`",
       "repeat turn1 in 0..1 {\nwhen turn1 {}\n}"},
      {"in_out x: u32[]\nclear y", "line 4, column 7: unknown array `y`", "declare it above, like `input <name>: u32[]`",
       "input y: u32[]\nclear y"},
      {"in_out length_of: u32[]\nclear lenght_of", "line 4, column 7: unknown array `lenght_of`",
       "declare it above, like `input <name>: u32[]` (did you mean `length_of`?)", "in_out length_of: u32[]\nclear length_of"},
      {"in_out x: u32[]\nclear x[1]", "line 4, column 10: expected `+`, found `]`", "write `<array>[<first> + <length>]`",
       "in_out x: u32[]\nclear x[1 + 1]"},
      {"in_out x: u32[]\nclear x[1 + 1 * 2]", "line 4, column 15: a length with an operator needs parentheses",
       "write `<array>[<first> + <length>]`", "in_out x: u32[]\nclear x[1 + (1 * 2)]"},
      {"when m {}", "line 3, column 6: unknown number `m`", "declare it above, like `number <name>: u32`", "number m: u32\nwhen m {}"},
      {"input x: u32[]\nwhen x {}", "line 4, column 6: `x` is an array, not a size", "write length(<array>)",
       "input x: u32[]\nwhen length(x) {}"},
      {"when 1 > 0 {}", "line 3, column 8: expected an operator of sizes, found `>`",
       "use one of +, -, *, /, %, <, <=, == and !=", "when 0 < 1 {}"},
      {"when 1 + 2 * 3 {}", "line 3, column 12: two operators in a row, `+` and `*`, without parentheses",
       "operators have no order of precedence: write (a + b) * c or a + (b * c)", "when (1 + 2) * 3 {}"},
      {"when 1 / 0 {}", "line 3, column 8: a size is divided by zero", "write sizes whose value is from 0 to 2^64 - 1", "when 1 / 1 {}"},
      {"when 1 - 2 {}", "line 3, column 8: a size is -1, outside of 0 to 2^64 - 1 (1 - 2)", "write sizes whose value is from 0 to 2^64 - 1",
       "when 2 - 1 {}"},
      {"when 18446744073709551616 {}", "line 3, column 6: the number does not fit into 64 bits", "write a number below 2^64",
       "when 18446744073709551615 {}"},
      {"when 7u32 {}", "line 3, column 7: expected the end of the number, found `u32`", "write a plain number here, without a suffix",
       "when 7 {}"},
      {"when %3 {}", "line 3, column 6: %3 is not defined before its use", "write `%3 = <size>` above this line", "%3 = 1\nwhen %3 {}"},
      {"%3 = 1\n%3 = 2", "line 4, column 1: %3 is defined twice", "use another number, and one definition for each", "%3 = 1\n%4 = 2"},
      {"when ceildiv(1, 2) {}", "line 3, column 6: unknown function `ceildiv`",
       "use one of length, limit, ceil_div, min, max, ceil_log2, select (did you mean `ceil_div`?)", "when ceil_div(1, 2) {}"},
      {"when min(1) {}", "line 3, column 6: min takes 2 sizes, got 1", "pass 2 sizes", "when min(1, 2) {}"},
      {"when limit(memory) {}", "line 3, column 12: expected a limit, found `memory`", "use one of workgroup_memory, workgroup_invocations",
       "when limit(workgroup_memory) {}"},
      {"input x: u32[]\nwhen length(x, 1) {}", "line 4, column 16: axis 1 of an array of 1", "write an axis below 1",
       "input x: u32[]\nwhen length(x, 0) {}"},
      {"dispatch k program 0 () workgroups (1, 1, 1)", "line 3, column 20: program 0 is not declared above its use",
       "write `program 0 {` and its text", program + "dispatch k program 0 () workgroups (1, 1, 1)"},
      {program + "dispatch k program 0 () workgroups (1, 1)", "line 7, column 36: a grid of 2 sizes", "write three: (<x>, <y>, <z>)",
       program + "dispatch k program 0 () workgroups (1, 1, 1)"},
      {program + "dispatch k program 0 () invocations (1, 1, 1)",
       "line 7, column 25: the invocations of a dispatch are counted by an array", "write `workgroups (<x>, <y>, <z>)`",
       program + "dispatch k program 0 () workgroups (1, 1, 1)"},
      {program + program, "line 7, column 9: program 0 is declared twice", "use another number", program + "program 1" + program.substr(9)},
      {inner + "invoke r procedure 0 ()", "line 7, column 8: this procedure is called `q r`, not `r`", "write \"q r\"",
       inner + "invoke \"q r\" procedure 0 ()"},
      {inner + "invoke \"q r\" procedure 0 (1)", "line 7, column 27: expected the name of an array, found `1`",
       "write a name; names that are not made of letters, digits and _ stand in quotes", inner + "invoke \"q r\" procedure 0 (; 1)"},
  };
  return all;
}

TEST(ProcedureText, says_where_a_mistake_is_and_how_it_is_mended) {
  for (const Mistake& each : mistakes()) {
    EXPECT_EQ(refusal(std::string(kHead) + each.text), each.sentence()) << each.text;
    EXPECT_EQ(refusal(std::string(kHead) + each.repaired), "no error") << each.repaired;
  }
}

TEST(ProcedureText, says_where_in_the_whole_text_a_program_within_is_wrong) {
  const std::string before = std::string(kHead) + "program 3 {\n  vyre 1\n  workgroup_size 1 1 1\n";
  expect_refused({
      {before + "  x = 1 + 2 * 3\n}\n", "line 6, column 13: two operators in a row, `+` and `*`, without parentheses",
       "operators have no order of precedence: write (a + b) * c or a + (b * c)"},
      {before + "  x = 1\n", "line 3, column 11: this `{` is never closed", "add a `}` on a line of its own"},
      {before + "  if 1 {\n  }\n", "line 3, column 11: this `{` is never closed", "add a `}` on a line of its own"},
      {std::string(kHead) + "program 3 {\nvyre 1\nprocedure \"p\"\n}", "line 5, column 1: expected `workgroup_size`, found `procedure`",
       "write the line `workgroup_size <x> <y> <z>` before anything else"},
  });
  const std::string inner = "procedure 0 {\n" + before + "}\n";
  expect_refused({{std::string(kHead) + inner + "clear z\n}\n", "line 10, column 7: unknown array `z`",
                   "declare it above, like `input <name>: u32[]`"}});
}

// --- What is long ---

TEST(ProcedureText, nests_blocks_to_any_depth_on_a_small_stack) {
  test::on_small_stack([] {
    constexpr std::size_t kDepth = 200'000;
    std::string text(kHead);
    for (std::size_t k = 0; k < kDepth; ++k) text += "when 1 {\n";
    const std::string open = text;
    for (std::size_t k = 0; k < kDepth; ++k) text += "}\n";
    const Procedure read = parse_procedure(text);
    EXPECT_EQ(read.steps().size(), 2 * kDepth);
    EXPECT_EQ(parse_procedure(to_text(read)), read);
    EXPECT_LT(to_text(read).size(), 100 * kDepth);
    EXPECT_EQ(refusal(open).substr(0, 16), "line 200002, col");
  });
}

TEST(ProcedureText, limits_brackets_and_procedures_within_procedures) {
  test::on_small_stack([] {
    const auto brackets = [](std::size_t count) {
      return std::string(kHead) + "when " + std::string(count, '(') + "1" + std::string(count, ')') + " {}";
    };
    EXPECT_EQ(refusal(brackets(200)), "no error");
    expect_refused({{brackets(201), "line 3, column 206: more than 200 brackets are open",
                     "give an inner expression a line of its own, `%0 = ...`, and write %0 in its place"}});
    EXPECT_NE(refusal(brackets(1'000'000)), "no error");
    const auto nested = [](std::size_t count) {
      std::string text;
      for (std::size_t k = 1; k < count; ++k) text += std::string(kHead) + "procedure 0 {\n";
      text += kHead;
      for (std::size_t k = 1; k < count; ++k) text += "}\ninvoke p procedure 0 ()\n";
      return text;
    };
    EXPECT_EQ(parse_procedure(nested(kMostInvocations)).depth(), kMostInvocations);
    expect_refused(
        {{nested(kMostInvocations + 1), "line 96, column 1: procedures stand more than 32 deep in each other", "invoke fewer levels"}});
    EXPECT_NE(refusal(nested(50'000)), "no error");
  });
}

}  // namespace
}  // namespace vyre::ir
