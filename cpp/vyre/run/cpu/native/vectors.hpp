// The instruction sets that machine code is made for.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace vyre::run::cpu::native {

enum class Vectors : std::uint8_t { Avx2, Avx512 };

// "avx2" or "avx512", as the interpreter's functions for the same processors are called.
constexpr std::string_view name(Vectors vectors) { return vectors == Vectors::Avx2 ? "avx2" : "avx512"; }

// Those of this processor, the best one last.
std::vector<Vectors> available_vectors();

}  // namespace vyre::run::cpu::native
