#include "vyre/validate/procedures/valid_procedure.hpp"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>
#include <utility>

#include "vyre/validate/procedures/report.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::validate {

// Procedures that are invoked in several places are examined once. They nest at most ir::kMostInvocations deep.
class ProcedureExaminer {
 public:
  ProcedureExaminer(const ir::OpTable& ops, const Options& options) : ops_(ops), options_(options) {}

  std::optional<ValidProcedure> examine(const ir::Procedure& procedure, const std::string& prefix) {
    const auto known = known_.find(procedure.bytes());
    if (known != known_.end()) return known->second;
    const std::size_t before = found_.size();
    auto data = std::make_shared<ValidProcedure::Data>();
    data->procedure = procedure;
    std::vector<std::optional<ValidProgram>> programs;
    for (std::size_t k = 0; k < procedure.programs().size(); ++k) {
      Verdict verdict = validate::validate(procedure.programs()[k], ops_, options_);
      keep(std::move(verdict.diagnostics), fmt::format("{}programs[{}].", prefix, k));
      if (verdict.program) data->programs.push_back(*verdict.program);
      programs.push_back(std::move(verdict.program));
    }
    bool are_valid = true;
    for (std::size_t k = 0; k < procedure.procedures().size(); ++k) {
      std::optional<ValidProcedure> inner = examine(procedure.procedures()[k], fmt::format("{}procedures[{}].", prefix, k));
      are_valid = are_valid && inner.has_value();
      if (inner) data->procedures.push_back(*std::move(inner));
    }
    const StepPlaces places(procedure);
    ProcedureReport report(places);
    check_procedure_declarations(procedure, report);
    check_procedure_wiring(procedure, places, report);
    check_procedure_sizes(procedure, places, report);
    check_procedure_flow(procedure, places, KnownUses(procedure, programs), report);
    keep(std::move(report).in_order(), prefix);
    std::optional<ValidProcedure> valid;
    if (are_valid && found_.size() == before) valid = ValidProcedure(std::move(data));
    known_.emplace(procedure.bytes(), valid);
    return valid;
  }
  Diagnostics found() && { return std::move(found_); }

 private:
  void keep(Diagnostics diagnostics, const std::string& prefix) {
    for (Diagnostic& each : diagnostics) {
      each.place.path = prefix + each.place.path;
      found_.push_back(std::move(each));
    }
  }

  const ir::OpTable& ops_;
  const Options& options_;
  Diagnostics found_;
  std::unordered_map<std::string_view, std::optional<ValidProcedure>> known_;  // by the bytes, which the outermost procedure keeps
};

ProcedureVerdict validate(const ir::Procedure& procedure, const ir::OpTable& ops, const Options& options) {
  ProcedureExaminer examiner(ops, options);
  ProcedureVerdict verdict;
  verdict.procedure = examiner.examine(procedure, "");
  verdict.diagnostics = std::move(examiner).found();
  return verdict;
}

}  // namespace vyre::validate
