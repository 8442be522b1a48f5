// Shares arrays on CUDA devices with other libraries of the process: gives out the address of a vyre.Array, makes a vyre.Array of another
// library's memory without a copy, and orders the work on that library's streams and on vyre's. vyre/_arrays/cuda.py implements the
// protocols.
#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <bit>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/kept.hpp"
#include "bindings/resident.hpp"
#include "bindings/waiting.hpp"
#include "vyre/base/error.hpp"
#include "vyre/run/backends.hpp"
#include "vyre/run/cuda/calls/storage.hpp"
#include "vyre/run/cuda/cuda_backend.hpp"

namespace vyre::python {
namespace {

using run::cuda::CudaStorage;

// Returns null for an array of another backend.
CudaStorage* storage_of(const PyArray& array) { return dynamic_cast<CudaStorage*>(array.storage.get()); }

// Converts a stream's number to a handle. The number is the handle itself, 1 for the legacy default stream, or 2 for the per-thread default
// stream.
CUstream stream_of(std::uint64_t number) { return std::bit_cast<CUstream>(number); }

py::object address(const PyArray& array) {
  CudaStorage* const storage = storage_of(array);
  if (storage == nullptr) return py::none();
  storage->check_usable();
  storage->share();
  return py::int_(storage->address() + array.offset);
}

PyArray adopt(std::uint64_t address, const std::vector<py::ssize_t>& shape, const py::dtype& dtype, std::optional<std::uint64_t> stream,
              py::object owner, const std::string& where) {
  give_back_kept();
  PyArray array;
  array.backend = run::find_backend("cuda");
  array.element = element_type(dtype.kind(), static_cast<std::size_t>(dtype.itemsize()));
  if (array.element == nullptr || array.element->bytes != array.element->resident) {
    throw ArgumentError(
        fmt::format("{} has elements of {}, which cannot be used on a device without a copy; those of {} can, except for bool. Fix: view "
                    "or convert it in its own library.",
                    where, py::str(dtype).cast<std::string>(), element_names()));
  }
  array.shape = shape;
  auto& backend = static_cast<run::cuda::CudaBackend&>(*array.backend);
  array.device = backend.device_of(address);
  auto storage = backend.adopt(array.device, {address, array.bytes(), kept(std::move(owner))});
  if (stream) storage->wait_for(stream_of(*stream));
  array.storage = std::move(storage);
  return array;
}

}  // namespace

void bind_cuda(py::module_& m) {
  m.def("_cuda_address", address, py::arg("array"));
  m.def("_cuda_adopt", adopt, py::arg("address"), py::arg("shape"), py::arg("dtype"), py::arg("stream"), py::arg("owner"),
        py::arg("where"));
  m.def(
      "_cuda_hand_over",
      [](const PyArray& array, std::uint64_t stream) {
        while_waiting({}, [&](const run::RunOptions&) { storage_of(array)->let_wait(stream_of(stream)); });
      },
      py::arg("array"), py::arg("stream"));
}

}  // namespace vyre::python
