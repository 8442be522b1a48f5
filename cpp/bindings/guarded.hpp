// Lets functions that Python calls through its C API throw.
#pragma once

#include <cxxabi.h>

#include "bindings.hpp"

namespace vyre::python {

// The result of a function, or null with Python's exception for what it throws.
template <class Function>
PyObject* guarded(const Function& function) {
  try {
    return function();
  } catch (py::error_already_set& error) {
    error.restore();
#ifdef __GLIBCXX__
  } catch (abi::__forced_unwind&) {
    throw;  // how Python ends a thread that comes back after the interpreter
#endif
  } catch (...) {
    py::detail::try_translate_exceptions();
  }
  return nullptr;
}

}  // namespace vyre::python
