#include "bindings/calls/given_call.hpp"

#include <fmt/format.h>
#include <pybind11/numpy.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "bindings/calls/call.hpp"
#include "bindings/calls/prepared.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/convert/host_value.hpp"
#include "bindings/graph.hpp"
#include "bindings/waiting.hpp"
#include "bindings/without_gil.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/nearest.hpp"
#include "vyre/ir/data_type.hpp"

namespace vyre::python {

using ir::BufferDecl;

std::string buffer_names(const std::vector<const BufferDecl*>& bound) {
  std::string names;
  for (const BufferDecl* decl : bound) names += fmt::format("{}`{}`", names.empty() ? "" : ", ", decl->name);
  return names.empty() ? "none" : names;
}

void MadeArrays::place(const PyArray* beside) {
  if (beside != nullptr) {
    backend_ = beside->backend;
    device_ = beside->device;
    return;
  }
  backend_ = to_backend(py::none(), "a Program's call");
  const WithoutGil unlocked;
  device_ = backend_->default_device();
}

const PyArray* MadeArrays::array(ValuesInUse& values, const BufferDecl& decl, py::handle object) {
  if (const auto shape = zeros_of(decl, object)) {
    if (Graph::recording() != nullptr) refuse(decl, "a vyre.Array in a graph, whose replays go on with what is in it", given(object));
    PyArray& made = arrays_.emplace_back(blank(decl, *shape));
    while_waiting({}, [&](const run::RunOptions&) { made.storage = backend_->allocate(device_, made.bytes(), true); });
    return &made;
  }
  const py::object value = value_of(decl, object, Home::Device);
  if (!value) return nullptr;
  PyArray& made = arrays_.emplace_back(blank(decl, {1}));
  std::vector<std::byte> bytes(made.bytes());  // on a device a bool takes a word, whose first byte is that of numpy's bool
  std::memcpy(bytes.data(), value.cast<py::array>().data(), made.element->bytes);
  made.storage = values.find(backend_, device_, bytes);
  return &made;
}

PyArray MadeArrays::blank(const BufferDecl& decl, std::vector<py::ssize_t> shape) const {
  PyArray made;
  made.backend = backend_;
  made.device = device_;
  made.element = &element_type(decl.element);
  made.shape = std::move(shape);
  return made;
}

namespace {

constexpr char kCall[] = "a Program's call";

std::string meant(std::string_view name, const std::vector<const BufferDecl*>& bound) {
  std::vector<std::string_view> names;
  names.reserve(bound.size());
  for (const BufferDecl* decl : bound) names.push_back(decl->name);
  return did_you_mean(name, names);
}

// Refuses a name that no buffer has. If it resembles the name of an argument and of no buffer, the message suggests that argument.
[[noreturn]] void refuse_name(const std::string& name, const std::vector<const BufferDecl*>& bound) {
  static constexpr std::string_view kArguments[] = {"workgroups", "at_most", "optimize"};
  const std::string buffer = meant(name, bound);
  if (const auto argument = nearest(name, kArguments); argument && buffer.empty()) {
    throw CallError(
        fmt::format("a Program's call has no argument `{0}` (did you mean `{1}`?). Fix: write {1}= in place of {0}=.", name, *argument));
  }
  throw BindingError(fmt::format("the program binds no buffer `{}`. Fix: use one of {}{}.", name, buffer_names(bound), buffer));
}

bool is_bound(const std::string& name, const std::vector<const BufferDecl*>& bound) {
  return std::any_of(bound.begin(), bound.end(), [&](const BufferDecl* decl) { return decl->name == name; });
}

CallGrid grid_from(const PyArray& counts, PyObject* most, run::StorageView::Role role) {
  if (counts.element != &element_type(ir::DataType::U32) || counts.shape != std::vector<py::ssize_t>{3}) {
    reject("argument `workgroups` of a Program's call", "an array of uint32 with shape (3,)", counts.describe());
  }
  if (most == nullptr || most == Py_None) {
    throw ArgumentError(
        "a Program's call needs argument `at_most`: the largest counts along x, y, z, to which it clamps those in the array. Fix: write "
        "at_most=(x, y, z).");
  }
  return {to_grid(most, kCall, "at_most"), &counts, role};
}

// `role` says what the counts mean if `workgroups` is an array: workgroups or invocations.
CallGrid grid_of(const py::kwargs& kwargs, const std::vector<const BufferDecl*>& bound, run::StorageView::Role role) {
  static PyObject* const name = PyUnicode_InternFromString("workgroups");
  static PyObject* const most_name = PyUnicode_InternFromString("at_most");
  PyObject* const found = PyDict_GetItem(kwargs.ptr(), name);
  PyObject* const most = kwargs.size() > 1 ? PyDict_GetItem(kwargs.ptr(), most_name) : nullptr;
  if (found != nullptr && is<PyArray>(found)) return grid_from(py::handle(found).cast<const PyArray&>(), most, role);
  if (found != nullptr && most != nullptr && most != Py_None) {
    throw ArgumentError("argument `at_most` of a Program's call has no place without counts in an array. Fix: leave it out.");
  }
  if (found != nullptr) {
    if (const std::optional<std::uint32_t> count = plain_u32(found)) return {{*count, 1, 1}};
    return {to_grid(found, kCall)};
  }
  for (const auto& [key, value] : kwargs) {
    const std::string given = to_text(key, "an argument's name in a Program's call");
    if (given != "optimize" && given != "at_most" && !is_bound(given, bound)) refuse_name(given, bound);
  }
  return {to_grid(py::none(), kCall)};
}

std::optional<run::Optimize> optimize_of(const py::kwargs& kwargs) {
  PyObject* found = kwargs.size() > 1 ? PyDict_GetItemString(kwargs.ptr(), "optimize") : nullptr;
  if (found == nullptr) return std::nullopt;
  return to_optimize(found, "argument `optimize` of a Program's call");
}

// Finds the argument for each bound buffer: by position, in the order of the program's buffers, or by name.
std::vector<py::handle> objects_of(const std::vector<const BufferDecl*>& bound, const py::args& args, const py::kwargs& kwargs) {
  if (args.size() > bound.size()) {
    throw BindingError(fmt::format("the program binds {} buffers, got {} arrays. Fix: pass one array for each of {}.", bound.size(),
                                   args.size(), buffer_names(bound)));
  }
  std::vector<py::handle> objects(bound.size());
  for (std::size_t slot = 0; slot < args.size(); ++slot) objects[slot] = args[slot];
  if (kwargs.size() > 1) {
    for (const auto& [key, value] : kwargs) {
      const std::string name = to_text(key, "an argument's name in a Program's call");
      if (name == "workgroups" || name == "at_most" || name == "optimize") continue;
      const auto found = std::find_if(bound.begin(), bound.end(), [&](const BufferDecl* decl) { return decl->name == name; });
      if (found == bound.end()) refuse_name(name, bound);
      py::handle& object = objects[static_cast<std::size_t>(found - bound.begin())];
      if (object) throw BindingError(fmt::format("buffer `{}` got two arrays: by place and by name. Fix: remove one.", name));
      object = value;
    }
  }
  return objects;
}

// Returns one array for each bound buffer. `made` owns the arrays that the call makes itself.
std::vector<const PyArray*> arrays_of(const std::vector<const BufferDecl*>& bound, const std::vector<py::handle>& objects,
                                      ValuesInUse& values, std::optional<MadeArrays>& made) {
  std::vector<const PyArray*> arrays(bound.size(), nullptr);
  const PyArray* first = nullptr;
  bool all = true;
  for (std::size_t slot = 0; slot < bound.size(); ++slot) {
    if (objects[slot] && py::isinstance<PyArray>(objects[slot])) {
      arrays[slot] = objects[slot].cast<const PyArray*>();
      if (first == nullptr) first = arrays[slot];
    } else {
      all = false;
    }
  }
  if (all) return arrays;
  for (std::size_t slot = 0; slot < bound.size(); ++slot) {
    if (arrays[slot] != nullptr) continue;
    if (!objects[slot]) {
      throw BindingError(fmt::format("buffer `{}` ({}) has no array. Fix: pass a vyre.Array for each of {}.", bound[slot]->name,
                                     ir::text(bound[slot]->element), buffer_names(bound)));
    }
    if (!made) made.emplace().place(first);
    arrays[slot] = made->array(values, *bound[slot], objects[slot]);
    if (arrays[slot] == nullptr) refuse_value(*bound[slot], objects[slot], Home::Device);
  }
  return arrays;
}

}  // namespace

GivenCall::GivenCall(const PyProgram& program, const py::args& args, const py::kwargs& kwargs, run::StorageView::Role role)
    : calls(calls_of(program)),
      grid(grid_of(kwargs, calls->bound(), role)),
      objects(objects_of(calls->bound(), args, kwargs)),
      arrays(arrays_of(calls->bound(), objects, calls->values, made)),
      optimize(optimize_of(kwargs)) {
  if (grid.counts != nullptr) arrays.push_back(grid.counts);
}

}  // namespace vyre::python
