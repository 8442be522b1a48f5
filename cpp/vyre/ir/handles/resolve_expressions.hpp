// The expressions of a program, made from handles operands first. The type of each is known when its users are made, so that an operator
// of Python is replaced by the explicit operators that it means on these types (infix.def), and an integer without a type gets one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vyre/base/id.hpp"
#include "vyre/ir/builder.hpp"
#include "vyre/ir/handles/by_type.hpp"
#include "vyre/ir/handles/handle.hpp"
#include "vyre/ir/handles/infix.hpp"
#include "vyre/ir/handles/mistake.hpp"
#include "vyre/ir/handles/surroundings.hpp"
#include "vyre/ir/handles/variables.hpp"
#include "vyre/ir/op_spec.hpp"

namespace vyre::ir {

// An expression of the program being made.
struct Made {
  ExprId id;
  std::optional<DataType> type;  // nothing when a mistake hides it
  bool truth = false;            // a comparison, a logical operator, `& | ^` of such, or a variable that begins with one
  bool holds_truth = false;      // the same, or a variable that holds such and the integers 0 and 1
  bool id_varies = false;        // in another environment the same handle may be another expression
  bool type_varies = false;      // in another environment the same handle may have another type
};

// What is known of a variable only after its Let: whether it holds truths alone, and the type of an integer that it began with. The
// variables that integers pass between are a group, which has one type. A walk over the program may find some of it too late for what it
// has made already; then the program is made again, and each time at least one group more has its type, or one variable more is no truth.
class OpenTypes {
 public:
  // The group of a variable that began with an integer, with a Select of such, or with another variable of the group.
  void declare(const std::string& variable, std::string group) { groups_[variable] = std::move(group); }
  const std::string* group(const std::string& variable) const {
    const auto found = groups_.find(variable);
    return found == groups_.end() ? nullptr : &root(found->second);
  }
  std::optional<DataType> type(const std::string& group) { return facts_[root(group)].type; }
  void bind(const std::string& group, DataType type) {
    std::optional<DataType>& known = facts_[root(group)].type;
    if (known) return;
    known = type;
    // A group without a type counts as U32.
    if (type != kU32) again_ = true;
  }
  // One of them is assigned a variable of the other.
  void unite(const std::string& group, const std::string& other) {
    const std::string into = root(group), from = root(other);
    if (into == from) return;
    Facts& facts = facts_[into];
    const Facts joins = facts_[from];
    if (facts.type && joins.type) return;
    if (joins.type) bind(into, *joins.type);
    if (facts.type && facts.type != kU32) again_ = true;
    facts.negative = facts.negative || joins.negative;
    if (!facts.wanted) facts.wanted = joins.wanted;
    united_[from] = into;
  }
  // A group of a negative integer counts as I32.
  void note_negative(const std::string& group) { facts_[root(group)].negative = true; }
  // A variable is used where another type than its own stands opposite. Its group takes that, if no assignment gives it a type.
  void want(const std::string& variable, DataType type) {
    const std::string* const its = group(variable);
    if (its != nullptr && !facts_[*its].wanted) facts_[*its].wanted = type;
  }
  // Records whether the first value of a kernel's variable is 0 or 1 alone, as that of a comparison. `shows` says that this value is no
  // integer of Python, which could also be meant as a number.
  void note_truth(const std::string& variable, bool is_truth, bool shows) {
    if (shows) shown_.insert(variable);
    if (!is_truth || others_.contains(variable)) {
      truths_.erase(variable);
    } else {
      truths_.insert(variable);
    }
  }
  bool is_truth(const std::string& variable) const { return truths_.contains(variable); }
  bool began_as_truth(const std::string& variable) const { return shown_.contains(variable); }
  // A variable that was taken for a truth is assigned something else.
  void note_other(const std::string& variable) { again_ = others_.insert(variable).second || again_; }
  // Whether the program must be made again. `leaned`: an operand without a type was taken for what the other one is, which is no U32.
  bool settle(bool leaned) {
    if (std::exchange(again_, false)) return true;
    bool again = false;
    for (auto& [group, facts] : facts_) {
      if (facts.type || united_.contains(group) || !(facts.wanted || facts.negative || leaned)) continue;
      facts.type = facts.wanted.value_or(facts.negative ? DataType::I32 : kU32);
      again = true;
    }
    return again;
  }

 private:
  struct Facts {
    std::optional<DataType> type, wanted;
    bool negative = false;
  };
  const std::string& root(const std::string& group) const {
    const std::string* at = &group;
    for (auto next = united_.find(*at); next != united_.end(); next = united_.find(*at)) at = &next->second;
    return *at;
  }

  std::map<std::string, Facts> facts_;         // of a group
  std::map<std::string, std::string> united_;  // the group that another one has become a part of
  std::map<std::string, std::string> groups_;  // of a variable
  std::set<std::string> truths_, others_, shown_;
  bool again_ = false;
};

// Makes the expressions of one program in a ProgramBuilder. A handle is made once; one whose meaning depends on the type of a variable is
// made again where the variable has another type, and shared with what is equal.
class Expressions {
 public:
  Expressions(ProgramBuilder& builder, const Variables& variables, const std::vector<BufferDecl>& buffers, const Surroundings& surroundings,
              OpenTypes& open_types);

  std::optional<DataType> element(NameId buffer) const { return buffer.index < elements_.size() ? elements_[buffer] : std::nullopt; }
  // The type of the values of its elements.
  std::optional<DataType> value_of(NameId buffer) const;

  // The value that a store puts into a buffer. An integer has to fit the element, narrow ones too. A comparison becomes a boolean for one,
  // also through variables.
  ExprId stored(const ExprHandle& root, NameId buffer);

  // `wanted` is the type of an integer that has none.
  Made operator()(const ExprHandle& root, std::optional<DataType> wanted = {});

  // A U32 that holds a truth, or one of a group without a type, as a Bool; any other value as it is.
  Made as_bool(Made value, SourcePlace place);
  // A Bool as a U32 that holds a truth.
  Made as_word(Made value, SourcePlace place);

  // Tells the group of a variable, if it is in one, which type stands opposite.
  void want(const ExprData& data, std::optional<DataType> own, DataType opposite);

  std::vector<Mistake> take_mistakes() { return std::move(mistakes_); }
  bool leaned() const { return leaned_; }

 private:
  struct Memo {
    Made made;
    std::uint32_t environment = 0;
  };

  // --- Each handle once ---

  // Null when the handle must be made here.
  const Made* known(const ExprData* data) const;
  const Made* known_in(const Memo& memo, const ExprData* data, std::uint32_t environment) const;
  void make_reached(const ExprData* root);
  void remember(const ExprData* data);
  // Returns what the handle became in an environment where its operands were the same expressions of the same types, or null.
  const Made* equal_variant(const Memo& memo, const ExprData& data) const;

  // --- Kinds of expressions ---

  Made make(const ExprData& data);
  Made operand(const ExprData& data, std::size_t k, std::optional<DataType> wanted = {}) { return (*this)(data.operands[k], wanted); }
  ExprList list(const std::vector<Made>& operands);
  // `from` are the operands; a type that does not depend on theirs never varies.
  static Made of(ExprId id, std::optional<DataType> type, std::span<const Made> from, bool by_type = false);
  // An integer in one arm takes the type of the other.
  Made operation(const ExprData& data);
  Made select(const ExprData& data);
  Made call(const ExprData& data);
  ExprId call(std::string_view id, const std::vector<ExprId>& arguments, SourcePlace place);
  const OpTable& operations();
  // The type of the first operands of a function that goes by it; nothing when they are integers, or a mistake hides it.
  std::optional<DataType> deciding_type(const ExprData& data, const ByType& function);

  // --- Integers without a type ---

  // An integer without a type, as one of `type`; as a U32 where `type` has no integers, which other rules then refuse.
  Made literal(const Number& number, SourcePlace place, DataType type);
  // The same, or a Select of such; 0 and 1 may be a Bool.
  Made integer(const ExprData& data, DataType type);
  Made integer_select(const ExprData& data, DataType type);
  // Does what want() does for operands that have to be of one type.
  void want_alike(std::span<const ExprHandle> data, std::span<const Made> made);
  // An integer of a group, as a value of the group's type: the integer in every lane of a vector, and 0 or 1 as a truth.
  Made open_literal(const ExprData& data);

  // --- Operators of Python ---

  Made infix(const ExprData& data);
  Made shift(const ExprData& data, const InfixInfo& row);
  Made of_one_type(const ExprData& data, const InfixInfo& row);
  static std::optional<Infix> opposite_of(Infix op, std::size_t k, const ExprData& integer, DataType type);
  // The explicit operators that `row` means on `type`.
  Made written(const ExprData& data, const InfixInfo& row, DataType type, std::span<const Made> operands);
  // An expression that keeps the operands of a mistake, so that it has a place. It has no type: what follows from it is no second mistake.
  Made mistaken(const ExprData& data, std::span<const Made> operands, Mistake mistake);
  void add_mistake(Mistake mistake);
  static bool keeps_truths(const OpInfo& op) {
    return &op == &info(BinOp::BitAnd) || &op == &info(BinOp::BitOr) || &op == &info(BinOp::BitXor);
  }
  // Whether an operation's result is a comparison, a logical operator, or `& | ^` of such and of the literals 0 and 1.
  bool compares(const OpSpec& spec);
  // As calls of operations whose ids no operation can have: see entry_handles().
  Made spelled(const ExprData& data);
  Made spelled_integer(const ExprData& data);

  ProgramBuilder& builder_;
  const Variables& variables_;
  const Surroundings& surroundings_;
  OpenTypes& open_types_;
  bool leaned_ = false;
  IdVector<NameId, std::optional<DataType>> elements_;
  std::optional<OpTable> operations_;
  std::unordered_map<const OpSpec*, bool> compares_;
  std::unordered_map<const ExprData*, Memo> memos_;
  // Further environments of a handle, and what it became there.
  std::unordered_map<const ExprData*, std::vector<std::uint32_t>> others_;
  std::map<std::pair<const ExprData*, std::uint32_t>, Made> made_again_;
  std::vector<Made> operands_;  // of the expression being made
  std::vector<std::pair<const ExprData*, std::size_t>> stack_;
  std::vector<Mistake> mistakes_;
};

}  // namespace vyre::ir
