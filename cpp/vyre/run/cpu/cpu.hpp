// The embedded default: runs a lowered kernel one instruction over many invocations, so that the compiler's vectors do the work and
// a barrier costs nothing. No compiler in the process; the same bytes as the reference.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "vyre/run/backend.hpp"

namespace vyre::run {

struct CpuOptions {
  // None: as many as the process may use.
  std::optional<unsigned> threads{};
  // "baseline", "avx2" or "avx512"; none: the best that this processor has.
  std::optional<std::string> instructions{};
};

// Throws ArgumentError for instructions that this processor does not have.
std::unique_ptr<Backend> make_cpu_backend(const CpuOptions& options = {});

}  // namespace vyre::run
