// Runs a Procedure on arrays that stay on their device.
#include "run_procedure.hpp"

#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "convert.hpp"
#include "graph.hpp"
#include "prepared.hpp"
#include "program.hpp"
#include "resident.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/procedure.hpp"
#include "vyre/run/profile.hpp"
#include "waiting.hpp"

namespace vyre::python {
namespace {

// Made when the module is loaded, and never destroyed: a forked child that waits for another thread to make it would wait for ever.
auto& plans = *new run::ProcedurePlans;

// The axes of an array of a procedure, without that of a vector's lanes.
run::Shape shape_of(const PyArray& array, ir::DataType element) {
  run::Shape shape(array.shape.begin(), array.shape.end());
  if (vector_lanes(element) != 0 && !shape.empty()) shape.pop_back();
  return shape;
}

std::vector<py::ssize_t> full_shape(const run::Shape& shape, ir::DataType element) {
  std::vector<py::ssize_t> full(shape.begin(), shape.end());
  if (const std::uint32_t lanes = vector_lanes(element); lanes != 0) full.push_back(lanes);
  return full;
}

run::ProcedurePlace place_of(const Graph::Place& place, std::vector<PreparedKey>& keys, const run::RunOptions& waiting) {
  run::ProcedurePlace made{place.backend, place.device, {}, {}};
  made.valid = [](const ir::Program& program) {
    const py::gil_scoped_acquire acquire;
    return std::make_shared<const validate::ValidProgram>(valid(PyProgram(program)));
  };
  made.prepare = [&keys, place, &waiting](const run::ProfiledProgram& program) {
    const validate::ValidProgram checked = run::with_passes(*program, *place.backend, std::nullopt);
    keys.push_back({checked.program(), checked.hash(), place.backend, place.device, run::Optimize()});
    return prepared(checked, keys.back(), waiting);
  };
  return made;
}

// An array for an output: the one that the caller gave, or a new one with any contents.
py::object output(const ir::Procedure& procedure, const ir::ArrayDecl& decl, const run::Shape& shape, py::handle given,
                  const Graph::Place& place) {
  const ElementType& element = element_type(decl.element);
  const std::vector<py::ssize_t> full = full_shape(shape, decl.element);
  if (!given.is_none()) {
    const auto& array = given.cast<const PyArray&>();
    if (array.shape == full && array.element == &element) return py::reinterpret_borrow<py::object>(given);
    const std::string text = py::repr(py::tuple(py::cast(full))).cast<std::string>();
    throw ArgumentError(fmt::format(
        "argument `out` of procedure `{}` must be an array of {} with shape {} for `{}`, got one of {} with shape {}. Fix: make it with "
        "vyre.empty({}, np.{}).",
        procedure.name(), element.numpy, text, decl.name, array.element->numpy,
        py::repr(py::tuple(py::cast(array.shape))).cast<std::string>(), text, element.numpy));
  }
  PyArray made{nullptr, place.backend, place.device, &element, full, 0};
  while_waiting({}, [&](const run::RunOptions&) { made.storage = place.backend->allocate(place.device, made.bytes(), false); });
  return py::cast(std::move(made));
}

py::list run_procedure(const ir::Procedure& procedure, const py::list& given, const std::vector<std::uint64_t>& numbers,
                       const py::list& outputs, const std::string& backend, std::size_t device) {
  run::Span span("call");
  const Graph::Place place{run::find_backend(backend), device};
  const std::vector<ir::ArrayId> interface = procedure.interface();
  std::vector<const PyArray*> arrays;
  std::vector<run::Shape> shapes;
  for (std::size_t k = 0; k < given.size(); ++k) {
    arrays.push_back(given[k].cast<const PyArray*>());
    shapes.push_back(shape_of(*arrays.back(), procedure.arrays()[interface[k]].element));
  }
  std::shared_ptr<run::PlannedProcedure> plan;
  while_waiting({}, [&](const run::RunOptions& waiting) {
    std::vector<PreparedKey> keys;
    try {
      plan = plans.find_or_plan(procedure, shapes, numbers, place_of(place, keys, waiting), waiting);
    } catch (const DeviceError&) {
      for (const PreparedKey& key : keys) forget_prepared(key);
      throw;
    }
  });
  py::list results;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const std::size_t slot = shapes.size() + k;
    results.append(output(procedure, procedure.arrays()[interface[slot]], plan->shapes()[slot], outputs[k], place));
    arrays.push_back(results[k].cast<const PyArray*>());
  }
  std::vector<run::StorageView> views;
  for (const PyArray* array : arrays) views.push_back({array->storage.get(), array->offset, array->bytes()});
  if (Graph* const graph = Graph::recording()) {
    std::optional<run::Step> step;
    while_waiting({}, [&](const run::RunOptions&) { step = plan->step(views, numbers); });
    if (step) graph->add(place, arrays, {plan, std::move(*step), plan->dispatches()});
    return results;
  }
  while_waiting({}, [&](const run::RunOptions& options) {
    const run::Span submitting("submit");
    plan->submit(views, numbers, options);
    // It may have been dropped from the plans meanwhile, and destroying it may wait for the device.
    plan.reset();
  });
  return results;
}

}  // namespace

void bind_run_procedure(py::module_& m) {
  py::options options;
  options.disable_function_signatures();
  // Takes resident arrays for the inputs and in_outs, and for each output one or None; gives the outputs. All arrays are on this device.
  m.def("_run_procedure", run_procedure, py::arg("procedure"), py::arg("given"), py::arg("numbers"), py::arg("outputs"), py::arg("backend"),
        py::arg("device"));
  m.def("_procedure_plans", [] { return std::pair(plans.size(), plans.made()); });
}

}  // namespace vyre::python
