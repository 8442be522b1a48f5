#include "bindings/calls/optimize.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bindings/convert/convert.hpp"
#include "vyre/base/nearest.hpp"

namespace vyre::python {
namespace {

bool is_name(py::handle object, std::string_view name) {
  return PyUnicode_Check(object.ptr()) && PyUnicode_CompareWithASCIIString(object.ptr(), std::string(name).c_str()) == 0;
}

}  // namespace

std::optional<run::Optimize> to_optimize(py::handle object, const std::string& where) {
  if (object.is_none()) return std::nullopt;
  if (is_boolean(object)) return PyObject_IsTrue(object.ptr()) == 1 ? run::Optimize() : run::all_off();
  std::string names;
  for (const run::Speedup& row : run::kSpeedups) names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", row.name);
  names += ", \"addresses\"";
  const std::string wanted = "True, False or a list of names among " + names;
  if (!py::isinstance<py::list>(object) && !py::isinstance<py::tuple>(object) && !py::isinstance<py::anyset>(object)) {
    reject(where, wanted, object);
  }
  run::Optimize chosen = run::all_off();
  chosen.everywhere = true;
  for (const py::handle item : object) {
    if (is_name(item, "addresses")) {
      chosen.addresses = true;
      continue;
    }
    const auto row = std::ranges::find_if(run::kSpeedups, [&](const run::Speedup& it) { return is_name(item, it.name); });
    if (row == run::kSpeedups.end()) {
      std::vector<std::string_view> known{"addresses"};
      for (const run::Speedup& each : run::kSpeedups) known.push_back(each.name);
      reject_name("an element of " + where, names, item, did_you_mean(lenient_text(item), known));
    }
    chosen.*row->chosen = true;
  }
  return chosen;
}

}  // namespace vyre::python
