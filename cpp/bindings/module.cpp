// The Python module vyre._core: a list of what is bound.
#include "bindings.hpp"
#include "construct.hpp"

PYBIND11_MODULE(_core, m) {
  using namespace vyre::python;
  m.doc() = "The C++ core of vyre. Use the names that `vyre` shows.";
  m.attr("__version__") = VYRE_VERSION;
  bind_errors(m);
  bind_types(m);
  bind_frames(m);
  bind_expr(m);
  bind_node(m);
  bind_program(m);
  bind_validate(m);
  bind_ops(m);
  bind_transform(m);
  bind_emit(m);
  bind_run(m);
  bind_array(m);
  bind_planned(m);
  bind_graph(m);
  bind_profile(m);
  bind_check(m);
  bind_fuzz(m);
  explain_calls(m, "vyre");
}
