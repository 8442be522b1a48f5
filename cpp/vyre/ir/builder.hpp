// The only way to make a Program: append expressions and statements, then finish(), which brings them into canonical form.
// An expression can only name what exists already, so the array is a bottom-up order at any depth.
#pragma once

#include "vyre/ir/program.hpp"

namespace vyre::ir {

class ProgramBuilder {
 public:
  ProgramBuilder();

  // Names that are not UTF-8 are an ArgumentError, here and in name().
  void buffer(BufferDecl decl);
  void workgroup_size(WorkgroupSize size);
  void made_at(SourcePlace place);  // where the user's source makes the program

  NameId name(std::string_view text);
  ExprList list(std::span<const ExprId> operands);
  // Operands must have been returned by this builder before.
  ExprId add(const Expr& expr, SourcePlace place = {});

  void let(NameId name, ExprId value, SourcePlace place = {});
  void assign(NameId name, ExprId value, SourcePlace place = {});
  void store(NameId buffer, ExprId index, ExprId value, SourcePlace place = {});
  void if_(ExprId condition, SourcePlace place = {});
  void else_(SourcePlace place = {});  // of the innermost open If
  void loop(NameId variable, ExprId from, ExprId to, SourcePlace place = {});
  void block(SourcePlace place = {});
  void end();  // of the innermost open If, Loop or Block
  void barrier(SourcePlace place = {});
  void return_(SourcePlace place = {});
  void break_(SourcePlace place = {});

  std::size_t open_blocks() const { return open_.size(); }
  std::size_t name_count() const { return data_->names.size(); }
  std::size_t expr_count() const { return data_->exprs.size(); }
  std::size_t node_count() const { return data_->nodes.size(); }
  const Expr& expr(ExprId id) const { return data_->exprs[id]; }
  std::span<const ExprId> operands(ExprList list) const;
  std::string_view text(NameId id) const { return data_->names.text(id); }
  // For bounded readers: what is going to be added at most.
  void reserve(std::size_t exprs, std::size_t nodes);

  // Every block must be closed. The builder is empty afterwards. `kept` are ids that get their value in the program.
  Program finish(std::span<ExprId* const> kept = {});

 private:
  NodeId append(const Node& node, SourcePlace place);

  std::shared_ptr<Program::Data> data_;
  std::vector<NodeId> open_;
};

}  // namespace vyre::ir
