// The facts from outside of a program that its handles need in order to be resolved.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "vyre/ir/fwd.hpp"
#include "vyre/ir/op_spec.hpp"

namespace vyre::ir {

struct Surroundings {
  // Called once, and only if an expression calls an operation. If it is empty, results of calls have no known type.
  std::function<OpTable()> operations;
  // Variables that are there at the start: the parameters of an operation.
  std::vector<std::pair<std::string, DataType>> variables;
  bool spelled = false;  // see spell_out()
};

}  // namespace vyre::ir
