// Defines how Python makes objects of the module's classes. pybind11 leaves an object empty between __new__ and __init__, and using an
// empty object crashes the process; `Expr.__new__(Expr)` alone would make one. So in this module __new__ returns a complete object or
// raises, and __init__ does nothing.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "vyre/base/error.hpp"

namespace vyre::python {

// The parameters of a function. The first `required` of them must be given. The first `positional` may be given by position or by name, the
// others only by name.
struct Signature {
  const char* function;
  std::vector<const char*> names;
  std::size_t required;
  std::size_t positional;
};

// Returns one object for each name of the signature, null for an argument that was not given. Throws CallError.
std::vector<py::object> bind_arguments(const Signature& signature, const py::args& args, const py::kwargs& kwargs);

// Returns the arguments of a call that may be typed, "left, times=times", for parameters "left, *, times".
std::string as_arguments(std::string_view parameters);

// Throws CallError, a TypeError in Python, for a call that does not fit a function. The Fix shows a correct one, such as
// "Expr.load(buffer, index)".
[[noreturn]] void refuse_call(const std::string& call, const py::args& args, const py::kwargs& kwargs);

// Makes wrong calls of the functions in `scope` end in refuse_call(), where pybind11 would answer with a list of C++ signatures. Correct
// calls are not slower.
void explain_calls(py::handle scope, const std::string& owner);

// The function that the class's tp_new calls.
template <class T>
inline PyObject* new_function = nullptr;

// An argument of py::class_ for a class with def_new: it sets tp_new before Python makes the class ready. A function named __new__ would
// not be enough, because Python would then let the base class make objects: `Expr.__base__.__new__(Expr)` would return an empty one.
template <class T>
py::custom_type_setup made_whole() {
  return py::custom_type_setup([](PyHeapTypeObject* heap_type) {
    heap_type->ht_type.tp_new = [](PyTypeObject*, PyObject* args, PyObject* kwargs) {
      return PyObject_Call(new_function<T>, args, kwargs);
    };
    heap_type->ht_type.tp_init = [](PyObject*, PyObject*, PyObject*) { return 0; };
  });
}

template <class T, class Make>
void def_new(py::class_<T>&, Make make) {
  new_function<T> = py::cpp_function([make](const py::args& args, const py::kwargs& kwargs) { return make(args, kwargs); }).release().ptr();
}

// For classes whose objects only functions of the module make: calling the class raises an error with `fix`.
template <class T>
void def_no_new(py::class_<T>& type, const char* fix) {
  def_new(type, [fix, name = type.attr("__name__").template cast<std::string>()](const py::args&, const py::kwargs&) -> T {
    throw ArgumentError(name + " is not called directly. Fix: " + fix + ".");
  });
}

// For classes whose objects mean nothing in another process; `what` names one.
template <class T>
void def_no_pickle(py::class_<T>& type, const char* what) {
  type.def("__reduce__", [what](const T&) -> py::object {
    throw ArgumentError(fmt::format("{} is not copied or pickled. Fix: make it anew there.", what));
  });
}

// Defines `_repr_html_`, which IPython, marimo and editors look for. `form` is a function of vyre._html.programs, which is imported when an
// object is drawn.
template <class T>
void def_html_form(py::class_<T>& type, const char* form) {
  type.def("_repr_html_", [form](const T& self) { return py::module_::import("vyre._html.programs").attr(form)(py::cast(self)); });
}

// Returns a new object as `py::cast(value)` does, in half of the time, because it does not enter the object into pybind11's table of values
// and their objects. Only for classes whose values are never cast to Python by pointer or reference: pybind11 could not find the object of
// such a value.
template <class T>
py::object new_instance(T value) {
  static py::detail::type_info* const info = py::detail::get_type_info(typeid(T));
  auto made = py::reinterpret_steal<py::object>(py::detail::make_new_instance(info->type));
  auto* const instance = reinterpret_cast<py::detail::instance*>(made.ptr());
  py::detail::value_and_holder held = instance->get_value_and_holder(info);
  held.value_ptr() = new T(std::move(value));
  instance->owned = true;
  held.set_instance_registered(true);  // otherwise init_instance would enter the object into the table
  info->init_instance(instance, nullptr);
  held.set_instance_registered(false);
  return made;
}

}  // namespace vyre::python
