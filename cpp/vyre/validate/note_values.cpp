#include "vyre/validate/note_values.hpp"

#include "vyre/base/hash.hpp"
#include "vyre/base/overloaded.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::validate {
namespace {

using ir::DataType;

// The most arguments of a call about which anything is known. Many statements may share a call, and each looks at its arguments.
constexpr std::size_t kMostOperands = 16;

void add_source(NoteValue& value, const NoteValue::Source& source) {
  for (std::size_t k = 0; k < value.source_count; ++k) {
    if (value.sources[k].load == source.load) return;
  }
  if (value.source_count < NoteValue::kMostSources) value.sources[value.source_count++] = source;
}

void add_term(Linear& sum, Linear::Term term) {
  for (std::size_t k = 0; k < sum.count; ++k) {
    if (sum.terms[k].digit != term.digit) continue;
    sum.terms[k].factor += term.factor;
    sum.known = sum.known && sum.terms[k].factor > term.factor;  // no wrap
    return;
  }
  if (sum.count == Linear::kMostTerms) {
    sum = {};
  } else {
    sum.terms[sum.count++] = term;
  }
}

}  // namespace

NoteValues::NoteValues(const ValidProgram& program)
    : program_(program.program()),
      facts_(program.facts()),
      values_(facts_.steps.size()),
      step_of_(program_.exprs().size()),
      lets_(facts_.locals.size()),
      assigned_(facts_.locals.size()) {}

void NoteValues::enter(NodeId id) {
  const ir::Node& node = program_.node(id);
  const Statement& statement = facts_.statements[id];
  for (std::uint32_t k = 0; k < statement.step_count; ++k) {
    const StepId step_id{statement.first_step + k};
    const Step& step = facts_.steps[step_id.index];
    step_of_[step.expr] = step_id;
    values_[step_id.index] = computed(step_id, step, program_.expr(step.expr));
  }
  if (const auto* let = std::get_if<ir::Let>(&node); let != nullptr && !facts_.locals[statement.local].assigned) {
    lets_[statement.local] = step_of_[let->value];
  }
  if (std::holds_alternative<ir::Assign>(node)) ++assigned_[statement.local];
  if (std::holds_alternative<ir::Loop>(node)) ++rounds_;
  if (const auto* end = std::get_if<ir::End>(&node); end != nullptr && std::holds_alternative<ir::Loop>(program_.node(end->opener)))
    ++rounds_;
}

NoteValue NoteValues::computed(StepId id, const Step& step, const ir::Expr& expr) {
  if (std::holds_alternative<ir::Var>(expr)) return variable(step.local);
  NoteValue made;
  made.fixed = true;
  Fnv1a hash;
  hash.add(ir::kind_number(expr));
  bool uniform = true;
  std::size_t operands = 0;
  const auto add_operand = [&](ExprId operand) {
    const NoteValue& value = of(operand);
    hash.add(value.number);
    made.fixed = made.fixed && value.fixed;
    uniform = uniform && value.linear.uniform();
    for (std::size_t k = 0; k < value.source_count; ++k) add_source(made, value.sources[k]);
  };
  ir::for_each_field(expr, overloaded{[&](const ExprId& operand) { add_operand(operand); },
                                      [&](const ir::ExprList& list) {
                                        for (ExprId operand : program_.operands(list)) {
                                          if (++operands > kMostOperands) break;
                                          add_operand(operand);
                                        }
                                      },
                                      [&](const NameId& name) { hash.add(name.index); },
                                      [&](const auto& field) { hash.add(static_cast<std::uint64_t>(field)); }});
  made.linear.known = uniform;
  const auto* load = std::get_if<ir::Load>(&expr);
  const bool changes = load != nullptr && ir::writable(program_.buffers()[step.buffer.index].access);
  if (changes) add_source(made, {id, of(load->index).number});
  if (changes || std::holds_alternative<ir::Atomic>(expr) || operands > kMostOperands) {
    hash.add(id.index);
    hash.add(~std::uint64_t{0});
    made.fixed = made.linear.known = false;
  }
  made.number = hash.value();
  if (const auto* grid = std::get_if<ir::GridId>(&expr)) {
    made.linear.known = true;
    const std::uint32_t local = grid->axis, workgroup = kWorkgroupDigits + grid->axis;
    if (grid->kind != ir::GridIdKind::Workgroup) add_term(made.linear, {local, 1});
    if (grid->kind == ir::GridIdKind::Workgroup) add_term(made.linear, {workgroup, 1});
    if (grid->kind == ir::GridIdKind::Invocation) {
      add_term(made.linear, {workgroup, program_.workgroup_size()[grid->axis]});
      made.id_axis = static_cast<std::int8_t>(grid->axis);
    }
  }
  if (const auto* binary = std::get_if<ir::Binary>(&expr); binary != nullptr && !uniform) made.linear = of_operator(*binary);
  return made;
}

NoteValue NoteValues::variable(LocalId id) const {
  const Local& local = facts_.locals[id];
  Fnv1a hash;
  hash.add(~std::uint64_t{0});
  hash.add(id.index);
  NoteValue made;
  if (lets_[id].valid()) {
    made = values_[lets_[id].index];
    if (made.fixed) return made;
  } else if (local.loop_variable) {
    made.fixed = true;
    made.linear.known = true;
    add_term(made.linear, {kLoopDigits + id.index, 1});
  } else {
    hash.add(assigned_[id]);
    hash.add(rounds_);
  }
  made.number = hash.value();
  return made;
}

Linear NoteValues::sum(const Linear& a, const Linear& b) const {
  Linear made = a;
  made.known = a.known && b.known;
  for (std::size_t k = 0; k < b.count && made.known; ++k) add_term(made, b.terms[k]);
  return made.known ? made : Linear{};
}

Linear NoteValues::scaled(const Linear& a, const ir::Expr& factor) const {
  const auto by = ir::literal_u32(factor);
  if (!by || !a.known) return {};
  Linear made;
  made.known = true;
  for (std::size_t k = 0; k < a.count && *by != 0; ++k) {
    const std::uint64_t product = std::uint64_t{a.terms[k].factor} * *by;
    if (product > ~0u) return {};
    made.terms[made.count++] = {a.terms[k].digit, static_cast<std::uint32_t>(product)};
  }
  return made;
}

Linear NoteValues::of_operator(const ir::Binary& binary) const {
  const Linear &left = of(binary.left).linear, &right = of(binary.right).linear;
  switch (binary.op) {
    case ir::BinOp::Add:
      return sum(left, right);
    case ir::BinOp::Sub:
      return right.uniform() ? left : Linear{};
    case ir::BinOp::Mul: {
      const Linear made = scaled(left, program_.expr(binary.right));
      return made.known ? made : scaled(right, program_.expr(binary.left));
    }
    case ir::BinOp::Shl: {
      const auto amount = ir::literal_u32(program_.expr(binary.right));
      return amount ? scaled(left, ir::Expr(ir::Literal::u32(1u << (*amount & 31)))) : Linear{};
    }
    default:
      return {};
  }
}

}  // namespace vyre::validate
