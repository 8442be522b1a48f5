#include "vyre/ir/number.hpp"

#include <fmt/format.h>

#include "vyre/ir/data_type.hpp"

namespace vyre::ir {

Number Number::of(const Literal& literal) {
  if (!is_signed(literal.type)) return {literal.bits()};
  const std::uint32_t unused = 64 - 8 * min_bytes(literal.type);
  const std::int64_t value = static_cast<std::int64_t>(literal.bits() << unused) >> unused;
  return of(static_cast<std::uint64_t>(value), value < 0);
}

bool Number::fits(DataType type) const {
  if (!has_numbers(info(type).component)) return false;
  const auto [least, greatest] = range(type);
  return magnitude <= (negative ? least : greatest).magnitude;
}

Literal Number::literal(DataType type) const { return Literal::of(type, lanes(type) == 1 ? static_cast<std::uint32_t>(bits()) : bits()); }

std::string Number::text() const {
  std::string digits = fmt::format_int(magnitude).str();
  if (negative) digits.insert(0, 1, '-');
  return digits;
}

std::string digits(const Literal& literal) {
  if (info(literal.type).kind == TypeKind::Boolean) return literal.low != 0 ? "true" : "false";
  return Number::of(literal).text();
}

NumberRange range(DataType type) {
  const TypeInfo& row = info(info(type).component);
  const bool is_signed = row.kind == TypeKind::Signed;
  const std::uint64_t last = ~std::uint64_t{0} >> (64 - 8 * row.bytes + (is_signed ? 1 : 0));
  return {{is_signed ? last + 1 : 0, is_signed}, {last}};
}

std::string range_text(DataType type) { return fmt::format("{} to {}", range(type).least.text(), range(type).greatest.text()); }

}  // namespace vyre::ir
