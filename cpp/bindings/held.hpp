// A reference to an object of Python across a call into Python.
//
// When the interpreter ends, Python ends daemon threads where they next take the GIL, by unwinding their stacks without it. What a
// destructor lets go of then is never destroyed, because the process ends.
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
