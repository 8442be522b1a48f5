// The operators as enumerators, with the facts of ops.def.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "vyre/ir/data_type.hpp"
#include "vyre/ir/expr.hpp"

namespace vyre::ir {

enum class BinOp : std::uint8_t {
#define BINOP(enumerator, ...) enumerator,
#include "vyre/ir/ops.def"
};
enum class UnOp : std::uint8_t {
#define UNOP(enumerator, ...) enumerator,
#include "vyre/ir/ops.def"
};
enum class AtomicOp : std::uint8_t {
#define ATOMIC(enumerator, ...) enumerator,
#include "vyre/ir/ops.def"
};

// Algebraic laws that hold for all operands; tests check them, the optimiser may use them.
enum Law : std::uint8_t {
  kNoLaws = 0,
  kCommutative = 1,   // op(a, b) = op(b, a)
  kAssociative = 2,   // op(op(a, b), c) = op(a, op(b, c))
  kIdempotent = 4,    // op(a, a) = a
  kZeroIdentity = 8,  // op(a, 0) = op(0, a) = a
  kInvolution = 16,   // op(op(a)) = a
  kTruth = 32,        // 0 or 1, whatever the operands
};

// The validation rule that judges an operator's operands.
enum class OperandRule : std::uint8_t { V021, V029, V030 };

// The facts of an operator, whatever the number of its operands.
struct OpInfo {
  ExprKind kind;
  std::uint8_t index;      // BinOp, UnOp or TernOp
  std::string_view name;   // "BitXor"
  std::string_view text;   // "bitxor": the function's name in Python and in the text form
  std::string_view infix;  // "^", or "" when the text form writes a function
  std::uint8_t arity;
  std::array<DataType, 3> operands;
  std::array<std::string_view, 3> names;  // of the operands
  DataType result;
  OperandRule rule;
  std::uint8_t laws;
  std::string_view meaning;

  // Whether the operands and the result have the types above.
  constexpr bool is_typed() const { return rule != OperandRule::V029; }
};
template <class Op>
struct OpRow : OpInfo {
  Op op;
};
using BinOpInfo = OpRow<BinOp>;
using UnOpInfo = OpRow<UnOp>;
using TernOpInfo = OpRow<TernOp>;
struct AtomicOpInfo {
  AtomicOp op;
  std::string_view name, text, meaning;
};

// clang-format off
inline constexpr std::array kBinOps = {
#define BINOP(enumerator, text, infix, left, right, result, rule, value, laws, meaning)                                   \
  BinOpInfo{{ExprKind::Binary, static_cast<std::uint8_t>(BinOp::enumerator), #enumerator, text, infix, 2,                 \
             {DataType::left, DataType::right}, {"left", "right"}, DataType::result, OperandRule::rule, laws, meaning},   \
            BinOp::enumerator},
#include "vyre/ir/ops.def"
};
inline constexpr std::array kUnOps = {
#define UNOP(enumerator, text, operand, result, value, laws, meaning)                                         \
  UnOpInfo{{ExprKind::Unary, static_cast<std::uint8_t>(UnOp::enumerator), #enumerator, text, "", 1,           \
            {DataType::operand}, {"operand"}, DataType::result, OperandRule::V030, laws, meaning},            \
           UnOp::enumerator},
#include "vyre/ir/ops.def"
};
inline constexpr std::array kTernOps = {
#define TERNOP(enumerator, text, tag, name_a, name_b, name_c, a, b, c, result, rule, value, laws, meaning)                  \
  TernOpInfo{{ExprKind::enumerator, static_cast<std::uint8_t>(TernOp::enumerator), #enumerator, text, "", 3,                \
              {DataType::a, DataType::b, DataType::c}, {name_a, name_b, name_c}, DataType::result, OperandRule::rule, laws, \
              meaning},                                                                                                     \
             TernOp::enumerator},
#include "vyre/ir/ternary.def"
};
// clang-format on
inline constexpr std::array kAtomicOps = {
#define ATOMIC(enumerator, text, value, meaning) AtomicOpInfo{AtomicOp::enumerator, #enumerator, text, meaning},
#include "vyre/ir/ops.def"
};

constexpr const BinOpInfo& info(BinOp op) { return kBinOps[static_cast<std::size_t>(op)]; }
constexpr const UnOpInfo& info(UnOp op) { return kUnOps[static_cast<std::size_t>(op)]; }
constexpr const TernOpInfo& info(TernOp op) { return kTernOps[static_cast<std::size_t>(op)]; }
constexpr const AtomicOpInfo& info(AtomicOp op) { return kAtomicOps[static_cast<std::size_t>(op)]; }

// All operators: kBinOps, kUnOps and kTernOps.
inline constexpr auto kOps = [] {
  std::array<const OpInfo*, kBinOps.size() + kUnOps.size() + kTernOps.size()> all{};
  auto next = all.begin();
  for (const OpInfo& row : kBinOps) *next++ = &row;
  for (const OpInfo& row : kUnOps) *next++ = &row;
  for (const OpInfo& row : kTernOps) *next++ = &row;
  return all;
}();

// The position in kOps.
constexpr std::uint8_t number(const OpInfo& row) {
  const std::size_t before = row.kind == ExprKind::Binary  ? 0
                             : row.kind == ExprKind::Unary ? kBinOps.size()
                                                           : kBinOps.size() + kUnOps.size();
  return static_cast<std::uint8_t>(before + row.index);
}

// The operator of an expression of this kind whose number among those of its arity is `index`.
constexpr const OpInfo& info(ExprKind kind, std::uint8_t index) {
  if (kind == ExprKind::Binary) return kBinOps[index];
  if (kind == ExprKind::Unary) return kUnOps[index];
  return kTernOps[index];
}

// One of kOps.
struct AnyOp {
  const OpInfo* row;

  template <class Op>
  requires requires(Op op) { info(op).arity; }
  constexpr AnyOp(Op op) : row(&info(op)) {}  // NOLINT(google-explicit-constructor): an operator is one of any
};

// The operator that an expression applies; null for the other kinds.
inline const OpInfo* operator_of(const Expr& expr) {
  if (const auto* binary = std::get_if<Binary>(&expr)) return &info(binary->op);
  if (const auto* unary = std::get_if<Unary>(&expr)) return &info(unary->op);
  const std::size_t ternary = static_cast<std::size_t>(kind(expr)) - static_cast<std::size_t>(ExprKind::Select);
  return ternary < kTernOps.size() ? &kTernOps[ternary] : nullptr;
}

// An operator applied to the first `row.arity` of some operands.
constexpr Expr application(const OpInfo& row, std::span<const ExprId> to) {
  switch (row.kind) {
    case ExprKind::Binary:
      return Binary{static_cast<BinOp>(row.index), to[0], to[1]};
#define TERNOP(enumerator, ...) \
  case ExprKind::enumerator:    \
    return enumerator{to[0], to[1], to[2]};
#include "vyre/ir/ternary.def"
    default:
      return Unary{static_cast<UnOp>(row.index), to[0]};
  }
}

}  // namespace vyre::ir
