// A short way to write sample programs: the constructors of ir/handles/handle.hpp under short names, operators on expressions, and a Sample
// that collects declarations and statements.
//
//   Program p = Sample().in("a").out("out").size(64).add(store("out", gid(0), load("a", gid(0)) + u32(1))).make();
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/handles/resolve.hpp"
#include "vyre/ir/op_spec.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::sample {

using ir::AtomicOp;
using ir::BinOp;
using ir::BufferAccess;
using ir::BufferDecl;
using ir::DataType;
using ir::ExprHandle;
using ir::NodeHandle;
using ir::UnOp;
using List = std::vector<NodeHandle>;

inline ExprHandle u32(std::uint32_t value) { return ir::expr::u32(value); }
inline ExprHandle i32(std::int32_t value) { return ir::expr::i32(value); }
inline ExprHandle boolean(bool value) { return ir::expr::boolean(value); }
inline ExprHandle u64(std::uint64_t value) { return ir::expr::u64(value); }
inline ExprHandle var(std::string name) { return ir::expr::var(std::move(name)); }
inline ExprHandle load(std::string buffer, ExprHandle index) { return ir::expr::load(std::move(buffer), std::move(index)); }
inline ExprHandle len(std::string buffer) { return ir::expr::buf_len(std::move(buffer)); }
inline ExprHandle gid(std::uint32_t axis) { return ir::expr::gid(axis); }
inline ExprHandle wid(std::uint32_t axis) { return ir::expr::wid(axis); }
inline ExprHandle lid(std::uint32_t axis) { return ir::expr::lid(axis); }
inline ExprHandle bin(BinOp op, ExprHandle left, ExprHandle right) { return ir::expr::binary(op, std::move(left), std::move(right)); }
inline ExprHandle un(UnOp op, ExprHandle operand) { return ir::expr::unary(op, std::move(operand)); }
inline ExprHandle select(ExprHandle condition, ExprHandle if_true, ExprHandle if_false) {
  return ir::expr::select(std::move(condition), std::move(if_true), std::move(if_false));
}
inline ExprHandle cast(DataType target, ExprHandle value) { return ir::expr::cast(target, std::move(value)); }
inline ExprHandle call(std::string op, std::vector<ExprHandle> arguments) { return ir::expr::call(std::move(op), std::move(arguments)); }
inline ExprHandle lane(ExprHandle value, std::uint32_t k) { return ir::expr::lane(std::move(value), k); }
inline ExprHandle pack(DataType type, std::vector<ExprHandle> lanes) { return ir::expr::pack(type, std::move(lanes)); }
inline ExprHandle atomic(AtomicOp op, std::string buffer, ExprHandle index, ExprHandle value) {
  return ir::expr::atomic(op, std::move(buffer), std::move(index), {}, std::move(value));
}
inline ExprHandle compare_exchange(std::string buffer, ExprHandle index, ExprHandle expected, ExprHandle value) {
  return ir::expr::atomic(AtomicOp::CompareExchange, std::move(buffer), std::move(index), std::move(expected), std::move(value));
}
inline ExprHandle operator+(ExprHandle a, ExprHandle b) { return bin(BinOp::Add, std::move(a), std::move(b)); }
inline ExprHandle operator-(ExprHandle a, ExprHandle b) { return bin(BinOp::Sub, std::move(a), std::move(b)); }
inline ExprHandle operator*(ExprHandle a, ExprHandle b) { return bin(BinOp::Mul, std::move(a), std::move(b)); }
inline ExprHandle operator^(ExprHandle a, ExprHandle b) { return bin(BinOp::BitXor, std::move(a), std::move(b)); }
inline ExprHandle operator<(ExprHandle a, ExprHandle b) { return bin(BinOp::Lt, std::move(a), std::move(b)); }

inline NodeHandle let(std::string name, ExprHandle value) { return ir::node::let(std::move(name), std::move(value)); }
inline NodeHandle assign(std::string name, ExprHandle value) { return ir::node::assign(std::move(name), std::move(value)); }
inline NodeHandle store(std::string buffer, ExprHandle index, ExprHandle value) {
  return ir::node::store(std::move(buffer), std::move(index), std::move(value));
}
inline NodeHandle if_(ExprHandle condition, List then, List otherwise = {}) {
  return ir::node::if_(std::move(condition), std::move(then), std::move(otherwise));
}
inline NodeHandle loop(std::string variable, ExprHandle from, ExprHandle to, List body) {
  return ir::node::loop(std::move(variable), std::move(from), std::move(to), std::move(body));
}
inline NodeHandle block(List body) { return ir::node::block(std::move(body)); }
inline NodeHandle barrier() { return ir::node::barrier(); }
inline NodeHandle return_() { return ir::node::return_(); }
inline NodeHandle break_() { return ir::node::break_(); }

// Bindings are counted up from 0 in the order of the declarations.
class Sample {
 public:
  Sample& buffer(BufferDecl decl) {
    buffers_.push_back(std::move(decl));
    return *this;
  }
  Sample& in(std::string name, DataType element = ir::kU32) { return buffer(BufferDecl::read(std::move(name), next_++, element)); }
  Sample& out(std::string name, DataType element = ir::kU32) { return buffer(BufferDecl::read_write(std::move(name), next_++, element)); }
  Sample& uniform(std::string name, DataType element = ir::kU32) { return buffer(BufferDecl::uniform(std::move(name), next_++, element)); }
  Sample& shared(std::string name, std::uint32_t count, DataType element = ir::kU32) {
    return buffer(BufferDecl::workgroup(std::move(name), count, element));
  }
  Sample& own(std::string name, std::uint32_t count, DataType element = ir::kU32) {
    return buffer(BufferDecl::private_of(std::move(name), count, element));
  }
  Sample& size(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) {
    size_ = {x, y, z};
    return *this;
  }
  Sample& add(NodeHandle node) {
    entry_.push_back(std::move(node));
    return *this;
  }
  Sample& add(const List& nodes) {
    entry_.insert(entry_.end(), nodes.begin(), nodes.end());
    return *this;
  }
  ir::Program make() const { return ir::make_program(buffers_, size_, entry_); }

 private:
  std::vector<BufferDecl> buffers_;
  ir::WorkgroupSize size_{1, 1, 1};
  List entry_;
  std::uint32_t next_ = 0;
};

// An operation whose body ends with `let result = ...`; parameters are p0, p1, ...
inline ir::OpSpec op_with(std::string id, std::vector<DataType> inputs, DataType output, const List& body) {
  ir::OpSpec spec;
  spec.id = std::move(id);
  for (std::size_t k = 0; k < inputs.size(); ++k) spec.function().parameters.push_back("p" + std::to_string(k));
  spec.function().signature = {std::move(inputs), output};
  spec.function().body = ir::make_program({}, {1, 1, 1}, body);
  return spec;
}

// Dispatched, not called.
inline ir::OpSpec op_without_body(std::string id, std::vector<DataType> inputs, DataType output) {
  ir::OpSpec spec;
  spec.id = std::move(id);
  spec.function().signature = {std::move(inputs), output};
  return spec;
}

inline ir::OpTable table(std::vector<ir::OpSpec> specs) {
  ir::OpTable result;
  for (ir::OpSpec& spec : specs) result = result.with(std::make_shared<const ir::OpSpec>(std::move(spec)));
  return result;
}

}  // namespace vyre::sample
