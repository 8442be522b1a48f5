// Converts the arguments of a program's call on resident arrays: arrays by position or by name, counts of workgroups, options.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/calls/planned_calls.hpp"
#include "bindings/program.hpp"
#include "bindings/resident.hpp"

namespace vyre::python {

// "`a`, `b`", the names of the buffers that a call binds; "none" without any.
std::string buffer_names(const std::vector<const ir::BufferDecl*>& bound);

// The arrays that a call makes itself: values for Uniform buffers and zeros for ReadWrite buffers. They live while the call is planned and
// submitted.
class MadeArrays {
 public:
  // Chooses the device of these arrays: that of `beside`, the first vyre.Array of the call, or the one that vyre.empty would choose.
  void place(const PyArray* beside);

  // Makes the array that `object` asks for: zeros for a ReadWrite buffer, or the value of a Uniform buffer. Returns null if `object` asks
  // for neither.
  const PyArray* array(ValuesInUse& values, const ir::BufferDecl& decl, py::handle object);

 private:
  PyArray blank(const ir::BufferDecl& decl, std::vector<py::ssize_t> shape) const;

  run::Backend* backend_ = nullptr;
  std::size_t device_ = 0;
  std::deque<PyArray> arrays_;
};

// The arguments of a program's call, converted. Whether the arrays fit the program's buffers is checked later, when a plan is made.
struct GivenCall {
  // `role` says what the counts mean if `workgroups` is an array: workgroups or invocations.
  GivenCall(const PyProgram& program, const py::args& args, const py::kwargs& kwargs, run::StorageView::Role role);

  const std::shared_ptr<PlannedCalls> calls;
  const CallGrid grid;
  const std::vector<py::handle> objects;
  std::optional<MadeArrays> made;
  std::vector<const PyArray*> arrays;
  const std::optional<run::Optimize> optimize;
};

}  // namespace vyre::python
