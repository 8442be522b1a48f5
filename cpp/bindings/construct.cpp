#include "construct.hpp"

#include <algorithm>

namespace vyre::python {

std::vector<py::object> bind_arguments(const Signature& signature, const py::args& args, const py::kwargs& kwargs) {
  if (args.size() > signature.positional) {
    throw py::type_error(fmt::format("{}() takes at most {} positional arguments, got {}. Fix: pass the others by name.",
                                     signature.function, signature.positional, args.size()));
  }
  std::vector<py::object> result(signature.names.size());
  for (std::size_t k = 0; k < args.size(); ++k) result[k] = args[k];
  for (auto [key, value] : kwargs) {
    const std::string name = py::repr(key).cast<std::string>();
    const auto found = std::find_if(signature.names.begin(), signature.names.end(),
                                    [key = key](const char* known) { return PyUnicode_CompareWithASCIIString(key.ptr(), known) == 0; });
    if (found == signature.names.end()) {
      std::string known;
      for (const char* each : signature.names) known += fmt::format("{}`{}`", known.empty() ? "" : ", ", each);
      throw py::type_error(fmt::format("{}() has no argument {}. Fix: use one of {}.", signature.function, name, known));
    }
    py::object& slot = result[static_cast<std::size_t>(found - signature.names.begin())];
    if (slot) throw py::type_error(fmt::format("{}() got argument {} twice. Fix: pass it once.", signature.function, name));
    slot = py::reinterpret_borrow<py::object>(value);
  }
  for (std::size_t k = 0; k < signature.required; ++k) {
    if (!result[k]) throw py::type_error(fmt::format("{}() misses argument `{}`. Fix: pass it.", signature.function, signature.names[k]));
  }
  return result;
}

}  // namespace vyre::python
