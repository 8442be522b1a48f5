// Binds vyre.run, the list of backends and the list of devices.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <filesystem>

#include "bindings/bindings.hpp"
#include "bindings/calls/call.hpp"
#include "bindings/calls/prepared.hpp"
#include "bindings/convert/arrays.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/graph.hpp"
#include "bindings/program.hpp"
#include "bindings/waiting.hpp"
#include "bindings/without_gil.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/checks/checks.hpp"
#include "vyre/run/files/driver_files.hpp"
#include "vyre/run/gpu/kept_file.hpp"
#include "vyre/run/loops.hpp"
#include "vyre/run/profile.hpp"
#include "vyre/run/registry.hpp"

namespace vyre::python {
namespace {

using run::Backend;
using run::DeviceInfo;

void leave() {
  end_calls();
  run::abandon_profiles();
  forget_all_prepared();  // a prepared program may keep a device open
}

// What later processes can reuse of what Python recorded. The file begins with its key.
run::KeptFile kept_file(const py::bytes& state, const std::string& key) {
  return run::KeptFile::recording(run::KeptFile::hash_of(std::string(state) + key));
}

py::object read_kept(const py::bytes& state, const py::bytes& key) {
  const std::string wanted = key;
  const std::vector<std::byte> found = kept_file(state, wanted).read();
  const std::string_view text(reinterpret_cast<const char*>(found.data()), found.size());
  if (!text.starts_with(wanted)) return py::none();
  return py::bytes(text.data() + wanted.size(), text.size() - wanted.size());
}

void keep(const py::bytes& state, const py::bytes& key, const py::bytes& value) {
  const std::string wanted = key, text = wanted + std::string(value);
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  kept_file(state, wanted).write({data, data + text.size()});
}

py::dict run_program(py::handle program_object, py::handle inputs, py::handle workgroups, py::handle backend_name, py::handle device_index,
                     py::handle timeout, py::handle schedule, py::handle optimize, const std::string& function) {
  Graph::refuse(function.c_str());
  run::Span span("run");
  const PyProgram& program = to_program(program_object, "argument `program` of " + function);
  const run::Grid grid = to_grid(workgroups, function);
  run::RunOptions options;
  options.timeout = to_timeout(timeout, function);
  options.schedule = to_schedule(schedule, "argument `schedule` of " + function);
  const PlaceToRun place = to_place(backend_name, device_index, function);
  const std::optional<run::Optimize> wanted = to_optimize(optimize, "argument `optimize` of " + function);
  validate::ValidProgram checked = valid(program);
  if (span) {
    span.work().program = std::make_shared<validate::ValidProgram>(checked);
    span.work().grid = grid;
  }
  const Arrays arrays(checked, inputs, function);
  run::check_call(checked, arrays.views(), grid);

  // The program may write to its arrays directly: they are new arrays, which the user never sees if the call fails.
  options.in_place = true;
  while_waiting(std::move(options), [&](const run::RunOptions& waiting) {
    checked = run::with_passes(checked, *place.backend, wanted);
    const PreparedKey key{checked.program(), checked.hash(), place.backend, place.device, wanted.value_or(run::Optimize())};
    try {
      run::naming_loops(program.program, [&] { prepared(checked, key, waiting)->run(arrays.views(), grid, waiting); });
    } catch (const DispatchTimeoutError&) {
      throw;  // the device still works, and the next call, perhaps with more time, can use the prepared program
    } catch (const DeviceError&) {
      forget_prepared(key);  // the prepared program may belong to a lost device
      throw;
    }
  });
  return arrays.results();
}

py::dict describe(const DeviceInfo& device, std::size_t index, std::string_view backend) {
  py::dict limits, probes;
  for (const auto& [name, value] : device.limits) limits[lenient_str(name)] = value;
  for (const auto& [name, value] : device.probes) probes[lenient_str(name)] = lenient_str(value);
  py::dict result;
  result["index"] = index;
  result["backend"] = lenient_str(backend);
  result["name"] = lenient_str(device.name);
  result["driver"] = lenient_str(device.driver);
  result["kind"] = lenient_str(device.kind);
  result["usable"] = device.usable;
  result["default"] = device.is_default;
  result["default_for"] = lenient_str(device.default_for);
  result["reasons"] = py::tuple(lenient_list(device.reasons));
  result["limits"] = limits;
  result["probes"] = probes;
  return result;
}

// Returns the devices of the backend `wanted`, which may also be cpu or reference. Without a name, returns the devices that a call without
// a backend can choose from.
py::list list_devices(const std::optional<std::string>& wanted) {
  std::vector<ListedDevice> listed;
  {
    const WithoutGil unlocked;
    Backend* const backend = wanted ? run::find_backend(*wanted) : nullptr;
    if (backend != nullptr) {
      std::vector<DeviceInfo> devices = backend->devices();
      for (DeviceInfo& info : devices) listed.push_back({backend, listed.size(), std::move(info)});
    } else if (!wanted) {
      listed = listed_devices();
    }
  }
  py::list result;
  for (const ListedDevice& each : listed) result.append(describe(each.info, each.index, each.backend->name()));
  return result;
}

// Converts a path as os.fsdecode does, so that a path with any bytes has a text.
py::object path_text(const std::filesystem::path& path) {
  const std::string bytes = path.string();
  return py::reinterpret_steal<py::object>(PyUnicode_DecodeFSDefaultAndSize(bytes.data(), static_cast<py::ssize_t>(bytes.size())));
}

}  // namespace

void bind_run(py::module_& m) {
  m.def("_run", run_program, py::arg("program"), py::arg("inputs"), py::arg("workgroups"), py::arg("backend"), py::arg("device"),
        py::arg("timeout"), py::arg("schedule") = py::none(), py::arg("optimize") = py::none(), py::arg("function") = "vyre.run");
  m.def(
      "_grid",
      [](py::handle workgroups, const std::string& function, const std::string& argument) {
        const run::Grid grid = to_grid(workgroups, function, argument.c_str());
        return py::make_tuple(grid.x, grid.y, grid.z);
      },
      py::arg("workgroups"), py::arg("function"), py::arg("argument") = "workgroups");
  m.def("_inputs", to_inputs, py::arg("inputs"), py::arg("function"));
  m.def("_available", [] {
    const auto found = without_gil([] { return run::available_backends(run::backends(), run::default_backend()); });
    return lenient_list(found, &Backend::name);
  });
  m.def("_unavailable", [] {
    std::vector<std::pair<Backend*, std::vector<std::string>>> found;
    {
      const WithoutGil unlocked;
      for (Backend* backend : run::backends()) {
        found.emplace_back(backend, run::reasons_unavailable(*backend, run::default_backend()));
      }
    }
    py::dict result;
    for (const auto& [backend, reasons] : found) {
      if (reasons.empty()) continue;
      result[lenient_str(backend->name())] = lenient_list(reasons);
    }
    return result;
  });
  // For `vyre doctor`.
  m.def("_default_backend", [] {
    const run::DefaultBackend& chosen = *without_gil([] { return &run::default_backend(); });
    return py::make_tuple(lenient_str(chosen.backend->name()), lenient_str(chosen.why));
  });
  m.def("_driver_places", [] {
    const run::DriverPlaces found = run::driver_places();
    py::list places;
    for (const std::filesystem::path& place : found.places) places.append(path_text(place));
    return py::make_tuple(places, lenient_str(found.only), found.added);
  });
  m.def(
      "_driver_library",
      [](const py::bytes& manifest) -> py::object {
        const std::optional<std::string> library = run::driver_library(std::string(manifest));
        return library ? py::object(lenient_str(*library)) : py::none();
      },
      py::arg("manifest"));
  m.def("_pipelines_folder", []() -> py::object {
    const auto directory = run::default_cache_directory();
    return directory ? path_text(run::pipelines_below(*directory)) : py::none();
  });
  m.def("_kept", read_kept, py::arg("state"), py::arg("key"));
  m.def("_keep", keep, py::arg("state"), py::arg("key"), py::arg("value"));
  m.def("_devices", list_devices, py::arg("backend") = py::none());
  m.def(
      "_try_devices",
      [](const std::optional<std::string>& name) {
        const WithoutGil unlocked;
        for (Backend* backend : run::backends()) {
          if (!name || backend->name() == *name) backend->try_devices();
        }
      },
      py::arg("backend"));
  py::module_::import("atexit").attr("register")(py::cpp_function(leave));
  forget_calls_when_forked();
  // Creates the backends and the table of operations now. If a thread created them later during a fork, the child would wait for that
  // thread for ever.
  std::vector<Backend*> hosts;
  std::ranges::copy_if(run::backends(), std::back_inserter(hosts), &Backend::is_host);
  m.attr("_tables")["backends"] = py::tuple(lenient_list(run::backends(), &Backend::name));
  m.attr("_hosts") = py::tuple(lenient_list(hosts, &Backend::name));
  run::op_snapshot();
}

}  // namespace vyre::python
