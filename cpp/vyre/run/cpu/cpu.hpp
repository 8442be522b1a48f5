// The default backend, embedded in the library, with the same bytes as the reference. It makes machine code of a lowered kernel, one
// invocation in each lane of AVX2 or AVX-512 vectors (native/), as soon as that pays (work.hpp). Until then, and where there is no machine
// code for a kernel or a processor, an interpreter runs each instruction over the lanes of a batch (machine.hpp).
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
