// The enums of types and operators without their enumerators, for what holds types and operators and names none: an edit of their
// tables rebuilds only what includes data_type.hpp, ops.hpp or infix.hpp. A row of ternary.def is a kind of expression and rebuilds all.
#pragma once

#include <cstdint>

namespace vyre::ir {

enum class DataType : std::uint8_t;
enum class BinOp : std::uint8_t;
enum class UnOp : std::uint8_t;
enum class TernOp : std::uint8_t {
#define TERNOP(enumerator, ...) enumerator,
#include "vyre/ir/ternary.def"
};
enum class AtomicOp : std::uint8_t;
enum class Infix : std::uint8_t;
struct OpInfo;

// DataType::U32: the type of what says no other.
inline constexpr DataType kU32{};

}  // namespace vyre::ir
