// Programs of any size, one function a shape: what costs and counts are measured on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::shapes {

using ir::BinOp;
using ir::BufferDecl;
using ir::DataType;
using ir::ExprHandle;
using ir::NodeHandle;
using ir::UnOp;
namespace expr = ir::expr;
namespace node = ir::node;

// `a` is read, `out` written, an element an invocation.
inline const std::vector<BufferDecl>& buffers() {
  static const std::vector<BufferDecl> decls{BufferDecl::read("a", 0, ir::kU32), BufferDecl::read_write("out", 1, ir::kU32)};
  return decls;
}

// Six nodes a step: a Let, a sum, a rotation, two variables and a literal.
inline std::vector<NodeHandle> straight_line(std::int64_t nodes) {
  std::vector<NodeHandle> entry{node::let("x0", expr::load("a", expr::gid(0)))};
  const std::int64_t steps = (nodes - 8) / 6;
  for (std::int64_t step = 1; step <= steps; ++step) {
    ExprHandle before = expr::var("x" + std::to_string(step - 1));
    entry.push_back(node::let("x" + std::to_string(step),
                              expr::binary(BinOp::Add, expr::binary(BinOp::RotateLeft, before, expr::u32(7)), expr::var("x0"))));
  }
  entry.push_back(node::store("out", expr::gid(0), expr::var("x" + std::to_string(steps))));
  return entry;
}

// Six nodes a step: each variable is a copy of the one before, and is used.
inline std::vector<NodeHandle> copies(std::int64_t nodes) {
  std::vector<NodeHandle> entry{node::let("x0", expr::load("a", expr::gid(0)))};
  for (std::int64_t step = 1; step <= nodes / 6; ++step) {
    const ExprHandle copy = expr::var("x" + std::to_string(step));
    entry.push_back(node::let("x" + std::to_string(step), expr::var("x" + std::to_string(step - 1))));
    entry.push_back(node::store("out", expr::gid(0), expr::binary(BinOp::Add, copy, expr::u32(1))));
  }
  return entry;
}

inline std::vector<NodeHandle> chain(std::int64_t nodes) {
  ExprHandle value = expr::load("a", expr::gid(0));
  for (std::int64_t count = 5; count < nodes; ++count) value = expr::unary(count % 2 == 0 ? UnOp::BitNot : UnOp::Popcount, value);
  return {node::store("out", expr::gid(0), value)};
}

inline std::vector<NodeHandle> empty_ifs(std::int64_t nodes) {
  const ExprHandle condition = expr::u32(1);
  std::vector<NodeHandle> entry;
  for (std::int64_t count = 0; count < nodes / 2; ++count) entry.push_back(node::if_(condition, {}));
  return entry;
}

inline std::vector<NodeHandle> guarded_stores(std::int64_t nodes) {
  const ExprHandle index = expr::gid(0), value = expr::u32(1);
  std::vector<NodeHandle> entry;
  for (std::int64_t count = 0; count < nodes / 3; ++count) entry.push_back(node::store("out", index, value));
  return entry;
}

inline std::vector<NodeHandle> distinct_literals(std::int64_t nodes) {
  ExprHandle value = expr::gid(0);
  for (std::int64_t count = 0; count < (nodes - 3) / 2; ++count) {
    value = expr::binary(BinOp::BitXor, value, expr::u32(static_cast<std::uint32_t>(count) * 2654435761u));
  }
  return {node::store("out", expr::gid(0), value)};
}

}  // namespace vyre::shapes
