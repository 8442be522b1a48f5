// Lets C++ functions throw although Python calls them through its C API.
#pragma once

#include <cxxabi.h>
#include <pybind11/pybind11.h>

#include <utility>

#include "bindings/bindings.hpp"

namespace vyre::python {

// Calls a function and returns its result. If the function throws, sets the matching Python exception and returns null.
template <class Function>
PyObject* guarded(const Function& function) {
  try {
    return function();
  } catch (py::error_already_set& error) {
    error.restore();
#ifdef __GLIBCXX__
  } catch (abi::__forced_unwind&) {
    throw;  // Python ends a thread in this way if it asks for the GIL after the interpreter's end
#endif
  } catch (...) {
    py::detail::try_translate_exceptions();
  }
  return nullptr;
}

// Holds a reference to a Python object during a call into Python.
//
// When the interpreter ends, Python ends each daemon thread where the thread next asks for the GIL, by unwinding its stack without the GIL.
// The destructor of Held then releases nothing, because the thread does not hold the GIL. The object leaks, which is harmless because the
// process ends.
class Held {
 public:
  // Takes over a new reference, which may be null.
  explicit Held(PyObject* object) : object_(object) {}
  ~Held() {
    if (object_ != nullptr && PyGILState_Check() != 0) Py_DECREF(object_);
  }
  Held(Held&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Held& operator=(Held&&) = delete;

  pybind11::handle handle() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_;
};

}  // namespace vyre::python
