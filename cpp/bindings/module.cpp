// Makes the Python module vyre._core by calling the functions that bind its parts.
#include "bindings/bindings.hpp"
#include "bindings/construct.hpp"
#include "bindings/seal.hpp"
#include "bindings/without_gil.hpp"
#include "vyre/base/log.hpp"

namespace vyre::python {
namespace {

// The public names, which `vyre` imports with a star. abs, min and max are left out: there they would shadow Python's own.
py::list public_names(const py::module_& m) {
  py::list names;
  for (const auto& [name, value] : m.attr("__dict__").cast<py::dict>()) {
    const auto text = name.cast<std::string>();
    if (text.front() != '_' && text != "abs" && text != "min" && text != "max") names.append(name);
  }
  names.attr("sort")();
  return names;
}

// Passes a line of the core to the logger of Python.
void log_in_python(std::string_view line) {
  if (leaving()) return;
  const py::gil_scoped_acquire held;
  try {
    py::module_::import("vyre._base.log").attr("warning")("%s", lenient_str(line));
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("vyre's logger");
  }
}

}  // namespace
}  // namespace vyre::python

PYBIND11_MODULE(vyre_core, m) {
  using namespace vyre::python;
  // Docstrings begin with signatures of their own.
  py::options options;
  options.disable_function_signatures();
  m.doc() = "The C++ core of vyre. Use the names that `vyre` shows.";
  m.attr("__version__") = VYRE_VERSION;
  vyre::set_logger(log_in_python);
  bind_errors(m);
  bind_types(m);
  bind_frames(m);
  bind_expr(m);
  bind_node(m);
  bind_program(m);
  bind_procedure(m);
  bind_run_procedure(m);
  bind_validate(m);
  bind_ops(m);
  bind_transform(m);
  bind_emit(m);
  bind_run(m);
  bind_trial(m);
  bind_explain(m);
  bind_array(m);
  bind_ascending(m);
  bind_byte_strings(m);
  bind_planned(m);
  bind_kernel_calls(m);
  bind_lets(m);
  bind_launch(m);
  bind_host_launch(m);
  bind_graph(m);
  bind_profile(m);
  bind_check(m);
  bind_reach(m);
  bind_program_parts(m);
  bind_cuda(m);
  bind_dlpack(m);
  bind_flat_steps(m);
  bind_fuzz(m);
  m.attr("__all__") = public_names(m);
  explain_calls(m, "vyre");
  seal(m);
}

// Python calls this when it imports the module. It refuses subinterpreters first: the process has only one set of devices, caches and
// classes, and pybind11 would wait for ever for a lock of the main interpreter.
PYBIND11_PLUGIN_IMPL(_core) {
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(PyExc_ImportError,
                    "vyre cannot be imported in a subinterpreter: it works in the main interpreter of a process alone. "
                    "Fix: import it in the main interpreter, or start a process with multiprocessing.");
    return nullptr;
  }
  return PyInit_vyre_core();
}
