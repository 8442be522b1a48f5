// Defines Procedure: several programs over named arrays of any length.
//
// A Procedure is an immutable value. Its arrays have sizes that are expressions over the lengths of its inputs, the numbers of a call and
// the limits of a device; its steps say which programs run on which arrays, in which order, and how often. The steps are one flat array, in
// which Repeat and When are closed by an End, as the statements of a Program are.
//
// Meaning. Steps happen one after the other. When and Repeat are decided by sizes, so that for given lengths, numbers and limits the steps
// that may run are known before any does. A Repeat may have an element that is read before each turn: once it is not 0, the steps of this
// turn and of later ones do nothing. Swap exchanges what two names stand for, for all steps that follow it in time. Scratch arrays and
// outputs begin as zeros. Those that do not say so are meant to be written before they are read, and checks report what is not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "vyre/base/id.hpp"
#include "vyre/ir/procedures/size.hpp"
#include "vyre/ir/program.hpp"

namespace vyre::ir {

class Procedure;

struct ArrayTag;
struct StepTag;
using ArrayId = Id<ArrayTag>;
using StepId = Id<StepTag>;

enum class ArrayRole : std::uint8_t {
  Input,    // only read
  InOut,    // changed in place
  Output,   // made by the call
  Scratch,  // of the procedure alone
  Table,    // has contents, which are only read
};
inline constexpr std::array<std::string_view, 5> kRoleNames = {"input", "in_out", "output", "scratch", "table"};

struct ArrayDecl {
  std::string name;
  ArrayRole role = ArrayRole::Input;
  DataType element = kU32;
  std::uint32_t axes = 1;                                  // 1 to 3, without that of a vector's lanes
  std::vector<SizeId> shape;                               // one for each axis; none for Input and InOut, whose lengths the call gives
  bool zeros = false;                                      // Output and Scratch: that it begins as zeros is meant to be seen
  std::shared_ptr<const std::vector<std::byte>> contents;  // of a Table, in the layout of buffers
};

struct NumberDecl {
  std::string name;
  DataType type = kU32;  // U32, I32 (its 32 bits), U64 or Bool
};

// An array, or a part of it along its first axis, as elements of its own type or of another one.
struct ArrayPart {
  ArrayId array;
  std::optional<DataType> view;
  SizeId offset, length;  // in elements of the view; invalid for the whole array
};

// The words of a buffer. A call for which one of them is 2^32 or more is refused.
using Words = std::vector<SizeId>;

// Says in messages what a word is for ("parameter `n`"), and what to do if its value does not fit.
struct WordUse {
  std::string what, fix;
};

// Workgroups; or an array of three words that counts them, or counts the invocations that whole workgroups cover, each at most `most`.
struct StepGrid {
  std::array<SizeId, 3> most;
  std::optional<ArrayPart> counts;
  bool counts_invocations = false;
};

struct Dispatch {
  std::string name;  // of the kernel, for people
  std::uint32_t program = 0;
  std::vector<std::variant<ArrayPart, Words>> bound;  // for each buffer of the program that is bound, in its order
  StepGrid grid;
  std::uint32_t word_uses = ~std::uint32_t{0};  // in Procedure::word_uses(), if the words are described there
};
struct Invoke {
  std::uint32_t procedure = 0;
  std::vector<ArrayPart> arrays;  // for its inputs and in_outs in their order, then for its outputs
  std::vector<SizeId> numbers;
  // The procedure that was given where an equal one with other messages is kept: errors tell the words and lines of this one.
  std::shared_ptr<const Procedure> told = nullptr;
};
struct Repeat {
  SizeId count;
  std::optional<ArrayPart> until = std::nullopt;  // one element, which ends it
  std::uint32_t turn = 0;                         // the number by which sizes name it
  StepId end;
};
struct When {
  SizeId condition;  // not 0
  StepId otherwise, end;
};
struct Otherwise {
  StepId opener, end;
};
struct EndStep {
  StepId opener;
};
struct Swap {
  ArrayId a, b;
};
struct Clear {
  ArrayPart part;
};
// A call for which the condition is 0 is refused with the message, when it is planned.
struct Require {
  SizeId condition;
  std::string message;  // "<problem>. Fix: <action>."
};
using StepKind = std::variant<Dispatch, Invoke, Repeat, When, Otherwise, EndStep, Swap, Clear, Require>;

// Calls `visit` with each valid SizeId of a step; the ids may be changed where the step may. Sizes are numbered in this order.
template <class Step, class Visit>
requires std::is_same_v<std::remove_const_t<Step>, StepKind>
void for_each_size(Step& step, Visit&& visit) {
  const auto in_part = [&](auto& part) {
    if (part.offset.valid()) visit(part.offset);
    if (part.length.valid()) visit(part.length);
  };
  if (auto* dispatch = std::get_if<Dispatch>(&step)) {
    for (auto& bound : dispatch->bound) {
      if (auto* part = std::get_if<ArrayPart>(&bound)) in_part(*part);
      if (auto* words = std::get_if<Words>(&bound)) {
        for (auto& size : *words) visit(size);
      }
    }
    if (dispatch->grid.counts) in_part(*dispatch->grid.counts);
    for (auto& size : dispatch->grid.most) visit(size);
  } else if (auto* invoke = std::get_if<Invoke>(&step)) {
    for (auto& part : invoke->arrays) in_part(part);
    for (auto& size : invoke->numbers) visit(size);
  } else if (auto* repeat = std::get_if<Repeat>(&step)) {
    visit(repeat->count);
    if (repeat->until) in_part(*repeat->until);
  } else if (auto* when = std::get_if<When>(&step)) {
    visit(when->condition);
  } else if (auto* clear = std::get_if<Clear>(&step)) {
    in_part(clear->part);
  } else if (auto* require = std::get_if<Require>(&step)) {
    visit(require->condition);
  }
}

inline constexpr std::uint32_t kMostInvocations = 32;  // nested

class Procedure {
 public:
  Procedure();  // without a name, arrays and steps

  const std::string& name() const { return data_->name; }
  const IdVector<ArrayId, ArrayDecl>& arrays() const { return data_->arrays; }
  const std::vector<NumberDecl>& numbers() const { return data_->numbers; }
  const Sizes& sizes() const { return data_->sizes; }
  const std::vector<Program>& programs() const { return data_->programs; }
  const std::vector<Procedure>& procedures() const { return data_->procedures; }  // the procedures that steps invoke
  const IdVector<StepId, StepKind>& steps() const { return data_->steps; }
  const std::vector<ArrayId>& results() const { return data_->results; }  // what a call returns: Outputs and InOuts
  std::uint32_t turns() const { return data_->turns; }                    // Repeats
  // The uses of a dispatch's words, in the order in which its buffers have them. They are for messages alone, and no part of the value:
  // equal procedures may have others, and those that are read from text or bytes have none.
  std::span<const WordUse> word_uses(const Dispatch& step) const {
    return step.word_uses < data_->word_uses.size() ? std::span<const WordUse>(data_->word_uses[step.word_uses])
                                                    : std::span<const WordUse>();
  }

  // The line of source that a step comes from, as "file.py:12"; empty where it is not known. Like word_uses(), lines are for messages
  // alone.
  std::string_view line(StepId step) const { return data_->lines[data_->line_of_step[step.index]]; }
  const Procedure& invoked(const Invoke& step) const { return step.told ? *step.told : procedures()[step.procedure]; }
  // Hashes what messages tell and the value leaves out: equal procedures with equal messages may share what gives messages.
  std::uint64_t messages() const { return data_->messages; }

  // The arrays that an Invoke names: inputs and in_outs in their order, then outputs in the order in which they are returned.
  std::vector<ArrayId> interface() const;
  std::uint32_t depth() const { return data_->depth; }  // of invocations, its own included

  // Hashes the binary form, so it is the same in every process.
  std::uint64_t hash() const { return data_->hash; }
  bool operator==(const Procedure& other) const { return data_ == other.data_ || (hash() == other.hash() && bytes() == other.bytes()); }
  // The binary form: versioned, compact, and with one spelling for each procedure, so that equal procedures have equal bytes.
  const std::string& bytes() const { return data_->bytes; }

 private:
  friend class ProcedureBuilder;
  struct Data {
    std::string name;
    IdVector<ArrayId, ArrayDecl> arrays;
    std::vector<NumberDecl> numbers;
    Sizes sizes;
    std::vector<Program> programs;
    std::vector<Procedure> procedures;
    IdVector<StepId, StepKind> steps;
    std::vector<ArrayId> results;
    std::vector<std::vector<WordUse>> word_uses;
    std::vector<std::string> lines = {""};
    std::vector<std::uint32_t> line_of_step;  // in `lines`
    std::uint64_t messages = 0;
    std::uint32_t turns = 0;
    std::uint32_t depth = 1;  // of invocations
    std::uint64_t hash = 0;
    std::string bytes;
  };
  explicit Procedure(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

  std::shared_ptr<const Data> data_;
};

// Throws ParseError: "byte 12: <problem>. Fix: <action>."
Procedure procedure_from_bytes(std::span<const std::byte> bytes);

// The bytes of a procedure that the builder has just made; `Procedure::bytes` keeps them.
std::string written(const Procedure& procedure);

// Makes a Procedure. Equal sizes, programs and procedures are kept once, in the order in which shapes and then steps first reach them;
// those that nothing reaches are left out.
class ProcedureBuilder {
 public:
  explicit ProcedureBuilder(std::string name);

  SizeId literal(std::uint64_t value);
  SizeId length(ArrayId array, std::uint32_t axis);
  SizeId number(std::uint32_t index);
  SizeId limit(Limit which);
  SizeId turn(std::uint32_t number);
  // Folds what literals decide; throws ArgumentError as `apply` does.
  SizeId apply(SizeOp op, SizeId a, SizeId b = {}, SizeId c = {});
  // All that were made. They stay when the procedure is finished.
  const Sizes& sizes() const { return sizes_; }

  ArrayId array(ArrayDecl decl);
  void role(ArrayId array, ArrayRole role);  // a Scratch array that turns out to be an Output
  // Gives the result of the last step, an invocation, elements of another type with as many bytes.
  void element(ArrayId array, DataType element);
  std::uint32_t declare(NumberDecl decl);
  std::uint32_t program(const Program& program);
  std::uint32_t procedure(const Procedure& procedure);
  // Says which line of source the steps come from that are added from now on (Procedure::line).
  void line(std::string line);
  std::uint32_t word_uses(std::vector<WordUse> uses);  // for Dispatch::word_uses

  void dispatch(Dispatch step);
  void invoke(Invoke step);
  std::uint32_t repeat(SizeId count, std::optional<ArrayPart> until = std::nullopt);  // gives the turn's number
  void when(SizeId condition);
  void otherwise();
  void end();
  void swap(ArrayId a, ArrayId b);
  void clear(ArrayPart part);
  // Throws ArgumentError for a message without a Fix.
  void require(SizeId condition, std::string message);
  void result(ArrayId array);

  std::size_t open_blocks() const { return open_.size(); }
  // Every block must be closed. The builder has its sizes alone afterwards. Throws ArgumentError when
  // invocations nest deeper than kMostInvocations.
  Procedure finish();

 private:
  // No hash map: terms that collide in one are easily chosen.
  using Known = std::map<SizeTerm, SizeId>;
  using ByHash = std::multimap<std::uint64_t, std::uint32_t>;

  SizeId add(const SizeTerm& term);
  StepId append(StepKind step);
  void keep_reached_sizes();
  void keep_reached_programs();
  std::uint64_t messages() const;

  std::shared_ptr<Procedure::Data> data_;
  std::vector<StepId> open_;
  Sizes sizes_;
  Known known_;
  ByHash programs_, procedures_;
};

}  // namespace vyre::ir
