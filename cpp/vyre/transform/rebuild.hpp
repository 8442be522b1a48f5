// Copies a program while replacing expressions and statements. Every pass is built from these functions, because programs are never edited
// in place.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vyre/ir/builder.hpp"
#include "vyre/ir/value.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::transform {

// Returns a copy of `expr` of `from` for the builder `to`, with its operands and names replaced. The copy is not added to `to`.
template <class Operand, class Name>
ir::Expr copy_expr(const ir::Program& from, const ir::Expr& expr, ir::ProgramBuilder& to, Operand&& operand, Name&& name) {
  auto list = [&](ir::ExprList old) {
    std::vector<ExprId> operands;
    for (ExprId id : from.operands(old)) operands.push_back(operand(id));
    return to.list(operands);
  };
  return map(expr, operand, list, name);
}

// Adds a copy of `node` to the builder `to`, with its expressions replaced by root(ExprId) and its names by name(NameId).
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
  // Whether it is neither an atomic nor a load of writable memory. If a statement evaluates it twice with equal operands, both evaluations
  // give the same value.
  IdVector<ExprId, std::uint8_t> repeatable;
  // Whether it and all expressions that it is computed from are repeatable. It may then be evaluated anywhere in its statement, or not at
  // all. No other expression may be dropped from a statement: a load in it that the statement also uses elsewhere would then be evaluated
  // later, perhaps after an atomic.
  IdVector<ExprId, std::uint8_t> fixed;
  // The type that it has in every statement; nothing when statements disagree, because a name in it means locals of different types.
  IdVector<ExprId, std::optional<ir::DataType>> types;
};
ExprFacts expr_facts(const validate::ValidProgram& program);

bool is_writable_load(const validate::ValidProgram& program, const validate::Step& step);

// A known value of a type with literals or lanes.
struct Constant {
  ir::DataType type = ir::kU32;
  ir::Value value;
};
// Returns nothing for a type that has no literals.
std::optional<ir::Literal> literal(const Constant& constant);
// Adds a literal, or a Pack of literals.
ExprId add_constant(ir::ProgramBuilder& to, const Constant& constant);
std::optional<Constant> constant_of(const ir::Expr& expr);

// Replaces an expression in every statement: by an earlier expression or by a literal.
struct Replacement {
  ExprId by;
  std::optional<Constant> constant;  // wins over `by`
};
// Returns the program itself when every expression is replaced by itself.
validate::ValidProgram replace(const validate::ValidProgram& program, const IdVector<ExprId, Replacement>& replacements);

// Returns a prefix for the names of new locals: `prefix`, with underscores appended until no name of the program starts with it.
std::string free_prefix(const ir::Program& program, std::string prefix);

// Validates the result of a pass, which calls no operations but `ops`. The limits are not checked, because they apply to programs that
// users write. Without `uniformity`, V010 is not checked either.
using Operations = std::vector<std::shared_ptr<const validate::ValidOp>>;
validate::ValidProgram validate_result(const ir::Program& program, const Operations& ops, bool uniformity = true);

// Builds a new program with the buffers and the workgroup size of an old one. Each name of the old program is translated once.
class Rebuild {
 public:
  explicit Rebuild(const validate::ValidProgram& from);

  ir::ProgramBuilder& to() { return to_; }
  NameId name(NameId old);

  // Adds a copy of the old expression, with its operands replaced by operand(ExprId), as a new node.
  template <class Operand>
  ExprId copy(ExprId old, Operand&& operand) {
    return to_.add(copy_expr(from_.program(), from_.program().expr(old), to_, operand, [&](NameId id) { return name(id); }));
  }
  // Adds a copy of the old statement, with its expressions replaced by root(ExprId).
  template <class Root>
  void copy(NodeId old, Root&& root) {
    copy_node(
        from_.program().node(old), to_, root, [&](NameId id) { return name(id); }, from_.program().place(old));
  }

  validate::ValidProgram finish() { return validate_result(to_.finish(), from_.facts().ops); }

 private:
  const validate::ValidProgram& from_;
  ir::ProgramBuilder to_;
  IdVector<NameId, NameId> names_;
};

}  // namespace vyre::transform
