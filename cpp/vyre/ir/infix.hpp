// Python's operators as enumerators, with the facts of infix.def. A handle holds them; a Program holds explicit operators alone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "vyre/ir/ops.hpp"

namespace vyre::ir {

enum class Infix : std::uint8_t {
#define INFIX(enumerator, ...) enumerator,
#include "vyre/ir/infix.def"
};

enum class InfixShape : std::uint8_t { Same, Compare, Shift, One };

struct InfixInfo {
  struct None {};
  struct Wrapped {};
  struct Lanes {};
  struct Truth {};

  Infix op;
  std::string_view symbol, function;
  InfixShape shape;
  std::string_view shape_name;  // "Same"
  std::variant<None, BinOp, UnOp> u32;
  std::variant<None, Wrapped> i32;
  std::string_view u64;
  std::variant<None, Lanes> vectors;
  std::variant<None, Truth> boolean;
};

inline constexpr auto kInfixes = [] {
  constexpr InfixInfo::None None;
  constexpr InfixInfo::Wrapped Wrapped;
  constexpr InfixInfo::Lanes Lanes;
  constexpr InfixInfo::Truth Truth;
  return std::array{
#define INFIX(enumerator, symbol, function, shape, u32, i32, u64, vectors, boolean) \
  InfixInfo{Infix::enumerator, symbol, function, InfixShape::shape, #shape, u32, i32, u64, vectors, boolean},
#include "vyre/ir/infix.def"
  };
}();

constexpr const InfixInfo& info(Infix op) { return kInfixes[static_cast<std::size_t>(op)]; }

struct InfixOwn {
  Infix op;
  DataType type;
  BinOp meaning;
};

inline constexpr std::array kInfixOwns = {
#define OWN(enumerator, type, op) InfixOwn{Infix::enumerator, DataType::type, BinOp::op},
#include "vyre/ir/infix.def"
};

// The operator that `op` is on a type which has one of its own; nothing for the others.
constexpr std::optional<BinOp> own(Infix op, DataType type) {
  for (const InfixOwn& row : kInfixOwns) {
    if (row.op == op && row.type == type) return row.meaning;
  }
  return std::nullopt;
}

constexpr bool is_defined(const InfixInfo& row, DataType type) {
  if (own(row.op, type)) return true;
  if (type == DataType::U32) return row.u32.index() != 0 || row.op == Infix::Abs;
  if (type == DataType::I32) return row.i32.index() != 0 || row.op == Infix::Abs;
  if (type == DataType::U64) return !row.u64.empty() || row.op == Infix::Abs;
  if (is_vector(type)) return row.vectors.index() != 0;
  return type == DataType::Bool && row.boolean.index() != 0;
}

}  // namespace vyre::ir
