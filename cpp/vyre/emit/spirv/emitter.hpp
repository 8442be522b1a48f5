// The state of emitting one kernel, which all steps share. Each step has a file: the declarations of the module, the zeroing of shared
// arrays, instructions, accesses to memory, and control flow.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <vector>

#include "glslang/SPIRV/GLSL.std.450.h"
#include "vyre/base/assert.hpp"
#include "vyre/emit/branched_exits.hpp"
#include "vyre/emit/chosen_values.hpp"
#include "vyre/emit/joined_extremes.hpp"
#include "vyre/emit/known_inversions.hpp"
#include "vyre/emit/known_signs.hpp"
#include "vyre/emit/spirv/module.hpp"
#include "vyre/emit/spirv/options.hpp"
#include "vyre/emit/unused_lanes.hpp"
#include "vyre/emit/uses.hpp"
#include "vyre/lower/kernel.hpp"

namespace vyre::spirv {

using lower::Form;
using lower::Instruction;
using lower::Kernel;
using lower::Opcode;
using lower::ValueId;

// The ids of a value by form; 0 for a form that nothing uses.
struct Value {
  std::array<Word, lower::kForms> ids{};
  Word& operator[](Form form) { return ids[static_cast<std::size_t>(form)]; }
};

class Emitter {
 public:
  Emitter(const Kernel& kernel, const Options& options) : kernel_(kernel), options_(options), values_(kernel.code.size()) {}

  std::vector<Word> run();

 private:
  // The address of a buffer's first byte, as two halves: not every driver has integers of 64 bits.
  struct Address {
    Word low, high;
  };
  // An open If, Else or Loop.
  struct Region {
    Word merge;
    bool merge_reached;  // a block branches to it
    Word otherwise = 0;  // of an If with an Else
    // These are of a Loop.
    Word header = 0;
    Word next = 0;         // the continue target
    Word turn = 0;         // counts the turns
    Word next_turn = 0;    // its value in the next turn
    Word end = 0;          // its upper bound
    Word left = 0;         // 1 once the invocation has left the loop; where loops are checked, or left at their head
    bool returns = false;  // a Return leaves the loop
    bool leaves_at_head = false;
  };

  // emit.cpp
  // Emits an instruction, and hides an operand that NVIDIA's compiler may know too much of.
  void next(std::uint32_t at);
  void instruction(std::uint32_t at);
  // `volatility` is the mask that loads from memory get besides.
  void own_instruction(std::uint32_t at, Word volatility);
  Word wide(const Instruction& code);
  Word extended(GLSLstd450 function, Word type, std::initializer_list<Word> operands);
  // Defines the form that an instruction gives, and the others from it where something uses them.
  void define(std::uint32_t at, Word id) {
    const Form made = uses_.forms(at).result;
    if (made == Form::Bits && !checked_choices_.empty() && checked_choices_[at]) id = hidden(id);
    values_[at][made] = id;
    if (!uses_.as_nothing_but(made, at)) define_others(at, made, id);
  }
  void define_others(std::uint32_t at, Form made, Word id);
  // The sum with a zero that a compiler does not know to be one.
  Word hidden(Word id);
  Word input(Word variable, std::uint32_t axis);
  Word parameter(std::uint32_t word);
  Word workgroup_id(std::uint32_t axis);
  Word local_id(std::uint32_t axis);
  std::array<Word, 4> packed_lanes(const Instruction& code);
  Word unknown_zero();
  Word unknown_ones();

  // declarations.cpp
  void declare_capabilities();
  void declare();
  void load_addresses();

  // shared_arrays.cpp
  void zero_shared();
  void zero_privates();
  void zero_array(std::uint32_t count, std::uint64_t stride, Word first, const std::function<void(Word)>& write);

  // accesses.cpp
  // The type of a buffer's elements.
  Word element_type(const lower::KernelBuffer& buffer);
  Word& buffer_pointer(const lower::KernelBuffer& buffer);
  Word buffer_element(std::uint32_t slot, Word index);
  Word addressed_element(std::uint32_t slot, Word index);
  Word shared_element(std::uint32_t array, Word index);
  Word private_element(std::uint32_t array, Word index);
  Word load_buffer(const Instruction& code, Word volatility);
  Word load_shared(const Instruction& code, Word volatility);
  void store_buffer(const Instruction& code);
  void store_element(Word element, Word value);
  Word atomic(spv::Op op, const Instruction& code);
  void barrier();

  // control_flow.cpp
  void begin_if(std::uint32_t at);
  void begin_else();
  void end_if();
  void begin_loop(std::uint32_t at);
  // Leaves the innermost loop. Returns whether there is one.
  bool leave_loop(bool returns);
  // Ends the invocation, from within a loop by way of its merge block.
  void leave();
  void end_loop();
  Word stayed(const Region& region);
  bool has_break(std::uint32_t loop) const;

  void put(spv::Op op, std::initializer_list<Word> operands) { module_.add(Section::FunctionBody, op, operands); }
  Word result(spv::Op op, Word type, std::initializer_list<Word> operands) {
    return module_.add_result(Section::FunctionBody, op, type, operands);
  }
  void label(Word id) {
    put(spv::OpLabel, {id});
    block_ = id;
    live_ = true;
  }
  // Ends the block, unless it has ended already.
  void branch(Word target) {
    if (live_) put(spv::OpBranch, {target});
    live_ = false;
  }

  Word uint() const { return uint_; }
  Word boolean() const { return boolean_type_; }
  Word constant(Word bits) { return module_.constant(bits); }
  Word as(Form form, ValueId value) {
    const Word id = values_[value.index][form];
    VYRE_ASSERT(id != 0);
    return id;
  }
  Word bits(ValueId value) { return as(Form::Bits, value); }
  Word truth(ValueId value) { return as(Form::Truth, value); }

  const Kernel& kernel_;
  const Options& options_;
  Module module_;

  std::vector<Value> values_;
  const emit::Uses uses_{kernel_, options_.addresses};
  std::vector<Region> regions_;
  Word returned_ = 0;  // 1 once a Return has left a loop
  const emit::Opcodes opcodes_ = emit::opcodes_of(kernel_);
  const std::vector<ValueId> known_inversions_ = emit::known_inversions(kernel_, opcodes_);
  const std::vector<bool> shifts_of_known_signs_ = emit::shifts_of_known_signs(kernel_, opcodes_);
  const std::vector<bool> checked_choices_ = emit::checked_choices(kernel_, opcodes_);
  const std::vector<bool> joined_extremes_ = emit::joined_extremes(kernel_, opcodes_);
  const bool hides_ = !known_inversions_.empty() || !shifts_of_known_signs_.empty() || !joined_extremes_.empty();
  const std::vector<bool> closed_loops_ = emit::loops_closed_to_unused_lanes(kernel_);
  const std::vector<emit::BranchedExits> branched_exits_ = emit::branched_exits(kernel_, opcodes_);
  Word block_ = 0;     // the label of the current block
  bool live_ = false;  // the current block has not ended

  Word glsl_ = 0, uint_ = 0, boolean_type_ = 0;
  Word workgroup_id_ = 0, local_id_ = 0, local_index_ = 0, parameters_ = 0, status_ = 0;
  std::vector<Word> buffers_, shared_, privates_, variables_;  // with addresses, buffers_ has only the one that holds the addresses
  std::vector<Address> addresses_;
  std::array<Word, 5> shared_pointers_{}, private_pointers_{};  // pointer types, by the lanes of an element
  std::array<Word, 5> buffer_pointers_{};                       // by the bytes of an element, each a power of two
};

}  // namespace vyre::spirv
