// A call of a kernel that was found right before: how the next call with arguments of the same kind goes to the run. See kernel_calls.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "bindings.hpp"

namespace vyre::python {

// The options of a call that a FastCall may look at. Null: not given, or None.
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
  // Whether the call is of the kind that this was made for. `given` are the arguments: those by place, then those by name, in the order of
  // the names that the call was remembered with.
  virtual bool takes(std::span<PyObject* const> given, const Asked& asked) = 0;
  // Returns a null object, and has done nothing, when the call is another one.
  virtual py::object call(std::span<PyObject* const> given, const Asked& asked) = 0;
};

// A FastCall in Python's hands, which pass it on to _remember_call.
py::capsule in_capsule(std::shared_ptr<FastCall> call);

inline bool is_same_text(PyObject* a, PyObject* b) {
  return a == b || (PyUnicode_CheckExact(a) && PyUnicode_CheckExact(b) && PyUnicode_Compare(a, b) == 0);
}

// The numbers that a scalar parameter takes: integers from one to another, or truths.
struct NumberRange {
  std::int64_t least = 0;
  std::uint64_t most = 0;
  bool is_truth = false;
};

// The low 64 bits of a number of the range, Python's or numpy's; nothing for anything else.
std::optional<std::uint64_t> number_in(py::handle value, const NumberRange& range);

// The condition on an argument that is no array: it is a number of a range, or, where `same` is set, that very value.
struct Expected {
  NumberRange range;
  py::object same;

  bool is_number() const { return !same; }
  // The bits of an argument that is as expected, 0 where it is no number; nothing for another one.
  std::optional<std::uint64_t> number(PyObject* given) const;
};
// Converts what Python tells: (least, most), `bool` for truths, or a list of the one value.
Expected expected_of(py::handle told);

// A word of a kernel's parameters: a number that is the same in each call, or half of an argument.
struct ParameterWord {
  std::optional<std::size_t> argument;
  bool high = false;
  std::uint32_t value = 0;

  std::uint32_t of(std::span<const std::uint64_t> numbers) const {
    return argument ? static_cast<std::uint32_t>(numbers[*argument] >> (high ? 32 : 0)) : value;
  }
};
// Converts what Python tells: a number, or (the place of an argument, whether it is the high half).
ParameterWord word_of(py::handle told);

}  // namespace vyre::python
