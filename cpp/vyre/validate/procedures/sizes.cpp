// P012 and P013: the turns and lengths in sizes, and how much a procedure may be.
#include <algorithm>
#include <iterator>
#include <variant>
#include <vector>

#include "vyre/validate/procedures/report.hpp"

namespace vyre::validate {
namespace {

using enum ProcedureMessage;

// For each size how it depends on what is known late.
struct Dependence {
  std::vector<std::uint32_t> turns;  // in order. More than may be nested are not all open, so that the rest are left out
  ir::ArrayId latest;                // of the arrays that the procedure makes and whose lengths it has: the one declared last
};

class Sizes {
 public:
  Sizes(const ir::Procedure& procedure, ProcedureReport& report)
      : procedure_(procedure), report_(report), known_(procedure.sizes().size()) {
    for (std::uint32_t index = 0; index < procedure.sizes().size(); ++index) {
      const ir::SizeTerm& term = procedure.sizes()[ir::SizeId{index}];
      Dependence& found = known_[ir::SizeId{index}];
      if (term.op == ir::SizeOp::Turn) found.turns = {term.a};
      if (term.op == ir::SizeOp::Length && !procedure.arrays()[ir::ArrayId{term.a}].shape.empty()) found.latest = ir::ArrayId{term.a};
      ir::for_each_operand(term, [&](ir::SizeId id) {
        const Dependence& operand = known_[id];
        if (!operand.turns.empty()) found.turns = united(found.turns, operand.turns);
        if (operand.latest.valid() && (!found.latest.valid() || operand.latest > found.latest)) found.latest = operand.latest;
      });
    }
    open_.assign(procedure.turns(), false);
  }

  void check_shapes() {
    for (std::uint32_t index = 0; index < procedure_.arrays().size(); ++index) {
      const ir::ArrayId id{index};
      const ir::ArrayDecl& array = procedure_.arrays()[id];
      bool has_turn = false;
      ir::ArrayId later;
      for (ir::SizeId size : array.shape) {
        has_turn = has_turn || !known_[size].turns.empty();
        if (known_[size].latest.valid() && known_[size].latest >= id) later = known_[size].latest;
      }
      if (has_turn) report_.add<TurnInShape>(id, array.name);
      if (later.valid()) report_.add<LengthInShape>(id, array.name, procedure_.arrays()[later].name);
    }
  }

  void check(ir::StepId id) {
    const ir::StepKind& step = procedure_.steps()[id];
    ir::for_each_size(step, [&](ir::SizeId size) {
      for (std::uint32_t turn : known_[size].turns) is_wrong_ = is_wrong_ || turn >= open_.size() || !open_[turn];
    });
    if (is_wrong_) report_.add<TurnOutside>(id, step_name(procedure_, step));
    is_wrong_ = false;
    if (const auto* repeat = std::get_if<ir::Repeat>(&step)) open_[repeat->turn] = true;
    if (const auto* end = std::get_if<ir::EndStep>(&step)) {
      if (const auto* repeat = std::get_if<ir::Repeat>(&procedure_.steps()[end->opener])) open_[repeat->turn] = false;
    }
  }

 private:
  static std::vector<std::uint32_t> united(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
    std::vector<std::uint32_t> result;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
    result.resize(std::min<std::size_t>(result.size(), kMostNested + 1));
    return result;
  }

  const ir::Procedure& procedure_;
  ProcedureReport& report_;
  IdVector<ir::SizeId, Dependence> known_;
  std::vector<bool> open_;  // by turn
  bool is_wrong_ = false;
};

}  // namespace

void check_procedure_sizes(const ir::Procedure& procedure, const StepPlaces& places, ProcedureReport& report) {
  const auto count = static_cast<std::uint32_t>(procedure.steps().size());
  std::uint32_t steps = 0;
  bool is_deep = false;
  Sizes sizes(procedure, report);
  sizes.check_shapes();
  for (std::uint32_t index = 0; index < count; ++index) {
    const ir::StepId id{index};
    const ir::StepKind& step = procedure.steps()[id];
    steps += !std::holds_alternative<ir::Otherwise>(step) && !std::holds_alternative<ir::EndStep>(step);
    if (places.depth(id) > kMostNested) continue;
    const bool is_opener = std::holds_alternative<ir::Repeat>(step) || std::holds_alternative<ir::When>(step);
    if (is_opener && places.depth(id) == kMostNested && !is_deep) {
      report.add<NestedTooDeep>(id);
      is_deep = true;
    }
    sizes.check(id);
  }
  if (steps > kMostSteps) report.add_steps<TooManySteps>(steps);
}

}  // namespace vyre::validate
