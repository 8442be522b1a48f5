// Collects the data for Kernel.explain: the instructions of the lowered program, the memory that it uses, the operations that were inlined,
// and what the device's driver reports about the compiled program.
#include <pybind11/stl.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/calls/call.hpp"
#include "bindings/calls/prepared.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/program.hpp"
#include "bindings/waiting.hpp"
#include "bindings/without_gil.hpp"
#include "vyre/lower/lower.hpp"
#include "vyre/run/backends.hpp"

namespace vyre::python {
namespace {

constexpr const char* kExplain = "Kernel.explain";

// Counts the instructions of a kernel by opcode, and its memory in bytes.
py::dict lowered(const PyProgram& self, const run::Optimize& optimize) {
  const validate::ValidProgram program = valid(self);
  std::map<std::string, std::size_t> opcodes;
  std::set<std::string> operations;
  lower::Kernel kernel;
  std::optional<lower::Explained> explained;
  {
    const WithoutGil unlocked;
    kernel = lower::lower(program, optimize);
    explained = lower::explain_checks(program, optimize);
    for (const lower::Instruction& instruction : kernel.code) ++opcodes[std::string(name(instruction.op))];
    for (const ir::Expr& expr : program.program().exprs()) {
      if (const auto* call = std::get_if<ir::Call>(&expr)) operations.insert(std::string(program.program().text(call->op)));
    }
  }
  py::list accesses;
  const ir::Program& prepared = explained->program.program();
  for (const lower::AccessCheck& access : explained->accesses) {
    const ir::SourcePlace place = prepared.place(access.statement);
    accesses.append(py::make_tuple(lenient_str(prepared.buffers()[access.buffer.index].name),
                                   place.known() ? lenient_str(ir::file_name(place.file)) : lenient_str(""), place.line, access.kept));
  }
  py::dict result;
  result["opcodes"] = opcodes;
  result["accesses"] = accesses;
  result["operations"] = std::vector<std::string>(operations.begin(), operations.end());
  result["workgroup_bytes"] = kernel.shared_bytes();
  result["private_bytes"] = kernel.private_bytes();
  return result;
}

// Returns the driver's facts as rows (part, name, description, value), the backend's name, and the device's index.
py::tuple driver_facts(const PyProgram& self, const PlaceToRun& given, const run::Optimize& optimize, py::handle timeout) {
  const validate::ValidProgram checked = valid(self);
  run::RunOptions options;
  options.timeout = to_timeout(timeout, kExplain);
  PlaceToRun place = given;
  std::vector<run::DriverFact> facts;
  while_waiting(std::move(options), [&](const run::RunOptions& waiting) {
    if (!place.device) place.device = place.backend->default_device();
    const auto executable = prepared(checked, {checked.program(), checked.hash(), place.backend, place.device, optimize}, waiting);
    facts = executable->driver_facts(waiting);
  });
  py::list rows;
  for (const run::DriverFact& fact : facts) {
    rows.append(py::make_tuple(lenient_str(fact.part), lenient_str(fact.name), lenient_str(fact.description), lenient_str(fact.value)));
  }
  return py::make_tuple(rows, lenient_str(place.backend->name()), *place.device);
}

}  // namespace

void bind_explain(py::module_& m) {
  m.def(
      "_lowered",
      [](py::handle program, py::handle optimize) {
        return lowered(to_program(program, "argument `program` of _lowered"),
                       to_optimize(optimize, "argument `optimize` of Kernel.explain").value_or(run::Optimize()));
      },
      py::arg("program"), py::arg("optimize"));
  m.def(
      "_driver_facts",
      [](py::handle program, py::handle backend, py::handle device, py::handle optimize, py::handle timeout) {
        return driver_facts(to_program(program, "argument `program` of _driver_facts"), to_place(backend, device, kExplain),
                            to_optimize(optimize, "argument `optimize` of Kernel.explain").value_or(run::Optimize()), timeout);
      },
      py::arg("program"), py::arg("backend"), py::arg("device"), py::arg("optimize"), py::arg("timeout"));
}

}  // namespace vyre::python
