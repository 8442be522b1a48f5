// What the fast paths of kernel calls share: the arguments that a call must have, what each buffer of the program is bound to, and the
// words of the parameters. See host_launch.cpp for calls with numpy arrays and launch.cpp for those with resident ones.
#pragma once

#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/calls/fast_call.hpp"
#include "bindings/program.hpp"
#include "bindings/resident.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/few.hpp"
#include "vyre/run/backend.hpp"

namespace vyre::python {

// Says what a buffer of the program is bound to: an argument, a new array, a table or, if the slot has none of these, the words of the
// parameters.
struct LaunchSlot {
  enum class Begins : std::uint8_t { Read, Copied, Zeros, Anything };
  Begins begins = Begins::Read;
  std::optional<std::size_t> argument;
  const ElementType* element = nullptr;  // of an argument or a new array
  std::vector<py::ssize_t> shape;        // with the axis of a vector's lanes
  py::object table;

  bool written() const { return begins != Begins::Read; }
  bool is_made() const { return written() && !argument; }
  bool is_words() const { return !written() && !argument && !table; }
};

struct LaunchParts {
  py::object program;
  std::vector<LaunchSlot> slots;
  std::vector<ParameterWord> words;
  run::Grid grid;
};

// Throws ArgumentError.
[[noreturn]] void refuse_parts();

// The bytes of an array whose elements have so many. Throws ArgumentError if the shape is invalid, or if they do not fit 64 bits.
std::uint64_t bytes_of(std::uint64_t element, std::span<const py::ssize_t> shape);

// `Like` says what an argument that is an array must be like: `like.fits(object)`. `Like::of(object)` is nothing for an object that is no
// such array. `Self` is the class that derives from this one. It has `is_open(asked)`, which says whether a call may be made now at the
// place that it asks for, `fit_together(given)`, whether arguments that are as expected may be given together, and `run(given, numbers)`.
template <class Like, class Self>
class Launch : public FastCall {
 public:
  // Throws ArgumentError if the parts do not fit each other, so that a call can use their indices without checking them.
  Launch(LaunchParts parts, const py::list& arguments) : parts_(std::move(parts)) {
    for (const py::handle argument : arguments) {
      if (auto like = Like::of(argument)) {
        arguments_.emplace_back(std::move(*like));
      } else {
        arguments_.emplace_back(expected_of(argument));
      }
    }
    const auto& buffers = exactly<PyProgram>(parts_.program)->program.buffers();
    const auto is_bound = [](const ir::BufferDecl& decl) { return ir::is_bound(decl.access); };
    bool fits = static_cast<std::size_t>(std::ranges::count_if(buffers, is_bound)) == parts_.slots.size();
    for (const LaunchSlot& slot : parts_.slots) fits = fits && (!slot.argument || like(*slot.argument) != nullptr);
    for (const ParameterWord& word : parts_.words) fits = fits && (!word.argument || is_number(*word.argument));
    if (!fits) refuse_parts();
  }

  bool takes(std::span<PyObject* const> given, const Asked& asked) final {
    Few<std::uint64_t> numbers(arguments_.size());
    return fits(given, asked, numbers);
  }

  py::object call(std::span<PyObject* const> given, const Asked& asked) final {
    Few<std::uint64_t> numbers(arguments_.size());
    return fits(given, asked, numbers) ? self().run(given, numbers.all()) : py::object();
  }

 protected:
  // Null for an argument that is no array.
  Like* like(std::size_t argument) { return argument < arguments_.size() ? std::get_if<Like>(&arguments_[argument]) : nullptr; }

  void write_words(std::span<const std::uint64_t> numbers, Few<std::uint32_t, 32>& words) const {
    for (std::size_t k = 0; k < parts_.words.size(); ++k) words[k] = parts_.words[k].of(numbers);
  }

  // Returns the results, which are null for slots that have none, in the form that a call gives them: None, one array, or a tuple of
  // arrays.
  static py::object returned(std::span<py::object> results) {
    const auto is_result = [](const py::object& each) { return static_cast<bool>(each); };
    const auto count = static_cast<std::size_t>(std::ranges::count_if(results, is_result));
    if (count == 0) return py::none();
    if (count == 1) return std::move(*std::ranges::find_if(results, is_result));
    py::tuple all(count);
    std::size_t next = 0;
    for (py::object& each : results) {
      if (each) all[next++] = std::move(each);
    }
    return all;
  }

  LaunchParts parts_;
  std::vector<std::variant<Like, Expected>> arguments_;

 private:
  bool is_number(std::size_t argument) const {
    const auto* const expected = argument < arguments_.size() ? std::get_if<Expected>(&arguments_[argument]) : nullptr;
    return expected != nullptr && expected->is_number();
  }

  // Whether all arguments are as expected. Fills in the numbers.
  bool fits(std::span<PyObject* const> given, const Asked& asked, Few<std::uint64_t>& numbers) {
    if (given.size() != arguments_.size() || !self().is_open(asked)) return false;
    for (std::size_t k = 0; k < arguments_.size(); ++k) {
      if (const auto* expected = std::get_if<Expected>(&arguments_[k])) {
        const auto number = expected->number(given[k]);
        if (!number) return false;
        numbers[k] = *number;
      } else if (!std::get<Like>(arguments_[k]).fits(given[k])) {
        return false;
      }
    }
    return self().fit_together(given);
  }

  Self& self() { return static_cast<Self&>(*this); }
};

// Prepares the program of a launch with numpy arrays. `backend` and `device` are the arguments of the call, `where` is the place that they
// stand for. Throws what a call throws.
std::shared_ptr<FastCall> host_launch(LaunchParts parts, const py::list& arguments, const py::object& backend, const py::object& device,
                                      const std::pair<py::object, py::object>& where);

}  // namespace vyre::python
