// Computes what is known of the values of a dispatch: sums of digits (index_form.hpp), and the bounds that conditions set.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "vyre/lower/ranges.hpp"
#include "vyre/run/backend.hpp"
#include "vyre/run/reach/index_form.hpp"
#include "vyre/validate/valid.hpp"

namespace vyre::run {

// A buffer that a dispatch binds.
struct ReachedBuffer {
  std::uint64_t length = 0;                              // in elements
  std::vector<std::optional<std::uint32_t>> words = {};  // what it holds, as far as that is known
};

constexpr std::size_t kMostBounds = 32;  // of a place in the program

// The bounds that hold exactly if a condition is true, and those that hold exactly if it is false. Either is empty if it is not known.
struct Truth {
  std::optional<IndexBounds> if_true, if_false;
  // For a comparison for equality: the values that the branch without known bounds leaves out.
  std::optional<IndexBound> apart = std::nullopt;

  bool always() const { return if_true && if_true->empty(); }
  bool never() const { return if_false && if_false->empty(); }
};

// Returns bounds that hold if both hold; nothing if they would be too many.
std::optional<IndexBounds> both(const std::optional<IndexBounds>& a, const std::optional<IndexBounds>& b);

class Values {
 public:
  struct Value {
    IndexForm form;
    Truth truth = {};                               // of a comparison
    std::vector<IndexForm> above = {}, below = {};  // other sums that it is not larger than, and not smaller
  };
  // Whether a value that is no sum of others gets a digit of its own, with the range that its operator gives. Not every combination of
  // such digits occurs.
  enum class Names : bool { No, Yes };

  Values(const validate::ValidProgram& valid, std::span<const ReachedBuffer> buffers, Grid grid, Names names = Names::No);

  // Computes what the step gives. The steps of a statement before it must have been computed.
  void compute(const validate::Step& step);
  const IndexForm& operator[](ExprId id) const { return value_of(id).form; }
  // Whether the value of an expression is not 0. Bounds that always hold, or never, are decided.
  Truth truth_of(ExprId id) const;
  // Returns sums that a value is not larger than, and not smaller.
  std::vector<IndexForm> above(ExprId id) const;
  std::vector<IndexForm> below(ExprId id) const;
  // Returns the word that a load gives, as far as it is known, if it is one of ReachedBuffer::words; null otherwise.
  const std::optional<std::uint32_t>* given(const ir::Load& load, BufferId buffer) const;

  // Ends a statement. Other statements need only the value of the variable that it declares or assigns; the others are dropped.
  void keep() { values_.resize(kept_); }
  void keep(LocalId local, ExprId value);
  void keep(LocalId local, const IndexForm& form) { variables_[local] = add(form); }
  // The values of variables have numbers, which stay.
  std::uint32_t add(const IndexForm& form);
  std::uint32_t variable(LocalId local) const { return variables_[local]; }
  void set_variable(LocalId local, std::uint32_t value) { variables_[local] = value; }
  const IndexForm& at(std::uint32_t value) const { return values_[value].form; }

  // Returns a digit that counts up to `extent`: a turn of a loop. It is unknown for an extent of 0, and where there are too many digits.
  IndexForm digit(std::uint64_t extent);
  // Returns a digit for a value that memory decides.
  IndexForm between(const lower::Range& range);
  lower::Range range_of(const IndexForm& form) const;
  const Extents& extents() const { return extents_; }
  bool is_word(const IndexForm& form) const { return form.is_word(extents_); }
  std::uint32_t slot(BufferId buffer) const { return slots_[buffer]; }
  const ReachedBuffer& buffer(std::uint32_t slot) const { return buffers_[slot]; }

  static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};

 private:
  const Value& value_of(ExprId id) const { return values_[at_[id]]; }
  IndexForm local_id(std::uint32_t extent);
  std::uint32_t kept(Value value);
  std::uint32_t computed(const validate::Step& step);
  void name(const validate::Step& step);
  lower::Range range_of(const ir::Expr& expr) const;
  std::vector<std::int64_t> key_of(const ir::Binary& binary) const;
  void bound(const ir::Binary& binary, Value& value) const;
  Value computed(const ir::Binary& binary) const;
  Truth compared(ir::BinOp op, const IndexForm& a, const IndexForm& b) const;
  std::optional<std::int64_t> shift(const IndexForm& by) const;
  std::optional<std::int64_t> divisor(const IndexForm& by) const;
  std::optional<std::int64_t> mask(const IndexForm& form) const;
  bool disjoint(const IndexForm& high, const IndexForm& low) const;
  IndexForm smaller(const IndexForm& a, const IndexForm& b, bool smallest) const;
  IndexForm grid_id(const ir::GridId& id) const;

  const ir::Program& program_;
  const std::span<const ReachedBuffer> buffers_;
  const Names names_;
  IdVector<BufferId, std::uint32_t> slots_;  // of the buffers that are bound
  std::vector<Value> values_;                // the first one is unknown
  std::size_t kept_ = 1;                     // those of variables, and the first one
  IdVector<ExprId, std::uint32_t> at_;       // indices of values, as the current statement evaluates expressions
  IdVector<LocalId, std::uint32_t> variables_;
  Extents extents_;
  std::size_t named_ = 0;  // the digits of values that memory decides
  // Those of operators, by the operator and the sums that it is applied to: equal ones share a
  // digit, because a loop gives each variable that it assigns a new one.
  std::map<std::vector<std::int64_t>, IndexForm> digits_;
  std::array<IndexForm, 3> groups_, locals_;
};

}  // namespace vyre::run
