// The Python class Array: elements that stay on a device.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "vyre/run/backend.hpp"
#include "vyre/run/storage.hpp"

namespace vyre::python {

// How an element of an array is represented in numpy and on a device.
struct ElementType {
  const char* numpy;       // the name of its numpy dtype
  char kind;               // the kind character of its numpy dtype
  std::uint32_t bytes;     // in numpy
  std::uint32_t resident;  // bytes on a device, where a bool takes a 4-byte word
  ir::DataType type;       // of one element: never a vector; U8 for a byte
};

// Null for a dtype that no buffer takes.
const ElementType* element_type(char kind, std::size_t bytes);
const ElementType& element_type(ir::DataType type);
// Returns null for a numpy dtype that no buffer takes, such as one of foreign byte order.
const ElementType* element_of(py::handle dtype);
// The dtypes that buffers take, for messages: "uint32, int32, ... or int16".
std::string element_names();
// The length of an array's last axis when its elements are vectors, else 0.
std::uint32_t vector_lanes(ir::DataType type);

// A view of part of a storage, C-contiguous.
struct PyArray {
  std::shared_ptr<run::Storage> storage;
  run::Backend* backend = nullptr;
  std::size_t device = 0;
  const ElementType* element = nullptr;
  std::vector<py::ssize_t> shape;
  std::uint64_t offset = 0;  // into the storage, in bytes

  std::uint64_t size() const;                                           // elements
  std::uint64_t bytes() const { return size() * element->resident; }    // on the device
  std::uint64_t host_bytes() const { return size() * element->bytes; }  // in numpy
  std::string describe() const;                                         // "a vyre.Array of uint32 with shape (3,)"
};

// Copies the elements to a new numpy array, after the calls that write them are done. See Array.numpy.
py::object to_numpy(const PyArray& array, std::optional<std::chrono::duration<double>> timeout);
// Copies the elements to a new object of bytes. See Array.tobytes.
py::bytes to_bytes_object(const PyArray& array, std::optional<std::chrono::duration<double>> timeout);

// Returns the part of an array that array[key] selects. Each integer removes an axis; a slice must be the last index.
PyArray part_of(const PyArray& self, py::handle key);
// Returns a view of the same elements with other axes. Array.reshape checks the arguments and calls it.
PyArray reshaped(const PyArray& self, const std::vector<py::ssize_t>& shape);
// Returns a view of the same bytes as elements of another type: a DataType, or anything that numpy converts to a dtype.
PyArray view(const PyArray& self, py::handle dtype);

// Memory that the host can access is shared, after the calls that write it are done; other memory is copied.
py::object dlpack(const PyArray& self, const py::args& args, const py::kwargs& kwargs);
// Returns DLPack's kind and number of the device whose memory other libraries can share: the array's CUDA device, whose memory
// vyre/_arrays/cuda.py exports, and the host for all other arrays.
py::tuple dlpack_device(const PyArray& self);

}  // namespace vyre::python
