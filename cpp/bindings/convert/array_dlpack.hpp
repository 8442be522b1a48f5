// Implements Array.__dlpack__ for consumers on the host, and Array.__dlpack_device__ for all.
#pragma once

#include "bindings/bindings.hpp"
#include "bindings/resident.hpp"

namespace vyre::python {

// Memory that the host can access is shared, after the calls that write it are done; other memory is copied.
py::object dlpack(const PyArray& self, const py::args& args, const py::kwargs& kwargs);
// Returns DLPack's kind and number of the device whose memory other libraries can share: the array's CUDA device, whose memory
// vyre/_arrays/cuda.py exports, and the host for all other arrays.
py::tuple dlpack_device(const PyArray& self);

}  // namespace vyre::python
