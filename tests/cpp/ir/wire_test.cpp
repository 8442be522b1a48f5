// The binary form: every number of it held fast, exact round trips, and what is said about damaged bytes.
#include "vyre/ir/bytes/wire.hpp"

#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "support/expected_values.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/builder.hpp"
#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::ir {
namespace {

Program read(std::string_view bytes) { return from_bytes(std::as_bytes(std::span(bytes))); }
std::string text(std::initializer_list<int> bytes) { return {bytes.begin(), bytes.end()}; }
Program of(std::vector<NodeHandle> entry) { return make_program({}, {1, 1, 1}, entry); }
std::string error_of(std::string_view bytes) {
  return test::message_of<ParseError>([&] { read(bytes); });
}

const std::string kHead = "\x93VYRE" + text({1, 1, 1, 1});  // magic, version, workgroup size
// No buffers and no names.
std::string plain(std::initializer_list<int> exprs_and_nodes) { return kHead + text({0, 0}) + text(exprs_and_nodes); }
std::string damaged(std::size_t at, std::string problem) {
  return "byte " + std::to_string(at) + ": " + problem + ". Fix: pass the bytes as to_bytes gave them.";
}

// --- The layout ---

TEST(Wire, of_a_small_program_is_this) {
  BufferDecl out = BufferDecl::output_of("out", 2, DataType::U32);
  out.count = 300;
  const ExprHandle i = expr::gid(0);
  const std::vector<NodeHandle> entry = {
      node::let("x", expr::binary(BinOp::BitXor, i, expr::u32(7))),
      node::if_(expr::var("x"), {node::store("out", i, expr::var("x"))}, {node::return_()}),
  };
  const Program program = make_program({out}, {64, 1, 1}, entry);
  const std::string bytes = "\x93VYRE" + text({1})            // version
                            + text({64, 1, 1})                // workgroup size
                            + text({1, 3}) + "out"            // one buffer
                            + text({1, 0, 2, 0xAC, 0x02, 1})  // ReadWrite, U32, binding 2, count 300, output
                            + text({1, 1}) + "x"              // one further name
                            + text({5,                        // expressions
                                    7, 0, 0,                  // GridId Invocation, axis 0
                                    0, 7,                     // a literal of U32, 7
                                    8, 7, 2, 1,               // Binary BitXor, two back, one back
                                    4, 1,                     // Var x
                                    4, 1,                     // Var x
                                    6,                        // statements
                                    0, 1, 2,                  // Let x = 2
                                    3, 3,                     // If 3
                                    2, 0, 0, 4,               // Store out, 0, 4
                                    4, 9, 7});                // Else, Return, End
  EXPECT_EQ(to_bytes(program), bytes);
  EXPECT_EQ(read(bytes), program);
}

// Saved programs live longer than tables: new rows go to the end.
TEST(Wire, numbers_of_kinds_types_and_operators_stay) {
  const auto first_expr = [](const ExprHandle& value) {
    // Behind the names: the count of expressions, then the last expression's bytes; operands of these samples are `0, 1`.
    const std::string bytes = to_bytes(of({node::let("", value)}));
    return bytes.substr(kHead.size());
  };
  const ExprHandle one = expr::u32(1);
  // Names: "" alone, or "" after "b".
  EXPECT_EQ(first_expr(expr::u32(5)), text({0, 1, 0, 1, 0, 5, 1, 0, 0, 0}));
  EXPECT_EQ(first_expr(expr::i32(-1)), text({0, 1, 0, 1, 1, 255, 255, 255, 255, 15, 1, 0, 0, 0}));
  EXPECT_EQ(first_expr(expr::boolean(true)), text({0, 1, 0, 1, 2, 1, 1, 0, 0, 0}));
  EXPECT_EQ(first_expr(expr::u64(1ull << 63)), text({0, 1, 0, 1, 3, 128, 128, 128, 128, 128, 128, 128, 128, 128, 1, 1, 0, 0, 0}));
  EXPECT_EQ(first_expr(expr::var("b")), text({0, 2, 1, 'b', 0, 1, 4, 0, 1, 0, 1, 0}));
  EXPECT_EQ(first_expr(expr::load("b", one)), text({0, 2, 1, 'b', 0, 2, 0, 1, 5, 0, 1, 1, 0, 1, 1}));
  EXPECT_EQ(first_expr(expr::buf_len("b")), text({0, 2, 1, 'b', 0, 1, 6, 0, 1, 0, 1, 0}));
  EXPECT_EQ(first_expr(expr::lid(2)), text({0, 1, 0, 1, 7, 2, 2, 1, 0, 0, 0}));
  EXPECT_EQ(first_expr(expr::wid(1)), text({0, 1, 0, 1, 7, 1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(first_expr(expr::select(one, one, one)), text({0, 1, 0, 2, 0, 1, 10, 1, 1, 1, 1, 0, 0, 1}));
  EXPECT_EQ(first_expr(expr::call("b", {one, one})), text({0, 2, 1, 'b', 0, 2, 0, 1, 12, 0, 2, 1, 1, 1, 0, 1, 1}));
  EXPECT_EQ(first_expr(expr::lane(one, 3)), text({0, 1, 0, 2, 0, 1, 13, 1, 3, 1, 0, 0, 1}));
  const auto coded = [&](int tag, int code) { return text({0, 1, 0, 2, 0, 1, tag, code, 1, 1, 0, 0, 1}); };
  const auto coded2 = [&](int tag, int code) { return text({0, 1, 0, 2, 0, 1, tag, code, 1, 1, 1, 0, 0, 1}); };

  int code = 0;
  for (DataType type : {DataType::U32, DataType::I32, DataType::U64, DataType::Vec2U32, DataType::Vec4U32, DataType::Bool, DataType::Bytes,
                        DataType::U8, DataType::I8, DataType::U16, DataType::I16}) {
    EXPECT_EQ(first_expr(expr::cast(type, one)), coded(11, code));
    EXPECT_EQ(first_expr(expr::pack(type, {one})), text({0, 1, 0, 2, 0, 1, 14, code++, 1, 1, 1, 0, 0, 1}));
  }
  EXPECT_EQ(code, static_cast<int>(kTypes.size()));

  code = 0;
  for (const auto& [op, result] : test::kExpectedBinary) {
    EXPECT_EQ(first_expr(expr::binary(op, one, one)), coded2(8, code++)) << info(op).name;
  }
  EXPECT_EQ(code, static_cast<int>(kBinOps.size()));

  code = 0;
  for (const auto& [op, result] : test::kExpectedUnary) {
    EXPECT_EQ(first_expr(expr::unary(op, one)), coded(9, code++)) << info(op).name;
  }
  EXPECT_EQ(code, static_cast<int>(kUnOps.size()));

  code = 0;
  for (AtomicOp op : {AtomicOp::Add, AtomicOp::And, AtomicOp::Or, AtomicOp::Xor, AtomicOp::Min, AtomicOp::Max, AtomicOp::Exchange,
                      AtomicOp::CompareExchange}) {
    EXPECT_EQ(first_expr(expr::atomic(op, "b", one, {}, one)), text({0, 2, 1, 'b', 0, 2, 0, 1, 15, code, 0, 0, 1, 1, 1, 0, 1, 1}));
    EXPECT_EQ(first_expr(expr::atomic(op, "b", one, one, one)), text({0, 2, 1, 'b', 0, 2, 0, 1, 15, code++, 1, 0, 1, 1, 1, 1, 0, 1, 1}));
  }
  EXPECT_EQ(code, static_cast<int>(kAtomicOps.size()));

  code = 0;
  for (BufferAccess access :
       {BufferAccess::ReadOnly, BufferAccess::ReadWrite, BufferAccess::Uniform, BufferAccess::Workgroup, BufferAccess::Private}) {
    EXPECT_EQ(to_bytes(make_program({BufferDecl::storage("b", 0, access, DataType::Bytes)}, {1, 1, 1}, {})),
              kHead + text({1, 1, 'b', code++, 6, 0, 0, 0, 0, 0, 0}));
  }
  EXPECT_EQ(code, static_cast<int>(kAccesses.size()));
  EXPECT_EQ(to_bytes(make_program({BufferDecl::workgroup("b", 5, DataType::U32, true)}, {1, 1, 1}, {})),
            kHead + text({1, 1, 'b', 3, 0, 0, 5, 2, 0, 0, 0}));
  EXPECT_EQ(to_bytes(make_program({BufferDecl::output_of("b", 5, DataType::U32)}, {1, 1, 1}, {})),
            kHead + text({1, 1, 'b', 1, 0, 5, 0, 1, 0, 0, 0}));
}

TEST(Wire, numbers_of_statements_stay) {
  const auto nodes = [](const NodeHandle& statement) { return to_bytes(of({statement})).substr(kHead.size()); };
  const ExprHandle one = expr::u32(1);
  EXPECT_EQ(nodes(node::let("", one)), text({0, 1, 0, 1, 0, 1, 1, 0, 0, 0}));
  EXPECT_EQ(nodes(node::assign("", one)), text({0, 1, 0, 1, 0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(nodes(node::store("", one, one)), text({0, 1, 0, 1, 0, 1, 1, 2, 0, 0, 0}));
  EXPECT_EQ(nodes(node::if_(one, {}, {node::barrier()})), text({0, 0, 1, 0, 1, 4, 3, 0, 4, 8, 7}));
  EXPECT_EQ(nodes(node::loop("", one, one, {})), text({0, 1, 0, 1, 0, 1, 2, 5, 0, 0, 0, 7}));
  EXPECT_EQ(nodes(node::block({node::return_()})), text({0, 0, 0, 3, 6, 9, 7}));
  EXPECT_EQ(nodes(node::block({node::break_()})), text({0, 0, 0, 3, 6, 10, 7}));
}

TEST(Wire, is_the_same_for_equal_programs_built_in_different_ways) {
  ProgramBuilder builder;
  builder.name("unused");
  builder.add(Literal::u32(9));
  const ExprId right = builder.add(Literal::u32(2));
  const ExprId left = builder.add(Literal::u32(1));
  builder.let(builder.name("x"), builder.add(Binary{BinOp::Add, left, right}));
  EXPECT_EQ(to_bytes(builder.finish()), to_bytes(of({node::let("x", expr::binary(BinOp::Add, expr::u32(1), expr::u32(2)))})));
}

// --- Damage ---

TEST(WireErrors, of_the_head) {
  EXPECT_EQ(error_of(""), "byte 0: these are not the bytes of a vyre program. Fix: pass what to_bytes gave; text is read by parse.");
  EXPECT_EQ(error_of("vyre 1\n"),
            "byte 0: these are not the bytes of a vyre program. Fix: pass what to_bytes gave; text is read by parse.");
  EXPECT_EQ(error_of("\x93VYRE\x02"),
            "byte 5: unknown version 2 of the binary form. Fix: use a vyre that reads it; this one reads version 1.");
  EXPECT_EQ(error_of("\x93VYRE\x01\x40"), "byte 7: the bytes end within the program. Fix: pass all bytes that to_bytes gave.");
}

TEST(WireErrors, of_numbers) {
  EXPECT_EQ(error_of("\x93VYRE" + text({1, 0x80, 0x00})), damaged(6, "a number is longer than it needs to be"));
  EXPECT_EQ(error_of("\x93VYRE" + text({1, 255, 255, 255, 255, 0x1F})), damaged(6, "the number 8589934591 does not fit into 32 bits"));
  EXPECT_EQ(error_of("\x93VYRE" + text({1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2})),
            damaged(6, "a number does not fit into 64 bits"));
}

TEST(WireErrors, of_counts_beyond_the_bytes) {
  EXPECT_EQ(error_of(kHead + text({0, 0, 255, 255, 255, 255, 15})),
            "byte 11: 4294967295 expressions do not fit into the 0 bytes that follow. Fix: pass all bytes that to_bytes gave.");
  EXPECT_EQ(error_of(kHead + text({1, 9, 'a'})),
            "byte 9: 1 buffers do not fit into the 2 bytes that follow. Fix: pass all bytes that to_bytes gave.");
}

TEST(WireErrors, of_buffers_and_names) {
  EXPECT_EQ(error_of(kHead + text({1, 1, 'b', 5, 0, 0, 0, 0, 0, 0, 0})), damaged(12, "unknown buffer access 5"));
  EXPECT_EQ(error_of(kHead + text({1, 1, 'b', 0, 11, 0, 0, 0, 0, 0, 0})), damaged(13, "unknown type 11"));
  EXPECT_EQ(error_of(kHead + text({1, 1, 'b', 0, 0, 0, 0, 4, 0, 0, 0})), damaged(16, "unknown output mark 4"));
  EXPECT_EQ(error_of(kHead + text({1, 1, 'b', 0, 0, 0, 0, 2, 0, 0, 0})), damaged(16, "a buffer that is not workgroup memory is atomic"));
  EXPECT_EQ(error_of(kHead + text({1, 1, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0})), damaged(10, "the name of a buffer is not valid UTF-8"));
  EXPECT_EQ(error_of(kHead + text({0, 2, 1, 'a', 1, 'a', 0, 0})), damaged(13, "a name stands here twice"));
}

TEST(WireErrors, of_expressions) {
  EXPECT_EQ(error_of(plain({1, 16, 0, 0})), damaged(12, "unknown kind of expression 16"));
  EXPECT_EQ(error_of(plain({1, 2, 2, 0})), damaged(13, "unknown truth value 2"));
  EXPECT_EQ(error_of(plain({1, 4, 0, 0})), damaged(13, "unknown name 0"));
  EXPECT_EQ(error_of(plain({1, 7, 3, 0, 0})), damaged(13, "unknown kind of grid id 3"));
  const auto no_operator = static_cast<int>(kBinOps.size());
  EXPECT_EQ(error_of(plain({2, 0, 0, 8, no_operator, 1, 1, 0})), damaged(15, "unknown binary operator " + std::to_string(no_operator)));
  EXPECT_EQ(error_of(plain({2, 0, 0, 9, 0, 0, 0})), damaged(16, "operand 0 back from expression 1 does not exist"));
  EXPECT_EQ(error_of(plain({2, 0, 0, 9, 0, 2, 0})), damaged(16, "operand 2 back from expression 1 does not exist"));
}

TEST(WireErrors, of_statements) {
  EXPECT_EQ(error_of(plain({0, 1, 11})), damaged(13, "unknown kind of statement 11"));
  EXPECT_EQ(error_of(plain({0, 1, 7})), damaged(13, "the end of a block that was not begun"));
  EXPECT_EQ(error_of(plain({0, 1, 4})), damaged(13, "an else without an if"));
  EXPECT_EQ(error_of(plain({0, 2, 6, 4})), damaged(14, "an else without an if"));
  EXPECT_EQ(error_of(plain({1, 0, 0, 5, 3, 0, 4, 8, 4, 7})), damaged(19, "an else without an if"));
  EXPECT_EQ(error_of(plain({1, 0, 0, 3, 3, 0, 4, 7})), damaged(18, "an else without statements"));
  EXPECT_EQ(error_of(plain({0, 2, 6, 6})), damaged(15, "2 blocks are not closed"));
  EXPECT_EQ(error_of(plain({0, 1, 3, 0})), damaged(14, "unknown expression 0"));
}

TEST(WireErrors, of_bytes_behind_the_end) {
  EXPECT_EQ(error_of(to_bytes(Program()) + "ab"),
            "byte 13: 2 bytes after the end of the program. Fix: pass the bytes of one program alone.");
}

TEST(WireErrors, of_programs_that_are_not_canonical) {
  const auto out_of_order = [](std::size_t at) {
    return "byte " + std::to_string(at) +
           ": from here on the program is not in canonical form: expressions and names stand in the order of their first use, none unused."
           " Fix: write it with to_bytes.";
  };
  EXPECT_EQ(error_of(plain({1, 0, 0, 0})), out_of_order(11));                                          // an unused expression
  EXPECT_EQ(error_of(kHead + text({0, 1, 1, 'a', 0, 0})), out_of_order(10));                           // an unused name
  EXPECT_EQ(error_of(kHead + text({0, 1, 0, 2, 0, 1, 0, 2, 2, 0, 0, 1, 0, 0, 0})), out_of_order(14));  // the second is used first
  EXPECT_EQ(error_of(kHead + text({0, 2, 1, 'a', 1, 'b', 1, 4, 1, 1, 0, 0, 0})), out_of_order(12));    // b is used first
}

}  // namespace
}  // namespace vyre::ir
