// The Python class Program: the value, and its hash once it was asked for.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
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

// The program that statements make, with the operations registered now. Throws ValidationError (V039).
ir::Program resolved(std::vector<ir::BufferDecl> buffers, ir::WorkgroupSize workgroup_size, std::span<const ir::NodeHandle> entry,
                     std::vector<std::pair<std::string, ir::DataType>> variables, ir::SourcePlace place);

// The argument `program` of a public function.
const PyProgram& to_program(py::handle object, const std::string& where);

// Validated against the registry as it is now; remembered for the programs used last. Throws ValidationError.
validate::ValidProgram valid(const PyProgram& program);

// Program.notes. Raises like valid(), and for what `lengths` and `workgroups` cannot be.
py::object notes(const PyProgram& program, py::handle lengths, py::handle workgroups, py::handle invocations);

// A program that we made and that keeps every rule but the limits: valid() gives `value` from now on.
void remember(const PyProgram& program, const validate::ValidProgram& value);

}  // namespace vyre::python
