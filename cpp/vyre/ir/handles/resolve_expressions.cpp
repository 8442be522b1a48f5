// Three things happen to a handle. It is looked up, because one that was made in an environment of the same types becomes the same
// expression. Its operands are made, from an explicit stack, because chains of them may be long. Then make() adds it to the program: an
// operator of Python goes through infix(), which refuses operands that do not fit together, and written(), which spells it out.
#include "vyre/ir/handles/resolve_expressions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <variant>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"
#include "vyre/ir/handles/spelling.hpp"

namespace vyre::ir {
namespace {

// How often handles are made again because a variable has another type.
constexpr std::size_t kMaxMadeAgain = std::size_t{1} << 24;

// Whether an integer of Python is 0 or 1, or each is that a Select of such chooses from.
bool are_bits(const ExprData& data) {
  if (data.kind != ExprKind::Select) return data.is_bit();
  return data.adapts && are_bits(*data.operands[1]) && are_bits(*data.operands[2]);
}

}  // namespace

Expressions::Expressions(ProgramBuilder& builder, const Variables& variables, const std::vector<BufferDecl>& buffers,
                         const Surroundings& surroundings, OpenTypes& open_types)
    : builder_(builder), variables_(variables), surroundings_(surroundings), open_types_(open_types) {
  for (const BufferDecl& decl : buffers) {
    const NameId name = builder_.name(decl.name);
    if (name.index < elements_.size()) continue;  // V001: the first declaration stays
    // A Bytes buffer has no elements that are values: V013 speaks about it.
    elements_.push_back(info(decl.element).kind == TypeKind::Opaque ? std::nullopt : std::optional(decl.element));
  }
}

std::optional<DataType> Expressions::value_of(NameId buffer) const {
  const std::optional<DataType> found = element(buffer);
  return found ? std::optional(value_type(*found)) : std::nullopt;
}

ExprId Expressions::stored(const ExprHandle& root, NameId buffer) {
  const std::optional<DataType> stored = element(buffer);
  if (!stored || !is_narrow(*stored) || !root->is_integer() || !root->name.empty() || surroundings_.spelled) {
    const Made value = (*this)(root, value_of(buffer));
    if (stored) want(*root, value.type, value_type(*stored));
    return stored == DataType::Bool ? as_bool(value, root->place).id : value.id;
  }
  const Number value = root->number();
  const ExprId id = builder_.add(value.literal(value_type(*stored)), root->place);
  if (!value.fits(*stored)) add_mistake({.kind = Mistake::Kind::Literal, .left = *stored, .number = value, .expr = id});
  return id;
}

void Expressions::want(const ExprData& data, std::optional<DataType> own, DataType opposite) {
  if (data.kind == ExprKind::Var && has_numbers(opposite) && own.value_or(kU32) != opposite) open_types_.want(data.name, opposite);
}

void Expressions::want_alike(std::span<const ExprHandle> data, std::span<const Made> made) {
  for (std::size_t k = 0; k < made.size(); ++k) {
    for (const Made& other : made) {
      if (other.type && other.type != made[k].type) want(*data[k], made[k].type, *other.type);
    }
  }
}

Made Expressions::operator()(const ExprHandle& root, std::optional<DataType> wanted) {
  if (root->adapts) {
    if (!root->name.empty()) return open_literal(*root);
    const bool chooses = !root->is_integer();
    if (chooses && stack_.empty()) make_reached(root.get());
    return integer(*root, wanted.value_or(chooses && root->negative ? DataType::I32 : DataType::U32));
  }
  if (const Made* made = known(root.get())) return *made;
  make_reached(root.get());
  return *known(root.get());
}

const Made* Expressions::known(const ExprData* data) const {
  const auto found = memos_.find(data);
  if (found == memos_.end()) return nullptr;
  const Memo& memo = found->second;
  return !memo.made.id_varies && !memo.made.type_varies ? &memo.made : known_in(memo, data, variables_.environment());
}

const Made* Expressions::known_in(const Memo& memo, const ExprData* data, std::uint32_t environment) const {
  if (memo.environment == environment) return &memo.made;
  const auto again = made_again_.find({data, environment});
  return again == made_again_.end() ? nullptr : &again->second;
}

void Expressions::make_reached(const ExprData* root) {
  stack_.push_back({root, 0});
  while (!stack_.empty()) {
    auto& [data, next] = stack_.back();
    if (next < data->operands.size()) {
      const ExprData* operand = data->operands[next++].get();
      const bool is_made = operand->adapts ? operand->is_integer() : known(operand) != nullptr;
      if (!is_made) stack_.push_back({operand, 0});
      continue;
    }
    const ExprData* done = data;
    stack_.pop_back();
    if (!done->adapts) remember(done);  // else it becomes what each of its uses wants
  }
}

void Expressions::remember(const ExprData* data) {
  // make() adds no handle: all operands are there.
  const auto [found, is_new] = memos_.try_emplace(data);
  Memo& memo = found->second;
  if (is_new) {
    memo = {make(*data), variables_.environment()};
    return;
  }
  if (made_again_.size() >= kMaxMadeAgain) {
    throw ArgumentError(fmt::format(
        "expressions are used with variables of other types more than {} times. Fix: give variables of different types different names.",
        kMaxMadeAgain));
  }
  const Made* equal = equal_variant(memo, *data);
  Made made = equal != nullptr ? *equal : make(*data);
  if (!memo.made.id_varies) made.id = memo.made.id;  // only the type is another
  others_[data].push_back(variables_.environment());
  made_again_.emplace(std::pair(data, variables_.environment()), made);
}

const Made* Expressions::equal_variant(const Memo& memo, const ExprData& data) const {
  if (data.kind == ExprKind::Var) return nullptr;
  const auto same = [&](std::uint32_t environment) {
    return std::ranges::all_of(data.operands, [&](const ExprHandle& operand) {
      if (operand->adapts) return operand->is_integer();  // its type follows from the other operand's
      const Made* now = known(operand.get());
      const Memo& theirs = memos_.at(operand.get());
      const bool varies = theirs.made.id_varies || theirs.made.type_varies;
      const Made* then = varies ? known_in(theirs, operand.get(), environment) : &theirs.made;
      return then != nullptr && then->id == now->id && then->type == now->type;
    });
  };
  if (same(memo.environment)) return &memo.made;
  const auto others = others_.find(&data);
  if (others == others_.end()) return nullptr;
  for (const std::uint32_t environment : others->second) {
    if (same(environment)) return known_in(memo, &data, environment);
  }
  return nullptr;
}

ExprList Expressions::list(const std::vector<Made>& operands) {
  std::vector<ExprId> ids;
  ids.reserve(operands.size());
  for (const Made& each : operands) ids.push_back(each.id);
  return builder_.list(ids);
}

Made Expressions::of(ExprId id, std::optional<DataType> type, std::span<const Made> from, bool by_type) {
  Made made{.id = id, .type = type};
  for (const Made& each : from) made.id_varies = made.id_varies || each.id_varies || (by_type && each.type_varies);
  made.type_varies = by_type && made.id_varies;
  return made;
}

Made Expressions::make(const ExprData& data) {
  if (data.infix) return surroundings_.spelled ? spelled(data) : infix(data);
  const auto add = [&](const Expr& expr) { return builder_.add(expr, data.place); };
  const auto word = static_cast<std::uint32_t>(data.bits);
  switch (data.kind) {
    case ExprKind::Literal: {
      const auto type = static_cast<DataType>(data.op);
      return {.id = add(Literal::of(type, data.bits)), .type = type};
    }
    case ExprKind::Var: {
      const NameId name = builder_.name(data.name);
      const bool holds_truth = open_types_.is_truth(data.name);
      return {.id = add(Var{name}),
              .type = variables_.type(name),
              .truth = holds_truth && open_types_.began_as_truth(data.name),
              .holds_truth = holds_truth,
              .type_varies = true};
    }
    case ExprKind::BufLen:
      return {.id = add(BufLen{builder_.name(data.name)}), .type = DataType::U32};
    case ExprKind::GridId:
      return {.id = add(GridId{static_cast<GridIdKind>(data.op), word}), .type = DataType::U32};
    case ExprKind::Select:
      return select(data);
    case ExprKind::Call:
      return call(data);
    case ExprKind::Load:
    case ExprKind::Cast:
    case ExprKind::Lane:
    case ExprKind::Pack:
    case ExprKind::Atomic:
      break;
    default:
      return operation(data);
  }
  std::vector<Made>& operands = operands_;
  operands.clear();
  for (std::size_t k = 0; k < data.operands.size(); ++k) operands.push_back(operand(data, k));
  const auto at = [&](std::size_t k) { return operands[k].id; };
  const auto made = [&](const Expr& expr, std::optional<DataType> type) { return of(add(expr), type, operands); };
  switch (data.kind) {
    case ExprKind::Load: {
      const NameId buffer = builder_.name(data.name);
      return made(Load{buffer, at(0)}, value_of(buffer));
    }
    case ExprKind::Cast:
      return made(Cast{static_cast<DataType>(data.op), at(0)}, value_type(static_cast<DataType>(data.op)));
    case ExprKind::Lane:
      return made(Lane{at(0), word}, DataType::U32);
    case ExprKind::Pack:
      return made(Pack{static_cast<DataType>(data.op), list(operands)}, static_cast<DataType>(data.op));
    case ExprKind::Atomic:
      return made(Atomic{static_cast<AtomicOp>(data.op), data.has_expected, builder_.name(data.name), list(operands)}, DataType::U32);
    default:
      VYRE_ASSERT(false);
      return {};
  }
}

Made Expressions::operation(const ExprData& data) {
  const OpInfo& op = info(data.kind, data.op);
  std::array<Made, 3> made;
  std::array<ExprId, 3> ids;
  for (std::size_t k = 0; k < op.arity; ++k) {
    made[k] = operand(data, k);
    ids[k] = data.takes_bools ? as_word(made[k], data.place).id : made[k].id;
  }
  const bool by_type = keeps_truths(op) || data.takes_bools;
  Made result = of(builder_.add(application(op, ids), data.place), op.result, std::span(made).first(op.arity), by_type);
  result.truth = (op.laws & kTruth) != 0 || (keeps_truths(op) && made[0].truth && made[1].truth);
  result.holds_truth = result.truth || (keeps_truths(op) && made[0].holds_truth && made[1].holds_truth);
  return result;
}

Made Expressions::as_bool(Made value, SourcePlace place) {
  const bool is_u32 = value.type.value_or(kU32) == kU32;  // as a group without a type counts
  if (!value.holds_truth || !is_u32 || surroundings_.spelled) return value;
  value.id = builder_.add(Cast{DataType::Bool, value.id}, place);
  value.type = DataType::Bool;
  return value;
}

Made Expressions::as_word(Made value, SourcePlace place) {
  if (value.type != DataType::Bool) return value;
  const ExprId yes = builder_.add(Literal::u32(1), place), no = builder_.add(Literal::u32(0), place);
  value.id = builder_.add(Select{value.id, yes, no}, place);
  value.type = kU32;
  value.holds_truth = true;
  return value;
}

Made Expressions::select(const ExprData& data) {
  const Made condition = operand(data, 0);
  const bool first_adapts = data.operands[1]->adapts;
  const Made known_arm = operand(data, first_adapts ? 2 : 1);
  const Made other_arm = operand(data, first_adapts ? 1 : 2, known_arm.type);
  Made yes = first_adapts ? other_arm : known_arm;
  Made no = first_adapts ? known_arm : other_arm;
  if (data.takes_bools && (yes.type == DataType::Bool || no.type == DataType::Bool)) {
    yes = as_bool(yes, data.place);
    no = as_bool(no, data.place);
  }
  const std::optional<DataType> type = yes.type == no.type ? yes.type : std::nullopt;
  if (!type) want_alike(std::span(data.operands).subspan(1), std::array{yes, no});
  Made made{.id = builder_.add(Select{condition.id, yes.id, no.id}, data.place), .type = type};
  const bool adapts = first_adapts || data.operands[2]->adapts || data.takes_bools;
  const bool arms_vary = yes.type_varies || no.type_varies;
  made.id_varies = condition.id_varies || yes.id_varies || no.id_varies || (adapts && arms_vary);
  made.type_varies = arms_vary;
  made.holds_truth = (yes.holds_truth || data.operands[1]->is_bit()) && (no.holds_truth || data.operands[2]->is_bit());
  return made;
}

const OpTable& Expressions::operations() {
  if (!operations_) operations_ = surroundings_.operations ? surroundings_.operations() : OpTable();
  return *operations_;
}

std::optional<DataType> Expressions::deciding_type(const ExprData& data, const ByType& function) {
  std::optional<DataType> type;
  bool hidden = false;
  std::vector<Made> operands(std::min(function.typed, data.operands.size()));
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (data.operands[k]->adapts && data.operands[k]->name.empty()) continue;
    operands[k] = operand(data, k);
    hidden = hidden || !operands[k].type;
    if (!type) type = operands[k].type;
  }
  want_alike(data.operands, operands);
  leaned_ = leaned_ || (hidden && type.value_or(DataType::U32) != DataType::U32);
  return type;
}

Made Expressions::call(const ExprData& data) {
  const ByType* function = surroundings_.spelled ? nullptr : find_by_type(data.name);
  const std::string_view called = function != nullptr ? function->operation(deciding_type(data, *function)) : data.name;
  const OpTable::Spec spec = operations().find(called);
  // A procedure has no types of values: V020 refuses the call.
  const OpSignature* signature = spec && spec->procedure() == nullptr ? &spec->function().signature : nullptr;
  std::vector<Made> arguments;
  for (std::size_t k = 0; k < data.operands.size(); ++k) {
    const bool has_type = signature != nullptr && k < signature->inputs.size();
    arguments.push_back(operand(data, k, has_type ? std::optional(signature->inputs[k]) : std::nullopt));
  }
  const ExprId id = builder_.add(Call{builder_.name(called), list(arguments)}, data.place);
  Made made = of(id, signature != nullptr ? std::optional(signature->output) : std::nullopt, arguments, function != nullptr);
  made.truth = made.holds_truth = spec && compares(*spec);
  return made;
}

bool Expressions::compares(const OpSpec& spec) {
  const auto [known, is_new] = compares_.try_emplace(&spec, false);
  if (!is_new || !spec.inlinable() || spec.function().body->nodes().empty()) return known->second;
  constexpr std::size_t kMostLooked = 1000;
  const Program& body = *spec.function().body;
  const auto* result = std::get_if<Let>(&body.nodes().items().back());
  if (result == nullptr || literal_u32(body.expr(result->value))) return false;
  std::vector<ExprId> open{result->value};
  for (std::size_t looked = 0; !open.empty(); ++looked) {
    if (looked == kMostLooked) return false;
    const ExprId id = open.back();
    const Expr& expr = body.expr(id);
    open.pop_back();
    if (const std::optional<std::uint32_t> literal = literal_u32(expr); literal && *literal <= 1) continue;
    const OpInfo* op = operator_of(expr);
    if (op == nullptr) return false;
    if ((op->laws & kTruth) != 0) continue;
    if (!keeps_truths(*op)) return false;
    for_each_operand(body, id, [&](ExprId operand) { open.push_back(operand); });
  }
  return known->second = true;
}

void Expressions::add_mistake(Mistake mistake) {
  mistake.statement = NodeId{static_cast<std::uint32_t>(builder_.node_count())};
  mistakes_.push_back(mistake);
}

Made Expressions::spelled(const ExprData& data) {
  std::vector<Made> operands;
  for (std::size_t k = 0; k < data.operands.size(); ++k) operands.push_back(operand(data, k));
  const NameId name = builder_.name(spelling::infix(*data.infix));
  return of(builder_.add(Call{name, list(operands)}, data.place), std::nullopt, operands);
}

Made Expressions::spelled_integer(const ExprData& data) {
  const std::array<ExprId, 2> parts{builder_.add(Literal::u64(data.bits)), builder_.add(Literal::boolean(data.negative))};
  return {.id = builder_.add(Call{builder_.name(spelling::kInteger), builder_.list(parts)}, data.place), .type = std::nullopt};
}

Made Expressions::literal(const Number& number, SourcePlace place, DataType type) {
  if (!has_numbers(type)) type = DataType::U32;
  const ExprId id = builder_.add(number.literal(type), place);
  if (!number.fits(type)) add_mistake({.kind = Mistake::Kind::Literal, .left = type, .number = number, .expr = id});
  return {.id = id, .type = type};
}

Made Expressions::integer(const ExprData& data, DataType type) {
  if (type == DataType::Bool && !surroundings_.spelled) {
    if (data.is_bit()) return {.id = builder_.add(Literal::boolean(data.bits != 0), data.place), .type = type};
    if (!are_bits(data)) type = kU32;
  }
  if (!data.is_integer()) return integer_select(data, type);
  return surroundings_.spelled ? spelled_integer(data) : literal(data.number(), data.place, type);
}

Made Expressions::integer_select(const ExprData& data, DataType type) {
  const Made condition = operand(data, 0);
  const Made yes = integer(*data.operands[1], type), no = integer(*data.operands[2], type);
  Made made{.id = builder_.add(Select{condition.id, yes.id, no.id}, data.place), .type = yes.type};
  made.id_varies = condition.id_varies || yes.id_varies || no.id_varies;
  return made;
}

Made Expressions::open_literal(const ExprData& data) {
  const std::optional<DataType> type = surroundings_.spelled ? std::nullopt : open_types_.type(data.name);
  if (!type) {
    if (data.negative) open_types_.note_negative(data.name);
    return {.id = integer(data, DataType::U32).id, .type = std::nullopt};
  }
  if (is_vector(*type)) {
    const std::vector<ExprId> lanes(info(*type).components, integer(data, info(*type).component).id);
    return {.id = builder_.add(Pack{*type, builder_.list(lanes)}, data.place), .type = type};
  }
  return integer(data, *type);
}

Made Expressions::infix(const ExprData& data) {
  const InfixInfo& row = info(*data.infix);
  return row.shape == InfixShape::Shift ? shift(data, row) : of_one_type(data, row);
}

Made Expressions::mistaken(const ExprData& data, std::span<const Made> operands, Mistake mistake) {
  static constexpr std::array<AnyOp, 3> kKeeping{UnOp::BitNot, BinOp::Add, TernOp::Select};
  std::array<ExprId, 3> ids;
  std::ranges::transform(operands, ids.begin(), &Made::id);
  mistake.op = data.infix;
  mistake.expr = builder_.add(application(*kKeeping[operands.size() - 1].row, ids), data.place);
  add_mistake(mistake);
  return of(mistake.expr, std::nullopt, operands, true);
}

Made Expressions::shift(const ExprData& data, const InfixInfo& row) {
  Made value = data.operands[0]->adapts ? integer(*data.operands[0], DataType::U32) : operand(data, 0);
  const Made amount = data.operands[1]->adapts ? integer(*data.operands[1], DataType::U32) : operand(data, 1);
  const std::array<Made, 2> operands{value, amount};
  if (amount.type && *amount.type != DataType::U32) return mistaken(data, operands, {.kind = Mistake::Kind::Amount, .left = *amount.type});
  return written(data, row, value.type.value_or(DataType::U32), operands);
}

// A negative integer that is added to a value without a sign, or subtracted from it, is the opposite operator with its magnitude.
std::optional<Infix> Expressions::opposite_of(Infix op, std::size_t k, const ExprData& integer, DataType type) {
  if (!integer.is_integer() || !integer.negative || integer.number().fits(type) || !Number{integer.number().magnitude}.fits(type))
    return {};
  if (op == Infix::Add) return Infix::Sub;
  return op == Infix::Sub && k == 1 ? std::optional(Infix::Add) : std::nullopt;
}

Made Expressions::of_one_type(const ExprData& data, const InfixInfo& row) {
  std::array<Made, 3> made;
  const std::span operands = std::span(made).first(data.operands.size());
  std::optional<DataType> decides;
  bool hidden = false, adapt = false;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (data.operands[k]->adapts) {
      adapt = true;
      continue;
    }
    operands[k] = operand(data, k);
    hidden = hidden || !operands[k].type;
    if (!decides) decides = operands[k].type;
  }
  // A comparison beside a Bool becomes one.
  const bool on_truths = meaning(row.op, DataType::Bool) != nullptr && std::ranges::count(operands, DataType::Bool, &Made::type) != 0;
  if (on_truths) {
    std::ranges::for_each(operands, [&](Made& each) { each = as_bool(each, data.place); });
    decides = DataType::Bool;
  }
  // A mistake elsewhere hides a type, or a group has none yet; an operand that has one decides.
  const bool negative = std::ranges::any_of(data.operands, [](const ExprHandle& each) { return each->adapts && each->negative; });
  DataType type = decides.value_or(negative && !hidden ? DataType::I32 : DataType::U32);
  const auto is_typed = [&](const Made& each) { return each.type.value_or(type) == type; };
  bool alike = std::ranges::all_of(operands, is_typed);
  if (hidden && type != DataType::U32) {
    leaned_ = true;
    want_alike(data.operands, operands);
  }
  for (std::size_t k = 0; adapt && k < operands.size(); ++k) {
    const ExprData& integer_data = *data.operands[k];
    if (!integer_data.adapts) continue;
    if (const auto opposite = opposite_of(row.op, k, integer_data, type)) {
      const Made value = operands[1 - k];
      operands[0] = value;
      operands[1] = literal({integer_data.number().magnitude}, integer_data.place, type);
      return written(data, info(*opposite), type, operands);
    }
    operands[k] = integer(integer_data, type == DataType::Bool && !on_truths ? kU32 : type);
    alike = alike && operands[k].type == type;
  }
  const bool inverts_truth = row.op == Infix::Invert && type == DataType::U32 && operands[0].truth;
  if (inverts_truth) return mistaken(data, operands, {.kind = Mistake::Kind::Truth});
  if (alike) return written(data, row, type, operands);
  const bool compares = row.shape == InfixShape::Compare;
  const auto is_part = [&](DataType part, DataType whole) { return !compares && is_vector(whole) && part == info(whole).component; };
  for (const Made& each : operands) {
    if (is_part(type, each.type.value_or(type))) type = *each.type;
  }
  const auto fits = [&](const Made& each) { return is_typed(each) || is_part(*each.type, type); };
  if (std::ranges::all_of(operands, fits)) return written(data, row, type, operands);
  const DataType left = operands[0].type.value_or(type);
  const auto right = std::ranges::find_if(operands, [&](const Made& each) { return each.type.value_or(left) != left; });
  want_alike(data.operands, operands);
  return mistaken(data, operands, {.kind = Mistake::Kind::Operands, .left = left, .right = *right->type});
}

Made Expressions::written(const ExprData& data, const InfixInfo& row, DataType type, std::span<const Made> operands) {
  const Meaning* means = meaning(row.op, type);
  if (means == nullptr) return mistaken(data, operands, {.kind = Mistake::Kind::Undefined, .left = type});
  const auto add = [&](const Expr& expr) { return builder_.add(expr, data.place); };
  const auto as = [&](DataType target, ExprId value) { return add(Cast{target, value}); };
  const OpInfo* const op = means->op_row();
  // Applies the operator to what `of_operand` makes of each operand.
  const auto applied = [&](auto&& of_operand) {
    std::array<ExprId, 3> ids;
    for (std::size_t k = 0; k < operands.size(); ++k) ids[k] = of_operand(k);
    return add(application(*op, ids));
  };
  const bool compares = row.shape == InfixShape::Compare, is_shift = row.shape == InfixShape::Shift;
  const auto as_u32 = [&](std::size_t k) { return k == 1 && is_shift ? operands[k].id : as(DataType::U32, operands[k].id); };
  const auto called = [&] {
    std::vector<ExprId> arguments;
    for (const Made& each : operands) arguments.push_back(each.id);
    return call(means->operation(), arguments, data.place);
  };
  const auto made = [&](ExprId id, DataType result) {
    Made made = of(id, result, operands, true);
    made.truth = made.holds_truth = compares && result != DataType::Bool;
    return made;
  };

  switch (means->how) {
    case How::Same:
      return operands[0];
    case How::Op: {
      Made result = made(applied([&](std::size_t k) { return operands[k].id; }), op->result);
      if (keeps_truths(*op)) {
        result.truth = operands[0].truth && operands[1].truth;
        result.holds_truth = operands[0].holds_truth && operands[1].holds_truth;
      }
      return result;
    }
    case How::Wrapped: {
      const ExprId value = applied(as_u32);
      return compares ? made(value, DataType::U32) : made(as(type, value), type);
    }
    case How::Lanes: {
      std::vector<ExprId> lanes;
      for (std::uint32_t lane = 0; lane < info(type).components; ++lane) {
        lanes.push_back(applied([&](std::size_t k) {
          const Made& value = operands[k];
          return value.type && is_vector(*value.type) ? add(Lane{value.id, lane}) : value.id;
        }));
      }
      return made(add(Pack{type, builder_.list(lanes)}), type);
    }
    case How::Truth:
      return made(as(type, applied(as_u32)), type);
    case How::Call: {
      const OpTable::Spec spec = operations().find(means->operation());
      VYRE_ASSERT(spec != nullptr);
      return made(called(), spec->function().signature.output);
    }
    case How::CallAs:
      return made(as(type, called()), type);
  }
  VYRE_ASSERT(false);
  return {};
}

ExprId Expressions::call(std::string_view id, const std::vector<ExprId>& arguments, SourcePlace place) {
  return builder_.add(Call{builder_.name(id), builder_.list(arguments)}, place);
}

}  // namespace vyre::ir
