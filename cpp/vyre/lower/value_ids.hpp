// Defines the ids that a Writer gives to values. The leaves at the entry of the kernel and the instructions after them are numbered
// separately, each from 0; the highest bit of an id marks a leaf.
#pragma once

#include <cstdint>

#include "vyre/lower/kernel.hpp"

namespace vyre::lower {

inline constexpr std::uint32_t kLeaf = 0x80000000u;
inline bool is_leaf(ValueId value) { return (value.index & kLeaf) != 0; }
inline std::uint32_t number(ValueId value) { return value.index & ~kLeaf; }
inline ValueId leaf_id(std::uint32_t number) { return ValueId{kLeaf | number}; }

}  // namespace vyre::lower
