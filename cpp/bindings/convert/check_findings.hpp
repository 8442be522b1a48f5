// Converts between Python and checked execution: the arguments that choose the checks, and the findings, which become plain tuples.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "vyre/run/checks/checked.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::python {

// Converts "all", the name of a check, or a list of names. Throws ArgumentError, which names `where`.
run::CheckOptions to_checks(py::handle object, const std::string& where);
// Converts an integer from 1 to 10,000.
std::size_t to_max_reports(py::handle object, const std::string& where);

// Validates a program by all rules but V010, because checked execution reports divergent barriers itself. Throws ValidationError.
validate::ValidProgram valid_but_for_barriers(const ir::Program& program);

// Returns a tuple for each finding: the name of its check, and the data from which vyre/_arrays/checked.py makes a report.
py::list described(const ir::Program& program, const std::vector<run::Finding>& findings);

// Return the names of the checks that are turned on, and (name, meaning, whether "all" stands for it) of every check.
py::tuple names_of(const run::CheckOptions& checks);
py::tuple check_rows();

}  // namespace vyre::python
