// The fast path for repeated calls of kernels with resident arrays. Python describes a call that it has checked, and a launch takes later
// calls with arrays of the same types, shapes and device straight from the arguments to the plan. All other calls go to Python, which
// raises the errors.
#include "bindings/calls/launch.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <tuple>

#include "bindings/calls/planned.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/waiting.hpp"
#include "vyre/ir/data_type.hpp"

namespace vyre::python {
namespace {

// What a resident array must be like: it has no storage of its own.
struct LikeResident {
  PyArray array;

  static std::optional<LikeResident> of(py::handle object) {
    const PyArray* const given = exactly<PyArray>(object);
    if (given == nullptr) return std::nullopt;
    return LikeResident{{nullptr, given->backend, given->device, given->element, given->shape, 0}};
  }
  bool fits(PyObject* object) const {
    const PyArray* const given = exactly<PyArray>(object);
    return given != nullptr && given->storage != nullptr && given->element == array.element && given->backend == array.backend &&
           given->device == array.device && given->shape == array.shape;
  }
};

class ResidentLaunch final : public Launch<LikeResident, ResidentLaunch> {
 public:
  ResidentLaunch(LaunchParts parts, const py::list& arguments) : Launch(std::move(parts), arguments) {
    for (std::size_t k = 0; k < arguments_.size() && beside_ == nullptr; ++k) beside_ = like(k) == nullptr ? nullptr : &like(k)->array;
    if (beside_ == nullptr) refuse_parts();
    for (const LaunchSlot& slot : parts_.slots) {
      if (slot.is_made()) bytes_of(slot.element->resident, slot.shape);
      // Python fills arrays of the caller with zeros.
      if ((slot.argument && slot.begins == LaunchSlot::Begins::Zeros) || (slot.table && !is<PyArray>(slot.table))) refuse_parts();
    }
  }

 private:
  friend class Launch;

  static bool is_open(const Asked& asked) { return asked.backend == nullptr && asked.device == nullptr; }
  static bool fit_together(std::span<PyObject* const>) { return true; }

  PyArray words_for(std::span<const std::uint64_t> numbers) const {
    Few<std::uint32_t, 32> made(parts_.words.size());
    write_words(numbers, made);
    PyArray array = new_array(&element_type(ir::DataType::U32), {static_cast<py::ssize_t>(made.size())});
    array.storage = value_in_use(*exactly<PyProgram>(parts_.program), array.backend, array.device, std::as_bytes(made.all()));
    return array;
  }

  PyArray new_array(const ElementType* element, std::vector<py::ssize_t> shape) const {
    return {nullptr, beside_->backend, beside_->device, element, std::move(shape), 0};
  }

  py::object run(std::span<PyObject* const> given, std::span<const std::uint64_t> numbers) const {
    Few<const PyArray*> arrays(parts_.slots.size());
    Few<py::object> results(parts_.slots.size());
    PyArray of_words;
    for (std::size_t k = 0; k < parts_.slots.size(); ++k) {
      const LaunchSlot& slot = parts_.slots[k];
      if (slot.argument) {
        arrays[k] = exactly<PyArray>(given[*slot.argument]);
        if (slot.written()) results[k] = py::reinterpret_borrow<py::object>(given[*slot.argument]);
      } else if (slot.written()) {
        PyArray array = new_array(slot.element, slot.shape);
        const bool zeroed = slot.begins == LaunchSlot::Begins::Zeros;
        while_waiting({}, [&](const run::RunOptions&) { array.storage = array.backend->allocate(array.device, array.bytes(), zeroed); });
        results[k] = py::cast(std::move(array));
        arrays[k] = exactly<PyArray>(results[k]);
      } else if (slot.table) {
        arrays[k] = exactly<PyArray>(slot.table);
      } else {
        of_words = words_for(numbers);
        arrays[k] = &of_words;
      }
    }
    call_planned(*exactly<PyProgram>(parts_.program), arrays.all(), parts_.grid);
    return returned(results.all());
  }

  const PyArray* beside_ = nullptr;  // the first argument that is an array; belongs to arguments_
};

// Converts Python's description of a slot: None for the words, a table, or (index of an argument or None, type, shape, initial contents).
LaunchSlot slot_of(py::handle told) {
  using Begins = LaunchSlot::Begins;
  static constexpr std::pair<std::string_view, Begins> kBegins[] = {
      {"read", Begins::Read}, {"copied", Begins::Copied}, {"zeros", Begins::Zeros}, {"anything", Begins::Anything}};
  LaunchSlot made;
  if (told.is_none()) return made;
  if (!PyTuple_Check(told.ptr())) {
    made.table = py::reinterpret_borrow<py::object>(told);
    return made;
  }
  const auto parts = told.cast<std::tuple<std::optional<std::size_t>, ir::DataType, std::vector<py::ssize_t>, std::string>>();
  made.argument = std::get<0>(parts);
  made.element = &element_type(std::get<1>(parts));
  made.shape = std::get<2>(parts);
  for (const auto& [name, begins] : kBegins) {
    if (name == std::get<3>(parts)) made.begins = begins;
  }
  return made;
}

using PlaceOfCall = std::tuple<py::object, py::object, py::object, py::object>;

py::capsule launch(const py::object& program, const py::list& arguments, const py::list& slots, const py::list& words,
                   const std::array<std::uint32_t, 3>& workgroups, const std::optional<PlaceOfCall>& place) {
  to_program(program, "argument `program` of _launch");
  LaunchParts parts{program, {}, {}, {workgroups[0], workgroups[1], workgroups[2]}};
  for (const py::handle slot : slots) parts.slots.push_back(slot_of(slot));
  for (const py::handle word : words) parts.words.push_back(word_of(word));
  if (!place) return in_capsule(std::make_shared<ResidentLaunch>(std::move(parts), arguments));
  const auto& [backend, device, where_backend, where_device] = *place;
  return in_capsule(host_launch(std::move(parts), arguments, backend, device, {where_backend, where_device}));
}

}  // namespace

void refuse_parts() { throw ArgumentError("the parts of a launch do not fit each other. Fix: call the kernel itself."); }

std::uint64_t bytes_of(std::uint64_t element, std::span<const py::ssize_t> shape) {
  std::uint64_t bytes = element;
  for (const py::ssize_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) refuse_parts();
  }
  return bytes;
}

void bind_launch(py::module_& m) {
  // Makes the fast path for later calls of a kernel. `arguments` has an array, or a description for expected_of(), for each argument of the
  // call. slot_of() and word_of() convert the elements of `slots` and `words`. `place` is None for a call with resident arrays. For one
  // with numpy arrays it has the arguments `backend` and `device` of the call, and the place that they stand for.
  m.def("_launch", launch, py::arg("program"), py::arg("arguments"), py::arg("slots"), py::arg("words"), py::arg("workgroups"),
        py::arg("place"));
}

}  // namespace vyre::python
