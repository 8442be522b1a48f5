// Functions over a whole batch of lanes. They are written once (lanes.inc) and compiled for several instruction sets; the backend picks one
// that this processor has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "vyre/lower/kernel.hpp"

namespace vyre::run::cpu {

using Word = std::uint32_t;

// The functions take lanes in whole groups of this size. Results in lanes beyond the last active one are computed too and never used.
inline constexpr std::size_t kGroup = 16;
inline constexpr std::size_t kAlignment = kGroup * sizeof(Word);

// Says which operands of a binary function are vectors, and which are scalars: one word for all lanes.
enum class Form : std::uint8_t { VectorVector, VectorScalar, ScalarVector };
inline constexpr std::size_t kForms = 3;

struct Any {
  bool some;  // a lane is active
  bool all;   // all of them are
};

// `count` is a multiple of kGroup, and arrays start at multiples of kAlignment. `dest` may be an operand, but no array overlaps another in
// part. Masks are ~0 for active lanes and 0 for the others; a null mask stands for all lanes.
struct Lanes {
  using Binary = void (*)(Word* dest, const Word* a, const Word* b, std::size_t count);
  using Unary = void (*)(Word* dest, const Word* a, std::size_t count);
  using Ternary = void (*)(Word* dest, const Word* a, const Word* b, const Word* c, std::size_t count);

  std::string_view name;
  // By opcode. An entry is null when the opcode is no operator with that number of operands.
  Binary binary[lower::kOpcodeCount][kForms];
  Unary unary[lower::kOpcodeCount];
  Ternary ternary[lower::kOpcodeCount][4];                   // + 1 if b, + 2 if c is a scalar
  Word (*one[lower::kOpcodeCount])(Word a, Word b, Word c);  // the same for one lane; others than ternary ones ignore c, unary ones b

  // dest = value where the mask is set.
  void (*blend)(Word* dest, const Word* value, const Word* mask, std::size_t count);
  void (*blend_scalar)(Word* dest, Word value, const Word* mask, std::size_t count);
  void (*fill)(Word* dest, Word value, std::size_t count);
  // dest[i] = first + i.
  void (*count_up)(Word* dest, Word first, std::size_t count);
  // Whether values[i] = values[0] + i for all i below `lanes`, without wrapping.
  bool (*consecutive)(const Word* values, std::size_t lanes);

  // In the first `lanes` lanes: active = mask && condition != 0, and rest (unless null) = mask && condition == 0. Both are 0 in the lanes
  // beyond.
  Any (*split)(Word* active, Word* rest, const Word* mask, const Word* condition, std::size_t lanes);
  // active = mask and a < b.
  Any (*below)(Word* active, const Word* mask, const Word* a, const Word* b, std::size_t lanes);
  // dest = a and b.
  Any (*both)(Word* dest, const Word* a, const Word* b, std::size_t lanes);
};

// The tables whose instructions this processor has, the best one last. The baseline is always among them.
std::span<const Lanes* const> available_lanes();

// Tells which instructions the environment variable VYRE_INSTRUCTIONS asks for. The variable is read once.
struct AskedLanes {
  const Lanes* lanes;   // the ones that it names, or else the best that this processor has
  bool is_named;        // whether it names these
  std::string refusal;  // what ArgumentErrors say where it names others; empty where it does not
};
const AskedLanes& asked_lanes();

// Says why no instructions `wanted` can be used by a processor that has those of `available`.
std::string refusal_of_instructions(std::string_view wanted, std::span<const std::string_view> available);

}  // namespace vyre::run::cpu
