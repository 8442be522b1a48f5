// Finds what of the arrays of a procedure has to be filled with zeros, because a step may read it, or the call return it, before any step
// has certainly written it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vyre/run/procedures/flat_steps.hpp"

namespace vyre::run {

// How a flat array begins.
struct ArrayBegin {
  static constexpr std::size_t kNever = ~std::size_t{0};
  bool zeros = false;          // its elements are 0 until a step writes them
  std::size_t first = kNever;  // the number of steps before the first one that uses it
  // What FlatSteps::Dispatch::live is of the steps with which it is made: these do all or nothing.
  std::optional<FlatSteps::Part> live = std::nullopt;
};

// After so many steps an invocation ends, and its output `array` is what its caller has in `to`.
struct HandedOver {
  std::size_t after = 0;
  std::uint32_t array = 0;
  FlatSteps::Part to;
  std::optional<FlatSteps::Part> live = std::nullopt;  // of the steps of the invocation
};

// Zeros that are needed before a step.
struct NeededZeros {
  std::size_t before = 0;
  FlatSteps::Part part;
};

// Returns what is needed, by step and then by array. `begins` has one for each of `steps.arrays`. The bytes of these are known.
std::vector<NeededZeros> needed_zeros(const FlatSteps& steps, std::span<const ArrayBegin> begins, std::span<const HandedOver> handed_over);

}  // namespace vyre::run
