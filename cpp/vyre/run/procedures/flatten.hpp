// Turns a procedure into flat steps (flat_steps.hpp) for arrays of some lengths, some numbers and a device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "vyre/ir/procedures/procedure.hpp"
#include "vyre/run/procedures/flat_steps.hpp"
#include "vyre/run/procedures/procedure_numbers.hpp"
#include "vyre/run/procedures/shape.hpp"

namespace vyre::run {

struct Flattened {
  FlatSteps steps;
  LateNumbers late;
  // The shapes of the inputs and in_outs, and then of the outputs, in the order of ir::Procedure::interface(). The given arrays of `steps`
  // have the same order.
  std::vector<Shape> shapes;
};

struct ToFlatten {
  std::span<const Shape> shapes;           // of the inputs and in_outs
  std::span<const std::uint64_t> numbers;  // of the call; those that are not structural may be anything
  std::function<std::uint64_t(ir::Limit)> limit;
  // `valid` returns a program in its validated form, and `table` returns the memory of a table.
  std::function<ProfiledProgram(const ir::Program&)> valid;
  std::function<std::shared_ptr<Storage>(const ir::ArrayDecl&)> table;
};

// The most dispatches of a call.
inline constexpr std::size_t kMostDispatches = 100'000;

// Throws ArgumentError for sizes that no array can have and for too many steps, and BindingError for arrays that overlap; the messages name
// the array or the step.
Flattened flatten(const ir::Procedure& procedure, const ToFlatten& given);

}  // namespace vyre::run
