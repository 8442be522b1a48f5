// Meaning, written once: what every operator, cast and atomic gives. The reference runs this, constant folding runs this,
// and every backend is compared with it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

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

constexpr std::uint32_t evaluate(TernOp op, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  using namespace definition;
  switch (op) {
#define TERNOP(enumerator, text, tag, name_a, name_b, name_c, type_a, type_b, type_c, result, rule, value, laws, meaning) \
  case TernOp::enumerator:                                                                                                \
    return u32(value);
#include "vyre/ir/ternary.def"
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

// A cast that is an operator has the operator's number.
enum class CastKind : std::uint8_t {
#define UNOP(enumerator, ...) enumerator,
#include "vyre/ir/ops.def"
#define LANES(kind, ...) kind,
#include "vyre/ir/casts.def"
};

struct CastRow {
  DataType source, target;
  CastKind kind;
  std::string_view kind_name;  // "ZeroExtend"
};

inline constexpr std::array kCasts = {
#define CAST(source, target, kind) CastRow{DataType::source, DataType::target, CastKind::kind, #kind},
#include "vyre/ir/casts.def"
};

// Nothing when casts.def has no such row.
constexpr std::optional<CastKind> cast_kind(DataType source, DataType target) {
  for (const CastRow& row : kCasts) {
    if (row.source == source && row.target == target) return row.kind;
  }
  return std::nullopt;
}

// The bits that are set in any lane.
[[gnu::always_inline]] constexpr auto any_lane(const auto& from) {
  auto any = from.lane(0);
  for (std::uint32_t k = 1; k < from.count; ++k) any = from.either(any, from.lane(k));
  return any;
}

// Lane `k` of the result of a cast. `from` is its operand, of `count` lanes; lane(k) is one of them, and its other functions compute lanes
// from lanes.
[[gnu::always_inline]] constexpr auto cast_lane(CastKind kind, const auto& from, std::uint32_t k) {
  switch (kind) {
#define UNOP(enumerator, ...) \
  case CastKind::enumerator:  \
    return from.apply(UnOp::enumerator, from.lane(k));
#include "vyre/ir/ops.def"
#define LANES(kind, value) \
  case CastKind::kind:     \
    return value;
#include "vyre/ir/casts.def"
  }
  return from.zero();
}

// The operand of a cast, as cast_lane() wants it.
struct CastBits {
  const std::uint32_t* lanes;
  std::size_t count;

  constexpr std::uint32_t lane(std::uint32_t k) const { return lanes[k]; }
  static constexpr std::uint32_t zero() { return 0; }
  static constexpr std::uint32_t sign(std::uint32_t a) { return evaluate(BinOp::SShr, a, 31); }
  static constexpr std::uint32_t either(std::uint32_t a, std::uint32_t b) { return a | b; }
  static constexpr std::uint32_t truth(std::uint32_t a) { return a != 0; }
  static constexpr std::uint32_t apply(UnOp op, std::uint32_t a) { return evaluate(op, a); }
};

// Writes the lanes of the target, of which there may be any number; `to` may be `from`.
[[gnu::always_inline]] constexpr void cast(CastKind kind, std::span<const std::uint32_t> from, std::span<std::uint32_t> to) {
  const CastBits operand{from.data(), from.size()};
  to[0] = cast_lane(kind, operand, 0);
  for (std::uint32_t k = 1; k < to.size(); ++k) to[k] = cast_lane(kind, operand, k);
}

// `from` and `to` are the lane counts of source and target.
constexpr Value cast(CastKind kind, const Value& value, std::uint32_t from, std::uint32_t to) {
  Value result;
  cast(kind, std::span(value.lanes).first(from), std::span(result.lanes).first(to));
  return result;
}

}  // namespace vyre::ir
