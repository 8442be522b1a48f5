// Puts a Kernel together: what is the same wherever it stands (literals, ids, lengths) is made once, at the entry, where it
// dominates every use; what nobody needs in the end is left out.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "vyre/lower/kernel.hpp"

namespace vyre::lower {

// The ids that a Writer gives out are its own until finish() numbers them anew.
class Writer {
 public:
  // Without proofs, nothing is known of any index.
  explicit Writer(const ir::WorkgroupSize& workgroup_size, bool proofs = true) : proofs_(proofs) {
    kernel_.workgroup_size = workgroup_size;
  }

  // Buffers and shared arrays are the caller's to fill in.
  Kernel& kernel() { return kernel_; }
  std::uint32_t variable(std::uint32_t lanes);

  // At the entry; operands are leaves too.
  ValueId leaf(const Instruction& instruction);
  ValueId constant(std::uint32_t bits) { return leaf({.op = Opcode::Constant, .lanes = 1, .imm = bits}); }
  ValueId zero(std::uint32_t lanes);
  ValueId length(std::uint32_t slot) { return leaf({.op = Opcode::Length, .lanes = 1, .imm = slot}); }

  // Here.
  ValueId add(const Instruction& instruction);
  // One lane of `op` on the operands; reused when it was made before in this stretch of code.
  ValueId once(Opcode op, ValueId a, ValueId b = {}, ValueId c = {});
  // From here on, values made before may not be certain to have been made.
  void new_stretch() { ++stretch_; }

  // What a branch or a loop has made sure of, for as long as the code is inside it.
  void assume_below(ValueId a, ValueId b);
  bool is_known_below(ValueId a, ValueId b) const;
  std::size_t assumptions() const { return assumed_.size(); }
  void forget_assumptions(std::size_t kept);

  const Instruction& at(ValueId value) const { return is_leaf(value) ? leaves_[value.index & ~kLeaf] : code_[value.index]; }
  std::optional<std::uint32_t> literal(ValueId value) const;
  bool proofs() const { return proofs_; }

  // See straighten.hpp. Values that the caller holds are no longer good afterwards.
  void straighten();
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
  static constexpr std::uint32_t kLeaf = 0x80000000u;
  static bool is_leaf(ValueId value) { return (value.index & kLeaf) != 0; }

  const bool proofs_;
  Kernel kernel_;
  std::vector<Instruction> leaves_, code_;
  std::unordered_map<Instruction, ValueId, Hash> known_leaves_;
  // A later value may take the place of an earlier one: repeated guards stand close together.
  std::array<Made, 256> made_;
  std::uint32_t stretch_ = 0;
  std::vector<std::uint64_t> assumed_;                              // pairs of ids
  std::unordered_map<std::uint64_t, std::uint32_t> assumed_count_;  // how often each is among them
};

}  // namespace vyre::lower
