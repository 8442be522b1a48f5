// The ids that a Writer gives to values: of the leaves at the entry of the kernel, and of the instructions after it, each numbered from 0.
#pragma once

#include <cstdint>

#include "vyre/lower/kernel.hpp"

namespace vyre::lower {

inline constexpr std::uint32_t kLeaf = 0x80000000u;
inline bool is_leaf(ValueId value) { return (value.index & kLeaf) != 0; }
inline std::uint32_t number(ValueId value) { return value.index & ~kLeaf; }
inline ValueId leaf_id(std::uint32_t number) { return ValueId{kLeaf | number}; }

}  // namespace vyre::lower
