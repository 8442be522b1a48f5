// Sums that say which elements the invocations of a dispatch reach: a constant, and digits times factors. A digit counts from 0 up to its
// extent: a workgroup id, a turn of a loop, or a bit of a local id. Every combination of these occurs. The digits of
// values that have a name alone (Values::Names) are the exception: no count may range over them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace vyre::run {

// For each digit the number of values that it takes, which is at least 1.
using Extents = std::vector<std::uint64_t>;

// A number of events in a dispatch, in which loops multiply what counts of 64 bits hold. It stays at the most that it can hold.
__extension__ using Tally = unsigned __int128;
inline constexpr Tally kMostTally = ~Tally{0};
inline Tally sum(Tally a, Tally b) { return a + b < a ? kMostTally : a + b; }
inline Tally times(Tally a, Tally b) { return b != 0 && a > kMostTally / b ? kMostTally : a * b; }

struct IndexForm {
  struct Term {
    std::uint32_t digit = 0;
    std::int32_t factor = 0;
    bool operator==(const Term&) const = default;
  };
  static constexpr std::uint32_t kMostTerms = 22;

  bool known = false;
  std::uint8_t count = 0;
  std::int64_t constant = 0;
  std::array<Term, kMostTerms> terms;  // the first `count`, by digit, without factors of 0

  static IndexForm of(std::int64_t value) {
    IndexForm form;
    form.known = true;
    form.constant = value;
    return form;
  }
  static IndexForm digit(std::uint32_t digit, std::int64_t factor);  // unknown for a factor that fits no term

  bool is_constant() const { return known && count == 0; }
  std::int64_t factor_of(std::uint32_t digit) const;
  std::int64_t least(const Extents& extents) const;
  std::int64_t most(const Extents& extents) const;
  // Whether every value is a u32, so that the sum is what the invocation computes, and not only equal to it modulo 2^32.
  bool is_word(const Extents& extents) const;
};

// Whether the forms differ by a constant at most.
bool same_terms(const IndexForm& a, const IndexForm& b);

// Each gives an unknown form where an operand is unknown or the result is no such sum.
IndexForm sum(const IndexForm& a, const IndexForm& b);
IndexForm scaled(const IndexForm& a, std::int64_t factor);
IndexForm difference(const IndexForm& a, const IndexForm& b);
// The quotient and the remainder of words by a constant that is not 0.
IndexForm quotient(const IndexForm& a, std::int64_t by, const Extents& extents);
IndexForm remainder(const IndexForm& a, std::int64_t by, const Extents& extents);

// `form` lies from `low` to `high`. The form has no constant.
struct IndexBound {
  IndexForm form;
  std::int64_t low = 0, high = 0;
};
using IndexBounds = std::vector<IndexBound>;

// `form` lies from `low` to `high`, where the form may have a constant.
IndexBound bound_of(IndexForm form, std::int64_t low, std::int64_t high);

// The numbers from `begin` up to but without `end`.
struct Range {
  std::uint64_t begin = 0, end = 0;
  bool operator==(const Range&) const = default;
};

// An index, and what must hold for an invocation to get there.
struct BoundedIndex {
  IndexForm index;
  IndexBounds bounds;
};

// Indices that are reached together with others that differ from them by a constant.
struct ReachedIndices {
  // A digit that counts from 0 up to its extent, times a factor above 0.
  struct Steps {
    std::int64_t factor = 0, extent = 0;
    auto operator<=>(const Steps&) const = default;
  };
  std::vector<Steps> steps;  // in order
  std::int64_t constant = 0;
  std::int64_t low = 0, high = 0;  // those from low to high only
  bool operator==(const ReachedIndices&) const = default;
};

// Returns which indices are certainly reached, or nothing if that is not known. `extents` are those of the digits.
std::optional<ReachedIndices> reached(const BoundedIndex& given, Extents extents);
// Returns how many combinations of digits meet the bounds, or nothing if that is not known.
std::optional<Tally> combinations(const IndexBounds& bounds, Extents extents);
// Joins what is reached, below `length`, into ranges in order. Some of it may be left out.
std::vector<Range> ranges_of(std::vector<ReachedIndices> reached, std::uint64_t length);

}  // namespace vyre::run
