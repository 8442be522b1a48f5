// Checks P010, P011 and what P015 says of writes: a step has written what is read or returned, or writes what ends its repetition.
// Conditions and counts are decided by sizes, which are not compared with each other: a step is taken to have run where some path to a
// place has it, so that nothing right is refused.
//
// In a repetition that stands in no other one, a step outside of inner blocks runs in the first turn if it runs at all, so it reads what
// was written before it in the text. A step in an inner block may run in a later turn only, and reads what any step of the repetition
// writes.
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "vyre/base/overloaded.hpp"
#include "vyre/validate/procedures/report.hpp"

namespace vyre::validate {
namespace {

using enum ProcedureMessage;
using ir::ArrayId;
using ir::ArrayRole;

class ProcedureFlow {
 public:
  ProcedureFlow(const ir::Procedure& procedure, const StepPlaces& places, const KnownUses& uses, ProcedureReport& report)
      : procedure_(procedure), places_(places), uses_(uses), report_(report), is_written_(procedure.arrays().size()) {
    classes_.resize(procedure.arrays().size());
    in_class_.resize(procedure.arrays().size());
    for (std::uint32_t index = 0; index < procedure.arrays().size(); ++index) {
      const ir::ArrayDecl& array = procedure.arrays()[ArrayId{index}];
      const bool is_made = array.role == ArrayRole::Output || array.role == ArrayRole::Scratch;
      is_written_[ArrayId{index}] = !is_made || array.zeros;
      classes_[ArrayId{index}] = index;
    }
  }

  void check() {
    for (std::uint32_t index = 0; index < procedure_.steps().size(); ++index) step(ir::StepId{index});
    for (std::uint32_t index = 0; index < procedure_.arrays().size(); ++index) {
      const ir::ArrayDecl& array = procedure_.arrays()[ArrayId{index}];
      if (array.role == ArrayRole::Output && !is_written_[ArrayId{index}]) report_.add<OutputUnwritten>(ArrayId{index}, array.name);
    }
  }

 private:
  void step(ir::StepId id) {
    std::visit(overloaded{[&](const ir::Repeat& repeat) {
                            use(id);
                            if (!repeat_.valid()) enter(id, repeat.end);
                          },
                          [&](const ir::When& when) {
                            open_.push_back({when.end, written_.size()});
                          },
                          [&](const ir::Otherwise&) {
                            // The arrays that `then` has written are unwritten here, and count as written again at the end of the block.
                            Branch& branch = open_.back();
                            branch.then.assign(written_.begin() + static_cast<std::ptrdiff_t>(branch.first), written_.end());
                            for (ArrayId array : branch.then) is_written_[array] = false;
                            written_.resize(branch.first);
                          },
                          [&](const ir::EndStep& end) {
                            if (end.opener == repeat_) leave();
                            if (places_.depth(id) < kMostNested) check_end(end.opener, id);
                            if (!std::holds_alternative<ir::When>(procedure_.steps()[end.opener])) return;
                            const Branch branch = std::move(open_.back());
                            open_.pop_back();
                            for (ArrayId array : branch.then) write(array);
                          },
                          [&](const ir::Swap& swap) { exchange(id, swap); }, [&](const auto&) { use(id); }},
               procedure_.steps()[id]);
  }

  void use(ir::StepId id) {
    const ir::StepKind& step = procedure_.steps()[id];
    const std::vector<ArrayUse> uses = uses_.of(step);
    // A step that may write an array may read only elements that it has written itself, so it is not reported.
    for (const ArrayUse& use : uses) {
      if (!use.reads || use.writes || is_written_[use.array]) continue;
      if (repeat_.valid() && places_.opener(id) != repeat_ && in_class_[ArrayId{class_of(use.array)}]) continue;
      if (places_.depth(id) <= kMostNested)
        report_.add<ReadsUnwritten>(id, step_name(procedure_, step), procedure_.arrays()[use.array].name);
      write(use.array);  // said once
    }
    for (const ArrayUse& use : uses) {
      if (use.writes) write(use.array);
    }
  }
  void check_end(ir::StepId opener, ir::StepId end) {
    const auto* repeat = std::get_if<ir::Repeat>(&procedure_.steps()[opener]);
    if (repeat == nullptr || !repeat->until) return;
    for (ir::StepId id{opener.index + 1}; id < end; ++id.index) {
      const ir::StepKind& step = procedure_.steps()[id];
      const auto* swap = std::get_if<ir::Swap>(&step);
      if (swap != nullptr && (swap->a == repeat->until->array || swap->b == repeat->until->array)) return;
      for (const ArrayUse& use : uses_.of(step)) {
        if (use.writes && use.array == repeat->until->array && !apart(*use.part, *repeat->until)) return;
      }
    }
    report_.add<UntilUnwritten>(opener, procedure_.arrays()[repeat->until->array].name);
  }
  // Whether two parts of an array certainly have no element in common: their sizes are known, and their elements are of one type.
  bool apart(const ir::ArrayPart& a, const ir::ArrayPart& b) const {
    const auto literal = [&](ir::SizeId id) -> std::optional<std::uint64_t> {
      if (!id.valid() || procedure_.sizes()[id].op != ir::SizeOp::Literal) return std::nullopt;
      return procedure_.sizes()[id].literal;
    };
    const auto behind = [&](const ir::ArrayPart& first, const ir::ArrayPart& second) {
      const auto offset = literal(first.offset), length = literal(first.length), begin = literal(second.offset);
      return offset && length && begin && *begin >= *offset && *begin - *offset >= *length;
    };
    return a.view == b.view && (behind(a, b) || behind(b, a));
  }
  void write(ArrayId array) {
    if (is_written_[array]) return;
    is_written_[array] = true;
    written_.push_back(array);
  }
  void exchange(ir::StepId id, const ir::Swap& swap) {
    if (is_written_[swap.a] == is_written_[swap.b]) return;
    if (!places_.opener(id).valid()) {
      const bool a = is_written_[swap.a];
      is_written_[swap.a] = is_written_[swap.b];
      is_written_[swap.b] = a;
      return;
    }
    write(swap.a);  // whether the block runs, and how often, is not known
    write(swap.b);
  }

  // Joins the arrays that the repetition exchanges into classes, and finds the classes of which any is ever written.
  void enter(ir::StepId opener, ir::StepId end) {
    repeat_ = opener;
    for (ir::StepId id{opener.index + 1}; id < end; ++id.index) {
      if (const auto* swap = std::get_if<ir::Swap>(&procedure_.steps()[id])) {
        touch(swap->a);
        touch(swap->b);
        classes_[ArrayId{class_of(swap->a)}] = class_of(swap->b);
      }
      for (const ArrayUse& use : uses_.of(procedure_.steps()[id])) {
        if (use.writes) touch(use.array);
      }
    }
    for (ir::StepId id{opener.index + 1}; id < end; ++id.index) {
      for (const ArrayUse& use : uses_.of(procedure_.steps()[id])) {
        if (use.writes) in_class_[ArrayId{class_of(use.array)}] = true;
      }
    }
    for (ArrayId array : touched_) {
      if (is_written_[array]) in_class_[ArrayId{class_of(array)}] = true;
    }
  }
  void touch(ArrayId array) { touched_.push_back(array); }
  void leave() {
    for (ArrayId array : touched_) {
      if (in_class_[ArrayId{class_of(array)}]) write(array);
    }
    for (ArrayId array : touched_) {
      in_class_[array] = false;
      classes_[array] = array.index;
    }
    touched_.clear();
    repeat_ = {};
  }
  std::uint32_t class_of(ArrayId array) {
    std::uint32_t at = array.index;
    while (classes_[ArrayId{at}] != at) at = classes_[ArrayId{at}] = classes_[ArrayId{classes_[ArrayId{at}]}];
    return at;
  }

  struct Branch {
    ir::StepId end;
    std::size_t first = 0;  // of written_, in this block
    std::vector<ArrayId> then{};
  };

  const ir::Procedure& procedure_;
  const StepPlaces& places_;
  const KnownUses& uses_;
  ProcedureReport& report_;
  IdVector<ArrayId, bool> is_written_;
  std::vector<ArrayId> written_;  // in this order
  std::vector<Branch> open_;      // the conditions around a step
  ir::StepId repeat_;             // the outermost repetition around a step
  IdVector<ArrayId, std::uint32_t> classes_;
  IdVector<ArrayId, bool> in_class_;  // by class: whether it is ever written
  std::vector<ArrayId> touched_;
};

}  // namespace

void check_procedure_flow(const ir::Procedure& procedure, const StepPlaces& places, const KnownUses& uses, ProcedureReport& report) {
  ProcedureFlow(procedure, places, uses, report).check();
}

}  // namespace vyre::validate
