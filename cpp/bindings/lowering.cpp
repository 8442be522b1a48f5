#include "lowering.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convert.hpp"
#include "vyre/base/nearest.hpp"

namespace vyre::python {
namespace {

bool is_name(py::handle object, std::string_view name) {
  return PyUnicode_Check(object.ptr()) && PyUnicode_CompareWithASCIIString(object.ptr(), std::string(name).c_str()) == 0;
}

}  // namespace

std::optional<lower::Options> to_lowering(py::handle object, const std::string& where) {
  if (object.is_none()) return std::nullopt;
  if (is_boolean(object)) return PyObject_IsTrue(object.ptr()) == 1 ? lower::Options() : lower::all_off();
  std::string names;
  for (const lower::SpeedupInfo& row : lower::kSpeedups) names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", row.name);
  names += ", \"addresses\"";
  const std::string wanted = "True, False or a list of names among " + names, fix = "write True, False, or such a list";
  if (!py::isinstance<py::list>(object) && !py::isinstance<py::tuple>(object) && !py::isinstance<py::anyset>(object)) {
    reject(where, wanted, object, fix);
  }
  lower::Options options = lower::all_off();
  options.everywhere = true;
  for (const py::handle item : object) {
    if (is_name(item, "addresses")) {
      options.addresses = true;
      continue;
    }
    const auto row = std::ranges::find_if(lower::kSpeedups, [&](const lower::SpeedupInfo& it) { return is_name(item, it.name); });
    if (row == lower::kSpeedups.end()) {
      std::vector<std::string_view> known{"addresses"};
      for (const lower::SpeedupInfo& each : lower::kSpeedups) known.push_back(each.name);
      reject("an element of " + where, "one of " + names, item, "write one of these" + did_you_mean(lenient_text(item), known));
    }
    options.*row->chosen = true;
  }
  return options;
}

}  // namespace vyre::python
