// Walks a program's statements once, in source order, and the steps of each in evaluation order. Every step becomes a value of the Writer:
// operators by the rules of operators.cpp, accesses by those of accesses.cpp, both for one target.
//
// A small private array whose indices are all literals becomes variables, one for each element.
//
// The walk also records what the conditions and loops around a statement prove, and leaves out the code after a Return or a Break.
#include "vyre/lower/lower.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "vyre/base/assert.hpp"
#include "vyre/base/overloaded.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/lower/accesses.hpp"
#include "vyre/lower/operators.hpp"
#include "vyre/lower/wide_division.hpp"
#include "vyre/lower/writer.hpp"
#include "vyre/transform/coarsen.hpp"
#include "vyre/transform/passes.hpp"

namespace vyre::lower {
namespace {

// An instruction and the statement that it comes from.
struct Effect {
  Opcode op;
  NodeId statement;
};

class Lowering {
 public:
  Lowering(const validate::ValidProgram& program, const Target& target, const Shape& shape)
      : program_(program.program()),
        facts_(program.facts()),
        target_(target),
        writer_(program_.workgroup_size(), shape),
        memory_(program_.buffers().size()),
        elements_(program_.buffers().size()),
        values_(program_.exprs().size()),
        locals_(facts_.locals.size()) {
    // Most expressions become one instruction.
    writer_.reserve(facts_.steps.size() + program_.nodes().size());
    Kernel& kernel = writer_.kernel();
    for (const BufferId id : program.bound()) {
      const ir::BufferDecl& buffer = program_.buffers()[id.index];
      memory_[id] = {Space::Buffer, static_cast<std::uint32_t>(kernel.buffers.size()), buffer.element, buffer.count};
      const bool narrow = ir::is_narrow(buffer.element), packed = narrow && !target.accesses(min_bytes(buffer.element));
      kernel.buffers.push_back({.lanes = buffer.element == ir::DataType::Bytes ? 1 : ir::lanes(buffer.element),
                                .writable = buffer.access == ir::BufferAccess::ReadWrite,
                                .narrow = narrow && !packed ? ir::min_bytes(buffer.element) : 0,
                                .extend = packed ? ir::Extend::Zero : info(buffer.element).extend,
                                .packed = packed});
    }
    for (std::uint32_t index = 0; index < program_.buffers().size(); ++index) {
      const ir::BufferDecl& buffer = program_.buffers()[index];
      if (buffer.access == ir::BufferAccess::Workgroup) {
        memory_[BufferId{index}] = {Space::Shared, static_cast<std::uint32_t>(kernel.shared.size()), buffer.element, buffer.count};
        kernel.shared.push_back({.lanes = ir::lanes(buffer.element), .count = buffer.count, .extend = info(buffer.element).extend});
      } else if (buffer.access == ir::BufferAccess::Private && shape.order == Order::Canonical && can_become_variables(BufferId{index})) {
        for (std::uint32_t k = 0; k < buffer.count; ++k) elements_[BufferId{index}].push_back(writer_.variable(ir::lanes(buffer.element)));
      } else if (buffer.access == ir::BufferAccess::Private) {
        memory_[BufferId{index}] = {Space::Private, static_cast<std::uint32_t>(kernel.privates.size()), buffer.element, buffer.count};
        kernel.privates.push_back({.lanes = ir::lanes(buffer.element), .count = buffer.count, .extend = info(buffer.element).extend});
      }
    }
    if (!facts_.ops.empty()) find_quotients();
    if (shape.proofs) {
      writer_.bounds().enable();
      find_changes();
    }
  }

  // Makes run() append the check of each access to `checks`.
  void report_to(std::vector<AccessCheck>& checks) { report_ = &checks; }
  // Makes run() append each instruction that a statement adds, with the statement, to `effects`.
  void trace_to(std::vector<Effect>& effects) { effects_ = &effects; }

  Kernel run() {
    for (const std::vector<std::uint32_t>& variables : elements_) {
      for (const std::uint32_t variable : variables) {
        writer_.add({.op = Opcode::WriteVariable, .imm = variable, .a = writer_.zero(writer_.kernel().variables[variable])});
      }
    }
    std::size_t traced = writer_.code().size();
    for (NodeId node{0}; node.index < program_.nodes().size(); ++node.index) {
      if (dead_) {
        if (const NodeId end = end_of(node); end.valid()) {
          node = end;
          continue;
        }
        if (!closes(program_.node(node))) continue;
      }
      for (const validate::Step& step : facts_.steps_of(node)) {
        writer_.checked(false);
        values_[step.expr] = {expression(step), step.type};
        if (report_ != nullptr && accesses_memory(program_.expr(step.expr))) report_->push_back({node, step.buffer, writer_.check_kept()});
      }
      writer_.checked(false);
      statement(node);
      if (report_ != nullptr && std::holds_alternative<ir::Store>(program_.node(node))) {
        report_->push_back({node, facts_.statements[node].buffer, writer_.check_kept()});
      }
      if (effects_ != nullptr) {
        for (; traced < writer_.code().size(); ++traced) effects_->push_back({writer_.code()[traced].op, node});
      }
    }
    VYRE_ASSERT(open_.empty());
    return writer_.finish();
  }

 private:
  static constexpr std::uint32_t kNoVariable = ~0u;
  // A local that is never assigned needs only its value; any other local gets a variable.
  struct Local {
    ValueId value;
    std::uint32_t variable = kNoVariable;  // its Let sets it
  };
  struct Typed {
    ValueId value;
    ir::DataType type = ir::DataType::U32;
  };
  // The condition of a Decided If is a literal: only the branch that is taken is lowered.
  enum class Opener : std::uint8_t { If, Else, Loop, Block, Decided };
  struct Open {
    Opener opener;
    std::size_t assumptions = 0;  // the number of assumptions that hold outside it
    ValueId condition{};          // of an If
    bool then_dead = false;       // of an Else: a Return or a Break ended the branch before it
    bool holds = false;           // of a Decided: the branch before an Else is taken
    bool has_else = false;        // of a Decided
  };

  // The End of an If, Loop or Block; invalid for other statements.
  NodeId end_of(NodeId node) const {
    return match(
        program_.node(node), [](const ir::If& it) { return it.end; }, [](const ir::Loop& it) { return it.end; },
        [](const ir::Block& it) { return it.end; }, [](const auto&) { return NodeId{}; });
  }

  static bool accesses_memory(const ir::Expr& expr) {
    return std::holds_alternative<ir::Load>(expr) || std::holds_alternative<ir::Atomic>(expr);
  }
  static bool closes(const ir::Node& node) { return std::holds_alternative<ir::End>(node) || std::holds_alternative<ir::Else>(node); }

  // Whether the private array is small and every access to it has a literal index, so that a variable can take the place of each element.
  bool can_become_variables(BufferId id) const {
    constexpr std::uint32_t kMostElements = 64;
    if (program_.buffers()[id.index].count > kMostElements) return false;
    const auto is_literal = [&](ExprId index) { return ir::literal_u32(program_.expr(index)).has_value(); };
    for (const validate::Step& step : facts_.steps) {
      const ir::Load* load = std::get_if<ir::Load>(&program_.expr(step.expr));
      if (load != nullptr && step.buffer == id && !is_literal(load->index)) return false;
    }
    for (std::uint32_t node = 0; node < program_.nodes().size(); ++node) {
      const ir::Store* store = std::get_if<ir::Store>(&program_.node(NodeId{node}));
      if (store != nullptr && facts_.statements[NodeId{node}].buffer == id && !is_literal(store->index)) return false;
    }
    return true;
  }
  // The variable of an element; nothing when the index is out of bounds.
  std::optional<std::uint32_t> element(BufferId id, ExprId index) const {
    const std::uint32_t at = *ir::literal_u32(program_.expr(index));
    return at < elements_[id].size() ? std::optional(elements_[id][at]) : std::nullopt;
  }

  // A statement that changes a local, or an element of a private array that became variables.
  struct Change {
    NodeId statement;
    LocalId local{};  // invalid if the statement changes an element of `array`
    BufferId array{};
    std::uint32_t element = 0;
    std::optional<std::uint32_t> ceiling{};  // see LoopChange
  };
  void find_changes();
  std::optional<std::uint32_t> ceiling(NodeId statement, LocalId local, ExprId value) const;
  void enter_loop(NodeId loop, NodeId end);

  void find_quotients();
  ValueId wide_division(const validate::Step& step, std::span<const ExprId> of);

  ValueId value(ExprId id) const { return values_[id].value; }
  ValueId expression(const validate::Step& step);
  void statement(NodeId id);
  void end();

  const ir::Program& program_;
  const validate::Facts& facts_;
  const Target& target_;
  Writer writer_;
  IdVector<BufferId, Memory> memory_;
  IdVector<BufferId, std::vector<std::uint32_t>> elements_;  // the variables that replace a private array
  IdVector<ExprId, Typed> values_;                           // of the current statement
  IdVector<LocalId, Local> locals_;
  std::set<std::pair<ExprId, ExprId>> quotients_;  // of U64: their operands
  std::vector<Change> changes_;                    // in order
  std::vector<LoopChange> loop_changes_;
  std::vector<Open> open_;
  bool dead_ = false;  // after a Return or a Break
  std::vector<AccessCheck>* report_ = nullptr;
  std::vector<Effect>* effects_ = nullptr;
};

ValueId Lowering::expression(const validate::Step& step) {
  const auto one_lane = [&](Opcode op, std::uint32_t imm) { return writer_.leaf({.op = op, .lanes = 1, .imm = imm}); };
  return match(
      program_.expr(step.expr),
      [&](const ir::Literal& it) {
        const ValueId low = writer_.constant(it.low);
        if (ir::lanes(it.type) == 1) return low;
        return writer_.leaf({.op = Opcode::Pack, .lanes = 2, .a = low, .b = writer_.constant(it.high)});
      },
      [&](const ir::Var&) {
        if (!facts_.locals[step.local].assigned) return locals_[step.local].value;
        const auto lanes = static_cast<std::uint8_t>(ir::lanes(step.type));
        return writer_.add({.op = Opcode::ReadVariable, .lanes = lanes, .imm = locals_[step.local].variable});
      },
      [&](const ir::Load& it) {
        if (elements_[step.buffer].empty()) return lower_load(writer_, target_, memory_[step.buffer], value(it.index));
        const auto lanes = static_cast<std::uint8_t>(ir::lanes(step.type));
        const std::optional<std::uint32_t> variable = element(step.buffer, it.index);
        return variable ? writer_.add({.op = Opcode::ReadVariable, .lanes = lanes, .imm = *variable}) : writer_.zero(lanes);
      },
      [&](const ir::BufLen&) {
        if (const std::size_t count = elements_[step.buffer].size(); count != 0) return writer_.constant(static_cast<std::uint32_t>(count));
        return lower_length(writer_, memory_[step.buffer]);
      },
      [&](const ir::GridId& it) {
        switch (it.kind) {
          case ir::GridIdKind::Invocation:
            return one_lane(Opcode::InvocationId, it.axis);
          case ir::GridIdKind::Workgroup:
            return one_lane(Opcode::WorkgroupId, it.axis);
          case ir::GridIdKind::Local:
            return one_lane(Opcode::LocalId, it.axis);
        }
        return ValueId{};
      },
      [&](const ir::Applied auto& it) {
        const auto lanes = static_cast<std::uint8_t>(ir::lanes(step.type));
        const auto lowered = [&](auto... id) { return lower_operator(writer_, target_, lanes, it.op, value(id)...); };
        return std::apply(lowered, ir::applied_to(it));
      },
      [&](const ir::Cast& it) {
        const ir::DataType source = values_[it.value].type;
        return lower_cast(writer_, target_, *ir::cast_kind(source, it.target), value(it.value), ir::lanes(source), it.target);
      },
      [&](const ir::Call& it) { return wide_division(step, program_.operands(it.arguments)); },
      [&](const ir::Lane& it) { return writer_.lane(value(it.value), it.lane); },
      [&](const ir::Pack& it) {
        const auto lanes = program_.operands(it.lanes);
        Instruction pack{.op = Opcode::Pack, .lanes = static_cast<std::uint8_t>(lanes.size()), .a = value(lanes[0]), .b = value(lanes[1])};
        if (lanes.size() == 4) {
          pack.c = value(lanes[2]);
          pack.d = value(lanes[3]);
        }
        return writer_.add(pack);
      },
      [&](const ir::Atomic& it) {
        const Memory& memory = memory_[step.buffer];
        Kernel& kernel = writer_.kernel();
        (memory.space == Space::Shared ? kernel.shared[memory.index].atomic : kernel.buffers[memory.index].atomic) = true;
        const auto operands = program_.operands(it.operands);
        const ValueId expected = it.has_expected ? value(operands[1]) : ValueId{};
        return lower_atomic(writer_, target_, it.op, memory, value(operands[0]), expected, value(operands.back()));
      });
}

// No other calls are left.
ValueId Lowering::wide_division(const validate::Step& step, std::span<const ExprId> of) {
  const auto division = transform::wide_division(facts_.ops[step.op]->spec());
  VYRE_ASSERT(division.has_value());
  const bool both = quotients_.contains({of[0], of[1]});
  return lower_wide_division(writer_, target_, *division, value(of[0]), value(of[1]), both);
}

void Lowering::find_quotients() {
  for (const validate::Step& step : facts_.steps) {
    if (step.op == ~0u || transform::wide_division(facts_.ops[step.op]->spec()) != transform::Division::Quotient) continue;
    const auto of = program_.operands(std::get<ir::Call>(program_.expr(step.expr)).arguments);
    quotients_.insert({of[0], of[1]});
  }
}

// Returns LoopChange::ceiling for an assignment: the new value is at most the ceiling, or at most the value that the local had before. The
// ceiling is 0 if the assignment never makes the local greater; nothing if no bound is known.
std::optional<std::uint32_t> Lowering::ceiling(NodeId statement, LocalId local, ExprId value) const {
  if (const auto literal = ir::literal_u32(program_.expr(value))) return literal;
  const auto* binary = std::get_if<ir::Binary>(&program_.expr(value));
  if (binary == nullptr) return std::nullopt;
  const auto is_itself = [&](ExprId operand) {
    return local.valid() && facts_.locals[local].type == ir::DataType::U32 &&
           std::ranges::any_of(facts_.steps_of(statement),
                               [&](const validate::Step& it) { return it.expr == operand && it.local == local; });
  };
  const auto left = ir::literal_u32(program_.expr(binary->left)), right = ir::literal_u32(program_.expr(binary->right));
  switch (binary->op) {
    case ir::BinOp::BitAnd:
    case ir::BinOp::Min:
      if (is_itself(binary->left) || is_itself(binary->right)) return 0;
      return left ? left : right;
    case ir::BinOp::Shr:
    case ir::BinOp::Div:
      return is_itself(binary->left) ? std::optional(0u) : std::nullopt;
    case ir::BinOp::Mod:
      if (is_itself(binary->left)) return 0;
      return right ? std::optional(std::max(*right, 1u) - 1) : std::nullopt;
    default:
      return std::nullopt;
  }
}

void Lowering::find_changes() {
  for (NodeId id{0}; id.index < program_.nodes().size(); ++id.index) {
    const validate::Statement& facts = facts_.statements[id];
    if (const auto* assign = std::get_if<ir::Assign>(&program_.node(id))) {
      changes_.push_back({.statement = id, .local = facts.local, .ceiling = ceiling(id, facts.local, assign->value)});
    } else if (const auto* store = std::get_if<ir::Store>(&program_.node(id)); store != nullptr && !elements_[facts.buffer].empty()) {
      changes_.push_back({.statement = id, .array = facts.buffer, .element = *ir::literal_u32(program_.expr(store->index))});
    }
  }
}

// Tells Bounds which variables the loop writes, because an earlier turn may have changed them when the body begins.
void Lowering::enter_loop(NodeId loop, NodeId end) {
  loop_changes_.clear();
  const auto first = std::ranges::upper_bound(changes_, loop, {}, &Change::statement);
  for (auto it = first; it != changes_.end() && it->statement < end; ++it) {
    if (!it->local.valid()) {
      if (it->element < elements_[it->array].size()) loop_changes_.push_back({elements_[it->array][it->element], it->ceiling});
    } else if (locals_[it->local].variable != kNoVariable) {
      loop_changes_.push_back({locals_[it->local].variable, it->ceiling});
    }
  }
  writer_.bounds().changes_in_loop(loop_changes_);
}

void Lowering::statement(NodeId id) {
  const validate::Statement& facts = facts_.statements[id];
  match(
      program_.node(id),
      [&](const ir::Let& it) {
        Local& local = locals_[facts.local];
        if (!facts_.locals[facts.local].assigned) {
          local.value = value(it.value);
          return;
        }
        local.variable = writer_.variable(ir::lanes(facts_.locals[facts.local].type));
        writer_.add({.op = Opcode::WriteVariable, .imm = local.variable, .a = value(it.value)});
      },
      [&](const ir::Assign& it) { writer_.add({.op = Opcode::WriteVariable, .imm = locals_[facts.local].variable, .a = value(it.value)}); },
      [&](const ir::Store& it) {
        if (elements_[facts.buffer].empty()) {
          lower_store(writer_, target_, memory_[facts.buffer], value(it.index), value(it.value));
        } else if (const std::optional<std::uint32_t> variable = element(facts.buffer, it.index)) {
          const ValueId kept = narrowed(writer_, program_.buffers()[facts.buffer.index].element, value(it.value));
          writer_.add({.op = Opcode::WriteVariable, .imm = *variable, .a = kept});
        }
      },
      [&](const ir::If& it) {
        if (const auto known = writer_.literal(value(it.condition)); known && writer_.bounds().enabled()) {
          open_.push_back({.opener = Opener::Decided, .holds = *known != 0});
          dead_ = *known == 0;
          return;
        }
        writer_.add({.op = Opcode::If, .a = value(it.condition)});
        writer_.open_region();
        open_.push_back({.opener = Opener::If, .assumptions = writer_.assumptions(), .condition = value(it.condition)});
        assume(writer_, value(it.condition));
      },
      [&](const ir::Else&) {
        Open& open = open_.back();
        if (open.opener == Opener::Decided) {
          if (open.holds) open.then_dead = dead_;
          dead_ = open.holds;
          open.has_else = true;
          return;
        }
        writer_.add({.op = Opcode::Else});
        writer_.next_branch();
        open.opener = Opener::Else;
        open.then_dead = dead_;
        dead_ = false;
        writer_.forget_assumptions(open.assumptions);
        assume_not(writer_, open.condition);
      },
      [&](const ir::Loop& it) {
        const ValueId variable = writer_.add({.op = Opcode::Loop, .lanes = 1, .a = value(it.from), .b = value(it.to)});
        locals_[facts.local].value = variable;
        writer_.open_region();
        open_.push_back({.opener = Opener::Loop, .assumptions = writer_.assumptions()});
        assume_less(writer_, variable, value(it.to));
        if (writer_.bounds().enabled()) enter_loop(id, it.end);
      },
      [&](const ir::Block&) { open_.push_back({.opener = Opener::Block}); }, [&](const ir::End&) { end(); },
      [&](const ir::Barrier&) { writer_.add({.op = Opcode::Barrier}); },
      [&](const ir::Return&) {
        writer_.add({.op = Opcode::Return});
        dead_ = true;
      },
      [&](const ir::Break&) {
        writer_.add({.op = Opcode::Break});
        dead_ = true;
      });
}

void Lowering::end() {
  const Open open = open_.back();
  open_.pop_back();
  if (open.opener == Opener::Decided) {
    if (open.holds == open.has_else) dead_ = open.holds && open.then_dead;
    return;
  }
  if (open.opener == Opener::Block) return;  // after a Return or a Break in a block, the code behind the block is dead too
  writer_.add({.op = open.opener == Opener::Loop ? Opcode::EndLoop : Opcode::EndIf});
  writer_.close_region();
  writer_.forget_assumptions(open.assumptions);
  // An invocation that reaches this point did not take the branch that returns or leaves the loop.
  if (open.opener == Opener::If && dead_) assume_not(writer_, open.condition);
  if (open.opener == Opener::Else && open.then_dead) assume_not(writer_, open.condition);
  if (open.opener == Opener::Else && !open.then_dead && dead_) assume(writer_, open.condition);
  dead_ = open.opener == Opener::Else && open.then_dead && dead_;
}

}  // namespace

using transform::Kept;

validate::ValidProgram prepare(const validate::ValidProgram& program, const Options& options) {
  return options.passes ? transform::optimize(program, Kept::Divisions) : transform::inline_calls(program, Kept::Divisions);
}

namespace {

// Without the optimiser, code keeps the order of the program.
Shape shape_of(const Options& options) {
  return {.proofs = options.proofs, .order = options.passes ? Order::Canonical : Order::AsWritten, .straightened = options.straightening};
}

// Expands the divisions that there is no code for, and replaces the operators that the target has bodies for.
validate::ValidProgram legalised(const validate::ValidProgram& program, const Target& target, const Options& options) {
  const Kept kept = !target.bodies.empty() ? Kept::None : target.has(Opcode::WideDiv) ? Kept::Divisions : Kept::DivisionsByLiterals;
  validate::ValidProgram result = transform::inline_calls(program, kept);
  if (!target.bodies.empty()) result = transform::replace_operators(result, target.bodies, *target.operations);
  const bool changed = &result.program() != &program.program();
  return options.passes && changed ? transform::optimize(result, kept) : result;
}

}  // namespace

Kernel lower(const validate::ValidProgram& program, const Options& options, const Target& target) {
  return Lowering(legalised(prepare(program, options), target, options), target, shape_of(options)).run();
}

Explained explain_checks(const validate::ValidProgram& program, const Options& options, const Target& target) {
  Explained result{legalised(prepare(program, options), target, options), {}};
  Lowering lowering(result.program, target, shape_of(options));
  lowering.report_to(result.accesses);
  lowering.run();
  return result;
}

namespace {

// Whether the opcode is an effect other than a write of a variable. Straightening keeps these in the order of the program, but turns some
// branches into selects (may_become_select).
bool is_traced(Opcode op) { return has_effect(op) && !is_of_variable(op); }
bool may_become_select(Opcode op) { return op == Opcode::If || op == Opcode::Else || op == Opcode::EndIf; }

}  // namespace

Traced lower_traced(const validate::ValidProgram& program, const Options& options, const Target& target) {
  Traced result{legalised(prepare(program, options), target, options), {}, {}};
  Lowering lowering(result.program, target, shape_of(options));
  std::vector<Effect> added;
  lowering.trace_to(added);
  result.kernel = lowering.run();
  result.statements.resize(result.kernel.code.size());
  for (const bool branches : {false, true}) {
    const auto counts = [&](Opcode op) { return is_traced(op) && may_become_select(op) == branches; };
    std::vector<std::uint32_t> kept;
    for (std::uint32_t at = 0; at < result.kernel.code.size(); ++at) {
      if (counts(result.kernel.code[at].op)) kept.push_back(at);
    }
    std::vector<Effect> made;
    std::ranges::copy_if(added, std::back_inserter(made), counts, &Effect::op);
    // If the lists differ, straightening turned some branches into selects. It is not known which, so no branch gets a statement.
    if (!std::ranges::equal(
            kept, made, {}, [&](std::uint32_t at) { return result.kernel.code[at].op; }, &Effect::op))
      continue;
    for (std::size_t k = 0; k < kept.size(); ++k) result.statements[kept[k]] = made[k].statement;
  }
  return result;
}

std::optional<Kernel> lower_coarsened(const validate::ValidProgram& program, std::uint32_t ways, const Options& options,
                                      const Target& target) {
  // No pass runs after coarsening, and Order::AsWritten keeps the order: a pass, or the canonical order, would move the loads of the copies
  // back between their stores.
  const std::optional<validate::ValidProgram> coarse = transform::coarsen(legalised(prepare(program, options), target, options), ways);
  if (!coarse) return std::nullopt;
  Shape shape = shape_of(options);
  shape.order = Order::AsWritten;
  return Lowering(*coarse, target, shape).run();
}

}  // namespace vyre::lower
