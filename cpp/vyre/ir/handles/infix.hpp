// Python's operators as enumerators, with the facts of infix.def and their meanings by type. A handle holds them; a Program holds explicit
// operators alone.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <variant>

#include "vyre/ir/ops.hpp"

namespace vyre::ir {

enum class Infix : std::uint8_t {
#define INFIX(enumerator, ...) enumerator,
#include "vyre/ir/handles/infix.def"
};

enum class InfixShape : std::uint8_t { Same, Compare, Shift, One, Three };

struct InfixInfo {
  Infix op;
  std::string_view symbol, function;
  InfixShape shape;
  std::string_view shape_name;  // "Same"

  constexpr std::size_t arity() const { return shape == InfixShape::One ? 1 : shape == InfixShape::Three ? 3 : 2; }
};

inline constexpr std::array kInfixes = {
#define INFIX(enumerator, symbol, function, shape) InfixInfo{Infix::enumerator, symbol, function, InfixShape::shape, #shape},
#include "vyre/ir/handles/infix.def"
};

constexpr const InfixInfo& info(Infix op) { return kInfixes[static_cast<std::size_t>(op)]; }

// How the operator is written on a type, as meanings.def says.
enum class How : std::uint8_t { Op, Wrapped, Lanes, Truth, Call, CallAs, Same };

struct Meaning {
  Infix op;
  DataType type;
  How how;
  std::variant<std::monostate, AnyOp, std::string_view> what;

  constexpr std::string_view operation() const { return std::get<std::string_view>(what); }
  // Null where the meaning applies no operator.
  constexpr const OpInfo* op_row() const {
    const AnyOp* found = std::get_if<AnyOp>(&what);
    return found == nullptr ? nullptr : found->row;
  }
};

inline constexpr std::array kMeanings = {
#define MEANS(infix, type, how, what) Meaning{Infix::infix, DataType::type, How::how, what},
#include "vyre/ir/handles/meanings.def"
};

// The rows of kMeanings by operator and type; null where there is none.
inline constexpr auto kMeaningOn = [] {
  std::array<std::array<const Meaning*, kTypes.size()>, kInfixes.size()> rows{};
  for (const Meaning& each : kMeanings) rows[static_cast<std::size_t>(each.op)][static_cast<std::size_t>(each.type)] = &each;
  return rows;
}();

// Returns what the operator means on the type, or nullptr if it means nothing there.
constexpr const Meaning* meaning(Infix op, DataType type) {
  return kMeaningOn[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)];
}

}  // namespace vyre::ir
