// Finds values that may be one of several. NVIDIA's compilers (ptxas 12.9, driver 580) check an index
// that is chosen from two as they check each of the two by itself, and may leave out what stands
// behind: `a[i] = 1; a[select(c, i, j)] = b[0]; a[i] = 2` with a `j` that is out of range left 1 in
// `a[i]`. That is also so behind arithmetic that they find out to change nothing, such as `k + lid.x`
// where a workgroup has one invocation. Emitters check such an index plus a zero that a compiler does
// not know to be one.
#pragma once

#include <cstdint>
#include <vector>

#include "vyre/emit/places.hpp"
#include "vyre/lower/kernel.hpp"

namespace vyre::emit {

// Whether a Select gives what a load gave, or zeros where the index was out of range.
bool is_checked_load(const lower::Kernel& kernel, const lower::Instruction& select);

class ChosenValues {
 public:
  explicit ChosenValues(const lower::Kernel& kernel) : kernel_(kernel) {}

  // Whether a value is that of a Select, of a variable that is written more than once, or is computed
  // from one of these.
  bool contains(lower::ValueId value);

 private:
  enum class Known : std::uint8_t { Nothing, Opened, IsNot, Is };
  struct Variable {
    std::uint32_t writes = 0;
    lower::ValueId written{};  // last
  };

  // Whether this instruction chooses; otherwise adds the operands that its result is computed from.
  bool chooses(std::uint32_t at, std::vector<std::uint32_t>& operands);
  const Variable& variable(std::uint32_t number);

  const lower::Kernel& kernel_;
  std::vector<Known> known_;
  std::vector<Variable> variables_;
};

// Returns for each instruction whether it is such a value, and a branch compares it with the length of
// an array. The list is empty if there is none.
std::vector<bool> checked_choices(const lower::Kernel& kernel, const Opcodes& opcodes);

}  // namespace vyre::emit
