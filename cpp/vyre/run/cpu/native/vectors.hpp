// The instruction sets that machine code is made for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace vyre::run::cpu::native {

enum class Vectors : std::uint8_t { Sse41, Avx2, Avx512 };

struct InstructionSet {
  Vectors vectors;
  std::string_view name;  // the interpreter's Lanes for the same instructions have the same name
  int width;              // lanes of a vector
};

// From the oldest to the newest. Code for SSE4.1 also uses SSSE3, which all such processors have, but neither POPCNT nor BMI.
inline constexpr InstructionSet kInstructionSets[] = {
    {Vectors::Sse41, "sse41", 4},
    {Vectors::Avx2, "avx2", 8},
    {Vectors::Avx512, "avx512", 16},
};

constexpr const InstructionSet& row_of(Vectors vectors) { return kInstructionSets[static_cast<std::size_t>(vectors)]; }
constexpr std::string_view name(Vectors vectors) { return row_of(vectors).name; }

// The instruction sets that this processor has, the best one last.
std::vector<Vectors> available_vectors();

}  // namespace vyre::run::cpu::native
