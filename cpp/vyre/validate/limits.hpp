// The limits of V017, V018 and V019.
#pragma once

#include <cstdint>

namespace vyre::validate {

// The most bytes of all Private buffers together, in each invocation.
inline constexpr std::uint64_t kMaxPrivateBytes = 16384;

inline constexpr std::uint32_t kMaxCallDepth = 32;
inline constexpr std::uint32_t kMaxNestingDepth = 64;
inline constexpr std::uint32_t kMaxNodeCount = 100'000;

}  // namespace vyre::validate
