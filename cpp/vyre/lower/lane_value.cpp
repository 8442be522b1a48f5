#include "vyre/lower/lane_value.hpp"

namespace vyre::lower {
namespace {

using Word = std::uint32_t;
#include "vyre/lower/lane_functions.inc"

}  // namespace

std::optional<std::uint32_t> lane_value(Opcode op, Word a, Word b, Word c) {
  switch (op) {
#define VYRE_UNARY(op, name, flags, forms, spirv, wgsl, ptx, value, ...) \
  case Opcode::op:                                                       \
    return static_cast<Word>(value);
#define VYRE_BINARY VYRE_UNARY
#define VYRE_TERNARY VYRE_UNARY
#include "vyre/lower/opcodes.def"
    default:
      return std::nullopt;
  }
}

}  // namespace vyre::lower
