// The numbers of a procedure's call: structural ones are known when its steps are flattened, late ones are computed in each call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "vyre/ir/procedures/procedure.hpp"
#include "vyre/run/procedures/flat_steps.hpp"

namespace vyre::run {

// Says for each number of the procedure whether it is structural: sizes, grids or conditions depend on it, so another value gives other
// flat steps. Numbers that are not structural occur only in words.
std::vector<bool> structural_numbers(const ir::Procedure& procedure);

// Computes the late numbers of flat steps from the numbers of a call.
class LateNumbers {
 public:
  // Throws ArgumentError as ir::apply does, and as check_fits does for the limits.
  std::vector<std::uint64_t> values(std::span<const std::uint64_t> numbers) const;

  // A number of the call, or the result of an operation on earlier late numbers and on numbers that are known.
  struct Term {
    ir::SizeOp op = ir::SizeOp::Number;
    std::uint32_t number = 0;
    Number a, b, c;
  };
  std::uint32_t add(const Term& term);
  // Returns a late number with the value of another one, which has a signed type and is refused while it is negative. `what` begins the
  // message.
  std::uint32_t add_size(std::uint32_t late, ir::DataType type, std::string what);
  std::size_t size() const { return terms_.size(); }

  // A late number that must fit into a type; `use.what` begins with the place of the step.
  struct Limit {
    std::uint32_t late = 0;
    ir::DataType type = ir::kU32;
    ir::WordUse use;
  };
  // Says whether the number has a limit of this type already. Steps may share a number, and errors name the first of them.
  bool is_limited(std::uint32_t late, ir::DataType type) const { return limited_.contains({late, type}); }
  void limit(Limit limit);

 private:
  struct SignedSize {
    std::uint32_t late = 0;
    ir::DataType type = ir::kU32;
    std::string what;
  };

  std::vector<std::variant<Term, SignedSize>> terms_;
  std::map<std::uint32_t, std::uint32_t> sizes_;  // the results of add_size
  std::vector<Limit> limits_;
  std::set<std::pair<std::uint32_t, ir::DataType>> limited_;
};

// Returns the largest number that a parameter of this type takes; one of a signed type is given as bits.
std::uint64_t largest_number(ir::DataType type);
// Returns the largest size that such a parameter takes. Only a signed type differs: larger sizes would be negative numbers there.
std::uint64_t largest_size(ir::DataType type);
// Throws ArgumentError for a size that is larger.
void check_fits(std::uint64_t value, ir::DataType type, const ir::WordUse& use);
// Throws ArgumentError if the bits are a negative number. `what` describes the number.
void check_size(std::uint64_t bits, ir::DataType type, const std::string& what);

}  // namespace vyre::run
