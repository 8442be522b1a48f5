#include "vyre/ir/procedures/size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "vyre/base/assert.hpp"
#include "vyre/base/error.hpp"

namespace vyre::ir {
namespace {

[[noreturn]] void refuse(std::string_view value, std::uint64_t a, SizeOp op, std::uint64_t b) {
  const std::string_view fix = op == SizeOp::Sub ? "write vyre.size_max(a, b) - b for a - b, which is 0 where b is larger"
                                                 : "bound what it is made of with vyre.size_min";
  throw ArgumentError(fmt::format("a size is {}, outside of 0 to 2^64 - 1 ({} {} {}). Fix: {}.", value, a, text(op), b, fix));
}

void check_divisor(std::uint64_t b) {
  if (b == 0) throw ArgumentError("a size is divided by zero. Fix: divide by vyre.size_max(n, 1).");
}

}  // namespace

std::uint64_t apply(SizeOp op, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  std::uint64_t result = 0;
  switch (op) {
    case SizeOp::Add:
      if (__builtin_add_overflow(a, b, &result)) refuse("too large", a, op, b);
      return result;
    case SizeOp::Sub:
      if (a < b) refuse(fmt::format("-{}", b - a), a, op, b);
      return a - b;
    case SizeOp::Mul:
      if (__builtin_mul_overflow(a, b, &result)) refuse("too large", a, op, b);
      return result;
    case SizeOp::Div:
      check_divisor(b);
      return a / b;
    case SizeOp::Mod:
      check_divisor(b);
      return a % b;
    case SizeOp::CeilDiv:
      check_divisor(b);
      return a / b + (a % b != 0 ? 1 : 0);
    case SizeOp::Min:
      return std::min(a, b);
    case SizeOp::Max:
      return std::max(a, b);
    case SizeOp::CeilLog2:
      return a < 2 ? 0 : static_cast<std::uint64_t>(std::bit_width(a - 1));
    case SizeOp::Lt:
      return a < b ? 1 : 0;
    case SizeOp::Le:
      return a <= b ? 1 : 0;
    case SizeOp::Eq:
      return a == b ? 1 : 0;
    case SizeOp::Ne:
      return a != b ? 1 : 0;
    case SizeOp::Select:
      return a != 0 ? b : c;
    default:
      VYRE_ASSERT(false);  // a leaf
  }
}

std::vector<SizeId> parts(const Sizes& sizes, std::span<const SizeId> roots) {
  std::set<SizeId> open(roots.begin(), roots.end());
  std::vector<SizeId> found;
  while (!open.empty()) {
    // Operands have lower numbers than their users.
    const SizeId last = *open.rbegin();
    open.erase(last);
    found.push_back(last);
    for_each_operand(sizes[last], [&](SizeId operand) { open.insert(operand); });
  }
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace vyre::ir
