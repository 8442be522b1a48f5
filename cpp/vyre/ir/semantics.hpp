// Meaning, written once: what every operator, cast and atomic gives. The reference runs this, constant folding runs this,
// and every backend is compared with it.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "vyre/base/assert.hpp"
#include "vyre/ir/data_type.hpp"
#include "vyre/ir/ops.hpp"
#include "vyre/ir/value.hpp"

namespace vyre::ir {

namespace definition {
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;

constexpr u32 signed_div(u32 a, u32 b) {
  if (b == 0) return 0;
  if (b == 0xFFFFFFFFu) return 0u - a;  // x / -1; MIN stays MIN
  return u32(i32(a) / i32(b));
}
constexpr u32 signed_mod(u32 a, u32 b) {
  if (b == 0 || b == 0xFFFFFFFFu) return 0;
  return u32(i32(a) % i32(b));
}
constexpr u32 reverse_bits(u32 a) {
  u32 result = 0;
  for (int bit = 0; bit < 32; ++bit) result |= ((a >> bit) & 1u) << (31 - bit);
  return result;
}
}  // namespace definition

constexpr std::uint32_t evaluate(BinOp op, std::uint32_t a, std::uint32_t b) {
  using namespace definition;
  switch (op) {
#define BINOP(enumerator, text, infix, left, right, result, rule, value, laws, meaning) \
  case BinOp::enumerator:                                                               \
    return u32(value);
#include "vyre/ir/ops.def"
  }
  return 0;
}

constexpr std::uint32_t evaluate(UnOp op, std::uint32_t a) {
  using namespace definition;
  switch (op) {
#define UNOP(enumerator, text, operand, result, value, laws, meaning) \
  case UnOp::enumerator:                                              \
    return u32(value);
#include "vyre/ir/ops.def"
  }
  return 0;
}

// Returns the value that an atomic leaves in memory. The result of the atomic itself is `old`. Only CompareExchange uses `expected`.
constexpr std::uint32_t evaluate(AtomicOp op, std::uint32_t old, [[maybe_unused]] std::uint32_t expected, std::uint32_t v) {
  switch (op) {
#define ATOMIC(enumerator, text, value, meaning) \
  case AtomicOp::enumerator:                     \
    return value;
#include "vyre/ir/ops.def"
  }
  return old;
}

// Writes the lanes of the target, of which there may be any number; `to` may be `from`.
constexpr void cast(CastKind kind, std::span<const std::uint32_t> from, std::span<std::uint32_t> to) {
  const std::uint32_t first = from[0];
  switch (kind) {
    case CastKind::Identity:
    case CastKind::LowLanes:
      for (std::size_t lane = 0; lane < to.size(); ++lane) to[lane] = from[lane];
      return;
    case CastKind::AnyNonZero: {
      std::uint32_t any = 0;
      for (const std::uint32_t lane : from) any |= lane;
      to[0] = any != 0;
      return;
    }
    case CastKind::ZeroExtend:
    case CastKind::SignExtend:
      to[0] = first;
      for (std::uint32_t& lane : to.subspan(1)) lane = kind == CastKind::SignExtend && first >> 31 != 0 ? 0xFFFFFFFFu : 0u;
      return;
    case CastKind::Splat:
      for (std::uint32_t& lane : to) lane = first;
      return;
  }
}

// `from` and `to` are the lane counts of source and target.
constexpr Value cast(CastKind kind, const Value& value, std::uint32_t from, std::uint32_t to) {
  Value result;
  cast(kind, std::span(value.lanes).first(from), std::span(result.lanes).first(to));
  return result;
}

}  // namespace vyre::ir
