// Makes a Python object of a bound class from its C++ value.
#pragma once

#include <utility>

#include "bindings.hpp"

namespace vyre::python {

// The object that `py::cast(value)` makes, for classes whose objects are always given as such and never by the address of their value:
// pybind11 does not have to find the object by that address, so it is not entered into its table. That takes half of the time.
template <class T>
py::object new_instance(T value) {
  static py::detail::type_info* const info = py::detail::get_type_info(typeid(T));
  auto made = py::reinterpret_steal<py::object>(py::detail::make_new_instance(info->type));
  auto* const instance = reinterpret_cast<py::detail::instance*>(made.ptr());
  py::detail::value_and_holder held = instance->get_value_and_holder(info);
  held.value_ptr() = new T(std::move(value));
  instance->owned = true;
  held.set_instance_registered(true);  // init_instance enters what is not
  info->init_instance(instance, nullptr);
  held.set_instance_registered(false);
  return made;
}

}  // namespace vyre::python
