// Collects what the rules of procedures find, with the places of steps.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vyre/base/diagnostic.hpp"
#include "vyre/ir/procedures/procedure.hpp"
#include "vyre/validate/procedures/rules.hpp"
#include "vyre/validate/report.hpp"
#include "vyre/validate/valid.hpp"

namespace vyre::validate {

// Which block each step stands in.
class StepPlaces {
 public:
  explicit StepPlaces(const ir::Procedure& procedure);

  std::uint32_t depth(ir::StepId id) const { return rows_[id].depth; }  // of repetitions and conditions around it
  ir::StepId opener(ir::StepId id) const { return rows_[id].opener; }   // of the innermost block around it; invalid outside of all
  std::string path(ir::StepId id) const;                                // "steps[2].otherwise[0]"; for an end, that of its opener
  void note_line(ir::StepId id, Place& place) const;                    // the file and the line of the step, if it has them

 private:
  struct Row {
    ir::StepId opener;
    std::uint32_t position = 0, depth = 0;
  };
  const ir::Procedure& procedure_;
  IdVector<ir::StepId, Row> rows_;
};

class ProcedureReport {
 public:
  explicit ProcedureReport(const StepPlaces& places) : places_(places) {}

  template <ProcedureMessage message, class... Values>
  void add_number(std::uint32_t index, const Values&... values) {
    keep<message>(0, index, "numbers[" + std::to_string(index) + "]", values...);
  }
  template <ProcedureMessage message, class... Values>
  void add(ir::ArrayId id, const Values&... values) {
    keep<message>(1, id.index, "arrays[" + std::to_string(id.index) + "]", values...);
  }
  template <ProcedureMessage message, class... Values>
  void add_steps(const Values&... values) {
    keep<message>(2, 0, "steps", values...);
  }
  template <ProcedureMessage message, class... Values>
  void add(ir::StepId id, const Values&... values) {
    keep<message>(3, id.index, places_.path(id), values...);
    places_.note_line(id, kept_.back().diagnostic.place);
  }
  template <ProcedureMessage message, class... Values>
  void add_result(std::uint32_t index, const Values&... values) {
    keep<message>(4, index, "results[" + std::to_string(index) + "]", values...);
  }

  // In the order of numbers, arrays, steps and results; what one of them breaks by the number of the rule.
  Diagnostics in_order() &&;

 private:
  struct Kept {
    std::uint32_t section, index;
    ProcedureRule rule;
    Diagnostic diagnostic;
  };
  template <ProcedureMessage message, class... Values>
  void keep(std::uint32_t section, std::uint32_t index, std::string path, const Values&... values) {
    static_assert(validate::places(info(message).sentence) == sizeof...(Values));
    const std::array<std::string, sizeof...(Values)> texts{Text(values).text()...};
    const ProcedureRule rule = info(message).rule;
    Diagnostic made{.rule = std::string(info(rule).id), .message = filled(info(message).sentence, texts), .place = {}, .hint = {}};
    made.place.path = std::move(path);
    kept_.push_back({section, index, rule, std::move(made)});
  }

  const StepPlaces& places_;
  std::vector<Kept> kept_;
};

// Says how a step uses an array. A use of a part of the array counts as a use of the whole.
struct ArrayUse {
  ir::ArrayId array;
  bool reads = false;  // elements that stood in it before the step
  bool writes = false;
  const ir::ArrayPart* part = nullptr;  // of the step
};

// Knows how the programs and procedures that a procedure names use their arrays.
class KnownUses {
 public:
  // One for each of procedure.programs(); nothing for those that are not valid, which count as using nothing.
  KnownUses(const ir::Procedure& procedure, const std::vector<std::optional<ValidProgram>>& valid);

  // The uses of a dispatch, an invocation or a clear, and of the element that ends a repetition.
  std::vector<ArrayUse> of(const ir::StepKind& step) const;

 private:
  // For each bound buffer, or for each array of the interface, in order; without the arrays.
  std::vector<std::vector<ArrayUse>> programs_, procedures_;
};

inline constexpr std::uint32_t kMostSteps = 100'000;
inline constexpr std::uint32_t kMostNested = 32;

// "dispatch `scan`", "invocation `sort`", "clear", "repetition", "condition", "swap".
std::string step_name(const ir::Procedure& procedure, const ir::StepKind& step);

void check_procedure_declarations(const ir::Procedure& procedure, ProcedureReport& report);                      // P001 to P003
void check_procedure_wiring(const ir::Procedure& procedure, const StepPlaces& places, ProcedureReport& report);  // P004 to P009, P014, P015
void check_procedure_sizes(const ir::Procedure& procedure, const StepPlaces& places, ProcedureReport& report);   // P012, P013
void check_procedure_flow(const ir::Procedure& procedure, const StepPlaces& places, const KnownUses& uses,
                          ProcedureReport& report);  // P010, P011, P015

}  // namespace vyre::validate
