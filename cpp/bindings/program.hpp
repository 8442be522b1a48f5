// The Python class Program: the program, and its hash and planned calls, which are made when they are first needed.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::python {

class PlannedCalls;

struct PyProgram {
  explicit PyProgram(ir::Program value) : program(std::move(value)) {}

  ir::Program program;
  // Guarded by the GIL.
  mutable std::optional<std::uint64_t> known_hash;
  mutable std::shared_ptr<PlannedCalls> planned;

  std::uint64_t hash() const {
    if (!known_hash) known_hash = program.hash();
    return *known_hash;
  }
};

// Resolves statements to a program, with the operations that are registered now. Throws ValidationError (V039).
ir::Program resolved(const std::vector<ir::BufferDecl>& buffers, ir::WorkgroupSize workgroup_size, std::span<const ir::NodeHandle> entry,
                     std::vector<std::pair<std::string, ir::DataType>> variables, ir::SourcePlace place);

// Converts the argument `program` of a public function.
const PyProgram& to_program(py::handle object, const std::string& where);

// Validates the program with the operations that are registered now, and caches the results of the most recent programs. Throws
// ValidationError.
validate::ValidProgram valid(const PyProgram& program);

// Returns all rules that the procedure breaks.
Diagnostics mistakes_of(const ir::Procedure& procedure);

// Implements Program.notes. Throws as valid() does, and throws ArgumentError for wrong `lengths`, `workgroups` or `invocations`.
py::object notes(const PyProgram& program, py::handle lengths, py::handle workgroups, py::handle invocations);

// Makes valid() return `value` from now on. For a program that vyre has made, which may exceed limits but breaks no other rule.
void remember(const PyProgram& program, const validate::ValidProgram& value);

}  // namespace vyre::python
