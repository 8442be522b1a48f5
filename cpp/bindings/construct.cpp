#include "bindings/construct.hpp"

#include <algorithm>

namespace vyre::python {
namespace {

// Takes the first of some parameters, "name", "count=0" or "*", from their list.
std::string_view next_parameter(std::string_view& list) {
  const std::string_view first = list.substr(0, list.find(", "));
  list.remove_prefix(std::min(list.size(), first.size() + 2));
  return first;
}

}  // namespace

std::vector<py::object> bind_arguments(const Signature& signature, const py::args& args, const py::kwargs& kwargs) {
  std::vector<py::object> result(signature.names.size());
  bool fits = args.size() <= signature.positional;
  for (std::size_t k = 0; fits && k < args.size(); ++k) result[k] = args[k];
  for (auto [key, value] : kwargs) {
    const auto found = std::find_if(signature.names.begin(), signature.names.end(),
                                    [key = key](const char* known) { return PyUnicode_CompareWithASCIIString(key.ptr(), known) == 0; });
    fits = fits && found != signature.names.end() && !result[static_cast<std::size_t>(found - signature.names.begin())];
    if (fits) result[static_cast<std::size_t>(found - signature.names.begin())] = py::reinterpret_borrow<py::object>(value);
  }
  for (std::size_t k = 0; k < signature.required; ++k) fits = fits && result[k];
  if (fits) return result;
  std::string call = fmt::format("{}(", signature.function);
  for (std::size_t k = 0; k < signature.names.size(); ++k) {
    call += fmt::format("{}{}{}{}", k == 0 ? "" : ", ", k == signature.positional ? "*, " : "", signature.names[k],
                        k < signature.required ? "" : "=...");
  }
  refuse_call(call + ")", args, kwargs);
}

std::string as_arguments(std::string_view parameters) {
  std::string arguments;
  bool by_place = true;
  while (!parameters.empty()) {
    const std::string_view each = next_parameter(parameters);
    if (each == "*") {
      by_place = false;
      continue;
    }
    arguments += fmt::format("{}{}", arguments.empty() ? "" : ", ", each);
    if (!by_place && each.find('=') == each.npos) arguments += fmt::format("={}", each);
  }
  return arguments;
}

void refuse_call(const std::string& call, const py::args& args, const py::kwargs& kwargs) {
  const std::string function = call.substr(0, call.find('('));
  // "name, binding, element, *, count=0": a parameter with a default may be left out; those after the star are passed by name.
  struct Parameter {
    std::string name;
    bool needed, by_place;
  };
  std::vector<Parameter> parameters;
  bool by_place = true;
  std::string_view list = std::string_view(call).substr(function.size() + 1);
  list.remove_suffix(1);
  const auto wrong = [&, arguments = as_arguments(list)](const std::string& problem) {
    return CallError(fmt::format("{}() {}. Fix: write {}({}).", function, problem, function, arguments));
  };
  while (!list.empty()) {
    const std::string_view each = next_parameter(list);
    if (each == "*") {
      by_place = false;
    } else {
      parameters.push_back({std::string(each.substr(0, each.find('='))), each.find('=') == each.npos, by_place});
    }
  }
  const auto places =
      static_cast<std::size_t>(std::count_if(parameters.begin(), parameters.end(), [](const Parameter& p) { return p.by_place; }));
  if (args.size() > places) {
    throw wrong(fmt::format("takes {} argument{} by place, got {}", places, places == 1 ? "" : "s", args.size()));
  }
  std::vector<bool> found(parameters.size());
  std::fill_n(found.begin(), args.size(), true);
  for (const auto& [key, value] : kwargs) {
    const auto known = std::find_if(parameters.begin(), parameters.end(), [key = key](const Parameter& parameter) {
      return PyUnicode_CompareWithASCIIString(key.ptr(), parameter.name.c_str()) == 0;
    });
    if (known == parameters.end()) {
      throw wrong(fmt::format("has no argument {}", py::repr(key).cast<std::string>()));
    }
    const auto slot = static_cast<std::size_t>(known - parameters.begin());
    if (found[slot]) throw wrong(fmt::format("got argument `{}` twice", known->name));
    found[slot] = true;
  }
  for (std::size_t slot = 0; slot < parameters.size(); ++slot) {
    if (!found[slot] && parameters[slot].needed) throw wrong(fmt::format("misses argument `{}`", parameters[slot].name));
  }
  throw wrong("does not take these arguments");
}

void explain_calls(py::handle scope, const std::string& owner) {
  for (const auto& [key, value] : py::dict(scope.attr("__dict__").attr("items")())) {
    const auto name = key.cast<std::string>();
    py::object function = scope.attr(name.c_str());
    if (PyInstanceMethod_Check(function.ptr())) {
      function = py::reinterpret_borrow<py::object>(PyInstanceMethod_GET_FUNCTION(function.ptr()));
    }
    if (name.starts_with("_") || PyCFunction_Check(function.ptr()) == 0) continue;
    const auto doc = py::str(function.attr("__doc__")).cast<std::string>();
    if (!doc.starts_with(name + "(")) continue;
    // Joins the function's chain of overloads at its end, so pybind11 calls it when no other overload fits.
    py::cpp_function([call = owner + "." + doc.substr(0, std::min(doc.find('\n'), doc.find(" -> ")))](
                         const py::args& args, const py::kwargs& kwargs) -> py::object { refuse_call(call, args, kwargs); },
                     py::name(name.c_str()), py::scope(scope), py::sibling(function));
  }
}

}  // namespace vyre::python
