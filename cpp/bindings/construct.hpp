// How Python makes the classes of the module. pybind11 leaves an object empty between __new__ and __init__, and an empty one crashes:
// `Expr.__new__(Expr)` alone would make it. So __new__ makes whole objects, or refuses, and __init__ has nothing left to do.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "bindings.hpp"
#include "vyre/base/error.hpp"

namespace vyre::python {

// A call's arguments, by the names of a signature: the first `positional` of them by place or name, the others by name alone.
struct Signature {
  const char* function;
  std::vector<const char*> names;
  std::size_t required;
  std::size_t positional;
};

// One object a name, null for what was not given. Raises CallError.
std::vector<py::object> bind_arguments(const Signature& signature, const py::args& args, const py::kwargs& kwargs);

// Raises Python's TypeError for a call that fits no signature, with the whole call as the Fix. `signature` is the first line of the
// function's docstring, "load(buffer, index) -> Expr", and `owner` stands before it.
[[noreturn]] void refuse_call(std::string_view owner, std::string_view signature, const py::args& args, const py::kwargs& kwargs);

// Functions that pybind11 would answer with a list of C++ signatures: what calls them wrongly comes to refuse_call, and right calls pay
// nothing. `scope` has the functions as attributes; `first` may have better words for an owner's likely mistakes.
void explain_calls(py::handle scope, const std::string& owner, void (*first)(const py::args& args, const std::string& name) = nullptr);

// The function behind a class's __new__.
template <class T>
inline PyObject* new_function = nullptr;

// For the definition of a class that has def_new: its tp_new is in place before Python makes the class ready. A function named
// __new__ would not do, because Python then lets the base class make objects: `Expr.__base__.__new__(Expr)` is an empty one.
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

// For classes that only functions make.
template <class T>
void def_no_new(py::class_<T>& type, const char* message) {
  def_new(type, [message](const py::args&, const py::kwargs&) -> T { throw ArgumentError(message); });
}

// For classes whose objects mean nothing in another process.
template <class T>
void def_no_pickle(py::class_<T>& type, const char* message) {
  type.def("__reduce__", [message](const T&) -> py::object { throw ArgumentError(message); });
}

}  // namespace vyre::python
