#include "vyre/run/reach/values.hpp"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <limits>
#include <utility>

#include "vyre/ir/ops.hpp"

namespace vyre::run {
namespace {

using ir::BinOp;

// The most digits: of ids and loops, and of values that memory decides.
constexpr std::size_t kMostDigits = 1024, kMostNamed = 4096;
// The most sums above a value, or below it.
constexpr std::size_t kMostSums = 4;
constexpr std::int64_t kMostWord = std::numeric_limits<std::uint32_t>::max();

// The operators that are an opcode, for the operands that Values::range_of leaves.
// clang-format off
constexpr std::pair<BinOp, lower::Opcode> kOpcodes[] = {
    {BinOp::Add, lower::Opcode::Add},    {BinOp::Sub, lower::Opcode::Sub},   {BinOp::Mul, lower::Opcode::Mul},
    {BinOp::Div, lower::Opcode::Div},    {BinOp::Mod, lower::Opcode::Mod},   {BinOp::BitAnd, lower::Opcode::And},
    {BinOp::BitOr, lower::Opcode::Or},   {BinOp::BitXor, lower::Opcode::Xor}, {BinOp::Shl, lower::Opcode::Shl},
    {BinOp::Shr, lower::Opcode::Shr},    {BinOp::Min, lower::Opcode::Min},   {BinOp::Max, lower::Opcode::Max},
    {BinOp::AddSat, lower::Opcode::AddSat}};
// clang-format on

Truth decided(bool value) {
  const IndexBounds always, never{{IndexForm::of(0), 1, 1}};
  return value ? Truth{always, never, {}} : Truth{never, always, {}};
}

bool is_never(const std::optional<IndexBounds>& bounds) {
  return bounds && std::ranges::any_of(*bounds, [](const IndexBound& bound) { return bound.form.count == 0 && bound.low > 0; });
}
// Returns bounds that hold if `a` or `b` holds.
std::optional<IndexBounds> either(const std::optional<IndexBounds>& a, const std::optional<IndexBounds>& b) {
  if (is_never(a) || (b && b->empty())) return b;
  if (is_never(b) || (a && a->empty())) return a;
  return std::nullopt;
}

}  // namespace

std::optional<IndexBounds> both(const std::optional<IndexBounds>& a, const std::optional<IndexBounds>& b) {
  if (!a || !b || a->size() + b->size() > kMostBounds) return std::nullopt;
  IndexBounds made = *a;
  made.insert(made.end(), b->begin(), b->end());
  return made;
}

Values::Values(const validate::ValidProgram& valid, std::span<const ReachedBuffer> buffers, Grid grid, Names names)
    : program_(valid.program()),
      buffers_(buffers),
      names_(names),
      slots_(program_.buffers().size(), kNoSlot),
      values_(1),
      at_(program_.exprs().size(), 0),
      variables_(valid.facts().locals.size(), 0) {
  for (std::uint32_t slot = 0; slot < valid.bound().size(); ++slot) slots_[valid.bound()[slot]] = slot;
  const std::array<std::uint32_t, 3> groups = {grid.x, grid.y, grid.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    groups_[axis] = digit(groups[axis]);
    locals_[axis] = local_id(program_.workgroup_size()[axis]);
  }
}

IndexForm Values::digit(std::uint64_t extent) {
  if (extent == 0 || extents_.size() - named_ >= kMostDigits) return {};
  extents_.push_back(extent);
  return extent == 1 ? IndexForm::of(0) : IndexForm::digit(static_cast<std::uint32_t>(extents_.size() - 1), 1);
}
// A digit for each bit, so that quotients and remainders by powers of two are sums of digits too.
IndexForm Values::local_id(std::uint32_t extent) {
  if (!std::has_single_bit(extent)) return digit(extent);
  IndexForm made = IndexForm::of(0);
  for (std::uint32_t bit = 1; bit < extent; bit *= 2) made = sum(made, scaled(digit(2), bit));
  return made;
}

IndexForm Values::between(const lower::Range& range) {
  if (range.least == range.greatest) return IndexForm::of(range.least);
  if (named_ == kMostNamed) return {};
  ++named_;
  extents_.push_back(std::uint64_t{range.greatest} - range.least + 1);
  return sum(IndexForm::of(range.least), IndexForm::digit(static_cast<std::uint32_t>(extents_.size() - 1), 1));
}
lower::Range Values::range_of(const IndexForm& form) const {
  if (!is_word(form)) return {};
  return lower::Range::between(static_cast<std::uint32_t>(form.least(extents_)), static_cast<std::uint32_t>(form.most(extents_)));
}

void Values::keep(LocalId local, ExprId value) {
  // A sum that may wrap around bounds nothing, but other sums may differ from it by a constant.
  if (IndexForm& form = values_[at_[value]].form; names_ == Names::Yes && form.known && !is_word(form)) form = between({});
  variables_[local] = at_[value];
  if (at_[value] >= kept_) {
    std::swap(values_[kept_], values_[at_[value]]);
    variables_[local] = static_cast<std::uint32_t>(kept_++);
  }
  keep();
}
std::uint32_t Values::add(const IndexForm& form) {
  keep();
  const std::uint32_t made = kept({form});
  kept_ = values_.size();
  return made;
}

// Returns the index of the value. Those of which nothing is known share the first one, unless they get a digit.
std::uint32_t Values::kept(Value value) {
  if (names_ == Names::No && !value.form.known && !value.truth.if_true && !value.truth.if_false) return 0;
  values_.push_back(std::move(value));
  return static_cast<std::uint32_t>(values_.size() - 1);
}

void Values::compute(const validate::Step& step) {
  at_[step.expr] = computed(step);
  if (names_ == Names::Yes) name(step);
}

void Values::name(const validate::Step& step) {
  if (at_[step.expr] == 0) at_[step.expr] = kept({});
  Value& value = values_[at_[step.expr]];
  if (step.type != ir::DataType::U32) return;
  const auto* binary = std::get_if<ir::Binary>(&program_.expr(step.expr));
  if (binary != nullptr) bound(*binary, value);
  if (value.form.known) return;
  const Truth truth = truth_of(step.expr);
  if (truth.always() || truth.never()) {
    value.form = IndexForm::of(truth.always() ? 1 : 0);
    return;
  }
  const std::vector<std::int64_t> key = binary == nullptr ? std::vector<std::int64_t>() : key_of(*binary);
  const auto known = digits_.find(key);
  value.form = known == digits_.end() ? between(range_of(program_.expr(step.expr))) : known->second;
  if (!key.empty()) digits_.emplace(key, value.form);
}

// Returns the range that the operands give the result of an operator. lower/ranges.hpp has the ranges of opcodes, which are not for all
// operands: a divisor of 0 gives 0 here, and the amount of a shift is taken modulo 32.
lower::Range Values::range_of(const ir::Expr& expr) const {
  if (const auto* select = std::get_if<ir::Select>(&expr)) {
    return lower::either(range_of((*this)[select->if_true]), range_of((*this)[select->if_false]));
  }
  const ir::OpInfo* const operation = ir::operator_of(expr);
  if (operation != nullptr && (operation->laws & ir::kTruth) != 0) return lower::Range::at_most(1);
  if (const auto* unary = std::get_if<ir::Unary>(&expr)) {
    const bool counts = unary->op == ir::UnOp::Popcount || unary->op == ir::UnOp::Clz || unary->op == ir::UnOp::Ctz;
    return counts ? lower::Range::at_most(32) : lower::Range();
  }
  const auto* binary = std::get_if<ir::Binary>(&expr);
  if (binary == nullptr) return {};
  const lower::Range a = range_of((*this)[binary->left]), b = range_of((*this)[binary->right]);
  const auto* const found = std::ranges::find(kOpcodes, binary->op, &std::pair<BinOp, lower::Opcode>::first);
  if (found == std::end(kOpcodes)) return {};
  if (b.least == 0 && (binary->op == BinOp::Div || binary->op == BinOp::Mod)) return lower::Range::at_most(a.greatest);
  if (binary->op == BinOp::Shr && b.greatest > 31) return lower::Range::at_most(a.greatest);
  if (binary->op == BinOp::Shl && (b.greatest > 31 || std::uint64_t{a.greatest} << b.greatest > ~0u)) return {};
  const lower::Range made = lower::range_of(found->second, a, b);
  return lower::Range::between(made.least, made.greatest);
}

// Returns what two expressions of equal values share; nothing if that is not known.
std::vector<std::int64_t> Values::key_of(const ir::Binary& binary) const {
  std::vector<std::int64_t> key{static_cast<std::int64_t>(binary.op)};
  for (const ExprId operand : ir::applied_to(binary)) {
    const IndexForm& form = (*this)[operand];
    if (!form.known) return {};
    key.insert(key.end(), {form.constant, form.count});
    for (std::uint32_t k = 0; k < form.count; ++k) key.insert(key.end(), {form.terms[k].digit, form.terms[k].factor});
  }
  return key;
}

std::vector<IndexForm> Values::above(ExprId id) const {
  std::vector<IndexForm> made = value_of(id).above;
  // What is equal to a sum modulo 2^32 is not larger, unless the sum is negative.
  const IndexForm& form = (*this)[id];
  if (form.known && form.least(extents_) >= 0) made.push_back(form);
  return made;
}
std::vector<IndexForm> Values::below(ExprId id) const {
  std::vector<IndexForm> made = value_of(id).below;
  if (is_word((*this)[id])) made.push_back((*this)[id]);
  return made;
}

// Finds the sums above and below what an operator gives.
void Values::bound(const ir::Binary& binary, Value& value) const {
  const Value &a = value_of(binary.left), &b = value_of(binary.right);
  const lower::Range left = range_of(a.form), right = range_of(b.form);
  const auto combine = [](std::vector<IndexForm>& made, const std::vector<IndexForm>& xs, const std::vector<IndexForm>& ys) {
    for (const IndexForm& x : xs) {
      for (const IndexForm& y : ys) made.push_back(sum(x, y));
    }
  };
  const auto join = [](std::vector<IndexForm>& made, const std::vector<IndexForm>& xs, const std::vector<IndexForm>& ys) {
    made = xs;
    made.insert(made.end(), ys.begin(), ys.end());
  };
  if (binary.op == BinOp::Min) join(value.above, above(binary.left), above(binary.right));
  if (binary.op == BinOp::Max) join(value.below, below(binary.left), below(binary.right));
  if (binary.op == BinOp::Add) {
    if (!a.above.empty() || !b.above.empty()) combine(value.above, above(binary.left), above(binary.right));
    const bool wraps = std::uint64_t{left.greatest} + right.greatest > ~0u;
    if (!wraps && !(a.below.empty() && b.below.empty())) combine(value.below, below(binary.left), below(binary.right));
  }
  if (binary.op == BinOp::Sub && right.least == right.greatest && left.least >= right.least) {
    combine(value.above, a.above, {IndexForm::of(-std::int64_t{right.least})});
    combine(value.below, a.below, {IndexForm::of(-std::int64_t{right.least})});
  }
  for (std::vector<IndexForm>* sums : {&value.above, &value.below}) {
    std::erase_if(*sums, [](const IndexForm& form) { return !form.known; });
    sums->resize(std::min(sums->size(), kMostSums));
  }
}

const std::optional<std::uint32_t>* Values::given(const ir::Load& load, BufferId buffer) const {
  const IndexForm& index = (*this)[load.index];
  if (slots_[buffer] == kNoSlot || !index.is_constant() || !is_word(index)) return nullptr;
  const std::vector<std::optional<std::uint32_t>>& words = buffers_[slots_[buffer]].words;
  return static_cast<std::uint64_t>(index.constant) < words.size() ? &words[static_cast<std::size_t>(index.constant)] : nullptr;
}

// Returns the index of what the step computes.
std::uint32_t Values::computed(const validate::Step& step) {
  const auto word = [&](std::uint64_t value) { return kept({IndexForm::of(static_cast<std::int64_t>(value))}); };
  const ir::Expr& expr = program_.expr(step.expr);
  if (const auto* load = std::get_if<ir::Load>(&expr)) {
    const std::optional<std::uint32_t>* const known = given(*load, step.buffer);
    return known != nullptr && *known ? word(**known) : 0;
  }
  if (std::holds_alternative<ir::Var>(expr)) return variables_[step.local];
  if (step.type != ir::DataType::U32) return 0;
  if (const auto* literal = std::get_if<ir::Literal>(&expr)) return word(literal->low);
  if (std::holds_alternative<ir::BufLen>(expr)) {
    const std::uint32_t slot = slots_[step.buffer];
    return word(slot == kNoSlot ? program_.buffers()[step.buffer.index].count : buffers_[slot].length);
  }
  if (const auto* id = std::get_if<ir::GridId>(&expr)) return kept({grid_id(*id)});
  if (const auto* cast = std::get_if<ir::Cast>(&expr)) return is_word((*this)[cast->value]) ? at_[cast->value] : 0;
  if (const auto* select = std::get_if<ir::Select>(&expr)) {
    if (at_[select->condition] == 0) return 0;
    const Truth truth = truth_of(select->condition);
    return truth.always() ? at_[select->if_true] : truth.never() ? at_[select->if_false] : 0;
  }
  if (const auto* unary = std::get_if<ir::Unary>(&expr); unary != nullptr && unary->op == ir::UnOp::LogicalNot) {
    if (at_[unary->operand] == 0) return 0;
    Truth truth = truth_of(unary->operand);
    std::swap(truth.if_true, truth.if_false);
    return kept({{}, truth});
  }
  const auto* binary = std::get_if<ir::Binary>(&expr);
  // Where one operand is unknown, conditions may still be known in part.
  if (binary == nullptr || (at_[binary->left] == 0 && at_[binary->right] == 0)) return 0;
  if (at_[binary->left] == 0 || at_[binary->right] == 0) {
    if (binary->op != BinOp::And && binary->op != BinOp::Or) return 0;
  }
  return kept(computed(*binary));
}
Values::Value Values::computed(const ir::Binary& binary) const {
  const IndexForm &a = (*this)[binary.left], &b = (*this)[binary.right];
  switch (binary.op) {
    case BinOp::Add:
      return {sum(a, b), {}};
    case BinOp::Sub:
      return {difference(a, b), {}};
    case BinOp::Mul:
      return {b.is_constant() ? scaled(a, b.constant) : a.is_constant() ? scaled(b, a.constant) : IndexForm(), {}};
    case BinOp::Shl:
      return {shift(b) ? scaled(a, std::int64_t{1} << *shift(b)) : IndexForm(), {}};
    case BinOp::Div:
      return {divisor(b) ? quotient(a, *divisor(b), extents_) : IndexForm(), {}};
    case BinOp::Mod:
      return {divisor(b) ? remainder(a, *divisor(b), extents_) : IndexForm(), {}};
    case BinOp::Shr:
      return {shift(b) ? quotient(a, std::int64_t{1} << *shift(b), extents_) : IndexForm(), {}};
    case BinOp::BitAnd:
      return {mask(b) ? remainder(a, *mask(b), extents_) : mask(a) ? remainder(b, *mask(a), extents_) : IndexForm(), {}};
    case BinOp::BitOr:
      return {disjoint(a, b) || disjoint(b, a) ? sum(a, b) : IndexForm(), {}};
    case BinOp::Min:
    case BinOp::Max:
      return {smaller(a, b, binary.op == BinOp::Min), {}};
    case BinOp::And:
    case BinOp::Or: {
      const Truth left = truth_of(binary.left), right = truth_of(binary.right);
      if (binary.op == BinOp::And) return {{}, {both(left.if_true, right.if_true), either(left.if_false, right.if_false), {}}};
      return {{}, {either(left.if_true, right.if_true), both(left.if_false, right.if_false), {}}};
    }
    default:
      return {{}, compared(binary.op, a, b)};
  }
}

Truth Values::compared(BinOp op, const IndexForm& a, const IndexForm& b) const {
  if (!a.is_word(extents_) || !b.is_word(extents_)) return {};
  const IndexForm form = difference(a, b);
  if (!form.known) return {};
  constexpr std::int64_t kAny = kMostWord + 1;
  const auto between = [&](std::int64_t low, std::int64_t high) { return IndexBounds{bound_of(form, low, high)}; };
  switch (op) {
    case BinOp::Lt:
      return {between(-kAny, -1), between(0, kAny), {}};
    case BinOp::Ge:
      return {between(0, kAny), between(-kAny, -1), {}};
    case BinOp::Gt:
      return {between(1, kAny), between(-kAny, 0), {}};
    case BinOp::Le:
      return {between(-kAny, 0), between(1, kAny), {}};
    case BinOp::Eq:
    case BinOp::Ne: {
      Truth equal{between(0, 0), std::nullopt, bound_of(form, 0, 0)};
      if (form.least(extents_) >= 0) equal.if_false = between(1, kAny);
      if (form.most(extents_) <= 0) equal.if_false = between(-kAny, -1);
      if (op == BinOp::Ne) std::swap(equal.if_true, equal.if_false);
      return equal;
    }
    default:
      return {};
  }
}
// Whether the value of an expression is not 0. Bounds that always hold, or never, are decided.
Truth Values::truth_of(ExprId id) const {
  Truth truth = value_of(id).truth;
  if (!truth.if_true && !truth.if_false) truth = compared(BinOp::Ne, (*this)[id], IndexForm::of(0));
  for (const bool value : {true, false}) {
    const std::optional<IndexBounds>& bounds = value ? truth.if_true : truth.if_false;
    if (!bounds) continue;
    bool always = true, never = false;
    for (const IndexBound& bound : *bounds) {
      const std::int64_t least = bound.form.least(extents_), most = bound.form.most(extents_);
      always = always && least >= bound.low && most <= bound.high;
      never = never || least > bound.high || most < bound.low;
    }
    if (always || never) return decided(always == value);
  }
  return truth;
}

std::optional<std::int64_t> Values::shift(const IndexForm& by) const {
  if (!by.is_constant() || !by.is_word(extents_)) return std::nullopt;
  return by.constant & 31;
}
std::optional<std::int64_t> Values::divisor(const IndexForm& by) const {
  if (!by.is_constant() || !by.is_word(extents_) || by.constant == 0) return std::nullopt;
  return by.constant;
}
// One more than a mask of low bits.
std::optional<std::int64_t> Values::mask(const IndexForm& form) const {
  if (!form.is_constant() || !form.is_word(extents_)) return std::nullopt;
  const auto above = static_cast<std::uint64_t>(form.constant) + 1;
  return std::has_single_bit(above) ? std::optional(form.constant + 1) : std::nullopt;
}
// Whether `low` has only bits below all that `high` has.
bool Values::disjoint(const IndexForm& high, const IndexForm& low) const {
  if (!high.is_word(extents_) || !low.is_word(extents_)) return false;
  const auto above = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(low.most(extents_)) + 1));
  const IndexForm rest = remainder(high, above, extents_);
  return rest.is_constant() && rest.constant == 0;
}
IndexForm Values::smaller(const IndexForm& a, const IndexForm& b, bool smallest) const {
  if (!a.is_word(extents_) || !b.is_word(extents_)) return {};
  const IndexForm by = difference(a, b);
  if (by.known && by.most(extents_) <= 0) return smallest ? a : b;
  if (by.known && by.least(extents_) >= 0) return smallest ? b : a;
  return {};
}
IndexForm Values::grid_id(const ir::GridId& id) const {
  const IndexForm &group = groups_[id.axis], &local = locals_[id.axis];
  if (id.kind == ir::GridIdKind::Workgroup) return group;
  if (id.kind == ir::GridIdKind::Local) return local;
  return sum(scaled(group, program_.workgroup_size()[id.axis]), local);
}

}  // namespace vyre::run
