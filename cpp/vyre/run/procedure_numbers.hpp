// The numbers of a procedure's call: structural ones are known when its steps are flattened, late ones are computed in each call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vyre/ir/procedure.hpp"
#include "vyre/run/flat_steps.hpp"

namespace vyre::run {

// Says for each number of the procedure whether it is structural: sizes, grids or conditions depend on it, so another value gives other
// flat steps. Numbers that are not structural occur only in words.
std::vector<bool> structural_numbers(const ir::Procedure& procedure);

// Computes the late numbers of flat steps from the numbers of a call.
class LateNumbers {
 public:
  // Throws ArgumentError as ir::apply does.
  std::vector<std::uint64_t> values(std::span<const std::uint64_t> numbers) const;

  // A number of the call, or the result of an operation on earlier late numbers and on numbers that are known.
  struct Term {
    ir::SizeOp op = ir::SizeOp::Number;
    std::uint32_t number = 0;
    Number a, b, c;
  };
  std::uint32_t add(const Term& term);
  std::size_t size() const { return terms_.size(); }

 private:
  std::vector<Term> terms_;
};

}  // namespace vyre::run
