// Prepares programs for a backend and a device, and keeps the most recently used executables in a cache.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "vyre/run/backend.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::python {

// Converts the argument `backend`; messages name `function`. Python's None stands for the best backend.
run::Backend* to_backend(py::handle object, const std::string& function);
// The backend of a name. Messages call its place `where`.
run::Backend* named_backend(py::handle name, const std::string& where);

// Converts the arguments `backend` and `device`. A vyre.Device names both; an integer is an index into the backend's devices, or into
// vyre.devices() where no backend is named; without a device the backend chooses.
struct PlaceToRun {
  run::Backend* backend = nullptr;
  std::optional<std::size_t> device;
};
PlaceToRun to_place(py::handle backend, py::handle device, const std::string& function);

// The devices that vyre.devices() lists, each with its index at its backend. Must be called without the GIL.
struct ListedDevice {
  run::Backend* backend;
  std::size_t index;
  run::DeviceInfo info;
};
std::vector<ListedDevice> listed_devices();

// Identifies an executable in the cache. It is also the argument of forget_prepared(), after a device has failed.
struct PreparedKey {
  ir::Program program;
  std::uint64_t hash;  // of the program and of the operations that it reaches
  run::Backend* backend;
  std::optional<std::size_t> device;
  run::Optimize optimize;
  bool operator==(const PreparedKey& other) const {
    return hash == other.hash && backend == other.backend && device == other.device && optimize == other.optimize &&
           program == other.program;
  }
};

// Returns the remembered executable of the key, or prepares one and remembers it. `waiting` is as for Backend::prepare. Must be called
// without the GIL.
std::shared_ptr<run::Executable> prepared(const validate::ValidProgram& program, const PreparedKey& key, const run::RunOptions& waiting);
// The following two functions may be called with or without the GIL.
void forget_prepared(const PreparedKey& key);
void forget_all_prepared();

}  // namespace vyre::python
