#include "bindings/calls/prepared.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bindings/calls/lru.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/without_gil.hpp"
#include "vyre/base/assert.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/profile.hpp"

namespace vyre::python {
namespace {

using run::Backend;

struct PreparedHash {
  std::size_t operator()(const PreparedKey& key) const {
    const std::size_t choice = (key.device ? *key.device + 1 : 0) * 2 + (key.optimize.passes ? 1 : 0);
    return key.hash ^ (reinterpret_cast<std::uintptr_t>(key.backend) + choice * 0x9E3779B97F4A7C15u);
  }
};

// Made when the module is loaded, and never destroyed: a forked child that waits for another thread to make it would wait for ever.
auto& remembered = *new Lru<PreparedKey, std::shared_ptr<run::Executable>, PreparedHash>(64);

// Returns the backend of calls that name none. Needs the GIL, and releases it for the first call alone, because choosing opens devices.
Backend* best_backend() {
  static Backend* best = nullptr;
  if (best == nullptr) best = without_gil([] { return run::default_backend().backend; });
  return best;
}

}  // namespace

Backend* to_backend(py::handle object, const std::string& function) {
  if (object.is_none()) return best_backend();
  return named_backend(object, "argument `backend` of " + function);
}

Backend* named_backend(py::handle name, const std::string& where) {
  if (PyUnicode_Check(name.ptr()) != 0) {
    if (Backend* const found = run::find_backend(lenient_text(name))) return found;
  }
  py::module_::import("vyre._devices").attr("check_backend")(name, where);  // which raises
  VYRE_ASSERT(false);
}

PlaceToRun to_place(py::handle backend, py::handle device, const std::string& function) {
  if (device.is_none()) return {to_backend(backend, function), std::nullopt};
  const std::string where = "argument `device` of " + function;
  if (is_integer(device)) {
    const std::uint32_t index = to_u32(device, where);
    if (!backend.is_none()) return {to_backend(backend, function), index};
    const std::vector<ListedDevice> listed = without_gil(listed_devices);
    if (index < listed.size()) return {listed[index].backend, listed[index].index};
    reject(where, fmt::format("an index into vyre.devices(), which lists {}", listed.size()), device);
  }
  if (!py::isinstance(device, py::module_::import("vyre._devices").attr("Device"))) {
    reject(where, "an index into vyre.devices(), or one of its elements", device);
  }
  const py::object name = device.attr("backend");
  if (!backend.is_none() && !backend.equal(name)) {
    reject(where, fmt::format("a device of backend {}", py::repr(backend).cast<std::string>()),
           fmt::format("one of {}", py::repr(name).cast<std::string>()));
  }
  return {to_backend(name, function), to_u32(device.attr("index"), where)};
}

std::vector<ListedDevice> listed_devices() {
  std::vector<ListedDevice> listed;
  for (Backend* backend : run::backends()) {
    if (backend->is_host()) continue;
    std::vector<run::DeviceInfo> devices = backend->devices();
    for (std::size_t index = 0; index < devices.size(); ++index) listed.push_back({backend, index, std::move(devices[index])});
  }
  return listed;
}

std::shared_ptr<run::Executable> prepared(const validate::ValidProgram& program, const PreparedKey& key, const run::RunOptions& waiting) {
  if (auto known = remembered.find(key)) return *known;
  run::Span span("prepare");
  if (span) span.work().program = std::make_shared<validate::ValidProgram>(program);
  std::shared_ptr<run::Executable> executable = key.backend->prepare(program, key.device, key.optimize, waiting);
  remembered.insert(key, executable);
  return executable;
}

void forget_prepared(const PreparedKey& key) { remembered.erase(key); }

void forget_all_prepared() { remembered.clear(); }

}  // namespace vyre::python
