// The text form: what it looks like, that it comes back exactly, and what is said about mistakes.
#include <gtest/gtest.h>

#include <set>

#include "support/errors.hpp"
#include "support/programs/random_program.hpp"
#include "support/programs/sample_programs.hpp"
#include "support/small_stack.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/builder.hpp"
#include "vyre/ir/bytes/wire.hpp"
#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/ir/text/parse.hpp"
#include "vyre/ir/text/print.hpp"
#include "vyre/ir/text/text_form.hpp"

namespace vyre::ir {
namespace {

constexpr std::string_view kHead = "vyre 1\nworkgroup_size 1 1 1\n";

Program of(std::vector<NodeHandle> entry) { return make_program({}, {1, 1, 1}, entry); }
// The statements of a program without buffers, as text.
std::string body(const Program& program) {
  const std::string text = to_text(program);
  return text.substr(std::min(text.size(), kHead.size() + 1));
}
std::string let_text(const ExprHandle& value) {
  const std::string text = body(of({node::let("x", value)}));
  EXPECT_TRUE(text.starts_with("let x = ")) << text;
  return text.substr(8, text.size() - 9);
}
Program parse_body(std::string_view statements) { return parse(std::string(kHead) + std::string(statements)); }

void expect_round_trip(const Program& program) {
  const std::string text = to_text(program);
  const Program back = parse(text);
  EXPECT_EQ(back, program) << text;
  EXPECT_EQ(back.hash(), program.hash());
  EXPECT_EQ(to_text(back), text);
  const std::string bytes = to_bytes(program);
  const Program decoded = from_bytes(std::as_bytes(std::span(bytes)));
  EXPECT_EQ(decoded, program) << text;
  EXPECT_EQ(decoded.hash(), program.hash());
  EXPECT_EQ(to_bytes(decoded), bytes);
}

// --- Shape ---

TEST(Text, of_the_first_program_is_readable) {
  EXPECT_EQ(to_text(test::xor_program()),
            "vyre 1\n"
            "workgroup_size 64 1 1\n"
            "buffer left: read u32 binding 0\n"
            "buffer right: read u32 binding 1\n"
            "buffer out: read_write u32 binding 2 output\n"
            "\n"
            "%0 = gid.x\n"
            "if %0 < len(out) {\n"
            "  out[%0] = left[%0] ^ right[%0]\n"
            "}\n");
}

TEST(Text, of_an_empty_program_is_its_header) { EXPECT_EQ(to_text(Program()), kHead); }

TEST(Text, of_buffers_names_what_differs_from_the_default) {
  BufferDecl odd = BufferDecl::workgroup("tile", 64, DataType::Vec2U32);
  odd.binding = 3;
  odd.output = true;
  const Program program = make_program({BufferDecl::workgroup("w", 16, DataType::U32), BufferDecl::uniform("u", 7, DataType::Bytes),
                                        BufferDecl::workgroup("none", 0, DataType::Bool), odd},
                                       {0, 4294967295u, 1}, {});
  EXPECT_EQ(to_text(program),
            "vyre 1\n"
            "workgroup_size 0 4294967295 1\n"
            "buffer w: workgroup u32 count 16\n"
            "buffer u: uniform bytes binding 7\n"
            "buffer none: workgroup bool\n"
            "buffer tile: workgroup vec2<u32> binding 3 count 64 output\n");
  expect_round_trip(program);
}

TEST(Text, of_statements) {
  EXPECT_EQ(body(of({node::let("x", expr::u32(1)), node::assign("x", expr::u32(2)), node::store("b", expr::u32(0), expr::var("x")),
                     node::if_(expr::var("x"), {node::barrier()}, {node::return_()}),
                     node::loop("k", expr::u32(0), expr::binary(BinOp::Add, expr::var("n"), expr::u32(1)), {node::block({})})})),
            "let x = 1\n"
            "x = 2\n"
            "b[0] = x\n"
            "if x {\n"
            "  barrier\n"
            "} else {\n"
            "  return\n"
            "}\n"
            "loop k in 0..(n + 1) {\n"
            "  block {\n"
            "  }\n"
            "}\n");
}

TEST(Text, of_literals) {
  EXPECT_EQ(let_text(expr::u32(4294967295u)), "4294967295");
  EXPECT_EQ(let_text(expr::i32(-2147483647 - 1)), "-2147483648i32");
  EXPECT_EQ(let_text(expr::i32(7)), "7i32");
  EXPECT_EQ(let_text(expr::u64(18446744073709551615u)), "18446744073709551615u64");
  EXPECT_EQ(let_text(expr::boolean(true)), "true");
  EXPECT_EQ(let_text(expr::boolean(false)), "false");
}

TEST(Text, of_operators_puts_parentheses_around_inner_ones_alone) {
  const auto add = [](ExprHandle a, ExprHandle b) { return expr::binary(BinOp::Add, std::move(a), std::move(b)); };
  const auto v = [](const char* name) { return expr::var(name); };
  EXPECT_EQ(let_text(add(add(v("a"), v("b")), v("c"))), "(a + b) + c");
  EXPECT_EQ(let_text(add(v("a"), add(v("b"), v("c")))), "a + (b + c)");
  EXPECT_EQ(let_text(expr::load("a", add(v("b"), v("c")))), "a[b + c]");
  EXPECT_EQ(let_text(expr::unary(UnOp::BitNot, add(v("b"), v("c")))), "bitnot(b + c)");
  EXPECT_EQ(let_text(add(v("a"), expr::binary(BinOp::MulHigh, v("b"), add(v("c"), v("d"))))), "a + mulhi(b, c + d)");
}

TEST(Text, of_functions) {
  const ExprHandle a = expr::var("a");
  const auto v = [](const char* name) { return expr::var(name); };
  EXPECT_EQ(let_text(expr::select(v("c"), v("a"), v("b"))), "select(c, a, b)");
  EXPECT_EQ(let_text(expr::cast(DataType::Vec2U32, v("a"))), "cast(vec2<u32>, a)");
  EXPECT_EQ(let_text(expr::pack(DataType::U64, {v("a"), v("b")})), "pack(u64, a, b)");
  EXPECT_EQ(let_text(expr::pack(DataType::U64, {})), "pack(u64)");
  EXPECT_EQ(let_text(expr::lane(v("a"), 3)), "lane(a, 3)");
  EXPECT_EQ(let_text(expr::call("primitive.bitwise.xor", {v("a"), v("b")})), "call(\"primitive.bitwise.xor\", a, b)");
  EXPECT_EQ(let_text(expr::call("f", {})), "call(\"f\")");
  EXPECT_EQ(let_text(expr::buf_len("a")), "len(a)");
  EXPECT_EQ(let_text(expr::wid(1)), "wid.y");
  EXPECT_EQ(let_text(expr::lid(7)), "lid(7)");
  EXPECT_EQ(let_text(expr::atomic(AtomicOp::Add, "b", v("i"), {}, v("x"))), "atomic_add(b, i, x)");
  EXPECT_EQ(let_text(expr::atomic(AtomicOp::CompareExchange, "b", v("i"), v("e"), v("x"))), "atomic_compare_exchange(b, i, e, x)");
}

TEST(Text, of_awkward_names_is_quoted_and_escaped) {
  const auto spelt = [](std::string name) { return let_text(expr::var(std::move(name))); };
  EXPECT_EQ(spelt("min"), "min");  // functions and types are known by where they stand
  EXPECT_EQ(spelt("u32"), "u32");
  EXPECT_EQ(spelt("gid"), "gid");
  EXPECT_EQ(spelt("let"), "\"let\"");
  EXPECT_EQ(spelt(""), "\"\"");
  EXPECT_EQ(spelt("9"), "\"9\"");
  EXPECT_EQ(spelt("a-b"), "\"a-b\"");
  EXPECT_EQ(spelt("\xE6\x97\xA5\xE6\x9C\xAC"), "\"\xE6\x97\xA5\xE6\x9C\xAC\"");
  EXPECT_EQ(spelt(std::string("a\0b", 3)), "\"a\\u{0}b\"");
  EXPECT_EQ(spelt("\"\\\n\t\r"), R"("\"\\\n\t\r")");
  EXPECT_EQ(spelt("\xE2\x80\xAE"), "\"\\u{202e}\"");
}

TEST(Text, names_what_is_shared_and_nothing_else) {
  const ExprHandle x = expr::var("x");
  EXPECT_EQ(
      body(of({node::let("y", expr::binary(BinOp::Add, x, x)), node::let("z", expr::binary(BinOp::Add, expr::var("x"), expr::var("x")))})),
      "%0 = x\n"
      "let y = %0 + %0\n"
      "let z = x + x\n");
  expect_round_trip(of({node::let("y", expr::binary(BinOp::Add, x, x))}));
}

TEST(Text, keeps_sharing_across_statements_and_scopes) {
  const ExprHandle sum = expr::binary(BinOp::Add, expr::var("x"), expr::u32(1));
  const Program program = of({node::if_(expr::var("c"), {node::let("a", sum)}, {node::let("b", sum)})});
  EXPECT_EQ(body(program),
            "if c {\n"
            "  %0 = x + 1\n"
            "  let a = %0\n"
            "} else {\n"
            "  let b = %0\n"
            "}\n");
  expect_round_trip(program);
}

TEST(Text, keeps_equal_and_distinct_atomics_apart) {
  const auto fire = [] { return expr::atomic(AtomicOp::Add, "b", expr::u32(0), {}, expr::u32(1)); };
  const ExprHandle once = fire();
  const Program one = of({node::let("x", expr::binary(BinOp::Add, once, once))});
  const Program two = of({node::let("x", expr::binary(BinOp::Add, fire(), fire()))});
  EXPECT_NE(one, two);
  expect_round_trip(one);
  expect_round_trip(two);
}

TEST(Text, breaks_deep_expressions_into_lines) {
  const std::string text = to_text(test::chain(1000));
  std::size_t longest = 0, at = 0;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    longest = std::max(longest, end - at);
    at = end + 1;
  }
  EXPECT_LT(longest, 120u);
  EXPECT_NE(text.find("%1 = "), std::string::npos);
}

TEST(Text, indents_by_sixteen_levels_at_most) {
  const std::string text = body(test::nested_blocks(40));
  EXPECT_NE(text.find("\n" + std::string(32, ' ') + "block {"), std::string::npos);
  EXPECT_EQ(text.find(std::string(33, ' ')), std::string::npos);
}

// Every function and every keyword is told apart by its spelling alone.
TEST(Text, spells_no_two_things_alike) {
  std::set<std::string_view> functions;
  for (const GridIdInfo& row : kGridIds) functions.insert(row.text);
  std::size_t count = functions.size();
  const auto add = [&](std::string_view text) {
    ++count;
    functions.insert(text);
    EXPECT_FALSE(text_form::is_keyword(text)) << text;
  };
  for (std::string_view text : {"cast", "call", "lane", "pack", "len"}) add(text);
  for (const OpInfo* row : kOps) add(row->text);
  for (const AtomicOpInfo& row : kAtomicOps) add(row.text);
  EXPECT_EQ(functions.size(), count);
  std::set<std::string_view> infixes;
  for (const BinOpInfo& row : kBinOps) {
    if (!row.infix.empty()) {
      EXPECT_TRUE(infixes.insert(row.infix).second) << row.infix;
    }
  }
}

// --- Round trips, of the text and of the bytes ---

TEST(Forms, of_every_sample_come_back) {
  for (const test::SampleProgram& sample : test::sample_programs()) {
    SCOPED_TRACE(sample.name);
    expect_round_trip(sample.program);
  }
}

TEST(Forms, of_random_programs_come_back) {
  for (std::uint64_t seed = 0; seed < 3000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_round_trip(test::random_program(seed, 1 + seed % 60));
  }
  for (std::uint64_t seed = 0; seed < 20 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", large");
    expect_round_trip(test::random_program(seed, 3000));
  }
}

// --- What people may write beside what to_text writes ---

TEST(Parse, accepts_comments_blank_lines_and_any_indentation) {
  const Program program = parse(
      "# a comment\r\n\r\n  vyre 1 # another\r\nworkgroup_size 1 1 1\r\n\r\n\tbuffer out: read_write u32 binding 0 output\r\n"
      "if 1 { # then\r\n# nothing\r\n out[0] = 2 # two\r\n}\r\n\r\n# before else\r\nelse {\r\n return }");
  EXPECT_EQ(program,
            make_program({BufferDecl::output_of("out", 0, DataType::U32)}, {1, 1, 1},
                         std::vector{node::if_(expr::u32(1), {node::store("out", expr::u32(0), expr::u32(2))}, {node::return_()})}));
}

TEST(Parse, lets_lines_break_between_brackets_and_after_operators) {
  EXPECT_EQ(parse_body("let x = min(\n  a,\n  (b\n  +\n  c)\n)\nlet y = a +\n  b\nlet z =\n  b[\n1\n]\n"),
            parse_body("let x = min(a, b + c)\nlet y = a + b\nlet z = b[1]"));
}

TEST(Parse, accepts_blocks_on_one_line) {
  EXPECT_EQ(parse_body("block { if a { barrier } else { x = 1 } }"), parse_body("block {\nif a {\nbarrier\n} else {\nx = 1\n}\n}\n"));
}

TEST(Parse, accepts_hexadecimal_suffixes_and_operators_by_name) {
  EXPECT_EQ(parse_body("let x = 0xFFu64\nlet y = add(0x1f, 7u32)"), parse_body("let x = 255u64\nlet y = 31 + 7"));
}

TEST(Parse, accepts_a_byte_order_mark_and_a_missing_last_line_break) {
  EXPECT_EQ(parse("\xEF\xBB\xBFvyre 1\nworkgroup_size 1 1 1"), Program());
}

TEST(Parse, drops_an_empty_else_and_unused_definitions) { EXPECT_EQ(parse_body("%4 = 7\nif a {\n} else {\n}\n"), parse_body("if a { }")); }

TEST(Parse, tells_remainder_from_a_numbered_expression) {
  EXPECT_EQ(parse_body("%2 = b\nlet x = a %2\nlet y = a % %2\nlet z = %2"),
            parse_body("%9 = b\nlet x = a % 2\nlet y = a % %9\nlet z = %9"));
  EXPECT_NE(parse_body("%2 = b\nlet x = a %2"), parse_body("%2 = b\nlet x = a % %2"));
}

TEST(Parse, takes_minus_before_a_digit_as_an_operator_after_a_value) {
  EXPECT_EQ(parse_body("let x = a -1"), parse_body("let x = a - 1"));
  EXPECT_EQ(parse_body("let x = a - -1i32"), parse_body("let x = a -(-1i32)"));
}

// --- Mistakes ---

std::string error_of(std::string_view text) {
  return test::message_of<ParseError>([&] { parse(text); });
}
// With the two lines of the header before it, so that the text starts on line 3.
std::string body_error(std::string_view statements) { return error_of(std::string(kHead) + std::string(statements)); }
void expect_refused(const std::vector<test::Refused>& rows, std::string_view head = kHead) {
  for (const test::Refused& row : rows) EXPECT_EQ(error_of(std::string(head) + row.text), row.sentence());
}

TEST(ParseErrors, of_the_header) {
  expect_refused(
      {
          {"", "line 1, column 1: expected `vyre` and the version of the text form, found the end of the text",
           "start the text with the line `vyre 1`"},
          {"vyre 2\n", "line 1, column 6: unknown version 2 of the text form", "use a vyre that knows it, or write version 1"},
          {"vyre 1\nbuffer a: read u32 binding 0\n", "line 2, column 1: expected `workgroup_size`, found `buffer`",
           "write the line `workgroup_size <x> <y> <z>` before anything else"},
          {"vyre 1\nworkgroup_size 64 1\n", "line 2, column 20: expected a workgroup size, found the end of the line", "write a number"},
          {"vyre 1\nworkgroup_size 64 1 4294967296\n", "line 2, column 21: a workgroup size 4294967296 does not fit into 32 bits",
           "write a number below 2^32"},
          {"vyre 1 workgroup_size 1 1 1", "line 1, column 8: expected the end of the line, found `workgroup_size`",
           "start a new line here"},
      },
      "");
}

TEST(ParseErrors, of_buffers) {
  expect_refused({
      {"buffer a read u32 binding 0", "line 3, column 10: expected `:`, found `read`",
       "write `buffer <name>: <access> <type> binding <number>`"},
      {"buffer a: readonly u32 binding 0", "line 3, column 11: expected a buffer's access, found `readonly`",
       "use one of read, read_write, uniform, workgroup, private"},
      {"buffer a: read f32 binding 0", "line 3, column 16: unknown type `f32`",
       "use one of u32, i32, u64, vec2<u32>, vec4<u32>, bool, bytes, u8, i8, u16, i16"},
      {"buffer a: read u32", "line 3, column 19: expected `binding`, found the end of the text", "write `binding <number>` after the type"},
      {"buffer let: read u32 binding 0", "line 3, column 8: `let` is a keyword", "write the name in quotes: \"let\""},
      {"return\nbuffer a: read u32 binding 0", "line 4, column 1: a buffer is declared after the first statement",
       "move the declaration up, below `workgroup_size`"},
  });
}

TEST(ParseErrors, of_statements) {
  expect_refused({
      {"let x 1", "line 3, column 7: expected `=`, found `1`", "write `let <name> = <value>`"},
      {"x 1", "line 3, column 3: expected `=`, found `1`", "write `<name> = <value>`, or `let <name> = <value>` for a new variable"},
      {"x = 1 y = 2", "line 3, column 7: expected the end of the statement, found `y`", "write one statement a line"},
      {"min(a, b)", "line 3, column 4: a call is not a statement", "bind its result: `let <name> = <function>(...)`"},
      {"if x\n{", "line 3, column 5: expected `{`, found the end of the line", "open the block with `{` on this line"},
      {"block {\nif x {\n}\n", "line 3, column 7: this `{` is never closed", "add a `}` on a line of its own"},
      {"return\n}", "line 4, column 1: this `}` closes nothing", "remove it, or open a block before it"},
      {"else {\n}", "line 3, column 1: `else` without an `if` before it", "write it after the `}` that closes the `if`"},
      {"loop k 0..1 {", "line 3, column 8: expected `in`, found `0`", "write `loop <name> in <from>..<to> {`"},
      {"loop k in 0..n + 1 {", "line 3, column 16: a loop bound with an operator needs parentheses",
       "write `loop <name> in (<a> + <b>)..<to> {`"},
      {"= 3", "line 3, column 1: expected a statement, found `=`",
       "write let, if, loop, block, barrier, return, break, `<name> = <value>` or `<buffer>[<index>] = <value>`"},
  });
}

TEST(ParseErrors, of_expressions) {
  expect_refused({
      {"x = a + b * c", "line 3, column 11: two operators in a row, `+` and `*`, without parentheses",
       "operators have no order of precedence: write (a + b) * c or a + (b * c)"},
      {"x = a && b", "line 3, column 7: `&&` is not an operator", "write logical_and(a, b) or logical_or(a, b)"},
      {"x =", "line 3, column 4: expected a value, found the end of the text",
       "write a number, a name, `%<number>`, a function call or an expression in parentheses"},
      {"x = (a + b", "line 3, column 11: expected `)`, found the end of the text", "close the bracket with `)`"},
      {"x = b[1", "line 3, column 8: expected `]`, found the end of the text", "close the bracket with `]`"},
      {"x = xor(a, b)", "line 3, column 5: unknown function `xor`",
       "use a function of the text form; a registered operation is called as call(\"<id>\", ...)"},
      {"x = min(a)", "line 3, column 5: min takes 2 values, got 1", "pass 2 values"},
      {"x = bitnot()", "line 3, column 5: bitnot takes 1 value, got 0", "pass 1 value"},
      {"x = atomic_add(b, 1)", "line 3, column 5: atomic_add takes 2 or 3 values, got 1", "pass 2 or 3 values"},
      {"x = call(f, 1)", "line 3, column 10: expected an operation's id in quotes, found `f`",
       "write call(\"primitive.bitwise.xor\", a, b)"},
      {"x = gid.w", "line 3, column 9: expected an axis, found `w`", "write .x, .y or .z"},
      {"x = v.x", "line 3, column 5: `v` has no axes", "write gid, wid or lid before the `.`"},
      {"x = %3", "line 3, column 5: %3 is not defined before its use", "write `%3 = <value>` above this line"},
      {"%3 = 1\n%3 = 2", "line 4, column 1: %3 is defined twice", "use another number, and one definition for each"},
  });
}

TEST(ParseErrors, of_numbers) {
  expect_refused({
      {"x = 4294967296", "line 3, column 5: `4294967296` does not fit into u32", "write a number below 2^32, or add the suffix u64"},
      {"x = 18446744073709551616u64", "line 3, column 5: the number does not fit into 64 bits", "write a number below 2^64"},
      {"x = 2147483648i32", "line 3, column 5: `2147483648` does not fit into i32", "write a number from -2147483648i32 to 2147483647i32"},
      {"x = -1", "line 3, column 5: a negative number must be i32", "add the suffix i32"},
      {"x = 1.5", "line 3, column 6: expected the end of the statement, found `.`", "write one statement a line"},
      {"x = 7f32", "line 3, column 6: unknown suffix `f32` of a number", "use i32, u64, or none for u32"},
      {"x = 0x", "line 3, column 5: `0x` without digits", "write a hexadecimal number such as 0x1f"},
  });
}

TEST(ParseErrors, of_quoted_names) {
  expect_refused({{"x = \"abc\n\"", "line 3, column 5: the quoted name is not closed on its line",
                   "add a closing `\"`; a line break within a name is written \\n"}});
  for (const char* escape : {"\\q", "\\u", "\\u{}", "\\u{d800}", "\\u{110000}", "\\u{1234567}", "\\u{12"}) {
    expect_refused({{"x = \"ab" + std::string(escape) + "\"", "line 3, column 8: unknown escape in a quoted name",
                     "use \\\", \\\\, \\n, \\t, \\r or \\u{...} with the number of a character in hexadecimal"}});
  }
}

TEST(ParseErrors, of_bytes_that_are_no_text) {
  expect_refused({
      {"x = \"\xFF\"", "line 3, column 6: the byte 0xff is not valid UTF-8", "save the text as UTF-8"},
      {"x = \"\xED\xA0\x80\"", "line 3, column 6: the byte 0xed is not valid UTF-8", "save the text as UTF-8"},
      {"\x1b", "line 3, column 1: expected a statement, found `\\u{1b}`",
       "write let, if, loop, block, barrier, return, break, `<name> = <value>` or `<buffer>[<index>] = <value>`"},
  });
}

TEST(ParseErrors, count_columns_in_characters) {
  expect_refused({{"x = \"\xE6\x97\xA5\xE6\x9C\xAC\" y", "line 3, column 10: expected the end of the statement, found `y`",
                   "write one statement a line"}});
}

TEST(ParseErrors, of_too_many_brackets) {
  const auto nested = [](std::size_t depth) { return "x = " + std::string(depth, '(') + "1" + std::string(depth, ')'); };
  EXPECT_EQ(parse_body(nested(200)), parse_body("x = 1"));
  expect_refused({{nested(201), "line 3, column 205: more than 200 brackets are open",
                   "give an inner expression a line of its own, `%0 = ...`, and write %0 in its place"}});
  test::on_small_stack([] {
    std::string text = std::string(kHead) + "x = ";
    for (int count = 0; count < 200; ++count) text += "select(a, b, ";
    EXPECT_EQ(parse(text + "c" + std::string(200, ')')).exprs().size(), 601u);
  });
  // A million of any kind is as harmless.
  for (const char* opening : {"(", "b[", "min(", "call(\"f\","}) {
    std::string text = "x = ";
    for (int count = 0; count < 1000000; ++count) text += opening;
    EXPECT_NE(body_error(text).find("more than 200 brackets are open"), std::string::npos);
  }
}

TEST(ParseErrors, show_long_words_cut_short) {
  const std::string error = body_error("x = " + std::string(100000, 'a') + "(1)");
  EXPECT_EQ(error.substr(0, 80), "line 3, column 5: unknown function `" + std::string(40, 'a') + "...`");
}

}  // namespace
}  // namespace vyre::ir
