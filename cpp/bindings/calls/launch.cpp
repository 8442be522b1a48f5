// The fast path for repeated calls of kernels with resident arrays. Python makes a Launch after it has checked a call. The Launch takes
// later calls with arrays of the same types, shapes and device straight from the arguments to the plan. All other calls go to Python, which
// raises the errors.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/calls/fast_call.hpp"
#include "bindings/calls/planned.hpp"
#include "bindings/convert/convert.hpp"
#include "bindings/program.hpp"
#include "bindings/resident.hpp"
#include "bindings/waiting.hpp"
#include "vyre/base/error.hpp"
#include "vyre/base/few.hpp"
#include "vyre/ir/data_type.hpp"

namespace vyre::python {
namespace {

std::size_t bound_buffers(const PyProgram& program) {
  const auto& buffers = program.program.buffers();
  return static_cast<std::size_t>(std::ranges::count_if(buffers, [](const auto& decl) { return ir::is_bound(decl.access); }));
}

class Launch final : public FastCall {
 public:
  // A slot says what a buffer of the program is bound to: an argument, a new array, an array that the launch keeps, or the words of the
  // parameters.
  struct Given {
    std::size_t argument;
  };
  struct New {
    const ElementType* element;
    std::vector<py::ssize_t> shape;
    bool zeroed;
  };
  struct Kept {
    py::object array;
  };
  struct Words {};
  using Slot = std::variant<Given, New, Kept, Words>;

  py::object program;
  std::vector<std::variant<PyArray, Expected>> arguments;  // an array has no storage: it says what the argument must be like
  std::vector<Slot> slots;
  std::vector<ParameterWord> words;
  std::vector<std::size_t> results;  // indices of slots
  run::Grid grid;

  bool takes(std::span<PyObject* const> given, const Asked& asked) override {
    Few<std::uint64_t> numbers(arguments.size());
    return fits(given, asked, numbers);
  }

  py::object call(std::span<PyObject* const> given, const Asked& asked) override {
    Few<std::uint64_t> numbers(arguments.size());
    return fits(given, asked, numbers) ? run(given, numbers.all()) : py::object();
  }

  // Whether the parts fit each other, so that call() can use their indices without checking them.
  bool whole() const {
    const auto is_array = [&](std::size_t k) { return k < arguments.size() && std::holds_alternative<PyArray>(arguments[k]); };
    const auto fits = [&](const Slot& slot) {
      if (const auto* made = std::get_if<New>(&slot)) return has_size(*made);
      const auto* given = std::get_if<Given>(&slot);
      return given == nullptr || is_array(given->argument);
    };
    const auto is_number = [&](const ParameterWord& word) {
      return !word.argument ||
             (*word.argument < arguments.size() && !is_array(*word.argument) && std::get<Expected>(arguments[*word.argument]).is_number());
    };
    const auto is_result = [&](std::size_t k) {
      return k < slots.size() && (std::holds_alternative<Given>(slots[k]) || std::holds_alternative<New>(slots[k]));
    };
    const bool has_place = std::ranges::any_of(arguments, [](const auto& each) { return std::holds_alternative<PyArray>(each); });
    return has_place && std::ranges::all_of(slots, fits) && std::ranges::all_of(words, is_number) &&
           std::ranges::all_of(results, is_result) && slots.size() == bound_buffers(*exactly<PyProgram>(program));
  }

 private:
  // Whether the shape is valid and its size in bytes fits 64 bits.
  static bool has_size(const New& made) {
    std::uint64_t bytes = made.element->resident;
    for (const py::ssize_t extent : made.shape) {
      if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) return false;
    }
    return true;
  }

  static bool same(const PyArray& given, const PyArray& known) {
    return given.storage != nullptr && given.element == known.element && given.backend == known.backend && given.device == known.device &&
           given.shape == known.shape;
  }

  // Whether all arguments are as expected. Fills in the numbers.
  bool fits(std::span<PyObject* const> given, const Asked& asked, Few<std::uint64_t>& numbers) const {
    if (given.size() != arguments.size() || asked.backend != nullptr || asked.device != nullptr) return false;
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      if (const auto* expected = std::get_if<Expected>(&arguments[k])) {
        const auto number = expected->number(given[k]);
        if (!number) return false;
        numbers[k] = *number;
      } else {
        const PyArray* const array = exactly<PyArray>(given[k]);
        if (array == nullptr || !same(*array, std::get<PyArray>(arguments[k]))) return false;
      }
    }
    return true;
  }

  const PyArray& place() const {
    for (const auto& argument : arguments) {
      if (const auto* array = std::get_if<PyArray>(&argument)) return *array;
    }
    return std::get<PyArray>(arguments.front());
  }

  PyArray words_for(std::span<const std::uint64_t> numbers) const {
    const PyArray& beside = place();
    Few<std::uint32_t, 32> made(words.size());
    for (std::size_t k = 0; k < words.size(); ++k) made[k] = words[k].of(numbers);
    PyArray array{nullptr, beside.backend, beside.device, &element_type(ir::DataType::U32), {static_cast<py::ssize_t>(words.size())}, 0};
    array.storage = value_in_use(*exactly<PyProgram>(program), beside.backend, beside.device, std::as_bytes(made.all()));
    return array;
  }

  py::object run(std::span<PyObject* const> given, std::span<const std::uint64_t> numbers) const {
    const PyArray& beside = place();
    Few<const PyArray*> arrays(slots.size());
    Few<py::object> objects(slots.size());
    PyArray of_words;
    for (std::size_t k = 0; k < slots.size(); ++k) {
      if (const auto* argument = std::get_if<Given>(&slots[k])) {
        objects[k] = py::reinterpret_borrow<py::object>(given[argument->argument]);
        arrays[k] = exactly<PyArray>(objects[k]);
      } else if (const auto* made = std::get_if<New>(&slots[k])) {
        PyArray array{nullptr, beside.backend, beside.device, made->element, made->shape, 0};
        while_waiting(
            {}, [&](const run::RunOptions&) { array.storage = beside.backend->allocate(beside.device, array.bytes(), made->zeroed); });
        objects[k] = py::cast(std::move(array));
        arrays[k] = exactly<PyArray>(objects[k]);
      } else if (const auto* kept = std::get_if<Kept>(&slots[k])) {
        arrays[k] = exactly<PyArray>(kept->array);
      } else {
        of_words = words_for(numbers);
        arrays[k] = &of_words;
      }
    }
    call_planned(*exactly<PyProgram>(program), arrays.all(), grid);
    if (results.size() == 1) return std::move(objects[results.front()]);
    if (results.empty()) return py::none();
    py::tuple all(results.size());
    for (std::size_t k = 0; k < results.size(); ++k) all[k] = objects[results[k]];
    return all;
  }
};

// Converts Python's description of a slot: index of an argument, (dtype, shape, zeroed), an array, or None for the words.
Launch::Slot slot_of(py::handle told) {
  if (told.is_none()) return Launch::Words{};
  if (is<PyArray>(told)) return Launch::Kept{py::reinterpret_borrow<py::object>(told)};
  if (PyLong_Check(told.ptr())) return Launch::Given{told.cast<std::size_t>()};
  const auto parts = told.cast<std::tuple<ir::DataType, std::vector<py::ssize_t>, bool>>();
  return Launch::New{&element_type(std::get<0>(parts)), std::get<1>(parts), std::get<2>(parts)};
}

}  // namespace

void bind_launch(py::module_& m) {
  py::options options;
  options.disable_function_signatures();
  // `arguments` has an array, or a description for expected_of(), for each argument of the call. slot_of() and word_of() convert the
  // elements of `slots` and `words`.
  m.def(
      "_launch",
      [](const py::object& program, const py::list& arguments, const py::list& slots, const py::list& words,
         const std::vector<std::size_t>& results, const std::array<std::uint32_t, 3>& workgroups) {
        to_program(program, "argument `program` of _launch");
        const auto launch = std::make_shared<Launch>();
        launch->program = program;
        for (const py::handle argument : arguments) {
          if (is<PyArray>(argument)) {
            launch->arguments.emplace_back(argument.cast<const PyArray&>());
            std::get<PyArray>(launch->arguments.back()).storage.reset();
          } else {
            launch->arguments.emplace_back(expected_of(argument));
          }
        }
        for (const py::handle slot : slots) launch->slots.push_back(slot_of(slot));
        for (const py::handle word : words) launch->words.push_back(word_of(word));
        launch->results = results;
        launch->grid = {workgroups[0], workgroups[1], workgroups[2]};
        if (!launch->whole()) throw ArgumentError("the parts of a launch do not fit each other. Fix: call the kernel itself.");
        return in_capsule(launch);
      },
      py::arg("program"), py::arg("arguments"), py::arg("slots"), py::arg("words"), py::arg("results"), py::arg("workgroups"));
}

}  // namespace vyre::python
