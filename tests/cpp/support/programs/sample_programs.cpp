#include "support/programs/sample_programs.hpp"

#include "support/programs/random_program.hpp"
#include "vyre/ir/builder.hpp"
#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::test {
namespace {

using namespace ir;

std::vector<BufferDecl> every_buffer() {
  std::vector<BufferDecl> buffers;
  for (const TypeInfo& type : kTypes) {
    for (const AccessInfo& access : kAccesses) {
      BufferDecl decl = BufferDecl::storage(std::string(type.name) + "_" + std::string(access.name),
                                            static_cast<std::uint32_t>(buffers.size()), access.access, type.type);
      decl.count = buffers.size() % 3 == 0 ? 0 : 0xFFFFFFFF;
      decl.output = buffers.size() % 2 == 0;
      buffers.push_back(std::move(decl));
    }
  }
  buffers.push_back(BufferDecl::workgroup("atomic", 7, DataType::U32, true));
  return buffers;
}

Program every_expression() {
  std::vector<NodeHandle> entry;
  const auto add = [&](ExprHandle value) { entry.push_back(node::let("v" + std::to_string(entry.size()), std::move(value))); };
  for (std::uint32_t value : {0u, 1u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu}) {
    add(expr::u32(value));
    add(expr::i32(static_cast<std::int32_t>(value)));
    add(expr::u64(value * 0x100000001u));
    add(expr::u64(std::uint64_t{value} << 32));
  }
  add(expr::boolean(true));
  add(expr::boolean(false));
  add(expr::var("v0"));
  add(expr::load("left", expr::var("v0")));
  add(expr::buf_len("left"));
  for (GridIdKind kind : {GridIdKind::Invocation, GridIdKind::Workgroup, GridIdKind::Local}) {
    for (std::uint32_t axis : {0u, 1u, 2u, 3u, 7u, 0xFFFFFFFFu}) add(expr::grid_id(kind, axis));
  }
  for (const BinOpInfo& row : kBinOps) {
    const auto nested = [&] { return expr::binary(row.op, expr::var("a"), expr::u32(2)); };
    add(nested());
    add(expr::binary(row.op, nested(), nested()));
    add(expr::load("left", nested()));
  }
  for (const UnOpInfo& row : kUnOps) add(expr::unary(row.op, expr::unary(row.op, expr::u32(1))));
  add(expr::select(expr::boolean(true), expr::u32(1), expr::u32(2)));
  for (const TypeInfo& type : kTypes) {
    add(expr::cast(type.type, expr::u32(1)));
    for (std::size_t lanes = 0; lanes < 5; ++lanes) add(expr::pack(type.type, std::vector<ExprHandle>(lanes, expr::u32(1))));
  }
  add(expr::call("primitive.bitwise.xor", {expr::u32(1), expr::u32(2)}));
  add(expr::call("nothing", {}));
  add(expr::lane(expr::u64(1), 1));
  add(expr::lane(expr::u64(1), 0xFFFFFFFF));
  for (const AtomicOpInfo& row : kAtomicOps) {
    add(expr::atomic(row.op, "out", expr::u32(1), {}, expr::u32(2)));
    add(expr::atomic(row.op, "out", expr::u32(1), expr::u32(2), expr::u32(3)));
  }
  return make_program(every_buffer(), {64, 0, 0xFFFFFFFF}, entry);
}

Program every_statement() {
  const auto store = [] { return node::store("out", expr::u32(0), expr::u32(1)); };
  const std::vector<NodeHandle> entry = {
      node::let("x", expr::u32(1)),
      node::assign("x", expr::u32(2)),
      store(),
      node::if_(expr::var("x"), {store()}),
      node::if_(expr::var("x"), {}),
      node::if_(expr::var("x"), {store()}, {store(), node::if_(expr::var("x"), {}, {store()})}),
      node::loop("k", expr::u32(0), expr::u32(4), {node::barrier(), node::loop("k", expr::var("k"), expr::var("n"), {})}),
      node::loop("k", expr::binary(BinOp::Add, expr::u32(0), expr::u32(1)), expr::binary(BinOp::Max, expr::u32(0), expr::u32(1)), {}),
      node::block({}),
      node::block({node::block({store()}), node::return_()}),
      node::loop("k", expr::u32(0), expr::u32(4), {node::if_(expr::var("k"), {node::break_()}), node::break_()}),
      node::barrier(),
      node::return_(),
  };
  return make_program({BufferDecl::output_of("out", 0, DataType::U32)}, {1, 1, 1}, entry);
}

Program sharing() {
  const ExprHandle literal = expr::u32(7);
  const ExprHandle variable = expr::var("x");
  const ExprHandle sum = expr::binary(BinOp::Add, literal, literal);
  const ExprHandle atomic = expr::atomic(AtomicOp::Add, "out", literal, {}, variable);
  const std::vector<NodeHandle> entry = {
      node::let("x", sum),
      node::store("out", sum, expr::binary(BinOp::Mul, sum, expr::u32(7))),
      node::if_(variable, {node::store("out", atomic, atomic)}, {node::store("out", variable, atomic)}),
      node::loop("k", sum, sum, {node::let("y", expr::select(variable, variable, variable))}),
      node::let("z", expr::call("f", {literal, literal, atomic})),
  };
  return make_program({BufferDecl::output_of("out", 0, DataType::U32)}, {1, 1, 1}, entry);
}

Program awkward() {
  std::vector<BufferDecl> buffers;
  std::vector<NodeHandle> entry;
  for (const std::string& name : awkward_names()) {
    buffers.push_back(BufferDecl::read_write(name, 4294967295u, DataType::U32));
    buffers.push_back(BufferDecl::workgroup(name, 0, DataType::Bytes));
    entry.push_back(node::let(name, expr::load(name, expr::var(name))));
    entry.push_back(node::assign(name, expr::call(name, {expr::buf_len(name)})));
    entry.push_back(node::store(name, expr::var(name), expr::atomic(AtomicOp::Exchange, name, expr::u32(0), {}, expr::var(name))));
    entry.push_back(node::loop(name, expr::var(name), expr::var(name), {}));
    entry.push_back(node::if_(expr::var(name), {}));
  }
  return make_program(std::move(buffers), {1, 1, 1}, entry);
}

}  // namespace

Program xor_program() {
  const ExprHandle i = expr::gid(0);
  const std::vector<NodeHandle> entry = {
      node::if_(expr::binary(BinOp::Lt, i, expr::buf_len("out")),
                {node::store("out", i, expr::binary(BinOp::BitXor, expr::load("left", i), expr::load("right", i)))}),
  };
  return make_program({BufferDecl::read("left", 0, DataType::U32), BufferDecl::read("right", 1, DataType::U32),
                       BufferDecl::output_of("out", 2, DataType::U32)},
                      {64, 1, 1}, entry);
}

Program chain(std::uint32_t length) {
  ProgramBuilder builder;
  builder.buffer(BufferDecl::output_of("out", 0, DataType::U32));
  const ExprId one = builder.add(Literal::u32(1));
  ExprId sum = one;
  for (std::uint32_t index = 0; index < length; ++index) sum = builder.add(Binary{BinOp::Add, sum, one});
  builder.store(builder.name("out"), builder.add(Literal::u32(0)), sum);
  return builder.finish();
}

Program doublings(std::uint32_t count) {
  ProgramBuilder builder;
  builder.buffer(BufferDecl::output_of("out", 0, DataType::U32));
  const ExprId zero = builder.add(Literal::u32(0));
  ExprId x = builder.add(Literal::u32(1));
  for (std::uint32_t index = 0; index < count; ++index) x = builder.add(Binary{BinOp::Add, x, x});
  builder.store(builder.name("out"), zero, x);
  return builder.finish();
}

Program nested_blocks(std::uint32_t depth) {
  ProgramBuilder builder;
  for (std::uint32_t index = 0; index < depth; ++index) builder.block();
  for (std::uint32_t index = 0; index < depth; ++index) builder.end();
  return builder.finish();
}

Program wide_program(std::uint32_t exprs) {
  ProgramBuilder builder;
  builder.buffer(BufferDecl::output_of("out", 0, DataType::U32));
  const NameId out = builder.name("out");
  while (builder.expr_count() + 4 <= exprs) {
    const ExprId index = builder.add(Literal::u32(static_cast<std::uint32_t>(builder.node_count())));
    const ExprId left = builder.add(Load{out, index});
    const ExprId right = builder.add(Literal::u32(1));
    builder.store(out, index, builder.add(Binary{BinOp::BitXor, left, right}));
  }
  return builder.finish();
}

const std::vector<SampleProgram>& sample_programs() {
  static const std::vector<SampleProgram> samples = {
      {"empty", Program()},
      {"xor", xor_program()},
      {"every_expression", every_expression()},
      {"every_statement", every_statement()},
      {"sharing", sharing()},
      {"awkward_names", awkward()},
      {"chain", chain(100)},
      {"doublings", doublings(64)},
      {"nested_blocks", nested_blocks(100)},
      {"wide", wide_program(400)},
  };
  return samples;
}

}  // namespace vyre::test
