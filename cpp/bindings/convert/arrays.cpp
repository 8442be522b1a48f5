#include "bindings/convert/arrays.hpp"

#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "bindings/convert/convert.hpp"
#include "bindings/convert/host_value.hpp"
#include "bindings/resident.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/nearest.hpp"
#include "vyre/base/refused.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/run/host/host_parts.hpp"

namespace vyre::python {
namespace {

using ir::BufferAccess;
using ir::BufferDecl;
using ir::DataType;

py::array zeros(const BufferDecl& decl, const std::vector<py::ssize_t>& shape) {
  try {
    return py::module_::import("numpy").attr("zeros")(py::tuple(py::cast(shape)), element_type(decl.element).numpy).cast<py::array>();
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_MemoryError)) throw;
    std::uint64_t count = 1;
    for (const py::ssize_t extent : shape) count *= static_cast<std::uint64_t>(extent);
    count /= std::max(vector_lanes(decl.element), 1u);
    throw no_memory("the host", fmt::format("{} zero elements of buffer `{}`", count, decl.name));
  }
}

void check_array(const BufferDecl& decl, const py::array& array) {
  if (is_masked(array)) {
    refuse(decl, wanted_array(decl, Home::Host), "a masked array");
  }
  const ElementType& element = element_type(decl.element);
  const py::dtype got = array.dtype();
  const bool fits = (got.kind() == element.kind && static_cast<std::size_t>(got.itemsize()) == element.bytes) ||
                    (decl.element == DataType::Bool && got.kind() == 'u' && got.itemsize() == 4);
  const bool is_native = got.attr("isnative").cast<bool>();
  if (!fits || !is_native) {
    refuse(decl, wanted_array(decl, Home::Host), fmt::format("{}{}", given(array), fits ? " in foreign byte order" : ""));
  }
  if (vector_lanes(decl.element) != 0 &&
      (array.ndim() < 1 || array.shape(array.ndim() - 1) != static_cast<py::ssize_t>(ir::lanes(decl.element)))) {
    refuse(decl, wanted_array(decl, Home::Host), given(array));
  }
  if ((array.flags() & py::array::c_style) == 0) {
    refuse(decl, "a C-contiguous array", fmt::format("{} that is not", given(array)));
  }
}

// A new array of the same shape and dtype, uninitialised.
py::array like(const py::array& array) {
  return py::array(array.dtype(), std::vector<py::ssize_t>(array.shape(), array.shape() + array.ndim()));
}

void* data_of(const py::array& array) { return const_cast<void*>(array.data()); }

}  // namespace

py::dict to_inputs(py::handle inputs, const std::string& function) {
  if (PyMapping_Check(inputs.ptr()) == 0 || !py::hasattr(inputs, "keys")) {
    throw BindingError(must_be("argument `inputs` of " + function, "a dict of name -> array", given(inputs)));
  }
  return to_dict(inputs, "argument `inputs` of " + function);
}

Arrays::Arrays(const validate::ValidProgram& program, py::handle inputs, const std::string& function) {
  const py::dict named = to_inputs(inputs, function);

  std::string names;
  py::set known;
  for (BufferId id : program.bound()) {
    const BufferDecl& decl = program.program().buffers()[id.index];
    names += fmt::format("{}`{}`", names.empty() ? "" : ", ", decl.name);
    known.add(lenient_str(decl.name));
    slots_.push_back({&decl, {}, {}, false});
  }
  for (auto [name, value] : named) {
    if (!PyUnicode_Check(name.ptr())) throw BindingError(must_be("a key of `inputs`", "a buffer's name", given(name)));
    if (known.contains(name)) continue;
    for (const BufferDecl& decl : program.program().buffers()) {
      if (ir::is_bound(decl.access) || !name.equal(lenient_str(decl.name))) continue;
      throw BindingError(fmt::format("buffer `{}` is {} memory, which has no array. Fix: remove it from `inputs`.", decl.name,
                                     decl.access == BufferAccess::Workgroup ? "workgroup" : "private"));
    }
    std::vector<std::string_view> bound;
    for (const Slot& slot : slots_) bound.push_back(slot.decl->name);
    throw BindingError(fmt::format(
        "the program has no buffer {}. Fix: {}.", py::repr(name).cast<std::string>(),
        names.empty() ? "remove it from `inputs`" : fmt::format("use one of {}{}", names, did_you_mean(lenient_text(name), bound))));
  }

  for (Slot& slot : slots_) {
    const py::str name = lenient_str(slot.decl->name);
    extents_.emplace_back();
    blank_.push_back(false);
    bind(slot, named.contains(name) ? py::object(named[name]) : py::object());
    views_.back().length = run::buffer_length(*slot.decl, views_.back().bytes.size());
  }
  // This call copies ReadWrite arrays, so an overlap would do no harm. It is refused all the same: calls that do not copy their arrays
  // cannot allow it, and a program should work with both kinds of calls.
  run::check_overlaps(program, extents_);
}

void Arrays::bind(Slot& slot, py::handle given_array) {
  const BufferDecl& decl = *slot.decl;
  const bool written = decl.access == BufferAccess::ReadWrite;
  if (given_array.ptr() == nullptr) {
    if (!written || decl.count == 0) {
      throw BindingError(fmt::format("buffer `{}` ({}) has no array. Fix: add it to `inputs`: {}{}.", decl.name, ir::text(decl.element),
                                     wanted_array(decl, Home::Host), written ? ", or a number or a shape of zero elements" : ""));
    }
    std::vector<py::ssize_t> shape{decl.count};
    if (const std::uint32_t lanes = vector_lanes(decl.element)) shape.push_back(lanes);
    return bind_zeros(slot, shape);
  }
  if (py::isinstance<py::array>(given_array)) return bind_array(slot, given_array);
  if (const auto shape = zeros_of(decl, given_array)) return bind_zeros(slot, *shape);
  if (const py::object value = value_of(decl, given_array, Home::Host)) return bind_new(slot, value);
  if (is<PyArray>(given_array)) return bind_resident(slot, given_array.cast<const PyArray&>());
  if (PyBytes_Check(given_array.ptr()) && takes_bytes(decl)) {
    // numpy's view of the bytes, which bind_array() checks like any other array.
    return bind_array(slot, py::module_::import("numpy").attr("frombuffer")(given_array, "uint8"));
  }
  refuse_value(decl, given_array, Home::Host);
}

void Arrays::bind_zeros(Slot& slot, const std::vector<py::ssize_t>& shape) {
  blank_.back() = true;
  const py::array array = zeros(*slot.decl, shape);
  if (slot.decl->element != DataType::Bool) {
    // The array is new, so it is not copied: a copy would touch pages that the system has not allocated yet.
    extents_.back() = {};
    slot.owner = slot.result = array;
    use(data_of(array), static_cast<std::size_t>(array.nbytes()));
    views_.back().zeros = true;
    return;
  }
  bind_new(slot, array);
}

void Arrays::bind_new(Slot& slot, py::handle array) {
  bind_array(slot, array);
  // The array is temporary: a later one may get the same address, so its extent must not take part in the check for overlaps.
  extents_.back() = {};
}

void Arrays::bind_resident(Slot& slot, const PyArray& array) {
  bind_array(slot, to_numpy(array, std::nullopt));
  // The call works on a temporary copy. The check for overlaps compares the bytes in the array's storage.
  extents_.back() = {array.storage->id(), array.offset, array.bytes()};
}

void Arrays::bind_array(Slot& slot, py::handle given_array) {
  const BufferDecl& decl = *slot.decl;
  const auto array = py::reinterpret_borrow<py::array>(given_array);
  check_array(decl, array);
  const auto size = static_cast<std::size_t>(array.nbytes());
  extents_.back() = run::host_extent(array.data(), size);
  const bool written = decl.access == BufferAccess::ReadWrite;

  if (array.dtype().kind() == 'b') {
    const auto count = static_cast<std::size_t>(array.size());
    py::array_t<std::uint32_t> words(static_cast<py::ssize_t>(count));
    const auto* from = static_cast<const std::uint8_t*>(array.data());
    std::uint32_t* to = words.mutable_data();
    for (std::size_t k = 0; k < count; ++k) to[k] = from[k] != 0;
    slot.widened = true;
    if (written) slot.result = like(array);
    slot.owner = words;
    return use(to, 4 * count);
  }
  const bool is_aligned = (array.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) != 0;
  if (written || !is_aligned) {
    const py::array copy = like(array);
    run::host_copy(data_of(copy), array.data(), size);
    slot.owner = copy;
    if (written) slot.result = copy;
    return use(data_of(copy), size);
  }
  slot.owner = array;
  use(data_of(array), size);
}

void Arrays::use(void* data, std::size_t bytes) { views_.push_back({{static_cast<std::byte*>(data), bytes}, 0}); }

py::dict Arrays::results() const {
  py::dict result;
  for (const Slot& slot : slots_) {
    if (!slot.result) continue;
    if (slot.widened) {
      const auto words = py::reinterpret_borrow<py::array_t<std::uint32_t>>(slot.owner);
      auto* to = static_cast<std::uint8_t*>(data_of(py::reinterpret_borrow<py::array>(slot.result)));
      for (py::ssize_t k = 0; k < words.size(); ++k) to[k] = words.data()[k] != 0;
    }
    result[lenient_str(slot.decl->name)] = slot.result;
  }
  return result;
}

}  // namespace vyre::python
