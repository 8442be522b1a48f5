// The expressions of a program: one struct a kind, one line of meaning. Every struct is trivially copyable and the variant is
// 16 bytes, because a program is a flat array of them in which operands stand before their users.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <variant>

#include "vyre/base/fields.hpp"
#include "vyre/base/id.hpp"
#include "vyre/base/overloaded.hpp"
#include "vyre/ir/fwd.hpp"
#include "vyre/ir/grid_id.hpp"

namespace vyre::ir {

// A run of operands in the program's pool, see Program::operands.
struct ExprList {
  std::uint32_t first = 0;
};

// A constant of a type with literals (types.def). A type of one u32 lane has its bits in `low` and 0 in `high`; two halves, because an
// 8-byte member would make every expression 24 bytes.
struct Literal {
  DataType type;
  std::uint32_t low, high;

  static constexpr Literal u32(std::uint32_t value) { return {kU32, value, 0}; }
  static Literal i32(std::int32_t value);
  static Literal boolean(bool value);
  static Literal u64(std::uint64_t value);
  static constexpr Literal of(DataType type, std::uint64_t bits) {
    return {type, static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
  }

  constexpr std::uint64_t bits() const { return low | std::uint64_t{high} << 32; }
};

// clang-format off
struct Var     { NameId name; };                                       // the value of a Let or a loop variable
struct Load    { NameId buffer; ExprId index; };                       // zero of the element type when index >= length
struct BufLen  { NameId buffer; };                                     // whole elements; u32 words for Bytes
struct GridId  { GridIdKind kind; std::uint32_t axis; };               // InvocationId, WorkgroupId, LocalId
struct Binary  { BinOp op; ExprId left, right; };                      // see ops.def
struct Unary   { UnOp op; ExprId operand; };                           // see ops.def
struct Cast    { DataType target; ExprId value; };                     // see casts.def
struct Call    { NameId op; ExprList arguments; };                     // a registered operation, expanded before lowering
struct Lane    { ExprId value; std::uint32_t lane; };                  // component of a U64, Vec2U32 or Vec4U32
struct Pack    { DataType type; ExprList lanes; };                     // a U64, Vec2U32 or Vec4U32 from U32 lanes
struct Atomic  { AtomicOp op; bool has_expected; NameId buffer; ExprList operands; };  // index, [expected], value; returns the old value
// clang-format on

// A ternary operator is a kind by itself, because its operands leave no room for its number.
template <TernOp row>
struct Ternary {
  ExprId a, b, c;
  static constexpr TernOp op = row;
};
template <>
struct Ternary<TernOp::Select> {
  ExprId condition, if_true, if_false;  // both branches are evaluated
  static constexpr TernOp op = TernOp::Select;
};
#define TERNOP(enumerator, ...) using enumerator = Ternary<TernOp::enumerator>;
#include "vyre/ir/ternary.def"

using Expr = std::variant<Literal, Var, Load, BufLen, GridId, Binary, Unary, Cast, Call, Lane, Pack, Atomic
#define TERNOP(enumerator, ...) , enumerator
#include "vyre/ir/ternary.def"
                          >;
static_assert(sizeof(Expr) == 16 && std::is_trivially_copyable_v<Expr>);

// The position in the variant, as a name: the rows of kinds.def stand in the order of the alternatives.
enum class ExprKind : std::uint8_t {
#define EXPR(kind, number) kind,
#include "vyre/ir/kinds.def"
};
inline constexpr std::size_t kExprKinds = std::variant_size_v<Expr>;
inline ExprKind kind(const Expr& expr) { return static_cast<ExprKind>(expr.index()); }
#define EXPR(kind, number) static_assert(std::is_same_v<std::variant_alternative_t<static_cast<std::size_t>(ExprKind::kind), Expr>, kind>);
#include "vyre/ir/kinds.def"

// The number of an expression's kind in the binary form and in hashes.
std::uint32_t kind_number(const Expr& expr);

// The value of a U32 literal; nothing for any other expression.
inline std::optional<std::uint32_t> literal_u32(const Expr& expr) {
  const Literal* literal = std::get_if<Literal>(&expr);
  if (literal == nullptr || literal->type != kU32) return std::nullopt;
  return literal->low;
}

// The operands of an operator, in order.
inline std::array<ExprId, 1> applied_to(const Unary& it) { return {it.operand}; }
inline std::array<ExprId, 2> applied_to(const Binary& it) { return {it.left, it.right}; }
template <TernOp row>
std::array<ExprId, 3> applied_to(const Ternary<row>& it) {
  return std::bit_cast<std::array<ExprId, 3>>(it);
}

// An expression that applies the operator `op` of ops.def or ternary.def. Visitors have one arm for all.
template <class Kind>
concept Applied = requires(const Kind& it) {
  applied_to(it);
};

// Calls visit(field) for each field of an expression, in the order of declaration, which is also that of evaluation and of the
// binary form.
template <class E, class Visit>
requires std::is_same_v<std::remove_const_t<E>, Expr>
void for_each_field(E& expr, Visit&& visit) {
  std::visit([&](auto& alternative) { vyre::for_each_field(alternative, visit); }, expr);
}

// Calls visit(ExprId) for each operand in evaluation order. `operands` resolves an ExprList to a span.
template <class Operands, class Visit>
void for_each_operand(const Expr& expr, Operands&& operands, Visit&& visit) {
  for_each_field(expr, overloaded{[&](const ExprId& id) { visit(id); },
                                  [&](const ExprList& list) {
                                    for (ExprId id : operands(list)) visit(id);
                                  },
                                  [](const auto&) {}});
}

// Returns the expression with its operands, lists and names replaced: operand(ExprId) -> ExprId, list(ExprList) -> ExprList and
// name(NameId) -> NameId are called in the order of the fields.
template <class Operand, class List, class Name>
Expr map(Expr expr, Operand&& operand, List&& list, Name&& name) {
  for_each_field(expr, overloaded{[&](ExprId& id) { id = operand(id); }, [&](ExprList& pooled) { pooled = list(pooled); },
                                  [&](NameId& id) { id = name(id); }, [](auto&) {}});
  return expr;
}

}  // namespace vyre::ir
