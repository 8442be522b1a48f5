// Looks whether long arrays of the host ascend, in one pass without new memory, where numpy's comparison would make an array of truths.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <span>

#include "bindings/bindings.hpp"
#include "bindings/without_gil.hpp"
#include "vyre/base/assert.hpp"
#include "vyre/run/host/ascending.hpp"

namespace vyre::python {
namespace {

template <class T>
std::optional<std::size_t> descent_of(const py::array& values) {
  const std::span<const T> all(static_cast<const T*>(values.data()), static_cast<std::size_t>(values.size()));
  const WithoutGil unlocked;
  return run::first_descent(all);
}

// Returns the index of the first element that is less than the one before it, or None. The array is contiguous and has integers.
std::optional<std::size_t> first_descent(const py::array& values) {
  const bool is_signed = values.dtype().kind() == 'i';
  switch (values.itemsize()) {
    case 1:
      return is_signed ? descent_of<std::int8_t>(values) : descent_of<std::uint8_t>(values);
    case 2:
      return is_signed ? descent_of<std::int16_t>(values) : descent_of<std::uint16_t>(values);
    case 4:
      return is_signed ? descent_of<std::int32_t>(values) : descent_of<std::uint32_t>(values);
    default:
      VYRE_ASSERT(!is_signed);
      return descent_of<std::uint64_t>(values);
  }
}

}  // namespace

void bind_ascending(py::module_& m) { m.def("_first_descent", first_descent, py::arg("values")); }

}  // namespace vyre::python
