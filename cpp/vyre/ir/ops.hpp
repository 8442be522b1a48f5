// The operators as enumerators, with the facts of ops.def.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "vyre/ir/data_type.hpp"

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
enum class OperandRule : std::uint8_t { V021, V030 };

struct BinOpInfo {
  BinOp op;
  std::string_view name;   // "BitXor"
  std::string_view text;   // "bitxor": the function's name in Python and in the text form
  std::string_view infix;  // "^", or "" when the text form writes a function
  DataType left, right, result;
  OperandRule rule;
  std::uint8_t laws;
  std::string_view meaning;
};
struct UnOpInfo {
  UnOp op;
  std::string_view name, text;
  DataType operand, result;
  std::uint8_t laws;
  std::string_view meaning;
};
struct AtomicOpInfo {
  AtomicOp op;
  std::string_view name, text, meaning;
};

inline constexpr std::array kBinOps = {
#define BINOP(enumerator, text, infix, left, right, result, rule, value, laws, meaning)          \
  BinOpInfo{BinOp::enumerator, #enumerator,       text, infix,  DataType::left, DataType::right, \
            DataType::result,  OperandRule::rule, laws, meaning},
#include "vyre/ir/ops.def"
};
inline constexpr std::array kUnOps = {
#define UNOP(enumerator, text, operand, result, value, laws, meaning) \
  UnOpInfo{UnOp::enumerator, #enumerator, text, DataType::operand, DataType::result, laws, meaning},
#include "vyre/ir/ops.def"
};
inline constexpr std::array kAtomicOps = {
#define ATOMIC(enumerator, text, value, meaning) AtomicOpInfo{AtomicOp::enumerator, #enumerator, text, meaning},
#include "vyre/ir/ops.def"
};

constexpr const BinOpInfo& info(BinOp op) { return kBinOps[static_cast<std::size_t>(op)]; }
constexpr const UnOpInfo& info(UnOp op) { return kUnOps[static_cast<std::size_t>(op)]; }
constexpr const AtomicOpInfo& info(AtomicOp op) { return kAtomicOps[static_cast<std::size_t>(op)]; }

}  // namespace vyre::ir
