// Python's operators as enumerators, with the facts of infix.def. A handle holds them; a Program holds explicit operators alone.
#pragma once

#include <array>
#include <cstdint>
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
  std::variant<None, BinOp, UnOp> u32;
  std::variant<None, Wrapped, BinOp> i32;
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
  InfixInfo{Infix::enumerator, symbol, function, InfixShape::shape, u32, i32, u64, vectors, boolean},
#include "vyre/ir/infix.def"
  };
}();

constexpr const InfixInfo& info(Infix op) { return kInfixes[static_cast<std::size_t>(op)]; }

constexpr bool is_defined(const InfixInfo& row, DataType type) {
  switch (type) {
    case DataType::U32:
      return row.u32.index() != 0 || row.op == Infix::Abs;
    case DataType::I32:
      return row.i32.index() != 0 || row.op == Infix::Abs;
    case DataType::U64:
      return !row.u64.empty() || row.op == Infix::Abs;
    case DataType::Vec2U32:
    case DataType::Vec4U32:
      return row.vectors.index() != 0;
    case DataType::Bool:
      return row.boolean.index() != 0;
    case DataType::Bytes:
      return false;
  }
  return false;
}

}  // namespace vyre::ir
