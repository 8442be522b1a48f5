#include "bindings/calls/call.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "bindings/convert/convert.hpp"
#include "bindings/resident.hpp"
#include "bindings/without_gil.hpp"
#include "vyre/base/deadline.hpp"
#include "vyre/base/error.hpp"

namespace vyre::python {
run::Grid to_grid(py::handle object, const std::string& function, const char* argument) {
  const std::string where = fmt::format("argument `{}` of {}", argument, function);
  if (is<PyArray>(object)) {
    reject(where, "counts by value", object.cast<const PyArray&>().describe());
  }
  if (is_integer(object)) return {to_u32(object, where), 1, 1};
  const char* const wanted = "an integer or a tuple of one to three integers";
  if (object.is_none()) {
    throw ArgumentError(
        fmt::format("{} needs argument `{}`: counts along x, y, z. Fix: write {}=-(-n // size), which "
                    "covers n elements with workgroups of `size` invocations.",
                    function, argument, argument));
  }
  if (PyFloat_Check(object.ptr())) reject(where, wanted, object);
  const std::vector<py::object> items = to_list(object, where, wanted);
  if (items.empty() || items.size() > 3) {
    reject(where, wanted, fmt::format("{} of them", items.size()));
  }
  std::uint32_t counts[3] = {1, 1, 1};
  for (std::size_t axis = 0; axis < items.size(); ++axis) counts[axis] = to_u32(items[axis], fmt::format("element {} of {}", axis, where));
  return {counts[0], counts[1], counts[2]};
}

std::optional<std::chrono::duration<double>> to_timeout(py::handle object, const std::string& function) {
  if (object.is_none()) return std::nullopt;
  const std::string where = "argument `timeout` of " + function;
  if (is_boolean(object) || (!PyFloat_Check(object.ptr()) && !is_integer(object))) reject(where, "seconds above 0, or None", object);
  const double seconds = PyFloat_AsDouble(object.ptr());
  if (PyErr_Occurred() != nullptr) PyErr_Clear();
  if (!(seconds > 0) || !std::isfinite(seconds)) reject(where, "seconds above 0, or None", object);
  return std::chrono::duration<double>(seconds);
}

Signals::Signals() {
  const py::object main = py::module_::import("threading").attr("main_thread")();
  main_thread_ = main.attr("ident").cast<unsigned long>() == PyThread_get_thread_ident();
}

bool Signals::pending() {
  // When the interpreter exits, only calls of other threads stop. The main thread runs the exit itself, and its calls in atexit handlers
  // and in __del__ may run to their end.
  if (!main_thread_) return leaving();
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return false;
  next_ = now + kPollInterval;
  py::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() == 0) return false;
  raised_.emplace();
  return true;
}

}  // namespace vyre::python
