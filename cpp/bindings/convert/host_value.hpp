// Accepts a number, a scalar or a shape in the place of a buffer's array. A ReadWrite buffer gets that many zeros, or zeros of that shape;
// a Uniform buffer gets the value; and for any other buffer the call raises BindingError. Calls with numpy arrays and calls with arrays
// that stay on a device share this code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"

namespace vyre::python {

// The numpy shape of the zeros that `object` asks for, including the axis of lanes if elements are vectors. Nothing when `object` is
// neither a number nor a shape, or the buffer is not ReadWrite. Throws BindingError for a number or a shape that no buffer can have.
std::optional<std::vector<py::ssize_t>> zeros_of(const ir::BufferDecl& decl, py::handle object);

// Where a call wants its arrays: vyre.run takes numpy's, a Program's call takes those that stay on a device.
enum class Home : std::uint8_t { Host, Device };

// A numpy array of one element: the value that `object` gives a Uniform buffer. A null object when `object` is no number, or the buffer
// takes no value. Throws BindingError for a number that the element type does not hold.
py::object value_of(const ir::BufferDecl& decl, py::handle object, Home home);

// Whether a buffer takes a Python bytes object as its array.
bool takes_bytes(const ir::BufferDecl& decl);

// Says in messages what a buffer takes: "a numpy array of uint32", preceded by the range of values if the buffer takes a value, too.
std::string wanted_array(const ir::BufferDecl& decl, Home home);

[[noreturn]] void refuse(const ir::BufferDecl& decl, const std::string& want, const std::string& got);

// Refuses an object that is neither an array for the buffer nor accepted by zeros_of() or value_of().
[[noreturn]] void refuse_value(const ir::BufferDecl& decl, py::handle object, Home home);

}  // namespace vyre::python
