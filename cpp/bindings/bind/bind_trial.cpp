// The two steps of vyre.try_compile: check the arguments and make plain values of them, and prepare a program without running it.

#include "bindings/bindings.hpp"
#include "bindings/calls/call.hpp"
#include "bindings/calls/prepared.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/program.hpp"
#include "bindings/waiting.hpp"
#include "bindings/without_gil.hpp"
#include "vyre/ir/bytes/wire.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/registry.hpp"
#include "vyre/transform/passes.hpp"

namespace vyre::python {
namespace {

constexpr const char* kTryCompile = "vyre.try_compile";

// Returns the arguments for the process that makes the trial: the backend's name and the device's index (None if that process chooses), and
// the program's bytes. If the user names no place, this function opens no device, because opening one is part of the trial.
py::tuple trial_arguments(py::handle program_object, py::handle backend, py::handle device, py::handle optimize, py::handle timeout) {
  const PyProgram& program = to_program(program_object, "argument `program` of vyre.try_compile");
  to_timeout(timeout, kTryCompile);
  to_optimize(optimize, "argument `optimize` of vyre.try_compile");
  py::object name = py::none(), index = py::none();
  if (!backend.is_none() || !device.is_none()) {
    const PlaceToRun place = to_place(backend, device, kTryCompile);
    name = lenient_str(place.backend->name());
    if (place.device) index = py::int_(*place.device);
  }
  const validate::ValidProgram checked = valid(program);
  const std::string bytes = without_gil([&] {
    // The other process knows only the standard operations, so calls are expanded if any other operation is registered.
    return ir::to_bytes(run::op_generation() == 0 ? checked.program() : transform::inline_calls(checked).program());
  });
  return py::make_tuple(name, index, py::bytes(bytes));
}

// Prepares a program as vyre.run does; the result is kept for the call that runs the program.
void prepare(py::handle program_object, py::handle backend, py::handle device, py::handle optimize, py::handle timeout) {
  const PyProgram& program = to_program(program_object, "argument `program` of vyre.try_compile");
  run::RunOptions options;
  options.timeout = to_timeout(timeout, kTryCompile);
  const PlaceToRun place = to_place(backend, device, kTryCompile);
  const std::optional<run::Optimize> wanted = to_optimize(optimize, "argument `optimize` of vyre.try_compile");
  validate::ValidProgram checked = valid(program);
  while_waiting(std::move(options), [&](const run::RunOptions& waiting) {
    checked = run::with_passes(checked, *place.backend, wanted);
    prepared(checked, {checked.program(), checked.hash(), place.backend, place.device, wanted.value_or(run::Optimize())}, waiting);
  });
}

}  // namespace

void bind_trial(py::module_& m) {
  m.def("_trial_arguments", &trial_arguments, py::arg("program"), py::arg("backend"), py::arg("device"), py::arg("optimize"),
        py::arg("timeout"));
  m.def("_prepare", &prepare, py::arg("program"), py::arg("backend"), py::arg("device"), py::arg("optimize"), py::arg("timeout"));
}

}  // namespace vyre::python
