// The default backend. It is part of the library and gives the same bytes as the reference. As soon as it pays (work.hpp), the backend
// translates a lowered kernel to machine code (native/), which computes one invocation in each lane of SSE4.1, AVX2 or AVX-512 vectors.
// Until then, and for kernels and processors without machine code, an interpreter runs each instruction over the lanes of a batch
// (machine.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "vyre/run/backend.hpp"
#include "vyre/run/host/nodes.hpp"

namespace vyre::run {

struct CpuOptions {
  // The number of threads that a call may use; by default, as many as the process may use.
  std::optional<unsigned> threads{};
  // "baseline", "sse41", "avx2" or "avx512"; without a name, the one that the environment variable
  // VYRE_INSTRUCTIONS names, or else the best that this processor has.
  std::optional<std::string> instructions{};
  // The bytes of the last-level caches; by default, last_cache_bytes().
  std::optional<std::uint64_t> caches{};
  // The nodes of memory; by default, nodes_of_this_process().
  std::optional<Nodes> nodes{};
};

// Throws ArgumentError for an instruction set that this processor does not have.
std::unique_ptr<Backend> make_cpu_backend(const CpuOptions& options = {});

}  // namespace vyre::run
