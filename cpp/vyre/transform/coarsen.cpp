// Analysis finds how each value differs between the copies, and whether the program can be coarsened at all. Coarsener then emits the
// program anew, statement by statement: each expression once for every copy, bound to a name, and each effect for one copy after the other.
// Only an If splits the copies: code under a condition that differs between copies is emitted for all of them together, for each alone, or
// both.
#include "vyre/transform/coarsen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "vyre/base/assert.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/transform/rebuild.hpp"

namespace vyre::transform {
namespace {

using validate::Step;
using validate::ValidProgram;

// The most expressions and statements of a program that is coarsened; the result may have 2 * ways times as many. A larger program
// computes so much between its accesses to memory that it does not wait for memory.
constexpr std::size_t kMaxSize = 400;

// How a value differs between the copies.
enum class Variation : std::uint8_t {
  None,  // it is the same in all copies
  Ids,   // it depends on ids alone, so a condition on it mostly has one result in all copies, except at the end of an array
  Data,  // it depends on values that were loaded
};

// Finds how each value differs between the copies, and whether the program can be coarsened.
class Analysis {
 public:
  explicit Analysis(const ValidProgram& valid)
      : valid_(valid),
        program_(valid.program()),
        facts_(valid.facts()),
        steps_(facts_.steps.size(), Variation::None),
        locals_(facts_.locals.size(), Variation::None),
        returns_early_(program_.nodes().size(), 0),
        here_(program_.exprs().size(), Variation::None) {
    if (!is_small_and_unordered()) return;
    // An assignment in a loop affects earlier statements too, so the walk repeats until no variation grows. Each grows twice at most.
    do {
      changed_ = false;
      possible_ = true;
      walk();
    } while (changed_);
  }

  bool possible() const { return possible_; }
  Variation of(std::size_t step) const { return steps_[step]; }
  Variation of(LocalId local) const { return locals_[local]; }
  // Whether the statement is an If that is in no other block, and its branch is a Return that only some copies may reach.
  bool returns_early(NodeId id) const { return returns_early_[id] != 0; }

 private:
  bool is_small_and_unordered() const {
    if (facts_.steps.size() + program_.nodes().size() > kMaxSize) return false;
    for (const ir::BufferDecl& buffer : program_.buffers()) {
      if (!ir::is_bound(buffer.access)) return false;
    }
    for (const Step& step : facts_.steps) {
      if (std::holds_alternative<ir::Atomic>(program_.expr(step.expr))) return false;
    }
    return std::ranges::none_of(program_.nodes(), [](const ir::Node& node) { return std::holds_alternative<ir::Barrier>(node); });
  }

  // A shared expression may differ between copies in one statement and not in another, because its names may stand for other locals there.
  Variation evaluate(NodeId id) {
    const validate::Statement& statement = facts_.statements[id];
    Variation greatest = Variation::None;
    for (std::uint32_t at = statement.first_step; at < statement.first_step + statement.step_count; ++at) {
      const Step& step = facts_.steps[at];
      const ir::Expr& expr = program_.expr(step.expr);
      Variation here = Variation::None;
      for_each_operand(program_, step.expr, [&](ExprId operand) { here = std::max(here, here_[operand]); });
      if (const auto* grid = std::get_if<ir::GridId>(&expr)) {
        if (grid->axis == 0 && grid->kind != ir::GridIdKind::Local) here = Variation::Ids;
      } else if (std::holds_alternative<ir::Var>(expr)) {
        here = locals_[step.local];
      } else if (std::holds_alternative<ir::Load>(expr)) {
        if (here != Variation::None || is_writable_load(valid_, step)) here = Variation::Data;
      }
      here_[step.expr] = here;
      steps_[at] = here;
      greatest = std::max(greatest, here);
    }
    return greatest;
  }

  void differs(LocalId local, Variation variation) {
    if (variation <= locals_[local]) return;
    locals_[local] = variation;
    changed_ = true;
  }

  void walk() {
    struct Open {
      Variation control;  // how the conditions around the statement vary
      bool lockstep;      // whether copies take turns inside
      // Whether copies take turns in the innermost Loop, and whether an If inside that Loop and around the statement has a condition that
      // differs between copies.
      bool turns = false, parted = false;
    };
    std::vector<Open> open;
    Open here{Variation::None, true};
    const std::uint32_t count = static_cast<std::uint32_t>(program_.nodes().size());
    for (std::uint32_t index = 0; index < count; ++index) {
      const NodeId id{index};
      const Variation value = evaluate(id);
      const LocalId local = facts_.statements[id].local;
      match(
          program_.node(id), [&](const ir::Let&) { differs(local, value); },
          [&](const ir::Assign&) { differs(local, std::max(value, here.control)); }, [](const ir::Store&) {},
          [&](const ir::If& it) {
            open.push_back(here);
            if (value == Variation::None) return;
            const bool returns = it.end.index == index + 2 && std::holds_alternative<ir::Return>(program_.node(NodeId{index + 1}));
            if (returns && open.size() == 1) returns_early_[id] = 1;
            here.control = std::max(here.control, value);
            here.parted = true;
            if (value == Variation::Data) here.lockstep = false;
          },
          [](const ir::Else&) {},
          [&](const ir::Loop&) {
            open.push_back(here);
            differs(local, value);
            here.control = std::max(here.control, value);
            if (value != Variation::None && here.lockstep) possible_ = false;
            here.turns = here.lockstep;
            here.parted = false;
          },
          [&](const ir::Block&) { open.push_back(here); },
          [&](const ir::End& it) {
            const Open inside = here;
            here = open.back();
            open.pop_back();
            // Only copies that did not return run the statements that follow, so these stay under the condition.
            if (returns_early_[it.opener]) here = inside;
          },
          [](const ir::Barrier&) {},
          [&](const ir::Return&) {
            const bool left = index > 0 && returns_early_[NodeId{index - 1}];
            if (here.control != Variation::None && !left) possible_ = false;
          },
          [&](const ir::Break&) {
            if (here.turns && here.parted) possible_ = false;
          });
    }
  }

  const ValidProgram& valid_;
  const ir::Program& program_;
  const validate::Facts& facts_;
  std::vector<Variation> steps_;
  IdVector<LocalId, Variation> locals_;
  IdVector<NodeId, std::uint8_t> returns_early_;
  IdVector<ExprId, Variation> here_;  // by expression of the current statement
  bool possible_ = false, changed_ = false;
};

class Coarsener {
 public:
  Coarsener(const ValidProgram& valid, const Analysis& analysis, std::uint32_t ways)
      : program_(valid.program()),
        facts_(valid.facts()),
        analysis_(analysis),
        ways_(ways),
        rebuild_(valid),
        prefix_(free_prefix(program_, "__copy")),
        moved_(program_.exprs().size() * ways) {}

  std::optional<ValidProgram> run() {
    name_ids();
    emit_range({{0}, end_of_program()}, {0, ways_}, false);
    if (!gains_) return std::nullopt;
    return rebuild_.finish();
  }

 private:
  // The copies that a statement is emitted for: either all of them, or one.
  struct Copies {
    std::uint32_t first, count;
    bool all() const { return count > 1; }
  };

  ir::ProgramBuilder& to() { return rebuild_.to(); }
  NodeId end_of_program() const { return NodeId{static_cast<std::uint32_t>(program_.nodes().size())}; }
  ExprId& moved(ExprId expr, std::uint32_t copy) { return moved_[std::size_t{expr.index} * ways_ + copy]; }

  ExprId u32(std::uint32_t value) { return to().add(ir::Literal::u32(value)); }
  ExprId binary(ir::BinOp op, ExprId left, ExprId right) { return to().add(ir::Binary{op, left, right}); }
  // Binds the value to a new name, so that it is evaluated here.
  ExprId bind(ExprId value) {
    const NameId name = to().name(fmt::format("{}_{}", prefix_, bound_++));
    to().let(name, value);
    return to().add(ir::Var{name});
  }
  NameId name(LocalId local, std::uint32_t copy) {
    const NameId old = facts_.locals[local].name;
    if (analysis_.of(local) == Variation::None) return rebuild_.name(old);
    return to().name(fmt::format("{}{}_{}", prefix_, copy, program_.text(old)));
  }

  // Computes the ids of each copy's invocation and workgroup, if the program reads them.
  void name_ids() {
    bool invocation = false, workgroup = false;
    for (const Step& step : facts_.steps) {
      const auto* grid = std::get_if<ir::GridId>(&program_.expr(step.expr));
      if (grid == nullptr || grid->axis != 0) continue;
      invocation = invocation || grid->kind == ir::GridIdKind::Invocation;
      workgroup = workgroup || grid->kind == ir::GridIdKind::Workgroup;
    }
    const std::uint32_t size = program_.workgroup_size()[0];
    const auto add_all = [&](ExprId first, std::uint32_t distance) {
      std::vector<ExprId> ids{first};
      for (std::uint32_t copy = 1; copy < ways_; ++copy) ids.push_back(bind(binary(ir::BinOp::Add, first, u32(copy * distance))));
      return ids;
    };
    const auto id = [&](ir::GridIdKind kind) { return to().add(ir::GridId{kind, 0}); };
    // The sums wrap modulo 2^32, as ids do.
    if (invocation) {
      const ExprId group = binary(ir::BinOp::Mul, id(ir::GridIdKind::Workgroup), u32(ways_ * size));
      invocations_ = add_all(bind(binary(ir::BinOp::Add, group, id(ir::GridIdKind::Local))), size);
    }
    if (workgroup) workgroups_ = add_all(bind(binary(ir::BinOp::Mul, id(ir::GridIdKind::Workgroup), u32(ways_))), 1);
  }

  // Returns the copy's expression if it is a leaf, which needs no binding; nothing for an expression with operands.
  std::optional<ExprId> leaf(const Step& step, std::uint32_t copy) {
    const ir::Expr& expr = program_.expr(step.expr);
    if (std::holds_alternative<ir::Var>(expr)) return to().add(ir::Var{name(step.local, copy)});
    if (const auto* grid = std::get_if<ir::GridId>(&expr); grid != nullptr && grid->axis == 0) {
      if (grid->kind == ir::GridIdKind::Invocation) return invocations_[copy];
      if (grid->kind == ir::GridIdKind::Workgroup) return workgroups_[copy];
    }
    bool operands = false;
    for_each_operand(program_, step.expr, [&](ExprId) { operands = true; });
    if (operands) return std::nullopt;
    return rebuild_.copy(step.expr, [](ExprId operand) { return operand; });
  }

  // Binds each expression of a statement to a name, in evaluation order. Leaves need no name, and the value of a Let or an Assign gets its
  // name from that statement.
  void evaluate(NodeId id, Copies copies) {
    const validate::Statement& statement = facts_.statements[id];
    const std::uint32_t end = statement.first_step + statement.step_count;
    for (std::uint32_t at = statement.first_step; at < end; ++at) {
      const Step& step = facts_.steps[at];
      const bool same = analysis_.of(at) == Variation::None;
      const bool named = at + 1 == end && statement.local.valid() && (!same || analysis_.of(statement.local) == Variation::None);
      if (!same && copies.all() && std::holds_alternative<ir::Load>(program_.expr(step.expr))) gains_ = true;
      for (std::uint32_t copy = copies.first; copy < copies.first + copies.count; ++copy) {
        if (same && copy > copies.first) {
          moved(step.expr, copy) = moved(step.expr, copies.first);
        } else if (const std::optional<ExprId> plain = leaf(step, copy)) {
          moved(step.expr, copy) = *plain;
        } else {
          const ExprId made = rebuild_.copy(step.expr, [&](ExprId operand) { return moved(operand, copy); });
          moved(step.expr, copy) = named ? made : bind(made);
        }
      }
    }
  }

  // Returns a condition as a U32.
  ExprId as_u32(NodeId branch, ExprId condition) {
    const validate::Statement& statement = facts_.statements[branch];
    const Step& root = facts_.steps[statement.first_step + statement.step_count - 1];
    return root.type == ir::DataType::U32 ? condition : to().add(ir::Cast{ir::DataType::U32, condition});
  }

  // A run of statements that contains the End of every block that it opens. It may be empty.
  struct Range {
    NodeId begin, end;
    bool empty() const { return begin.index >= end.index; }
  };

  // Emits for each copy alone: it runs `then` if its condition holds, and `otherwise` if not. `conditions` has one condition for each copy.
  void emit_alone(const std::vector<ExprId>& conditions, Range then, Range otherwise, bool guarded) {
    for (std::uint32_t copy = 0; copy < ways_; ++copy) {
      to().if_(conditions[copy]);
      emit_range(then, {copy, 1}, guarded);
      if (!otherwise.empty()) {
        to().else_();
        emit_range(otherwise, {copy, 1}, guarded);
      }
      to().end();
    }
  }

  // Emits an If whose condition differs between copies. If `together` is set and the condition holds for all copies, they run `then` in
  // turns; otherwise each copy runs alone. Conditions inside `then` are not tested for all copies again, because the program would grow
  // with the square of its depth.
  void emit_branch(const std::vector<ExprId>& conditions, Range then, Range otherwise, bool together, bool guarded) {
    if (!together || guarded) return emit_alone(conditions, then, otherwise, guarded);
    ExprId all = conditions[0];
    for (std::uint32_t copy = 1; copy < ways_; ++copy) all = binary(ir::BinOp::And, all, conditions[copy]);
    to().if_(all);
    emit_range(then, {0, ways_}, true);
    to().else_();
    emit_alone(conditions, then, otherwise, true);
    to().end();
  }

  // A range that is being emitted.
  struct Emission {
    NodeId end;
    Copies copies;
    bool guarded;              // it is inside an If that tested all copies
    std::size_t open_ifs = 0;  // Ifs that early returns opened around the rest of the range
  };

  // The recursion is three deep at the most: for all copies, for all copies under a condition, and for one copy.
  void emit_range(Range range, Copies copies, bool guarded) {
    Emission emission{range.end, copies, guarded};
    for (NodeId id = range.begin; id < range.end;) id = emit_statement(id, emission);
    for (; emission.open_ifs > 0; --emission.open_ifs) to().end();
  }

  template <class Write>
  static void for_each_copy(Copies copies, Write&& write) {
    for (std::uint32_t copy = copies.first; copy < copies.first + copies.count; ++copy) write(copy);
  }

  // This function and the next two emit a statement and return the next one to emit. For a Loop, a Block, and an If whose condition is the
  // same for all copies, they emit the beginning only. Any other If is emitted with its branches, and an early return of all copies with
  // the rest of the range.
  NodeId emit_statement(NodeId id, Emission& emission) {
    const Copies copies = emission.copies;
    evaluate(id, copies);
    const ir::Node& node = program_.node(id);
    if (const auto* branch = std::get_if<ir::If>(&node)) return emit_if(id, *branch, emission);

    const LocalId local = facts_.statements[id].local;
    // A value that is the same for all copies is written once.
    const auto writers = [&] { return analysis_.of(local) == Variation::None ? Copies{copies.first, 1} : copies; };
    match(
        node, [&](const ir::Let& it) { for_each_copy(writers(), [&](auto copy) { to().let(name(local, copy), moved(it.value, copy)); }); },
        [&](const ir::Assign& it) { for_each_copy(writers(), [&](auto copy) { to().assign(name(local, copy), moved(it.value, copy)); }); },
        [&](const ir::Store& it) {
          gains_ = gains_ || copies.all();
          const NameId buffer = rebuild_.name(it.buffer);
          for_each_copy(copies, [&](auto copy) { to().store(buffer, moved(it.index, copy), moved(it.value, copy)); });
        },
        [&](const ir::Loop& it) { to().loop(name(local, copies.first), moved(it.from, copies.first), moved(it.to, copies.first)); },
        [&](const ir::Else&) { to().else_(); }, [&](const ir::Block&) { to().block(); }, [&](const ir::End&) { to().end(); },
        [&](const ir::Return&) { to().return_(); }, [&](const ir::Break&) { to().break_(); }, [](const ir::If&) {},
        [](const ir::Barrier&) {});
    return {id.index + 1};
  }

  NodeId emit_if(NodeId id, const ir::If& branch, Emission& emission) {
    const Copies copies = emission.copies;
    const Variation variation = variation_of_condition(id);
    if (variation != Variation::None && analysis_.returns_early(id)) return emit_early_return(id, branch, emission);
    if (variation == Variation::None || !copies.all()) {
      to().if_(moved(branch.condition, copies.first));
      return {id.index + 1};
    }
    std::vector<ExprId> conditions(ways_);
    for_each_copy(copies, [&](auto copy) { conditions[copy] = as_u32(id, moved(branch.condition, copy)); });
    const bool has_else = branch.otherwise.valid();
    const Range then{{id.index + 1}, has_else ? branch.otherwise : branch.end};
    const Range otherwise = has_else ? Range{{branch.otherwise.index + 1}, branch.end} : Range{};
    emit_branch(conditions, then, otherwise, variation == Variation::Ids, emission.guarded);
    return {branch.end.index + 1};
  }

  // Emits If(condition) { Return }: an If of the negated condition goes around the statements that follow.
  NodeId emit_early_return(NodeId id, const ir::If& branch, Emission& emission) {
    const Copies copies = emission.copies;
    std::vector<ExprId> conditions(ways_);
    for_each_copy(copies, [&](auto copy) {
      conditions[copy] = bind(to().add(ir::Unary{ir::UnOp::LogicalNot, as_u32(id, moved(branch.condition, copy))}));
    });
    const NodeId after{branch.end.index + 1};
    if (copies.all()) {
      const bool together = variation_of_condition(id) == Variation::Ids;
      emit_branch(conditions, {after, emission.end}, {}, together, emission.guarded);
      return emission.end;
    }
    to().if_(conditions[copies.first]);
    ++emission.open_ifs;
    return after;
  }

  Variation variation_of_condition(NodeId branch) const {
    const validate::Statement& statement = facts_.statements[branch];
    return analysis_.of(statement.first_step + statement.step_count - 1);
  }

  const ir::Program& program_;
  const validate::Facts& facts_;
  const Analysis& analysis_;
  const std::uint32_t ways_;
  Rebuild rebuild_;
  const std::string prefix_;
  std::vector<ExprId> invocations_, workgroups_;  // of each copy
  std::vector<ExprId> moved_;
  std::uint32_t bound_ = 0;
  bool gains_ = false;
};

}  // namespace

std::optional<ValidProgram> coarsen(const ValidProgram& program, std::uint32_t ways) {
  VYRE_ASSERT(ways >= 2);
  const Analysis analysis(program);
  if (!analysis.possible()) return std::nullopt;
  return Coarsener(program, analysis, ways).run();
}

}  // namespace vyre::transform
