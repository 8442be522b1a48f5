// Defines Program, the form of a program in the IR.
//
// A Program is an immutable value: ordered buffers, a workgroup size, and two flat arrays: expressions (operands before users)
// and statements (source order). Anything a user can write fits, valid or not; validate/ tells which are valid.
//
// Evaluation. Expressions form a DAG stored once. An expression is evaluated once by each statement that reaches it, operands
// left to right; Let fixes a value. Two statements that share an expression evaluate it twice, and a Var in it means whatever is
// in scope at each of them. So types and scopes belong to (statement, expression), see validate/facts.hpp.
//
// Scope. A Let is visible from the next statement to the end of its block. Buffers and locals are separate namespaces.
//
// Canonical form. Expressions stand in the order of first evaluation, unreached ones are dropped, and names are numbered in
// order of first use. Equality, hash, bytes and text are those of the canonical form; source places are left out.
//
// Nothing here may recurse over what a user can make long: expression chains of 100,000 and nestings of 1,000,000 are ordinary.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vyre/base/interner.hpp"
#include "vyre/ir/access.hpp"
#include "vyre/ir/expr.hpp"
#include "vyre/ir/node.hpp"
#include "vyre/ir/place.hpp"

namespace vyre::ir {

struct BufferDecl {
  std::string name;
  std::uint32_t binding = 0;  // a number of the program; backends map it to dense slots. 0 and unused for Workgroup and Private
  BufferAccess access = BufferAccess::ReadOnly;
  DataType element = kU32;
  std::uint32_t count = 0;  // 0: the host decides; otherwise the exact number of elements
  bool output = false;      // "the result"
  bool atomic = false;      // of Workgroup: atomics may target it
  MadeAt made_at{};

  static BufferDecl storage(std::string name, std::uint32_t binding, BufferAccess access, DataType element);
  static BufferDecl read(std::string name, std::uint32_t binding, DataType element);
  static BufferDecl read_write(std::string name, std::uint32_t binding, DataType element);
  static BufferDecl output_of(std::string name, std::uint32_t binding, DataType element);
  static BufferDecl uniform(std::string name, std::uint32_t binding, DataType element);
  static BufferDecl workgroup(std::string name, std::uint32_t count, DataType element, bool atomic = false);
  static BufferDecl private_of(std::string name, std::uint32_t count, DataType element);

  bool operator==(const BufferDecl&) const = default;
};

using WorkgroupSize = std::array<std::uint32_t, 3>;

class Program {
 public:
  Program();  // no buffers, workgroup size (1, 1, 1), no statements

  const std::vector<BufferDecl>& buffers() const { return data_->buffers; }
  const WorkgroupSize& workgroup_size() const { return data_->workgroup_size; }
  const IdVector<ExprId, Expr>& exprs() const { return data_->exprs; }
  const IdVector<NodeId, Node>& nodes() const { return data_->nodes; }

  const Expr& expr(ExprId id) const { return data_->exprs[id]; }
  const Node& node(NodeId id) const { return data_->nodes[id]; }
  std::span<const ExprId> operands(ExprList list) const;
  std::string_view text(NameId id) const { return data_->names.text(id); }
  const Interner& names() const { return data_->names; }

  // The place in the user's source of the call that made the program, and of the handles of its expressions and statements. Parsed programs
  // have no places.
  SourcePlace place() const { return data_->place; }
  SourcePlace place(ExprId id) const;
  SourcePlace place(NodeId id) const;

  bool operator==(const Program& other) const;
  std::uint64_t hash() const;  // of the canonical form; the same in every process

 private:
  friend class ProgramBuilder;
  struct Data {
    std::vector<BufferDecl> buffers;
    WorkgroupSize workgroup_size{1, 1, 1};
    IdVector<ExprId, Expr> exprs;
    IdVector<NodeId, Node> nodes;
    std::vector<ExprId> pool;  // an ExprList's length (as an id), then its operands
    Interner names;
    IdVector<ExprId, SourcePlace> expr_places;  // empty when all are unknown
    IdVector<NodeId, SourcePlace> node_places;
    SourcePlace place;
  };
  explicit Program(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

  std::shared_ptr<const Data> data_;
};

template <class Visit>
void for_each_operand(const Program& program, ExprId id, Visit&& visit) {
  for_each_operand(
      program.expr(id), [&](ExprList list) { return program.operands(list); }, visit);
}

}  // namespace vyre::ir
