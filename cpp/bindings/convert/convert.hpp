// Converts Python objects to C++ values. For an object that does not fit, the functions throw an ArgumentError that names the argument,
// what was wanted and what was given. `where` reads like "argument `index` of Expr.load".
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "vyre/ir/value.hpp"

namespace vyre::python {

// Describes an object for messages: "-1 (int)", "an array of float32 with shape (3,)". The text is short for any object.
std::string given(py::handle object);

// Names an argument of a function in a message: "argument `name` of function".
std::string argument(const char* name, std::string_view function);

[[noreturn]] void reject(const std::string& where, const std::string& wanted, py::handle object);
[[noreturn]] void reject(const std::string& where, const std::string& wanted, const std::string& got);
// Refuses an object that is none of the names; `meant` is the nearest one, as did_you_mean() writes it.
[[noreturn]] void reject_name(const std::string& where, const std::string& names, py::handle object, const std::string& meant);

// Whether the object is an integer of Python or numpy, and no bool.
bool is_integer(py::handle object);
// Whether the object is a masked array of numpy.
bool is_masked(py::handle object);
bool is_boolean(py::handle object);
// Converts what is_integer accepts to a Python int. An exception that a user's class raises in `__index__` is passed on.
py::int_ to_int(py::handle object);
// What `__index__` gives; a null object for an object without it.
py::object index_of(py::handle object);
// Converts what is_integer accepts. Returns nothing for other objects, and for an integer below -2^63 or above 2^64 - 1.
std::optional<ir::Number> to_number(py::handle object);

std::uint64_t to_unsigned(py::handle object, std::uint64_t last, const std::string& where);
// A number of the type, which has numbers.
ir::Number to_number(py::handle object, ir::DataType type, const std::string& where);
inline std::uint32_t to_u32(py::handle object, const std::string& where) {
  return static_cast<std::uint32_t>(to_unsigned(object, 0xFFFFFFFFu, where));
}
// Returns the value of a plain Python int from 0 to 2^32 - 1, and nothing for any other object. For fast paths: to_u32() and similar
// functions are slower, because they prepare the texts of their messages first.
std::optional<std::uint32_t> plain_u32(py::handle object);
// The bytes of any object with a buffer, as to_bytes() gave them.
std::string bytes_argument(py::handle object, const std::string& where);
bool to_bool(py::handle object, const std::string& where);
// Converts a str to UTF-8, and refuses lone surrogates.
std::string to_text(py::handle object, const std::string& where);
ir::DataType to_type(py::handle object, const std::string& where);
ir::BufferAccess to_access(py::handle object, const std::string& where);

// An integer as a Fix quotes it; `x` for one that is too long to read.
std::string digits_of(py::handle number);

// Converts an Expr, or makes a literal: integers 0..2^32 - 1 are U32, True and False are Bool.
ir::ExprHandle to_expr(py::handle object, const std::string& where);
// Like to_expr(), but an integer takes its type from its context (the other operand, the target or the parameter), and may be any signed or
// unsigned 64-bit value. For operands of Python's operators, values that are stored or assigned, arms of a select and arguments of a call.
ir::ExprHandle to_adapting(py::handle object, const std::string& where);
// The fast path of to_expr(): returns an empty handle for any object but an Expr or a plain int from 0 to 2^32 - 1.
ir::ExprHandle quick_expr(py::handle object);
std::vector<ir::ExprHandle> to_exprs(py::handle object, const std::string& where);
std::vector<ir::ExprHandle> to_adapting_list(py::handle object, const std::string& where);
// A list or tuple (any iterable) of Nodes.
std::vector<ir::NodeHandle> to_nodes(py::handle object, const std::string& where);

// The iterator of a list, tuple or other iterable; strings and expressions are refused.
py::object to_iterator(py::handle object, const std::string& where, const std::string& wanted);
[[noreturn]] void reject_count(const std::string& where, const std::string& wanted, std::size_t most);

// Ten times the limit of V019 for the nodes of a program. A list that exceeds only the limit of V019 is still converted, so that the rule
// reports it.
inline constexpr std::size_t kMostElements = 1'000'000;

// Calls `each` with one element after the other, and refuses more than `most` elements. An iterable may be endless, so an element is
// handled before the next one is fetched.
template <class Each>
void for_each(py::handle object, const std::string& where, const std::string& wanted, const Each& each, std::size_t most = kMostElements) {
  const py::object iterator = to_iterator(object, where, wanted);
  for (std::size_t count = 0;; ++count) {
    const py::object item = py::reinterpret_steal<py::object>(PyIter_Next(iterator.ptr()));
    if (!item) break;
    if (count == most) reject_count(where, wanted, most);
    each(item);
  }
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
}

// Copies a mapping to a new dict. If the mapping is no plain dict, for_each() limits the number of its keys.
py::dict to_dict(py::handle mapping, const std::string& where);

// Returns the elements of an iterable that should be short. Refuses more than 1,000.
std::vector<py::object> to_list(py::handle object, const std::string& where, const std::string& wanted);

// Converts a member of an enumeration with `count` members, numbered from 0. Checks the number, because Python code can change a member's
// number, and any object can claim to be a member.
template <class Enum>
Enum to_member(py::handle object, std::size_t count, const std::string& where, const std::string& wanted) {
  if (py::isinstance<Enum>(object)) {
    try {
      if (const auto member = object.cast<Enum>(); static_cast<std::size_t>(member) < count) return member;
    } catch (const std::runtime_error&) {  // pybind11 throws it if the member's number has the wrong type
    }
  }
  reject(where, wanted, object);
}

// The value as Python writes it: an int, a bool, or a tuple of lanes.
py::object to_python(const ir::Value& value, ir::DataType type);
py::object to_python(const ir::Number& number);
// The reverse conversion. `fix` is the Fix for a number that the type does not hold.
ir::Value to_value(py::handle object, ir::DataType type, const std::string& where);

// Whether `number`, which may be any object, is a value of the type, which is no vector.
bool holds(ir::DataType element, py::handle number);
// The values that holds() accepts, for messages: "True, False", "an integer from 0 to 4294967295".
std::string numbers_of(ir::DataType element);

// Binds Expr.u32 and the like, one constructor for each type with literals.
void bind_literals(py::class_<PyExpr>& expr);

}  // namespace vyre::python
