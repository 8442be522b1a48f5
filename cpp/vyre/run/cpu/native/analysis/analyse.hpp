// Analyses a kernel for its translation to native code.
#pragma once

#include <optional>
#include <string_view>

#include "vyre/lower/kernel.hpp"
#include "vyre/run/cpu/native/analysis/analysis.hpp"
#include "vyre/run/cpu/native/vectors.hpp"

namespace vyre::run::cpu::native {

// Why a kernel has no native code, and what to change about its program.
struct Refusal {
  std::string_view reason, fix;
};

// Returns nothing if the kernel cannot be translated to native code; `refusal` then says why.
std::optional<Analysis> analyse(const lower::Kernel& kernel, Vectors vectors, Refusal& refusal);

}  // namespace vyre::run::cpu::native
