// Checked execution as Python sees it: the arguments that say what is checked, and the findings as plain tuples.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "vyre/run/checked.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::python {

// "all", a name, or several. Throws ArgumentError that names `where`.
run::CheckOptions to_checks(py::handle object, const std::string& where);
// 1 to 10,000.
std::size_t to_max_reports(py::handle object, const std::string& where);

// Leaves out V010, because checked execution reports divergent barriers itself. Throws ValidationError.
validate::ValidProgram valid_but_for_barriers(const ir::Program& program);

// A tuple for each finding: the name of its check, and what vyre/_check.py makes a report of.
py::list described(const ir::Program& program, const std::vector<run::Finding>& findings);

// The names of the checks that are asked for, and (name, meaning) of each check there is.
py::tuple names_of(const run::CheckOptions& checks);
py::tuple check_rows();

}  // namespace vyre::python
