// Makes views of an Array, which share its memory.
#pragma once

#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/resident.hpp"

namespace vyre::python {

// Returns the part of an array that array[key] selects. Each integer removes an axis; a slice must be the last index.
PyArray part_of(const PyArray& self, py::handle key);
// Returns a view of the same elements with other axes. Array.reshape checks the arguments and calls it.
PyArray reshaped(const PyArray& self, const std::vector<py::ssize_t>& shape);
// Returns a view of the same bytes as elements of another type: a DataType, or anything that numpy converts to a dtype.
PyArray view(const PyArray& self, py::handle dtype);

}  // namespace vyre::python
