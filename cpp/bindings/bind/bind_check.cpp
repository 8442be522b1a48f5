// Binds vyre.check: runs a program with checks and returns the findings as plain tuples, from which vyre/_arrays/checked.py makes the
// reports.
#include <fmt/format.h>

#include "bindings/bindings.hpp"
#include "bindings/calls/call.hpp"
#include "bindings/convert/arrays.hpp"
#include "bindings/convert/check_findings.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/program.hpp"
#include "bindings/waiting.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/checks/checked.hpp"

namespace vyre::python {
namespace {

py::tuple check_program(py::handle program_object, py::handle inputs, py::handle workgroups, py::handle timeout, py::handle schedule,
                        py::handle checks, py::handle max_reports, const std::string& function) {
  const auto where = [&](const char* argument) { return fmt::format("argument `{}` of {}", argument, function); };
  const PyProgram& program = to_program(program_object, where("program"));
  const run::Grid grid = to_grid(workgroups, function);
  run::RunOptions options;
  options.timeout = to_timeout(timeout, function);
  options.schedule = to_schedule(schedule, where("schedule"));
  run::CheckOptions wanted = to_checks(checks, where(function == "vyre.run" ? "check" : "checks"));
  wanted.max_findings = to_max_reports(max_reports, where("max_reports"));
  const validate::ValidProgram valid = valid_but_for_barriers(program.program);
  const Arrays arrays(valid, inputs, function);
  wanted.blank = arrays.blank();

  run::Findings findings;
  while_waiting(options, [&](const run::RunOptions& waiting) { findings = run::check(valid, arrays.views(), grid, waiting, wanted); });
  // The arguments of the call in normal form. A replay repeats the call with them.
  const py::tuple call = py::make_tuple(py::make_tuple(grid.x, grid.y, grid.z), run::schedule_text(options.schedule), names_of(wanted));
  return py::make_tuple(arrays.results(), described(valid.program(), findings.list), findings.complete, call);
}

}  // namespace

void bind_check(py::module_& m) {
  m.def("_check", check_program, py::arg("program"), py::arg("inputs"), py::arg("workgroups"), py::arg("timeout"), py::arg("schedule"),
        py::arg("checks"), py::arg("max_reports"), py::arg("function"));
  m.attr("_tables")["checks"] = check_rows();
}

}  // namespace vyre::python
