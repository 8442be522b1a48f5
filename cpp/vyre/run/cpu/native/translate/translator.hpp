// Translates a kernel to machine code, one instruction after the other.
//
// A region becomes a loop over groups of lanes: one copy of its code, without masks, runs full groups, and another copy, with masks, runs
// the remaining lanes. A group is one or more vectors, its parts: a varying value has a vector for each part, so that the processor has
// several independent chains to work on. Uniform values are computed once for a group, in general registers.
//
//   r15 the Context   r14 the frame   r13 the first lane of the group   r12 the group's words of the cells that cross barriers
//   rax rcx rdx r11 and vectors 0 to 3: scratch   the execution mask of each part: vectors 4 and up, or k1 to k4 (AVX-512)
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "vyre/lower/kernel.hpp"
#include "vyre/run/cpu/kernel_reader.hpp"
#include "vyre/run/cpu/native/analysis/analysis.hpp"
#include "vyre/run/cpu/native/analysis/homes.hpp"
#include "vyre/run/cpu/native/assembler.hpp"
#include "vyre/run/cpu/native/context.hpp"

namespace vyre::run::cpu::native {

class Translator : KernelReader {
 public:
  // Both must outlive the translator.
  Translator(const lower::Kernel& kernel, const Analysis& analysis, Vectors vectors);

  // Returns the machine code of a Function, which may be placed at any address.
  std::vector<std::byte> run();
  Layout layout() const { return layout_; }
  int width() const { return a_.width(); }           // lanes of a vector
  int lanes() const { return a_.width() * parts_; }  // lanes of a group, which the code runs at a time
  std::uint32_t padded_lanes() const { return crossing_bytes_ / 4; }
  const std::vector<Mark>& marks() const { return a_.marks(); }
  const std::vector<std::uint32_t>& constants() const { return a_.constant_offsets(); }

 private:
  using Xmm = Xbyak::Xmm;
  using Address = Xbyak::Address;
  using Operand = Xbyak::Operand;
  using Reg32 = Xbyak::Reg32;
  using Reg64 = Xbyak::Reg64;
  using Label = Xbyak::Label;

  // Vectors 0 to 4 are scratch. Except with AVX-512, vector 4 is scratch only in code without masks, because it holds the first execution
  // mask.
  int first_vector() const { return a_.wide() ? 5 : 4 + parts_; }
  // A kernel with more instructions gets only one copy of its code, and groups of one vector.
  static constexpr std::uint32_t kLargest = 4096;

  // An operand of an instruction, in a register or in memory.
  struct Source {
    bool in_memory;
    Xmm reg;
    Address memory;
    operator const Operand&() const { return in_memory ? static_cast<const Operand&>(memory) : reg; }
  };

  // --- The plan (translator.cpp) ---
  void choose_parts();
  bool often_shifts_by_lanes() const;  // a tenth of the vector instructions or more shift or rotate by amounts of the lanes
  void lay_out();
  void prologue();
  void epilogue();
  void write_poll();
  void walk();
  void region(const Region& region);
  void body(const Region& region, bool masked);
  void instruction(std::uint32_t position);

  // --- Cells (translator.cpp) ---
  CellId cell_of(ValueId value, std::uint32_t lane = 0) const { return analysis_.of_value[value.index][lane]; }
  CellId cell_of_result(std::uint32_t position, std::uint32_t lane) const { return analysis_.of_value[position][lane]; }
  const Cell& cell(CellId id) const { return analysis_.cells[id]; }
  Address slot(CellId id, int part);
  Address word_slot(CellId id);
  Address frame(std::uint32_t offset);
  Xmm in(CellId id, int part, int scratch);            // the cell's vector, loaded to `scratch` if it has no register
  Source source(CellId id, int part, int scratch);     // in a register or in memory
  Xmm target(CellId id, int part, int scratch) const;  // where to compute a value; out() moves it to the cell's home
  void out(CellId id, int part, const Xmm& value);
  bool is_needed(CellId id) const;
  bool in_register(CellId id) const;
  void get(const Reg32& to, CellId id);
  void put(CellId id, const Reg32& from);
  Reg32 word_target(CellId id, const Reg32& scratch) const;  // where to compute a uniform value; put() moves it to the cell's home

  // --- Values ---
  void vector_lanewise(std::uint32_t position, int part);  // translate_vectors.cpp
  bool vector_simple(const Instruction& i, CellId dest, int part);
  void vector_ternary(const Ternary& ternary, CellId dest, int part);
  Source shifted(CellId id, int part);  // translate_shifts.cpp
  void vector_shift(const Instruction& i, CellId dest, int part);
  void vector_shift_narrow(const Instruction& i, CellId dest, int part);
  void vector_rotate(const Instruction& i, CellId dest, int part);
  void vector_rotate_narrow(const Instruction& i, CellId dest, int part);
  void vector_mul_high(const Xmm& to, const Xmm& a, const Xmm& b);
  void vector_divide(const Instruction& i, CellId dest, int part);
  void vector_divide_by_power(const Instruction& i, CellId dest, int part);
  void unsigned_quotient(int a, int b);
  void quotient_by_constant(std::uint32_t by);
  void wide_divide(std::uint32_t position);  // translate_wide.cpp
  void divide_rax_by_rcx(Opcode op);
  void vector_bits(const Instruction& i, CellId dest, int part);
  void count_bits(const Xmm& to, const Xmm& from);
  void vector_compare(const Instruction& i, CellId dest, int part);
  Mask comparison(const Instruction& i, int part, int scratch);
  Mask condition(ValueId value, int part, int which);
  Mask truth(ValueId value, int part, int which);
  bool combines_two(ValueId value) const;
  void vector_select(std::uint32_t position, int part);
  void vector_id(std::uint32_t position, int part);
  void scalar_lanewise(std::uint32_t position);  // translate_words.cpp
  bool scalar_simple(Opcode op, CellId dest, CellId a, CellId b);
  void own_word(const Instruction& i);
  void scalar_divide(const Instruction& i);
  void scalar_reverse();
  void scalar_select(std::uint32_t position);
  void scalar_id(std::uint32_t position);
  void copy(CellId to, CellId from, int part, bool blend);
  void copy_word(CellId to, CellId from);
  void read_variable(std::uint32_t position);
  void write_variable(std::uint32_t position);

  // --- Accesses (translate_memory.cpp, translate_stores.cpp, translate_atomics.cpp, translate_private.cpp; templates in accesses.hpp) ---
  // The array that an instruction accesses.
  struct AccessedArray {
    std::uint32_t extent = 0;  // the index in Context::extents
    std::uint32_t lanes = 1;   // words of an element
    std::uint32_t narrow = 0;  // bytes of an element that is shorter than a word
    ir::Extend extend{};
    bool bounded = false;
    bool stores = false;
    bool shared = false;
    std::optional<std::uint32_t> count = std::nullopt;  // the number of elements, if it is a constant
  };
  AccessedArray accessed_array(const Instruction& i, bool bounded) const;
  Address extent(const AccessedArray& accessed, std::size_t member);
  void base_to_rdx(const AccessedArray& accessed);
  void access_lanes(std::uint32_t position, const AccessedArray& accessed);
  void access_each(std::uint32_t position, const AccessedArray& accessed, int part);
  void access_row(std::uint32_t position, const AccessedArray& accessed, int part, int parts);
  void access_masked_row(std::uint32_t position, const AccessedArray& accessed, int part);
  void access_apart(std::uint32_t position, const AccessedArray& accessed, int part, std::uint32_t apart);
  void load(std::uint32_t position);
  bool has_constant_index(const Instruction& i, const AccessedArray& accessed) const;
  void index_of_word(const Instruction& i, const AccessedArray& accessed, Label& outside);
  Address word_of_element(const Instruction& i, const AccessedArray& accessed, std::uint32_t lane);
  void load_narrow(const Reg32& to, const AccessedArray& accessed, const Reg64& index);
  void load_word(std::uint32_t position, const AccessedArray& accessed);
  // Whether the lanes of a group access consecutive elements, a row. The functions that load and store rows expect the base of the array in
  // rdx and the index of the row's first element in rax. Their parameter `elements` says how many elements after that a part begins.
  bool is_line(const Instruction& i) const { return analysis_.first_lane[i.a.index] != kNone; }
  void row_to_rax(const Instruction& i, int part);
  Xmm index_of(const Instruction& i, int part);  // the indices of the part's lanes, in a register or in vector 0
  void first_lane(std::uint32_t position);
  void vector_of_line(std::uint32_t position, int part);
  void load_vector(std::uint32_t position, const AccessedArray& accessed, int part, int elements);
  void load_masked_row(std::uint32_t position, const AccessedArray& accessed, int part);
  void load_pieces(std::uint32_t position, const AccessedArray& accessed, int part, int elements, int apart = 1);
  void load_elements(std::uint32_t position, const AccessedArray& accessed, int part, int begin);
  std::uint32_t elements_apart(const Instruction& i, const AccessedArray& accessed) const;
  void first_of_apart(const Instruction& i, const AccessedArray& accessed, int part, std::uint32_t apart, Label& outside);
  void load_gather(std::uint32_t position, const AccessedArray& accessed, int part);
  void load_each(std::uint32_t position, const AccessedArray& accessed, int part);
  void store(std::uint32_t position);
  void store_word(const Instruction& i, const AccessedArray& accessed);
  bool may_stream(const Instruction& i, const AccessedArray& accessed) const;
  void stream_row(std::uint32_t position, const AccessedArray& accessed, int part, int parts, Label& plain, Label& back);
  void store_vector(const Instruction& i, const AccessedArray& accessed, int part, int elements);
  void store_in_row(const Address& to, const Xmm& value);
  void store_masked_row(const Instruction& i, const AccessedArray& accessed, int part);
  template <class Rare>
  void when_some_lanes(int part, const Rare& rare);
  template <class Row>
  void keeping_mask(const AccessedArray& accessed, const Row& row);
  void store_pieces(const Instruction& i, const AccessedArray& accessed, int part, int elements, int apart = 1);
  void store_words(const Instruction& i, int part, int apart);
  void store_elements(const Instruction& i, const AccessedArray& accessed, int part, int begin);
  void store_narrow_row(const AccessedArray& accessed, const Xmm& value, int elements);
  void store_each(const Instruction& i, const AccessedArray& accessed, int part);
  void atomic(std::uint32_t position);
  void atomic_once(const Instruction& i, const AccessedArray& accessed, bool is_needed);
  void load_private(std::uint32_t position);
  void store_private(std::uint32_t position);
  void private_base(const Instruction& i, int part);
  void private_offsets(const Instruction& i, std::uint32_t lane, int part);
  void clear_privates();
  // Emits a loop over the lanes that access memory. The code of `each` finds the lane in rax, and the lane's word of `words` in r11d.
  template <class Each>
  void for_each_lane(const Xmm& words, const AccessedArray& accessed, const Xmm* index, int part, const Each& each);
  // The lanes that access memory: the active ones whose index is in range.
  struct Active {
    int mask;
    bool all;  // all lanes access memory, and `mask` is not valid
  };
  Active active_lanes(const AccessedArray& accessed, const Xmm& index, int part);
  int active_mask(const Active& active);
  void fix_wrapped_row();

  // --- Control flow (translate_control.cpp) ---
  struct Block {
    std::uint32_t position;
    bool parts = false;       // control flow may diverge in it
    bool was_masked = false;  // whether masks are in use around it
    bool of_workgroup = false;
    Label other, end, top;
    bool has_else = false;
    bool only_breaks = false;
    std::uint32_t depth = 0;
    Label* back = nullptr;  // where the masked code of a guarded block goes on
  };
  void if_block(std::uint32_t position);
  void guarded_block(std::uint32_t position);
  void begin_if(std::uint32_t position);
  bool only_breaks(std::uint32_t position) const;
  void break_if(std::uint32_t position);
  void else_block(std::uint32_t position);
  void end_if(std::uint32_t position);
  void loop(std::uint32_t position);
  void loop_with_breaks(std::uint32_t position);
  void next_turn(Block& block);
  void end_loop(std::uint32_t position);
  void return_lanes(std::uint32_t position);
  void break_lanes(std::uint32_t position);
  void restore_lanes(const Block& block);
  void go_on_elsewhere();
  void jump_unless_any(Label& label);
  void set_active_to_all();
  void mask_rest_of_lanes();
  std::uint32_t turns_between_counts(std::uint32_t loop, std::uint64_t work) const;
  void poll(std::uint32_t from, std::uint32_t to);
  Address mask_slot(std::uint32_t depth, std::uint32_t which, int part);
  // The masks that a divergent block saves: the lanes active before it, the lanes that took its If, and the lanes that left it by a Break.
  enum : std::uint32_t { kBefore, kTaken, kBroken, kMaskKinds };
  int exec(int part) const { return (a_.wide() ? 1 : 4) + part; }
  int mask_scratch(int which) const { return a_.wide() ? 5 + which : 3 - which; }

  const Analysis& analysis_;
  Assembler a_;
  Homes homes_;
  Layout layout_;
  int parts_ = 1;
  // Whether the code at the current place uses execution masks.
  bool masked_ = false;
  bool streaming_ = false;      // whether rows are stored past the caches at the current place
  std::uint32_t position_ = 0;  // of the instruction that is translated; behind the last one in code that is written later
  std::uint32_t masks_ = 0, returned_ = 0, scratch_memory_ = 0, privates_ = 0, entries_ = 0, control_ = 0;  // offsets in the frame
  std::uint32_t crossing_bytes_ = 0;
  std::uint32_t workgroup_lanes_ = 0;
  std::vector<Block> blocks_;
  std::uint32_t depth_ = 0;  // the number of open divergent blocks
  // A label that lives until the code is complete.
  Label* new_label() { return &labels_.emplace_back(); }

  std::deque<Label> labels_;
  Label leave_, poll_;
  Label* end_of_group_ = nullptr;
};

}  // namespace vyre::run::cpu::native
