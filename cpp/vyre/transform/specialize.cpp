#include "vyre/transform/specialize.hpp"

#include <algorithm>
#include <optional>

#include "vyre/base/assert.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/transform/rebuild.hpp"

namespace vyre::transform {
namespace {

using validate::Step;
using validate::ValidProgram;

// The most elements that a call compares with the values for which the program was compiled.
constexpr std::size_t kMostElements = 16;
// The most expressions and statements of a program that is specialised. Drivers need more than linear time to compile longer ones.
constexpr std::size_t kMaxProgramSize = 4'000;

// The element that a Load of a Uniform buffer by a literal index reads.
std::optional<UniformElement> loaded_element(const ValidProgram& valid, const Step& step) {
  const ir::Program& program = valid.program();
  const auto* load = std::get_if<ir::Load>(&program.expr(step.expr));
  if (load == nullptr) return std::nullopt;
  const ir::BufferDecl& buffer = program.buffers()[step.buffer.index];
  // A call compares words of 32 bits, and narrow elements are shorter.
  if (buffer.access != ir::BufferAccess::Uniform || ir::is_narrow(buffer.element)) return std::nullopt;
  const std::optional<std::uint32_t> index = ir::literal_u32(program.expr(load->index));
  if (!index) return std::nullopt;
  const auto bound = std::ranges::find(valid.bound(), step.buffer);
  return UniformElement{static_cast<std::size_t>(bound - valid.bound().begin()), *index, step.type};
}

// Finds the values that literals and elements of Uniform buffers determine, and the elements that determine a condition, the bounds of a
// loop or a divisor.
class ElementAnalysis {
 public:
  explicit ElementAnalysis(const ValidProgram& valid)
      : valid_(valid), program_(valid.program()), facts_(valid.facts()), here_(program_.exprs().size()), locals_(facts_.locals.size()) {
    for (std::uint32_t index = 0; index < program_.nodes().size(); ++index) visit(NodeId{index});
  }

  std::vector<UniformElement> deciding() const {
    std::vector<UniformElement> result;
    for (std::size_t k = 0; k < elements_.size(); ++k) {
      if ((deciding_ >> k & 1) != 0) result.push_back(elements_[k]);
    }
    return result;
  }

 private:
  // Whether literals and elements alone determine a value, and a bit for each of the elements that take part.
  struct Known {
    bool known = false;
    std::uint64_t elements = 0;
  };

  // Notes that a condition, a bound or a divisor has this value.
  void decides(Known value) {
    if (value.known) deciding_ |= value.elements;
  }

  Known element(const UniformElement& wanted) {
    const auto found = std::ranges::find(elements_, wanted);
    const auto at = static_cast<std::size_t>(found - elements_.begin());
    if (found == elements_.end()) {
      if (at == 64) return {};
      elements_.push_back(wanted);
    }
    return {true, std::uint64_t{1} << at};
  }

  Known of_operands(const Step& step) {
    Known all{true, 0};
    for_each_operand(program_, step.expr, [&](ExprId operand) {
      all.known = all.known && here_[operand].known;
      all.elements |= here_[operand].elements;
    });
    return all;
  }

  Known evaluate(const Step& step) {
    const Known operands = of_operands(step);
    const Known unknown;
    // clang-format off
    return match(
        program_.expr(step.expr),
        [&](const ir::Var&) { return locals_[step.local]; },
        [&](const ir::Load&) {
          const std::optional<UniformElement> loaded = loaded_element(valid_, step);
          return loaded ? element(*loaded) : unknown;
        },
        [&](const ir::BufLen&) { return unknown; },
        [&](const ir::GridId&) { return unknown; },
        [&](const ir::Call& it) {  // a division that is kept
          decides(here_[program_.operands(it.arguments).back()]);
          return operands;
        },
        [&](const ir::Atomic&) { return unknown; },
        [&](const ir::Binary& it) {
          const bool divides = it.op == ir::BinOp::Div || it.op == ir::BinOp::Mod || it.op == ir::BinOp::SDiv || it.op == ir::BinOp::SMod;
          if (divides) decides(here_[it.right]);
          return operands;
        },
        [&](const ir::Select& it) {
          decides(here_[it.condition]);
          return operands;
        },
        [&](const auto&) { return operands; });
    // clang-format on
  }

  void visit(NodeId id) {
    for (const Step& step : facts_.steps_of(id)) here_[step.expr] = evaluate(step);
    const LocalId local = facts_.statements[id].local;
    match(
        program_.node(id),
        [&](const ir::Let& it) {
          if (!facts_.locals[local].assigned) locals_[local] = here_[it.value];
        },
        [&](const ir::If& it) { decides(here_[it.condition]); },
        [&](const ir::Loop& it) {
          // One known bound does not determine the number of turns.
          if (!here_[it.from].known || !here_[it.to].known) return;
          decides(here_[it.from]);
          decides(here_[it.to]);
        },
        [](const auto&) {});
  }

  const ValidProgram& valid_;
  const ir::Program& program_;
  const validate::Facts& facts_;
  IdVector<ExprId, Known> here_;  // by expression of the current statement
  IdVector<LocalId, Known> locals_;
  std::vector<UniformElement> elements_;
  std::uint64_t deciding_ = 0;
};

}  // namespace

std::vector<UniformElement> deciding_elements(const ValidProgram& program) {
  const auto is_uniform = [](const ir::BufferDecl& buffer) { return buffer.access == ir::BufferAccess::Uniform; };
  if (std::ranges::none_of(program.program().buffers(), is_uniform)) return {};
  if (program.facts().steps.size() + program.program().nodes().size() > kMaxProgramSize) return {};
  std::vector<UniformElement> elements = ElementAnalysis(program).deciding();
  if (elements.size() > kMostElements) return {};
  return elements;
}

ValidProgram specialize(const ValidProgram& valid, std::span<const UniformElement> elements, std::span<const ir::Value> values) {
  VYRE_ASSERT(elements.size() == values.size());
  const ir::Program& program = valid.program();
  IdVector<ExprId, std::optional<Constant>> known(program.exprs().size());
  for (const Step& step : valid.facts().steps) {
    const std::optional<UniformElement> loaded = loaded_element(valid, step);
    if (!loaded) continue;
    const auto found = std::ranges::find(elements, *loaded);
    if (found == elements.end()) continue;
    known[step.expr] = Constant{step.type, values[static_cast<std::size_t>(found - elements.begin())]};
  }

  Rebuild rebuild(valid);
  IdVector<ExprId, ExprId> moved(program.exprs().size());
  for (std::uint32_t index = 0; index < program.exprs().size(); ++index) {
    const ExprId id{index};
    moved[id] = known[id] ? add_constant(rebuild.to(), *known[id]) : rebuild.copy(id, [&](ExprId operand) { return moved[operand]; });
  }
  for (std::uint32_t index = 0; index < program.nodes().size(); ++index) {
    rebuild.copy(NodeId{index}, [&](ExprId root) { return moved[root]; });
  }
  return rebuild.finish();
}

}  // namespace vyre::transform
