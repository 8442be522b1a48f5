// Builds a Kernel. Leaves are the values that are the same everywhere (literals, ids, lengths): each is made once, at the entry, where it
// dominates every use. Dead code is left out.
//
// With Order::Canonical the code depends on what a program computes and on the order of its effects, not on how the program is written.
// Value numbering computes equal values once, where the first of them dominates the others. Each value stands in front of the first effect
// that uses it. Values in front of the same effect stand in the order in which a walk over all effects, from first to last, reaches them.
// So a `let` gives the same code as its expression written in place, and a call costs nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "vyre/lower/bounds.hpp"
#include "vyre/lower/kernel.hpp"
#include "vyre/lower/value_ids.hpp"

namespace vyre::lower {

enum class Order : std::uint8_t { AsWritten, Canonical };

// The choices that decide the shape of a kernel's code.
struct Shape {
  // Whether the writer uses ranges of values and what branches and loops guarantee to leave out what they decide.
  bool proofs = true;
  Order order = Order::Canonical;
  // Whether finish() turns short branches into selects and moves values to their first use (straighten.hpp, settle.hpp).
  bool straightened = false;
};

// The ids that a Writer gives out are valid in this Writer only: finish() numbers all instructions anew.
class Writer {
 public:
  explicit Writer(const ir::WorkgroupSize& workgroup_size, const Shape& shape = {}) : shape_(shape) {
    kernel_.workgroup_size = workgroup_size;
  }

  // Reserves room for about this many values.
  void reserve(std::size_t values);

  // The caller fills in buffers and shared arrays.
  Kernel& kernel() { return kernel_; }
  std::uint32_t variable(std::uint32_t lanes);

  // Adds a value at the entry of the kernel. Its operands must be leaves as well.
  ValueId leaf(const Instruction& instruction);
  ValueId constant(std::uint32_t bits) { return leaf({.op = Opcode::Constant, .lanes = 1, .imm = bits}); }
  ValueId zero(std::uint32_t lanes);
  ValueId length(std::uint32_t slot) { return leaf({.op = Opcode::Length, .lanes = 1, .imm = slot}); }

  // Adds an instruction at the current position. In canonical order it may return an equal value that was added before.
  ValueId add(const Instruction& instruction);
  // Adds `op` with a result of one lane, or returns an equal value that was added before. Without the canonical order, only values that
  // were added since a region was last opened or closed are returned.
  ValueId once(Opcode op, ValueId a, ValueId b = {}, ValueId c = {});
  // A lane of a value of several. That of a Pack is the operand.
  ValueId lane(ValueId value, std::uint32_t k) {
    const Instruction& pack = at(value);
    return pack.op == Opcode::Pack ? pack.operands()[k] : add({.op = Opcode::Lane, .lanes = 1, .imm = k, .a = value});
  }
  // Instructions added between begin_unit() and end_unit() stay together and in this order: a guard with its effect.
  void begin_unit() { unit_ = size(); }
  void end_unit() { unit_ = kNone; }
  // open_region() follows an added If or Loop, next_branch() an added Else, close_region() an added EndIf or EndLoop. A value added
  // inside a region is not available after it.
  void open_region();
  void next_branch();
  void close_region();

  // Records that the `count` numbers from a on are all below b: a < b for one number. None of them wraps around. A branch or a loop
  // guarantees this, so the caller calls forget_assumptions() at the end of that region.
  void assume_below(ValueId a, ValueId b, std::uint64_t count = 1);
  bool is_assumed_below(ValueId a, ValueId b, std::uint64_t count = 1) const;
  std::size_t assumptions() const { return assumed_.size(); }
  void forget_assumptions(std::size_t kept);

  // The instructions added so far, without the leaves.
  std::span<const Instruction> code() const { return code_; }
  const Instruction& at(ValueId value) const { return is_leaf(value) ? leaves_[value.index & ~kLeaf] : code_[value.index]; }
  std::optional<std::uint32_t> literal(ValueId value) const;
  bool proofs() const { return shape_.proofs; }
  // The ranges of values at the current position.
  Bounds& bounds() { return bounds_; }

  // Whether the last access to memory kept its check.
  void checked(bool kept) { check_kept_ = kept; }
  bool check_kept() const { return check_kept_; }

  Kernel finish();

 private:
  struct Hash {
    std::size_t operator()(const Instruction& instruction) const noexcept;
  };
  struct Made {
    Instruction instruction{};
    ValueId value;
    std::uint32_t stretch = ~0u;
  };
  static constexpr std::uint32_t kNone = ~0u;
  // The context that an instruction was added in: its region and unit, and what its value depends on besides its operands.
  struct Context {
    std::uint32_t region = 0;
    std::uint32_t unit = 0;  // the first instruction of its unit; the instruction itself when it is in no unit
    bool fixed = false;      // whether it is an effect or in a unit, and so keeps its position
    // Two equal instructions give the same value only if these agree too.
    std::uint32_t barriers = 0;               // the number of barriers before it
    std::uint32_t version = 0, loop = kNone;  // of a ReadVariable: how often the variable was written before, and the innermost loop
  };
  struct Region {
    std::uint32_t opener = kNone;  // the instruction that opens it; it belongs to the enclosing region
    std::uint32_t end = kNone;     // the number of instructions when it was closed; none while it is open
    std::uint32_t loop = kNone;    // the innermost loop around it
  };
  std::uint32_t size() const { return static_cast<std::uint32_t>(code_.size()); }

  // The value that ranges show an instruction to have, whose result has this range: a literal, or one of its operands. Invalid where they
  // show none.
  ValueId known_result(const Instruction& it, const Range& result);
  ValueId append(const Instruction& instruction, const Context& context, const std::optional<Range>& range);
  // Returns the slot of known_ that holds the value, or the empty slot where the value belongs.
  std::uint32_t& slot_of(const Instruction& instruction, const Context& context);
  void resize_known(std::size_t slots);
  bool reads_writable_memory(const Instruction& instruction) const;
  void begin_region(std::uint32_t opener);
  void end_region();
  using Flags = std::vector<std::uint8_t>;  // faster than bits
  // Marks the leaves, instructions and variables that a kernel keeps.
  struct Live {
    Flags leaf, code, variable;
  };
  Live mark_live() const;
  Kernel compact();
  // These two return the live values and effects in the order of the kernel. The leaves in the list are in their order at the entry.
  std::vector<ValueId> as_written(const Flags& leaf_live, const Flags& code_live) const;
  std::vector<ValueId> canonical(const Flags& code_live) const;
  std::vector<ValueId> by_first_need(const Flags& code_live) const;
  std::vector<std::uint32_t> latest_positions(const Flags& code_live) const;
  template <class Array, class Accesses>
  void drop_unused(std::vector<Array>& arrays, Accesses&& accesses);

  std::uint32_t leaves_kept_ = 0;
  const Shape shape_;
  Kernel kernel_;
  std::vector<Instruction> leaves_, code_;
  std::unordered_map<Instruction, ValueId, Hash> known_leaves_;
  // A cache that is indexed by hash: a later value overwrites an earlier one. That is enough, because repeated guards stand close together.
  std::array<Made, 256> made_;
  std::uint32_t stretch_ = 0;
  std::vector<Context> contexts_;  // by instruction
  std::vector<Region> regions_{Region{}};
  std::vector<std::uint32_t> open_{0};  // the open regions, the innermost last
  std::uint32_t unit_ = kNone;
  // In canonical order: a hash table of the values, probed linearly. Half of it stays empty.
  std::vector<std::uint32_t> known_;
  std::uint32_t known_count_ = 0;
  std::vector<std::uint32_t> versions_;  // of each variable: how often it was written
  std::uint32_t barriers_ = 0;
  struct Assumed {
    std::uint64_t pair;    // of ids
    std::uint64_t before;  // the count that was known of the pair before
  };
  std::vector<Assumed> assumed_;
  std::unordered_map<std::uint64_t, std::uint64_t> assumed_count_;  // by pair; 0 where nothing is known
  Bounds bounds_{leaves_, code_, kernel_.workgroup_size};
  bool check_kept_ = false;
};

}  // namespace vyre::lower
