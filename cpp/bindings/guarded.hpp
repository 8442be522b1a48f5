// Lets C++ functions throw although Python calls them through its C API.
#pragma once

#include <cxxabi.h>

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

}  // namespace vyre::python
