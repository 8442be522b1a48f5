// What a dispatch does, counted without running it: the operators that its invocations apply, and the elements that they load, store and
// change.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "vyre/run/backend.hpp"
#include "vyre/run/reach/index_form.hpp"
#include "vyre/run/reach/values.hpp"
#include "vyre/validate/valid.hpp"

namespace vyre::run {

struct Count {
  Tally most = 0;
  bool exact = true;  // whether it is this often, whatever memory holds
};

struct CostRow {
  enum class What : std::uint8_t { Operations, Loaded, Stored, Atomics };  // bytes are loaded and stored
  What what;
  std::string_view name;  // of the operator or the buffer, in the program
  Count count;
};
using CostRows = std::vector<CostRow>;

struct LoopCost {
  NodeId statement;
  std::optional<Count> turns;           // nothing where no bound is proven; then `turn` counts one turn of an invocation
  std::optional<std::uint32_t> within;  // the loop without a proven bound around it, whose one turn has these turns
  bool has_known_end = false;           // the end is a number, which no `while` comes to
  CostRows turn = {};
};

struct Cost {
  CostRows rows;  // less what loops without a proven bound do
  std::vector<LoopCost> loops;
};

enum class CostOf : bool { Dispatch, Invocation };

// There is a buffer for each of `program.bound()`; loads of those whose words are given count as nothing. The cost of an invocation is the
// most that one of them does. Takes time in proportion to the program.
Cost cost_of(const validate::ValidProgram& program, std::span<const ReachedBuffer> buffers, Grid grid, CostOf of = CostOf::Dispatch);

}  // namespace vyre::run
