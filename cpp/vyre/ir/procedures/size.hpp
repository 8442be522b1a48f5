// Sizes of a procedure: exact integers from 0 to 2^64 - 1 that are known once the lengths of its arrays, the numbers of the call and the
// device are. A procedure keeps them in one flat array, operands before users, each once.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "vyre/base/id.hpp"

namespace vyre::ir {

enum class SizeOp : std::uint8_t {
#define VYRE_SIZE_OP(name, text, operands, number) name = number,
#include "vyre/ir/procedures/size_ops.def"
};

struct SizeOpInfo {
  SizeOp op;
  std::string_view text;
  std::uint32_t operands;
};
inline constexpr std::array kSizeOps = {
#define VYRE_SIZE_OP(name, text, operands, number) SizeOpInfo{SizeOp::name, text, operands},
#include "vyre/ir/procedures/size_ops.def"
};
constexpr const SizeOpInfo& info(SizeOp op) { return kSizeOps[static_cast<std::size_t>(op)]; }
constexpr std::uint32_t operand_count(SizeOp op) { return info(op).operands; }
constexpr std::string_view text(SizeOp op) { return info(op).text; }

// The limits of a device that a size may use.
enum class Limit : std::uint8_t {
  WorkgroupMemory,       // bytes
  WorkgroupInvocations,  // of one workgroup
};
inline constexpr std::array<std::string_view, 2> kLimitNames = {"workgroup_memory", "workgroup_invocations"};

struct SizeTag;
using SizeId = Id<SizeTag>;

struct SizeTerm {
  SizeOp op = SizeOp::Literal;
  // The operands; or for a Length the array and the axis, for a Number its index, for a Limit which one, for a Turn the Repeat's number.
  std::uint32_t a = 0, b = 0, c = 0;
  std::uint64_t literal = 0;

  auto operator<=>(const SizeTerm&) const = default;
};
using Sizes = IdVector<SizeId, SizeTerm>;

template <class Visit>
void for_each_operand(const SizeTerm& term, Visit&& visit) {
  const std::array<std::uint32_t, 3> operands = {term.a, term.b, term.c};
  for (std::uint32_t k = 0; k < operand_count(term.op); ++k) visit(SizeId{operands[k]});
}

// The value of an operation. Throws ArgumentError for a result below 0 or beyond 2^64 - 1, and for a division by zero.
std::uint64_t apply(SizeOp op, std::uint64_t a, std::uint64_t b, std::uint64_t c);

// The sizes that some consist of, themselves included, each once and operands before users.
std::vector<SizeId> parts(const Sizes& sizes, std::span<const SizeId> roots);

}  // namespace vyre::ir
