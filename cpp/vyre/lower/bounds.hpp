// Computes the ranges (lower/ranges.hpp) of the values and variables of a kernel at the position where the next instruction is added. It
// is a forward analysis: it follows the kernel as it is written, once and without going back.
//
// The range of a value is computed from the ranges of its instruction's operands. A variable has the range of the value that was written
// last; where branches join, its range covers both branches. A loop body may run after an earlier turn wrote a variable, so at the head of
// a loop every variable that the loop writes may have any value up to its ceiling (LoopChange). Conditions narrow the ranges of their
// operands until the end of the branch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "vyre/lower/kernel.hpp"
#include "vyre/lower/ranges.hpp"
#include "vyre/lower/value_ids.hpp"

namespace vyre::lower {

// A write of a variable somewhere in a loop.
struct LoopChange {
  std::uint32_t variable = 0;
  // The written value is at most this ceiling, or at most the value that the variable had before; nothing when no such bound is known.
  std::optional<std::uint32_t> ceiling;
};

class Bounds {
 public:
  // `leaves` and `code` are the instructions that ids refer to; Bounds keeps references to them while they grow.
  Bounds(const std::vector<Instruction>& leaves, const std::vector<Instruction>& code, const ir::WorkgroupSize& workgroup_size)
      : leaf_code_(leaves), code_(code), workgroup_size_(workgroup_size) {}
  Bounds(const Bounds&) = delete;
  Bounds& operator=(const Bounds&) = delete;

  // Switches the analysis on, before the first instruction is added. Without it, the functions that report changes must not be called, and
  // range() and range_now() know nothing of variables and conditions.
  void enable() { enabled_ = true; }
  bool enabled() const { return enabled_; }

  // Reports that the writer has added an instruction, with its range if that is computed already. In a unit, a write may stand inside a
  // guard and not happen.
  void added(ValueId id, bool in_unit, const std::optional<Range>& range);
  // Report the regions of Writer.
  void open_region();
  void next_branch();
  void close_region(bool is_loop);
  // Reports at the head of a loop which variables its body writes.
  void changes_in_loop(std::span<const LoopChange> changes);

  // The range of the result of an instruction at this position.
  Range computed(const Instruction& it) const;
  // Narrows what is known of a value, until the end of the region.
  void narrow(ValueId id, const Range& range);
  Range range(ValueId id) const;
  // Like range(), but recomputed with what has become known of the operands since the value was added.
  Range range_now(ValueId id);

 private:
  struct Variable {
    Range range{};
    ValueId read;  // the last value that was read from it, while it still has that value
  };
  // A change that is undone at the end of a region.
  struct NarrowedValue {
    ValueId id;
    Range before;
  };
  struct ChangedVariable {
    std::uint32_t variable;
    Range before;
    Range written;  // all values that were written
    bool is_written;
  };
  // The state of a variable at the end of a branch.
  struct Left {
    std::uint32_t variable;
    Range range, written;
    bool is_written;
  };
  struct Region {
    std::size_t values, variables;  // the sizes of narrowed_ and changed_ when the region began
    bool has_else = false, then_ends = false;
    std::vector<Left> then;
  };

  bool is_part_of(ValueId part, ValueId whole) const;
  Range selected(const Instruction& it) const;
  Range& slot(ValueId id);
  Variable& variable(std::uint32_t index);
  void write(std::uint32_t index, const Range& range, const Range& written);
  std::vector<Left> undo(const Region& region);

  const Instruction& at(ValueId id) const { return is_leaf(id) ? leaf_code_[number(id)] : code_[id.index]; }

  const std::vector<Instruction>&leaf_code_, &code_;
  const ir::WorkgroupSize& workgroup_size_;
  bool enabled_ = false;
  bool ends_ = false;  // a Return or a Break ends the branch
  std::vector<Range> leaves_, values_;
  std::vector<Variable> variables_;
  std::vector<NarrowedValue> narrowed_;
  std::vector<ChangedVariable> changed_;
  std::vector<Region> regions_;
  std::vector<std::uint32_t> left_at_;  // by variable, while branches are joined
};

}  // namespace vyre::lower
