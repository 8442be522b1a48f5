// The default backend, embedded in the library. It interprets a lowered kernel: each instruction runs over many invocations, so that vector
// instructions do the work and a barrier costs nothing. A program that has run often becomes machine code where that is available
// (native/). The backend needs no external compiler and gives the same bytes as the reference.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "vyre/run/backend.hpp"

namespace vyre::run {

struct CpuOptions {
  // Without a number: as many threads as the process may use.
  std::optional<unsigned> threads{};
  // "baseline", "avx2" or "avx512"; without a name, the best that this processor has.
  std::optional<std::string> instructions{};
};

// Throws ArgumentError for an instruction set that this processor does not have.
std::unique_ptr<Backend> make_cpu_backend(const CpuOptions& options = {});

}  // namespace vyre::run
