#include "bindings/calls/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

#include "bindings/convert/convert.hpp"
#include "bindings/resident.hpp"
#include "bindings/without_gil.hpp"
#include "vyre/base/deadline.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/nearest.hpp"

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

run::Schedule to_schedule(py::handle object, const std::string& where) {
  using Order = run::Schedule::Order;
  if (object.is_none()) return {};
  const std::string name = to_text(object, where);
  if (name == "in-order") return {};
  if (name == "reversed") return {.order = Order::Reversed};
  if (name == "random") return {.order = Order::Random};
  constexpr std::string_view kRandom = "random:";
  if (name.starts_with(kRandom)) {
    run::Schedule schedule{.order = Order::Random};
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + kRandom.size(), end, schedule.seed);
    if (error == std::errc() && stop == end) return schedule;
  }
  reject(where, "\"in-order\", \"reversed\" or \"random:<seed>\" with a seed below 2^64", object);
}

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
