// The enums of operators without their enumerators, for what holds operators and names none: a row that is added to a table
// rebuilds only what includes ops.hpp or infix.hpp.
#pragma once

#include <cstdint>

namespace vyre::ir {

enum class BinOp : std::uint8_t;
enum class UnOp : std::uint8_t;
enum class AtomicOp : std::uint8_t;
enum class Infix : std::uint8_t;
struct BinOpInfo;

}  // namespace vyre::ir
