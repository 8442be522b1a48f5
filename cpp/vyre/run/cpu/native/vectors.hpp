// The instruction sets that machine code is made for.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace vyre::run::cpu::native {

enum class Vectors : std::uint8_t { Avx2, Avx512 };

// "avx2" or "avx512". The interpreter's Lanes for the same instructions have the same names.
constexpr std::string_view name(Vectors vectors) { return vectors == Vectors::Avx2 ? "avx2" : "avx512"; }

// The instruction sets that this processor has, the best one last.
std::vector<Vectors> available_vectors();

}  // namespace vyre::run::cpu::native
