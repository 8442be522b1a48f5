#include "bindings/convert/check_findings.hpp"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "bindings/convert/convert.hpp"
#include "bindings/without_gil.hpp"
#include "vyre/advise/hints.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/nearest.hpp"
#include "vyre/base/overloaded.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/checks/statement_path.hpp"
#include "vyre/run/registry.hpp"
#include "vyre/transform/trace.hpp"

namespace vyre::python {
namespace {

using run::Finding;
using run::Witness;

constexpr std::size_t kMostReports = 10'000;

// A check's name and meaning, and the member that turns it on.
struct CheckRow {
  const char* name;
  const char* meaning;
  bool usual;
  bool run::CheckOptions::*member;
};
constexpr CheckRow kChecks[] = {
#define CHECK(member, usual, name, meaning) {name, meaning, usual, &run::CheckOptions::member},
    VYRE_CHECKS(CHECK)
#undef CHECK
};

}  // namespace

run::CheckOptions to_checks(py::handle object, const std::string& where) {
  std::string names;
  for (const CheckRow& row : kChecks) names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", row.name);
  const std::string wanted = fmt::format("\"all\", or names out of {}", names);
  std::vector<py::object> items;
  if (PyUnicode_Check(object.ptr())) {
    items.push_back(py::reinterpret_borrow<py::object>(object));
  } else {
    items = to_list(object, where, wanted);
  }
  run::CheckOptions options;
  for (const CheckRow& row : kChecks) options.*row.member = false;
  for (const py::object& item : items) {
    const std::string name = to_text(item, where);
    if (name == "all") {
      for (const CheckRow& row : kChecks) options.*row.member |= row.usual;
      continue;
    }
    const auto* row = std::find_if(std::begin(kChecks), std::end(kChecks), [&](const CheckRow& row) { return name == row.name; });
    if (row == std::end(kChecks)) {
      std::vector<std::string_view> known;
      for (const CheckRow& each : kChecks) known.push_back(each.name);
      reject_name(where, "\"all\", " + names, item, did_you_mean(name, known));
    }
    options.*row->member = true;
  }
  if (items.empty()) reject(where, wanted, object);
  return options;
}

validate::ValidProgram valid_but_for_barriers(const ir::Program& program) {
  const WithoutGil unlocked;
  return validate::accepted(validate::validate(program, run::registered_ops(), {.uniformity = false, .advice = advise::hints}));
}

namespace {

// Makes tuples of findings.
class Describe {
 public:
  Describe(const ir::Program& program, const std::vector<Finding>& findings) : program_(program) {
    std::vector<NodeId> statements;
    const auto see = [&](NodeId id) {
      if (id.valid()) statements.push_back(id);
    };
    for (const Finding& finding : findings) {
      match(
          finding,
          [&](const run::Race& it) {
            see(it.first.statement);
            see(it.second.statement);
          },
          [&](const run::UninitialisedRead& it) { see(it.witness.statement); },
          [&](const run::OutOfBounds& it) { see(it.witness.statement); },
          [&](const run::DivergentBarrier& it) {
            for (const auto& stop : it.stops) see(stop.statement);
          },
          [&](const run::OrderDependence& it) { std::for_each(it.atomics.begin(), it.atomics.end(), see); });
    }
    std::sort(statements.begin(), statements.end());
    statements.erase(std::unique(statements.begin(), statements.end()), statements.end());
    std::vector<std::string> paths = run::statement_paths(program, statements);
    for (std::size_t k = 0; k < statements.size(); ++k) paths_[statements[k]] = std::move(paths[k]);
  }

  py::tuple operator()(const Finding& finding) const {
    return match(
        finding,
        [&](const run::Race& it) -> py::tuple {
          return py::make_tuple(kChecks[finding.index()].name, buffer(it.buffer), it.index, witness(it.buffer, it.first),
                                witness(it.buffer, it.second), it.count);
        },
        [&](const run::UninitialisedRead& it) -> py::tuple {
          return py::make_tuple(kChecks[finding.index()].name, buffer(it.buffer), it.index, witness(it.buffer, it.witness), it.count);
        },
        [&](const run::OutOfBounds& it) -> py::tuple {
          return py::make_tuple(kChecks[finding.index()].name, buffer(it.buffer), it.index, it.length, witness(it.buffer, it.witness),
                                it.count);
        },
        [&](const run::DivergentBarrier& it) -> py::tuple {
          py::list stops;
          for (const auto& stop : it.stops)
            stops.append(py::make_tuple(place(stop.statement), stop.waits, stop.invocations, id(stop.first)));
          return py::make_tuple(kChecks[finding.index()].name, id(it.workgroup), py::tuple(stops), it.count);
        },
        [&](const run::OrderDependence& it) -> py::tuple {
          py::list atomics;
          for (const NodeId statement : it.atomics) atomics.append(place(statement));
          return py::make_tuple(kChecks[finding.index()].name, buffer(it.buffer), it.index, lane(it.buffer, it.lane),
                                value(it.buffer, it.value), value(it.buffer, it.other), run::schedule_text(it.schedule),
                                run::schedule_text(it.other_schedule), py::tuple(atomics), it.count);
        });
  }

 private:
  using Id = std::array<std::uint32_t, 3>;

  const ir::BufferDecl& decl(BufferId buffer) const { return program_.buffers()[buffer.index]; }
  py::str buffer(BufferId id) const { return lenient_str(decl(id).name); }
  py::object lane(BufferId id, std::uint32_t lane) const {
    return ir::lanes(decl(id).element) > 1 ? py::object(py::int_(lane)) : py::object(py::none());
  }
  // A lane as a number; those of a wide type or a vector are words.
  py::object value(BufferId id, std::uint32_t bits) const {
    const ir::DataType element = decl(id).element;
    return to_python(ir::Number::of({ir::lanes(element) == 1 ? ir::value_type(element) : ir::kU32, bits, 0}));
  }
  static py::tuple id(const Id& id) { return py::make_tuple(id[0], id[1], id[2]); }

  // Describes where a statement is. Returns None for an invalid id, which stands for the end of the program.
  py::object place(NodeId statement) const {
    if (!statement.valid()) return py::none();
    return py::cast(ir::described(paths_.at(statement), program_.place(statement)));
  }

  py::tuple witness(BufferId buffer, const Witness& witness) const {
    Id invocation{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      invocation[axis] = witness.workgroup[axis] * program_.workgroup_size()[axis] + witness.local[axis];
    }
    const std::string_view access = witness.access == run::AccessKind::Read    ? "read"
                                    : witness.access == run::AccessKind::Write ? "write"
                                                                               : ir::info(witness.op).text;
    return py::make_tuple(id(invocation), id(witness.workgroup), id(witness.local), lenient_str(access), value(buffer, witness.value),
                          place(witness.statement), lenient_str(transform::statement_text(program_, witness.statement)));
  }

  const ir::Program& program_;
  std::map<NodeId, std::string> paths_;
};

}  // namespace

std::size_t to_max_reports(py::handle object, const std::string& where) {
  const std::uint64_t count = to_unsigned(object, kMostReports, where);
  if (count == 0) throw ArgumentError(fmt::format("{} must be at least 1, got 0. Fix: write max_reports=100.", where));
  return count;
}

py::list described(const ir::Program& program, const std::vector<Finding>& findings) {
  const Describe describe(program, findings);
  py::list found;
  for (const Finding& finding : findings) found.append(describe(finding));
  return found;
}

py::tuple names_of(const run::CheckOptions& checks) {
  py::list names;
  for (const CheckRow& row : kChecks) {
    if (checks.*row.member) names.append(row.name);
  }
  return names;
}

py::tuple check_rows() {
  py::list rows;
  for (const CheckRow& row : kChecks) rows.append(py::make_tuple(row.name, row.meaning, row.usual));
  return rows;
}

}  // namespace vyre::python
