// The optimiser for those who look at it: its rules as rows, and programs as it leaves them. Users meet it through vyre.run and
// vyre.lower.
#include <pybind11/stl.h>

#include <algorithm>

#include "bindings.hpp"
#include "convert.hpp"
#include "program.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/registry.hpp"
#include "vyre/transform/passes.hpp"
#include "vyre/transform/rewrites.hpp"
#include "vyre/transform/trace.hpp"
#include "vyre/validate/report.hpp"

namespace vyre::python {
namespace {

std::vector<transform::Pass> to_passes(py::handle names) {
  std::vector<transform::Pass> result;
  for (const py::object& item : to_list(names, "argument `passes`", "a list of names of passes", "write [\"simplify\"]")) {
    const std::string name = to_text(item, "an element of argument `passes`");
    const auto rows = transform::passes();
    const auto found = std::ranges::find(rows, name, &transform::PassInfo::name);
    if (found == rows.end()) reject("argument `passes`", "names of passes", item, "write one of passes.def");
    result.push_back(found->run);
  }
  return result;
}

// (program, points, names of the buffers): see vyre._bisect, the only caller.
py::tuple trace(const PyProgram& program, bool stores_only, py::handle detail,
                const std::vector<std::pair<std::uint32_t, std::uint32_t>>& excluded) {
  const validate::ValidProgram value = valid(program);
  transform::TraceOptions options;
  if (stores_only) options.density = transform::TraceDensity::Stores;
  if (!detail.is_none()) options.detail = NodeId{detail.cast<std::uint32_t>()};
  for (const auto& [statement, expr] : excluded) options.excluded.emplace_back(NodeId{statement}, ExprId{expr});
  const ir::OpTable ops = run::registered_ops();
  transform::Traced traced = [&] {
    py::gil_scoped_release release;
    return transform::trace(value, ops, options);
  }();
  PyProgram result(traced.program.program());
  remember(result, traced.program);
  py::list points;
  for (const transform::TracePoint& point : traced.points) {
    const py::object expr = point.expr.valid() ? py::object(py::int_(point.expr.index)) : py::object(py::none());
    points.append(py::make_tuple(point.statement.index, expr, point.type, point.lane));
  }
  return py::make_tuple(std::move(result), points, traced.limits, traced.record);
}

}  // namespace

void bind_transform(py::module_& m) {
  py::dict tables = m.attr("_tables");
  py::list rows;
  for (const transform::RewriteRow& row : transform::kRewriteRows) {
    rows.append(py::make_tuple(row.name, row.pattern, row.result, row.when));
  }
  tables["rewrites"] = py::tuple(rows);
  rows = py::list();
  for (const transform::LawRow& row : transform::kLawRows) rows.append(py::make_tuple(row.name, row.pattern, row.result));
  tables["laws"] = py::tuple(rows);
  rows = py::list();
  for (const transform::LawRow& law : transform::kLawRows) {
    for (const ir::BinOpInfo& op : ir::kBinOps) {
      if (op.laws & law.law) rows.append(py::make_tuple(law.name, op.name));
    }
    for (const ir::UnOpInfo& op : ir::kUnOps) {
      if (op.laws & law.law) rows.append(py::make_tuple(law.name, op.name));
    }
  }
  tables["operator_laws"] = py::tuple(rows);

  // Calls are expanded first; without names, the whole optimiser runs.
  m.def(
      "_optimize",
      [](py::handle program, py::handle passes) {
        const validate::ValidProgram value = valid(to_program(program, "argument `program`"));
        const std::vector<transform::Pass> chosen = passes.is_none() ? std::vector<transform::Pass>{} : to_passes(passes);
        const bool all = passes.is_none();
        py::gil_scoped_release release;
        if (all) return PyProgram(transform::optimize(value).program());
        validate::ValidProgram result = transform::inline_calls(value);
        for (const transform::Pass pass : chosen) result = pass(result);
        return PyProgram(result.program());
      },
      py::arg("program"), py::arg("passes") = py::none());

  m.def("_trace", &trace, py::arg("program"), py::arg("stores_only"), py::arg("detail"), py::arg("excluded"));
  m.def(
      "_statement_at",
      [](const PyProgram& program, std::uint32_t statement, py::handle expr) {
        const validate::ValidProgram value = valid(program);
        const ExprId within = expr.is_none() ? ExprId{} : ExprId{expr.cast<std::uint32_t>()};
        return py::make_tuple(lenient_str(transform::statement_text(value.program(), NodeId{statement})),
                              within.valid() ? lenient_str(transform::expression_text(value.program(), within)) : py::str(),
                              validate::locate(value, NodeId{statement}, within));
      },
      py::arg("program"), py::arg("statement"), py::arg("expr"));
}

}  // namespace vyre::python
