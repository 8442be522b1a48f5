// What is known of the values of a kernel at the position where its next instruction is added: a forward analysis of ranges
// (lower/ranges.hpp) that follows the kernel as it is written, once and without going back.
//
// A value has the range of its instruction's operands. A variable has the range of what was written last; where branches join, the range of
// either. A loop may change a variable before its first statement, so at the head of a loop a variable that the loop writes is anything up
// to its ceiling (LoopChange). Conditions narrow the ranges of their operands until the end of the branch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "vyre/lower/kernel.hpp"
#include "vyre/lower/ranges.hpp"
#include "vyre/lower/value_ids.hpp"

namespace vyre::lower {

// A variable that is written somewhere in a loop.
struct LoopChange {
  std::uint32_t variable = 0;
  // Every write leaves the variable at most as great as it was, or as this; nothing when that is not known.
  std::optional<std::uint32_t> ceiling;
};

class Bounds {
 public:
  // The code that the ids are of, as it grows.
  Bounds(const std::vector<Instruction>& leaves, const std::vector<Instruction>& code, const ir::WorkgroupSize& workgroup_size)
      : leaf_code_(leaves), code_(code), workgroup_size_(workgroup_size) {}
  Bounds(const Bounds&) = delete;
  Bounds& operator=(const Bounds&) = delete;

  // To be called before the first instruction. The functions below may be called only afterwards; without it, nothing is known.
  void enable() { enabled_ = true; }
  bool enabled() const { return enabled_; }

  // The writer has added the instruction. What a guard writes (in a unit) may not happen.
  void added(ValueId id, bool in_unit);
  // The regions of Writer.
  void open_region();
  void next_branch();
  void close_region(bool is_loop);
  // At the head of a loop.
  void changes_in_loop(std::span<const LoopChange> changes);

  // Narrows what is known of a value, until the end of the region.
  void narrow(ValueId id, const Range& range);
  Range range(ValueId id) const;
  // As range(), with what has become known since the value was made.
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
  // What a branch leaves of a variable.
  struct Left {
    std::uint32_t variable;
    Range range, written;
    bool is_written;
  };
  struct Region {
    std::size_t values, variables;  // the number of changes made before it
    bool has_else = false, then_ends = false;
    std::vector<Left> then;
  };

  bool is_part_of(ValueId part, ValueId whole) const;
  Range computed(const Instruction& it) const;
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
