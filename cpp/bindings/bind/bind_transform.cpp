// Gives tests and tools access to the optimiser: the rows of its rule tables, and the programs that it makes. Users reach it through
// vyre.run and vyre.lower.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "bindings/bindings.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/program.hpp"
#include "bindings/without_gil.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/run/registry.hpp"
#include "vyre/transform/passes.hpp"
#include "vyre/transform/rewrites.hpp"
#include "vyre/transform/trace.hpp"
#include "vyre/validate/report.hpp"

namespace vyre::python {
namespace {

std::vector<transform::Pass> to_passes(py::handle names) {
  std::vector<transform::Pass> result;
  for (const py::object& item : to_list(names, "argument `passes`", "a list of names of passes")) {
    const std::string name = to_text(item, "an element of argument `passes`");
    const auto rows = transform::passes();
    const auto found = std::ranges::find(rows, name, &transform::PassInfo::name);
    if (found == rows.end()) reject("argument `passes`", "names of passes", item);
    result.push_back(found->run);
  }
  return result;
}

// Converts the index of a statement or an expression of a program that has `count` of them.
std::uint32_t to_number_below(py::handle object, std::size_t count, const char* what) {
  const std::uint32_t index = to_u32(object, what);
  if (index < count) return index;
  reject(what, fmt::format("a number below {}, as many as the program has", count), object);
}

// Returns (program, points, name of the buffer of limits, name of the buffer of records).
py::tuple trace(const PyProgram& program, py::handle density, py::handle detail,
                const std::vector<std::tuple<std::uint32_t, std::optional<std::uint32_t>, bool>>& excluded) {
  constexpr auto kMostDensity = static_cast<std::uint64_t>(transform::TraceDensity::Branches);
  const validate::ValidProgram value = valid(program);
  transform::TraceOptions options;
  options.density = static_cast<transform::TraceDensity>(to_unsigned(density, kMostDensity, "argument `density`"));
  if (!detail.is_none()) options.detail = NodeId{to_number_below(detail, value.program().nodes().size(), "argument `detail`")};
  // These indices are only compared with others, so an index beyond the program excludes nothing and needs no check.
  for (const auto& [statement, expr, effect] : excluded) {
    options.excluded.push_back({NodeId{statement}, expr ? ExprId{*expr} : ExprId{}, effect});
  }
  const ir::OpTable ops = run::registered_ops();
  const transform::Traced traced = without_gil([&] { return transform::trace(value, ops, options); });
  PyProgram result(traced.program.program());
  remember(result, traced.program);
  py::list points;
  for (const transform::TracePoint& point : traced.points) {
    const py::object expr = point.expr.valid() ? py::object(py::int_(point.expr.index)) : py::object(py::none());
    points.append(py::make_tuple(point.statement.index, expr, point.effect, point.type, point.lane));
  }
  return py::make_tuple(std::move(result), points, traced.limits, traced.record);
}

// Returns the texts of a statement and of a value, and the place. The value is the expression `expr` or, with `effect`, the element that
// the store or the atomic `expr` changes.
py::tuple statement_at(const PyProgram& program, py::handle statement, py::handle expr, bool effect) {
  const validate::ValidProgram value = valid(program);
  const NodeId at{to_number_below(statement, value.program().nodes().size(), "argument `statement`")};
  const ExprId within = expr.is_none() ? ExprId{} : ExprId{to_number_below(expr, value.program().exprs().size(), "argument `expr`")};
  std::string text;
  if (effect) {
    const bool changes = within.valid() ? std::holds_alternative<ir::Atomic>(value.program().expr(within))
                                        : std::holds_alternative<ir::Store>(value.program().node(at));
    if (!changes) throw ArgumentError("argument `effect` is for stores and atomics, and this is neither. Fix: pass effect=False.");
    text = transform::element_text(value.program(), at, within);
  } else if (within.valid()) {
    text = transform::expression_text(value.program(), within);
  }
  return py::make_tuple(lenient_str(transform::statement_text(value.program(), at)), lenient_str(text),
                        validate::locate(value, at, within));
}

}  // namespace

void bind_transform(py::module_& m) {
  py::dict tables = m.attr("_tables");
  tables["rewrites"] = rows_of(transform::kRewriteRows, [](const transform::RewriteRow& row) {
    return py::make_tuple(row.name, row.pattern, row.result, row.when);
  });
  tables["laws"] =
      rows_of(transform::kLawRows, [](const transform::LawRow& row) { return py::make_tuple(row.name, row.pattern, row.result); });
  py::list rows;
  for (const transform::LawRow& law : transform::kLawRows) {
    for (const ir::OpInfo* op : ir::kOps) {
      if (op->laws & law.law) rows.append(py::make_tuple(law.name, op->name));
    }
  }
  tables["operator_laws"] = py::tuple(rows);

  // The constants of trace.hpp that the search in Python needs to read the record of a trace.
  using transform::TraceDensity;
  py::dict trace_numbers;
  const std::pair<const char*, TraceDensity> densities[] = {{"statements", TraceDensity::Statements},
                                                            {"stores", TraceDensity::Stores},
                                                            {"effects", TraceDensity::Effects},
                                                            {"branches", TraceDensity::Branches}};
  for (const auto& [name, density] : densities) trace_numbers[name] = static_cast<std::uint32_t>(density);
  const std::pair<const char*, std::uint32_t> words[] = {
      {"record_hash", transform::kRecordHash},       {"record_steps", transform::kRecordSteps}, {"record_point", transform::kRecordPoint},
      {"record_written", transform::kRecordWritten}, {"record_words", transform::kRecordWords}, {"spread", transform::kTraceSpread}};
  for (const auto& [name, word] : words) trace_numbers[name] = word;
  m.attr("_trace_numbers") = trace_numbers;

  // Expands calls and runs the named passes. Without names, runs the whole optimiser.
  m.def(
      "_optimize",
      [](py::handle program, py::handle passes) {
        const validate::ValidProgram value = valid(to_program(program, "argument `program`"));
        const std::vector<transform::Pass> chosen = passes.is_none() ? std::vector<transform::Pass>{} : to_passes(passes);
        const bool all = passes.is_none();
        const WithoutGil unlocked;
        if (all) return PyProgram(transform::optimize(value).program());
        validate::ValidProgram result = transform::inline_calls(value);
        for (const transform::Pass pass : chosen) result = pass(result);
        return PyProgram(result.program());
      },
      py::arg("program"), py::arg("passes") = py::none());

  m.def("_trace", &trace, py::arg("program"), py::arg("density"), py::arg("detail"), py::arg("excluded"));
  m.def(
      "_limits",
      [](std::uint32_t phases, std::uint32_t steps, std::uint32_t groups_x, std::uint32_t groups_y, std::uint32_t invocations) {
        std::array<std::uint32_t, transform::kLimitWords> words{};
        words[transform::kLimitPhases] = phases;
        words[transform::kLimitSteps] = steps;
        words[transform::kLimitGroupsX] = groups_x;
        words[transform::kLimitGroupsY] = groups_y;
        words[transform::kLimitInvocations] = invocations;
        return words;
      },
      py::arg("phases"), py::arg("steps"), py::arg("groups_x"), py::arg("groups_y"), py::arg("invocations"));
  m.def(
      "_has_atomics",
      [](py::handle program) {
        const std::string where = "argument `program`";
        const auto& exprs = to_program(program, where).program.exprs();
        return std::any_of(exprs.begin(), exprs.end(), [](const ir::Expr& expr) { return std::holds_alternative<ir::Atomic>(expr); });
      },
      py::arg("program"));
  m.def("_statement_at", &statement_at, py::arg("program"), py::arg("statement"), py::arg("expr"), py::arg("effect"));
}

}  // namespace vyre::python
