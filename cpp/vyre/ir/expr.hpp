// The expressions of a program: one struct a kind, one line of meaning. Every struct is trivially copyable and the variant is
// 16 bytes, because a program is a flat array of them in which operands stand before their users.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <variant>

#include "vyre/base/id.hpp"
#include "vyre/base/overloaded.hpp"
#include "vyre/ir/ops.hpp"

namespace vyre::ir {

// A run of operands in the program's pool, see Program::operands.
struct ExprList {
  std::uint32_t first = 0;
};

enum class GridIdKind : std::uint8_t { Invocation, Workgroup, Local };

// clang-format off
struct LitU32  { std::uint32_t value; };
struct LitI32  { std::int32_t value; };
struct LitBool { bool value; };
struct LitU64  { std::uint32_t low, high; };                          // in halves: an 8-byte member would make every node 24 bytes
struct Var     { NameId name; };                                       // the value of a Let or a loop variable
struct Load    { NameId buffer; ExprId index; };                       // zero of the element type when index >= length
struct BufLen  { NameId buffer; };                                     // whole elements; u32 words for Bytes
struct GridId  { GridIdKind kind; std::uint32_t axis; };               // InvocationId, WorkgroupId, LocalId
struct Binary  { BinOp op; ExprId left, right; };                      // see ops.def
struct Unary   { UnOp op; ExprId operand; };                           // see ops.def
struct Select  { ExprId condition, if_true, if_false; };               // eager: both branches are evaluated
struct Cast    { DataType target; ExprId value; };                     // see casts.def
struct Call    { NameId op; ExprList arguments; };                     // a registered operation, expanded before lowering
struct Lane    { ExprId value; std::uint32_t lane; };                  // component of a U64, Vec2U32 or Vec4U32
struct Pack    { DataType type; ExprList lanes; };                     // a U64, Vec2U32 or Vec4U32 from U32 lanes
struct Atomic  { AtomicOp op; bool has_expected; NameId buffer; ExprList operands; };  // index, [expected], value; returns the old value
// clang-format on

using Expr =
    std::variant<LitU32, LitI32, LitBool, LitU64, Var, Load, BufLen, GridId, Binary, Unary, Select, Cast, Call, Lane, Pack, Atomic>;
static_assert(sizeof(Expr) == 16 && std::is_trivially_copyable_v<Expr>);

// The position in the variant, as a name.
enum class ExprKind : std::uint8_t {
  LitU32,
  LitI32,
  LitBool,
  LitU64,
  Var,
  Load,
  BufLen,
  GridId,
  Binary,
  Unary,
  Select,
  Cast,
  Call,
  Lane,
  Pack,
  Atomic,
};
inline constexpr std::size_t kExprKinds = std::variant_size_v<Expr>;
inline ExprKind kind(const Expr& expr) { return static_cast<ExprKind>(expr.index()); }

// Calls visit(ExprId) for each operand in evaluation order. `operands` resolves an ExprList to a span.
template <class Operands, class Visit>
void for_each_operand(const Expr& expr, Operands&& operands, Visit&& visit) {
  auto all = [&](ExprList list) {
    for (ExprId id : operands(list)) visit(id);
  };
  match(
      expr, [](const LitU32&) {}, [](const LitI32&) {}, [](const LitBool&) {}, [](const LitU64&) {}, [](const Var&) {},
      [&](const Load& load) { visit(load.index); }, [](const BufLen&) {}, [](const GridId&) {},
      [&](const Binary& binary) {
        visit(binary.left);
        visit(binary.right);
      },
      [&](const Unary& unary) { visit(unary.operand); },
      [&](const Select& select) {
        visit(select.condition);
        visit(select.if_true);
        visit(select.if_false);
      },
      [&](const Cast& cast) { visit(cast.value); }, [&](const Call& call) { all(call.arguments); },
      [&](const Lane& lane) { visit(lane.value); }, [&](const Pack& pack) { all(pack.lanes); },
      [&](const Atomic& atomic) { all(atomic.operands); });
}

}  // namespace vyre::ir
