// Makes and reads DLPack capsules of device memory: exports an array on a CUDA device to another library, and imports another library's
// array. numpy makes and reads the capsules of host memory. The structures follow DLPack's specification: Managed is the form before
// version 1.0, Versioned the form since 1.0. vyre/_arrays/cuda.py decides what is exported to which consumer, and orders the streams.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/graph.hpp"
#include "bindings/resident.hpp"

namespace vyre::python {
namespace {

struct Device {
  std::int32_t kind = 0;
  std::int32_t number = 0;
};

struct ElementCode {
  std::uint8_t code = 0;
  std::uint8_t bits = 0;
  std::uint16_t lanes = 1;
};

struct Tensor {
  void* data = nullptr;
  Device device;
  std::int32_t axes = 0;
  ElementCode element;
  std::int64_t* shape = nullptr;
  std::int64_t* strides = nullptr;  // in elements; null for a C-contiguous tensor
  std::uint64_t byte_offset = 0;
};

struct Managed {
  static constexpr const char* kName = "dltensor";
  static constexpr const char* kUsed = "used_dltensor";
  Tensor tensor;
  void* context = nullptr;
  void (*deleter)(Managed*) = nullptr;
};

struct Versioned {
  static constexpr const char* kName = "dltensor_versioned";
  static constexpr const char* kUsed = "used_dltensor_versioned";
  std::uint32_t major = 1;
  std::uint32_t minor = 0;
  void* context = nullptr;
  void (*deleter)(Versioned*) = nullptr;
  std::uint64_t flags = 0;
  Tensor tensor;
};

constexpr std::uint64_t kReadOnly = 1, kIsCopied = 2;
// DLPack's type codes, each with the letter that numpy's type strings use for the same kind.
constexpr std::array<std::pair<std::uint8_t, char>, 4> kCodes{{{0, 'i'}, {1, 'u'}, {2, 'f'}, {6, 'b'}}};

std::uint64_t flags_of(const Managed&) { return 0; }
std::uint64_t flags_of(const Versioned& managed) { return managed.flags; }

// An exported tensor, and the data that it points to. The consumer destroys it by calling the deleter, on any thread.
template <class T>
struct Exported {
  T managed;
  std::vector<std::int64_t> shape, strides;
  std::shared_ptr<run::Storage> storage;
};

template <class T>
std::unique_ptr<Exported<T>> exported(const PyArray& array, std::uint64_t address, const Device& device) {
  auto made = std::make_unique<Exported<T>>();
  made->shape.assign(array.shape.begin(), array.shape.end());
  made->strides.resize(made->shape.size());
  std::int64_t step = 1;
  for (std::size_t axis = made->shape.size(); axis-- > 0;) {
    made->strides[axis] = step;
    step *= std::max<std::int64_t>(made->shape[axis], 1);
  }
  made->storage = array.storage;
  Tensor& tensor = made->managed.tensor;
  tensor.data =
      reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr): a device's address, which the protocol calls a pointer
  tensor.device = device;
  tensor.axes = static_cast<std::int32_t>(made->shape.size());
  const auto code = std::ranges::find(kCodes, array.element->kind, &std::pair<std::uint8_t, char>::second);
  tensor.element = {code->first, static_cast<std::uint8_t>(8 * array.element->bytes), 1};
  tensor.shape = made->shape.data();
  tensor.strides = made->strides.data();
  made->managed.context = made.get();
  made->managed.deleter = [](T* managed) { delete static_cast<Exported<T>*>(managed->context); };
  return made;
}

// Destroys the tensor of a capsule that no consumer has taken. A consumer renames the capsule that it takes, so an untaken capsule still
// has its first name.
template <class T>
void end_untaken(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, T::kName) == 0) return;
  auto* const managed = static_cast<T*>(PyCapsule_GetPointer(capsule, T::kName));
  if (managed->deleter != nullptr) managed->deleter(managed);
}

template <class T>
py::object capsule_of(std::unique_ptr<Exported<T>> made) {
  PyObject* const capsule = PyCapsule_New(&made->managed, T::kName, end_untaken<T>);
  if (capsule == nullptr) throw py::error_already_set();
  static_cast<void>(made.release());
  return py::reinterpret_steal<py::object>(capsule);
}

py::object capsule(const PyArray& array, std::uint64_t address, std::pair<std::int32_t, std::int32_t> device, bool versioned, bool copied) {
  Graph::refuse("Array.__dlpack__");
  const Device where{device.first, device.second};
  if (!versioned) return capsule_of(exported<Managed>(array, address, where));
  std::unique_ptr<Exported<Versioned>> made = exported<Versioned>(array, address, where);
  made->managed.flags = copied ? kIsCopied : 0;
  return capsule_of(std::move(made));
}

// Returns an object that keeps the producer's tensor alive, and calls the tensor's deleter when it is destroyed.
template <class T>
py::object owner_of(T* managed) {
  return py::capsule(managed, [](void* taken) {
    auto* const managed = static_cast<T*>(taken);
    if (managed->deleter != nullptr) managed->deleter(managed);
  });
}

// Returns numpy's type string, or an empty text for a type that numpy does not have.
std::string type_text(const ElementCode& element) {
  const auto* const row = std::ranges::find(kCodes, element.code, &std::pair<std::uint8_t, char>::first);
  if (row == kCodes.end() || element.lanes != 1 || element.bits % 8 != 0) return {};
  return fmt::format("<{}{}", row->second, element.bits / 8);
}

template <class T>
py::dict taken(py::handle capsule) {
  auto* const managed = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), T::kName));
  const Tensor& tensor = managed->tensor;
  py::tuple shape(static_cast<std::size_t>(tensor.axes));
  py::tuple steps(shape.size());
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    shape[axis] = tensor.shape[axis];
    if (tensor.strides != nullptr) steps[axis] = tensor.strides[axis] * (tensor.element.bits / 8);
  }
  py::dict found;
  found["device"] = py::make_tuple(tensor.device.kind, tensor.device.number);
  found["shape"] = shape;
  found["strides"] = tensor.strides == nullptr ? py::object(py::none()) : py::object(steps);
  found["typestr"] = type_text(tensor.element);
  found["data"] = py::make_tuple(reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset, (flags_of(*managed) & kReadOnly) != 0);
  // From here on vyre owns the tensor and must call its deleter.
  if (PyCapsule_SetName(capsule.ptr(), T::kUsed) != 0) throw py::error_already_set();
  found["owner"] = owner_of(managed);
  return found;
}

// Takes the capsule, and returns a description of its tensor with the keys of the CUDA array interface, "device", and "owner", which keeps
// the memory alive.
py::dict opened(py::handle capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), Managed::kName) != 0) return taken<Managed>(capsule);
  if (PyCapsule_IsValid(capsule.ptr(), Versioned::kName) == 0) {
    throw py::buffer_error(
        fmt::format("{} is no capsule of DLPack, or was taken before", py::str(py::type::of(capsule)).cast<std::string>()));
  }
  const auto* const managed = static_cast<const Versioned*>(PyCapsule_GetPointer(capsule.ptr(), Versioned::kName));
  if (managed->major != 1)
    throw py::buffer_error(fmt::format("version {}.{} of DLPack is none that is known", managed->major, managed->minor));
  return taken<Versioned>(capsule);
}

}  // namespace

void bind_dlpack(py::module_& m) {
  m.def("_dlpack_capsule", capsule, py::arg("array"), py::arg("address"), py::arg("device"), py::arg("versioned"), py::arg("copied"));
  m.def("_dlpack_opened", opened, py::arg("capsule"));
}

}  // namespace vyre::python
