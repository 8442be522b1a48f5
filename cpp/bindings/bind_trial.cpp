// The two steps of vyre.try_compile: check the arguments and make plain values of them, and prepare a program without running it.
#include <memory>

#include "bindings.hpp"
#include "call.hpp"
#include "convert.hpp"
#include "optimize.hpp"
#include "prepared.hpp"
#include "program.hpp"
#include "vyre/ir/wire.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/registry.hpp"
#include "vyre/transform/passes.hpp"
#include "waiting.hpp"
#include "without_gil.hpp"

namespace vyre::python {
namespace {

constexpr const char* kFunction = "vyre.try_compile";

// The backend's name and the device's index, None where the other process is to choose; and the program's bytes. No device is opened
// where none is named: opening is a part of what is tried.
py::tuple trial_arguments(py::handle program_object, py::handle backend, py::handle device, py::handle optimize, py::handle timeout) {
  const PyProgram& program = to_program(program_object, "argument `program` of vyre.try_compile");
  to_timeout(timeout, kFunction);
  to_optimize(optimize, "argument `optimize` of vyre.try_compile");
  py::object name = py::none(), index = py::none();
  if (!backend.is_none() || !device.is_none()) {
    const PlaceToRun place = to_place(backend, device, kFunction);
    name = lenient_str(place.backend->name());
    if (place.device) index = py::int_(*place.device);
  }
  const validate::ValidProgram checked = valid(program);
  std::string bytes;
  {
    const WithoutGil unlocked;
    // The other process knows the standard operations alone.
    bytes = ir::to_bytes(run::op_generation() == 0 ? checked.program() : transform::inline_calls(checked).program());
  }
  return py::make_tuple(name, index, py::bytes(bytes));
}

// As vyre.run makes it ready; what was made stays for the call that runs it.
void prepare(py::handle program_object, py::handle backend, py::handle device, py::handle optimize, py::handle timeout) {
  const PyProgram& program = to_program(program_object, "argument `program` of vyre.try_compile");
  run::RunOptions options;
  options.timeout = to_timeout(timeout, kFunction);
  const PlaceToRun place = to_place(backend, device, kFunction);
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
