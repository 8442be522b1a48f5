// Follows the values of loads that gave no element of the program's: beyond the end of an array, or of memory that nothing has written.
//
// Such a load is a mistake once its value is used: by a store, an atomic, their index, a condition or a bound of a loop. What is loaded by
// a doubtful index is in doubt too. The arm of a select that is not taken, and a side that an "and" or an "or" decides away, drop the value
// without having used it.
#pragma once

#include <cstdint>
#include <vector>

#include "vyre/run/reference/code.hpp"

namespace vyre::run::reference {

// A load whose value is in doubt.
struct Doubt {
  Address site = 0;
  std::uint32_t index = 0, value = 0;
  bool outside = false;  // else the element was not written
};

// The doubts about the values in the slots of one invocation.
class Doubts {
 public:
  bool empty() const { return marks_.empty(); }
  void clear() { marks_.clear(); }
  // The load at `i` has given a doubtful value.
  void begin(const Instruction& i, const Doubt& doubt);

  // Goes on with the instruction, which is about to run. Returns the doubts that it settles, because it uses the values; they are
  // forgotten. `acts` says whether a store or an atomic reaches its element, and `in_operation` whether the instruction stands in an
  // operation: what an operation branches on is used where its result is.
  const std::vector<Doubt>& follow(const Instruction& i, const std::uint32_t* slots, bool acts, bool in_operation);

 private:
  struct Mark {
    Slot slot = 0;
    bool truth = false;  // the value is 0 or 1
    Doubt doubt;
  };
  // The slot of the doubts that an operation has branched on. Its result gets them when that is copied.
  static constexpr Slot kBranches = ~Slot{0};

  bool is_marked(Slot slot) const;
  bool is_decided(const Instruction& i, const std::uint32_t* slots) const;
  void derive(Slot slot, std::uint32_t lanes);
  void give(Slot slot, std::uint32_t lanes, bool truth);
  void use(Slot slot, std::uint32_t lanes, bool in_operation);
  void compute(const Instruction& i, const std::uint32_t* slots);
  void copy(const Instruction& i, Slot from, const Slot* condition, bool ended);

  std::vector<Mark> marks_;
  std::vector<Mark> derived_;  // what the instruction's result depends on
  std::vector<Doubt> used_;
  bool left_ = false;  // an operation has ended, and the next instruction copies its result
};

}  // namespace vyre::run::reference
