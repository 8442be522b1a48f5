// How it works: bounds are taken one after the other. A bound on a single digit shortens the digit. A bound on the index itself cuts off
// the ends of what is reached. A bound on a sum of several digits, if the index contains a multiple of that sum, turns them into one digit.
// This leaves a constant and digits: starting with the constants, each digit repeats the ranges so far at steps of its factor.
#include "vyre/run/reach/index_form.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

namespace vyre::run {
namespace {

using Term = IndexForm::Term;

// No constant and no factor of a form is larger, so that sums over digits, whose extents have 32 bits, fit 64 bits.
constexpr std::int64_t kMostConstant = std::int64_t{1} << 40, kMostFactor = std::int64_t{1} << 26;
// The most ranges that are kept on the way.
constexpr std::size_t kMostRanges = 512;

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }

bool fits(std::int64_t constant) { return constant >= -kMostConstant && constant <= kMostConstant; }
bool fits_factor(std::int64_t factor) { return std::abs(factor) <= kMostFactor; }

}  // namespace

IndexForm IndexForm::digit(std::uint32_t digit, std::int64_t factor) {
  IndexForm form = of(0);
  if (!fits_factor(factor)) return {};
  if (factor != 0) form.terms[form.count++] = {digit, static_cast<std::int32_t>(factor)};
  return form;
}

std::int64_t IndexForm::factor_of(std::uint32_t digit) const {
  for (std::uint32_t k = 0; k < count; ++k) {
    if (terms[k].digit == digit) return terms[k].factor;
  }
  return 0;
}

std::int64_t IndexForm::least(const Extents& extents) const {
  std::int64_t value = constant;
  for (std::uint32_t k = 0; k < count; ++k) {
    if (terms[k].factor < 0) value += terms[k].factor * static_cast<std::int64_t>(extents[terms[k].digit] - 1);
  }
  return value;
}
std::int64_t IndexForm::most(const Extents& extents) const {
  std::int64_t value = constant;
  for (std::uint32_t k = 0; k < count; ++k) {
    if (terms[k].factor > 0) value += terms[k].factor * static_cast<std::int64_t>(extents[terms[k].digit] - 1);
  }
  return value;
}
bool IndexForm::is_word(const Extents& extents) const {
  return known && least(extents) >= 0 && most(extents) <= std::numeric_limits<std::uint32_t>::max();
}

bool same_terms(const IndexForm& a, const IndexForm& b) {
  return a.count == b.count && std::equal(a.terms.begin(), a.terms.begin() + a.count, b.terms.begin());
}

IndexForm sum(const IndexForm& a, const IndexForm& b) {
  IndexForm made;
  if (!a.known || !b.known || !fits(a.constant + b.constant)) return made;
  made.constant = a.constant + b.constant;
  std::uint32_t i = 0, j = 0;
  while (i < a.count || j < b.count) {
    std::uint32_t digit = 0;
    std::int64_t factor = 0;
    if (j == b.count || (i < a.count && a.terms[i].digit < b.terms[j].digit)) {
      digit = a.terms[i].digit;
      factor = a.terms[i++].factor;
    } else if (i == a.count || b.terms[j].digit < a.terms[i].digit) {
      digit = b.terms[j].digit;
      factor = b.terms[j++].factor;
    } else {
      digit = a.terms[i].digit;
      factor = std::int64_t{a.terms[i++].factor} + b.terms[j++].factor;
    }
    if (factor == 0) continue;
    if (made.count == IndexForm::kMostTerms || !fits_factor(factor)) return {};
    made.terms[made.count++] = {digit, static_cast<std::int32_t>(factor)};
  }
  made.known = true;
  return made;
}

IndexForm scaled(const IndexForm& a, std::int64_t factor) {
  if (!a.known || factor == 0) return a.known ? IndexForm::of(0) : IndexForm();
  IndexForm made = a;
  if (__builtin_mul_overflow(a.constant, factor, &made.constant) || !fits(made.constant)) return {};
  for (std::uint32_t k = 0; k < made.count; ++k) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a.terms[k].factor, factor, &product) || !fits_factor(product)) return {};
    made.terms[k].factor = static_cast<std::int32_t>(product);
  }
  return made;
}

IndexForm difference(const IndexForm& a, const IndexForm& b) { return sum(a, scaled(b, -1)); }

IndexForm remainder(const IndexForm& a, std::int64_t by, const Extents& extents) {
  if (!a.is_word(extents)) return {};
  IndexForm rest = IndexForm::of(a.constant % by);
  for (std::uint32_t k = 0; k < a.count; ++k) {
    if (std::int64_t{a.terms[k].factor} % by != 0) rest.terms[rest.count++] = a.terms[k];
  }
  return rest.least(extents) >= 0 && rest.most(extents) < by ? rest : IndexForm();
}

IndexForm quotient(const IndexForm& a, std::int64_t by, const Extents& extents) {
  const IndexForm rest = remainder(a, by, extents);
  IndexForm multiple = difference(a, rest);
  if (!multiple.known) return multiple;
  multiple.constant /= by;
  for (std::uint32_t k = 0; k < multiple.count; ++k) multiple.terms[k].factor = static_cast<std::int32_t>(multiple.terms[k].factor / by);
  return multiple;
}

IndexBound bound_of(IndexForm form, std::int64_t low, std::int64_t high) {
  const std::int64_t constant = form.constant;
  form.constant = 0;
  return {form, std::max(low, -kMostConstant) - constant, std::min(high, kMostConstant) - constant};
}

namespace {

// The bounds that are not met yet, on the way to a ReachedIndices.
class Reaching {
 public:
  Reaching(const BoundedIndex& given, Extents extents) : index_(given.index), bounds_(given.bounds), extents_(std::move(extents)) {}

  std::optional<ReachedIndices> found() {
    if (!index_.is_word(extents_) || is_met() != true) return std::nullopt;
    return result();
  }
  // The index is a constant.
  std::optional<Tally> combinations() {
    counts_ = true;
    const std::optional<bool> met = is_met();
    if (!met) return std::nullopt;
    Tally all = *met ? 1 : 0;
    for (const std::uint64_t extent : extents_) all = times(all, extent);
    return all;
  }

 private:
  enum class Met : std::uint8_t { Always, Never, NotYet };

  // Changes the digits to those that meet all bounds. Returns false if none do, and nothing if that is not known.
  std::optional<bool> is_met() {
    // Bounds on one digit are taken first: they shorten the digits of the others.
    while (meet_all()) {
      if (bounds_.empty()) return true;
      const IndexBound bound = bounds_.back();
      bounds_.pop_back();
      if (!cut(bound) && !join(bound)) return std::nullopt;
    }
    return false;
  }

  // Returns false if a bound is never met.
  bool meet_all() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t k = 0; k < bounds_.size();) {
        const IndexBound bound = bounds_[k];
        const Met met = meet(bound);
        if (met == Met::Never) return false;
        if (met == Met::NotYet) {
          ++k;
          continue;
        }
        changed = true;
        bounds_.erase(bounds_.begin() + static_cast<std::ptrdiff_t>(k));
      }
    }
    return true;
  }

  Met meet(const IndexBound& bound) {
    const std::int64_t least = bound.form.least(extents_), most = bound.form.most(extents_);
    if (least >= bound.low && most <= bound.high) return Met::Always;
    if (least > bound.high || most < bound.low) return Met::Never;
    if (bound.high == least || bound.low == most) return pin(bound.form, bound.high == least);
    return bound.form.count == 1 ? shorten(bound) : Met::NotYet;
  }
  // Every digit takes the value that makes the form smallest, or largest.
  Met pin(const IndexForm& form, bool smallest) {
    for (std::uint32_t k = 0; k < form.count; ++k) {
      const Term& term = form.terms[k];
      narrow(term.digit, (term.factor > 0) == smallest ? 0 : extents_[term.digit] - 1, 1);
    }
    return Met::Always;
  }
  Met shorten(const IndexBound& bound) {
    const Term term = bound.form.terms[0];
    std::int64_t first = ceil_div(term.factor > 0 ? bound.low : bound.high, term.factor);
    std::int64_t last = floor_div(term.factor > 0 ? bound.high : bound.low, term.factor);
    first = std::max<std::int64_t>(first, 0);
    last = std::min<std::int64_t>(last, static_cast<std::int64_t>(extents_[term.digit]) - 1);
    if (first > last) return Met::Never;
    narrow(term.digit, static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(last - first + 1));
    return Met::Always;
  }
  // The digit counts from `first` on, so many values.
  void narrow(std::uint32_t digit, std::uint64_t first, std::uint64_t extent) {
    const auto offset = static_cast<std::int64_t>(first);
    index_.constant += index_.factor_of(digit) * offset;
    for (IndexBound& bound : bounds_) {
      const std::int64_t moved = bound.form.factor_of(digit) * offset;
      bound.low -= moved;
      bound.high -= moved;
    }
    extents_[digit] = extent;
    if (extent > 1) return;
    const auto without = [&](IndexForm& form) { form = difference(form, IndexForm::digit(digit, form.factor_of(digit))); };
    without(index_);
    for (IndexBound& bound : bounds_) without(bound.form);
  }

  // A bound on the index itself: the form is the index without its constant.
  bool cut(const IndexBound& bound) {
    if (!same_terms(bound.form, index_)) return false;
    low_ = std::max(low_, bound.low + index_.constant);
    high_ = std::min(high_, bound.high + index_.constant);
    return true;
  }

  // A bound on several digits that together count every number up to some: they become one digit, if everything else has a multiple of
  // them. They count each number once if each factor is as large as all numbers of the smaller ones.
  bool join(const IndexBound& bound) {
    std::vector<Term> terms;
    for (std::uint32_t k = 0; k < bound.form.count; ++k) {
      if (extents_[bound.form.terms[k].digit] > 1) terms.push_back(bound.form.terms[k]);
    }
    std::ranges::sort(terms, {}, &Term::factor);
    std::int64_t values = 1;
    for (const Term& term : terms) {
      if (term.factor <= 0 || term.factor > values || (counts_ && term.factor < values)) return false;
      values += std::int64_t{term.factor} * static_cast<std::int64_t>(extents_[term.digit] - 1);
    }
    const auto multiple = [&](const IndexForm& form) -> std::optional<std::int64_t> {
      const std::int64_t of_first = form.factor_of(terms.front().digit);
      for (const Term& term : terms) {
        if (form.factor_of(term.digit) != of_first * term.factor) return std::nullopt;
      }
      return of_first;
    };
    if (terms.empty() || terms.front().factor != 1 || !multiple(index_)) return false;
    for (const IndexBound& other : bounds_) {
      if (!multiple(other.form)) return false;
    }
    const std::int64_t first = std::max<std::int64_t>(bound.low, 0), last = std::min(bound.high, values - 1);
    if (first > last) return false;
    const auto digit = static_cast<std::uint32_t>(extents_.size());
    extents_.push_back(static_cast<std::uint64_t>(values));
    const auto with_digit = [&](IndexForm& form) {
      const std::int64_t factor = *multiple(form);
      for (const Term& term : terms) form = difference(form, IndexForm::digit(term.digit, factor * term.factor));
      if (factor != 0) form = sum(form, IndexForm::digit(digit, factor));
      return form.known;
    };
    for (const Term& term : terms) extents_[term.digit] = 1;
    bool fitted = with_digit(index_);
    for (IndexBound& other : bounds_) fitted = fitted && with_digit(other.form);
    if (!fitted) return false;
    narrow(digit, static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(last - first + 1));
    return true;
  }

  ReachedIndices result() const {
    ReachedIndices made{{}, index_.constant, low_, high_};
    for (std::uint32_t k = 0; k < index_.count; ++k) {
      const Term& term = index_.terms[k];
      const auto extent = static_cast<std::int64_t>(extents_[term.digit]);
      if (extent == 1) continue;
      if (term.factor < 0) made.constant += term.factor * (extent - 1);
      made.steps.push_back({std::abs(std::int64_t{term.factor}), extent});
    }
    std::ranges::sort(made.steps);
    return made;
  }

  IndexForm index_;
  IndexBounds bounds_;
  Extents extents_;
  bool counts_ = false;  // what matters is how many combinations there are
  std::int64_t low_ = 0, high_ = std::numeric_limits<std::uint32_t>::max();
};

struct Stretch {
  std::int64_t begin, end;
};

void join_stretches(std::vector<Stretch>& stretches) {
  std::ranges::sort(stretches, {}, &Stretch::begin);
  std::vector<Stretch> joined;
  for (const Stretch& stretch : stretches) {
    if (!joined.empty() && stretch.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, stretch.end);
    } else {
      joined.push_back(stretch);
    }
  }
  stretches = std::move(joined);
}

// Repeats the stretches `extent` times at steps of `factor`.
void repeat(std::vector<Stretch>& stretches, std::int64_t factor, std::int64_t extent) {
  std::vector<Stretch> made;
  for (const Stretch& stretch : stretches) {
    if (stretch.end - stretch.begin >= factor) {
      made.push_back({stretch.begin, stretch.end + factor * (extent - 1)});
      continue;
    }
    for (std::int64_t turn = 0; turn < extent && made.size() < kMostRanges; ++turn) {
      made.push_back({stretch.begin + factor * turn, stretch.end + factor * turn});
    }
  }
  stretches = std::move(made);
  join_stretches(stretches);
}

}  // namespace

std::optional<ReachedIndices> reached(const BoundedIndex& given, Extents extents) { return Reaching(given, std::move(extents)).found(); }

std::optional<Tally> combinations(const IndexBounds& bounds, Extents extents) {
  return Reaching({IndexForm::of(0), bounds}, std::move(extents)).combinations();
}

std::vector<Range> ranges_of(std::vector<ReachedIndices> reached, std::uint64_t length) {
  std::vector<Stretch> found;
  while (!reached.empty()) {
    const ReachedIndices like = reached.back();
    std::vector<Stretch> stretches;
    std::erase_if(reached, [&](const ReachedIndices& each) {
      if (each.steps != like.steps || each.low != like.low || each.high != like.high) return false;
      stretches.push_back({each.constant, each.constant + 1});
      return true;
    });
    join_stretches(stretches);
    if (stretches.size() > kMostRanges) stretches.resize(kMostRanges);
    for (const ReachedIndices::Steps& each : like.steps) repeat(stretches, each.factor, each.extent);
    for (const Stretch& stretch : stretches) {
      const std::int64_t begin = std::max(stretch.begin, like.low);
      const std::int64_t end = std::min({stretch.end, like.high + 1, static_cast<std::int64_t>(length)});
      if (begin < end) found.push_back({begin, end});
    }
  }
  join_stretches(found);
  std::vector<Range> ranges;
  ranges.reserve(found.size());
  for (const Stretch& stretch : found)
    ranges.push_back({static_cast<std::uint64_t>(stretch.begin), static_cast<std::uint64_t>(stretch.end)});
  return ranges;
}

}  // namespace vyre::run
