// The fast path of kernel calls. After Python has checked a call and found it valid, a FastCall runs later calls with arguments of the same
// kind. See kernel_calls.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "bindings/bindings.hpp"
#include "vyre/ir/data_type.hpp"

namespace vyre::python {

// The options of a call that a FastCall may look at. Null if the option is not given, or None.
struct Asked {
  PyObject* backend = nullptr;
  PyObject* device = nullptr;
};

class FastCall {
 public:
  FastCall() = default;
  FastCall(const FastCall&) = delete;
  FastCall& operator=(const FastCall&) = delete;
  virtual ~FastCall() = default;
  // Whether this FastCall can run the call. `given` has the positional arguments, and then the keyword arguments in the order of the names
  // that _remember_call was given.
  virtual bool takes(std::span<PyObject* const> given, const Asked& asked) = 0;
  // Runs the call. Returns a null object, and leaves all arrays unchanged, if this FastCall cannot run the call.
  virtual py::object call(std::span<PyObject* const> given, const Asked& asked) = 0;
};

// Whether names of Python are still bound to the same objects. Each item of the tuple `bindings` is (a dict of globals, the name, its
// object or None if it has none), (the cell of a closure's variable, None, its object) or (a function, its code, its defaults or None).
bool same_bindings(PyObject* bindings);

// Wraps a FastCall in a capsule, which Python passes to _remember_call.
py::capsule in_capsule(std::shared_ptr<FastCall> call);

inline bool is_same_text(PyObject* a, PyObject* b) {
  return a == b || (PyUnicode_CheckExact(a) && PyUnicode_CheckExact(b) && PyUnicode_Compare(a, b) == 0);
}

// Returns the bits of a Python or numpy number that is a value of the type, as literals have them, and nothing for any other object.
std::optional<std::uint64_t> number_in(py::handle value, ir::DataType type);

// Returns the bits of anything that is a number of the type: also of other integers than number_in() takes, whose `__index__` is called.
std::optional<std::uint64_t> bits_given(ir::DataType type, py::handle value);

// The condition on an argument that is no array: it must be a number of the type or, if `same` is set, equal to `same`.
struct Expected {
  ir::DataType type = ir::kU32;
  py::object same;

  bool is_number() const { return !same; }
  // Returns the bits of an argument that meets the condition, or 0 if the condition is `same`. Returns nothing if the argument does not
  // meet it.
  std::optional<std::uint64_t> number(PyObject* given) const;
};
// Converts Python's description of a condition: the type of a number, or a list with the one value.
Expected expected_of(py::handle told);

// A 32-bit word of a kernel's parameters: a number that is the same in each call, or a part of an argument, the lowest bits first.
struct ParameterWord {
  std::optional<std::size_t> argument;
  unsigned part = 0;
  std::uint32_t value = 0;

  std::uint32_t of(std::span<const std::uint64_t> numbers) const {
    return argument ? static_cast<std::uint32_t>(numbers[*argument] >> (32 * part)) : value;
  }
};
// Converts Python's description of a word: a number, or (index of an argument, part).
ParameterWord word_of(py::handle told);

}  // namespace vyre::python
