// Finds the facts about values that notes need: which are equal, how an index depends on the invocation, and which loads it comes from.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "vyre/validate/finding.hpp"
#include "vyre/validate/valid.hpp"

namespace vyre::validate {

// Numbers the quantities that an index can count: local ids by axis, workgroup ids by axis, and from kLoopDigits on the loop variable with
// that LocalId.
inline constexpr std::uint32_t kWorkgroupDigits = 3, kLoopDigits = 6;

// A sum of digits times factors, and of a part on which all invocations of the grid agree. Sums are taken to stay below 2^32.
struct Linear {
  struct Term {
    std::uint32_t digit, factor;
  };
  static constexpr std::size_t kMostTerms = 6;

  bool known = false;
  std::uint8_t count = 0;
  std::array<Term, kMostTerms> terms{};

  bool uniform() const { return known && count == 0; }
};

struct NoteValue {
  // A load of writable memory, and the number of its index.
  struct Source {
    StepId load;
    std::uint64_t index;
  };
  static constexpr std::size_t kMostSources = 4;

  // Two values with one number are equal, if the later one follows the earlier one within one turn of their loops. A load of writable
  // memory and an atomic have a number of their own.
  std::uint64_t number = 0;
  bool fixed = false;        // whether it depends on no Assign, atomic or writable memory
  std::int8_t id_axis = -1;  // of an invocation id alone
  std::uint8_t source_count = 0;
  std::array<Source, kMostSources> sources{};  // the loads that it depends on, the first few
  Linear linear;
};

// Goes through the statements of a program in order.
class NoteValues {
 public:
  explicit NoteValues(const ValidProgram& program);

  // Computes the values of the statement's steps. The statements before it must have been entered.
  void enter(NodeId statement);

  const NoteValue& operator[](StepId id) const { return values_[id.index]; }
  // The step of an expression that the current statement evaluates.
  StepId step(ExprId expr) const { return step_of_[expr]; }
  const NoteValue& of(ExprId expr) const { return values_[step_of_[expr].index]; }
  // The expression that a variable stands for, with the step that computed it: the value of a Let that nothing assigns to.
  StepId value_of(LocalId local) const { return lets_[local]; }

 private:
  NoteValue computed(StepId id, const Step& step, const ir::Expr& expr);
  NoteValue variable(LocalId local) const;
  Linear sum(const Linear& a, const Linear& b) const;
  Linear scaled(const Linear& a, const ir::Expr& factor) const;
  Linear of_operator(const ir::Binary& binary) const;

  const ir::Program& program_;
  const Facts& facts_;
  std::vector<NoteValue> values_;
  IdVector<ExprId, StepId> step_of_;
  IdVector<LocalId, StepId> lets_;
  IdVector<LocalId, std::uint32_t> assigned_;  // how many Assigns were entered
  std::uint32_t rounds_ = 0;                   // grows where a loop begins and ends: what is assigned in it may have changed
};

}  // namespace vyre::validate
