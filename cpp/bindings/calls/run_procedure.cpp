// Runs a Procedure on arrays that stay on their device.

#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/calls/call.hpp"
#include "bindings/calls/fast_call.hpp"
#include "bindings/calls/prepared.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/graph.hpp"
#include "bindings/program.hpp"
#include "bindings/resident.hpp"
#include "bindings/waiting.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/procedures/procedure.hpp"
#include "vyre/run/procedures/vouched.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/registry.hpp"

namespace vyre::python {
namespace {

// Made when the module is loaded, and never destroyed: a forked child that waits for another thread to make it would wait for ever.
auto& plans = *new run::ProcedurePlans;

// Returns the shape of a procedure's array, without the axis of lanes if its elements are vectors.
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

// Returns the array for an output: the caller's, or a new uninitialised array.
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

// Looks up the operation of this id, which has its version. Returns null for an empty id.
ir::OpTable::Spec operation_of(const std::string& id) { return id.empty() ? nullptr : run::registered_op(id); }

// The recursion is as deep as procedures invoke each other, at most 32.
void note_calls(Graph& graph, const ir::Procedure& procedure) {
  for (const ir::Program& program : procedure.programs()) graph.note_calls(program);
  for (const ir::Procedure& invoked : procedure.procedures()) note_calls(graph, invoked);
}

py::list run_at(const Graph::Place& place, const ir::Procedure& procedure, const ir::OpSpec* operation, const py::list& given,
                const std::vector<std::uint64_t>& numbers, const py::list& outputs,
                std::optional<std::chrono::duration<double>> timeout = std::nullopt, bool of_host = false) {
  run::Span span("call");
  const std::vector<ir::ArrayId> interface = procedure.interface();
  std::vector<const PyArray*> arrays;
  std::vector<run::Shape> shapes;
  for (std::size_t k = 0; k < given.size(); ++k) {
    arrays.push_back(given[k].cast<const PyArray*>());
    shapes.push_back(shape_of(*arrays.back(), procedure.arrays()[interface[k]].element));
  }
  std::shared_ptr<run::PlannedProcedure> plan;
  run::RunOptions patience;
  patience.timeout = timeout;
  while_waiting(patience, [&](const run::RunOptions& waiting) {
    std::vector<PreparedKey> keys;
    try {
      plan = plans.find_or_plan(procedure, shapes, numbers, place_of(place, keys, waiting), waiting, operation);
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
  views.reserve(arrays.size());
  for (const PyArray* array : arrays) views.push_back({array->storage.get(), array->offset, array->bytes()});
  if (Graph* const graph = Graph::recording()) {
    std::optional<run::Step> step;
    while_waiting({}, [&](const run::RunOptions&) { step = plan->step(views, numbers); });
    // A graph that refuses the step is not noted with what the step calls.
    if (step) graph->add(place, arrays, {std::move(*step), plan->dispatches()});
    note_calls(*graph, procedure);
    return results;
  }
  patience.start = std::chrono::steady_clock::now();
  while_waiting(std::move(patience), [&](const run::RunOptions& options) {
    // Released without the GIL: if `plans` has dropped the plan meanwhile, this destroys it, which may wait for the device.
    const std::shared_ptr<run::PlannedProcedure> submitted = std::move(plan);
    {
      const run::Span submitting("submit");
      const auto submit = [&] { submitted->submit(views, numbers, options); };
      if (!of_host) return submit();
      run::wait_or_abandon(*place.backend, place.device, submit);
    }
    run::wait_or_abandon(*place.backend, place.device, [&] {
      for (const run::StorageView& view : views) view.storage->wait(options);
    });
  });
  return results;
}

py::list run_procedure(const ir::Procedure& procedure, const py::list& given, const std::vector<std::uint64_t>& numbers,
                       const py::list& outputs, const std::string& backend, std::size_t device, py::handle timeout,
                       const std::string& function, bool of_host, const std::string& operation) {
  return run_at({run::find_backend(backend), device}, procedure, operation_of(operation).get(), given, numbers, outputs,
                to_timeout(timeout, function), of_host);
}

// Throws DeviceError if a call of host arrays is refused there, because an earlier one timed out and the device still works on it.
void check_place_is_free(py::handle backend, py::handle device, const std::string& function) {
  const PlaceToRun place = to_place(backend, device, function);
  while_waiting({}, [&](const run::RunOptions&) {
    place.backend->check_nothing_is_abandoned(place.device ? *place.device : place.backend->default_device());
  });
}

// One parameter of a ProcedureLaunch, the fast path for repeated calls: a resident array with `axes` axes, or a number.
struct Parameter {
  const ElementType* element = nullptr;  // null for a number
  std::size_t axes = 0;                  // includes the axis of a vector's lanes
  std::uint32_t lanes = 0;
  ir::DataType number = ir::kU32;

  bool is_of(const ir::ArrayDecl& decl) const {
    return element == &element_type(decl.element) && lanes == vector_lanes(decl.element) && axes == decl.axes + (lanes == 0 ? 0u : 1u);
  }
};

class ProcedureLaunch {
 public:
  ProcedureLaunch(py::object procedure, ir::OpTable::Spec operation, std::vector<Parameter> parameters, std::vector<std::size_t> results)
      : object_(std::move(procedure)),
        procedure_(object_.cast<const ir::Procedure&>()),
        operation_(std::move(operation)),
        parameters_(std::move(parameters)),
        results_(std::move(results)) {
    const auto& decls = procedure_.arrays();
    const std::vector<ir::ArrayId> interface = procedure_.interface();
    std::size_t arrays = 0;
    bool fits = true;
    for (const Parameter& parameter : parameters_) {
      if (parameter.element == nullptr) continue;
      fits = fits && arrays < interface.size() && decls[interface[arrays]].role != ir::ArrayRole::Output &&
             parameter.is_of(decls[interface[arrays]]);
      ++arrays;
    }
    fits = fits && arrays > 0 && parameters_.size() - arrays == procedure_.numbers().size() &&
           (arrays == interface.size() || decls[interface[arrays]].role == ir::ArrayRole::Output) &&
           std::ranges::all_of(results_, [&](std::size_t k) { return k < interface.size(); });
    if (!fits) throw ArgumentError("the parts of a launch do not fit each other. Fix: call the procedure itself.");
    outputs_ = interface.size() - arrays;
  }

  // Runs a call. Returns a null object if the arguments do not fit; Python then checks them and raises the error.
  py::object call(const py::tuple& given) const {
    if (given.size() != parameters_.size() + 1) return {};
    PyObject* const bindings = PyTuple_GET_ITEM(given.ptr(), 0);
    if (bindings != Py_None && !same_bindings(bindings)) return {};
    py::list arrays;
    std::vector<std::uint64_t> numbers;
    const PyArray* first = nullptr;
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
      const Parameter& parameter = parameters_[k];
      const py::handle value = PyTuple_GET_ITEM(given.ptr(), static_cast<Py_ssize_t>(k + 1));
      if (parameter.element == nullptr) {
        const auto number = number_in(value, parameter.number);
        if (!number) return {};
        numbers.push_back(*number);
        continue;
      }
      if (!is<PyArray>(value)) return {};
      const auto& array = value.cast<const PyArray&>();
      if (array.element != parameter.element || array.shape.size() != parameter.axes) return {};
      if (parameter.lanes != 0 && array.shape.back() != static_cast<py::ssize_t>(parameter.lanes)) return {};
      if (first == nullptr) first = &array;
      if (array.backend != first->backend || array.device != first->device) return {};
      arrays.append(value);
    }
    py::list outputs;
    for (std::size_t k = 0; k < outputs_; ++k) outputs.append(py::none());
    const py::list made = run_at({first->backend, first->device}, procedure_, operation_.get(), arrays, numbers, outputs);
    const auto result = [&](std::size_t k) -> py::object { return k < arrays.size() ? arrays[k] : made[k - arrays.size()]; };
    if (results_.size() == 1) return result(results_.front());
    if (results_.empty()) return py::none();
    py::tuple all(results_.size());
    for (std::size_t k = 0; k < results_.size(); ++k) all[k] = result(results_[k]);
    return all;
  }

 private:
  const py::object object_;
  const ir::Procedure& procedure_;  // belongs to object_
  const ir::OpTable::Spec operation_;
  const std::vector<Parameter> parameters_;
  const std::vector<std::size_t> results_;  // indices into the interface
  std::size_t outputs_ = 0;
};

Parameter parameter_of(py::handle told) {
  Parameter made;
  const auto pair = told.cast<std::pair<py::object, py::object>>();
  const ir::DataType element = to_type(pair.first, "a parameter of _procedure_launch");
  if (pair.second.is_none()) {
    made.number = element;
    return made;
  }
  made.element = &element_type(element);
  made.lanes = vector_lanes(element);
  made.axes = pair.second.cast<std::size_t>() + (made.lanes == 0 ? 0 : 1);
  return made;
}

}  // namespace

void bind_run_procedure(py::module_& m) {
  // Takes a resident array for each input and in_out, and an array or None for each output. Returns the outputs. All arrays must be on the
  // given device. With `of_host` the caller copied them from the host, and the call is waited for, at most the timeout; `function` is what
  // its message names. `operation` is the id and version of the operation that is called, empty if it is none.
  m.def("_run_procedure", run_procedure, py::arg("procedure"), py::arg("given"), py::arg("numbers"), py::arg("outputs"), py::arg("backend"),
        py::arg("device"), py::arg("timeout") = py::none(), py::arg("function") = "vyre.run", py::arg("of_host") = false,
        py::arg("operation") = "");
  m.def("_check_place_is_free", check_place_is_free, py::arg("backend"), py::arg("device"), py::arg("function"));
  // Returns the fast path for later calls: a function that takes the bindings that have to be unchanged, or None, and a call's positional
  // arguments. It returns NotImplemented if Python has to handle the call. A parameter is (element, axes), or (type, None) for a number.
  // `results` are indices into the inputs, in_outs and outputs.
  m.def(
      "_procedure_launch",
      [](const py::object& procedure, const py::list& parameters, const std::vector<std::size_t>& results, const std::string& operation) {
        std::vector<Parameter> made;
        for (const py::handle parameter : parameters) made.push_back(parameter_of(parameter));
        return py::cpp_function([launch = std::make_shared<ProcedureLaunch>(procedure, operation_of(operation), std::move(made), results)](
                                    const py::args& given) {
          const py::object result = launch->call(given);
          return result ? result : py::reinterpret_borrow<py::object>(Py_NotImplemented);
        });
      },
      py::arg("procedure"), py::arg("parameters"), py::arg("results"), py::arg("operation") = "");
  // For the library's procedures alone: see vyre/run/procedures/vouched.hpp.
  m.def("_vouch", run::vouch, py::arg("procedure"));
  m.def("_is_vouched", run::is_vouched, py::arg("procedure"));
  m.def("_procedure_plans", [] { return std::pair(plans.size(), plans.made()); });
}

}  // namespace vyre::python
