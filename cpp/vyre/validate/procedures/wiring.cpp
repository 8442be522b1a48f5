// P004 to P009, P014 and the type in P015: what dispatches, invocations, swaps, clears and repetitions name.
#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "vyre/base/overloaded.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/validate/procedures/report.hpp"

namespace vyre::validate {
namespace {

using enum ProcedureMessage;
using ir::ArrayRole;

class Wiring {
 public:
  Wiring(const ir::Procedure& procedure, ProcedureReport& report) : procedure_(procedure), report_(report) {
    for (const ir::Program& program : procedure.programs()) {
      std::vector<const ir::BufferDecl*>& bound = buffers_.emplace_back();
      for (const ir::BufferDecl& decl : program.buffers()) {
        if (ir::is_bound(decl.access)) bound.push_back(&decl);
      }
    }
    for (const ir::Procedure& inner : procedure.procedures()) interfaces_.push_back(inner.interface());
  }

  void check(ir::StepId id) {
    std::visit(
        overloaded{[&](const ir::Dispatch& step) { check(id, step); }, [&](const ir::Invoke& step) { check(id, step); },
                   [&](const ir::Swap& step) { check(id, step); }, [&](const ir::Clear& step) { check_writable(id, step.part.array); },
                   [&](const ir::Repeat& step) { check(id, step); }, [](const auto&) {}},
        procedure_.steps()[id]);
  }

 private:
  const ir::ArrayDecl& decl(ir::ArrayId id) const { return procedure_.arrays()[id]; }
  ir::DataType element(const ir::ArrayPart& part) const { return part.view.value_or(decl(part.array).element); }
  std::string name(ir::StepId id) const { return step_name(procedure_, procedure_.steps()[id]); }

  void check_writable(ir::StepId id, ir::ArrayId array) {
    const ArrayRole role = decl(array).role;
    if (role == ArrayRole::Input) report_.add<WritesInput>(id, name(id), decl(array).name);
    if (role == ArrayRole::Table) report_.add<WritesTable>(id, name(id), decl(array).name);
  }

  void check(ir::StepId id, const ir::Dispatch& step) {
    const std::vector<const ir::BufferDecl*>& buffers = buffers_[step.program];
    if (step.bound.size() != buffers.size()) report_.add<BoundCount>(id, step.name, step.bound.size(), buffers.size());
    uses_.clear();
    for (std::size_t k = 0; k < std::min(step.bound.size(), buffers.size()); ++k) {
      const ir::BufferDecl& buffer = *buffers[k];
      const bool writes = ir::writable(buffer.access);
      if (const auto* part = std::get_if<ir::ArrayPart>(&step.bound[k])) {
        if (element(*part) != buffer.element) {
          report_.add<BoundType>(id, step.name, decl(part->array).name, ir::text(element(*part)), buffer.name, ir::text(buffer.element),
                                 ir::text(buffer.element));
        }
        if (writes) check_writable(id, part->array);
        uses_.push_back({part, buffer.name, writes});
      } else if (writes) {
        report_.add<WordsWritten>(id, step.name, buffer.name);
      }
    }
    if (step.grid.counts) {
      if (element(*step.grid.counts) != ir::DataType::U32) {
        report_.add<GridType>(id, step.name, decl(step.grid.counts->array).name, ir::text(element(*step.grid.counts)));
      }
      uses_.push_back({&*step.grid.counts, "its grid", false});
    }
    check_once(id);
  }

  void check(ir::StepId id, const ir::Invoke& step) {
    const ir::Procedure& inner = procedure_.procedures()[step.procedure];
    const std::vector<ir::ArrayId>& interface = interfaces_[step.procedure];
    if (step.arrays.size() != interface.size()) report_.add<InvokeArrays>(id, inner.name(), step.arrays.size(), interface.size());
    if (step.numbers.size() != inner.numbers().size()) {
      report_.add<InvokeNumbers>(id, inner.name(), step.numbers.size(), inner.numbers().size());
    }
    uses_.clear();
    for (std::size_t k = 0; k < std::min(step.arrays.size(), interface.size()); ++k) {
      const ir::ArrayPart& part = step.arrays[k];
      const ir::ArrayDecl& parameter = inner.arrays()[interface[k]];
      if (element(part) != parameter.element) {
        report_.add<InvokeType>(id, inner.name(), decl(part.array).name, ir::text(element(part)), parameter.name,
                                ir::text(parameter.element), ir::text(parameter.element));
      }
      if (decl(part.array).axes != parameter.axes) {
        report_.add<InvokeAxes>(id, inner.name(), decl(part.array).name, decl(part.array).axes, parameter.name, parameter.axes,
                                parameter.axes);
      }
      const bool writes = parameter.role != ArrayRole::Input;
      if (writes) check_writable(id, part.array);
      uses_.push_back({&part, parameter.name, writes});
    }
    check_once(id);
  }

  void check(ir::StepId id, const ir::Swap& step) {
    const ir::ArrayDecl &a = decl(step.a), &b = decl(step.b);
    check_writable(id, step.a);
    check_writable(id, step.b);
    if (a.element != b.element || a.axes != b.axes) {
      report_.add<SwapUnlike>(id, a.name, ir::text(a.element), a.axes, b.name, ir::text(b.element), b.axes);
    }
  }

  void check(ir::StepId id, const ir::Repeat& step) {
    if (!step.until) return;
    const ir::TypeInfo& type = ir::info(element(*step.until));
    if (type.components != 1 || type.bytes == 0) report_.add<UntilType>(id, decl(step.until->array).name, type.text);
  }

  struct Use {
    const ir::ArrayPart* part;
    std::string_view name;
    bool writes;
  };
  // Two whole arrays, or two parts with the same sizes: what other parts have in common is known once their sizes are.
  void check_once(ir::StepId id) {
    struct Key {
      std::uint32_t array, offset, length;
      bool operator==(const Key&) const = default;
    };
    struct Hash {
      std::size_t operator()(const Key& key) const {
        return (std::size_t{key.array} * 0x9E3779B1u + key.offset) * 0x9E3779B1u + key.length;
      }
    };
    std::unordered_map<Key, std::size_t, Hash> seen;
    for (std::size_t k = 0; k < uses_.size(); ++k) {
      const ir::ArrayPart& part = *uses_[k].part;
      const auto [known, is_new] = seen.try_emplace({part.array.index, part.offset.index, part.length.index}, k);
      if (is_new) continue;
      const Use& other = uses_[known->second];
      if (uses_[k].writes || other.writes) {
        report_.add<BoundTwice>(id, name(id), decl(part.array).name, other.name, uses_[k].name);
      }
    }
  }

  const ir::Procedure& procedure_;
  ProcedureReport& report_;
  std::vector<std::vector<const ir::BufferDecl*>> buffers_;
  std::vector<std::vector<ir::ArrayId>> interfaces_;
  std::vector<Use> uses_;
};

}  // namespace

void check_procedure_wiring(const ir::Procedure& procedure, const StepPlaces& places, ProcedureReport& report) {
  Wiring wiring(procedure, report);
  for (std::uint32_t index = 0; index < procedure.steps().size(); ++index) {
    if (places.depth(ir::StepId{index}) <= kMostNested) wiring.check(ir::StepId{index});
  }
}

}  // namespace vyre::validate
