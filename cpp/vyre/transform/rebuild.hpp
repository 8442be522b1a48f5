// Copies a program while replacing expressions and statements. Every pass is built from these functions, because programs are never edited
// in place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vyre/ir/builder.hpp"
#include "vyre/ir/value.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::transform {

// `expr` of `from` for the builder `to`, with its operands and names replaced; not yet added.
template <class Operand, class Name>
ir::Expr copy_expr(const ir::Program& from, const ir::Expr& expr, ir::ProgramBuilder& to, Operand&& operand, Name&& name) {
  auto list = [&](ir::ExprList old) {
    std::vector<ExprId> operands;
    for (ExprId id : from.operands(old)) operands.push_back(operand(id));
    return to.list(operands);
  };
  return map(expr, operand, list, name);
}

// Adds `node` of a program to the builder `to`, its expressions replaced by root(ExprId) and its names by name(NameId).
template <class Root, class Name>
void copy_node(const ir::Node& node, ir::ProgramBuilder& to, Root&& root, Name&& name, ir::SourcePlace place = {}) {
  match(
      node, [&](const ir::Let& let) { to.let(name(let.name), root(let.value), place); },
      [&](const ir::Assign& assign) { to.assign(name(assign.name), root(assign.value), place); },
      [&](const ir::Store& store) {
        const ExprId index = root(store.index);
        to.store(name(store.buffer), index, root(store.value), place);
      },
      [&](const ir::If& branch) { to.if_(root(branch.condition), place); }, [&](const ir::Else&) { to.else_(place); },
      [&](const ir::Loop& loop) {
        const ExprId from = root(loop.from);
        to.loop(name(loop.variable), from, root(loop.to), place);
      },
      [&](const ir::Block&) { to.block(place); }, [&](const ir::End&) { to.end(); }, [&](const ir::Barrier&) { to.barrier(place); },
      [&](const ir::Return&) { to.return_(place); }, [&](const ir::Break&) { to.break_(place); });
}

// Facts about a program's expressions, whichever statement evaluates them.
struct ExprFacts {
  // Neither an atomic nor a load of writable memory: evaluated twice in one statement, it gives the same from the same operands.
  IdVector<ExprId, std::uint8_t> repeatable;
  // Reaches repeatable expressions only, so it may be evaluated anywhere in its statement, or not at all. Nothing else may be
  // dropped from a statement: a load that is used elsewhere too would be evaluated later, perhaps after an atomic.
  IdVector<ExprId, std::uint8_t> fixed;
  // The type in every statement that evaluates it; nothing when a variable in it means locals of different types.
  IdVector<ExprId, std::optional<ir::DataType>> types;
};
ExprFacts expr_facts(const validate::ValidProgram& program);

bool is_writable_load(const validate::ValidProgram& program, const validate::Step& step);

// A known value of a type with literals or lanes.
struct Constant {
  ir::DataType type = ir::DataType::U32;
  ir::Value value;
};
// Nothing for the types that have no literal.
std::optional<ir::Literal> literal(const Constant& constant);
// A literal, or a pack of literals.
ExprId add_constant(ir::ProgramBuilder& to, const Constant& constant);
std::optional<Constant> constant_of(const ir::Expr& expr);

// Replaces an expression in every statement: by an earlier expression or by a literal.
struct Replacement {
  ExprId by;
  std::optional<Constant> constant;  // wins over `by`
};
// Unchanged when every expression is replaced by itself.
validate::ValidProgram replace(const validate::ValidProgram& program, const IdVector<ExprId, Replacement>& replacements);

// `prefix`, with underscores until no name of the program starts with it: for names of our own.
std::string free_prefix(const ir::Program& program, std::string prefix);

// For results of passes: every rule but the limits, which judge what a user wrote. Without `uniformity` V010 is left out too.
validate::ValidProgram validate_result(const ir::Program& program, bool uniformity = true);

// A new program with the buffers and the workgroup size of an old one, whose names are translated once each.
class Rebuild {
 public:
  explicit Rebuild(const validate::ValidProgram& from);

  ir::ProgramBuilder& to() { return to_; }
  NameId name(NameId old);

  // The old expression, its operands replaced by operand(ExprId), as a new node.
  template <class Operand>
  ExprId copy(ExprId old, Operand&& operand) {
    return to_.add(copy_expr(from_.program(), from_.program().expr(old), to_, operand, [&](NameId id) { return name(id); }));
  }
  // The old statement, its expressions replaced by root(ExprId).
  template <class Root>
  void copy(NodeId old, Root&& root) {
    copy_node(
        from_.program().node(old), to_, root, [&](NameId id) { return name(id); }, from_.program().place(old));
  }

  validate::ValidProgram finish() { return validate_result(to_.finish()); }

 private:
  const validate::ValidProgram& from_;
  ir::ProgramBuilder to_;
  IdVector<NameId, NameId> names_;
};

}  // namespace vyre::transform
