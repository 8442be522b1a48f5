// The state of emitting one kernel. emit.cpp has the instructions and control flow, memory.cpp the accesses to memory and its zeros.
//
// Registers are %r<k> (32 bits), %p<k> (predicates) and %a<k> (addresses). What is the same everywhere, such as ids and lengths, is loaded
// at the entry, when an instruction first asks for it. A literal is no register, and neither are Pack and Lane instructions: a value is up
// to four words, each with a place of its own.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vyre/base/assert.hpp"
#include "vyre/emit/chosen_values.hpp"
#include "vyre/emit/joined_extremes.hpp"
#include "vyre/emit/known_inversions.hpp"
#include "vyre/emit/known_signs.hpp"
#include "vyre/emit/ptx/code.hpp"
#include "vyre/emit/uses.hpp"
#include "vyre/lower/kernel.hpp"

namespace vyre::ptx {

using lower::Instruction;
using lower::Kernel;
using lower::Opcode;
using lower::ValueId;

// A lane of a value: a register, or a literal.
struct Word {
  std::uint32_t number = 0;
  bool is_literal = false;
};
constexpr Word literal(std::uint32_t bits) { return {bits, true}; }
inline std::string text(Word word) { return word.is_literal ? fmt::to_string(word.number) : fmt::format("%r{}", word.number); }
using Words = std::array<Word, 4>;

class Emitter {
 public:
  Emitter(const Kernel& kernel, const Options& options);
  Code run();

 private:
  struct Value {
    Words bits{};
    std::uint32_t predicate = 0;  // whether the one lane is not zero
  };
  // An element of memory, and the predicate under which it is accessed; "" when its index is in range, and the body of no short If.
  struct Element {
    std::string address, guard;
  };
  struct OpenLoop {
    std::uint32_t at;
    Word turn;
  };

  // emit.cpp
  std::string header() const;
  void leave_beyond_counts();
  void instruction(std::uint32_t at);
  void own_instruction(std::uint32_t at);
  std::pair<ValueId, Word> hide_operand(std::uint32_t at);
  void spelled(std::uint32_t at, std::string_view spelling);
  void define_truth(std::uint32_t at, std::uint32_t predicate);
  void define_bits(std::uint32_t at, const Words& words);
  // The result of an instruction on integers of 64 bits.
  Words wide(const Instruction& code, std::string_view name);
  void wide_divide(std::uint32_t at);
  void write_variable(const Instruction& code);
  // Whether the body of an If is emitted without a branch: it is short, has no Else and nothing but cheap values, writes and accesses.
  bool is_short(std::uint32_t at) const;
  void begin_loop(std::uint32_t at);
  void end_loop();
  Word parameter(std::uint32_t offset);
  std::uint32_t address_parameter(std::uint32_t offset);
  // 0 and 2^32 - 1 as the driver's compiler does not know them. ptxas 12.9, and that of driver 580, loses a `not` or a minus before a value
  // that turns out to be constant late: behind a branch that compared it with a constant, or after a loop that the compiler has evaluated.
  // So `not` is an exclusive or with all ones that are unknown, as is one that is written so, and a variable that is set to a constant is
  // not known to have it.
  Word unknown_zero();
  Word unknown_ones();
  // Minus the unknown zero. None of its bits are known, so a compiler never leaves out an or with it.
  Word negated_zero();
  Word local_id(std::uint32_t axis);
  Word workgroup_id(std::uint32_t axis);
  Word invocation_id(std::uint32_t axis);
  Word length(std::uint32_t slot);

  // memory.cpp
  void lay_out();
  void zero_shared();
  void zero_privates();
  void zero(std::string_view space, Word start, Word first, std::uint64_t chunks, std::uint64_t stride);
  Word base(std::optional<Word>& known, std::string_view block);
  Word local_index();
  // Whether conditions decide which of several values this one is: it is a Select, a variable, or a lane of one.
  std::string guard(const Instruction& code, Word length);
  // Returns the predicate of the short If around an instruction that has an effect, as text to write in front of it, or an empty text.
  std::string only_if() const { return only_if_ ? fmt::format("@%p{} ", *only_if_) : ""; }
  Element buffer_element(const Instruction& code);
  Element array_element(const Instruction& code);
  Element element(const Instruction& code);
  void load(std::uint32_t at);
  void store(const Instruction& code);
  void hide_equal_literals(Words& words, std::uint32_t lanes);
  bool is_of_shared(const Instruction& code) const {
    return code.op == Opcode::LoadShared || code.op == Opcode::StoreShared || code.shared;
  }
  bool is_of_private(const Instruction& code) const { return code.op == Opcode::LoadPrivate || code.op == Opcode::StorePrivate; }
  bool is_of_buffer(const Instruction& code) const { return !is_of_shared(code) && !is_of_private(code); }

  // A line of the code; at_entry() is for the code in front of all other.
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    put(body_, format, std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  void at_entry(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    put(entry_, format, std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  static void put(std::string& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text += "  ";
    fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
    text += ";\n";
  }
  void label(char kind, std::uint32_t at) { fmt::format_to(std::back_inserter(body_), "{}{}:\n", kind, at); }

  Word fresh() { return {words_++}; }
  Words fresh_words(std::uint32_t lanes) {
    Words words{};
    for (std::uint32_t lane = 0; lane < lanes; ++lane) words[lane] = fresh();
    return words;
  }
  std::uint32_t fresh_predicate() { return predicates_++; }
  std::uint32_t fresh_address() { return addresses_++; }

  Word bits(ValueId value) const { return values_[value.index].bits[0]; }
  std::uint32_t predicate(ValueId value) const { return values_[value.index].predicate; }

  const Kernel& kernel_;
  const Options& options_;
  const emit::Uses uses_{kernel_};
  const emit::Opcodes opcodes_ = emit::opcodes_of(kernel_);
  const std::vector<bool> shifts_of_known_signs_ = emit::shifts_of_known_signs(kernel_, opcodes_);
  const std::vector<ValueId> known_exclusive_ors_ = emit::known_exclusive_ors(kernel_, opcodes_);
  const std::vector<bool> joined_extremes_ = emit::joined_extremes(kernel_, opcodes_);
  emit::ChosenValues chosen_values_{kernel_};
  Bindings bindings_;
  std::string entry_, body_;
  std::uint32_t words_ = 0, predicates_ = 0, addresses_ = 0;  // registers so far

  std::vector<Value> values_;
  std::vector<Words> variables_;
  std::vector<OpenLoop> loops_;
  std::optional<std::uint32_t> only_if_;  // in the body of a short If: its predicate
  // The values that were asked for so far.
  std::array<std::optional<Word>, 3> local_ids_, workgroup_ids_, invocation_ids_;
  std::optional<Word> unknown_zero_, unknown_ones_, negated_zero_;
  std::optional<Word> local_index_, shared_base_, private_base_;
  std::optional<std::uint32_t> block_;  // the address of the parameters, where they are in memory
  std::vector<std::optional<Word>> lengths_;
  std::vector<std::optional<std::uint32_t>> buffers_;  // addresses
  // Offsets of the arrays in the two blocks of memory.
  std::vector<std::uint64_t> shared_, privates_;
  std::uint64_t private_bytes_ = 0;
};

}  // namespace vyre::ptx
