// Programs made ready for a backend and a device, remembered for those used last.
#pragma once

#include <memory>
#include <optional>

#include "bindings.hpp"
#include "vyre/run/backend.hpp"
#include "vyre/validate/validate.hpp"

namespace vyre::python {

// Arguments `backend` and `device` of `function`, which messages name. None is the best backend, or the backend's own choice.
run::Backend* to_backend(py::handle object, const std::string& function);
std::optional<std::size_t> to_device(py::handle object, const std::string& function);

// Those that work here, best first, each once. Without the GIL.
std::vector<run::Backend*> available_backends();

// Which device of `backend` it chooses when nobody names one; found once. Without the GIL.
std::size_t default_device(run::Backend& backend);

// Which of the remembered ones, and the way to forget it when its device failed.
struct PreparedKey {
  ir::Program program;
  std::uint64_t hash;  // with the operations that the program reaches
  run::Backend* backend;
  std::optional<std::size_t> device;
  run::PrepareOptions lowering;
  bool operator==(const PreparedKey& other) const {
    return hash == other.hash && backend == other.backend && device == other.device && lowering == other.lowering &&
           program == other.program;
  }
};

// Without the GIL.
std::shared_ptr<run::Executable> prepared(const validate::ValidProgram& program, const PreparedKey& key);
void forget_prepared(const PreparedKey& key);
void forget_all_prepared();

}  // namespace vyre::python
