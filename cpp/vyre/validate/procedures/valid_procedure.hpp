// A procedure that keeps every rule, its programs and the procedures that it invokes included.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "vyre/base/diagnostic.hpp"
#include "vyre/ir/op_spec.hpp"
#include "vyre/ir/procedures/procedure.hpp"
#include "vyre/validate/options.hpp"
#include "vyre/validate/valid.hpp"

namespace vyre::validate {

struct ProcedureVerdict;

// Only `validate` makes it. Cheap to copy.
class ValidProcedure {
 public:
  const ir::Procedure& procedure() const { return data_->procedure; }
  // One for each of procedure().programs(), and one for each of procedure().procedures().
  const std::vector<ValidProgram>& programs() const { return data_->programs; }
  const std::vector<ValidProcedure>& procedures() const { return data_->procedures; }

 private:
  friend class ProcedureExaminer;
  struct Data {
    ir::Procedure procedure;
    std::vector<ValidProgram> programs;
    std::vector<ValidProcedure> procedures;
  };
  explicit ValidProcedure(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

  std::shared_ptr<const Data> data_;
};

struct ProcedureVerdict {
  Diagnostics diagnostics;  // of the programs and the invoked procedures, then of numbers and arrays, then in the order of the steps
  std::optional<ValidProcedure> procedure;
};

// The grammar of a path:
//   path  = { "procedures[" k "]." } ( "programs[" k "]." path of a program | "numbers[" k "]" | "arrays[" k "]" | "results[" k "]"
//         | "steps" | "steps[" k "]" { "." ( "then" | "otherwise" | "body" ) "[" k "]" } )
ProcedureVerdict validate(const ir::Procedure& procedure, const ir::OpTable& ops, const Options& options = {});

}  // namespace vyre::validate
