#include "vyre/ir/text/literal_text.hpp"

#include <fmt/format.h>

#include <limits>

#include "vyre/base/assert.hpp"
#include "vyre/ir/text/lexer.hpp"

namespace vyre::ir {

std::string digits(const Literal& literal) {
  switch (info(literal.type).kind) {
    case TypeKind::Unsigned:
      return fmt::format_int(literal.bits()).str();
    case TypeKind::Signed:
      return fmt::format_int(static_cast<std::int32_t>(literal.low)).str();
    case TypeKind::Boolean:
      return literal.low != 0 ? "true" : "false";
    case TypeKind::Opaque:
      break;
  }
  VYRE_ASSERT(false);
  return {};
}

Expr Lexer::literal() {
  const std::size_t start = at_;
  const bool negative = accept("-");
  const std::uint64_t value = digits("a number");
  const std::string_view suffix = word_at(at_);
  const std::string_view spelt = text_.substr(start, at_ - start);
  at_ += suffix.size();
  constexpr std::uint64_t kSignBit = std::uint64_t{1} << 31;
  if (suffix == "i32") {
    if (value > (negative ? kSignBit : kSignBit - 1)) {
      fail(start, fmt::format("{} does not fit into i32", shown(spelt)), "write a number from -2147483648i32 to 2147483647i32");
    }
    const auto bits = static_cast<std::uint32_t>(value);
    return Literal::i32(static_cast<std::int32_t>(negative ? 0u - bits : bits));
  }
  if (!suffix.empty() && suffix != "u32" && suffix != "u64") {
    fail(start + spelt.size(), fmt::format("unknown suffix {} of a number", shown(suffix)), "use i32, u64, or none for u32");
  }
  if (negative) fail(start, "a negative number must be i32", "add the suffix i32");
  if (suffix == "u64") return Literal{DataType::U64, static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32)};
  if (value > std::numeric_limits<std::uint32_t>::max()) {
    fail(start, fmt::format("{} does not fit into u32", shown(spelt)), "write a number below 2^32, or add the suffix u64");
  }
  return Literal::u32(static_cast<std::uint32_t>(value));
}

}  // namespace vyre::ir
