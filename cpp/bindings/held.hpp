// Holds a reference to a Python object during a call into Python.
//
// When the interpreter ends, Python ends each daemon thread where the thread next asks for the GIL, by unwinding its stack without the GIL.
// The destructor of Held then releases nothing, because the thread does not hold the GIL. The object leaks, which is harmless because the
// process ends.
#pragma once

#include <pybind11/pybind11.h>

#include <utility>

namespace vyre::python {

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
